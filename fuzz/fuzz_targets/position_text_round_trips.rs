//! A text that reads as a position prints canonically, and the print reads as the same position.

#![no_main]

use corridor_shared::{Color, Position};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match text.parse::<Position>() {
        Ok(position) => {
            let canonical = position.to_string();
            let again: Position = canonical.parse().expect("a printed position reads");
            assert_eq!(again, position);
            assert_eq!(again.to_string(), canonical);
            assert_eq!(again.key(), position.key());
            assert!(Color::BOTH.iter().all(|&color| position.distance(color).is_some()));
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
});
