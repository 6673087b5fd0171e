//! No text in any notation makes a parser panic, and every complaint is one short line.

#![no_main]

use corridor_shared::notation::{Notation, parse_games, parse_moves, qf};
use corridor_shared::{Move, Square, Wall};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    for notation in Notation::ALL {
        if let Err(error) = parse_moves(notation, &text) {
            let message = error.to_string();
            assert!(message.len() < 300 && !message.contains('\n'), "{message}");
        }
        let _ = parse_games(notation, &text);
    }
    let _ = (text.parse::<Move>(), text.parse::<Square>(), text.parse::<Wall>(), text.parse::<Notation>());
    if let Ok(state) = qf::State::decode(&text) {
        assert_eq!(qf::State::decode(&state.encode()), Ok(state));
    }
});
