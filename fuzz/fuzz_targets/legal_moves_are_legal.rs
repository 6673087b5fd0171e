//! Wherever a game leads, a move is legal exactly if it is listed, and leaves both sides a way.

#![no_main]

use corridor_fuzz::game;
use corridor_shared::{Color, Move};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (positions, _) = game(bytes);
    let Some(position) = positions.last() else { return };
    let listed = position.legal_moves();
    for mv in (0..=u8::MAX).filter_map(Move::from_index) {
        let played = position.play(mv);
        assert_eq!(played.is_ok(), listed.contains(&mv), "{mv} in {position}");
        if let Ok(after) = played {
            assert!(Color::BOTH.iter().all(|&color| after.distance(color).is_some()), "{mv} in {position}");
        }
    }
});
