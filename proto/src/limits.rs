//! Limits that both ends of the wire keep.

/// Largest message that any client or service sends or takes, in bytes. gRPC's own default of 4 MiB is too small for a
/// large import and is easily forgotten on one of the ends.
pub const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// Longest list of moves (a game, a path, a principal variation), in plies.
pub const MAX_PLIES: usize = 1_024;

/// Longest name of a worker or an engine epoch on the wire, in bytes (`max_name_bytes`): both are quoted in refusals, which
/// travel in headers.
pub const MAX_NAME_BYTES: usize = 256;

/// Most positions that a unit is believed to have visited (`max_unit_nodes`): a year of search. Sums of them stay far below
/// the largest number.
pub const MAX_UNIT_NODES: u64 = 1 << 45;

/// Largest batch of cache entries, in bytes (`max_batch_bytes`).
pub const MAX_BATCH_BYTES: usize = 8 << 10;

/// Entries in a batch (`max_batch_entries`): so many fit into [`MAX_BATCH_BYTES`], whatever they are.
pub const MAX_BATCH_ENTRIES: usize = MAX_BATCH_BYTES / 28;

/// Cache entries that come with a unit (`max_seeds`).
pub const MAX_SEEDS: usize = 64;

/// Cache entries on their way that nobody has taken yet, in each direction of an exchange (`exchange_credit`).
pub const EXCHANGE_CREDIT: u32 = 8_192;
