//! Bit scans whose results are small by construction; the only place where their width is narrowed.

/// Index of the lowest set bit, 0..=63; 64 for an empty set.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "trailing_zeros of a u64 is at most 64")]
pub(crate) const fn lsb64(set: u64) -> u8 {
    set.trailing_zeros() as u8
}

/// Index of the lowest set bit, 0..=127; 128 for an empty set.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "trailing_zeros of a u128 is at most 128")]
pub(crate) const fn lsb128(set: u128) -> u8 {
    set.trailing_zeros() as u8
}

/// Removes the lowest set bit and returns its index. The set must not be empty.
#[inline(always)]
pub(crate) const fn pop_lsb64(set: &mut u64) -> u8 {
    let index = lsb64(*set);
    *set &= set.wrapping_sub(1);
    index
}

/// Removes the lowest set bit and returns its index. The set must not be empty.
#[inline(always)]
pub(crate) const fn pop_lsb128(set: &mut u128) -> u8 {
    let index = lsb128(*set);
    *set &= set.wrapping_sub(1);
    index
}
