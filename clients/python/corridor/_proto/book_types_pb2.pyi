from corridor._proto import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class BookSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BOOK_SOURCE_UNSPECIFIED: _ClassVar[BookSource]
    BOOK_SOURCE_RULES: _ClassVar[BookSource]
    BOOK_SOURCE_SEARCH: _ClassVar[BookSource]
    BOOK_SOURCE_BACKED_UP: _ClassVar[BookSource]

class BookTaskKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BOOK_TASK_KIND_UNSPECIFIED: _ClassVar[BookTaskKind]
    BOOK_TASK_KIND_ANALYZE: _ClassVar[BookTaskKind]
    BOOK_TASK_KIND_EXPAND: _ClassVar[BookTaskKind]

class BookStoppedBy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BOOK_STOPPED_BY_UNSPECIFIED: _ClassVar[BookStoppedBy]
    BOOK_STOPPED_BY_COMPLETE: _ClassVar[BookStoppedBy]
    BOOK_STOPPED_BY_COST: _ClassVar[BookStoppedBy]
    BOOK_STOPPED_BY_TIME: _ClassVar[BookStoppedBy]
    BOOK_STOPPED_BY_CANCEL: _ClassVar[BookStoppedBy]
BOOK_SOURCE_UNSPECIFIED: BookSource
BOOK_SOURCE_RULES: BookSource
BOOK_SOURCE_SEARCH: BookSource
BOOK_SOURCE_BACKED_UP: BookSource
BOOK_TASK_KIND_UNSPECIFIED: BookTaskKind
BOOK_TASK_KIND_ANALYZE: BookTaskKind
BOOK_TASK_KIND_EXPAND: BookTaskKind
BOOK_STOPPED_BY_UNSPECIFIED: BookStoppedBy
BOOK_STOPPED_BY_COMPLETE: BookStoppedBy
BOOK_STOPPED_BY_COST: BookStoppedBy
BOOK_STOPPED_BY_TIME: BookStoppedBy
BOOK_STOPPED_BY_CANCEL: BookStoppedBy

class BookNode(_message.Message):
    __slots__ = ("position", "moves", "key", "depth", "score_white", "bound", "best_move", "pv", "nodes", "backed_up_white", "children", "engine", "analysed_at", "stale", "worker", "value", "unreachable", "multipv", "prune", "deterministic", "others", "backed_up_bound", "effort_nodes", "effort_ms", "root_moves")
    POSITION_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    SCORE_WHITE_FIELD_NUMBER: _ClassVar[int]
    BOUND_FIELD_NUMBER: _ClassVar[int]
    BEST_MOVE_FIELD_NUMBER: _ClassVar[int]
    PV_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    BACKED_UP_WHITE_FIELD_NUMBER: _ClassVar[int]
    CHILDREN_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    ANALYSED_AT_FIELD_NUMBER: _ClassVar[int]
    STALE_FIELD_NUMBER: _ClassVar[int]
    WORKER_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    UNREACHABLE_FIELD_NUMBER: _ClassVar[int]
    MULTIPV_FIELD_NUMBER: _ClassVar[int]
    PRUNE_FIELD_NUMBER: _ClassVar[int]
    DETERMINISTIC_FIELD_NUMBER: _ClassVar[int]
    OTHERS_FIELD_NUMBER: _ClassVar[int]
    BACKED_UP_BOUND_FIELD_NUMBER: _ClassVar[int]
    EFFORT_NODES_FIELD_NUMBER: _ClassVar[int]
    EFFORT_MS_FIELD_NUMBER: _ClassVar[int]
    ROOT_MOVES_FIELD_NUMBER: _ClassVar[int]
    position: str
    moves: _containers.RepeatedScalarFieldContainer[str]
    key: str
    depth: int
    score_white: _types_pb2.ScoreWhite
    bound: _types_pb2.Bound
    best_move: str
    pv: _containers.RepeatedScalarFieldContainer[str]
    nodes: int
    backed_up_white: _types_pb2.ScoreWhite
    children: _containers.RepeatedCompositeFieldContainer[BookChild]
    engine: str
    analysed_at: int
    stale: bool
    worker: str
    value: BookValue
    unreachable: bool
    multipv: int
    prune: _types_pb2.PruneMode
    deterministic: bool
    others: _containers.RepeatedCompositeFieldContainer[BookAlternative]
    backed_up_bound: _types_pb2.Bound
    effort_nodes: int
    effort_ms: int
    root_moves: _containers.RepeatedCompositeFieldContainer[_types_pb2.Line]
    def __init__(self, position: _Optional[str] = ..., moves: _Optional[_Iterable[str]] = ..., key: _Optional[str] = ..., depth: _Optional[int] = ..., score_white: _Optional[_Union[_types_pb2.ScoreWhite, _Mapping[str, object]]] = ..., bound: _Optional[_Union[_types_pb2.Bound, str]] = ..., best_move: _Optional[str] = ..., pv: _Optional[_Iterable[str]] = ..., nodes: _Optional[int] = ..., backed_up_white: _Optional[_Union[_types_pb2.ScoreWhite, _Mapping[str, object]]] = ..., children: _Optional[_Iterable[_Union[BookChild, _Mapping[str, object]]]] = ..., engine: _Optional[str] = ..., analysed_at: _Optional[int] = ..., stale: bool = ..., worker: _Optional[str] = ..., value: _Optional[_Union[BookValue, _Mapping[str, object]]] = ..., unreachable: bool = ..., multipv: _Optional[int] = ..., prune: _Optional[_Union[_types_pb2.PruneMode, str]] = ..., deterministic: bool = ..., others: _Optional[_Iterable[_Union[BookAlternative, _Mapping[str, object]]]] = ..., backed_up_bound: _Optional[_Union[_types_pb2.Bound, str]] = ..., effort_nodes: _Optional[int] = ..., effort_ms: _Optional[int] = ..., root_moves: _Optional[_Iterable[_Union[_types_pb2.Line, _Mapping[str, object]]]] = ...) -> None: ...

class BookChild(_message.Message):
    __slots__ = ("move", "score_white", "bound")
    MOVE_FIELD_NUMBER: _ClassVar[int]
    SCORE_WHITE_FIELD_NUMBER: _ClassVar[int]
    BOUND_FIELD_NUMBER: _ClassVar[int]
    move: str
    score_white: _types_pb2.ScoreWhite
    bound: _types_pb2.Bound
    def __init__(self, move: _Optional[str] = ..., score_white: _Optional[_Union[_types_pb2.ScoreWhite, _Mapping[str, object]]] = ..., bound: _Optional[_Union[_types_pb2.Bound, str]] = ...) -> None: ...

class BookValue(_message.Message):
    __slots__ = ("score_white", "bound", "depth", "source", "move")
    SCORE_WHITE_FIELD_NUMBER: _ClassVar[int]
    BOUND_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    MOVE_FIELD_NUMBER: _ClassVar[int]
    score_white: _types_pb2.ScoreWhite
    bound: _types_pb2.Bound
    depth: int
    source: BookSource
    move: str
    def __init__(self, score_white: _Optional[_Union[_types_pb2.ScoreWhite, _Mapping[str, object]]] = ..., bound: _Optional[_Union[_types_pb2.Bound, str]] = ..., depth: _Optional[int] = ..., source: _Optional[_Union[BookSource, str]] = ..., move: _Optional[str] = ...) -> None: ...

class BookAlternative(_message.Message):
    __slots__ = ("move", "score_white", "bound")
    MOVE_FIELD_NUMBER: _ClassVar[int]
    SCORE_WHITE_FIELD_NUMBER: _ClassVar[int]
    BOUND_FIELD_NUMBER: _ClassVar[int]
    move: str
    score_white: _types_pb2.ScoreWhite
    bound: _types_pb2.Bound
    def __init__(self, move: _Optional[str] = ..., score_white: _Optional[_Union[_types_pb2.ScoreWhite, _Mapping[str, object]]] = ..., bound: _Optional[_Union[_types_pb2.Bound, str]] = ...) -> None: ...

class BookAcceptedEvent(_message.Message):
    __slots__ = ("job", "book", "task", "positions", "total")
    JOB_FIELD_NUMBER: _ClassVar[int]
    BOOK_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    POSITIONS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    job: int
    book: str
    task: BookTaskKind
    positions: int
    total: int
    def __init__(self, job: _Optional[int] = ..., book: _Optional[str] = ..., task: _Optional[_Union[BookTaskKind, str]] = ..., positions: _Optional[int] = ..., total: _Optional[int] = ...) -> None: ...

class PositionEvent(_message.Message):
    __slots__ = ("node", "done", "total", "nodes", "elapsed_ms", "workers")
    NODE_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MS_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    node: BookNode
    done: int
    total: int
    nodes: int
    elapsed_ms: int
    workers: int
    def __init__(self, node: _Optional[_Union[BookNode, _Mapping[str, object]]] = ..., done: _Optional[int] = ..., total: _Optional[int] = ..., nodes: _Optional[int] = ..., elapsed_ms: _Optional[int] = ..., workers: _Optional[int] = ...) -> None: ...

class PositionFailedEvent(_message.Message):
    __slots__ = ("position", "message")
    POSITION_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    position: str
    message: str
    def __init__(self, position: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class BookDoneEvent(_message.Message):
    __slots__ = ("positions", "searched", "added", "failed", "left", "nodes", "elapsed_ms", "stopped_by")
    POSITIONS_FIELD_NUMBER: _ClassVar[int]
    SEARCHED_FIELD_NUMBER: _ClassVar[int]
    ADDED_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MS_FIELD_NUMBER: _ClassVar[int]
    STOPPED_BY_FIELD_NUMBER: _ClassVar[int]
    positions: int
    searched: int
    added: int
    failed: int
    left: int
    nodes: int
    elapsed_ms: int
    stopped_by: BookStoppedBy
    def __init__(self, positions: _Optional[int] = ..., searched: _Optional[int] = ..., added: _Optional[int] = ..., failed: _Optional[int] = ..., left: _Optional[int] = ..., nodes: _Optional[int] = ..., elapsed_ms: _Optional[int] = ..., stopped_by: _Optional[_Union[BookStoppedBy, str]] = ...) -> None: ...

class BookSummary(_message.Message):
    __slots__ = ("book", "task", "done", "total")
    BOOK_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    book: str
    task: BookTaskKind
    done: int
    total: int
    def __init__(self, book: _Optional[str] = ..., task: _Optional[_Union[BookTaskKind, str]] = ..., done: _Optional[int] = ..., total: _Optional[int] = ...) -> None: ...
