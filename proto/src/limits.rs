//! Limits that both ends of the wire keep.

/// Largest message that any client or service sends or takes, in bytes. gRPC's own default of 4 MiB is too small for a
/// large import and is easily forgotten on one of the ends.
pub const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// Longest list of moves (a game, a path, a principal variation), in plies.
pub const MAX_PLIES: usize = 1_024;

/// Longest name, reason or notation text on the wire, in bytes.
pub const MAX_TEXT_BYTES: usize = 64 << 10;
