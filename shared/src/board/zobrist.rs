//! Random numbers for position keys, fixed for all builds so that keys may be stored and sent.
//!
//! Every part of the state has its numbers: both pawns, both wall sets, both counts of walls in hand and the side to
//! move. Each comes with the number of its left-right mirror image, so that both keys are kept up with one look-up.

use super::{Color, Orientation, Square, Wall};

/// A key and the key of the mirror image.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct KeyPair {
    pub(super) own: u64,
    pub(super) mirrored: u64,
}

impl KeyPair {
    #[inline(always)]
    pub(super) const fn toggle(&mut self, other: Self) {
        self.own ^= other.own;
        self.mirrored ^= other.mirrored;
    }
}

struct Table {
    pawns: [[KeyPair; 81]; 2],
    walls: [[KeyPair; 64]; 2],
    in_hand: [[u64; 11]; 2],
    black_to_move: u64,
}

/// SplitMix64 (Steele, Lea, Flood 2014): the i-th output of a fixed seed.
const fn random(index: u64) -> u64 {
    let mut z =
        0x436f_7272_6964_6f72_u64.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const fn build() -> Table {
    let mut table = Table {
        pawns: [[KeyPair { own: 0, mirrored: 0 }; 81]; 2],
        walls: [[KeyPair { own: 0, mirrored: 0 }; 64]; 2],
        in_hand: [[0; 11]; 2],
        black_to_move: random(4096),
    };
    let mut side = 0;
    while side < 2 {
        let base = side as u64 * 1024;
        let mut square = 0;
        while square < 81 {
            let image = Square::from_bit_index(square).mirrored().index();
            table.pawns[side][square as usize] =
                KeyPair { own: random(base + square as u64), mirrored: random(base + image as u64) };
            square += 1;
        }
        let mut slot = 0;
        while slot < 64 {
            let image = Wall::at(Orientation::Horizontal, slot).mirrored().slot();
            table.walls[side][slot as usize] = KeyPair {
                own: random(base + 256 + slot as u64),
                mirrored: random(base + 256 + image as u64),
            };
            slot += 1;
        }
        let mut count = 0;
        while count < 11 {
            table.in_hand[side][count] = random(base + 512 + count as u64);
            count += 1;
        }
        side += 1;
    }
    table
}

static TABLE: Table = build();

#[inline(always)]
pub(super) fn pawn(color: Color, square: Square) -> KeyPair {
    TABLE.pawns[color.index()][usize::from(square.index())]
}

#[inline(always)]
pub(super) fn wall(wall: Wall) -> KeyPair {
    TABLE.walls[wall.orientation().index()][usize::from(wall.slot())]
}

#[inline(always)]
pub(super) fn in_hand(color: Color, count: u8) -> KeyPair {
    let own = TABLE.in_hand[color.index()][usize::from(count)];
    KeyPair { own, mirrored: own }
}

#[inline(always)]
pub(super) fn black_to_move() -> KeyPair {
    KeyPair { own: TABLE.black_to_move, mirrored: TABLE.black_to_move }
}
