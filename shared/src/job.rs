//! The vocabulary of a job: what is asked, how it is cut into units of search, and what is told about it.
//!
//! Plain types without behaviour, shared by the wire, the coordinator, the worker and the command line. Every score here
//! is from White's view, since all of them leave the engine.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::board::{Color, Move, Position};
use crate::book::{Growth, Order, Record};
use crate::exchange::SharedEntry;
use crate::score::{Bound, INFINITE, Score, WIN, WhiteScore};
pub use crate::search::MAX_DEPTH;
use crate::search::{PruneMode, Window};

/// What two engines must agree on before they may share results: rules, evaluation and version.
pub const ENGINE_EPOCH: &str = concat!("corridor-", env!("CARGO_PKG_VERSION"), "-rules1-eval1");

/// Size of the table that each unit of a deterministic job has for itself, whatever else the worker has.
pub const DETERMINISTIC_TABLE_BYTES: usize = 16 << 20;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $inner:ty) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id!(
    /// Number of a job, from 1.
    JobId,
    u64
);
id!(
    /// Number of a unit of search, from 1; the same in all its attempts.
    UnitId,
    u64
);
id!(
    /// Number of a worker's session, from 1.
    WorkerId,
    u64
);
id!(
    /// Which lease of a unit this is: 1, 2, 3, ..
    Attempt,
    u32
);

impl Attempt {
    /// The first lease of a unit.
    pub const FIRST: Self = Self(1);

    /// The lease after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// Which root moves a job searches.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RootPrune {
    /// Those that the Corridor Attention Table keeps.
    Cat,
    /// Every legal one.
    None,
    /// As `Cat`; afterwards the pruned ones are checked against the best score.
    Audit,
}

/// When a job stops: whatever comes first.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct JobLimits {
    /// Deepest iteration, 1..=[`MAX_DEPTH`] plies.
    pub depth: Option<u8>,
    /// Time from acceptance.
    pub time: Option<Duration>,
    /// Positions visited by all workers together.
    pub nodes: Option<u64>,
}

/// What a client wants analysed, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSpec {
    /// The position.
    pub position: Position,
    /// When to stop.
    pub limits: JobLimits,
    /// How many lines get exact scores, at least 1.
    pub multipv: u16,
    /// Which root moves are searched.
    pub prune: RootPrune,
    /// The same answer for any number of workers, any schedule and any faults.
    pub deterministic: bool,
    /// Higher is served first.
    pub priority: i32,
    /// Goes on without a watcher.
    pub detach: bool,
    /// W3C trace context of the request.
    pub traceparent: Option<Arc<str>>,
}

impl JobSpec {
    /// An interactive job without limits: one exact line, moves pruned by the attention table.
    #[must_use]
    pub const fn new(position: Position) -> Self {
        Self {
            position,
            limits: JobLimits { depth: None, time: None, nodes: None },
            multipv: 1,
            prune: RootPrune::Cat,
            deterministic: false,
            priority: 0,
            detach: false,
            traceparent: None,
        }
    }

    /// The same job to a depth, 1..=[`MAX_DEPTH`] plies.
    #[must_use]
    pub const fn to_depth(mut self, depth: u8) -> Self {
        self.limits.depth = Some(depth);
        self
    }
}

/// What a client wants done with a book, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct BookJobSpec {
    /// Name of the book.
    pub book: Arc<str>,
    /// What.
    pub task: BookTask,
    /// When the search of a position stops.
    pub limits: JobLimits,
    /// How many lines of a position get exact scores, at least 1.
    pub multipv: u16,
    /// Which root moves are searched.
    pub prune: RootPrune,
    /// The same values for any number of workers, any schedule and any faults.
    pub deterministic: bool,
    /// Higher is served first.
    pub priority: i32,
    /// Goes on without a watcher.
    pub detach: bool,
    /// W3C trace context of the request.
    pub traceparent: Option<Arc<str>>,
}

impl BookJobSpec {
    /// Whether it asks for the same work as another one, whoever asks and however urgent it is.
    #[must_use]
    pub fn is_same_work(&self, other: &Self) -> bool {
        let work = |it: &Self| (it.task, it.limits, it.multipv, it.prune, it.deterministic);
        self.book == other.book && work(self) == work(other)
    }

    /// The search of one of its positions.
    #[must_use]
    pub fn search(&self, position: Position, order: Order) -> JobSpec {
        let Order { limits, multipv, prune } = order;
        JobSpec {
            position,
            limits,
            multipv,
            prune,
            deterministic: self.deterministic,
            priority: self.priority,
            detach: true,
            traceparent: self.traceparent.clone(),
        }
    }
}

/// What is done with a book.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum BookTask {
    /// Every position that is not known well enough is searched.
    Analyze {
        /// Values of other engines are not good enough.
        stale: bool,
        /// At most so many positions.
        most: Option<u32>,
    },
    /// Positions are added where the book misses them most. What is not known of the others comes first.
    Expand {
        /// Add at most so many.
        positions: Option<u32>,
        /// Where it is missing something.
        growth: Growth,
        /// Add nothing after this time.
        time: Option<Duration>,
    },
}

impl BookTask {
    /// Name in events.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Analyze { .. } => "analyze",
            Self::Expand { .. } => "expand",
        }
    }
}

/// Where a job stands.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Accepted, nothing granted yet.
    Queued,
    /// Workers search it.
    Running,
    /// No worker is connected.
    Waiting,
    /// Held by a client, or by a store that cannot be written.
    Paused,
    /// A unit of it killed too many workers.
    Parked,
    /// Ended with `done`.
    Done,
    /// Ended with `error`.
    Failed,
}

impl JobState {
    /// Name in events.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Parked => "parked",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// Whether the job has ended.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed)
    }
}

/// Why a job ended with `done`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum StoppedBy {
    /// The depth limit, or the deepest search there is.
    Depth,
    /// The time limit.
    Time,
    /// The node limit.
    Nodes,
    /// More depth changes nothing.
    Proof,
    /// A client, or the last watcher's leaving.
    Cancel,
    /// The book already knew it.
    Book,
}

impl StoppedBy {
    /// Name in events.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Depth => "depth",
            Self::Time => "time",
            Self::Nodes => "nodes",
            Self::Proof => "proof",
            Self::Cancel => "cancel",
            Self::Book => "book",
        }
    }
}

/// Why a book's job ended with `done`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum BookStop {
    /// Everything that was asked for is done.
    Complete,
    /// Nothing is missing that would cost less.
    Cost,
    /// The time is up.
    Time,
    /// A client, or the last watcher's leaving.
    Cancel,
}

impl BookStop {
    /// Name in events.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Cost => "cost",
            Self::Time => "time",
            Self::Cancel => "cancel",
        }
    }
}

/// An event with its number within the job: 1, 2, 3, ..
#[derive(Clone, Debug, PartialEq)]
pub struct EventRecord {
    /// The number.
    pub seq: u64,
    /// The event.
    pub event: JobEvent,
}

/// Something that happened to a job.
#[derive(Clone, Debug, PartialEq)]
pub enum JobEvent {
    /// Always the first.
    Accepted(Accepted),
    /// The heat of a board; apart, or every other event would take as much memory as this one.
    Heat(Box<BoardHeat>),
    /// The job changed its state.
    State(StateChange),
    /// A root move has a new score.
    Move(MoveReport),
    /// A depth is complete.
    Iteration(IterationReport),
    /// A pruned root move was checked.
    Audit(AuditReport),
    /// Always the last, unless `Error` is.
    Done(DoneReport),
    /// Always the last, unless `Done` is.
    Error(Failure),
    /// Always the first of a book's job.
    BookAccepted(BookAccepted),
    /// A position of the book was searched, and how far the job is; apart, as `Heat` is.
    Position(Box<PositionReport>),
    /// The search of a position failed; the job goes on with the others.
    PositionFailed(Box<PositionFailure>),
    /// Always the last of a book's job, unless `Error` is.
    BookDone(BookDone),
}

impl JobEvent {
    /// Whether nothing follows this event.
    #[must_use]
    pub const fn is_last(&self) -> bool {
        matches!(self, Self::Done(_) | Self::BookDone(_) | Self::Error(_))
    }
}

/// The job was accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    /// Its number.
    pub job: JobId,
    /// The position.
    pub position: Position,
    /// Moves that are searched, hottest first.
    pub kept: Vec<MoveHeat>,
    /// Moves that are not.
    pub pruned: Vec<MoveHeat>,
}

/// The heat of a move and why it is searched or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveHeat {
    /// The move.
    pub mv: Move,
    /// Heat without shape bonus, in centi-squares.
    pub heat_cm: u16,
    /// Name of the rule that spoke.
    pub reason: String,
}

/// The heat of a board, 81 squares row by row from a1, in centi-squares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardHeat {
    /// The root move after which the board is meant; `None`: the position itself.
    pub mv: Option<Move>,
    /// The two players' maximum.
    pub cat_display: [u16; 81],
    /// The two players' sum.
    pub cat_search: [u16; 81],
}

/// The job changed its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateChange {
    /// The new state.
    pub state: JobState,
    /// Why, in plain words.
    pub reason: String,
}

/// A root move has a new score.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveReport {
    /// The move with its score.
    pub line: Line,
    /// Name of the worker that searched it.
    pub worker: String,
}

/// One root move with its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The move.
    pub mv: Move,
    /// Its score.
    pub score_white: WhiteScore,
    /// What the score means, from White's view.
    pub bound: Bound,
    /// Plies searched, the move itself included.
    pub depth: u8,
    /// The expected play, the move itself first.
    pub pv: Vec<Move>,
    /// Positions visited for this move at this depth.
    pub nodes: u64,
    /// Heat of the move, in centi-squares.
    pub heat_cm: u16,
}

/// A depth is complete.
#[derive(Clone, Debug, PartialEq)]
pub struct IterationReport {
    /// The depth, in plies.
    pub depth: u8,
    /// The best move.
    pub best_move: Move,
    /// Its exact score.
    pub score_white: WhiteScore,
    /// The expected play.
    pub pv: Vec<Move>,
    /// Positions visited since the start of the job.
    pub nodes: u64,
    /// Time since acceptance.
    pub elapsed: Duration,
    /// `nodes` over `elapsed`.
    pub nodes_per_second: u64,
    /// Connected workers.
    pub workers: u32,
}

/// A pruned root move was checked.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditReport {
    /// The move.
    pub mv: Move,
    /// Its score.
    pub score_white: WhiteScore,
    /// Why it was pruned.
    pub reason: String,
    /// It is better than the best searched move.
    pub miss: bool,
}

/// The job ended. The scores are the last completed depth's.
#[derive(Clone, Debug, PartialEq)]
pub struct DoneReport {
    /// The best move; `None` when the game is over or no depth was completed.
    pub best_move: Option<Move>,
    /// Its score; `None` when no depth was completed.
    pub score_white: Option<WhiteScore>,
    /// Last completed depth, in plies.
    pub depth: u8,
    /// The expected play.
    pub pv: Vec<Move>,
    /// Positions visited since the start of the job.
    pub nodes: u64,
    /// Time since acceptance.
    pub elapsed: Duration,
    /// Every searched root move, best first.
    pub lines: Vec<Line>,
    /// Why it ended.
    pub stopped_by: StoppedBy,
}

/// The job failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Name of the gRPC code that fits, in lower case.
    pub code: String,
    /// What went wrong.
    pub message: String,
}

/// A book's job was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookAccepted {
    /// Its number.
    pub job: JobId,
    /// Name of the book.
    pub book: Arc<str>,
    /// What is done with it.
    pub task: BookTask,
    /// Positions of the book.
    pub positions: u64,
    /// Those that are to be searched, as far as that is known.
    pub total: u64,
}

/// A position of a book was searched.
#[derive(Clone, Debug, PartialEq)]
pub struct PositionReport {
    /// The position, with what was found and what follows for the book.
    pub record: Record,
    /// How far the job is.
    pub progress: BookProgress,
}

/// How far a book's job is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct BookProgress {
    /// Positions that it has searched.
    pub done: u64,
    /// Positions that are to be searched, those included.
    pub total: u64,
    /// Positions visited in all these searches.
    pub nodes: u64,
    /// Time since acceptance.
    pub elapsed: Duration,
    /// Connected workers.
    pub workers: u32,
}

/// The search of a position of a book failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositionFailure {
    /// The position, in canonical orientation.
    pub position: Position,
    /// What went wrong.
    pub message: String,
}

/// A book's job ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct BookDone {
    /// Positions of the book now.
    pub positions: u64,
    /// Those that the job has searched.
    pub searched: u64,
    /// Those that it has added.
    pub added: u64,
    /// Those whose search failed.
    pub failed: u64,
    /// Those of the book that are still not known as well as was asked.
    pub left: u64,
    /// Positions visited in all its searches.
    pub nodes: u64,
    /// Time since acceptance.
    pub elapsed: Duration,
    /// Why it ended.
    pub stopped_by: BookStop,
}

/// A book's job in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookSummary {
    /// Name of the book.
    pub book: Arc<str>,
    /// What is done with it.
    pub task: BookTask,
    /// Positions that were searched.
    pub done: u64,
    /// Positions that are to be searched, those included.
    pub total: u64,
}

/// A job in short.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSummary {
    /// Its number.
    pub job: JobId,
    /// Where it stands.
    pub state: JobState,
    /// Why, in plain words; empty when it has come to its end.
    pub reason: String,
    /// The position; `None` for a book's job.
    pub position: Option<Position>,
    /// The book, for a book's job.
    pub book: Option<BookSummary>,
    /// Last completed depth, in plies; 0 before the first.
    pub depth: u8,
    /// Best move of that depth.
    pub best_move: Option<Move>,
    /// Score of that move.
    pub score_white: Option<WhiteScore>,
    /// Positions visited so far.
    pub nodes: u64,
    /// Time since acceptance, until the end if it has ended.
    pub elapsed: Duration,
    /// Number of its latest event.
    pub last_seq: u64,
    /// Its priority.
    pub priority: i32,
    /// When it stops, the time that counts without a limit included; of a book's job, its positions' searches.
    pub limits: JobLimits,
}

/// A unit that a worker searches now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldUnit {
    /// The job that it belongs to; of a position of a book, the book's job.
    pub job: JobId,
    /// The moves from the job's position to where it is searched, the root move first; none for a whole position.
    pub moves: Vec<Move>,
    /// The position of the book that it is part of, for a book's job.
    pub position: Option<Position>,
    /// Plies to be searched from there.
    pub depth: u8,
    /// Positions visited, as last heard.
    pub nodes: u64,
    /// Time since it was begun.
    pub running: Duration,
}

/// A worker that was lost, or has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerLoss {
    /// Its name.
    pub name: String,
    /// Why, in plain words.
    pub reason: String,
    /// Units that it held and that others must search.
    pub units: u32,
    /// Time since then.
    pub ago: Duration,
}

/// A worker in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerSummary {
    /// Its name.
    pub name: String,
    /// Units that it searches at once.
    pub slots: u32,
    /// Units leased to it, those waiting at it included.
    pub units: u32,
    /// Positions it has visited since it registered.
    pub nodes: u64,
    /// Its measured rate while searching; 0 before the first result.
    pub nodes_per_second: u64,
    /// Time since it registered.
    pub connected: Duration,
    /// Time since it was last heard.
    pub silent: Duration,
    /// It takes no more units.
    pub draining: bool,
    /// What it searches now, in the order in which it was granted.
    pub holds: Vec<HeldUnit>,
}

/// Who a worker is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// Its name, unique among the connected ones.
    pub name: String,
    /// A number drawn at the start of its process.
    pub instance: u64,
    /// Rules, evaluation and version of its engine.
    pub engine_epoch: String,
    /// Units that it searches at once, at least 1.
    pub slots: u32,
    /// Size of its transposition table, in bytes.
    pub table_bytes: u64,
}

/// The terms on which a worker was accepted.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Number of the session.
    pub worker: WorkerId,
    /// How long a lease lasts without a sign of life.
    pub lease: Duration,
    /// How often to send a heartbeat.
    pub heartbeat: Duration,
}

/// A unit of search, leased to one worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// The job it belongs to.
    pub job: JobId,
    /// Its number.
    pub unit: UnitId,
    /// Which attempt this is.
    pub attempt: Attempt,
    /// The job's root position.
    pub root: Position,
    /// Moves from the root to the node to search.
    pub path: Vec<Move>,
    /// Plies to search below the path's end; 0 is quiescence alone.
    pub depth: u8,
    /// The window at the path's end.
    pub window: WhiteWindow,
    /// Stop after so many positions.
    pub node_budget: Option<u64>,
    /// Expected play from the path's end.
    pub pv_hint: Vec<Move>,
    /// A table of its own, reset before it starts.
    pub deterministic: bool,
    /// Which moves are searched below.
    pub prune: PruneMode,
    /// W3C trace context of the request that caused it.
    pub traceparent: Option<Arc<str>>,
    /// Handed out early, on a guess.
    pub speculative: bool,
    /// What the cluster knows about the path's end and its expected play; none for a deterministic unit.
    pub seeds: Vec<SharedEntry>,
    /// The root itself is analysed from depth 1 on, with exact scores for so many lines; path and window say nothing then.
    pub whole: Option<u16>,
}

impl Unit {
    /// The side to move at the path's end.
    #[must_use]
    pub fn turn(&self) -> Color {
        if self.path.len().is_multiple_of(2) { self.root.turn() } else { !self.root.turn() }
    }
}

/// How far a unit is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct UnitProgress {
    /// The unit.
    pub unit: UnitId,
    /// The attempt.
    pub attempt: Attempt,
    /// Positions visited so far; 0 while it waits.
    pub nodes: u64,
}

/// A whole unit has completed a depth and goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitIteration {
    /// The unit.
    pub unit: UnitId,
    /// The attempt.
    pub attempt: Attempt,
    /// Every searched root move, best first.
    pub lines: Vec<Line>,
    /// Positions visited up to its end.
    pub nodes: u64,
}

/// What a unit found.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitReport {
    /// The unit.
    pub unit: UnitId,
    /// The attempt.
    pub attempt: Attempt,
    /// Score and meaning at the path's end; `None` when it was stopped before it had one.
    pub score: Option<(WhiteScore, Bound)>,
    /// Expected play from the path's end.
    pub pv: Vec<Move>,
    /// Positions visited.
    pub nodes: u64,
    /// The whole depth was searched.
    pub completed: bool,
    /// Time on a search thread.
    pub search_time: Duration,
    /// The score holds on this path only: a repetition of one of its positions is behind it.
    pub path_dependent: bool,
    /// Of a whole unit: every searched root move of the last completed depth, best first.
    pub lines: Vec<Line>,
    /// After a call to shed: the nodes from the path's end downwards that were being searched, so that others can go on.
    pub open: Vec<ShedNode>,
}

/// A node that a worker was searching when it was told to shed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShedNode {
    /// The move that it had in hand: the way to the next such node.
    pub current: Move,
    /// Its moves that are done, with score and bound at this node; win distances count from the path's end.
    pub done: Vec<(Move, WhiteScore, Bound)>,
}

/// The scores in which a search is interested, both ends exclusive, from White's view; `None` is open.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct WhiteWindow {
    /// Lower end for White.
    pub low: Option<WhiteScore>,
    /// Upper end for White.
    pub high: Option<WhiteScore>,
}

impl WhiteWindow {
    /// White's view of an engine window whose side to move is `turn`.
    #[must_use]
    pub fn from_engine(window: Window, turn: Color) -> Self {
        // From a win on the spot on, nothing is cut off.
        let end = |score: Score| (score.abs() < WIN).then(|| WhiteScore::from_engine(score, turn));
        match turn {
            Color::White => Self { low: end(window.alpha), high: end(window.beta) },
            Color::Black => Self { low: end(window.beta), high: end(window.alpha) },
        }
    }

    /// The engine's view when `turn` is to move.
    #[must_use]
    pub fn to_engine(self, turn: Color) -> Window {
        let end = |score: Option<WhiteScore>, open: Score| score.map_or(open, |score| score.to_engine(turn));
        match turn {
            Color::White => Window { alpha: end(self.low, -INFINITE), beta: end(self.high, INFINITE) },
            Color::Black => Window { alpha: end(self.high, -INFINITE), beta: end(self.low, INFINITE) },
        }
    }
}
