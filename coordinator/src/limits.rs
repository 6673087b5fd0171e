//! Every limit of the coordinator, named. Past one: an error that names it, never a crash, a stall or silent loss.

use std::time::Duration;

pub use corridor_proto::limits::{
    EXCHANGE_CREDIT, MAX_BATCH_BYTES, MAX_BATCH_ENTRIES, MAX_MESSAGE_BYTES, MAX_NAME_BYTES, MAX_PLIES,
    MAX_SEEDS, MAX_UNIT_NODES,
};

/// Jobs that have not ended (`max_open_jobs`).
pub const MAX_OPEN_JOBS: usize = 1_024;

/// Ended jobs whose events can still be watched (`retained_jobs`); the oldest is forgotten first.
pub const RETAINED_JOBS: usize = 256;

/// Events of all jobs together, beyond which the oldest ended job is forgotten (`retained_events`): as many as a book's job of
/// the largest kind can have and a little more, 60 MB.
pub const RETAINED_EVENTS: usize = 2 * MAX_EVENTS_PER_JOB;

/// Positions of one job (`max_positions_per_job`); an analysis has one, a book job many.
pub const MAX_POSITIONS_PER_JOB: usize = 100_000;

/// Positions of one book (`max_book_positions`): half a gigabyte in memory while somebody works on it.
pub const MAX_BOOK_POSITIONS: usize = 1_000_000;

/// Positions that come into a book in one step of the driver (`entered_at_once`): some tens of milliseconds.
pub const ENTERED_AT_ONCE: usize = 500;

/// Positions in one message of an export (`exported_at_once`).
pub const EXPORTED_AT_ONCE: usize = 500;

/// Bytes of one message of an export (`exported_bytes`), but for the last position in it: with all root moves a position may take a
/// hundred thousand.
pub const EXPORTED_BYTES: usize = 1 << 20;

/// Faults of an import or a check that are told one by one (`max_shown_faults`); the others are counted.
pub const MAX_SHOWN_FAULTS: usize = 1_000;

/// Positions of one book's job that are searched at once (`max_parts`), however many slots there are.
pub const MAX_PARTS: usize = 8_192;

/// Events of one job (`max_events_per_job`): more than the deepest analysis of the widest position has.
pub const MAX_EVENTS_PER_JOB: usize = 65_536;

/// Watchers of all jobs together (`max_watchers`).
pub const MAX_WATCHERS: usize = 4_096;

/// Events that wait for a slow watcher before it is dropped (`watcher_backlog`).
pub const WATCHER_BACKLOG: usize = 1_024;

/// So many watchers of all jobs together are told everything at once (`watchers_at_once`).
pub const WATCHERS_AT_ONCE: usize = 32;

/// More of them are told what is new at intervals, which grow with their number up to this (`watcher_interval`).
pub const WATCHER_INTERVAL: Duration = Duration::from_millis(100);

/// Messages that wait for the driver (`mailbox`); senders wait when it is full.
pub const MAILBOX: usize = 4_096;

/// Units in one message to a worker (`max_granted`).
pub const MAX_GRANTED: usize = 64;

/// Messages that wait for one worker before it counts as lost (`worker_outbox`).
pub const WORKER_OUTBOX: usize = 4_096;

/// Connected workers (`max_workers`).
pub const MAX_WORKERS: usize = 4_096;

/// Units that one worker searches at once (`max_slots`).
pub const MAX_SLOTS: u32 = 1_024;

/// Units that wait at a worker beyond its slots, so that no thread waits for a message (`lookahead`).
pub const LOOKAHEAD: usize = 16;

/// Failures of one unit before its job fails (`max_unit_failures`).
pub const MAX_UNIT_FAILURES: u32 = 3;

/// Exact lines of one job (`max_multipv`): no position has more moves.
pub const MAX_MULTIPV: u16 = 136;

/// Jobs in one answer of List (`max_listed_jobs`).
pub const MAX_LISTED_JOBS: usize = 1_000;

/// Without any limit, a job stops after this time (`default_time`).
pub const DEFAULT_TIME: Duration = Duration::from_secs(30);

/// An interactive job is cancelled this long after its last watcher left (`unwatched_time`).
pub const UNWATCHED_TIME: Duration = Duration::from_secs(30);

/// A time limit too short for the first depth is stretched by at most this (`first_depth_grace`).
pub const FIRST_DEPTH_GRACE: Duration = Duration::from_secs(1);

/// How long a lease lasts without a sign of life, unless told otherwise (`lease`).
pub const DEFAULT_LEASE: Duration = Duration::from_secs(10);

/// The shortest and the longest lease that can be asked for (`lease_min`, `lease_max`): a heartbeat is a tenth of it.
pub const LEASE_RANGE: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(100)..=Duration::from_secs(3_600);

/// Heartbeats that are due within a lease (`heartbeats_per_lease`).
pub const HEARTBEATS_PER_LEASE: u32 = 10;

/// A worker that has missed so many heartbeats yields its name to a process that claims it (`missed_heartbeats`).
pub const MISSED_HEARTBEATS: u32 = 3;

/// Deaths of workers over one unit before its job is parked, unless told otherwise (`unit_deaths`).
pub const UNIT_DEATHS: u32 = 3;

/// Connections that wait to be taken up (`listen_backlog`), as far as the system allows: all workers come at once when a
/// coordinator comes back.
pub const LISTEN_BACKLOG: u32 = 4_096;

/// A new session must register within this time (`register_time`).
pub const REGISTER_TIME: Duration = Duration::from_secs(5);

/// A connection that does not answer a keepalive for this long is closed (`keepalive_timeout`).
pub const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(8);

/// How often a quiet connection is asked for a sign of life (`keepalive_interval`).
pub const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(8);

/// How long a shutdown waits for streams to end (`drain_time`); connections that are open then are cut off.
pub const DRAIN_TIME: Duration = Duration::from_secs(5);

/// Nodes of one job's master tree (`max_tree_nodes`); a full tree splits no further.
pub const MAX_TREE_NODES: usize = 40_000;

/// Nodes of all jobs' master trees together (`max_all_tree_nodes`), some 60 MB.
/// Each job gets what the others leave, and a fair share in any case.
pub const MAX_ALL_TREE_NODES: usize = 2 * MAX_TREE_NODES;

/// Entries of the shared cache, unless told otherwise (`max_cache_entries`): with their map 45 MB.
pub const MAX_CACHE_ENTRIES: usize = 917_504;

/// Entries that wait for one worker (`exchange_queue`); when it is full the shallowest are dropped.
pub const EXCHANGE_QUEUE: usize = 4_096;

/// A new exchange must say who it is within this time (`hello_time`).
pub const HELLO_TIME: Duration = Duration::from_secs(5);

/// How long entries wait for others to fill a batch (`exchange_linger`).
pub const EXCHANGE_LINGER: Duration = Duration::from_millis(5);

/// A unit of search is worth its messages from so much time on (`smallest_unit`); smaller searches are not split.
pub const SMALLEST_UNIT: Duration = Duration::from_millis(5);

/// How long connections that were cut off may take to notice (`cut_time`).
pub const CUT_TIME: Duration = Duration::from_secs(1);

/// Entries that wait to be stored (`store_backlog`): beyond that all jobs pause until the store has caught up.
pub const STORE_BACKLOG: usize = 65_536;

/// A commit that takes longer than this counts as a fault of the store (`store_time`).
pub const STORE_TIME: Duration = Duration::from_secs(5);

/// How long a database may take to be reached (`store_connect_time`); then that is a fault.
pub const STORE_CONNECT_TIME: Duration = Duration::from_secs(5);

/// How long a database may take to answer a statement, or to send the next row (`store_answer_time`); then it is dialled anew.
pub const STORE_ANSWER_TIME: Duration = Duration::from_secs(15);

/// How long another process may lock the store before that counts as a fault, or may take to leave a database
/// (`store_lock_time`).
pub const STORE_LOCK_TIME: Duration = Duration::from_secs(2);

/// Pauses between tries to write a store that could not be written (`store_retry_min`, `store_retry_max`), doubling.
pub const STORE_RETRY_MIN: Duration = Duration::from_millis(100);

/// See [`STORE_RETRY_MIN`].
pub const STORE_RETRY_MAX: Duration = Duration::from_secs(2);

/// How often the work and the time of open jobs are stored while nothing else happens to them (`standing_interval`).
pub const STANDING_INTERVAL: Duration = Duration::from_secs(5);

/// Of a shutdown, how long the last entries may take to be stored (`flush_time`).
pub const FLUSH_TIME: Duration = Duration::from_secs(3);

/// Units of one worker that are listed (`max_held_shown`): a page shows them, and a worker may have a thousand slots.
pub const MAX_HELD_SHOWN: usize = 16;

/// Lost workers that are remembered (`kept_losses`).
pub const KEPT_LOSSES: usize = 20;

/// A request of the page (`max_page_request_bytes`).
pub const MAX_PAGE_REQUEST_BYTES: usize = 64 * 1024;

/// Between two messages to whoever looks at a job in a browser (`viewer_interval`).
pub const VIEWER_INTERVAL: Duration = Duration::from_millis(100);

/// Messages that wait for such a viewer (`viewer_backlog`); one who is slower reads what it has missed.
pub const VIEWER_BACKLOG: usize = 64;

/// A line to a browser on which nothing else is said says that it lives (`viewer_alive`).
pub const VIEWER_ALIVE: Duration = Duration::from_secs(10);

/// Between two pictures of the cluster (`picture_interval`).
pub const PICTURE_INTERVAL: Duration = Duration::from_secs(1);

/// Jobs in such a picture (`picture_jobs`).
pub const PICTURE_JOBS: usize = 100;
