//! Every limit of a worker, named.

use std::time::Duration;

pub use corridor_proto::limits::{EXCHANGE_CREDIT, MAX_BATCH_ENTRIES, MAX_MESSAGE_BYTES};

/// Messages to the coordinator that wait for the network (`session_outbox`); the session waits when it is full.
pub const SESSION_OUTBOX: usize = 1_024;

/// How long a connection and a registration may take (`connect_time`).
pub const CONNECT_TIME: Duration = Duration::from_secs(5);

/// The shortest pause before another try to connect (`backoff_min`).
pub const BACKOFF_MIN: Duration = Duration::from_millis(50);

/// The longest pause before another try to connect (`backoff_max`).
pub const BACKOFF_MAX: Duration = Duration::from_secs(5);

/// How long a drain may take, all in all (`drain_time`).
pub const DRAIN_TIME: Duration = Duration::from_secs(5);

/// Of that, how long a coordinator may take to close a session that is over (`goodbye_time`).
pub const GOODBYE_TIME: Duration = Duration::from_secs(1);

/// How often a quiet connection is asked for a sign of life (`keepalive_interval`).
pub const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(8);

/// A connection that does not answer a keepalive for this long is closed (`keepalive_timeout`).
pub const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(8);

/// Units that wait for a slot (`unit_queue`): more than any coordinator sends.
pub const UNIT_QUEUE: usize = 4_096;

/// How long the result of a unit waits for the next ones, if it only says what was expected and the thread has more to do
/// (`result_linger`).
pub const RESULT_LINGER: Duration = Duration::from_millis(1);

/// Results in one message (`max_results`).
pub const MAX_RESULTS: usize = 64;

/// Results for others that wait to be sent (`exchange_queue`); when it is full the shallowest are dropped.
pub const EXCHANGE_QUEUE: usize = 8_192;

/// How long results for others wait for more to fill a batch (`exchange_linger`).
pub const EXCHANGE_LINGER: Duration = Duration::from_millis(5);

/// The same while only whole positions are searched (`whole_linger`): nobody searches the same position meanwhile, and every
/// batch takes processor time from the searches.
pub const WHOLE_LINGER: Duration = Duration::from_millis(100);

/// A whole unit that has run for so long tells of each depth that it completes (`long_search`).
pub const LONG_SEARCH: Duration = Duration::from_secs(1);
