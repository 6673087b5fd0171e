//! A game written in any notation is read back as the same game.

#![no_main]

use corridor_fuzz::game;
use corridor_shared::notation::{Notation, format_moves, parse_moves, qf};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (_, moves) = game(bytes);
    for notation in Notation::ALL {
        match format_moves(notation, &moves) {
            Ok(text) => assert_eq!(parse_moves(notation, &text).as_ref(), Ok(&moves), "{notation}: {text}"),
            Err(error) => assert!(notation == Notation::Qf && moves.len() > qf::MAX_RECORD_PLIES, "{error}"),
        }
    }
});
