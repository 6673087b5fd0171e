from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Color(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COLOR_UNSPECIFIED: _ClassVar[Color]
    COLOR_WHITE: _ClassVar[Color]
    COLOR_BLACK: _ClassVar[Color]

class Notation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NOTATION_UNSPECIFIED: _ClassVar[Notation]
    NOTATION_MAN: _ClassVar[Notation]
    NOTATION_NW: _ClassVar[Notation]
    NOTATION_FLIP: _ClassVar[Notation]
    NOTATION_PREFIX: _ClassVar[Notation]
    NOTATION_QTP: _ClassVar[Notation]
    NOTATION_TQ1: _ClassVar[Notation]
    NOTATION_QF: _ClassVar[Notation]

class Bound(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BOUND_UNSPECIFIED: _ClassVar[Bound]
    BOUND_EXACT: _ClassVar[Bound]
    BOUND_LOWER: _ClassVar[Bound]
    BOUND_UPPER: _ClassVar[Bound]

class PruneMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PRUNE_MODE_UNSPECIFIED: _ClassVar[PruneMode]
    PRUNE_MODE_CAT: _ClassVar[PruneMode]
    PRUNE_MODE_NONE: _ClassVar[PruneMode]
    PRUNE_MODE_AUDIT: _ClassVar[PruneMode]

class JobState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    JOB_STATE_UNSPECIFIED: _ClassVar[JobState]
    JOB_STATE_QUEUED: _ClassVar[JobState]
    JOB_STATE_RUNNING: _ClassVar[JobState]
    JOB_STATE_WAITING: _ClassVar[JobState]
    JOB_STATE_PAUSED: _ClassVar[JobState]
    JOB_STATE_PARKED: _ClassVar[JobState]
    JOB_STATE_DONE: _ClassVar[JobState]
    JOB_STATE_FAILED: _ClassVar[JobState]

class StoppedBy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STOPPED_BY_UNSPECIFIED: _ClassVar[StoppedBy]
    STOPPED_BY_DEPTH: _ClassVar[StoppedBy]
    STOPPED_BY_TIME: _ClassVar[StoppedBy]
    STOPPED_BY_NODES: _ClassVar[StoppedBy]
    STOPPED_BY_PROOF: _ClassVar[StoppedBy]
    STOPPED_BY_CANCEL: _ClassVar[StoppedBy]
    STOPPED_BY_BOOK: _ClassVar[StoppedBy]
COLOR_UNSPECIFIED: Color
COLOR_WHITE: Color
COLOR_BLACK: Color
NOTATION_UNSPECIFIED: Notation
NOTATION_MAN: Notation
NOTATION_NW: Notation
NOTATION_FLIP: Notation
NOTATION_PREFIX: Notation
NOTATION_QTP: Notation
NOTATION_TQ1: Notation
NOTATION_QF: Notation
BOUND_UNSPECIFIED: Bound
BOUND_EXACT: Bound
BOUND_LOWER: Bound
BOUND_UPPER: Bound
PRUNE_MODE_UNSPECIFIED: PruneMode
PRUNE_MODE_CAT: PruneMode
PRUNE_MODE_NONE: PruneMode
PRUNE_MODE_AUDIT: PruneMode
JOB_STATE_UNSPECIFIED: JobState
JOB_STATE_QUEUED: JobState
JOB_STATE_RUNNING: JobState
JOB_STATE_WAITING: JobState
JOB_STATE_PAUSED: JobState
JOB_STATE_PARKED: JobState
JOB_STATE_DONE: JobState
JOB_STATE_FAILED: JobState
STOPPED_BY_UNSPECIFIED: StoppedBy
STOPPED_BY_DEPTH: StoppedBy
STOPPED_BY_TIME: StoppedBy
STOPPED_BY_NODES: StoppedBy
STOPPED_BY_PROOF: StoppedBy
STOPPED_BY_CANCEL: StoppedBy
STOPPED_BY_BOOK: StoppedBy

class ScoreWhite(_message.Message):
    __slots__ = ("cm", "white_wins_in", "black_wins_in")
    CM_FIELD_NUMBER: _ClassVar[int]
    WHITE_WINS_IN_FIELD_NUMBER: _ClassVar[int]
    BLACK_WINS_IN_FIELD_NUMBER: _ClassVar[int]
    cm: int
    white_wins_in: int
    black_wins_in: int
    def __init__(self, cm: _Optional[int] = ..., white_wins_in: _Optional[int] = ..., black_wins_in: _Optional[int] = ...) -> None: ...

class PositionSpec(_message.Message):
    __slots__ = ("position", "moves")
    POSITION_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    position: str
    moves: MoveText
    def __init__(self, position: _Optional[str] = ..., moves: _Optional[_Union[MoveText, _Mapping[str, object]]] = ...) -> None: ...

class MoveText(_message.Message):
    __slots__ = ("text", "notation")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    NOTATION_FIELD_NUMBER: _ClassVar[int]
    text: str
    notation: Notation
    def __init__(self, text: _Optional[str] = ..., notation: _Optional[_Union[Notation, str]] = ...) -> None: ...

class Limits(_message.Message):
    __slots__ = ("depth", "time_ms", "nodes")
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    TIME_MS_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    depth: int
    time_ms: int
    nodes: int
    def __init__(self, depth: _Optional[int] = ..., time_ms: _Optional[int] = ..., nodes: _Optional[int] = ...) -> None: ...

class JobSpec(_message.Message):
    __slots__ = ("position", "limits", "multipv", "prune", "deterministic", "priority", "detach")
    POSITION_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    MULTIPV_FIELD_NUMBER: _ClassVar[int]
    PRUNE_FIELD_NUMBER: _ClassVar[int]
    DETERMINISTIC_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    DETACH_FIELD_NUMBER: _ClassVar[int]
    position: PositionSpec
    limits: Limits
    multipv: int
    prune: PruneMode
    deterministic: bool
    priority: int
    detach: bool
    def __init__(self, position: _Optional[_Union[PositionSpec, _Mapping[str, object]]] = ..., limits: _Optional[_Union[Limits, _Mapping[str, object]]] = ..., multipv: _Optional[int] = ..., prune: _Optional[_Union[PruneMode, str]] = ..., deterministic: bool = ..., priority: _Optional[int] = ..., detach: bool = ...) -> None: ...

class MoveHeat(_message.Message):
    __slots__ = ("move", "heat_cm", "reason")
    MOVE_FIELD_NUMBER: _ClassVar[int]
    HEAT_CM_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    move: str
    heat_cm: int
    reason: str
    def __init__(self, move: _Optional[str] = ..., heat_cm: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class Line(_message.Message):
    __slots__ = ("move", "score_white", "bound", "depth", "pv", "nodes", "heat_cm")
    MOVE_FIELD_NUMBER: _ClassVar[int]
    SCORE_WHITE_FIELD_NUMBER: _ClassVar[int]
    BOUND_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    PV_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    HEAT_CM_FIELD_NUMBER: _ClassVar[int]
    move: str
    score_white: ScoreWhite
    bound: Bound
    depth: int
    pv: _containers.RepeatedScalarFieldContainer[str]
    nodes: int
    heat_cm: int
    def __init__(self, move: _Optional[str] = ..., score_white: _Optional[_Union[ScoreWhite, _Mapping[str, object]]] = ..., bound: _Optional[_Union[Bound, str]] = ..., depth: _Optional[int] = ..., pv: _Optional[_Iterable[str]] = ..., nodes: _Optional[int] = ..., heat_cm: _Optional[int] = ...) -> None: ...
