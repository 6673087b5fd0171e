//! Properties that need what the crate keeps to itself: playing in place and taking back.

use proptest::prelude::*;

use super::{Move, Position};

proptest! {
    /// After every move is taken back, in order, each position is again exactly what it was, keys included.
    #[test]
    fn undo_after_play_is_identity(choices in prop::collection::vec(any::<u16>(), 0..120)) {
        let mut position = Position::start();
        let mut history = Vec::new();
        for choice in choices {
            let legal = position.legal_moves();
            let wants_pawn = choice % 2 == 0;
            let pool: Vec<Move> = legal.iter().copied().filter(|mv| mv.is_pawn() == wants_pawn).collect();
            let pool = if pool.is_empty() { legal.to_vec() } else { pool };
            let Some(&mv) = pool.get(usize::from(choice / 2) % pool.len().max(1)) else { break };
            let before = position;
            let undo = position.do_move(mv);
            prop_assert_eq!(position, before.after(mv));
            prop_assert_ne!(position.key(), before.key());
            history.push((before, undo));
        }
        while let Some((before, undo)) = history.pop() {
            position.undo_move(undo);
            prop_assert_eq!(position, before);
            prop_assert_eq!((position.key(), position.canonical_key()), (before.key(), before.canonical_key()));
        }
    }
}
