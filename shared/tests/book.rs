//! What a book says depends on what is in it, not on how that came there.

use std::collections::BTreeMap;

use corridor_shared::Position;
use corridor_shared::board::Move;
use corridor_shared::book::{Alternative, Book, Effort, Growth, Searched, Value};
use corridor_shared::job::{ENGINE_EPOCH, RootPrune};
use corridor_shared::score::{Bound, WhiteScore};
use proptest::prelude::*;

/// A game by the numbers of its moves among the legal ones; small numbers are pawn moves, so that play goes round.
fn game(choices: &[u16]) -> Vec<Position> {
    let mut game = vec![Position::start()];
    for &choice in choices {
        let last = game[game.len() - 1];
        let moves = last.legal_moves();
        if moves.is_empty() {
            break;
        }
        game.push(last.after(moves[usize::from(choice) % moves.len()]));
    }
    game
}

fn found(position: &Position, depth: u8, cm: i32, choice: u16) -> Searched {
    let canonical = corridor_shared::book::canonical(position);
    let moves = canonical.legal_moves();
    let best = moves.get(usize::from(choice) % moves.len().max(1)).copied();
    let score_white = match cm {
        -45..=45 => WhiteScore::Cm(cm),
        46.. => WhiteScore::WhiteWinsIn(u16::from(depth) + 2),
        _ => WhiteScore::BlackWinsIn(u16::from(depth) + 3),
    };
    Searched {
        depth,
        score_white,
        bound: if choice.is_multiple_of(7) { Bound::Lower } else { Bound::Exact },
        best_move: best,
        pv: best.into_iter().collect(),
        nodes: 1,
        engine: ENGINE_EPOCH.into(),
        analysed_at: 0,
        worker: "w".into(),
        multipv: 1,
        prune: RootPrune::Cat,
        deterministic: true,
        others: moves
            .iter()
            .zip(0_i32..)
            .filter(|&(mv, place)| Some(*mv) != best && (place + i32::from(choice)) % 9 == 0)
            .map(|(&mv, place)| Alternative {
                mv,
                score_white: WhiteScore::Cm(cm.clamp(-45, 45) + (place * 37) % 50 - 25),
                bound: Bound::Upper,
            })
            .collect(),
        effort: Effort::default(),
    }
}

/// All that a book says, by key.
type Said = BTreeMap<u64, (Option<Value>, Option<u32>, Vec<(Move, u64, bool)>, Option<Vec<Move>>)>;

fn said(book: &Book) -> Said {
    let lines = book.all_lines();
    let node = |id| {
        let node = book.node(id);
        let children = node.children().iter().map(|edge| (edge.mv, book.node(edge.child).key(), edge.backs));
        (node.key(), (node.value(), node.ply(), children.collect(), lines.to(id)))
    };
    book.ids().map(node).collect()
}

fn games() -> impl Strategy<Value = Vec<Vec<u16>>> {
    let choice = prop_oneof![4 => 0_u16..5, 1 => 0_u16..130];
    prop::collection::vec(prop::collection::vec(choice, 0..14), 1..8)
}

/// Which position, how deep, what score, which move.
type Finding = (prop::sample::Index, u8, i32, u16);

fn findings() -> impl Strategy<Value = Vec<Finding>> {
    prop::collection::vec((any::<prop::sample::Index>(), 1_u8..12, -50_i32..50, 0_u16..130), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn neither_the_order_of_positions_nor_of_values_matters(
        games in games(),
        findings in findings(),
        shuffle in any::<prop::sample::Index>(),
    ) {
        let positions: Vec<Position> = games.iter().flat_map(|choices| game(choices)).collect();
        let mut findings: Vec<(Position, Searched)> = findings
            .into_iter()
            .map(|(at, depth, cm, choice)| (*at.get(&positions), depth, cm, choice))
            .map(|(position, depth, cm, choice)| (position, found(&position, depth, cm, choice)))
            .filter(|(position, _)| position.winner().is_none())
            .collect();
        // Of equally good findings about a position the first counts, which is the one thing that order decides.
        let mut seen = std::collections::BTreeSet::new();
        findings.retain(|(position, it)| seen.insert((position.canonical_key(), it.depth)));
        findings.retain(|(_, it)| matches!(it.score_white, WhiteScore::Cm(_)) || it.bound == Bound::Exact);
        let mut proofs = std::collections::BTreeSet::new();
        findings.retain(|(position, it)| {
            matches!(it.score_white, WhiteScore::Cm(_)) || proofs.insert(position.canonical_key())
        });

        // One at a time, everything up to date after each.
        let mut one = Book::new();
        for position in &positions {
            one.insert(position).expect("no collision");
            one.settle();
        }
        for (position, searched) in &findings {
            let id = one.find(position).expect("in the book");
            one.learn(id, searched.clone(), ENGINE_EPOCH);
            one.settle();
        }
        // All at once, from the middle on, mirrored, values last to first and in between.
        let mut other = Book::new();
        let at = shuffle.index(positions.len());
        for position in positions[at..].iter().chain(&positions[..at]) {
            other.insert(&position.mirrored()).expect("no collision");
            for (_, searched) in findings.iter().rev().filter(|(it, _)| it.canonical_key() == position.canonical_key()) {
                let id = other.find(position).expect("in the book");
                other.learn(id, searched.clone(), ENGINE_EPOCH);
            }
        }
        let changed = other.settle();
        let mut once = changed.clone();
        once.sort_unstable();
        once.dedup();
        prop_assert_eq!(once.len(), changed.len(), "each once");
        prop_assert!(other.settle().is_empty());
        prop_assert_eq!(said(&one), said(&other));
        // As it is found again in a store.
        let positions = one.ids().map(|id| (*one.node(id).position(), one.node(id).searched().cloned()));
        let edges = one.ids().flat_map(|id| {
            let node = one.node(id);
            node.children().iter().map(|edge| (node.key(), edge.mv, one.node(edge.child).key())).collect::<Vec<_>>()
        });
        let again = Book::assemble(positions.collect(), edges).expect("a book");
        prop_assert_eq!(said(&one), said(&again));
        prop_assert_eq!(again.missing_edges().count(), 0);
        // Nothing is looked at deeper than the deepest search and the book below it.
        let plies = u16::try_from(one.len()).expect("small") + 12;
        prop_assert!(one.ids().filter_map(|id| one.node(id).value()).all(|value| value.depth <= plies));
        // The few that it misses most are the first of all that it misses.
        let growth = Growth { max_cost: Some(400), ..Growth::default() };
        let all = one.frontier(&growth, usize::MAX / 4);
        prop_assert!(all.is_sorted_by_key(|leaf| leaf.cost));
        for most in [1, 3, 10, 40] {
            prop_assert_eq!(&one.frontier(&growth, most)[..], &all[..most.min(all.len())]);
        }
        // All legal moves between positions of the book are there, and nothing else.
        for id in one.ids() {
            let node = one.node(id);
            for edge in node.children() {
                let after = node.position().play(edge.mv).expect("legal");
                prop_assert_eq!(one.find(&after), Some(edge.child));
            }
            let leads_on = |mv: &&Move| one.find(&node.position().after(**mv)).is_some();
            let within = node.position().legal_moves().iter().filter(leads_on).count();
            prop_assert!((within.div_ceil(2)..=within).contains(&node.children().len()));
        }
    }
}
