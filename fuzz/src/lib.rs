//! What the fuzz targets share: games steered by the fuzzer's bytes.

use corridor_shared::{Move, Position};

/// Plays one legal move for each byte, until the game ends: the positions passed, the start first, and the moves.
pub fn game(bytes: &[u8]) -> (Vec<Position>, Vec<Move>) {
    let mut positions = vec![Position::start()];
    let mut moves = Vec::new();
    for &byte in bytes {
        let position = positions[positions.len() - 1];
        let legal = position.legal_moves();
        if legal.is_empty() {
            break;
        }
        let mv = legal[usize::from(byte) % legal.len()];
        moves.push(mv);
        positions.push(position.after(mv));
    }
    (positions, moves)
}
