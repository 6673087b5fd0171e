//! Chance that can be repeated: everything that a test draws follows from one seed.

/// A stream of numbers, by the finaliser of splitmix64.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to below `count`, which is at least 1.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let count = u64::try_from(count).expect("small");
        usize::try_from(self.next() % count).expect("small")
    }
}

/// The seed of this run: a variable's, or a new one. It is printed, so that a failure can be repeated.
pub(crate) fn seed(variable: &str) -> u64 {
    use std::hash::{BuildHasher, Hasher};
    let given = std::env::var(variable).ok();
    let seed = given.map(|text| text.parse().unwrap_or_else(|error| panic!("{variable}='{text}': {error}")));
    let seed = seed.unwrap_or_else(|| std::hash::RandomState::new().build_hasher().finish());
    eprintln!("to repeat this: {variable}={seed}");
    seed
}
