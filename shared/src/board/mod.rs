//! The board: squares, walls, moves, positions and their keys.
//!
//! One noun a file, all of them re-exported here. A [`Position`] is always valid: both sides have a path to their goal
//! row, no two walls overlap or cross, and its keys equal those of a fresh computation.

mod bits;
mod moves;
mod position;
#[cfg(test)]
mod properties;
mod square;
mod wall;
mod zobrist;

pub(crate) use bits::{lsb64, lsb128, pop_lsb64, pop_lsb128};
pub use moves::{Move, MoveList};
pub use position::{IllegalMove, InvalidPosition, Position, Undo};
pub use square::{Color, Square};
pub use wall::{Orientation, Wall};
