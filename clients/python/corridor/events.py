"""What happens to a job, and what a cluster and its books say, as plain values.

Names of enumerations are the command line's, in lower case (`exact`, `running`, `white`); a value that this version does not know is
`unknown_N`. Squares, walls and moves are in `man` notation. Heat is in centi-squares (cm), times are in milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import total_ordering
from typing import Any, Optional

from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

from corridor._proto import analysis_pb2, book_types_pb2, positions_pb2, types_pb2

#: Further from 0 than any score in cm, and more than any number of plies.
_WIN = 1_000_000


def name_of(enumeration: EnumTypeWrapper, prefix: str, value: int) -> str:
    """The name of an enumeration's value as the command line has it."""
    try:
        return enumeration.Name(value)[len(prefix) :].lower()
    except ValueError:
        return f"unknown_{value}"


def _bound(value: int) -> str:
    return name_of(types_pb2.Bound, "BOUND_", value)


def _color(value: int) -> str:
    return name_of(types_pb2.Color, "COLOR_", value)


def _task(value: int) -> str:
    return name_of(book_types_pb2.BookTaskKind, "BOOK_TASK_KIND_", value)


@total_ordering
@dataclass(frozen=True)
class Score:
    """A score from White's view. Exactly one of the fields is set. Scores compare: the greater one is better for White.

    Attributes:
        cm: centi-squares; 100 is worth about one step of a shortest path, positive is good for White.
        white_wins_in: White has a proven win in at most so many plies.
        black_wins_in: Black has a proven win in at most so many plies.
    """

    cm: Optional[int] = None
    white_wins_in: Optional[int] = None
    black_wins_in: Optional[int] = None

    def __post_init__(self) -> None:
        """Checks that it is one score.

        Raises:
            ValueError: it is none, or several.
        """
        if sum(value is not None for value in (self.cm, self.white_wins_in, self.black_wins_in)) != 1:
            raise ValueError("a score is exactly one of cm, white_wins_in and black_wins_in")

    @property
    def winner(self) -> Optional[str]:
        """`white` or `black` if a win is proven, otherwise None."""
        if self.white_wins_in is not None:
            return "white"
        return "black" if self.black_wins_in is not None else None

    @property
    def plies(self) -> Optional[int]:
        """Plies to the proven win, at most; None without one."""
        return self.white_wins_in if self.white_wins_in is not None else self.black_wins_in

    @property
    def squares(self) -> float:
        """The score in squares, +-infinity for a proven win: for a plot."""
        if self.cm is not None:
            return self.cm / 100
        return float("inf") if self.winner == "white" else float("-inf")

    def for_side(self, color: str) -> Score:
        """The same score as a player sees it: what is good for `color` is as if it were good for White.

        Raises:
            ValueError: the color is neither `white` nor `black`.
        """
        if color not in ("white", "black"):
            raise ValueError(f"color: '{color}' is neither 'white' nor 'black'")
        if color == "white":
            return self
        if self.cm is not None:
            return Score(cm=-self.cm)
        return Score(white_wins_in=self.black_wins_in, black_wins_in=self.white_wins_in)

    def as_json(self) -> dict[str, int]:
        """As the command line prints it: `{"cm": 120}`."""
        fields = {"cm": self.cm, "white_wins_in": self.white_wins_in, "black_wins_in": self.black_wins_in}
        return {name: value for name, value in fields.items() if value is not None}

    def _rank(self) -> int:
        if self.white_wins_in is not None:
            return _WIN - self.white_wins_in
        if self.black_wins_in is not None:
            return self.black_wins_in - _WIN
        return self.cm or 0

    def __lt__(self, other: object) -> bool:
        """Whether it is worse for White."""
        return self._rank() < other._rank() if isinstance(other, Score) else NotImplemented

    def __str__(self) -> str:
        """`+1.20`, or `White wins in 9`."""
        if self.cm is not None:
            return f"{self.cm / 100:+.2f}"
        return f"{str(self.winner).capitalize()} wins in {self.plies}"


def read_score(wire: types_pb2.ScoreWhite) -> Optional[Score]:
    """A score from the wire; None for a kind that this version does not know."""
    kind = wire.WhichOneof("kind")
    return None if kind is None else Score(**{kind: getattr(wire, kind)})


def _score_in(message: Any, name: str = "score_white") -> Optional[Score]:
    return read_score(getattr(message, name)) if message.HasField(name) else None


@dataclass(frozen=True)
class MoveHeat:
    """The heat of a move, in cm without shape bonus, and the rule that spoke: `pawn`, `witness`, `hot`, `cold`, ..."""

    move: str
    heat_cm: int
    reason: str


@dataclass(frozen=True)
class Line:
    """A root move with its score, the plies searched for it, and the expected play, the move itself first."""

    move: str
    score: Optional[Score]
    bound: str
    depth: int
    pv: tuple[str, ...]
    nodes: int
    heat_cm: int


@dataclass(frozen=True)
class BookChild:
    """A move that stays in the book, with the score of the position after it; None: not analysed."""

    move: str
    score: Optional[Score]
    bound: Optional[str]


@dataclass(frozen=True)
class BookValue:
    """What a book says of a position, and where it has that from: `rules`, `search` or `backed_up` (from `move`)."""

    score: Optional[Score]
    bound: str
    depth: int
    source: str
    move: Optional[str]


@dataclass(frozen=True)
class BookNode:
    """A position of a book, in canonical orientation, with its value and where that came from.

    Attributes:
        moves: a line of the book that leads to it.
        depth: plies searched; 0: not analysed, and then most of the rest is empty.
        score: what its own search found; `backed_up` and `value` are what follows for the book.
        analysed_at: seconds since 1970; 0: not analysed.
        stale: the score is of another engine epoch.
        wire: the message itself, with all the rest; this is what an import takes.
    """

    position: str
    moves: tuple[str, ...]
    key: str
    depth: int
    score: Optional[Score]
    bound: Optional[str]
    best_move: Optional[str]
    pv: tuple[str, ...]
    nodes: int
    backed_up: Optional[Score]
    children: tuple[BookChild, ...]
    engine: str
    analysed_at: int
    stale: bool
    value: Optional[BookValue]
    root_moves: tuple[Line, ...]
    wire: book_types_pb2.BookNode = field(repr=False, compare=False)


@dataclass(frozen=True)
class Event:
    """Something that happened to a job. `seq` is 1 for its first event and grows by one."""

    seq: int

    @property
    def is_last(self) -> bool:
        """Nothing follows."""
        return False


@dataclass(frozen=True)
class Accepted(Event):
    """The job was accepted: always the first event. `kept` moves are searched, hottest first; `pruned` ones are not."""

    job: int
    position: str
    turn: str
    kept: tuple[MoveHeat, ...]
    pruned: tuple[MoveHeat, ...]


@dataclass(frozen=True)
class Heat(Event):
    """Heat of the position (`move` is None) or of the board after a kept move: 81 values in cm, row by row from a1."""

    move: Optional[str]
    cat_display: tuple[int, ...]
    cat_search: tuple[int, ...]


@dataclass(frozen=True)
class State(Event):
    """The job changed its state to `queued`, `running`, `waiting`, `paused` or `parked`."""

    state: str
    reason: str


@dataclass(frozen=True)
class Move(Event):
    """A root move has a new score. `nodes` are those for this move at this depth."""

    move: str
    depth: int
    score: Optional[Score]
    bound: str
    pv: tuple[str, ...]
    nodes: int
    heat_cm: int
    worker: str


@dataclass(frozen=True)
class Iteration(Event):
    """A depth is complete; the score is exact. `nodes` and `elapsed_ms` count from the job's acceptance."""

    depth: int
    best_move: str
    score: Optional[Score]
    pv: tuple[str, ...]
    nodes: int
    elapsed_ms: int
    nodes_per_second: int
    workers: int


@dataclass(frozen=True)
class Audit(Event):
    """A pruned root move was checked; a `miss` is better than the best searched one."""

    move: str
    score: Optional[Score]
    reason: str
    miss: bool


@dataclass(frozen=True)
class Done(Event):
    """The job ended, with the last completed depth's scores. `lines` are all searched root moves, best first.

    `stopped_by` is `depth`, `time`, `nodes`, `proof`, `cancel` or `book`. No best move: the game is over, or no depth was completed.
    """

    best_move: Optional[str]
    score: Optional[Score]
    depth: int
    pv: tuple[str, ...]
    nodes: int
    elapsed_ms: int
    lines: tuple[Line, ...]
    stopped_by: str

    @property
    def is_last(self) -> bool:
        """Nothing follows."""
        return True


@dataclass(frozen=True)
class Error(Event):
    """The job failed. `code` is the name of a gRPC code in lower case."""

    code: str
    message: str

    @property
    def is_last(self) -> bool:
        """Nothing follows."""
        return True


@dataclass(frozen=True)
class BookAccepted(Event):
    """A book's job was accepted: always its first event. `task` is `analyze` or `expand`."""

    job: int
    book: str
    task: str
    positions: int
    total: int


@dataclass(frozen=True)
class BookPosition(Event):
    """A position of the book was searched: the job's `done`-th of `total`."""

    node: BookNode
    done: int
    total: int
    nodes: int
    elapsed_ms: int
    workers: int


@dataclass(frozen=True)
class BookPositionFailed(Event):
    """The search of a position failed; the job goes on with the others."""

    position: str
    message: str


@dataclass(frozen=True)
class BookDone(Event):
    """A book's job ended. `stopped_by` is `complete`, `cost`, `time` or `cancel`; `left` is what is still not known."""

    positions: int
    searched: int
    added: int
    failed: int
    left: int
    nodes: int
    elapsed_ms: int
    stopped_by: str

    @property
    def is_last(self) -> bool:
        """Nothing follows."""
        return True


@dataclass(frozen=True)
class Unknown(Event):
    """A kind of event that a later version has added. `wire` is the message."""

    wire: analysis_pb2.Event = field(repr=False, compare=False)


@dataclass(frozen=True)
class Limits:
    """When a search stops, whatever comes first; None: no such limit."""

    depth: Optional[int]
    time_ms: Optional[int]
    nodes: Optional[int]


@dataclass(frozen=True)
class JobSummary:
    """A job in short. `book` names the book of a book's job; the depth is 0 and score and move are missing before the first."""

    job: int
    state: str
    position: str
    depth: int
    best_move: Optional[str]
    score: Optional[Score]
    nodes: int
    elapsed_ms: int
    last_seq: int
    priority: int
    reason: str
    book: Optional[str]
    limits: Limits


@dataclass(frozen=True)
class Worker:
    """A connected worker. `units` are leased to it; `silent_ms` is the time since it was last heard."""

    name: str
    slots: int
    units: int
    nodes: int
    nodes_per_second: int
    connected_ms: int
    silent_ms: int
    draining: bool


@dataclass(frozen=True)
class WallHeat:
    """A legal wall's heat and shape bonus in cm, whether a search under `cat` looks at it, and the rule that says so."""

    wall: str
    heat_cm: int
    shape_bonus_cm: int
    searched: bool
    reason: str


@dataclass(frozen=True)
class HeatMap:
    """The Corridor Attention Table of a position: 81 values in cm, row by row from a1, distances in steps, every legal wall."""

    position: str
    white_distance: int
    black_distance: int
    white_witness: tuple[str, ...]
    black_witness: tuple[str, ...]
    cat_search: tuple[int, ...]
    cat_display: tuple[int, ...]
    walls: tuple[WallHeat, ...]


def _heats(wire: Any) -> tuple[MoveHeat, ...]:
    return tuple(MoveHeat(it.move, it.heat_cm, it.reason) for it in wire)


def _lines(wire: Any) -> tuple[Line, ...]:
    return tuple(
        Line(it.move, _score_in(it), _bound(it.bound), it.depth, tuple(it.pv), it.nodes, it.heat_cm) for it in wire
    )


def read_node(wire: book_types_pb2.BookNode) -> BookNode:
    """A position of a book from the wire."""
    value = None
    if wire.HasField("value"):
        source = name_of(book_types_pb2.BookSource, "BOOK_SOURCE_", wire.value.source)
        score = _score_in(wire.value)
        value = BookValue(score, _bound(wire.value.bound), wire.value.depth, source, wire.value.move or None)
    children = tuple(BookChild(it.move, _score_in(it), _bound(it.bound) if it.bound else None) for it in wire.children)
    return BookNode(
        position=wire.position,
        moves=tuple(wire.moves),
        key=wire.key,
        depth=wire.depth,
        score=_score_in(wire),
        bound=_bound(wire.bound) if wire.bound else None,
        best_move=wire.best_move or None,
        pv=tuple(wire.pv),
        nodes=wire.nodes,
        backed_up=_score_in(wire, "backed_up_white"),
        children=children,
        engine=wire.engine,
        analysed_at=wire.analysed_at,
        stale=wire.stale,
        value=value,
        root_moves=_lines(wire.root_moves),
        wire=wire,
    )


def read_event(wire: analysis_pb2.Event) -> Event:
    """An event from the wire; `Unknown` if this version does not know its kind."""
    read = _READERS.get(wire.WhichOneof("kind") or "")
    if read is None:
        return Unknown(wire.seq, wire)
    event: Event = read(wire.seq, wire)
    return event


def _accepted(seq: int, wire: analysis_pb2.Event) -> Event:
    it = wire.accepted
    return Accepted(seq, it.job, it.position, _color(it.turn), _heats(it.kept), _heats(it.pruned))


def _heat(seq: int, wire: analysis_pb2.Event) -> Event:
    it = wire.heat
    return Heat(seq, it.move if it.HasField("move") else None, tuple(it.cat_display), tuple(it.cat_search))


def _state(seq: int, wire: analysis_pb2.Event) -> Event:
    return State(seq, name_of(types_pb2.JobState, "JOB_STATE_", wire.state.state), wire.state.reason)


def _move(seq: int, wire: analysis_pb2.Event) -> Event:
    it = wire.move
    pv = tuple(it.pv)
    return Move(seq, it.move, it.depth, _score_in(it), _bound(it.bound), pv, it.nodes, it.heat_cm, it.worker)


def _iteration(seq: int, wire: analysis_pb2.Event) -> Event:
    it = wire.iteration
    found = (it.depth, it.best_move, _score_in(it), tuple(it.pv))
    return Iteration(seq, *found, it.nodes, it.elapsed_ms, it.nodes_per_second, it.workers)


def _audit(seq: int, wire: analysis_pb2.Event) -> Event:
    it = wire.audit
    return Audit(seq, it.move, _score_in(it), it.reason, it.miss)


def _done(seq: int, wire: analysis_pb2.Event) -> Event:
    it = wire.done
    best = it.best_move if it.HasField("best_move") else None
    stopped_by = name_of(types_pb2.StoppedBy, "STOPPED_BY_", it.stopped_by)
    return Done(seq, best, _score_in(it), it.depth, tuple(it.pv), it.nodes, it.elapsed_ms, _lines(it.lines), stopped_by)


def _error(seq: int, wire: analysis_pb2.Event) -> Event:
    return Error(seq, wire.error.code, wire.error.message)


def _book_accepted(seq: int, wire: analysis_pb2.Event) -> Event:
    it = wire.book_accepted
    return BookAccepted(seq, it.job, it.book, _task(it.task), it.positions, it.total)


def _position(seq: int, wire: analysis_pb2.Event) -> Event:
    it = wire.position
    return BookPosition(seq, read_node(it.node), it.done, it.total, it.nodes, it.elapsed_ms, it.workers)


def _position_failed(seq: int, wire: analysis_pb2.Event) -> Event:
    return BookPositionFailed(seq, wire.position_failed.position, wire.position_failed.message)


def _book_done(seq: int, wire: analysis_pb2.Event) -> Event:
    it = wire.book_done
    stopped_by = name_of(book_types_pb2.BookStoppedBy, "BOOK_STOPPED_BY_", it.stopped_by)
    return BookDone(seq, it.positions, it.searched, it.added, it.failed, it.left, it.nodes, it.elapsed_ms, stopped_by)


_READERS = {
    "accepted": _accepted,
    "heat": _heat,
    "state": _state,
    "move": _move,
    "iteration": _iteration,
    "audit": _audit,
    "done": _done,
    "error": _error,
    "book_accepted": _book_accepted,
    "position": _position,
    "position_failed": _position_failed,
    "book_done": _book_done,
}


def read_job(wire: analysis_pb2.JobSummary) -> JobSummary:
    """A job in short from the wire."""
    limits = {name: getattr(wire.limits, name) if wire.limits.HasField(name) else None for name in _LIMITS}
    return JobSummary(
        job=wire.job,
        state=name_of(types_pb2.JobState, "JOB_STATE_", wire.state),
        position=wire.position,
        depth=wire.depth,
        best_move=wire.best_move or None,
        score=_score_in(wire),
        nodes=wire.nodes,
        elapsed_ms=wire.elapsed_ms,
        last_seq=wire.last_seq,
        priority=wire.priority,
        reason=wire.reason,
        book=wire.book.book if wire.HasField("book") else None,
        limits=Limits(**limits),
    )


_LIMITS = ("depth", "time_ms", "nodes")


def read_worker(wire: analysis_pb2.WorkerSummary) -> Worker:
    """A worker from the wire."""
    times = (wire.connected_ms, wire.silent_ms)
    return Worker(wire.name, wire.slots, wire.units, wire.nodes, wire.nodes_per_second, *times, wire.draining)


def read_heat(wire: positions_pb2.HeatResponse) -> HeatMap:
    """A position's heat from the wire."""
    return HeatMap(
        position=wire.position,
        white_distance=wire.white_distance,
        black_distance=wire.black_distance,
        white_witness=tuple(wire.white_witness),
        black_witness=tuple(wire.black_witness),
        cat_search=tuple(wire.cat_search),
        cat_display=tuple(wire.cat_display),
        walls=tuple(WallHeat(it.wall, it.heat_cm, it.shape_bonus_cm, it.searched, it.reason) for it in wire.walls),
    )
