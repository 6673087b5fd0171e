from corridor._proto import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LegalMovesRequest(_message.Message):
    __slots__ = ("position",)
    POSITION_FIELD_NUMBER: _ClassVar[int]
    position: _types_pb2.PositionSpec
    def __init__(self, position: _Optional[_Union[_types_pb2.PositionSpec, _Mapping[str, object]]] = ...) -> None: ...

class LegalMovesResponse(_message.Message):
    __slots__ = ("position", "pawn_moves", "walls", "legal_count", "turn", "winner")
    POSITION_FIELD_NUMBER: _ClassVar[int]
    PAWN_MOVES_FIELD_NUMBER: _ClassVar[int]
    WALLS_FIELD_NUMBER: _ClassVar[int]
    LEGAL_COUNT_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    WINNER_FIELD_NUMBER: _ClassVar[int]
    position: str
    pawn_moves: _containers.RepeatedScalarFieldContainer[str]
    walls: _containers.RepeatedScalarFieldContainer[str]
    legal_count: int
    turn: _types_pb2.Color
    winner: _types_pb2.Color
    def __init__(self, position: _Optional[str] = ..., pawn_moves: _Optional[_Iterable[str]] = ..., walls: _Optional[_Iterable[str]] = ..., legal_count: _Optional[int] = ..., turn: _Optional[_Union[_types_pb2.Color, str]] = ..., winner: _Optional[_Union[_types_pb2.Color, str]] = ...) -> None: ...

class HeatRequest(_message.Message):
    __slots__ = ("position",)
    POSITION_FIELD_NUMBER: _ClassVar[int]
    position: _types_pb2.PositionSpec
    def __init__(self, position: _Optional[_Union[_types_pb2.PositionSpec, _Mapping[str, object]]] = ...) -> None: ...

class HeatResponse(_message.Message):
    __slots__ = ("position", "white_distance", "black_distance", "white_witness", "black_witness", "cat_search", "cat_display", "walls")
    POSITION_FIELD_NUMBER: _ClassVar[int]
    WHITE_DISTANCE_FIELD_NUMBER: _ClassVar[int]
    BLACK_DISTANCE_FIELD_NUMBER: _ClassVar[int]
    WHITE_WITNESS_FIELD_NUMBER: _ClassVar[int]
    BLACK_WITNESS_FIELD_NUMBER: _ClassVar[int]
    CAT_SEARCH_FIELD_NUMBER: _ClassVar[int]
    CAT_DISPLAY_FIELD_NUMBER: _ClassVar[int]
    WALLS_FIELD_NUMBER: _ClassVar[int]
    position: str
    white_distance: int
    black_distance: int
    white_witness: _containers.RepeatedScalarFieldContainer[str]
    black_witness: _containers.RepeatedScalarFieldContainer[str]
    cat_search: _containers.RepeatedScalarFieldContainer[int]
    cat_display: _containers.RepeatedScalarFieldContainer[int]
    walls: _containers.RepeatedCompositeFieldContainer[WallHeat]
    def __init__(self, position: _Optional[str] = ..., white_distance: _Optional[int] = ..., black_distance: _Optional[int] = ..., white_witness: _Optional[_Iterable[str]] = ..., black_witness: _Optional[_Iterable[str]] = ..., cat_search: _Optional[_Iterable[int]] = ..., cat_display: _Optional[_Iterable[int]] = ..., walls: _Optional[_Iterable[_Union[WallHeat, _Mapping[str, object]]]] = ...) -> None: ...

class WallHeat(_message.Message):
    __slots__ = ("wall", "heat_cm", "shape_bonus_cm", "searched", "reason")
    WALL_FIELD_NUMBER: _ClassVar[int]
    HEAT_CM_FIELD_NUMBER: _ClassVar[int]
    SHAPE_BONUS_CM_FIELD_NUMBER: _ClassVar[int]
    SEARCHED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    wall: str
    heat_cm: int
    shape_bonus_cm: int
    searched: bool
    reason: str
    def __init__(self, wall: _Optional[str] = ..., heat_cm: _Optional[int] = ..., shape_bonus_cm: _Optional[int] = ..., searched: bool = ..., reason: _Optional[str] = ...) -> None: ...

class ConvertRequest(_message.Message):
    __slots__ = ("moves", "to")
    MOVES_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    moves: _types_pb2.MoveText
    to: _types_pb2.Notation
    def __init__(self, moves: _Optional[_Union[_types_pb2.MoveText, _Mapping[str, object]]] = ..., to: _Optional[_Union[_types_pb2.Notation, str]] = ...) -> None: ...

class ConvertResponse(_message.Message):
    __slots__ = ("moves",)
    MOVES_FIELD_NUMBER: _ClassVar[int]
    moves: str
    def __init__(self, moves: _Optional[str] = ...) -> None: ...
