//! What goes into the state machine and what comes out of it.

use std::sync::Arc;
use std::time::Duration;

use corridor_shared::board::Move;
use corridor_shared::exchange::SharedEntry;
use corridor_shared::job::{
    Attempt, EventRecord, JobId, JobSpec, JobState, JobSummary, Line, Registration, Terms, Unit, UnitId,
    UnitProgress, UnitReport, WhiteWindow, WorkerId, WorkerSummary,
};

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
    /// The terms of a session.
    Terms(Terms),
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
