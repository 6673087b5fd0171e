"""What is asked, for the wire."""

from __future__ import annotations

from typing import Optional

from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

from corridor._proto import book_pb2, types_pb2


def _named(enumeration: EnumTypeWrapper, prefix: str, name: str, what: str) -> str:
    """Name of a value on the wire: protobuf takes that for the value."""
    names = [known[len(prefix) :].lower() for known in dict(enumeration.items()) if not known.endswith("_UNSPECIFIED")]
    if name not in names:
        raise ValueError(f"{what}: '{name}' is none of {', '.join(names)}")
    return prefix + name.upper()


def notation_of(name: str) -> str:
    """A notation by its name; raises `ValueError` for an unknown one."""
    return _named(types_pb2.Notation, "NOTATION_", name, "notation")


def prune_of(name: str) -> str:
    """A prune mode by its name; raises `ValueError` for an unknown one."""
    return _named(types_pb2.PruneMode, "PRUNE_MODE_", name, "prune")


def side_of(name: Optional[str]) -> Optional[str]:
    """For whom a book is made, None: both; raises `ValueError` for an unknown one."""
    return None if name is None else _named(book_pb2.BookSide, "BOOK_SIDE_", name, "side")


def position_of(text: str, notation: str = "man") -> types_pb2.PositionSpec:
    """A position by its text, which has slashes, or by the moves that lead to it; raises `ValueError` for an unknown notation."""
    code = notation_of(notation)
    # No notation has bare slashes between blanks; `qf` codes may hold one among letters.
    if " / " in f" {text} ":
        return types_pb2.PositionSpec(position=text)
    return types_pb2.PositionSpec(moves=types_pb2.MoveText(text=text, notation=code))


def millis_of(seconds: Optional[float], what: str = "time") -> Optional[int]:
    """Seconds as milliseconds, rounded up, so that a short time is no time of 0; raises `ValueError` if it is none."""
    if seconds is None:
        return None
    if not 0 <= seconds <= 1e15:
        raise ValueError(f"{what}: {seconds} is no time in seconds")
    return -int(-seconds * 1000 // 1)


def limits_of(depth: Optional[int], time: Optional[float], nodes: Optional[int]) -> types_pb2.Limits:
    """When to stop; what is None is no limit."""
    return types_pb2.Limits(depth=depth, time_ms=millis_of(time), nodes=nodes)
