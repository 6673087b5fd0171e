//! Pawn races: positions without walls in hand, solved exactly by retrograde analysis.
//!
//! With the walls fixed, the state is two squares and the side to move. For each square of one pawn, the squares of the
//! other from which a side wins form a set of bits; a ply of the analysis is a step of all sets at once. A state that
//! neither side can force is a draw.

use crate::board::{Color, Move, Position, Square};
use crate::movegen::jump_targets;
use crate::path::{ALL_SQUARES, Passages};
use crate::score::{DRAW, Score, win_in};

/// The result of every pawn race on one set of walls.
pub struct RaceTable {
    /// Plies to White's win (positive) or Black's (negative), 0 for a draw: by side to move, White's and Black's square.
    plies: Box<[[[i16; 81]; 81]; 2]>,
}

/// How a race ends with best play: the winner hurries, the loser delays.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RaceResult {
    /// Neither side can force a win.
    Draw,
    /// A side wins in so many plies.
    Win(Color, u16),
}

/// For each square of one pawn: the neighbours from which it can be jumped, and the landing squares of that jump.
type Jumps = [[(u8, u128); 4]; 81];

const NO_JUMP: (u8, u128) = (u8::MAX, 0);

impl RaceTable {
    /// Solves all races on the walls of a position.
    #[must_use]
    pub fn solve(position: &Position) -> Self {
        let mut table = Self { plies: Box::new([[[0; 81]; 81]; 2]) };
        let passages = position.passages;
        let jumps = jumps_over(passages);
        for color in Color::BOTH {
            Attractor { passages, jumps: &jumps, color }.run(|mover, own, other, plies| {
                let (white, black, signed) = match color {
                    Color::White => (own, other, plies),
                    Color::Black => (other, own, -plies),
                };
                table.plies[mover.index()][white][black] = signed;
            });
        }
        table
    }

    /// The result of the race for the pawns and the side to move of a position that has these walls and is not finished.
    #[must_use]
    pub fn result(&self, position: &Position) -> RaceResult {
        let [white, black] = Color::BOTH.map(|color| usize::from(position.pawn(color).index()));
        let plies = self.plies[position.turn().index()][white][black];
        match plies {
            0 => RaceResult::Draw,
            1.. => RaceResult::Win(Color::White, plies.unsigned_abs()),
            _ => RaceResult::Win(Color::Black, plies.unsigned_abs()),
        }
    }

    /// [`Self::result`] as a score of the side to move.
    #[must_use]
    pub fn score(&self, position: &Position) -> Score {
        match self.result(position) {
            RaceResult::Draw => DRAW,
            RaceResult::Win(color, plies) if color == position.turn() => win_in(plies),
            RaceResult::Win(_, plies) => -win_in(plies),
        }
    }
}

impl RaceTable {
    /// The race played out with best play of both, from a position that has these walls and is not finished. Empty for a
    /// draw.
    #[must_use]
    pub fn line(&self, position: &Position) -> Vec<Move> {
        let mut line = Vec::new();
        let mut position = *position;
        while let RaceResult::Win(winner, plies) = self.result(&position) {
            // Whoever moves, the next position is one ply nearer to the end; a draw or a slower loss is never on offer.
            let follows = |next: &Position| match next.winner() {
                Some(color) => color == winner && plies == 1,
                None => self.result(next) == RaceResult::Win(winner, plies - 1),
            };
            let moves = position.legal_moves();
            let Some(&mv) = moves.iter().find(|&&mv| follows(&position.after(mv))) else {
                break;
            };
            line.push(mv);
            position = position.after(mv);
            if position.winner().is_some() {
                break;
            }
        }
        line
    }
}

/// A quick and sound answer for a race: a win that the other side can neither block nor outrun, whatever it does, with an
/// upper bound on its plies. `None` says nothing.
///
/// The winner follows a path of which the other pawn can reach no square, nor one beside it, in time. Then it never stands
/// in the way and never jumps, so that plain distances decide. (Distances alone would not, nor would disjoint shortest
/// paths: the loser may leave its own path to block.)
#[must_use]
pub fn unhindered_win(position: &Position) -> Option<(Color, u16)> {
    let mover = position.turn();
    runs_home(position, mover, 0).map(|moves| (mover, 2 * moves - 1)).or_else(|| {
        let moves = runs_home(position, !mover, 1)?;
        Some((!mover, 2 * moves))
    })
}

/// The moves that a side's pawn needs on a path that the other cannot disturb, if that is soon enough. `late` is 1 if the
/// other side moves first.
fn runs_home(position: &Position, color: Color, late: u16) -> Option<u16> {
    let passages = position.passages;
    let other = !color;
    let mut pawn = position.pawn(color).bit();
    // Where the other pawn can be beside or on the runner when it is to move.
    let mut disturbed = position.pawn(other).bit();
    if late == 1 {
        disturbed |= passages.step(disturbed);
        if disturbed & pawn != 0 {
            return None;
        }
    }
    let other_moves = u16::from(position.distance(other)?);
    for moves in 1..=other_moves.checked_sub(late)? {
        disturbed |= passages.step(disturbed);
        pawn = passages.step(pawn) & !disturbed;
        if pawn & color.goal_mask() != 0 {
            return Some(moves);
        }
        if pawn == 0 {
            return None;
        }
    }
    None
}

fn jumps_over(passages: Passages) -> Jumps {
    let mut jumps = [[NO_JUMP; 4]; 81];
    for over in Square::all() {
        let mut neighbours = passages.step(over.bit());
        let mut slot = 0;
        while neighbours != 0 {
            let from = Square::from_bit_index(crate::board::pop_lsb128(&mut neighbours));
            jumps[usize::from(over.index())][slot] = (from.index(), jump_targets(passages, from, over));
            slot += 1;
        }
    }
    jumps
}

/// The states that one side wins, found backwards from its goal row.
struct Attractor<'j> {
    passages: Passages,
    jumps: &'j Jumps,
    color: Color,
}

/// For each square of the other pawn, the squares of the winner's pawn.
type Sets = [u128; 81];

impl Attractor<'_> {
    /// Reports every won state once: mover, the winner's square, the other's square, plies to the win.
    fn run(&self, mut won: impl FnMut(Color, usize, usize, i16)) {
        let goal = self.color.goal_mask();
        let other_goal = (!self.color).goal_mask();
        // The other pawn is to move and the winner stands on its goal row: won, in no plies.
        let mut other_to_move: Sets =
            std::array::from_fn(|other| if other_goal >> other & 1 == 1 { 0 } else { goal & !(1 << other) });
        let mut winner_to_move: Sets = [0; 81];
        for plies in (1..=i16::MAX - 1).step_by(2) {
            let mut changed = false;
            for other in (0..81).filter(|other| other_goal >> other & 1 == 0) {
                let new = self.can_reach(&other_to_move, other) & !goal & !winner_to_move[other];
                winner_to_move[other] |= new;
                changed |= new != 0;
                crate::cat::for_each(new, |own| won(self.color, own, other, plies));
            }
            if !changed {
                return;
            }
            let before = other_to_move;
            for other in (0..81).filter(|other| other_goal >> other & 1 == 0) {
                let new = self.must_enter(&winner_to_move, other) & !before[other];
                other_to_move[other] |= new;
                crate::cat::for_each(new, |own| won(!self.color, own, other, plies + 1));
            }
        }
    }

    /// Squares from which the winner can move into the set, the other pawn standing on `other`.
    fn can_reach(&self, sets: &Sets, other: usize) -> u128 {
        let set = sets[other];
        let mut from = self.passages.step(set) & ALL_SQUARES & !(1 << other);
        for &(own, landing) in &self.jumps[other] {
            if landing & set != 0 {
                from |= 1 << own;
            }
        }
        from
    }

    /// Squares of the winner's pawn for which every move of the other pawn from `other` enters the sets.
    fn must_enter(&self, sets: &Sets, other: usize) -> u128 {
        let steps = self.passages.step(1 << other);
        let mut all = ALL_SQUARES & !(1 << other) & !steps;
        crate::cat::for_each(steps, |target| all &= sets[target]);
        // The winner's pawn beside the other: it closes one step and may open a jump.
        crate::cat::for_each(steps, |own| {
            let landing =
                self.jumps[own].iter().find(|jump| usize::from(jump.0) == other).map_or(0, |jump| jump.1);
            let mut forced = true;
            crate::cat::for_each((steps & !(1 << own)) | landing, |target| {
                forced &= sets[target] >> own & 1 == 1;
            });
            if forced {
                all |= 1 << own;
            }
        });
        all
    }
}
