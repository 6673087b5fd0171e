//! The part of a book that is shown: a tree below a position, fetched level by level, cut where it would become unreadable.

use std::collections::BTreeSet;

use corridor_shared::Position;
use corridor_shared::board::Move;
use corridor_shared::book::{Bounded, Record, Source};

use crate::client::Shown;
use crate::failure::Failure;

/// The most rows that are shown, but for those of the first level.
const MAX_ROWS: usize = 100;
/// Questions that are on their way at the same time.
const AT_ONCE: usize = 16;

/// How much is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Plies below the root.
    pub(super) plies: u32,
    /// Moves of each position.
    pub(super) width: usize,
}

/// A position of the tree, in the orientation in which it is reached.
#[derive(Debug)]
pub(super) struct Branch {
    pub(super) position: Position,
    /// The move that leads here; `None` at the root.
    pub(super) mv: Option<Move>,
    /// The moves from the start, if they are known.
    pub(super) line: Option<Vec<Move>>,
    pub(super) ply: usize,
    pub(super) shown: Shown,
    /// Where in the tree its moves stand, best first.
    children: Vec<usize>,
    /// Moves that are not shown.
    hidden: usize,
    /// It stands in the tree already, by another way.
    is_repeated: bool,
}

impl Branch {
    /// The position as it is exported, with the line that was followed to it.
    pub(super) fn record(&self) -> Record {
        let turned = |mv: &Move| if self.is_turned() { mv.mirrored() } else { *mv };
        let moves = self.line.as_ref().map(|line| line.iter().map(turned).collect());
        Record { moves, ..self.shown.record.clone() }
    }

    /// The book has its mirror image.
    fn is_turned(&self) -> bool {
        self.shown.record.position != self.position
    }

    /// The book's moves with their values, best first for the side to move, those without a value last.
    fn moves(&self) -> Vec<(Move, Option<Bounded>)> {
        let turned = |mv: Move| if self.is_turned() { mv.mirrored() } else { mv };
        let children = self.shown.record.children.iter();
        let mut moves: Vec<_> = children.map(|&(mv, said)| (turned(mv), said)).collect();
        let leader = self.leader();
        let turn = self.position.turn();
        moves.sort_by_key(|&(mv, said)| {
            // Of equals the one that the book's value comes from is the best.
            std::cmp::Reverse((said.map(|(score, _)| score.to_engine(turn)), Some(mv) == leader))
        });
        moves
    }

    /// The move that the book's value comes from.
    fn leader(&self) -> Option<Move> {
        let record = &self.shown.record;
        let mv = match record.value?.source {
            Source::BackedUp(mv) => Some(mv),
            Source::Search => record.searched.as_ref()?.best_move,
            Source::Rules => None,
        }?;
        Some(if self.is_turned() { mv.mirrored() } else { mv })
    }

    /// Where its value comes from.
    pub(super) fn origin(&self) -> String {
        let Some(value) = self.shown.record.value else { return "not analysed".to_owned() };
        let stale = if self.shown.is_stale { ", stale" } else { "" };
        match value.source {
            Source::Rules => "rules".to_owned(),
            Source::Search => {
                let best = self.leader().map(|mv| format!(", best {mv}")).unwrap_or_default();
                format!("search{best}{stale}")
            }
            Source::BackedUp(_) => {
                let by = self.leader().map(|mv| format!(" by {mv}")).unwrap_or_default();
                let own = match &self.shown.record.searched {
                    None => String::new(),
                    Some(own) => format!(", own search of depth {}{stale}", own.depth),
                };
                format!("backed up{by}{own}")
            }
        }
    }

    /// What of it is not shown.
    pub(super) fn more(&self) -> String {
        match (self.is_repeated, self.hidden) {
            (true, _) => "see above or below".to_owned(),
            (_, 0) => String::new(),
            (_, 1) => "1 move".to_owned(),
            (_, hidden) => format!("{hidden} moves"),
        }
    }
}

/// Fetches a tree. The root comes first.
///
/// # Errors
/// The root is not in the book, or whoever is asked does not answer.
pub(super) async fn fetch(
    root: Position,
    line: Option<Vec<Move>>,
    limits: Limits,
    ask: &impl AsyncFn(Position) -> Result<Shown, Failure>,
) -> Result<Vec<Branch>, Failure> {
    let shown = ask(root).await?;
    let mut seen = BTreeSet::from([root.canonical_key()]);
    let mut tree = vec![branch(root, None, line, 0, shown)];
    let mut level = vec![0];
    for _ in 0..limits.plies {
        let wanted = next_level(&mut tree, &level, limits.width);
        let positions: Vec<Position> = wanted.iter().map(|(_, _, position)| *position).collect();
        let mut next = Vec::new();
        for ((parent, mv, position), shown) in wanted.into_iter().zip(all(&positions, ask).await?) {
            let line = tree[parent].line.as_ref().map(|line| [line.as_slice(), &[mv]].concat());
            let mut child = branch(position, Some(mv), line, tree[parent].ply + 1, shown);
            let place = tree.len();
            if seen.insert(position.canonical_key()) {
                next.push(place);
            } else {
                child.hidden = 0;
                child.is_repeated = true;
            }
            tree[parent].children.push(place);
            tree.push(child);
        }
        level = next;
    }
    Ok(tree)
}

fn branch(position: Position, mv: Option<Move>, line: Option<Vec<Move>>, ply: usize, shown: Shown) -> Branch {
    // As long as none of them is shown.
    let hidden = shown.record.children.len();
    Branch { position, mv, line, ply, shown, children: Vec::new(), hidden, is_repeated: false }
}

/// The moves of a level that are shown, position by position, the best lines first until there are too many.
fn next_level(tree: &mut [Branch], level: &[usize], width: usize) -> Vec<(usize, Move, Position)> {
    let is_first = level == [0];
    let room = if is_first { usize::MAX } else { MAX_ROWS.saturating_sub(tree.len()) };
    let mut wanted = Vec::new();
    for &parent in level {
        let branch = &mut tree[parent];
        for (mv, _) in branch.moves().into_iter().take(width) {
            // Whoever names a move that cannot be made is not asked about it.
            let Ok(position) = branch.position.play(mv) else { continue };
            if wanted.len() < room {
                branch.hidden = branch.hidden.saturating_sub(1);
                wanted.push((parent, mv, position));
            }
        }
    }
    wanted
}

/// Asks about all of them, several at once.
async fn all(
    positions: &[Position],
    ask: &impl AsyncFn(Position) -> Result<Shown, Failure>,
) -> Result<Vec<Shown>, Failure> {
    let mut answers = Vec::with_capacity(positions.len());
    for some in positions.chunks(AT_ONCE) {
        answers.extend(futures_util::future::try_join_all(some.iter().map(|position| ask(*position))).await?);
    }
    Ok(answers)
}

/// The branches as they are shown: below each position its moves, the best with all that follows before the next.
pub(super) fn best_first(tree: &[Branch]) -> Vec<&Branch> {
    let mut rows = Vec::with_capacity(tree.len());
    let mut waiting = vec![0];
    while let Some(place) = waiting.pop() {
        let branch = &tree[place];
        rows.push(branch);
        waiting.extend(branch.children.iter().rev());
    }
    rows
}

#[cfg(test)]
mod tests {
    use corridor_shared::book::{Book, Effort, Searched};
    use corridor_shared::job::{ENGINE_EPOCH, RootPrune};
    use corridor_shared::score::{Bound, WhiteScore};

    use super::*;

    fn searched(best: Move, cm: i32) -> Searched {
        Searched {
            depth: 5,
            score_white: WhiteScore::Cm(cm),
            bound: Bound::Exact,
            best_move: Some(best),
            pv: vec![best],
            nodes: 1,
            engine: ENGINE_EPOCH.into(),
            analysed_at: 1,
            worker: "".into(),
            multipv: 1,
            prune: RootPrune::Cat,
            deterministic: false,
            others: Vec::new(),
            effort: Effort::default(),
        }
    }

    fn book(games: &[(&str, Option<i32>)]) -> Book {
        let mut book = Book::new();
        for (game, score) in games {
            let mut position = Position::start();
            book.insert(&position).unwrap();
            for mv in game.split_whitespace() {
                position = position.play(mv.parse().unwrap()).unwrap();
                book.insert(&position).unwrap();
            }
            if let Some(cm) = score {
                let id = book.find(&position).unwrap();
                let best = book.node(id).position().legal_moves()[0];
                book.learn(id, searched(best, *cm), ENGINE_EPOCH);
            }
        }
        book.settle();
        book
    }

    fn rows(book: &Book, root: &str, limits: Limits) -> Vec<(usize, String, String)> {
        let moves: Vec<Move> = root.split_whitespace().map(|mv| mv.parse().unwrap()).collect();
        let position = corridor_shared::notation::replay(&Position::start(), &moves).unwrap();
        let ask = async |position: Position| {
            let id = book.find(&position).ok_or_else(|| Failure::bad_input(&"it is not in the book"))?;
            Ok(Shown { record: book.record(id), is_stale: false })
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let tree = runtime.block_on(fetch(position, Some(moves), limits, &ask)).unwrap();
        let row = |branch: &&Branch| {
            (branch.ply, branch.mv.map(|mv| mv.to_string()).unwrap_or_default(), branch.more())
        };
        best_first(&tree).iter().map(row).collect()
    }

    const ALL: Limits = Limits { plies: 9, width: 9 };

    #[test]
    fn the_best_line_comes_first_for_either_side() {
        let book = book(&[("e2 e8", Some(50)), ("e2 d9", Some(-20)), ("d1h", Some(10)), ("d1", None)]);
        let shown: Vec<(usize, String)> =
            rows(&book, "", ALL).into_iter().map(|(ply, mv, _)| (ply, mv)).collect();
        let row = |ply, mv: &str| (ply, mv.to_owned());
        // Black answers e2 with d9, so that d1h is better for White; nobody knows what d1 is worth.
        assert_eq!(
            shown,
            [row(0, ""), row(1, "d1h"), row(1, "e2"), row(2, "d9"), row(2, "e8"), row(1, "d1")]
        );
    }

    #[test]
    fn mirror_images_and_transpositions_are_one() {
        let book = book(&[("d1 e8 e1 e9", Some(5)), ("d1h e8", Some(9))]);
        // The mirror image of what the book has.
        let shown = rows(&book, "f1", ALL);
        assert_eq!(shown[1].1, "e8");
        assert_eq!(shown[2].1, "e1", "in the orientation that was asked for");
        let shown = rows(&book, "e1h", ALL);
        assert_eq!((shown.len(), shown[1].1.as_str()), (2, "e8"));
        // The line comes back to the start.
        let shown = rows(&book, "", ALL);
        let back: Vec<_> = shown.iter().filter(|row| row.2 == "see above or below").collect();
        assert!(!back.is_empty() && shown.len() < 12, "{shown:?}");
    }

    #[test]
    fn what_is_cut_off_is_said() {
        let book =
            book(&[("e2", Some(5)), ("d1h", Some(9)), ("e1h", None), ("a1h", None), ("e2 e8", Some(1))]);
        let shown = rows(&book, "", Limits { plies: 1, width: 1 });
        assert_eq!(shown[0].2, "2 moves", "e1h is the mirror image of d1h");
        assert_eq!(shown[1].1, "d1h");
        let shown = rows(&book, "", Limits { plies: 1, width: 2 });
        assert_eq!(shown[2], (1, "e2".to_owned(), "1 move".to_owned()));
    }

    #[test]
    fn values_say_where_they_come_from() {
        let book = book(&[("e2 e8", Some(50)), ("d1h", None)]);
        let origin = |moves: &str, is_stale| {
            let moves: Vec<Move> = moves.split_whitespace().map(|mv| mv.parse().unwrap()).collect();
            let position = corridor_shared::notation::replay(&Position::start(), &moves).unwrap();
            let record = book.record(book.find(&position).unwrap());
            branch(position, None, Some(moves), 0, Shown { record, is_stale }).origin()
        };
        // Black has that much; what White has follows from all of Black's moves only.
        assert_eq!(origin("e2", false), "backed up by e8");
        assert_eq!(origin("", false), "not analysed");
        assert!(origin("e2 e8", true).starts_with("search, best "), "{}", origin("e2 e8", true));
        assert!(origin("e2 e8", true).ends_with(", stale"));
        assert_eq!(origin("d1h", false), "not analysed");
    }
}
