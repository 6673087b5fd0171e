//! Notations: how squares, walls, moves and positions are written. One file a notation.

mod man;
mod position_text;

pub use man::ParseMoveError;
pub use position_text::ParsePositionError;
