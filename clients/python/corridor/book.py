"""Opening books: thousands of positions, analysed over days, with a value and its provenance for each."""

from __future__ import annotations

import time as clock
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

import grpc

from corridor._proto import book_pb2
from corridor._transport import Call, Transport, backoff, is_broken_line
from corridor.errors import CorridorError, Unavailable
from corridor.events import BookNode, read_node
from corridor.wire import limits_of, millis_of, notation_of, position_of, prune_of, side_of

if TYPE_CHECKING:
    from corridor.client import Events

#: Entries and bytes in one message of an import, but for the last entry in it.
PART_ENTRIES = 500
PART_BYTES = 1 << 20
#: An import or a check of a large book takes its time, in seconds.
LONG_TIME = 600.0


@dataclass(frozen=True)
class BookInfo:
    """A book in short: how many positions it has, how many were analysed, and how many of those by another engine epoch."""

    book: str
    positions: int
    analysed: int
    stale: int


@dataclass(frozen=True)
class ImportFault:
    """Something that cannot be imported: the line or record and the ply, counted from 1, and what is wrong."""

    line: int
    ply: Optional[int]
    message: str


@dataclass(frozen=True)
class Imported:
    """What was imported. If there are faults (`faults` has the first thousand) nothing was, unless it was to keep going."""

    games: int
    new_positions: int
    positions: int
    new_values: int
    faults: tuple[ImportFault, ...]
    fault_count: int


@dataclass(frozen=True)
class Checked:
    """What a check found: one sentence a fault, the first thousand."""

    positions: int
    faults: tuple[str, ...]
    fault_count: int
    fixed: bool


class Book:
    """One opening book of a cluster whose coordinator has a store. `Client.book` makes these."""

    def __init__(
        self,
        name: str,
        transport: Transport,
        job: Callable[[Callable[[], Call[Any]], bool], Events],
        resume_for: float,
    ) -> None:
        """Nothing is asked yet."""
        self.name = name
        self._transport = transport
        self._work = job
        self._resume_for = resume_for

    def lookup(self, position: str, *, notation: str = "man") -> BookNode:
        """What the book has of a position, or of its mirror image: the answer is in canonical orientation.

        Raises:
            NotFound: there is no such book, or the position is not in it.
            InvalidArgument: the position is none.
        """
        request = book_pb2.NodeRequest(book=self.name, position=position_of(position, notation))
        return read_node(self._transport.ask("Book/Node", request, book_pb2.NodeResponse).node)

    def analyze(
        self,
        *,
        depth: Optional[int] = None,
        time: Optional[float] = None,
        nodes: Optional[int] = None,
        multipv: int = 1,
        prune: str = "cat",
        deterministic: bool = False,
        priority: int = 0,
        detach: bool = False,
        stale: bool = False,
        most: Optional[int] = None,
    ) -> Events:
        """Has all positions analysed (`most` of them at most), each within the limits, of which there must be one.

        Whoever asks for the same as a job that is open joins it. `stale` searches values of other engine epochs again. The rest is
        as of `Client.analyze`; the last event is `BookDone`.

        Raises:
            NotFound: there is no such book.
            FailedPrecondition: another job works on it, or it is empty.
            InvalidArgument: a limit is not as it must be.
        """
        request = book_pb2.BookAnalyzeRequest(
            book=self.name,
            limits=limits_of(depth, time, nodes),
            multipv=multipv,
            prune=prune_of(prune),
            deterministic=deterministic,
            priority=priority,
            detach=detach,
            stale=stale,
            most=most,
        )
        return self._work(lambda: self._transport.stream("Book/Analyze", request, book_pb2.BookAnalyzeResponse), detach)

    def expand(
        self,
        *,
        positions: int = 0,
        max_cost_cm: Optional[int] = None,
        total_time: Optional[float] = None,
        depth: Optional[int] = None,
        time: Optional[float] = None,
        nodes: Optional[int] = None,
        multipv: int = 1,
        prune: str = "cat",
        deterministic: bool = False,
        priority: int = 0,
        detach: bool = False,
        side: Optional[str] = None,
        own_weight_percent: Optional[int] = None,
        other_weight_percent: Optional[int] = None,
        ply_cost_cm: Optional[int] = None,
    ) -> Events:
        """Grows the book where it pays most, analysing as it goes: by so many `positions` (0: any number), up to a cost, or for a time.

        One of those three must be set, and one of `depth`, `time` and `nodes`, which are for each position. `total_time` is in
        seconds. `side` is `white`, `black` or None for both. The rest, and what is raised, is as of `analyze`.
        """
        request = book_pb2.ExpandRequest(
            book=self.name,
            positions=positions,
            limits=limits_of(depth, time, nodes),
            prune=prune_of(prune),
            deterministic=deterministic,
            priority=priority,
            detach=detach,
            multipv=multipv,
            max_cost_cm=max_cost_cm,
            time_ms=millis_of(total_time, "total_time"),
            side=side_of(side),
            own_weight_percent=own_weight_percent,
            other_weight_percent=other_weight_percent,
            ply_cost_cm=ply_cost_cm,
        )
        return self._work(lambda: self._transport.stream("Book/Expand", request, book_pb2.ExpandResponse), detach)

    def import_games(
        self, lines: Union[str, Iterable[str]], *, notation: str, keep_going: bool = False, timeout: float = LONG_TIME
    ) -> Imported:
        """Adds the positions of games, a line each, sent in parts. To import the same again changes nothing.

        Raises:
            InvalidArgument: the book's name is none, or there are too many positions.
            FailedPrecondition: the coordinator keeps no books.
        """
        games = lines.splitlines() if isinstance(lines, str) else [line.rstrip("\r\n") for line in lines]
        head = book_pb2.ImportRequest(book=self.name, notation=notation_of(notation), keep_going=keep_going)
        return self._import(head, "games", games, timeout)

    def import_nodes(
        self, nodes: Iterable[BookNode], *, keep_going: bool = False, timeout: float = LONG_TIME
    ) -> Imported:
        """Adds positions of an earlier export with their values, where they say more than what is there. Raises as `import_games`."""
        head = book_pb2.ImportRequest(book=self.name, keep_going=keep_going)
        return self._import(head, "records", [node.wire for node in nodes], timeout)

    def _import(self, head: book_pb2.ImportRequest, name: str, entries: list[Any], timeout: float) -> Imported:
        def send() -> Iterator[book_pb2.ImportRequest]:
            return _parts(head, name, entries)

        answer = self._transport.send("Book/Import", send, book_pb2.ImportResponse, timeout)
        faults = tuple(ImportFault(it.line, it.ply if it.HasField("ply") else None, it.message) for it in answer.faults)
        counts = (answer.games, answer.new_positions, answer.positions, answer.new_values)
        return Imported(*counts, faults, answer.fault_count)

    def export(self, *, root_moves: bool = False, after: str = "") -> Iterator[BookNode]:
        """The book's positions behind the key `after`, in the order of keys; `root_moves` also has every searched root move.

        A line that breaks is taken up again behind the last position: there is none twice, and none is left out.

        Raises:
            NotFound: there is no such book.
            Unavailable: the line is broken for good.
        """
        patience: Optional[float] = None
        attempt = 0
        while True:
            try:
                request = book_pb2.ExportRequest(book=self.name, after_key=after, root_moves=root_moves)
                call = self._transport.stream("Book/Export", request, book_pb2.ExportResponse)
            except Unavailable:
                if patience is None or clock.monotonic() > patience:
                    raise
                continue
            try:
                for part in call:
                    patience, attempt = None, 0
                    for node in part.nodes:
                        # Whoever sends a position twice would keep us here for ever.
                        if node.key <= after:
                            raise CorridorError(f"key {node.key} comes after {after}", "internal")
                        after = node.key
                        yield read_node(node)
                return
            except grpc.RpcError as error:
                failure = self._transport.failure(error)
                patience = patience or clock.monotonic() + self._resume_for
                pause = backoff(attempt)
                attempt += 1
                if not is_broken_line(error) or clock.monotonic() + pause > patience:
                    raise failure from error
                self._transport.fail()
                clock.sleep(pause)
            finally:
                call.cancel()

    def check(self, *, fix: bool = False, timeout: float = LONG_TIME) -> Checked:
        """Checks the book's consistency, and mends it with `fix`.

        Raises:
            NotFound: there is no such book.
            FailedPrecondition: it is to be mended while a job works on it.
        """
        request = book_pb2.CheckRequest(book=self.name, fix=fix)
        answer = self._transport.ask("Book/Check", request, book_pb2.CheckResponse, timeout)
        return Checked(answer.positions, tuple(answer.faults), answer.fault_count, answer.fixed)


def _parts(head: book_pb2.ImportRequest, name: str, entries: list[Any]) -> Iterator[book_pb2.ImportRequest]:
    """What is imported, in messages of a moderate size; one at least, so that an empty import is one too."""
    part = book_pb2.ImportRequest()
    part.CopyFrom(head)
    number = size = 0
    for entry in entries:
        getattr(part, name).append(entry)
        number += 1
        size += len(entry.encode()) if isinstance(entry, str) else entry.ByteSize()
        if number >= PART_ENTRIES or size >= PART_BYTES:
            yield part
            part = book_pb2.ImportRequest()
            part.CopyFrom(head)
            number = size = 0
    if number or not entries:
        yield part
