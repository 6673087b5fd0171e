//! The Corridor Attention Table (CAT), version 3: what every part of the cluster means by heat.
//!
//! Heat says how near a square lies to *any* near-optimal route of either player. It serves move ordering, late-move
//! reductions and the pruning of the move list, and is never part of the static evaluation. All values are integers in
//! centi-squares (cm): 100 cm is worth about one step of a shortest path.

mod heat;
mod prune;
mod shape;
mod snapshot;
mod walls;
mod witness;

pub(crate) use heat::for_each;
pub use heat::{CorridorAttention, build_corridor_attention};
pub(crate) use prune::WallVerdicts;
pub use prune::{Reason, SearchMoves, Verdict, collect_search_moves, wall_should_search};
pub use shape::{gap_play_zone_mask, reachable_mask, wall_shape_attention_bonus};
pub use snapshot::{CatSnapshot, WallAttention, cat_snapshot};
pub(crate) use walls::WallHeats;
pub use walls::{move_corridor_attention, wall_edge_heat};
pub use witness::witness_path;

/// One player's ceiling for corridor heat, in cm.
pub const CAT_CORRIDOR_CM: u16 = 200;
/// A detour longer than this many steps has no heat.
pub const MAX_RELEVANT_CORRIDOR_DELTA: u8 = 3;
/// Added on a narrow corridor square, in cm.
pub const BOTTLENECK_BONUS_CM: u16 = 40;
/// From here up a move is tactical: never reduced; a wall this hot is always searched. In cm.
pub const CAT_HOT_CM: u16 = 160;
/// Below it a move is reduced by one ply more; a display tints from here up. In cm.
pub const CAT_COLD_CM: u16 = 60;
/// Where a display's colour ramp ends, in cm.
pub const CAT_DISPLAY_CEILING_CM: u16 = CAT_CORRIDOR_CM + BOTTLENECK_BONUS_CM;
/// Shape bonus of a cross-gap wall, in cm.
pub const CROSS_GAP_BONUS_CM: u16 = 40;
/// Shape bonus of a wall that blocks a cross-gap, in cm.
pub const BLOCKS_CROSS_GAP_BONUS_CM: u16 = 35;
