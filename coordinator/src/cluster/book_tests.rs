//! Books against the state machine: what is found, what is kept, and what comes of a book whatever happens to workers and
//! coordinator.

use std::collections::{BTreeMap, BTreeSet};

use corridor_shared::board::{Move, Position};
use corridor_shared::book::{Effort, Growth, Record, Searched};
use corridor_shared::job::{
    BookDone, BookJobSpec, BookTask, EventRecord, JobEvent, JobId, JobLimits, JobState, PositionReport,
    RootPrune,
};
use corridor_shared::notation::{Notation, parse_moves, replay_all};
use proptest::prelude::*;

use super::tests::World;
use super::*;

const GAMES: [&str; 4] = ["e2 e8 e3 e7", "e2 e8 d3h", "d1 e8 e1 e9", "e3h e7h"];

fn name() -> Arc<str> {
    "main".into()
}

fn positions() -> Vec<Position> {
    let game = |text: &&str| {
        let moves = parse_moves(Notation::Man, text).expect("moves");
        replay_all(&Position::start(), &moves).expect("legal")
    };
    GAMES.iter().flat_map(game).collect()
}

fn spec(task: BookTask) -> BookJobSpec {
    BookJobSpec {
        book: name(),
        task,
        limits: JobLimits { depth: Some(2), ..JobLimits::default() },
        multipv: 1,
        prune: RootPrune::Cat,
        deterministic: true,
        priority: 0,
        detach: true,
        traceparent: None,
    }
}

const ANALYZE: BookTask = BookTask::Analyze { stale: false, most: None };

fn expand(positions: u32) -> BookTask {
    BookTask::Expand { positions: Some(positions), growth: Growth::default(), time: None }
}

impl World {
    /// Opens the book, as it is kept.
    fn open(&mut self, book: Book) {
        assert_eq!(self.ask(Question::Open { name: name(), book: Box::new(book) }), Ok(Answer::Nothing));
    }

    fn enter(&mut self, positions: Vec<Position>) -> Entered {
        match self.ask(Question::Enter { book: name(), positions, found: Vec::new() }) {
            Ok(Answer::Entered(entered)) => entered,
            other => panic!("{other:?}"),
        }
    }

    fn revision(&mut self) -> u64 {
        match self.ask(Question::Revision(name())) {
            Ok(Answer::Revision(revision)) => revision,
            other => panic!("{other:?}"),
        }
    }

    fn replace(&mut self) -> Result<Answer, Refusal> {
        let revision = self.revision();
        self.ask(Question::Replace { name: name(), book: Box::new(Book::new()), revision })
    }

    fn work_on(&mut self, spec: BookJobSpec) -> Result<JobId, Refusal> {
        // One for each time that it is asked for.
        let watcher = Some(WatcherId(self.tickets + 1));
        match self.ask(Question::SubmitBook { spec: Box::new(spec), watcher })? {
            Answer::Job(job) => Ok(job),
            other => panic!("{other:?}"),
        }
    }

    /// Lets workers finish whatever they hold until a book's job has ended.
    fn run_book(&mut self, job: JobId) -> BookDone {
        for _ in 0..100_000 {
            if let Some(done) = book_done(self.kept_events(job).last()) {
                return done;
            }
            for worker in self.held.keys().copied().collect::<Vec<_>>() {
                if let Some(unit) = self.running(worker) {
                    self.finish(worker, &unit);
                }
            }
        }
        panic!("the job does not end");
    }

    fn kept_events(&self, job: JobId) -> Vec<Arc<EventRecord>> {
        let event = |entry: &Keep| match entry {
            Keep::Event { job: of, record } if *of == job => Some(Arc::clone(record)),
            _ => None,
        };
        self.kept.iter().filter_map(event).collect()
    }

    /// The same cluster after a kill: everything that was kept, and nothing else.
    fn restarted(self) -> Self {
        let mut next = Self::new();
        next.now = self.now;
        next.workers = self.workers;
        let mut effects = Vec::new();
        next.cluster.restore(next.now, found_again(&self.kept), &mut effects);
        next.kept = self.kept;
        for effect in effects {
            next.carry_out(effect);
        }
        next
    }
}

fn book_done(last: Option<&Arc<EventRecord>>) -> Option<BookDone> {
    match &last?.event {
        JobEvent::BookDone(done) => Some(*done),
        JobEvent::Error(failure) => panic!("{failure:?}"),
        _ => None,
    }
}

/// What a store would find that was given these entries.
fn found_again(entries: &[Keep]) -> Kept {
    let mut positions: BTreeMap<u32, (Position, Option<JobId>)> = BTreeMap::new();
    let mut edges: BTreeSet<(u64, Move, u64)> = BTreeSet::new();
    let mut found: BTreeMap<u64, Searched> = BTreeMap::new();
    let mut batches: BTreeMap<JobId, KeptBatch> = BTreeMap::new();
    for entry in entries {
        match entry {
            Keep::Positions { job, positions: new, edges: between, .. } => {
                for (number, position) in new {
                    assert!(positions.insert(*number, (*position, *job)).is_none(), "kept twice");
                }
                edges.extend(between);
            }
            Keep::Found { key, searched, .. } => {
                found.insert(*key, (**searched).clone());
                for batch in batches.values_mut() {
                    batch.progress.remove(key);
                }
            }
            Keep::Effort { key, effort, .. } => {
                found.get_mut(key).expect("a value").effort = *effort;
                for batch in batches.values_mut() {
                    batch.progress.remove(key);
                }
            }
            Keep::BookJob { job, spec } => {
                let standing = Standing {
                    state: JobState::Queued,
                    paused: false,
                    nodes: 0,
                    elapsed: Duration::ZERO,
                    iteration: None,
                };
                let (spec, events) = ((**spec).clone(), Vec::new());
                let progress = BTreeMap::new();
                let kept = KeptBatch { job: *job, spec: spec.clone(), standing, events, added: 0, progress };
                let there = batches.entry(*job).or_insert(kept);
                let again = BookJobSpec { priority: spec.priority, ..there.spec.clone() };
                assert_eq!(again, spec, "only the priority changes");
                there.spec = again;
            }
            Keep::Event { job, record } => {
                batches.get_mut(job).expect("a job").events.push(Arc::clone(record));
            }
            Keep::Standing { job, standing } => {
                batches.get_mut(job).expect("a job").standing = (**standing).clone();
            }
            Keep::Progress { key, job, iteration, .. } => {
                batches.get_mut(job).expect("a job").progress.insert(*key, (**iteration).clone());
            }
            Keep::Values { .. } | Keep::Forget { .. } | Keep::Job { .. } | Keep::Rewrite { .. } => {}
        }
    }
    for (job, batch) in &mut batches {
        let added = positions.values().filter(|(_, by)| *by == Some(*job)).count();
        batch.added = u64::try_from(added).expect("small");
    }
    let last_job = batches.keys().last().map_or(0, |job| job.0);
    let kept =
        positions.into_values().map(|(position, _)| (position, found.remove(&position.canonical_key())));
    let book = Book::assemble(kept.collect(), edges).expect("a book");
    let books = BTreeMap::from([(name(), book)]);
    Kept { jobs: Vec::new(), batches: batches.into_values().collect(), books, last_job }
}

/// All that a book says, without who said it and when.
fn said(world: &World) -> Vec<Record> {
    let anonymous = |record: Record| Record {
        searched: record.searched.map(|it| Searched {
            analysed_at: 0,
            worker: "".into(),
            effort: Effort { ms: 0, ..it.effort },
            ..it
        }),
        ..record
    };
    world.cluster.books[&name()].records().map(anonymous).collect()
}

/// The positions that a job has searched, each of which must be there once.
fn searched(world: &World, job: JobId) -> BTreeSet<u64> {
    let mut keys = BTreeSet::new();
    for record in world.kept_events(job) {
        if let JobEvent::Position(report) = &record.event {
            assert!(keys.insert(report.record.key()), "searched twice: {}", report.record.position);
        }
    }
    keys
}

/// A world with the games in its book.
fn with_games() -> World {
    let mut world = World::new();
    world.open(Book::new());
    let entered = world.enter(positions());
    assert_eq!((entered.new_positions, entered.positions), (11, 11), "the start and e2 e8 are shared");
    world
}

#[test]
fn a_book_is_analysed_position_by_position() {
    let mut world = with_games();
    assert_eq!(world.enter(positions()).new_positions, 0, "again is nothing new");
    world.join(2);
    let job = world.work_on(spec(ANALYZE)).expect("accepted");
    let done = world.run_book(job);
    assert_eq!((done.positions, done.searched, done.left, done.failed, done.added), (11, 11, 0, 0, 0));
    assert_eq!(done.stopped_by, BookStop::Complete);
    assert_eq!(searched(&world, job).len(), 11);
    let reports: Vec<PositionReport> = world
        .kept_events(job)
        .iter()
        .filter_map(|record| match &record.event {
            JobEvent::Position(report) => Some((**report).clone()),
            _ => None,
        })
        .collect();
    let last = reports.last().expect("positions");
    assert_eq!((last.progress.done, last.progress.total, last.progress.nodes), (11, 11, done.nodes));
    for report in &reports {
        let found = report.record.searched.as_ref().expect("a search");
        assert_eq!((found.depth, &*found.worker), (2, "w1"));
        assert_eq!(found.best_move, found.pv.first().copied());
    }
    // Its parts are nobody's business, and nothing of them remains.
    assert_eq!(world.cluster.list(world.now, 10, None).len(), 1);
    assert!(world.cluster.jobs.is_empty() && world.cluster.open.is_empty());
    assert_eq!(world.cluster.tree_nodes, 0);
    // What is known is not searched again.
    let again = world.work_on(spec(ANALYZE)).expect("accepted");
    assert_eq!(world.run_book(again).searched, 0);
    let limits = JobLimits { depth: Some(3), ..JobLimits::default() };
    let deeper = world.work_on(BookJobSpec { limits, ..spec(ANALYZE) }).expect("accepted");
    assert_eq!(world.run_book(deeper).searched, 11);
}

fn summary(world: &World, job: JobId) -> JobSummary {
    let mut jobs = world.cluster.list(world.now, 10, None);
    jobs.retain(|summary| summary.job == job);
    jobs.pop().expect("a job")
}

/// Asks for the same twice: the second time there is nothing left to do, also for a coordinator that only knows what was kept.
fn ends(mut world: World, spec: &BookJobSpec, searched: u64) -> World {
    let job = world.work_on(spec.clone()).expect("accepted");
    let done = world.run_book(job);
    assert_eq!((done.searched, done.left), (searched, 0), "{spec:?}");
    let mut world = world.restarted();
    world.join(2);
    let job = world.work_on(spec.clone()).expect("accepted");
    assert_eq!(world.run_book(job).searched, 0, "{spec:?}");
    world
}

#[test]
fn a_search_that_finds_nothing_better_is_not_repeated() {
    let mut world = with_games();
    world.join(2);
    world = ends(world, &spec(ANALYZE), 11);
    // The same, found deeper by somebody who was quick.
    let book = &world.cluster.books[&name()];
    let quick = |id| {
        let node = book.node(id);
        let searched = node.searched().cloned().expect("a search");
        (*node.position(), Searched { depth: 90, nodes: 3, effort: Effort { nodes: 3, ms: 0 }, ..searched })
    };
    let found = book.ids().map(quick).collect();
    let entered = world.ask(Question::Enter { book: name(), positions: Vec::new(), found });
    assert!(matches!(entered, Ok(Answer::Entered(Entered { new_values: 11, .. }))), "{entered:?}");
    let book = &world.cluster.books[&name()];
    let given = book.ids().filter_map(|id| book.node(id).searched()).map(|it| it.effort.nodes);
    let nodes = given.max().expect("positions") + 1;
    let limits = JobLimits { nodes: Some(nodes), ..JobLimits::default() };
    let world = ends(world, &BookJobSpec { limits, ..spec(ANALYZE) }, 11);
    let book = &world.cluster.books[&name()];
    for id in book.ids() {
        let searched = book.node(id).searched().expect("a search");
        assert_eq!((searched.depth, searched.nodes), (90, 3));
        assert!(searched.effort.nodes >= nodes);
    }
}

#[test]
fn what_looks_at_more_moves_is_at_least_as_deep_as_what_it_replaces() {
    let mut world = with_games();
    world.join(2);
    world = ends(world, &BookJobSpec { prune: RootPrune::None, ..spec(ANALYZE) }, 11);
    let limits = JobLimits { nodes: Some(50), ..JobLimits::default() };
    world = ends(world, &BookJobSpec { multipv: 3, limits, ..spec(ANALYZE) }, 11);
    for id in world.cluster.books[&name()].ids() {
        let searched = world.cluster.books[&name()].node(id).searched().expect("a search");
        assert_eq!((searched.depth, searched.multipv, searched.prune), (2, 3, RootPrune::None));
    }
}

#[test]
fn whoever_asks_again_may_change_the_priority() {
    let mut world = with_games();
    let job = world.work_on(spec(ANALYZE)).expect("accepted");
    let other = world.work_on(BookJobSpec { multipv: 2, ..spec(ANALYZE) }).expect("accepted");
    assert_eq!(world.work_on(BookJobSpec { priority: 7, multipv: 2, ..spec(ANALYZE) }), Ok(other));
    assert_eq!((summary(&world, job).priority, summary(&world, other).priority), (0, 7));
    let worker = world.join(1);
    let unit = world.running(worker).expect("a unit");
    assert_eq!(world.cluster.jobs[&unit.job].part_of, Some(other), "it is served first");
    let mut world = world.restarted();
    assert_eq!(summary(&world, other).priority, 7);
    let worker = world.join(1);
    let unit = world.running(worker).expect("a unit");
    assert_eq!(world.cluster.jobs[&unit.job].part_of, Some(other), "also by who comes after");
    world.run_book(other);
}

#[test]
fn a_cancelled_job_says_so_and_how_much_was_left() {
    let mut world = with_games();
    let worker = world.join(1);
    let job = world.work_on(spec(ANALYZE)).expect("accepted");
    let unit = world.running(worker).expect("a unit");
    world.finish(worker, &unit);
    assert_eq!(world.ask(Question::Cancel(job)), Ok(Answer::Nothing));
    let summary = summary(&world, job);
    let book = summary.book.expect("a book's job");
    assert_eq!((summary.state, &*summary.reason), (JobState::Done, "cancelled"));
    assert!(book.done < book.total && book.total == 11, "{book:?}");
}

#[test]
fn values_are_kept_as_the_book_has_them() {
    let mut world = with_games();
    world.join(3);
    let job = world.work_on(spec(ANALYZE)).expect("accepted");
    world.run_book(job);
    let mut kept = BTreeMap::new();
    for entry in &world.kept {
        if let Keep::Values { values, .. } = entry {
            kept.extend(values.iter().copied());
        }
    }
    let book = &world.cluster.books[&name()];
    for id in book.ids() {
        let node = book.node(id);
        assert_eq!(kept.get(&node.key()).copied().flatten(), node.value(), "{}", node.position());
    }
    // A coordinator that finds it again says the same.
    assert_eq!(found_again(&world.kept).books[&name()], *book);
}

#[test]
fn a_book_grows_by_what_it_misses() {
    let mut world = with_games();
    world.join(2);
    let job = world.work_on(spec(expand(20))).expect("accepted");
    let done = world.run_book(job);
    assert_eq!((done.positions, done.added, done.searched, done.left), (31, 20, 31, 0));
    assert_eq!(done.stopped_by, BookStop::Complete);
    assert_eq!(searched(&world, job).len(), 31);
    // Nothing costs so little.
    let growth = Growth { max_cost: Some(1), ply_cost: 20, ..Growth::default() };
    let task = BookTask::Expand { positions: None, growth, time: None };
    let none = world.work_on(spec(task)).expect("accepted");
    let done = world.run_book(none);
    assert_eq!((done.added, done.stopped_by), (0, BookStop::Cost));
}

#[test]
fn whoever_asks_for_the_same_work_joins_it() {
    let mut world = with_games();
    let job = world.work_on(BookJobSpec { detach: false, ..spec(ANALYZE) }).expect("accepted");
    let urgent = BookJobSpec { priority: 7, ..spec(ANALYZE) };
    assert_eq!(world.work_on(urgent), Ok(job), "the same work");
    let other = BookJobSpec { multipv: 2, ..spec(ANALYZE) };
    assert_ne!(world.work_on(other), Ok(job));
    // The second one is detached, so that nobody need watch any more.
    for watcher in world.cluster.watchers.keys().copied().collect::<Vec<_>>() {
        world.step(Event::Unwatch { watcher });
    }
    world.now += limits::UNWATCHED_TIME * 2;
    world.step(Event::Tick);
    assert_eq!(world.cluster.batches[&job].ledger.state, JobState::Waiting);
    let first = |records: &Vec<Arc<EventRecord>>| matches!(records[0].event, JobEvent::BookAccepted(_));
    assert!(world.events.len() == 3 && world.events.values().all(first), "from the first event on");
}

#[test]
fn what_is_imported_meanwhile_is_analysed_too() {
    let mut world = with_games();
    let all = world.work_on(spec(ANALYZE)).expect("accepted");
    let some = world.work_on(spec(BookTask::Analyze { stale: false, most: Some(3) })).expect("accepted");
    let more = replay_all(&Position::start(), &parse_moves(Notation::Man, "e2 d9 d2 c9").expect("moves"));
    assert_eq!(world.enter(more.expect("legal")).new_positions, 3);
    // A second client with a share of its own.
    assert_eq!(world.work_on(spec(ANALYZE)), Ok(all));
    world.join(2);
    let done = world.run_book(all);
    assert_eq!((done.positions, done.left, done.stopped_by), (14, 0, BookStop::Complete));
    assert_eq!(searched(&world, all).len(), 14);
    assert!(world.run_book(some).searched <= 3, "so many were asked for");
    let nothing = world.work_on(spec(ANALYZE)).expect("accepted");
    assert_eq!(world.run_book(nothing).searched, 0, "nothing is left");
}

#[test]
fn a_books_job_is_held_let_go_and_cancelled() {
    let mut world = with_games();
    let worker = world.join(1);
    let job = world.work_on(spec(ANALYZE)).expect("accepted");
    let unit = world.running(worker).expect("a unit");
    world.finish(worker, &unit);
    assert_eq!(world.ask(Question::Pause(job)), Ok(Answer::Nothing));
    assert!(world.held[&worker].is_empty(), "a paused job runs");
    world.step(Event::Tick);
    assert!(world.held[&worker].is_empty());
    assert_eq!(world.ask(Question::Resume(job)), Ok(Answer::Nothing));
    assert!(!world.held[&worker].is_empty());
    assert_eq!(world.ask(Question::Cancel(job)), Ok(Answer::Nothing));
    assert!(world.held[&worker].is_empty() && world.cluster.jobs.is_empty());
    let done = book_done(world.kept_events(job).last()).expect("it has ended");
    assert_eq!((done.stopped_by, done.searched + done.left), (BookStop::Cancel, 11));
    let state = |record: &Arc<EventRecord>| match &record.event {
        JobEvent::State(change) => Some(change.state),
        _ => None,
    };
    let states: Vec<JobState> = world.kept_events(job).iter().filter_map(state).collect();
    assert_eq!(states, [JobState::Running, JobState::Paused, JobState::Running]);
}

#[test]
fn a_position_that_fails_is_told_and_the_others_go_on() {
    let mut world = with_games();
    let worker = world.join(1);
    let job = world.work_on(spec(ANALYZE)).expect("accepted");
    let bad = world.running(worker).expect("a unit").root;
    for _ in 0..100_000 {
        if book_done(world.kept_events(job).last()).is_some() {
            break;
        }
        let Some(unit) = world.running(worker) else { continue };
        if unit.root == bad {
            world.held.get_mut(&worker).expect("a worker").remove(&unit.unit);
            let (unit, attempt) = (unit.unit, unit.attempt);
            world.says(worker, WorkerSays::Failed { unit, attempt, message: "test".to_owned() });
        } else {
            world.finish(worker, &unit);
        }
    }
    let done = book_done(world.kept_events(job).last()).expect("it has ended");
    assert_eq!((done.searched, done.failed, done.left), (10, 1, 1));
    let failed = world.kept_events(job).iter().find_map(|record| match &record.event {
        JobEvent::PositionFailed(failure) => Some((**failure).clone()),
        _ => None,
    });
    assert_eq!(failed.expect("it is told").position, bad);
}

#[test]
fn positions_come_before_splits_and_splits_at_the_end() {
    let mut world = with_games();
    for _ in 0..4 {
        world.join(1);
    }
    world.work_on(BookJobSpec { deterministic: false, ..spec(ANALYZE) }).expect("accepted");
    let roots: BTreeSet<u64> =
        world.held.values().flat_map(BTreeMap::values).map(|unit| unit.root.key()).collect();
    assert!(roots.len() >= 4, "each worker has a position of its own");
    assert!(
        world.held.values().flat_map(BTreeMap::values).all(|unit| unit.path.is_empty()),
        "nothing is split"
    );
}

#[test]
fn what_cannot_be_is_refused() {
    let mut world = World::new();
    assert!(matches!(world.work_on(spec(ANALYZE)), Err(Refusal::NotFound(text)) if text.contains("'main'")));
    world.open(Book::new());
    assert!(
        matches!(world.work_on(spec(ANALYZE)), Err(Refusal::Precondition(text)) if text.contains("import"))
    );
    world.enter(positions());
    let job = world.work_on(spec(ANALYZE)).expect("accepted");
    let refused = world.replace().expect_err("refused").to_string();
    assert!(refused.contains(&format!("job {job} works on book 'main'")), "{refused}");
}

#[test]
fn a_book_that_has_changed_since_it_was_looked_at_is_not_replaced() {
    let mut world = World::new();
    world.open(Book::new());
    assert_eq!(world.revision(), 0);
    world.enter(positions());
    let revision = world.revision();
    let replace = |world: &mut World, revision| {
        world.ask(Question::Replace { name: name(), book: Box::new(Book::new()), revision })
    };
    // Nothing new changes nothing.
    world.enter(positions());
    assert_eq!(world.revision(), revision);
    world.enter(vec!["/ / e2 e8 / 9 9 / 1".parse().expect("a position")]);
    let refused = replace(&mut world, revision).expect_err("refused").to_string();
    assert!(refused.contains("has changed"), "{refused}");
    world.join(1);
    let job = world.work_on(spec(ANALYZE)).expect("accepted");
    let revision = world.revision();
    world.run_book(job);
    assert!(replace(&mut world, revision).is_err(), "what was found counts");
    let revision = world.revision();
    assert_eq!(replace(&mut world, revision), Ok(Answer::Nothing));
    assert_eq!(world.cluster.books[&name()], Book::new());
    assert!(replace(&mut world, revision).is_err(), "once");
}

/// Something that happens while a book is worked on.
#[derive(Clone, Debug)]
enum Happens {
    Join(u32),
    Gone(prop::sample::Index),
    Finish(prop::sample::Index, prop::sample::Index),
    Fail(prop::sample::Index),
    Wait(u64),
    Restart,
}

fn happens() -> impl Strategy<Value = Happens> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        2 => (1_u32..4).prop_map(Happens::Join),
        1 => index().prop_map(Happens::Gone),
        12 => (index(), index()).prop_map(|(worker, unit)| Happens::Finish(worker, unit)),
        1 => index().prop_map(Happens::Fail),
        1 => (1_u64..12_000).prop_map(Happens::Wait),
        1 => Just(Happens::Restart),
    ]
}

fn happen(mut world: World, it: &Happens) -> World {
    let workers: Vec<WorkerId> = world.held.keys().copied().collect();
    match it {
        Happens::Join(slots) => {
            world.join(*slots);
        }
        Happens::Gone(worker) if !workers.is_empty() => world.gone(*worker.get(&workers)),
        Happens::Finish(worker, unit) if !workers.is_empty() => {
            let worker = *worker.get(&workers);
            let units: Vec<_> = world.held[&worker].values().cloned().collect();
            if !units.is_empty() {
                let unit = unit.get(&units).clone();
                world.finish(worker, &unit);
            }
        }
        // A worker that goes with everything in its hands and comes back.
        Happens::Fail(worker) if !workers.is_empty() => {
            // In good order: three deaths over one position would be the position's fault.
            world.gone(*worker.get(&workers));
            world.join(1);
        }
        Happens::Wait(ms) => {
            world.now += Duration::from_millis(*ms);
            world.step(Event::Tick);
        }
        Happens::Restart => return world.restarted(),
        _ => {}
    }
    world
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_book_is_done_once_whatever_happens_and_a_deterministic_one_is_the_same(
        events in prop::collection::vec(happens(), 0..300),
        grows in any::<bool>(),
        deterministic in any::<bool>(),
    ) {
        let task = if grows { expand(12) } else { ANALYZE };
        let mut undisturbed = with_games();
        undisturbed.join(1);
        let wanted = BookJobSpec { deterministic, ..spec(task) };
        let job = undisturbed.work_on(wanted.clone()).expect("accepted");
        let expected = undisturbed.run_book(job);

        let mut world = with_games();
        prop_assert_eq!(world.work_on(wanted), Ok(job));
        for it in events {
            world = happen(world, &it);
        }
        world.join(2);
        let done = world.run_book(job);
        // Nothing was searched twice, nothing was lost, nothing was added twice.
        prop_assert_eq!(searched(&world, job).len(), searched(&undisturbed, job).len());
        prop_assert_eq!(
            (done.searched, done.added, done.left, done.failed),
            (expected.searched, expected.added, 0, 0)
        );
        if deterministic {
            prop_assert_eq!(said(&world), said(&undisturbed));
            prop_assert_eq!(done.nodes, expected.nodes);
        }
        for (record, seq) in world.kept_events(job).iter().zip(1..) {
            prop_assert_eq!(record.seq, seq);
        }
        prop_assert_eq!(&found_again(&world.kept).books[&name()], &world.cluster.books[&name()]);
    }
}
