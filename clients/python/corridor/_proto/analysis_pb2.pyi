from corridor._proto import book_types_pb2 as _book_types_pb2
from corridor._proto import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AnalyzeRequest(_message.Message):
    __slots__ = ("spec", "fresh")
    SPEC_FIELD_NUMBER: _ClassVar[int]
    FRESH_FIELD_NUMBER: _ClassVar[int]
    spec: _types_pb2.JobSpec
    fresh: bool
    def __init__(self, spec: _Optional[_Union[_types_pb2.JobSpec, _Mapping[str, object]]] = ..., fresh: bool = ...) -> None: ...

class AnalyzeResponse(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: Event
    def __init__(self, event: _Optional[_Union[Event, _Mapping[str, object]]] = ...) -> None: ...

class SubmitRequest(_message.Message):
    __slots__ = ("spec", "fresh")
    SPEC_FIELD_NUMBER: _ClassVar[int]
    FRESH_FIELD_NUMBER: _ClassVar[int]
    spec: _types_pb2.JobSpec
    fresh: bool
    def __init__(self, spec: _Optional[_Union[_types_pb2.JobSpec, _Mapping[str, object]]] = ..., fresh: bool = ...) -> None: ...

class SubmitResponse(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: int
    def __init__(self, job: _Optional[int] = ...) -> None: ...

class GetRequest(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: int
    def __init__(self, job: _Optional[int] = ...) -> None: ...

class GetResponse(_message.Message):
    __slots__ = ("summary",)
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    summary: JobSummary
    def __init__(self, summary: _Optional[_Union[JobSummary, _Mapping[str, object]]] = ...) -> None: ...

class ListRequest(_message.Message):
    __slots__ = ("limit", "before")
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    limit: int
    before: int
    def __init__(self, limit: _Optional[int] = ..., before: _Optional[int] = ...) -> None: ...

class ListResponse(_message.Message):
    __slots__ = ("jobs",)
    JOBS_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[JobSummary]
    def __init__(self, jobs: _Optional[_Iterable[_Union[JobSummary, _Mapping[str, object]]]] = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ("job", "after_seq")
    JOB_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQ_FIELD_NUMBER: _ClassVar[int]
    job: int
    after_seq: int
    def __init__(self, job: _Optional[int] = ..., after_seq: _Optional[int] = ...) -> None: ...

class WatchResponse(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: Event
    def __init__(self, event: _Optional[_Union[Event, _Mapping[str, object]]] = ...) -> None: ...

class CancelRequest(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: int
    def __init__(self, job: _Optional[int] = ...) -> None: ...

class CancelResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PauseRequest(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: int
    def __init__(self, job: _Optional[int] = ...) -> None: ...

class PauseResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ResumeRequest(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: int
    def __init__(self, job: _Optional[int] = ...) -> None: ...

class ResumeResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WorkersRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WorkersResponse(_message.Message):
    __slots__ = ("workers", "losses")
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    LOSSES_FIELD_NUMBER: _ClassVar[int]
    workers: _containers.RepeatedCompositeFieldContainer[WorkerSummary]
    losses: _containers.RepeatedCompositeFieldContainer[WorkerLoss]
    def __init__(self, workers: _Optional[_Iterable[_Union[WorkerSummary, _Mapping[str, object]]]] = ..., losses: _Optional[_Iterable[_Union[WorkerLoss, _Mapping[str, object]]]] = ...) -> None: ...

class WorkerLoss(_message.Message):
    __slots__ = ("name", "reason", "units", "ago_ms")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    UNITS_FIELD_NUMBER: _ClassVar[int]
    AGO_MS_FIELD_NUMBER: _ClassVar[int]
    name: str
    reason: str
    units: int
    ago_ms: int
    def __init__(self, name: _Optional[str] = ..., reason: _Optional[str] = ..., units: _Optional[int] = ..., ago_ms: _Optional[int] = ...) -> None: ...

class HeldUnit(_message.Message):
    __slots__ = ("job", "moves", "position", "depth", "nodes", "running_ms")
    JOB_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    RUNNING_MS_FIELD_NUMBER: _ClassVar[int]
    job: int
    moves: _containers.RepeatedScalarFieldContainer[str]
    position: str
    depth: int
    nodes: int
    running_ms: int
    def __init__(self, job: _Optional[int] = ..., moves: _Optional[_Iterable[str]] = ..., position: _Optional[str] = ..., depth: _Optional[int] = ..., nodes: _Optional[int] = ..., running_ms: _Optional[int] = ...) -> None: ...

class JobSummary(_message.Message):
    __slots__ = ("job", "state", "position", "depth", "best_move", "score_white", "nodes", "elapsed_ms", "last_seq", "priority", "reason", "book", "limits")
    JOB_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    BEST_MOVE_FIELD_NUMBER: _ClassVar[int]
    SCORE_WHITE_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MS_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQ_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    BOOK_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    job: int
    state: _types_pb2.JobState
    position: str
    depth: int
    best_move: str
    score_white: _types_pb2.ScoreWhite
    nodes: int
    elapsed_ms: int
    last_seq: int
    priority: int
    reason: str
    book: _book_types_pb2.BookSummary
    limits: _types_pb2.Limits
    def __init__(self, job: _Optional[int] = ..., state: _Optional[_Union[_types_pb2.JobState, str]] = ..., position: _Optional[str] = ..., depth: _Optional[int] = ..., best_move: _Optional[str] = ..., score_white: _Optional[_Union[_types_pb2.ScoreWhite, _Mapping[str, object]]] = ..., nodes: _Optional[int] = ..., elapsed_ms: _Optional[int] = ..., last_seq: _Optional[int] = ..., priority: _Optional[int] = ..., reason: _Optional[str] = ..., book: _Optional[_Union[_book_types_pb2.BookSummary, _Mapping[str, object]]] = ..., limits: _Optional[_Union[_types_pb2.Limits, _Mapping[str, object]]] = ...) -> None: ...

class WorkerSummary(_message.Message):
    __slots__ = ("name", "slots", "units", "nodes", "nodes_per_second", "connected_ms", "silent_ms", "draining", "holds")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    UNITS_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    NODES_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    CONNECTED_MS_FIELD_NUMBER: _ClassVar[int]
    SILENT_MS_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    HOLDS_FIELD_NUMBER: _ClassVar[int]
    name: str
    slots: int
    units: int
    nodes: int
    nodes_per_second: int
    connected_ms: int
    silent_ms: int
    draining: bool
    holds: _containers.RepeatedCompositeFieldContainer[HeldUnit]
    def __init__(self, name: _Optional[str] = ..., slots: _Optional[int] = ..., units: _Optional[int] = ..., nodes: _Optional[int] = ..., nodes_per_second: _Optional[int] = ..., connected_ms: _Optional[int] = ..., silent_ms: _Optional[int] = ..., draining: bool = ..., holds: _Optional[_Iterable[_Union[HeldUnit, _Mapping[str, object]]]] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("seq", "accepted", "heat", "state", "move", "iteration", "audit", "done", "error", "book_accepted", "position", "position_failed", "book_done")
    SEQ_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    HEAT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    MOVE_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    AUDIT_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    BOOK_ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    POSITION_FAILED_FIELD_NUMBER: _ClassVar[int]
    BOOK_DONE_FIELD_NUMBER: _ClassVar[int]
    seq: int
    accepted: AcceptedEvent
    heat: HeatEvent
    state: StateEvent
    move: MoveEvent
    iteration: IterationEvent
    audit: AuditEvent
    done: DoneEvent
    error: ErrorEvent
    book_accepted: _book_types_pb2.BookAcceptedEvent
    position: _book_types_pb2.PositionEvent
    position_failed: _book_types_pb2.PositionFailedEvent
    book_done: _book_types_pb2.BookDoneEvent
    def __init__(self, seq: _Optional[int] = ..., accepted: _Optional[_Union[AcceptedEvent, _Mapping[str, object]]] = ..., heat: _Optional[_Union[HeatEvent, _Mapping[str, object]]] = ..., state: _Optional[_Union[StateEvent, _Mapping[str, object]]] = ..., move: _Optional[_Union[MoveEvent, _Mapping[str, object]]] = ..., iteration: _Optional[_Union[IterationEvent, _Mapping[str, object]]] = ..., audit: _Optional[_Union[AuditEvent, _Mapping[str, object]]] = ..., done: _Optional[_Union[DoneEvent, _Mapping[str, object]]] = ..., error: _Optional[_Union[ErrorEvent, _Mapping[str, object]]] = ..., book_accepted: _Optional[_Union[_book_types_pb2.BookAcceptedEvent, _Mapping[str, object]]] = ..., position: _Optional[_Union[_book_types_pb2.PositionEvent, _Mapping[str, object]]] = ..., position_failed: _Optional[_Union[_book_types_pb2.PositionFailedEvent, _Mapping[str, object]]] = ..., book_done: _Optional[_Union[_book_types_pb2.BookDoneEvent, _Mapping[str, object]]] = ...) -> None: ...

class AcceptedEvent(_message.Message):
    __slots__ = ("job", "position", "turn", "kept", "pruned")
    JOB_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    PRUNED_FIELD_NUMBER: _ClassVar[int]
    job: int
    position: str
    turn: _types_pb2.Color
    kept: _containers.RepeatedCompositeFieldContainer[_types_pb2.MoveHeat]
    pruned: _containers.RepeatedCompositeFieldContainer[_types_pb2.MoveHeat]
    def __init__(self, job: _Optional[int] = ..., position: _Optional[str] = ..., turn: _Optional[_Union[_types_pb2.Color, str]] = ..., kept: _Optional[_Iterable[_Union[_types_pb2.MoveHeat, _Mapping[str, object]]]] = ..., pruned: _Optional[_Iterable[_Union[_types_pb2.MoveHeat, _Mapping[str, object]]]] = ...) -> None: ...

class HeatEvent(_message.Message):
    __slots__ = ("move", "cat_display", "cat_search")
    MOVE_FIELD_NUMBER: _ClassVar[int]
    CAT_DISPLAY_FIELD_NUMBER: _ClassVar[int]
    CAT_SEARCH_FIELD_NUMBER: _ClassVar[int]
    move: str
    cat_display: _containers.RepeatedScalarFieldContainer[int]
    cat_search: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, move: _Optional[str] = ..., cat_display: _Optional[_Iterable[int]] = ..., cat_search: _Optional[_Iterable[int]] = ...) -> None: ...

class StateEvent(_message.Message):
    __slots__ = ("state", "reason")
    STATE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.JobState
    reason: str
    def __init__(self, state: _Optional[_Union[_types_pb2.JobState, str]] = ..., reason: _Optional[str] = ...) -> None: ...

class MoveEvent(_message.Message):
    __slots__ = ("move", "depth", "score_white", "bound", "pv", "nodes", "heat_cm", "worker")
    MOVE_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    SCORE_WHITE_FIELD_NUMBER: _ClassVar[int]
    BOUND_FIELD_NUMBER: _ClassVar[int]
    PV_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    HEAT_CM_FIELD_NUMBER: _ClassVar[int]
    WORKER_FIELD_NUMBER: _ClassVar[int]
    move: str
    depth: int
    score_white: _types_pb2.ScoreWhite
    bound: _types_pb2.Bound
    pv: _containers.RepeatedScalarFieldContainer[str]
    nodes: int
    heat_cm: int
    worker: str
    def __init__(self, move: _Optional[str] = ..., depth: _Optional[int] = ..., score_white: _Optional[_Union[_types_pb2.ScoreWhite, _Mapping[str, object]]] = ..., bound: _Optional[_Union[_types_pb2.Bound, str]] = ..., pv: _Optional[_Iterable[str]] = ..., nodes: _Optional[int] = ..., heat_cm: _Optional[int] = ..., worker: _Optional[str] = ...) -> None: ...

class IterationEvent(_message.Message):
    __slots__ = ("depth", "best_move", "score_white", "pv", "nodes", "elapsed_ms", "nodes_per_second", "workers")
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    BEST_MOVE_FIELD_NUMBER: _ClassVar[int]
    SCORE_WHITE_FIELD_NUMBER: _ClassVar[int]
    PV_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MS_FIELD_NUMBER: _ClassVar[int]
    NODES_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    depth: int
    best_move: str
    score_white: _types_pb2.ScoreWhite
    pv: _containers.RepeatedScalarFieldContainer[str]
    nodes: int
    elapsed_ms: int
    nodes_per_second: int
    workers: int
    def __init__(self, depth: _Optional[int] = ..., best_move: _Optional[str] = ..., score_white: _Optional[_Union[_types_pb2.ScoreWhite, _Mapping[str, object]]] = ..., pv: _Optional[_Iterable[str]] = ..., nodes: _Optional[int] = ..., elapsed_ms: _Optional[int] = ..., nodes_per_second: _Optional[int] = ..., workers: _Optional[int] = ...) -> None: ...

class AuditEvent(_message.Message):
    __slots__ = ("move", "score_white", "reason", "miss")
    MOVE_FIELD_NUMBER: _ClassVar[int]
    SCORE_WHITE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MISS_FIELD_NUMBER: _ClassVar[int]
    move: str
    score_white: _types_pb2.ScoreWhite
    reason: str
    miss: bool
    def __init__(self, move: _Optional[str] = ..., score_white: _Optional[_Union[_types_pb2.ScoreWhite, _Mapping[str, object]]] = ..., reason: _Optional[str] = ..., miss: bool = ...) -> None: ...

class DoneEvent(_message.Message):
    __slots__ = ("best_move", "score_white", "depth", "pv", "nodes", "elapsed_ms", "lines", "stopped_by")
    BEST_MOVE_FIELD_NUMBER: _ClassVar[int]
    SCORE_WHITE_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    PV_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MS_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    STOPPED_BY_FIELD_NUMBER: _ClassVar[int]
    best_move: str
    score_white: _types_pb2.ScoreWhite
    depth: int
    pv: _containers.RepeatedScalarFieldContainer[str]
    nodes: int
    elapsed_ms: int
    lines: _containers.RepeatedCompositeFieldContainer[_types_pb2.Line]
    stopped_by: _types_pb2.StoppedBy
    def __init__(self, best_move: _Optional[str] = ..., score_white: _Optional[_Union[_types_pb2.ScoreWhite, _Mapping[str, object]]] = ..., depth: _Optional[int] = ..., pv: _Optional[_Iterable[str]] = ..., nodes: _Optional[int] = ..., elapsed_ms: _Optional[int] = ..., lines: _Optional[_Iterable[_Union[_types_pb2.Line, _Mapping[str, object]]]] = ..., stopped_by: _Optional[_Union[_types_pb2.StoppedBy, str]] = ...) -> None: ...

class ErrorEvent(_message.Message):
    __slots__ = ("code", "message")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...
