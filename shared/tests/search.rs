//! The search against an exhaustive solver, and its promises to its owner.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use corridor_shared::race::{RaceResult, RaceTable};
use corridor_shared::score::{Bound, DRAW, INFINITE, MAX_CM, Score, plies_to_win};
use corridor_shared::search::{
    Directive, IterationReport, Limits, PruneMode, SearchHandler, Searcher, StoppedBy, ThreadPool,
    Undisturbed, UnitSpec, Window,
};
use corridor_shared::tt::TranspositionTable;
use corridor_shared::{Color, Move, Position};

fn played(moves: &str) -> Position {
    moves.split_whitespace().fold(Position::start(), |position, token| {
        position.play(token.parse().expect("a move")).expect("a legal move")
    })
}

fn at(text: &str) -> Position {
    text.parse().expect("a position text")
}

fn searcher() -> Searcher {
    Searcher::new(Arc::new(TranspositionTable::new(16 << 20).expect("a table")))
}

/// Splitmix64, so that every run plays the same positions.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % bound as u64).expect("below the bound")
    }
}

/// A random position in which White has so many walls in hand and Black so many.
fn endgame(random: &mut Random, in_hand: [u8; 2]) -> Position {
    loop {
        let mut position = Position::start();
        for _ in 0..70 {
            let moves = position.legal_moves();
            let walls: Vec<Move> = moves.iter().copied().filter(|mv| !mv.is_pawn()).collect();
            let side = position.turn();
            let spare = position.walls_in_hand(side) > in_hand[side.index()];
            let mv = if spare && !walls.is_empty() && random.below(3) > 0 {
                walls[random.below(walls.len())]
            } else {
                let pawns: Vec<Move> = moves.iter().copied().filter(|mv| mv.is_pawn()).collect();
                pawns[random.below(pawns.len())]
            };
            position = position.after(mv);
            if position.winner().is_some() {
                break;
            }
            if Color::BOTH.map(|color| position.walls_in_hand(color)) == in_hand {
                return position;
            }
        }
    }
}

/// Who wins, in how many plies; `None` is a draw or not known yet.
type Outcome = Option<(Color, u16)>;

/// All pawn states on one wall set with one wall left in hand, solved by brute force: the races behind every placement of
/// the last wall are solved first, then the states backwards, ply by ply.
struct LastWall {
    outcomes: BTreeMap<u64, (Color, u16)>,
}

enum Child {
    State(u64),
    Known(Outcome),
}

impl LastWall {
    const MOST_PLIES: u16 = 300;

    fn solve(position: &Position) -> Self {
        let mut races = BTreeMap::new();
        let states = Self::states(position);
        let children: Vec<Vec<Child>> = states
            .iter()
            .map(|state| {
                state.legal_moves().iter().map(|&mv| Self::child(&state.after(mv), &mut races)).collect()
            })
            .collect();
        let mut outcomes = BTreeMap::new();
        for plies in 1..Self::MOST_PLIES {
            let mut found = Vec::new();
            for (state, children) in states.iter().zip(&children) {
                if outcomes.contains_key(&state.key()) {
                    continue;
                }
                let known: Vec<Outcome> = children
                    .iter()
                    .map(|child| match child {
                        Child::State(key) => outcomes.get(key).copied(),
                        Child::Known(outcome) => *outcome,
                    })
                    .collect();
                let (mover, other) = (state.turn(), !state.turn());
                if known.contains(&Some((mover, plies - 1))) {
                    found.push((state.key(), (mover, plies)));
                } else if known.iter().all(|outcome| matches!(outcome, Some((winner, _)) if *winner == other))
                    && known.iter().flatten().map(|&(_, plies)| plies).max() == Some(plies - 1)
                {
                    found.push((state.key(), (other, plies)));
                }
            }
            outcomes.extend(found);
        }
        Self { outcomes }
    }

    fn outcome(&self, position: &Position) -> Outcome {
        self.outcomes.get(&position.key()).copied()
    }

    fn child(child: &Position, races: &mut BTreeMap<String, RaceTable>) -> Child {
        if let Some(winner) = child.winner() {
            return Child::Known(Some((winner, 0)));
        }
        if Color::BOTH.iter().any(|&color| child.walls_in_hand(color) > 0) {
            return Child::State(child.key());
        }
        let walls: Vec<String> = child.walls().map(|wall| wall.to_string()).collect();
        let table = races.entry(walls.concat()).or_insert_with(|| RaceTable::solve(child));
        Child::Known(match table.result(child) {
            RaceResult::Draw => None,
            RaceResult::Win(color, plies) => Some((color, plies)),
        })
    }

    /// Everything unfinished that pawn moves reach.
    fn states(position: &Position) -> Vec<Position> {
        let mut seen = BTreeSet::new();
        let mut states = Vec::new();
        let mut open = vec![*position];
        while let Some(position) = open.pop() {
            if position.winner().is_some() || !seen.insert(position.key()) {
                continue;
            }
            let moves = position.legal_moves();
            open.extend(moves.iter().filter(|mv| mv.is_pawn()).map(|&mv| position.after(mv)));
            states.push(position);
        }
        states
    }
}

/// A win that the search claims is one, with no fewer plies than it takes; pruning must not make it claim more.
#[test]
fn claimed_wins_are_wins() {
    let mut random = Random(7);
    let mut claims = 0;
    for round in 0..4 {
        let position = endgame(&mut random, if round % 2 == 0 { [1, 0] } else { [0, 1] });
        let truth = LastWall::solve(&position);
        for state in LastWall::states(&position).iter().step_by(97) {
            for prune in [PruneMode::Cat, PruneMode::None] {
                let limits = Limits { prune, ..Limits::depth(6) };
                let report = searcher().analyze(state, &limits, &mut Undisturbed);
                let score = report.score().expect("an unfinished position has a score");
                if let Some(plies) = plies_to_win(score) {
                    claims += 1;
                    let winner = if score > 0 { state.turn() } else { !state.turn() };
                    let (real, least) =
                        truth.outcome(state).unwrap_or_else(|| panic!("no win exists in {state}"));
                    assert_eq!(real, winner, "{state}");
                    assert!(plies >= least, "{state}: {plies} plies claimed, {least} needed");
                }
            }
        }
    }
    assert!(claims > 200, "the test saw wins: {claims}");
}

/// The golden races through the search: score, best move and line, whatever the depth and the number of lines.
#[test]
fn races_are_exact_at_the_root() {
    let golden = std::fs::read_to_string("tests/data/races.jsonl").expect("the golden file is in the crate");
    let mut searcher = searcher();
    for record in golden.lines() {
        let record: serde_json::Value = serde_json::from_str(record).expect("a golden record");
        let position = at(record["position"].as_str().expect("a position"));
        let plies = record["plies"].as_u64().and_then(|plies| u16::try_from(plies).ok());
        let mover_wins = record["winner"].as_str().map(|winner| winner == position.turn().name());
        for (depth, multipv) in [(1, 1), (4, 1), (3, 9)] {
            let limits = Limits { multipv, ..Limits::depth(depth) };
            let report = searcher.analyze(&position, &limits, &mut Undisturbed);
            let best = &report.last.lines[0];
            assert_eq!(plies_to_win(best.score), plies, "{position}");
            assert_eq!(plies.map(|_| best.score > 0), mover_wins, "{position}");
            assert_eq!(best.bound, Bound::Exact);
            if let Some(plies) = plies {
                let end =
                    best.pv.iter().fold(position, |position, &mv| position.play(mv).expect("a legal line"));
                assert_eq!((best.pv.len(), end.winner().is_some()), (usize::from(plies), true), "{position}");
                assert_eq!(report.stopped_by, StoppedBy::Proof);
            }
        }
    }
}

/// Stops after so many nodes, and keeps the reports.
struct StopAt {
    nodes: u64,
    reports: Vec<IterationReport>,
    last_poll: u64,
    longest_gap: u64,
}

impl StopAt {
    fn nodes(nodes: u64) -> Self {
        Self { nodes, reports: Vec::new(), last_poll: 0, longest_gap: 0 }
    }
}

impl SearchHandler for StopAt {
    fn poll(&mut self, nodes: u64) -> Directive {
        self.longest_gap = self.longest_gap.max(nodes - self.last_poll);
        self.last_poll = nodes;
        if nodes >= self.nodes { Directive::Stop } else { Directive::Continue }
    }

    fn iteration(&mut self, report: &IterationReport) -> Directive {
        self.reports.push(report.clone());
        Directive::Continue
    }
}

/// Whenever it is stopped, the answer is that of the last completed depth, to the last node.
#[test]
fn a_stop_answers_with_the_last_completed_depth() {
    let position = played("e2 e8 e3 e7 e4 e6");
    let mut undisturbed = StopAt::nodes(u64::MAX);
    searcher().analyze(&position, &Limits::depth(7), &mut undisturbed);
    assert!(undisturbed.longest_gap <= 1_000, "asked every {} nodes", undisturbed.longest_gap);
    for stop in [1, 500, 2_000, 5_000, 9_999, 20_000, 60_000] {
        let mut handler = StopAt::nodes(stop);
        let report = searcher().analyze(&position, &Limits::depth(7), &mut handler);
        let same = undisturbed.reports.iter().find(|other| other.depth == report.last.depth);
        assert_eq!(Some(&report.last), same, "stopped at {stop} nodes");
        assert!(report.last.depth >= 1);
        assert!(report.nodes < stop + 2_000, "{} nodes after a stop at {stop}", report.nodes);
    }
}

#[test]
fn the_node_limit_holds() {
    let limits = Limits { nodes: Some(12_345), ..Limits::default() };
    let report = searcher().analyze(&played("e2 e8 e3 e7 e4 e6"), &limits, &mut Undisturbed);
    assert_eq!(report.stopped_by, StoppedBy::Stop);
    assert_eq!(report.nodes, 12_345);
}

#[test]
fn several_lines_are_exact_and_in_order() {
    let position = played("e2 e8 e3 e7 e4 e6 e3h f6h");
    for multipv in [1, 3, 500] {
        let limits = Limits { multipv, ..Limits::depth(4) };
        let lines = searcher().analyze(&position, &limits, &mut Undisturbed).last.lines;
        let exact = lines.iter().take_while(|line| line.bound == Bound::Exact).count();
        assert_eq!(exact, multipv.min(lines.len()), "of {}", lines.len());
        assert!(lines[..exact].is_sorted_by(|a, b| a.score >= b.score));
        let worst = lines[exact - 1].score;
        assert!(lines[exact..].iter().all(|line| line.bound == Bound::Upper && line.score <= worst));
        for line in &lines {
            assert_eq!(line.pv[0], line.mv);
            line.pv.iter().fold(position, |position, &mv| position.play(mv).expect("a line is playable"));
        }
    }
}

/// A repetition is a draw inside the search, and leaves nothing in the table.
#[test]
fn repetition_is_seen_and_never_stored() {
    let table = Arc::new(TranspositionTable::new(1 << 20).expect("a table"));
    let mut searcher = Searcher::new(Arc::clone(&table));
    let start = Position::start();
    let path: Vec<Move> = "e2 e8 e1 e9".split(' ').map(|token| token.parse().expect("a move")).collect();
    let spec = UnitSpec { depth: 5, window: Window::FULL, prune: PruneMode::Cat, node_budget: None, hint: &[] };
    let outcome = searcher.search_unit(&start, &path, &spec, &mut Undisturbed);
    assert_eq!((outcome.score, outcome.bound, outcome.completed), (DRAW, Bound::Exact, true));
    assert_eq!(table.probe(start.key()), None);
    // From one ply before, the search meets the repetition again and again; still nothing of it is kept.
    let outcome = searcher.search_unit(&start, &path[..3], &spec, &mut Undisturbed);
    assert!(outcome.completed);
    assert_eq!(table.probe(start.key()), None);
}

/// What was learned with pruned lists must not leak into a search of all moves.
#[test]
fn prune_modes_do_not_share_entries() {
    let position = played("e2 e8 e3 e7 e4 e6");
    let table = Arc::new(TranspositionTable::new(64 << 20).expect("a table"));
    Searcher::new(Arc::clone(&table)).analyze(&position, &Limits::depth(5), &mut Undisturbed);
    let all = Limits { prune: PruneMode::None, ..Limits::depth(4) };
    let after = Searcher::new(table).analyze(&position, &all, &mut Undisturbed);
    let fresh_table = Arc::new(TranspositionTable::new(64 << 20).expect("a table"));
    let fresh = Searcher::new(fresh_table).analyze(&position, &all, &mut Undisturbed);
    assert_eq!(after, fresh);
    assert_eq!(fresh.last.lines.len(), position.legal_moves().len());
}

/// Pushes a window once.
struct Push {
    window: Option<Window>,
}

impl SearchHandler for Push {
    fn poll(&mut self, _nodes: u64) -> Directive {
        self.window.take().map_or(Directive::Continue, Directive::Window)
    }
}

#[test]
fn a_pushed_window_is_taken_up() {
    let position = played("e2 e8 e3 e7 e4 e6");
    let path = ["d3h".parse::<Move>().expect("a move")];
    let spec = UnitSpec { depth: 6, window: Window::FULL, prune: PruneMode::Cat, node_budget: None, hint: &[] };
    let exact = searcher().search_unit(&position, &path, &spec, &mut Undisturbed);
    assert_eq!(exact.bound, Bound::Exact);
    let alpha: Score = exact.score + 200;
    let window = Window { alpha, beta: INFINITE };
    let outcome = searcher().search_unit(&position, &path, &spec, &mut Push { window: Some(window) });
    assert!(outcome.completed);
    assert_eq!(outcome.bound, Bound::Upper, "below the pushed alpha");
    assert!(outcome.score <= alpha);
}

#[test]
fn finished_games_and_stopped_units_answer() {
    let won = played("e2 d9 e3 e9 e4 d9 e5 e9 e6 d9 e7 e9 e8 d9 e9");
    let report = searcher().analyze(&won, &Limits::depth(5), &mut Undisturbed);
    assert_eq!((report.stopped_by, report.best_move()), (StoppedBy::GameOver, None));
    let spec = UnitSpec { depth: 9, window: Window::FULL, prune: PruneMode::Cat, node_budget: Some(3_000), hint: &[] };
    let outcome = searcher().search_unit(&Position::start(), &[], &spec, &mut Undisturbed);
    assert!(!outcome.completed);
    assert!((3_000..=3_100).contains(&outcome.nodes), "{} nodes", outcome.nodes);
}

/// A lost side is shown lost only after all its moves, also at the root: the pruned ones are among the lines then.
#[test]
fn a_lost_root_is_searched_in_full() {
    let mut random = Random(3);
    let mut seen = 0;
    while seen < 3 {
        let position = endgame(&mut random, [1, 1]);
        let report = searcher().analyze(&position, &Limits::depth(5), &mut Undisturbed);
        if report.score().expect("a score") < -MAX_CM {
            seen += 1;
            assert_eq!(report.last.lines.len(), position.legal_moves().len(), "{position}");
        }
    }
}

#[test]
fn threads_agree_on_proofs_and_count_together() {
    let table = Arc::new(TranspositionTable::new(16 << 20).expect("a table"));
    let mut pool = ThreadPool::new(3, &table);
    let limits = Limits { nodes: Some(200_000), ..Limits::default() };
    let report = pool.analyze(&played("e2 e8 e3 e7 e4 e6"), &limits, &mut Undisturbed);
    assert!((200_000..400_000).contains(&report.nodes), "{} nodes", report.nodes);
    pool.clear();
    let race = at("b5f2 / b1c3d3e8 / e3 e9 / 0 0 / 1");
    let report = pool.analyze(&race, &Limits::depth(9), &mut Undisturbed);
    assert_eq!(report.score().and_then(plies_to_win), Some(11));
}
