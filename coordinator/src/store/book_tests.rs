//! Books in stores, in a file and on a server alike: what goes in comes out however it was cut into batches, readers see one
//! moment, and a check finds and mends whatever is wrong.

use std::collections::BTreeMap;

use corridor_shared::board::{Color, Move, Position};
use corridor_shared::book::{Alternative, Book, Effort, Growth, Learned, NodeId, Record, Searched};
use corridor_shared::job::{
    BookAccepted, BookJobSpec, BookTask, ENGINE_EPOCH, JobEvent, JobId, JobLimits, JobState, Line, RootPrune,
};
use corridor_shared::notation::{Notation, parse_moves, replay_all};
use corridor_shared::score::{Bound, WhiteScore};

use super::books::key_text;
use super::tests::{Ground, event, file, grounds, iteration, line, standing, state};
use super::*;

/// The last of them ends with a win.
const GAMES: [&str; 4] =
    ["e2 e8 e3 e7 d3h", "d1 e8 e1 e9", "e3h e7h e2", "e2 d9 e3 e9 e4 d9 e5 e9 e6 d9 e7 e9 e8 d9 e9"];
const OVER: &str = GAMES[3];

fn positions(game: &str) -> Vec<Position> {
    let moves = parse_moves(Notation::Man, game).expect("moves");
    replay_all(&Position::start(), &moves).expect("legal")
}

fn after(moves: &str) -> Position {
    *positions(moves).last().expect("the start at least")
}

fn book(games: &[&str]) -> Book {
    let mut book = Book::new();
    for position in games.iter().flat_map(|game| positions(game)) {
        book.insert(&position).expect("no collision");
    }
    book.settle();
    book
}

/// What a search may have found, with all that a row can hold.
fn searched(position: &Position, depth: u8, cm: i32) -> Searched {
    let position = corridor_shared::book::canonical(position);
    let moves = position.legal_moves();
    let reply = position.after(moves[0]).legal_moves()[0];
    // Whoever is to move wins by an odd ply.
    let lost =
        if position.turn() == Color::White { WhiteScore::BlackWinsIn(8) } else { WhiteScore::BlackWinsIn(9) };
    let scores = [WhiteScore::Cm(cm - 7), WhiteScore::WhiteWinsIn(12), lost];
    let bounds = [Bound::Lower, Bound::Upper, Bound::Exact];
    let others = moves[1..].iter().zip(scores.into_iter().zip(bounds));
    Searched {
        depth,
        score_white: WhiteScore::Cm(cm),
        bound: Bound::Exact,
        best_move: Some(moves[0]),
        pv: vec![moves[0], reply],
        nodes: 1 << 40,
        engine: ENGINE_EPOCH.into(),
        analysed_at: 1_700_000_000,
        worker: "anna".into(),
        multipv: 2,
        prune: RootPrune::Audit,
        deterministic: true,
        others: others.map(|(&mv, (score_white, bound))| Alternative { mv, score_white, bound }).collect(),
        effort: Effort { nodes: (1 << 40) + 1, ms: 70_000 },
    }
}

/// The root moves of a search, as they are kept beside it.
fn lines_of(searched: &Searched) -> Vec<Line> {
    let text: Vec<String> = searched.pv.iter().map(Move::to_string).collect();
    vec![line(&text.join(" "), searched.score_white)]
}

/// Everything between the start and the ends of the games is searched, each to its own depth.
fn learned(mut book: Book) -> Book {
    for (id, depth) in book.ids().zip((1..=100).cycle()) {
        if !book.node(id).is_over() && book.node(id).searched().is_none() {
            let searched = searched(book.node(id).position(), depth, i32::from(depth) * 10 - 50);
            assert_eq!(book.learn(id, searched, ENGINE_EPOCH), Learned::Value);
        }
    }
    book.settle();
    book
}

fn edges(book: &Book) -> Vec<(u64, Move, u64)> {
    let of = |id: NodeId| {
        let node = book.node(id);
        node.children().iter().map(move |edge| (node.key(), edge.mv, book.node(edge.child).key()))
    };
    book.ids().flat_map(of).collect()
}

fn added(name: &str, job: Option<JobId>, book: &Book) -> Keep {
    let positions = book.ids().zip(0..).map(|(id, number)| (number, *book.node(id).position())).collect();
    Keep::Positions { book: name.into(), job, positions, edges: edges(book) }
}

fn found(name: &str, book: &Book, id: NodeId) -> Keep {
    let searched = book.node(id).searched().expect("searched").clone();
    let lines = lines_of(&searched);
    Keep::Found { book: name.into(), key: book.node(id).key(), searched: Box::new(searched), lines }
}

fn values(name: &str, book: &Book) -> Keep {
    let value = |id| (book.node(id).key(), book.node(id).value());
    Keep::Values { book: name.into(), values: book.ids().map(value).collect() }
}

/// All that a coordinator keeps of a book.
fn entries(name: &str, book: &Book) -> Vec<Keep> {
    let known = book.ids().filter(|&id| book.node(id).searched().is_some());
    let mut entries = vec![added(name, None, book)];
    entries.extend(known.map(|id| found(name, book, id)));
    entries.push(values(name, book));
    entries
}

fn spec(name: &str, task: BookTask) -> BookJobSpec {
    BookJobSpec {
        book: name.into(),
        task,
        limits: JobLimits { depth: Some(9), nodes: Some(1 << 33), time: None },
        multipv: 3,
        prune: RootPrune::None,
        deterministic: true,
        priority: -4,
        detach: true,
        traceparent: Some("00-1-2-03".into()),
    }
}

fn grow() -> BookTask {
    BookTask::Expand { positions: Some(40), growth: Growth::default(), time: None }
}

fn book_job(job: JobId, spec: BookJobSpec) -> [Keep; 4] {
    let accepted = BookAccepted { job, book: spec.book.clone(), task: spec.task, positions: 9, total: 8 };
    [
        Keep::BookJob { job, spec: Box::new(spec) },
        Keep::Event { job, record: event(1, JobEvent::BookAccepted(accepted)) },
        Keep::Event { job, record: state(2, JobState::Running) },
        Keep::Standing { job, standing: standing(JobState::Running, None) },
    ]
}

fn progress(name: &str, position: &Position, job: JobId, depth: u8) -> Keep {
    let lines = vec![line("e8 e3 e7", WhiteScore::Cm(-40)), line("e3h", WhiteScore::BlackWinsIn(12))];
    let (book, key) = (name.into(), position.canonical_key());
    Keep::Progress { book, key, job, iteration: Box::new(iteration(depth, lines)) }
}

/// Everything that a store and its readers say.
#[derive(Debug, PartialEq)]
struct Seen {
    kept: Kept,
    /// Keys in the order of arrival, and the positions.
    books: BTreeMap<String, (Vec<u64>, Vec<Record>)>,
    found: BTreeMap<u64, Vec<(Searched, Vec<Line>)>>,
    listed: Vec<Listed>,
}

async fn seen(store: &mut DatabaseStore) -> Seen {
    let kept = store.load().await.expect("readable");
    let reader = store.reader();
    let listed = reader.list().await.expect("readable");
    let (mut books, mut found) = (BTreeMap::new(), BTreeMap::new());
    for Listed { name, .. } in &listed {
        let book = reader.load(name).await.expect("readable").expect("there");
        let keys = book.ids().map(|id| book.node(id).key()).collect();
        let records: Vec<Record> = book.records().collect();
        for record in &records {
            // What is read of one position alone is the same, its line apart.
            let alone = reader.position(name, &record.position).await.expect("readable");
            assert_eq!(alone, Some(Record { moves: None, ..record.clone() }));
            found.insert(record.key(), reader.found(&record.position).await.expect("readable"));
        }
        books.insert(name.clone(), (keys, records));
    }
    Seen { kept, books, found, listed }
}

#[tokio::test]
async fn what_was_tried_in_vain_stands_beside_the_value() {
    for ground in grounds() {
        let mut store = ground.open().await;
        let book = learned(book(&GAMES));
        store.commit(&entries("main", &book)).await.expect("written");
        let root = book.find(&Position::start()).expect("the start");
        store.commit(&book_job(JobId(7), spec("main", grow()))).await.expect("written");
        store.commit(&[progress("main", &Position::start(), JobId(7), 4)]).await.expect("written");
        let effort = Effort { nodes: 1 << 41, ms: 90_000 };
        let key = book.node(root).key();
        store.commit(&[Keep::Effort { book: "main".into(), key, effort }]).await.expect("written");
        Box::new(store).close().await;
        let mut store = ground.open().await;
        let seen = seen(&mut store).await;
        for (there, was) in seen.books["main"].1.iter().zip(book.records()) {
            let effort =
                if was.key() == key { effort } else { was.searched.as_ref().map_or(effort, |it| it.effort) };
            let searched = was.searched.clone().map(|it| Searched { effort, ..it });
            assert_eq!(there.searched, searched);
        }
        // The search that was interrupted has ended with that.
        assert_eq!(seen.kept.batches[0].progress.len(), 0);
        Box::new(store).close().await;
    }
}

#[tokio::test]
async fn a_book_that_goes_in_comes_out() {
    for ground in grounds() {
        let mut store = ground.open().await;
        let (empty, whole) = (book(&GAMES[..1]), learned(book(&GAMES)));
        store.commit(&[entries("main", &whole), entries("empty", &empty)].concat()).await.expect("written");
        store.commit(&book_job(JobId(7), spec("main", grow()))).await.expect("written");
        let unknown = after("e2 e8 d3h");
        let (root, job) = (Position::start(), JobId(7));
        store
            .commit(&[progress("main", &root, job, 4), progress("main", &unknown, job, 3)])
            .await
            .expect("written");
        Box::new(store).close().await;
        let mut store = ground.open().await;
        let seen = seen(&mut store).await;
        assert_eq!(seen.books["main"].1, whole.records().collect::<Vec<_>>());
        assert_eq!(seen.books["main"].0, whole.ids().map(|id| whole.node(id).key()).collect::<Vec<_>>());
        assert_eq!(seen.books["empty"].1, empty.records().collect::<Vec<_>>());
        for record in whole.records() {
            let lines = record.searched.map(|searched| (searched.clone(), lines_of(&searched)));
            assert_eq!(seen.found[&record.position.canonical_key()], Vec::from_iter(lines));
        }
        let over = seen.books["main"].1.iter().filter(|record| record.position.winner().is_some());
        assert_eq!(over.count(), 1);
        let batch = &seen.kept.batches[0];
        assert_eq!((seen.kept.batches.len(), batch.job, batch.added), (1, job, 0));
        assert_eq!((&batch.spec, batch.standing.state), (&spec("main", grow()), JobState::Running));
        assert_eq!((batch.events.len(), seen.kept.last_job), (2, 7));
        let depths: Vec<_> =
            batch.progress.iter().map(|(&key, it)| (key, it.depth, it.order.len())).collect();
        let mut wanted = vec![(root.canonical_key(), 4, 2), (unknown.canonical_key(), 3, 2)];
        wanted.sort_unstable();
        assert_eq!(depths, wanted);
        assert_eq!(seen.kept.books.keys().map(|name| &**name).collect::<Vec<_>>(), ["main"]);
        assert_eq!(seen.kept.books["main"], whole);
    }
}

/// A story in which everything happens.
fn story() -> Vec<Keep> {
    let (first, second) = (JobId(1), JobId(2));
    let mut small = book(&GAMES[..2]);
    let large = learned(book(&GAMES));
    let start = small.find(&Position::start()).expect("there");
    small.learn(start, searched(&Position::start(), 3, 17), ENGINE_EPOCH);
    small.settle();
    let mut grown = small.clone();
    for position in positions("d1h a8h") {
        grown.insert(&position).expect("no collision");
    }
    let rewritten = learned(book(&GAMES[1..3]));
    let [root, next] = [Position::start(), after("e2")];
    let mut story = vec![added("main", None, &small)];
    story.extend(book_job(first, spec("main", grow())));
    story.extend([progress("main", &root, first, 2), progress("main", &next, first, 5)]);
    // A number that is given again counts for positions that are there already.
    story.push(added("main", Some(first), &grown));
    story.push(found("main", &small, start));
    story.push(values("main", &small));
    story.push(progress("main", &after("e2 e8"), first, 1));
    story.push(progress("main", &after("e2 e8"), first, 6));
    story.extend(entries("other", &large));
    story.push(Keep::Rewrite { name: "other".into(), book: Box::new(rewritten.clone()) });
    story.extend(rewritten.find(&after("d1")).map(|id| found("other", &rewritten, id)));
    story.extend(book_job(second, spec("other", BookTask::Analyze { stale: true, most: Some(3) })));
    story.push(progress("other", &after("d1"), second, 3));
    story.push(Keep::Values { book: "main".into(), values: vec![(next.canonical_key(), None)] });
    story.push(Keep::Forget { job: second });
    story
}

#[tokio::test]
async fn batches_may_be_cut_anywhere_and_written_twice() {
    let story = story();
    let mut expected = None;
    for is_file in [true, false] {
        // A database takes longer to make.
        let step = if is_file { 1 } else { 7 };
        for cut in (0..=story.len()).step_by(step) {
            let made = if is_file { Some(file()) } else { grounds().into_iter().nth(1) };
            let Some(ground) = made else { continue };
            let mut store = ground.open().await;
            let (before, after) = story.split_at(cut);
            for part in [before, before, after, after] {
                store.commit(part).await.expect("written");
            }
            let seen = seen(&mut store).await;
            check_story(&seen);
            match &expected {
                None => expected = Some(seen),
                Some(expected) => assert_eq!(seen, *expected, "{} cut at {cut}", ground.place),
            }
        }
    }
}

/// A few things that it must come to.
fn check_story(seen: &Seen) {
    let batch = &seen.kept.batches[0];
    assert_eq!((seen.kept.batches.len(), seen.kept.last_job, batch.added), (1, 2, 2));
    let progress: BTreeMap<u64, u8> = batch.progress.iter().map(|(&key, it)| (key, it.depth)).collect();
    // What was found ends the search of the start.
    let wanted = [("e2", 5), ("e2 e8", 6)].map(|(moves, depth)| (after(moves).canonical_key(), depth));
    assert_eq!(progress, BTreeMap::from(wanted));
    assert_eq!(seen.books["other"].1, learned(book(&GAMES[1..3])).records().collect::<Vec<_>>());
    assert_eq!(seen.books["main"].0.len(), book(&[GAMES[0], GAMES[1], "d1h a8h"]).len());
}

#[tokio::test]
async fn progress_goes_with_the_value_and_with_its_job() {
    for ground in grounds() {
        let mut store = ground.open().await;
        let whole = learned(book(&GAMES[..1]));
        let positions: Vec<Position> = whole.ids().map(|id| *whole.node(id).position()).collect();
        let job = JobId(1);
        store.commit(&[added("main", None, &whole)]).await.expect("written");
        store.commit(&book_job(job, spec("main", grow()))).await.expect("written");
        let left = async || {
            let sql = "SELECT CAST(count(*) AS TEXT) FROM book_progress";
            ground.sql(sql).await.parse::<usize>().expect("a number")
        };
        let all: Vec<Keep> = positions.iter().map(|it| progress("main", it, job, 2)).collect();
        store.commit(&all).await.expect("written");
        assert_eq!(left().await, positions.len());
        let known = |index: usize| {
            let id = whole.find(&positions[index]).expect("there");
            found("main", &whole, id)
        };
        // Before it in the same batch, in an earlier one, and another one after it.
        store.commit(&[progress("main", &positions[0], job, 3), known(0), known(1)]).await.expect("written");
        assert_eq!(left().await, positions.len() - 2);
        store.commit(&[known(2), progress("main", &positions[2], job, 9)]).await.expect("written");
        assert_eq!(left().await, positions.len() - 2);
        store.commit(&[Keep::Forget { job }]).await.expect("written");
        assert_eq!(left().await, 0);
        let kept = store.load().await.expect("readable");
        assert_eq!((kept.batches.len(), kept.books.len(), kept.last_job), (0, 0, 1));
    }
}

#[tokio::test]
async fn readers_find_what_is_there_and_nothing_else() {
    for ground in grounds() {
        let mut store = ground.open().await;
        let reader = store.reader();
        let start = Position::start();
        assert_eq!(reader.list().await, Ok(Vec::new()));
        assert_eq!(reader.position("main", &start).await, Ok(None));
        assert!(reader.load("main").await.expect("readable").is_none());
        assert!(reader.check("main").await.expect("readable").is_none());
        let [main, other] = [learned(book(&GAMES[..2])), learned(book(&GAMES[1..]))];
        store.commit(&[entries("main", &main), entries("Other", &other)].concat()).await.expect("written");
        ground.sql("UPDATE book_position SET engine = 'older' WHERE book = 'Other' AND depth = 4").await;
        let number = |book: &Book| u64::try_from(book.len()).expect("small");
        let listed = |name: &str, book: &Book, over: u64, stale| Listed {
            name: name.to_owned(),
            positions: number(book),
            analysed: number(book) - over,
            stale,
        };
        // In the order of bytes, whatever the database thinks of letters.
        let books = vec![listed("Other", &other, 1, 1), listed("main", &main, 0, 0)];
        assert_eq!(reader.list().await, Ok(books));
        // Both orientations are one position; its children have their values.
        let position = after("e2 e8 e3 e7 d3h");
        assert_ne!(position, position.mirrored());
        for position in [position, position.mirrored()] {
            let found = reader.position("main", &position).await.expect("readable").expect("there");
            assert_eq!(found.position, corridor_shared::book::canonical(&position));
            assert_eq!(reader.found(&position).await.expect("readable").len(), 1);
        }
        let found = reader.position("main", &start).await.expect("readable").expect("there");
        assert_eq!(found.children.len(), 2);
        assert!(found.children.iter().all(|(_, score)| score.is_some()));
        // One of each book, and none of what is in none.
        assert_eq!(reader.found(&start).await.expect("readable").len(), 2);
        assert_eq!(reader.found(&after("a1h")).await, Ok(Vec::new()));
        assert_eq!(reader.position("main", &after("e3h")).await, Ok(None));
    }
}

/// Grows a book five times, a batch each time.
async fn grow_book(store: &mut DatabaseStore, book: &mut Book) {
    for _ in 0..5 {
        for leaf in book.frontier(&Growth::default(), 3) {
            let position = book.node(leaf.parent).position().after(leaf.mv);
            book.insert(&position).expect("no collision");
        }
        *book = learned(book.clone());
        store.commit(&entries("main", book)).await.expect("written");
    }
}

/// While somebody writes, a reader sees a book before or after a batch, and never half of one.
#[tokio::test]
async fn readers_see_one_moment() {
    for ground in grounds() {
        let mut store = ground.open().await;
        let reader = store.reader();
        let mut grown = learned(book(&[""]));
        store.commit(&entries("main", &grown)).await.expect("written");
        let mut least = 0;
        for _ in 0..8 {
            let looked = async { (reader.load("main").await, reader.check("main").await) };
            let ((), (book, checked)) = tokio::join!(grow_book(&mut store, &mut grown), looked);
            let book = book.expect("readable").expect("there");
            let checked = checked.expect("readable").expect("there");
            assert_eq!((checked.fault_count, checked.faults), (0, Vec::new()), "{}", ground.place);
            assert!(least <= book.len() && book.len() <= checked.mended.len());
            least = grown.len();
        }
    }
}

// ---- checks -------------------------------------------------------------------------------------------------------

/// What is left of a book when it was damaged and mended.
enum Left {
    /// Everything.
    All,
    /// Everything but what was found about this position.
    Unsearched(Position),
    /// Everything but this position.
    Without(Position),
}

/// A way to damage a book: a statement, `BOOK` for its name.
struct Damage {
    statement: String,
    /// What the first fault says, `KEY` and so on as in the statement.
    fault: String,
    /// How many things are wrong, what follows from it apart.
    least: u64,
    left: Left,
}

/// `UPDATE book_position SET ... WHERE` it is this one.
fn at(position: &Position, change: &str) -> String {
    let key = key_text(position.canonical_key());
    format!("UPDATE book_position SET {change} WHERE book = 'BOOK' AND key = '{key}'")
}

fn damage(statement: String, fault: impl Into<String>, left: Left) -> Damage {
    Damage { statement, fault: fault.into(), least: 1, left }
}

/// All that may be wrong with positions and with what was found about them.
fn wrong_rows() -> Vec<Damage> {
    let position = after("e2 e8 e3 e7 d3h");
    let key = key_text(position.canonical_key());
    let canonical = corridor_shared::book::canonical(&position);
    let mirrored = canonical.mirrored();
    let unsearched = || Left::Unsearched(position);
    vec![
        damage(
            at(&position, "key = '0123456789abcdef'"),
            format!("0123456789abcdef: key is not that of '{canonical}', which is {key}"),
            Left::All,
        ),
        damage(
            at(&position, &format!("position = '{mirrored}'")),
            format!("{key}: position '{mirrored}' is not in canonical orientation"),
            unsearched(),
        ),
        damage(
            at(&position, "position = 'nonsense'"),
            format!("{key}: position 'nonsense': "),
            Left::Without(position),
        ),
        damage(
            at(&position, "best_move = 'e9'"),
            format!("{key}: pv: does not begin with the best move"),
            unsearched(),
        ),
        damage(at(&position, "best_move = 'z9'"), format!("{key}: move 'z9': "), unsearched()),
        damage(at(&position, "best_move = 'e9', pv = 'e9 e1'"), format!("{key}: pv[0]: "), unsearched()),
        damage(at(&position, "pv = best_move || ' a1'"), format!("{key}: pv[1]: "), unsearched()),
        damage(
            at(&position, "score_kind = 'x'"),
            format!("{key}: score_kind: there is no 'x'"),
            unsearched(),
        ),
        damage(
            at(&position, "score_white = 90000"),
            format!("{key}: score_white: 90000 is beyond "),
            unsearched(),
        ),
        damage(
            at(&position, "bound_white = 'x'"),
            format!("{key}: bound_white: there is no 'x'"),
            unsearched(),
        ),
        damage(at(&position, "prune = 'x'"), format!("{key}: prune: there is no 'x'"), unsearched()),
        damage(at(&position, "depth = -1"), format!("{key}: depth: -1 is impossible"), unsearched()),
        damage(at(&position, "others = BYTES"), format!("{key}: others: no root moves"), unsearched()),
        damage(
            at(&after(OVER), "depth = 3, score_kind = 'cm', bound_white = 'exact', prune = 'cat'"),
            format!(
                "{}: the game is over, but a search has a score for it",
                key_text(after(OVER).canonical_key())
            ),
            Left::All,
        ),
    ]
}

/// All that may be wrong with what follows from positions and searches.
fn wrong_consequences() -> Vec<Damage> {
    let [start, next] = [Position::start(), after("e2")];
    let [from, to] = [start, next].map(|it| key_text(it.canonical_key()));
    let other = key_text(after("e2 e8").canonical_key());
    let edge = format!("book = 'BOOK' AND parent = '{from}' AND move = 'e2'");
    let insert = |parent: &str, mv: &str, child: &str| {
        format!(
            "INSERT INTO book_edge (book, parent, move, child) VALUES ('BOOK', '{parent}', '{mv}', '{child}')"
        )
    };
    let nobody = "ffffffffffffffff";
    let dangles = "dangles: one end is not in the book";
    let twice = |damage: Damage| Damage { least: 2, ..damage };
    vec![
        damage(insert(&from, "f1", nobody), format!("{from}: edge f1 to {nobody} {dangles}"), Left::All),
        damage(insert(nobody, "f1", &from), format!("{nobody}: edge f1 to {from} {dangles}"), Left::All),
        damage(insert(&from, "x", &to), format!("{from}: edge x to {to} does not lead there"), Left::All),
        damage(
            format!("DELETE FROM book_edge WHERE {edge}"),
            format!("{from}: edge e2 to {to} is missing"),
            Left::All,
        ),
        twice(damage(
            format!("UPDATE book_edge SET child = '{other}' WHERE {edge}"),
            format!("{from}: edge e2 to {other} does not lead there"),
            Left::All,
        )),
        damage(at(&start, "value_white = value_white + 1"), format!("{from}: the book says "), Left::All),
        damage(at(&start, "value_bound = 'upper'"), format!("{from}: the book says "), Left::All),
        damage(at(&start, "value_depth = value_depth + 1"), format!("{from}: the book says "), Left::All),
        damage(at(&start, "value_source = ''"), format!("{from}: the book says nothing, not "), Left::All),
        damage(at(&start, "value_source = 'x'"), format!("{from}: value_source: there is no 'x'"), Left::All),
        damage(
            at(&after(OVER), "value_white = 5"),
            format!("{}: the book says ", key_text(after(OVER).canonical_key())),
            Left::All,
        ),
    ]
}

/// What should be left of a book.
fn left_of(whole: &Book, left: &Left) -> Book {
    let (gone, unsearched) = match left {
        Left::All => (None, None),
        Left::Unsearched(position) => (None, whole.find(position)),
        Left::Without(position) => (whole.find(position), None),
    };
    let mut book = Book::new();
    for id in whole.ids().filter(|&id| Some(id) != gone) {
        let node = whole.node(id);
        let (new, _) = book.insert(node.position()).expect("no collision");
        if let Some(searched) = node.searched().filter(|_| Some(id) != unsearched) {
            book.learn(new, searched.clone(), ENGINE_EPOCH);
        }
    }
    book.settle();
    book
}

async fn check_finds_and_mends(ground: &Ground, store: &mut DatabaseStore, number: usize, damage: &Damage) {
    let name = format!("book{number}");
    let whole = learned(book(&GAMES));
    store.commit(&entries(&name, &whole)).await.expect("written");
    let reader = store.reader();
    let check = async || reader.check(&name).await.expect("readable").expect("there");
    assert_eq!(check().await.fault_count, 0);
    let statement = damage.statement.replace("BOOK", &name).replace("BYTES", &ground.bytes("010203"));
    ground.sql(&statement).await;

    let checked = check().await;
    let positions = u64::try_from(whole.len()).expect("small");
    assert_eq!(checked.positions, positions, "{statement}");
    assert!(checked.fault_count >= damage.least, "{statement}: {:?}", checked.faults);
    assert!(checked.faults[0].starts_with(&damage.fault), "{}: {:?}", damage.fault, checked.faults);
    let left = left_of(&whole, &damage.left);
    assert_eq!(checked.mended, left, "{statement}");
    let rewrite = [Keep::Rewrite { name: name.as_str().into(), book: Box::new(checked.mended) }];
    for _ in 0..2 {
        store.commit(&rewrite).await.expect("written");
        let checked = check().await;
        assert_eq!((checked.fault_count, checked.faults), (0, Vec::new()), "{statement}");
    }
    let mended = reader.load(&name).await.expect("readable").expect("there");
    assert_eq!(mended, left, "{statement}");
    // Root moves stay with what was found.
    let bare = format!(
        "SELECT CAST(count(*) AS TEXT) FROM book_position WHERE book = '{name}' AND depth > 0 AND length(lines) = 0"
    );
    assert_eq!(ground.sql(&bare).await, "0", "{statement}");
    // What was lost can be found again.
    store.commit(&entries(&name, &whole)).await.expect("written");
    assert_eq!(reader.load(&name).await.expect("readable").expect("there"), whole);
    ground.sql(&format!("DELETE FROM book_position WHERE book = '{name}'")).await;
}

#[tokio::test]
async fn a_check_finds_whatever_is_wrong_and_what_it_mends_is_right() {
    for ground in grounds() {
        let mut store = ground.open().await;
        for (number, damage) in wrong_rows().iter().chain(&wrong_consequences()).enumerate() {
            check_finds_and_mends(&ground, &mut store, number, damage).await;
        }
    }
}

#[tokio::test]
async fn a_book_that_does_not_hold_together_is_not_loaded_and_it_is_said_what_helps() {
    for ground in grounds() {
        let mut store = ground.open().await;
        store.commit(&entries("main", &book(&GAMES[..2]))).await.expect("written");
        let key = key_text(after("e2").canonical_key());
        ground.sql(&format!("DELETE FROM book_position WHERE key = '{key}'")).await;
        let refused = store.reader().load("main").await.expect_err("unreadable").to_string();
        assert!(refused.starts_with("store: book 'main': move "), "{refused}");
        assert!(refused.ends_with("corridor book check --fix --book main mends that"), "{refused}");
    }
}

/// What each question of a reader comes to; the same for all of them.
async fn refusal(reader: &dyn BookReader) -> StoreError {
    let start = Position::start();
    let refused = reader.load("main").await.map(drop).expect_err("no book");
    let others = [
        reader.position("main", &start).await.map(drop),
        reader.found(&start).await.map(drop),
        reader.list().await.map(drop),
        reader.check("main").await.map(drop),
    ];
    for other in others {
        assert_eq!(other, Err(refused.clone()));
    }
    refused
}

#[tokio::test]
async fn a_database_that_does_not_answer_is_another_thing_than_what_makes_no_sense() {
    for ground in grounds() {
        let mut store = ground.open().await;
        let whole = learned(book(&GAMES));
        store.commit(&entries("main", &whole)).await.expect("written");
        let reader = store.reader();
        ground.sql("ALTER TABLE book_position RENAME TO away").await;
        let away = refusal(&*reader).await;
        assert!(matches!(&away, StoreError::Read(text) if text.contains("book_position")), "{away:?}");
        ground.sql("ALTER TABLE away RENAME TO book_position").await;
        assert_eq!(reader.load("main").await.expect("readable").as_ref(), Some(&whole), "it is back");
        let key = key_text(Position::start().canonical_key());
        ground.sql(&format!("UPDATE book_position SET position = 'x' WHERE key = '{key}'")).await;
        let lost = reader.load("main").await.expect_err("no book");
        assert!(
            matches!(&lost, StoreError::Unreadable(text) if text.starts_with("position 'x'")),
            "{lost:?}"
        );
    }
}

#[tokio::test]
async fn a_locked_file_is_not_a_broken_one() {
    let ground = file();
    let mut store = ground.open().await;
    let whole = learned(book(&GAMES));
    store.commit(&entries("main", &whole)).await.expect("written");
    let reader = store.reader();
    // A tool can only have a file to itself if nobody else has it open.
    Box::new(store).close().await;
    let tool = ground.alone().await;
    let locked = reader.load("main").await.expect_err("no book");
    assert_eq!(locked, StoreError::Read("database is locked".to_owned()));
    tool.close().await.expect("no lock");
    let path = ground.path();
    let mut bytes = std::fs::read(&path).expect("a file");
    // The first page says what tables there are, and those are all right.
    bytes[4096..].fill(0x5a);
    std::fs::write(&path, bytes).expect("written");
    let broken = reader.load("main").await.expect_err("no book");
    assert_eq!(broken, StoreError::Unreadable("database disk image is malformed".to_owned()));
}

#[tokio::test]
async fn a_server_s_lock_is_waited_for_and_then_a_fault_that_passes() {
    let Some(ground) = grounds().into_iter().nth(1) else { return };
    let mut store = ground.open().await;
    store.commit(&entries("main", &book(&GAMES[..1]))).await.expect("written");
    let reader = store.reader();
    let tool = ground.alone().await;
    let locked = reader.load("main").await.expect_err("no book");
    assert!(matches!(&locked, StoreError::Read(text) if text.contains("lock timeout")), "{locked:?}");
    tool.close().await.expect("no lock");
    assert!(reader.load("main").await.expect("readable").is_some());
}

#[tokio::test]
async fn whoever_only_looks_needs_no_hold_and_changes_nothing() {
    for ground in grounds() {
        let refused = async || DatabaseReader::open(&ground.place).await.expect_err("refused");
        if let Place::File(_) = ground.place {
            std::fs::write(ground.path(), "").expect("a file");
        }
        assert!(refused().await.to_string().contains("there is nothing in it yet"), "{}", ground.place);
        let mut store = ground.open().await;
        store.commit(&entries("main", &learned(book(&GAMES)))).await.expect("written");
        // It is held, and written to.
        let reader = DatabaseReader::open(&ground.place).await.expect("a reader");
        assert_eq!(reader.list().await.expect("readable").len(), 1);
        store.commit(&entries("more", &book(&GAMES[..1]))).await.expect("written beside a reader");
        assert_eq!(reader.list().await.expect("readable").len(), 2);
        Box::new(store).close().await;
        assert_eq!(reader.list().await.expect("readable").len(), 2, "nobody holds it any more");

        let newest = "(SELECT max(version) FROM _sqlx_migrations)";
        ground
            .sql(&format!("UPDATE _sqlx_migrations SET version = version + 90 WHERE version = {newest}"))
            .await;
        assert!(matches!(refused().await, StoreError::Newer { found: 93, known: 3, .. }), "{}", ground.place);
        ground.sql(&format!("DELETE FROM _sqlx_migrations WHERE version = {newest}")).await;
        let older = refused().await;
        assert!(matches!(older, StoreError::Older { found: 2, known: 3, .. }), "{older}");
        assert!(older.to_string().contains("corridor book check --fix"), "{older}");
        ground.sql("DROP TABLE _sqlx_migrations").await;
        assert!(refused().await.to_string().contains("something else"), "{}", ground.place);
    }
}

#[tokio::test]
async fn root_moves_are_those_of_the_search_that_is_there() {
    for ground in grounds() {
        let mut store = ground.open().await;
        let main = learned(book(&GAMES));
        store.commit(&entries("main", &main)).await.expect("written");
        let reader = store.reader();
        let found = reader.root_moves("main", 0..=u64::MAX).await.expect("readable");
        let known: Vec<NodeId> = main.ids().filter(|&id| main.node(id).searched().is_some()).collect();
        assert_eq!(found.len(), known.len());
        for id in known {
            let searched = main.node(id).searched().expect("searched");
            assert_eq!(found[&main.node(id).key()], (searched.clone(), lines_of(searched)));
        }
        let keys: Vec<u64> = found.keys().copied().collect();
        let some = reader.root_moves("main", keys[1]..=keys[3]).await.expect("readable");
        assert_eq!(some.into_keys().collect::<Vec<_>>(), keys[1..=3]);
    }
}
