//! Playing a list of moves from a position, with the ply named where it fails.

use crate::board::{IllegalMove, Move, Position};

/// A move that cannot be played, and where.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("ply {ply} ({mv}): {fault}")]
pub struct PlyError {
    /// Which ply, from 1.
    pub ply: usize,
    /// The move.
    pub mv: Move,
    /// Why it is illegal.
    pub fault: IllegalMove,
}

/// The position after the moves.
///
/// # Errors
/// Names the first ply that is illegal, and why.
pub fn replay(start: &Position, moves: &[Move]) -> Result<Position, PlyError> {
    let mut position = *start;
    for (index, &mv) in moves.iter().enumerate() {
        position = position.play(mv).map_err(|fault| PlyError { ply: index + 1, mv, fault })?;
    }
    Ok(position)
}

/// All positions on the way, the starting one first: one more than there are moves.
///
/// # Errors
/// Names the first ply that is illegal, and why.
pub fn replay_all(start: &Position, moves: &[Move]) -> Result<Vec<Position>, PlyError> {
    let mut positions = Vec::with_capacity(moves.len() + 1);
    let mut position = *start;
    positions.push(position);
    for (index, &mv) in moves.iter().enumerate() {
        position = position.play(mv).map_err(|fault| PlyError { ply: index + 1, mv, fault })?;
        positions.push(position);
    }
    Ok(positions)
}
