//! Keys kept up move by move equal those of the same position built afresh, for it and for its mirror image.

#![no_main]

use corridor_fuzz::game;
use corridor_shared::Position;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for position in game(bytes).0 {
        let fresh: Position = position.to_string().parse().expect("a printed position reads");
        assert_eq!((fresh.key(), fresh.canonical_key()), (position.key(), position.canonical_key()), "{position}");
        let image: Position = position.mirrored().to_string().parse().expect("a printed position reads");
        assert_eq!(image.canonical_key(), position.canonical_key(), "{position}");
    }
});
