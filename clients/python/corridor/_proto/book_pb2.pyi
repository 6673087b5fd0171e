from corridor._proto import analysis_pb2 as _analysis_pb2
from corridor._proto import book_types_pb2 as _book_types_pb2
from corridor._proto import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class BookSide(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BOOK_SIDE_UNSPECIFIED: _ClassVar[BookSide]
    BOOK_SIDE_WHITE: _ClassVar[BookSide]
    BOOK_SIDE_BLACK: _ClassVar[BookSide]
BOOK_SIDE_UNSPECIFIED: BookSide
BOOK_SIDE_WHITE: BookSide
BOOK_SIDE_BLACK: BookSide

class ImportRequest(_message.Message):
    __slots__ = ("book", "notation", "games", "records", "keep_going")
    BOOK_FIELD_NUMBER: _ClassVar[int]
    NOTATION_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    KEEP_GOING_FIELD_NUMBER: _ClassVar[int]
    book: str
    notation: _types_pb2.Notation
    games: _containers.RepeatedScalarFieldContainer[str]
    records: _containers.RepeatedCompositeFieldContainer[_book_types_pb2.BookNode]
    keep_going: bool
    def __init__(self, book: _Optional[str] = ..., notation: _Optional[_Union[_types_pb2.Notation, str]] = ..., games: _Optional[_Iterable[str]] = ..., records: _Optional[_Iterable[_Union[_book_types_pb2.BookNode, _Mapping[str, object]]]] = ..., keep_going: bool = ...) -> None: ...

class ImportResponse(_message.Message):
    __slots__ = ("games", "new_positions", "positions", "new_values", "faults", "fault_count")
    GAMES_FIELD_NUMBER: _ClassVar[int]
    NEW_POSITIONS_FIELD_NUMBER: _ClassVar[int]
    POSITIONS_FIELD_NUMBER: _ClassVar[int]
    NEW_VALUES_FIELD_NUMBER: _ClassVar[int]
    FAULTS_FIELD_NUMBER: _ClassVar[int]
    FAULT_COUNT_FIELD_NUMBER: _ClassVar[int]
    games: int
    new_positions: int
    positions: int
    new_values: int
    faults: _containers.RepeatedCompositeFieldContainer[ImportFault]
    fault_count: int
    def __init__(self, games: _Optional[int] = ..., new_positions: _Optional[int] = ..., positions: _Optional[int] = ..., new_values: _Optional[int] = ..., faults: _Optional[_Iterable[_Union[ImportFault, _Mapping[str, object]]]] = ..., fault_count: _Optional[int] = ...) -> None: ...

class ImportFault(_message.Message):
    __slots__ = ("line", "ply", "message")
    LINE_FIELD_NUMBER: _ClassVar[int]
    PLY_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    line: int
    ply: int
    message: str
    def __init__(self, line: _Optional[int] = ..., ply: _Optional[int] = ..., message: _Optional[str] = ...) -> None: ...

class BookAnalyzeRequest(_message.Message):
    __slots__ = ("book", "limits", "multipv", "prune", "deterministic", "priority", "detach", "stale", "most")
    BOOK_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    MULTIPV_FIELD_NUMBER: _ClassVar[int]
    PRUNE_FIELD_NUMBER: _ClassVar[int]
    DETERMINISTIC_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    DETACH_FIELD_NUMBER: _ClassVar[int]
    STALE_FIELD_NUMBER: _ClassVar[int]
    MOST_FIELD_NUMBER: _ClassVar[int]
    book: str
    limits: _types_pb2.Limits
    multipv: int
    prune: _types_pb2.PruneMode
    deterministic: bool
    priority: int
    detach: bool
    stale: bool
    most: int
    def __init__(self, book: _Optional[str] = ..., limits: _Optional[_Union[_types_pb2.Limits, _Mapping[str, object]]] = ..., multipv: _Optional[int] = ..., prune: _Optional[_Union[_types_pb2.PruneMode, str]] = ..., deterministic: bool = ..., priority: _Optional[int] = ..., detach: bool = ..., stale: bool = ..., most: _Optional[int] = ...) -> None: ...

class BookAnalyzeResponse(_message.Message):
    __slots__ = ("position", "event")
    POSITION_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    position: str
    event: _analysis_pb2.Event
    def __init__(self, position: _Optional[str] = ..., event: _Optional[_Union[_analysis_pb2.Event, _Mapping[str, object]]] = ...) -> None: ...

class ExpandRequest(_message.Message):
    __slots__ = ("book", "positions", "limits", "prune", "deterministic", "priority", "detach", "multipv", "max_cost_cm", "time_ms", "side", "own_weight_percent", "other_weight_percent", "ply_cost_cm")
    BOOK_FIELD_NUMBER: _ClassVar[int]
    POSITIONS_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    PRUNE_FIELD_NUMBER: _ClassVar[int]
    DETERMINISTIC_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    DETACH_FIELD_NUMBER: _ClassVar[int]
    MULTIPV_FIELD_NUMBER: _ClassVar[int]
    MAX_COST_CM_FIELD_NUMBER: _ClassVar[int]
    TIME_MS_FIELD_NUMBER: _ClassVar[int]
    SIDE_FIELD_NUMBER: _ClassVar[int]
    OWN_WEIGHT_PERCENT_FIELD_NUMBER: _ClassVar[int]
    OTHER_WEIGHT_PERCENT_FIELD_NUMBER: _ClassVar[int]
    PLY_COST_CM_FIELD_NUMBER: _ClassVar[int]
    book: str
    positions: int
    limits: _types_pb2.Limits
    prune: _types_pb2.PruneMode
    deterministic: bool
    priority: int
    detach: bool
    multipv: int
    max_cost_cm: int
    time_ms: int
    side: BookSide
    own_weight_percent: int
    other_weight_percent: int
    ply_cost_cm: int
    def __init__(self, book: _Optional[str] = ..., positions: _Optional[int] = ..., limits: _Optional[_Union[_types_pb2.Limits, _Mapping[str, object]]] = ..., prune: _Optional[_Union[_types_pb2.PruneMode, str]] = ..., deterministic: bool = ..., priority: _Optional[int] = ..., detach: bool = ..., multipv: _Optional[int] = ..., max_cost_cm: _Optional[int] = ..., time_ms: _Optional[int] = ..., side: _Optional[_Union[BookSide, str]] = ..., own_weight_percent: _Optional[int] = ..., other_weight_percent: _Optional[int] = ..., ply_cost_cm: _Optional[int] = ...) -> None: ...

class ExpandResponse(_message.Message):
    __slots__ = ("position", "event")
    POSITION_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    position: str
    event: _analysis_pb2.Event
    def __init__(self, position: _Optional[str] = ..., event: _Optional[_Union[_analysis_pb2.Event, _Mapping[str, object]]] = ...) -> None: ...

class NodeRequest(_message.Message):
    __slots__ = ("book", "position")
    BOOK_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    book: str
    position: _types_pb2.PositionSpec
    def __init__(self, book: _Optional[str] = ..., position: _Optional[_Union[_types_pb2.PositionSpec, _Mapping[str, object]]] = ...) -> None: ...

class NodeResponse(_message.Message):
    __slots__ = ("node",)
    NODE_FIELD_NUMBER: _ClassVar[int]
    node: _book_types_pb2.BookNode
    def __init__(self, node: _Optional[_Union[_book_types_pb2.BookNode, _Mapping[str, object]]] = ...) -> None: ...

class ExportRequest(_message.Message):
    __slots__ = ("book", "after_key", "root_moves")
    BOOK_FIELD_NUMBER: _ClassVar[int]
    AFTER_KEY_FIELD_NUMBER: _ClassVar[int]
    ROOT_MOVES_FIELD_NUMBER: _ClassVar[int]
    book: str
    after_key: str
    root_moves: bool
    def __init__(self, book: _Optional[str] = ..., after_key: _Optional[str] = ..., root_moves: bool = ...) -> None: ...

class ExportResponse(_message.Message):
    __slots__ = ("nodes",)
    NODES_FIELD_NUMBER: _ClassVar[int]
    nodes: _containers.RepeatedCompositeFieldContainer[_book_types_pb2.BookNode]
    def __init__(self, nodes: _Optional[_Iterable[_Union[_book_types_pb2.BookNode, _Mapping[str, object]]]] = ...) -> None: ...

class CheckRequest(_message.Message):
    __slots__ = ("book", "fix")
    BOOK_FIELD_NUMBER: _ClassVar[int]
    FIX_FIELD_NUMBER: _ClassVar[int]
    book: str
    fix: bool
    def __init__(self, book: _Optional[str] = ..., fix: bool = ...) -> None: ...

class CheckResponse(_message.Message):
    __slots__ = ("positions", "faults", "fault_count", "fixed")
    POSITIONS_FIELD_NUMBER: _ClassVar[int]
    FAULTS_FIELD_NUMBER: _ClassVar[int]
    FAULT_COUNT_FIELD_NUMBER: _ClassVar[int]
    FIXED_FIELD_NUMBER: _ClassVar[int]
    positions: int
    faults: _containers.RepeatedScalarFieldContainer[str]
    fault_count: int
    fixed: bool
    def __init__(self, positions: _Optional[int] = ..., faults: _Optional[_Iterable[str]] = ..., fault_count: _Optional[int] = ..., fixed: bool = ...) -> None: ...

class ListBooksRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListBooksResponse(_message.Message):
    __slots__ = ("books",)
    BOOKS_FIELD_NUMBER: _ClassVar[int]
    books: _containers.RepeatedCompositeFieldContainer[BookListed]
    def __init__(self, books: _Optional[_Iterable[_Union[BookListed, _Mapping[str, object]]]] = ...) -> None: ...

class BookListed(_message.Message):
    __slots__ = ("book", "positions", "analysed", "stale")
    BOOK_FIELD_NUMBER: _ClassVar[int]
    POSITIONS_FIELD_NUMBER: _ClassVar[int]
    ANALYSED_FIELD_NUMBER: _ClassVar[int]
    STALE_FIELD_NUMBER: _ClassVar[int]
    book: str
    positions: int
    analysed: int
    stale: int
    def __init__(self, book: _Optional[str] = ..., positions: _Optional[int] = ..., analysed: _Optional[int] = ..., stale: _Optional[int] = ...) -> None: ...
