//! What goes into the state machine and what comes out of it.

use std::sync::Arc;
use std::time::Duration;

use corridor_shared::board::{Move, Position};
use corridor_shared::book::{Book, Effort, Searched, Value};
use corridor_shared::exchange::SharedEntry;
use corridor_shared::job::{
    Attempt, BookJobSpec, EventRecord, JobId, JobSpec, JobState, JobSummary, Line, Registration, Terms, Unit,
    UnitId, UnitIteration, UnitProgress, UnitReport, WhiteWindow, WorkerId, WorkerLoss, WorkerSummary,
};

use super::figures::Figures;

/// Number of a client's stream of events, given by the driver.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatcherId(pub u64);

/// Number of a question that waits for its answer, given by the driver.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// Something that happened outside.
#[derive(Clone, Debug)]
pub enum Event {
    /// A client asks; the answer goes to its ticket.
    Ask {
        /// Where the answer goes.
        ticket: Ticket,
        /// What is asked.
        question: Question,
    },
    /// A client's stream is gone.
    Unwatch {
        /// Which.
        watcher: WatcherId,
    },
    /// A worker says something.
    Worker {
        /// Which.
        worker: WorkerId,
        /// What it says.
        says: WorkerSays,
    },
    /// The store cannot be written: whatever is kept there must wait.
    StoreLost {
        /// Why, in plain words.
        reason: String,
    },
    /// The store can be written again.
    StoreBack,
    /// Time has passed.
    Tick,
}

/// What a client or a new worker asks.
#[derive(Clone, Debug)]
pub enum Question {
    /// Analyse this; answered by `Job`.
    Submit {
        /// What and how.
        spec: Box<JobSpec>,
        /// A stream that watches it from the first event on.
        watcher: Option<WatcherId>,
        /// The answer, if a book has it.
        known: Option<Box<Known>>,
    },
    /// Stream a job's events; answered by `Nothing`.
    Watch {
        /// The job.
        job: JobId,
        /// The stream.
        watcher: WatcherId,
        /// Number of the last event already seen.
        after_seq: u64,
    },
    /// End a job with what is known; answered by `Nothing`.
    Cancel(JobId),
    /// Hold a job; answered by `Nothing`.
    Pause(JobId),
    /// Let a job go on; answered by `Nothing`.
    Resume(JobId),
    /// Where a job stands; answered by `Jobs`.
    Get(JobId),
    /// Where the jobs stand, newest first; answered by `Jobs`.
    List {
        /// At most so many.
        limit: usize,
        /// Only those with a smaller number.
        before: Option<JobId>,
    },
    /// Who is connected; answered by `Workers`.
    Workers,
    /// Who was lost lately, the latest first; answered by `Losses`.
    Losses,
    /// How often things have happened and how they stand; answered by `Figures`.
    Figures,
    /// Whether a book is in memory; answered by `IsOpen`.
    IsOpen(Arc<str>),
    /// Here is a book as it was kept, perhaps empty; ignored if it is in memory already. Answered by `Nothing`.
    Open {
        /// Its name.
        name: Arc<str>,
        /// Its content.
        book: Box<Book>,
    },
    /// Add positions to a book that is in memory, and what was found about some; answered by `Entered`.
    Enter {
        /// The book.
        book: Arc<str>,
        /// The positions.
        positions: Vec<Position>,
        /// Positions with what a search found about them.
        found: Vec<(Position, Searched)>,
    },
    /// How often a book has changed since this coordinator was started; answered by `Revision`, when all of that is durable.
    Revision(Arc<str>),
    /// Replace a book in memory and in the store; answered by `Nothing`.
    Replace {
        /// Its name.
        name: Arc<str>,
        /// Its content.
        book: Box<Book>,
        /// What it was made from: if the book has changed since then nothing is replaced.
        revision: u64,
    },
    /// Analyse or grow a book that is in memory; answered by `Job`. Whoever asks for the same work as an open job joins it.
    SubmitBook {
        /// What and how.
        spec: Box<BookJobSpec>,
        /// A stream that watches it from the first event on.
        watcher: Option<WatcherId>,
    },
    /// A worker wants to join; answered by `Terms`.
    Register {
        /// Number of its session.
        worker: WorkerId,
        /// Who it is.
        registration: Registration,
    },
}

/// What a registered worker says.
#[derive(Clone, Debug)]
pub enum WorkerSays {
    /// It lives, and its units are so far.
    Heartbeat(Vec<UnitProgress>),
    /// A unit has ended.
    Report(UnitReport),
    /// A whole unit has completed a depth and goes on.
    Iteration(UnitIteration),
    /// A unit cannot be searched.
    Failed {
        /// The unit.
        unit: UnitId,
        /// The attempt.
        attempt: Attempt,
        /// What went wrong.
        message: String,
    },
    /// It takes no more units.
    Draining,
    /// Its session has ended in order, or was ended from here.
    Gone {
        /// Why, in plain words.
        reason: String,
    },
    /// Its line broke without a word: unless it comes back it is dead.
    Broken {
        /// How, in plain words.
        reason: String,
    },
}

/// Something to be done outside.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Answer a question.
    Answer {
        /// Whose.
        ticket: Ticket,
        /// The answer.
        answer: Result<Answer, Refusal>,
    },
    /// Tell a worker something.
    Send {
        /// Which.
        worker: WorkerId,
        /// What.
        command: Command,
    },
    /// Results of nodes that no worker searched as a whole, for all workers' tables.
    Share {
        /// The results.
        entries: Vec<SharedEntry>,
    },
    /// End a worker's session.
    Disconnect {
        /// Which.
        worker: WorkerId,
        /// Why, in plain words.
        reason: String,
    },
    /// Make something durable. What is told about its job from now on, deliveries and answers, must wait until that is
    /// done; what is told to workers need not. Without a store it is nothing.
    Keep(Keep),
    /// Hand events to a watcher.
    Deliver {
        /// Of which job.
        job: JobId,
        /// Which.
        watcher: WatcherId,
        /// In order of their numbers.
        records: Vec<Arc<EventRecord>>,
    },
    /// Nothing more comes for a watcher.
    Finish {
        /// Of which job.
        job: JobId,
        /// Which.
        watcher: WatcherId,
    },
}

/// Something that outlives the coordinator.
#[derive(Clone, Debug, PartialEq)]
pub enum Keep {
    /// A job was accepted.
    Job {
        /// Its number.
        job: JobId,
        /// What was asked.
        spec: Box<JobSpec>,
    },
    /// Something happened to a job.
    Event {
        /// The job.
        job: JobId,
        /// What happened.
        record: Arc<EventRecord>,
    },
    /// A job stands somewhere else now.
    Standing {
        /// The job.
        job: JobId,
        /// Where.
        standing: Box<Standing>,
    },
    /// A job is forgotten, with all that was kept of it.
    Forget {
        /// The job.
        job: JobId,
    },
    /// A book's job was accepted.
    BookJob {
        /// Its number.
        job: JobId,
        /// What was asked.
        spec: Box<BookJobSpec>,
    },
    /// Positions are in a book now, which is there from the first of them on.
    Positions {
        /// The book.
        book: Arc<str>,
        /// The job that has added them, if it was one.
        job: Option<JobId>,
        /// The positions, in canonical orientation, with their numbers in the order of arrival, from 0.
        positions: Vec<(u32, Position)>,
        /// Edges from or to them: key, move, key.
        edges: Vec<(u64, Move, u64)>,
    },
    /// A search has found something about a position of a book. Whatever was kept of the search before is of no use any more.
    Found {
        /// The book.
        book: Arc<str>,
        /// The position's key.
        key: u64,
        /// What.
        searched: Box<Searched>,
        /// Every searched root move, best first.
        lines: Vec<Line>,
    },
    /// A search has found nothing better about a position of a book than what is there.
    Effort {
        /// The book.
        book: Arc<str>,
        /// The position's key.
        key: u64,
        /// The most that a search of it has been given.
        effort: Effort,
    },
    /// A book says something else of some positions.
    Values {
        /// The book.
        book: Arc<str>,
        /// The positions' keys, and what it says.
        values: Vec<(u64, Option<Value>)>,
    },
    /// The search of a position of a book has completed a depth.
    Progress {
        /// The book.
        book: Arc<str>,
        /// The position's key.
        key: u64,
        /// The job that searches it.
        job: JobId,
        /// The depth and what it found.
        iteration: Box<Iteration>,
    },
    /// A book is another one now.
    Rewrite {
        /// Its name.
        name: Arc<str>,
        /// Its content.
        book: Box<Book>,
    },
}

impl Keep {
    /// The job that it is about.
    #[must_use]
    pub const fn job(&self) -> Option<JobId> {
        match self {
            Self::Job { job, .. }
            | Self::Event { job, .. }
            | Self::Standing { job, .. }
            | Self::Forget { job }
            | Self::BookJob { job, .. } => Some(*job),
            Self::Positions { .. }
            | Self::Found { .. }
            | Self::Effort { .. }
            | Self::Values { .. }
            | Self::Progress { .. }
            | Self::Rewrite { .. } => None,
        }
    }
}

/// What a book knows of a position that a client asks for, in the client's orientation.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// Depth of the search, in plies.
    pub depth: u8,
    /// Every searched root move, best first.
    pub lines: Vec<Line>,
}

/// Where a job stands: what a later coordinator needs to go on with it, its events apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Its state.
    pub state: JobState,
    /// It is held by a client.
    pub paused: bool,
    /// Positions visited so far.
    pub nodes: u64,
    /// Time since acceptance during which a coordinator lived and could write.
    pub elapsed: Duration,
    /// The last completed iteration: depth, and every searched root move, best first. `None` if that is what it was.
    pub iteration: Option<Iteration>,
}

/// A completed iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration {
    /// Its depth, in plies.
    pub depth: u8,
    /// Positions visited since the start of the job, up to its end.
    pub nodes: u64,
    /// Every searched root move, best first.
    pub lines: Vec<Line>,
    /// The order in which the next iteration looks at the root moves.
    pub order: Vec<Move>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It is done.
    Nothing,
    /// The job's number.
    Job(JobId),
    /// Where jobs stand.
    Jobs(Vec<JobSummary>),
    /// Who is connected.
    Workers(Vec<WorkerSummary>),
    /// Who was lost.
    Losses(Vec<WorkerLoss>),
    /// How often things have happened and how they stand.
    Figures(Box<Figures>),
    /// The terms of a session.
    Terms(Terms),
    /// Whether it is in memory.
    IsOpen(bool),
    /// How often it has changed.
    Revision(u64),
    /// What has come into a book.
    Entered(Entered),
}

/// What has come into a book.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Entered {
    /// Positions that are new.
    pub new_positions: u64,
    /// Values that say more than what was there.
    pub new_values: u64,
    /// Positions of the book now.
    pub positions: u64,
}

/// What a worker is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Search this when a slot is free.
    Grant(Box<Unit>),
    /// A unit has a new window.
    Window {
        /// The unit.
        unit: UnitId,
        /// The attempt.
        attempt: Attempt,
        /// The window at the path's end.
        window: WhiteWindow,
    },
    /// A unit's result is not wanted any more.
    Cancel {
        /// The unit.
        unit: UnitId,
        /// The attempt.
        attempt: Attempt,
    },
    /// A unit is too large: the worker stops it and says what is done of it.
    Shed {
        /// The unit.
        unit: UnitId,
        /// The attempt.
        attempt: Attempt,
    },
    /// The worker does not hold this lease.
    LeaseLost {
        /// The unit.
        unit: UnitId,
        /// The attempt.
        attempt: Attempt,
    },
}

/// Why a question was refused. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such thing.
    #[error("{0}")]
    NotFound(String),
    /// The request is impossible.
    #[error("{0}")]
    Invalid(String),
    /// A limit is reached; the text names it.
    #[error("{0}")]
    Exhausted(String),
    /// Not in the present state.
    #[error("{0}")]
    Precondition(String),
    /// The name is taken.
    #[error("{0}")]
    AlreadyExists(String),
    /// Not now; later, or elsewhere.
    #[error("{0}")]
    Unavailable(String),
    /// Not supported yet.
    #[error("{0}")]
    Unsupported(String),
}
