//! Event sequences against the state machine, and invariants that hold after each event.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use corridor_shared::board::{Color, Position};
use corridor_shared::job::{
    Attempt, DoneReport, ENGINE_EPOCH, EventRecord, JobEvent, JobId, JobLimits, JobSpec, JobState,
    Registration, RootPrune, StoppedBy, Unit, UnitId, UnitProgress, UnitReport, WorkerId,
};
use corridor_shared::score::{Bound, MAX_CM, Score, WhiteScore, win_in};
use proptest::prelude::*;

use super::*;

const LEASE: Duration = Duration::from_secs(10);

fn spec(position: &str, depth: u8) -> JobSpec {
    JobSpec::new(position.parse().expect("a position")).to_depth(depth)
}

fn start(depth: u8) -> JobSpec {
    spec(&Position::start().to_string(), depth)
}

/// A made-up truth about each root move at each depth, from the root's side to move.
fn truth(unit: &Unit) -> Score {
    // Mirror images are worth the same.
    let position = unit.path.iter().fold(unit.root, |position, &mv| position.after(mv));
    let seed = (position.canonical_key() >> 40) * 7_919 + u64::from(unit.depth) * 104_729;
    i32::try_from((seed ^ (seed >> 7)) % 301).expect("small") - 150
}

/// A cluster with its surroundings: workers that hold units, watchers that collect events.
pub(super) struct World {
    pub(super) cluster: Cluster,
    pub(super) now: Duration,
    /// Units in the hands of each worker, as far as it was told.
    pub(super) held: BTreeMap<WorkerId, BTreeMap<UnitId, Unit>>,
    /// Windows in the hands of each worker that differ from those of the grants.
    pub(super) windows: BTreeMap<UnitId, corridor_shared::job::WhiteWindow>,
    pub(super) events: BTreeMap<WatcherId, Vec<Arc<EventRecord>>>,
    pub(super) finished: BTreeSet<WatcherId>,
    pub(super) lease_lost: Vec<(WorkerId, UnitId, Attempt)>,
    pub(super) answers: BTreeMap<Ticket, Result<Answer, Refusal>>,
    pub(super) tickets: u64,
    pub(super) workers: u64,
    /// What was to be kept.
    pub(super) kept: Vec<Keep>,
}

impl World {
    pub(super) fn new() -> Self {
        Self {
            cluster: Cluster::new(Config { lease: LEASE, ..Config::default() }),
            now: Duration::ZERO,
            held: BTreeMap::new(),
            windows: BTreeMap::new(),
            events: BTreeMap::new(),
            finished: BTreeSet::new(),
            lease_lost: Vec::new(),
            answers: BTreeMap::new(),
            tickets: 0,
            workers: 0,
            kept: Vec::new(),
        }
    }

    pub(super) fn step(&mut self, event: Event) {
        let mut effects = Vec::new();
        self.now += Duration::from_millis(1);
        self.cluster.step(self.now, event, &mut effects);
        for effect in effects {
            self.carry_out(effect);
        }
        self.check();
    }

    pub(super) fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Answer { ticket, answer } => {
                assert!(self.answers.insert(ticket, answer).is_none(), "answered twice");
            }
            Effect::Send { worker, command } => self.told(worker, command),
            Effect::Disconnect { worker, .. } => {
                self.held.remove(&worker);
            }
            Effect::Keep(entry) => self.kept.push(entry),
            Effect::Share { .. } => {}
            Effect::Deliver { watcher, records, .. } => {
                assert!(!self.finished.contains(&watcher), "an event after the end of a stream");
                self.events.entry(watcher).or_default().extend(records);
            }
            Effect::Finish { watcher, .. } => {
                assert!(self.finished.insert(watcher), "finished twice");
            }
        }
    }

    pub(super) fn told(&mut self, worker: WorkerId, command: Command) {
        let Some(held) = self.held.get_mut(&worker) else { return };
        match command {
            Command::Grant(unit) => {
                held.insert(unit.unit, *unit);
            }
            Command::Window { unit, attempt, window } => {
                assert_eq!(held.get(&unit).map(|unit| unit.attempt), Some(attempt), "a window for nothing");
                self.windows.insert(unit, window);
            }
            Command::Cancel { unit, attempt } => {
                assert_eq!(held.remove(&unit).map(|unit| unit.attempt), Some(attempt), "a cancel of nothing");
            }
            Command::Shed { unit, attempt } => {
                assert_eq!(held.get(&unit).map(|unit| unit.attempt), Some(attempt), "nothing to shed");
            }
            Command::LeaseLost { unit, attempt } => self.lease_lost.push((worker, unit, attempt)),
        }
    }

    /// What must hold after every event.
    pub(super) fn check(&self) {
        // The cluster's leases are exactly what the workers hold, and every unit is held once.
        let mut seen = BTreeSet::new();
        for (worker, units) in &self.held {
            let slots = self.cluster.fleet.worker(*worker).map_or(0, |worker| worker.registration.slots);
            assert!(
                units.len() <= usize::try_from(slots).expect("small") + limits::LOOKAHEAD,
                "too many units"
            );
            for unit in units.values() {
                assert!(
                    self.cluster.fleet.holds(*worker, unit.unit, unit.attempt),
                    "{unit:?} is held unleased"
                );
                assert!(seen.insert(unit.unit), "{} is held twice", unit.unit);
            }
        }
        assert_eq!(self.cluster.fleet.leases().count(), seen.len(), "a lease that nobody holds");
        let Figures { counted, leases, .. } = self.cluster.figures(self.now);
        let Ended { completed, handed_back, failed, revoked, lost, expired } = counted.ended;
        let ended = completed + handed_back + failed + revoked + lost + expired;
        assert_eq!(counted.granted, leases + ended, "each lease ends in one way: {counted:?}");
        for job in self.cluster.jobs.values() {
            let of_job = self.cluster.fleet.leases().filter(|lease| lease.unit.job == job.ledger.id);
            let mut leased: Vec<UnitId> = of_job.map(|lease| lease.unit.unit).collect();
            let mut planned: Vec<UnitId> = job.leased_units().collect();
            leased.sort();
            planned.sort();
            assert_eq!(leased, planned, "plan and leases of job {} differ", job.ledger.id);
            assert!(!job.ledger.state.is_final() || planned.is_empty(), "an ended job holds leases");
        }
        for records in self.events.values() {
            let first = records.first().map_or(1, |record| record.seq);
            for (record, seq) in records.iter().zip(first..) {
                assert_eq!(record.seq, seq, "a gap or a repeat");
            }
            let last = records.iter().position(|record| record.event.is_last());
            assert!(last.is_none_or(|last| last + 1 == records.len()), "something after the last event");
        }
        if let Some(wake) = self.cluster.next_wake() {
            assert!(wake > self.now, "something is overdue after a step");
        }
    }

    pub(super) fn ask(&mut self, question: Question) -> Result<Answer, Refusal> {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.step(Event::Ask { ticket, question });
        self.answers.remove(&ticket).expect("an answer at once")
    }

    /// Submits a job with a watcher of the same number.
    pub(super) fn submit(&mut self, spec: JobSpec) -> JobId {
        let watcher = Some(WatcherId(self.cluster.last_job + 1));
        match self.ask(Question::Submit { spec: Box::new(spec), watcher, known: None }) {
            Ok(Answer::Job(job)) => job,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn try_join(&mut self, name: &str, instance: u64, slots: u32) -> Result<WorkerId, Refusal> {
        self.workers += 1;
        let worker = WorkerId(self.workers);
        let registration = Registration {
            name: name.to_owned(),
            instance,
            engine_epoch: ENGINE_EPOCH.to_owned(),
            slots,
            table_bytes: 1 << 20,
        };
        self.held.insert(worker, BTreeMap::new());
        let answer = self.ask(Question::Register { worker, registration });
        if answer.is_err() {
            self.held.remove(&worker);
        }
        answer.map(|_| worker)
    }

    pub(super) fn join(&mut self, slots: u32) -> WorkerId {
        let name = format!("w{}", self.workers + 1);
        self.try_join(&name, self.workers + 1, slots).expect("accepted")
    }

    pub(super) fn says(&mut self, worker: WorkerId, says: WorkerSays) {
        self.step(Event::Worker { worker, says });
    }

    pub(super) fn gone(&mut self, worker: WorkerId) {
        self.says(worker, WorkerSays::Gone { reason: "test".to_owned() });
    }

    pub(super) fn broken(&mut self, worker: WorkerId) {
        self.says(worker, WorkerSays::Broken { reason: "test".to_owned() });
    }

    /// The unit that a worker runs.
    pub(super) fn running(&self, worker: WorkerId) -> Option<Unit> {
        self.held.get(&worker)?.values().next().cloned()
    }

    /// Reports a unit as a search with the true score and the latest window would.
    pub(super) fn finish(&mut self, worker: WorkerId, unit: &Unit) {
        let report = self.report_on(unit);
        if let Some(held) = self.held.get_mut(&worker) {
            held.remove(&unit.unit);
        }
        self.says(worker, WorkerSays::Report(report));
    }

    pub(super) fn report_on(&mut self, unit: &Unit) -> UnitReport {
        let turn = unit.turn();
        if unit.whole.is_some() {
            return whole_report(unit);
        }
        let score = -truth(unit);
        let window = self.windows.remove(&unit.unit).unwrap_or(unit.window).to_engine(turn);
        // Fail-soft, but never beyond the truth.
        let bound = Bound::of(score, window.alpha, window.beta);
        UnitReport {
            unit: unit.unit,
            attempt: unit.attempt,
            score: Some((WhiteScore::from_engine(score, turn), bound.from_white(turn))),
            pv: Vec::new(),
            nodes: 100,
            completed: true,
            search_time: Duration::from_micros(100),
            open: Vec::new(),
            path_dependent: false,
            lines: Vec::new(),
        }
    }

    /// Lets all workers work until a job has ended.
    pub(super) fn run(&mut self, job: JobId) -> DoneReport {
        for _ in 0..100_000 {
            if let Some(done) = self.done(job) {
                return done;
            }
            let busy: Vec<WorkerId> = self.held.keys().copied().collect();
            for worker in busy {
                if let Some(unit) = self.running(worker) {
                    self.finish(worker, &unit);
                }
            }
        }
        panic!("the job does not end");
    }

    pub(super) fn log(&self, job: JobId) -> &[Arc<EventRecord>] {
        self.events.get(&WatcherId(job.0)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn done(&self, job: JobId) -> Option<DoneReport> {
        match self.log(job).last().map(|record| &record.event) {
            Some(JobEvent::Done(done)) => Some(done.clone()),
            Some(JobEvent::Error(failure)) => panic!("{failure:?}"),
            _ => None,
        }
    }

    pub(super) fn states(&self, job: JobId) -> Vec<JobState> {
        let state = |record: &Arc<EventRecord>| match &record.event {
            JobEvent::State(change) => Some(change.state),
            _ => None,
        };
        self.log(job).iter().filter_map(state).collect()
    }
}

/// What a worker finds that analyses a position as a whole.
fn whole_report(unit: &Unit) -> UnitReport {
    let turn = unit.root.turn();
    let line = |mv: corridor_shared::Move| {
        let below = Unit { path: vec![mv], depth: unit.depth - 1, ..unit.clone() };
        corridor_shared::job::Line {
            mv,
            score_white: WhiteScore::from_engine(truth(&below), turn),
            bound: Bound::Upper.from_white(turn),
            depth: unit.depth,
            pv: vec![mv],
            nodes: 1,
            heat_cm: 0,
        }
    };
    let mut lines: Vec<_> = unit.root.legal_moves().iter().copied().take(20).map(line).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.score_white.to_engine(turn)));
    lines[0].bound = Bound::Exact;
    UnitReport {
        unit: unit.unit,
        attempt: unit.attempt,
        score: Some((lines[0].score_white, Bound::Exact)),
        pv: lines[0].pv.clone(),
        nodes: 100,
        completed: true,
        search_time: Duration::from_micros(100),
        open: Vec::new(),
        path_dependent: false,
        lines,
    }
}

/// The best score at a depth, by looking at every move.
fn best_score(root: Position, done: &DoneReport, depth: u8) -> Score {
    let score = |mv| {
        truth(&Unit {
            path: vec![mv],
            depth: depth - 1,
            job: JobId(0),
            unit: UnitId(0),
            attempt: Attempt::FIRST,
            root,
            window: corridor_shared::job::WhiteWindow::default(),
            node_budget: None,
            pv_hint: Vec::new(),
            deterministic: false,
            prune: corridor_shared::search::PruneMode::Cat,
            traceparent: None,
            speculative: false,
            seeds: Vec::new(),
            whole: None,
        })
    };
    done.lines.iter().map(|line| score(line.mv)).max().expect("lines")
}

#[test]
fn one_worker_finds_the_best_move() {
    let mut world = World::new();
    world.join(1);
    let job = world.submit(start(6));
    let done = world.run(job);
    assert_eq!((done.depth, done.stopped_by), (6, StoppedBy::Depth));
    assert_eq!(done.score_white, Some(WhiteScore::Cm(best_score(Position::start(), &done, 6))));
    assert_eq!(done.lines[0].bound, Bound::Exact);
    assert!(done.lines.iter().all(|line| line.depth == 6));
    let log = world.log(job);
    assert!(matches!(log[0].event, JobEvent::Accepted(_)));
    assert_eq!(log.iter().filter(|record| record.event.is_last()).count(), 1);
    let iterations = log.iter().filter(|record| matches!(record.event, JobEvent::Iteration(_)));
    assert_eq!(iterations.count(), 6);
    assert_eq!(world.states(job), [JobState::Running]);
}

#[test]
fn multipv_lines_are_exact_and_the_best() {
    let mut world = World::new();
    world.join(2);
    world.join(3);
    let job = world.submit(JobSpec { multipv: 4, ..start(5) });
    let done = world.run(job);
    let score = |line: &corridor_shared::job::Line| line.score_white.to_engine(Color::White);
    assert!(done.lines[..4].iter().all(|line| line.bound == Bound::Exact));
    let fourth = score(&done.lines[3]);
    assert!(done.lines[4..].iter().all(|line| score(line) <= fourth));
    assert!(done.lines.windows(2).all(|pair| score(&pair[0]) >= score(&pair[1])));
}

#[test]
fn black_scores_are_white_scores() {
    let mut world = World::new();
    world.join(1);
    let job = world.submit(spec("/ / e2 e9 / 10 10 / 2", 4));
    let done = world.run(job);
    assert_eq!(
        done.score_white,
        Some(WhiteScore::Cm(-best_score(world.cluster.jobs[&job].spec.position, &done, 4)))
    );
    let bounds = done.lines.iter().skip(1).filter(|line| line.bound != Bound::Exact);
    assert!(bounds.clone().count() > 0 && bounds.clone().all(|line| line.bound == Bound::Lower));
}

#[test]
fn a_lost_workers_units_run_elsewhere() {
    let mut world = World::new();
    let first = world.join(1);
    // No two moves of this position are mirror images, which would be known together.
    let job = world.submit(spec("/ / d2 e8 / 10 10 / 1", 5));
    for _ in 0..60 {
        let unit = world.running(first).expect("work");
        world.finish(first, &unit);
    }
    let lost: Vec<Unit> = world.held[&first].values().cloned().collect();
    assert!((2..=1 + limits::LOOKAHEAD).contains(&lost.len()), "one runs and others wait: {}", lost.len());
    let second = world.join(1);
    world.gone(first);
    let mut again = BTreeSet::new();
    while world.done(job).is_none() {
        let unit = world.running(second).expect("work");
        if lost.iter().any(|lost| lost.unit == unit.unit) {
            assert!(unit.attempt > Attempt::FIRST);
            again.insert(unit.unit);
        }
        world.finish(second, &unit);
    }
    assert_eq!(again.len(), lost.len(), "all are searched again, under the next attempt");
}

#[test]
fn a_silent_worker_is_lost_within_a_lease() {
    let mut world = World::new();
    let silent = world.join(1);
    let job = world.submit(start(3));
    world.now += LEASE;
    world.step(Event::Tick);
    assert!(!world.held.contains_key(&silent));
    assert_eq!(world.states(job), [JobState::Running, JobState::Waiting]);
    world.join(1);
    assert_eq!(world.run(job).stopped_by, StoppedBy::Depth);
    assert_eq!(world.states(job), [JobState::Running, JobState::Waiting, JobState::Running]);
}

#[test]
fn a_worker_that_lives_but_does_not_move_loses_its_unit() {
    let mut world = World::new();
    let frozen = world.join(1);
    let job = world.submit(start(3));
    let unit = world.running(frozen).expect("work");
    let healthy = world.join(1);
    for _ in 0..11 {
        world.now += LEASE / 10;
        // Its thread does not leave the unit, whatever the coordinator says.
        let stuck = UnitProgress { unit: unit.unit, attempt: unit.attempt, nodes: 0 };
        world.says(frozen, WorkerSays::Heartbeat(vec![stuck]));
        // The healthy one moves.
        let moves: Vec<UnitProgress> = world.held[&healthy]
            .values()
            .map(|unit| UnitProgress {
                unit: unit.unit,
                attempt: unit.attempt,
                nodes: u64::try_from(world.now.as_millis()).expect("small"),
            })
            .collect();
        world.says(healthy, WorkerSays::Heartbeat(moves));
    }
    assert!(world.held[&frozen].is_empty(), "nothing more is given to threads that do not move");
    world.lease_lost.clear();
    assert!(world.cluster.fleet.worker(frozen).is_some(), "the worker itself stays");
    assert_eq!(world.run(job).depth, 3);
    // Its late result is refused, and frees its slot.
    let late = world.report_on(&unit);
    world.says(frozen, WorkerSays::Report(late));
    assert_eq!(world.lease_lost.last(), Some(&(frozen, unit.unit, unit.attempt)));
    world.submit(start(3));
    assert!(!world.held[&frozen].is_empty());
}

#[test]
fn what_waits_behind_threads_that_do_not_move_is_taken_back_too() {
    let mut world = World::new();
    let frozen = world.join(1);
    let job = world.submit(spec("/ / d2 e8 / 10 10 / 1", 5));
    for _ in 0..60 {
        let unit = world.running(frozen).expect("work");
        world.finish(frozen, &unit);
    }
    assert!(world.held[&frozen].len() > 1, "some wait");
    let stands = |unit: &Unit| UnitProgress { unit: unit.unit, attempt: unit.attempt, nodes: 0 };
    let stuck: Vec<UnitProgress> = world.held[&frozen].values().map(stands).collect();
    for _ in 0..11 {
        world.now += LEASE / 10;
        world.says(frozen, WorkerSays::Heartbeat(stuck.clone()));
    }
    assert!(world.held[&frozen].is_empty());
    world.join(1);
    assert_eq!(world.run(job).depth, 5);
}

#[test]
fn late_and_repeated_results_change_nothing() {
    let mut world = World::new();
    let worker = world.join(1);
    let job = world.submit(start(4));
    let unit = world.running(worker).expect("work");
    let report = world.report_on(&unit);
    world.finish(worker, &unit);
    let before = (world.log(job).len(), world.cluster.jobs[&job].nodes);
    world.says(worker, WorkerSays::Report(report.clone()));
    world.says(worker, WorkerSays::Report(UnitReport { attempt: Attempt(9), ..report }));
    assert_eq!((world.log(job).len(), world.cluster.jobs[&job].nodes), before);
    assert_eq!(world.lease_lost.len(), 2);
    // A heartbeat that lists a unit of somebody else's is answered the same way.
    let foreign = UnitProgress { unit: UnitId(999), attempt: Attempt::FIRST, nodes: 5 };
    world.says(worker, WorkerSays::Heartbeat(vec![foreign]));
    assert_eq!(world.lease_lost.len(), 3);
}

#[test]
fn a_job_waits_for_workers_and_ends_with_its_time() {
    let mut world = World::new();
    let limits = JobLimits { time: Some(Duration::from_secs(5)), ..JobLimits::default() };
    let job = world.submit(JobSpec { limits, ..start(9) });
    assert_eq!(world.states(job), [JobState::Waiting]);
    world.now += Duration::from_secs(7);
    world.step(Event::Tick);
    match &world.log(job).last().expect("events").event {
        JobEvent::Error(failure) => assert_eq!(failure.code, "unavailable"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_time_out_answers_with_the_last_completed_depth() {
    let mut world = World::new();
    let worker = world.join(1);
    let limits = JobLimits { time: Some(Duration::from_secs(5)), ..JobLimits::default() };
    let job = world.submit(JobSpec { limits, ..start(9) });
    while world.cluster.jobs[&job].depth() < 3 {
        let unit = world.running(worker).expect("work");
        world.finish(worker, &unit);
    }
    let unit = world.running(worker).expect("work");
    world.finish(worker, &unit);
    world.now += Duration::from_secs(5);
    world.step(Event::Tick);
    let done = world.done(job).expect("done");
    assert_eq!((done.depth, done.stopped_by), (3, StoppedBy::Time));
    assert!(done.lines.iter().all(|line| line.depth == 3));
    assert!(world.held[&worker].is_empty(), "what still ran was cancelled");
}

#[test]
fn node_limits_hold_and_travel_with_the_units() {
    let mut world = World::new();
    let worker = world.join(1);
    let limits = JobLimits { nodes: Some(10_000), ..JobLimits::default() };
    let job = world.submit(JobSpec { limits, ..start(9) });
    let first = world.running(worker).expect("work");
    assert_eq!(first.node_budget, None, "the first depth is always completed");
    let done = world.run(job);
    assert_eq!(done.stopped_by, StoppedBy::Nodes);
    assert!((10_000..10_200).contains(&done.nodes), "{}", done.nodes);
}

#[test]
fn a_cancel_answers_with_what_is_known() {
    let mut world = World::new();
    let worker = world.join(1);
    let job = world.submit(start(9));
    assert_eq!(world.ask(Question::Cancel(job)), Ok(Answer::Nothing));
    let done = world.done(job).expect("done");
    assert_eq!((done.best_move, done.depth, done.stopped_by), (None, 0, StoppedBy::Cancel));
    assert!(world.held[&worker].is_empty());
    assert_eq!(world.ask(Question::Cancel(job)), Ok(Answer::Nothing), "again is no fault");
    assert!(matches!(world.ask(Question::Cancel(JobId(77))), Err(Refusal::NotFound(_))));
}

#[test]
fn jobs_of_one_priority_share_the_work_alike_however_large_their_units_are() {
    let mut world = World::new();
    let worker = world.join(1);
    let openings = ["/ / e1 e9 / 10 10 / 1", "/ / d2 e8 / 10 10 / 1", "/ / e2 d8 / 10 10 / 1"];
    let jobs = openings.map(|position| world.submit(spec(position, 60)));
    let late = |world: &mut World| world.submit(spec("/ / c2 e8 / 10 10 / 1", 60));
    let cost = |job: JobId| if job == jobs[0] { 100_000 } else { 2_000 };
    let mut given: BTreeMap<JobId, u64> = BTreeMap::new();
    let mut work = |world: &mut World, units: usize| {
        given.clear();
        for _ in 0..units {
            let unit = world.running(worker).expect("work");
            let nodes = cost(unit.job);
            *given.entry(unit.job).or_default() += nodes;
            let report =
                UnitReport { nodes, search_time: Duration::from_micros(nodes), ..world.report_on(&unit) };
            world.held.get_mut(&worker).expect("connected").remove(&unit.unit);
            world.says(worker, WorkerSays::Report(report));
        }
        given.clone()
    };
    let shares = work(&mut world, 3_000);
    let even = shares.values().sum::<u64>() / 3;
    assert!(shares.len() == 3 && shares.values().all(|given| given.abs_diff(even) < 300_000), "{shares:?}");
    // A job that comes later has a second's lead, and does not get all that the others had before it.
    let late = late(&mut world);
    let shares = work(&mut world, 3_000);
    let most = shares.values().max().expect("work");
    assert!(shares[&late] < most + 1_500_000 && shares[&jobs[1]] > 500_000, "{shares:?}");
}

#[test]
fn the_clock_of_a_paused_job_stands_still() {
    let mut world = World::new();
    let worker = world.join(1);
    let limits = JobLimits { time: Some(Duration::from_secs(2)), ..JobLimits::default() };
    let job = world.submit(JobSpec { limits, ..start(60) });
    for _ in 0..40 {
        let unit = world.running(worker).expect("work");
        world.finish(worker, &unit);
    }
    world.ask(Question::Pause(job)).expect("paused");
    let paused_at = world.now;
    world.now += Duration::from_secs(3_600);
    world.step(Event::Tick);
    assert!(world.done(job).is_none(), "its time does not pass");
    // The other was silent for an hour.
    world.join(1);
    world.ask(Question::Resume(job)).expect("resumed");
    world.now += Duration::from_secs(2) - paused_at - Duration::from_millis(20);
    world.step(Event::Tick);
    assert!(world.done(job).is_none(), "it has its whole time");
    world.now += Duration::from_millis(40);
    world.step(Event::Tick);
    let done = world.done(job).expect("its time is up");
    assert_eq!(done.stopped_by, StoppedBy::Time);
    assert!(done.elapsed < Duration::from_millis(2_100), "{:?}", done.elapsed);
}

#[test]
fn pause_takes_units_back_and_resume_goes_on() {
    let mut world = World::new();
    let worker = world.join(1);
    let job = world.submit(start(3));
    assert_eq!(world.ask(Question::Pause(job)), Ok(Answer::Nothing));
    assert!(world.held[&worker].is_empty());
    assert_eq!(world.ask(Question::Resume(job)), Ok(Answer::Nothing));
    assert_eq!(world.run(job).depth, 3);
    assert_eq!(world.states(job), [JobState::Running, JobState::Paused, JobState::Running]);
    assert!(matches!(world.ask(Question::Pause(job)), Err(Refusal::Precondition(_))));
}

#[test]
fn an_unwatched_job_is_cancelled_unless_detached() {
    let mut world = World::new();
    world.join(1);
    let attached = world.submit(start(9));
    let detached = world.submit(JobSpec { detach: true, ..start(9) });
    for job in [attached, detached] {
        world.step(Event::Unwatch { watcher: WatcherId(job.0) });
    }
    for _ in 0..31 {
        world.now += Duration::from_secs(1);
        let held = world.held.values().flat_map(BTreeMap::values);
        let nodes = u64::try_from(world.now.as_millis()).expect("small");
        let beat = held.map(|unit| UnitProgress { unit: unit.unit, attempt: unit.attempt, nodes }).collect();
        world.says(WorkerId(1), WorkerSays::Heartbeat(beat));
    }
    assert_eq!(world.cluster.jobs[&attached].ledger.state, JobState::Done);
    assert!(!world.cluster.jobs[&detached].ledger.state.is_final());
}

#[test]
fn a_watcher_continues_from_a_cursor() {
    let mut world = World::new();
    world.join(1);
    let job = world.submit(start(2));
    world.run(job);
    let all = world.log(job).to_vec();
    let watcher = WatcherId(1_000);
    assert_eq!(world.ask(Question::Watch { job, watcher, after_seq: 10 }), Ok(Answer::Nothing));
    assert_eq!(world.events[&watcher], all[10..]);
    assert!(world.finished.contains(&watcher));
    let beyond = u64::try_from(all.len()).expect("small") + 1;
    let question = Question::Watch { job, watcher: WatcherId(1_001), after_seq: beyond };
    assert!(matches!(world.ask(question), Err(Refusal::Invalid(_))));
}

#[test]
fn finished_games_and_single_moves_answer_at_once() {
    let mut world = World::new();
    let over = world.submit(spec("/ / e9 e5 / 10 10 / 2", 9));
    let done = world.done(over).expect("at once");
    assert_eq!((done.best_move, done.lines.len()), (None, 0));
    assert_eq!(done.score_white, Some(WhiteScore::WhiteWinsIn(0)));

    world.join(1);
    let forced = world.submit(spec("/ a1 / a1 e9 / 0 0 / 1", 9));
    let done = world.run(forced);
    assert_eq!((done.best_move.map(|mv| mv.to_string()), done.depth), (Some("a2".to_owned()), 2));
}

#[test]
fn a_proven_win_ends_the_job() {
    let mut world = World::new();
    let worker = world.join(1);
    let job = world.submit(start(9));
    let unit = world.running(worker).expect("work");
    world.held.get_mut(&worker).expect("held").remove(&unit.unit);
    let turn = unit.turn();
    let report = UnitReport {
        score: Some((WhiteScore::from_engine(-win_in(8), turn), Bound::Exact)),
        ..world.report_on(&unit)
    };
    world.says(worker, WorkerSays::Report(report));
    let done = world.done(job).expect("done");
    assert_eq!((done.depth, done.stopped_by), (1, StoppedBy::Proof));
    // One ply more than the child's distance.
    assert_eq!(done.score_white, Some(WhiteScore::WhiteWinsIn(9)));
}

#[test]
fn a_loss_is_believed_only_when_every_move_was_tried() {
    let mut world = World::new();
    let worker = world.join(1);
    let job = world.submit(start(1));
    let mut searched = BTreeSet::new();
    while world.done(job).is_none() {
        let unit = world.running(worker).expect("work");
        searched.insert(unit.path[0]);
        world.held.get_mut(&worker).expect("held").remove(&unit.unit);
        let score = win_in(4);
        let window = world.windows.remove(&unit.unit).unwrap_or(unit.window).to_engine(unit.turn());
        let bound = Bound::of(score, window.alpha, window.beta).from_white(unit.turn());
        let report = UnitReport {
            score: Some((WhiteScore::from_engine(score, unit.turn()), bound)),
            ..world.report_on(&unit)
        };
        world.says(worker, WorkerSays::Report(report));
    }
    let done = world.done(job).expect("done");
    // A mirror image is known when its original is.
    let legal = Position::start().legal_moves();
    assert!(legal.iter().all(|mv| searched.contains(mv) || searched.contains(&mv.mirrored())));
    assert_eq!(done.stopped_by, StoppedBy::Proof);
    assert_eq!(done.score_white, Some(WhiteScore::BlackWinsIn(5)));
    assert!(legal.len() == done.lines.len() && MAX_CM < win_in(5));
}

#[test]
fn a_unit_that_fails_everywhere_fails_its_job() {
    let mut world = World::new();
    let worker = world.join(1);
    let job = world.submit(start(2));
    let unit = world.running(worker).expect("work").unit;
    for attempt in 1..=limits::MAX_UNIT_FAILURES {
        world.held.get_mut(&worker).expect("held").remove(&unit);
        let says = WorkerSays::Failed { unit, attempt: Attempt(attempt), message: "panicked".to_owned() };
        world.says(worker, says);
    }
    match &world.log(job).last().expect("events").event {
        JobEvent::Error(failure) => {
            assert_eq!(failure.code, "internal");
            assert!(failure.message.contains("panicked"), "{}", failure.message);
        }
        other => panic!("{other:?}"),
    }
    assert!(world.cluster.fleet.worker(worker).is_some(), "the worker stays");
}

#[test]
fn units_that_always_come_back_unfinished_end_their_job() {
    let mut world = World::new();
    let worker = world.join(1);
    let job = world.submit(start(2));
    let unit = world.running(worker).expect("work");
    for attempt in 1..=limits::MAX_UNIT_FAILURES {
        let unit = world.held[&worker][&unit.unit].clone();
        assert_eq!(unit.attempt, Attempt(attempt));
        world.held.get_mut(&worker).expect("held").remove(&unit.unit);
        let report = UnitReport { score: None, completed: false, ..world.report_on(&unit) };
        world.says(worker, WorkerSays::Report(report));
    }
    assert!(matches!(world.log(job).last().expect("events").event, JobEvent::Error(_)));
}

/// The text of the last state that a job's watcher was told.
fn last_reason(world: &World, job: JobId) -> String {
    let reason = |record: &Arc<EventRecord>| match &record.event {
        JobEvent::State(change) => Some(change.reason.clone()),
        _ => None,
    };
    world.log(job).iter().rev().find_map(reason).expect("a state")
}

#[test]
fn a_unit_that_kills_workers_parks_its_job_until_somebody_resumes_it() {
    let mut world = World::new();
    let job = world.submit(start(3));
    let mut victim = None;
    for _ in 0..limits::UNIT_DEATHS {
        assert_ne!(world.states(job).last(), Some(&JobState::Parked));
        let worker = world.join(1);
        let unit = world.running(worker).expect("a unit");
        assert!(victim.replace(unit.path.clone()).is_none_or(|path| path == unit.path), "another unit");
        world.broken(worker);
    }
    assert_eq!(world.states(job).last(), Some(&JobState::Parked));
    let reason = last_reason(&world, job);
    let line = victim.expect("a unit")[0].to_string();
    assert!(reason.contains(&format!("3 workers died over the unit '{line}'")), "{reason}");
    let idle = world.join(2);
    assert!(world.held[&idle].is_empty(), "a parked job runs");
    assert_eq!(world.ask(Question::Resume(job)), Ok(Answer::Nothing));
    assert!(!world.held[&idle].is_empty());
    // It begins to count again, and gets its answer if the next try goes well.
    world.broken(idle);
    world.join(1);
    assert_eq!(world.run(job).depth, 3);
}

#[test]
fn a_parked_job_is_parked_still_when_another_coordinator_goes_on_with_it() {
    let mut world = World::new();
    let job = world.submit(JobSpec { detach: true, ..start(3) });
    for _ in 0..limits::UNIT_DEATHS {
        let worker = world.join(1);
        world.broken(worker);
    }
    let (reason, parked) = (last_reason(&world, job), &world.cluster.jobs[&job]);
    let kept = KeptJob {
        job,
        spec: parked.spec.clone(),
        standing: parked.standing(world.now),
        events: world.log(job).to_vec(),
    };
    let events = kept.events.clone();
    let mut next = World::new();
    let kept = Kept { jobs: vec![kept], last_job: job.0, ..Kept::default() };
    next.cluster.restore(next.now, kept, &mut Vec::new());
    let idle = next.join(1);
    assert!(next.held[&idle].is_empty(), "a parked job runs");
    let summary = next.cluster.jobs[&job].summary(next.now);
    assert_eq!((summary.state, summary.reason), (JobState::Parked, reason));
    assert_eq!(summary.last_seq, events.last().expect("events").seq, "nothing is told twice");
    assert_eq!(next.ask(Question::Resume(job)), Ok(Answer::Nothing));
    assert!(!next.held[&idle].is_empty());
}

#[test]
fn freezes_drains_and_lost_lines_are_no_deaths() {
    let mut world = World::new();
    let job = world.submit(start(3));
    for _ in 0..2 * limits::UNIT_DEATHS {
        let frozen = world.join(1);
        world.now += LEASE;
        world.step(Event::Tick);
        assert!(world.cluster.fleet.worker(frozen).is_none());
        let drained = world.join(1);
        world.says(drained, WorkerSays::Draining);
        world.broken(drained);
        let cut_off = world.try_join("again", 1_000_000, 1).expect("accepted");
        assert!(world.running(cut_off).is_some());
        world.broken(cut_off);
    }
    assert!(!world.states(job).contains(&JobState::Parked));
    // Of three that break off in a row the last is one too many, until one of them is back.
    let workers: Vec<WorkerId> = (1..=2)
        .map(|instance| {
            let worker = world.try_join("again", instance, 1).expect("accepted");
            world.broken(worker);
            worker
        })
        .collect();
    assert_eq!(workers.len(), 2);
    assert_eq!(world.states(job).last(), Some(&JobState::Parked));
    world.try_join("again", 1, 1).expect("accepted");
    assert_eq!(world.states(job).last(), Some(&JobState::Running));
    assert_eq!(world.run(job).depth, 3);
}

#[test]
fn a_unit_that_was_searched_has_killed_nobody() {
    let mut world = World::new();
    let job = world.submit(start(3));
    for _ in 1..limits::UNIT_DEATHS {
        let victim = world.join(1);
        world.broken(victim);
    }
    assert_eq!(world.cluster.deaths.most(job), 2);
    let good = world.join(1);
    let unit = world.running(good).expect("a unit");
    world.finish(good, &unit);
    assert_eq!(world.cluster.deaths.most(job), 0);
    assert_eq!(world.run(job).depth, 3);
    assert!(!world.states(job).contains(&JobState::Parked));
}

#[test]
fn names_are_unique_but_a_process_may_come_back() {
    let mut world = World::new();
    let first = world.try_join("a", 1, 1).expect("accepted");
    world.now += LEASE / 5;
    match world.try_join("a", 2, 1) {
        Err(Refusal::AlreadyExists(text)) => {
            assert!(text.starts_with("name: a worker named 'a' is"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    // A process that was started anew need not wait for the lease of one that has fallen silent.
    world.says(first, WorkerSays::Heartbeat(Vec::new()));
    world.now += 3 * LEASE / 10;
    let second = world.try_join("a", 2, 1).expect("the old one is dead");
    assert!(world.cluster.fleet.worker(first).is_none());
    world.gone(second);
    let first = world.try_join("a", 1, 1).expect("accepted");
    let again = world.try_join("a", 1, 1).expect("the same process");
    assert!(world.cluster.fleet.worker(first).is_none());
    assert!(world.cluster.fleet.worker(again).is_some());
    let registration = Registration {
        name: "b".to_owned(),
        instance: 1,
        engine_epoch: "other".to_owned(),
        slots: 1,
        table_bytes: 0,
    };
    match world.ask(Question::Register { worker: WorkerId(99), registration }) {
        Err(Refusal::Precondition(text)) => {
            assert!(text.contains("'other'") && text.contains(ENGINE_EPOCH), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_idle_worker_takes_over_what_waits_elsewhere() {
    let mut world = World::new();
    let first = world.join(1);
    let job = world.submit(start(1));
    // Until the first has the last two units: one runs, one waits.
    loop {
        let unit = world.running(first).expect("work");
        world.finish(first, &unit);
        if world.cluster.jobs[&job].plan.next_task(first, Class::Likely).is_none()
            && world.held[&first].len() == 2
        {
            break;
        }
    }
    let second = world.join(1);
    assert_eq!((world.held[&first].len(), world.held[&second].len()), (1, 1));
    let moved = world.running(second).expect("work");
    assert_eq!(moved.attempt, Attempt(2));
    assert_eq!(world.run(job).depth, 1);
}

#[test]
fn excessive_jobs_are_refused_by_name() {
    let mut world = World::new();
    let refused = |world: &mut World, spec: JobSpec| {
        world
            .ask(Question::Submit { spec: Box::new(spec), watcher: None, known: None })
            .expect_err("refused")
            .to_string()
    };
    assert!(refused(&mut world, JobSpec { multipv: 999, ..start(1) }).contains("max_multipv"));
    for _ in 0..limits::MAX_OPEN_JOBS {
        let spec = Box::new(JobSpec { prune: RootPrune::Cat, ..start(1) });
        let watcher = None;
        let mut effects = Vec::new();
        let question = Question::Submit { spec, watcher, known: None };
        world.cluster.step(world.now, Event::Ask { ticket: Ticket(0), question }, &mut effects);
    }
    assert!(refused(&mut world, start(1)).contains("max_open_jobs"));
}

/// Something that a test lets happen.
#[derive(Copy, Clone, Debug)]
enum Happens {
    Join { slots: u32 },
    Gone { worker: usize },
    Drain { worker: usize },
    Finish { worker: usize, unit: usize },
    HandBack { worker: usize, unit: usize },
    Fail { worker: usize, unit: usize },
    Repeat { worker: usize },
    Heartbeat { worker: usize, nodes: u64 },
    Wait { ms: u64 },
    Submit { depth: u8, multipv: u16, priority: i32 },
    Pause { job: u64 },
    Resume { job: u64 },
    Cancel { job: u64 },
}

fn happens() -> impl Strategy<Value = Happens> {
    let worker = 0..6_usize;
    let unit = 0..4_usize;
    prop_oneof![
        2 => (1..4_u32).prop_map(|slots| Happens::Join { slots }),
        1 => worker.clone().prop_map(|worker| Happens::Gone { worker }),
        1 => worker.clone().prop_map(|worker| Happens::Drain { worker }),
        30 => (worker.clone(), unit.clone()).prop_map(|(worker, unit)| Happens::Finish { worker, unit }),
        2 => (worker.clone(), unit.clone()).prop_map(|(worker, unit)| Happens::HandBack { worker, unit }),
        1 => (worker.clone(), unit).prop_map(|(worker, unit)| Happens::Fail { worker, unit }),
        2 => worker.clone().prop_map(|worker| Happens::Repeat { worker }),
        3 => (worker, 0..9_000_u64).prop_map(|(worker, nodes)| Happens::Heartbeat { worker, nodes }),
        1 => (1..12_000_u64).prop_map(|ms| Happens::Wait { ms }),
        2 => (1..6_u8, 1..4_u16, -1..2_i32)
            .prop_map(|(depth, multipv, priority)| Happens::Submit { depth, multipv, priority }),
        1 => (1..5_u64).prop_map(|job| Happens::Pause { job }),
        1 => (1..5_u64).prop_map(|job| Happens::Resume { job }),
        1 => (1..5_u64).prop_map(|job| Happens::Cancel { job }),
    ]
}

impl World {
    fn nth_worker(&self, index: usize) -> Option<WorkerId> {
        self.held.keys().copied().nth(index)
    }

    fn nth_unit(&self, worker: usize, unit: usize) -> Option<(WorkerId, Unit)> {
        let worker = self.nth_worker(worker)?;
        Some((worker, self.held[&worker].values().nth(unit)?.clone()))
    }

    fn happen(&mut self, happens: Happens, old: &mut Vec<UnitReport>) -> Option<()> {
        match happens {
            Happens::Join { slots } => {
                self.join(slots);
            }
            Happens::Gone { worker } => self.gone(self.nth_worker(worker)?),
            Happens::Drain { worker } => self.says(self.nth_worker(worker)?, WorkerSays::Draining),
            Happens::Finish { worker, unit } => {
                let (worker, unit) = self.nth_unit(worker, unit)?;
                old.push(self.report_on(&unit));
                self.finish(worker, &unit);
            }
            Happens::HandBack { worker, unit } => {
                let (worker, unit) = self.nth_unit(worker, unit)?;
                let report = UnitReport { score: None, completed: false, ..self.report_on(&unit) };
                self.held.get_mut(&worker)?.remove(&unit.unit);
                self.says(worker, WorkerSays::Report(report));
            }
            Happens::Fail { worker, unit } => {
                let (worker, unit) = self.nth_unit(worker, unit)?;
                self.held.get_mut(&worker)?.remove(&unit.unit);
                let (unit, attempt) = (unit.unit, unit.attempt);
                self.says(worker, WorkerSays::Failed { unit, attempt, message: "test".to_owned() });
            }
            Happens::Repeat { worker } => {
                self.says(self.nth_worker(worker)?, WorkerSays::Report(old.last()?.clone()));
            }
            Happens::Heartbeat { worker, nodes } => {
                let worker = self.nth_worker(worker)?;
                let progress = |unit: &Unit| UnitProgress { unit: unit.unit, attempt: unit.attempt, nodes };
                let beat = self.held[&worker].values().map(progress).collect();
                self.says(worker, WorkerSays::Heartbeat(beat));
            }
            Happens::Wait { ms } => {
                self.now += Duration::from_millis(ms);
                self.step(Event::Tick);
            }
            Happens::Submit { depth, multipv, priority } => {
                self.submit(JobSpec { multipv, priority, detach: true, ..start(depth) });
            }
            Happens::Pause { job } => drop(self.ask(Question::Pause(JobId(job)))),
            Happens::Resume { job } => drop(self.ask(Question::Resume(JobId(job)))),
            Happens::Cancel { job } => drop(self.ask(Question::Cancel(JobId(job)))),
        }
        Some(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever happens, the invariants of [`World::check`] hold, and with one healthy worker every job ends, with the
    /// score that a full look at every move gives.
    #[test]
    fn whatever_happens_every_job_ends_right(events in prop::collection::vec(happens(), 1..400)) {
        let mut world = World::new();
        world.submit(JobSpec { detach: true, ..start(5) });
        let mut old = Vec::new();
        for event in events {
            let _ = world.happen(event, &mut old);
        }
        let workers: Vec<WorkerId> = world.held.keys().copied().collect();
        for worker in workers {
            world.gone(worker);
        }
        world.join(2);
        let jobs: Vec<JobId> = world.cluster.jobs.keys().copied().collect();
        for job in jobs {
            let _ = world.ask(Question::Resume(job));
            let failed = world.cluster.jobs[&job].ledger.state == JobState::Failed;
            if !failed {
                let done = world.run(job);
                if done.stopped_by == StoppedBy::Depth {
                    prop_assert_eq!(done.score_white, Some(WhiteScore::Cm(best_score(Position::start(), &done, done.depth))));
                }
            }
        }
    }
}

#[test]
fn a_job_ends_once_when_two_limits_are_reached_at_once() {
    let run = |nodes| {
        let mut world = World::new();
        world.join(1);
        let limits = JobLimits { depth: Some(3), nodes: Some(nodes), ..JobLimits::default() };
        let job = world.submit(JobSpec { limits, ..start(3) });
        let done = world.run(job);
        assert_eq!(
            world.cluster.jobs[&job].ledger.events().len(),
            world.log(job).len(),
            "an event after the last one"
        );
        done
    };
    let nodes = run(1_000_000).nodes;
    let done = run(nodes);
    assert_eq!((done.depth, done.nodes, done.stopped_by), (3, nodes, StoppedBy::Depth));
}

#[test]
fn figures_tell_who_waits_and_what_has_expired() {
    let mut world = World::new();
    // Each step of this world takes a millisecond.
    let waiting = |world: &World| -> Vec<(i32, u64)> {
        let ages = world.cluster.figures(world.now).waiting;
        ages.into_iter().map(|(priority, age)| (priority, age.as_secs())).collect()
    };
    let first = world.submit(JobSpec { priority: 3, ..start(3) });
    world.now += Duration::from_secs(7);
    world.submit(start(3));
    world.now += Duration::from_secs(2);
    assert_eq!(waiting(&world), [(0, 2), (3, 9)], "nobody works");
    world.join(1);
    // One is served, and a unit of the other one waits at the worker.
    assert_eq!(waiting(&world), []);
    let figures = world.cluster.figures(world.now);
    assert_eq!((figures.counted.granted, figures.workers), (figures.leases, 1));
    assert_eq!(figures.jobs, BTreeMap::from([("running", 2)]));
    // It says nothing for a whole lease.
    world.now += LEASE;
    world.step(Event::Tick);
    let after = world.cluster.figures(world.now);
    assert_eq!((after.leases, after.workers, after.counted.workers_left), (0, 0, 1));
    assert_eq!(after.counted.ended, Ended { expired: figures.leases, ..Ended::default() });
    assert_eq!(waiting(&world), [(0, 0), (3, 0)], "both were served until now");
    assert_eq!(world.ask(Question::Cancel(first)), Ok(Answer::Nothing));
    assert_eq!(world.cluster.figures(world.now).counted.jobs_ended, 1);
}

#[test]
fn an_ended_job_keeps_its_events_and_no_tree() {
    let mut world = World::new();
    world.join(1);
    let job = world.submit(start(3));
    let done = world.run(job);
    assert!(world.cluster.jobs[&job].plan.candidates().is_empty());
    assert!(done.lines.len() > 10);
    assert_eq!(world.ask(Question::Cancel(job)), Ok(Answer::Nothing), "again is no fault");
    let events = world.log(job).len();
    let watch = Question::Watch { job, watcher: WatcherId(99), after_seq: 0 };
    assert_eq!(world.ask(watch), Ok(Answer::Nothing));
    assert_eq!(world.events[&WatcherId(99)].len(), events);
}

/// An ended job of an earlier coordinator.
fn kept(job: u64, events: usize) -> KeptJob {
    let change = |state, seq| {
        let reason = String::new();
        let event = JobEvent::State(corridor_shared::job::StateChange { state, reason });
        Arc::new(EventRecord { seq, event })
    };
    KeptJob {
        job: JobId(job),
        spec: start(3),
        standing: Standing {
            state: JobState::Done,
            paused: false,
            nodes: 0,
            elapsed: Duration::ZERO,
            iteration: None,
        },
        events: (1..).take(events).map(|seq| change(JobState::Queued, seq)).collect(),
    }
}

#[test]
fn the_oldest_ended_jobs_are_forgotten_when_all_have_too_many_events() {
    let mut world = World::new();
    let mut effects = Vec::new();
    let jobs = vec![kept(1, 100), kept(2, 65_000), kept(3, 65_900)];
    let kept = Kept { jobs, last_job: 3, ..Kept::default() };
    world.cluster.restore(Duration::ZERO, kept, &mut effects);
    assert!(effects.is_empty(), "131,000 are not too many");
    let forgotten = |effects: &[Effect]| -> Vec<u64> {
        let job = |effect: &Effect| match effect {
            Effect::Keep(Keep::Forget { job }) => Some(job.0),
            _ => None,
        };
        effects.iter().filter_map(job).collect()
    };
    let job = world.submit(JobSpec { prune: RootPrune::None, ..start(3) });
    let question = Question::Cancel(job);
    world.cluster.step(Duration::from_secs(1), Event::Ask { ticket: Ticket(9), question }, &mut effects);
    // Some 136 events more: the first job's make room for them.
    assert_eq!(forgotten(&effects), [1]);
    assert!(matches!(world.ask(Question::Get(JobId(1))), Err(Refusal::NotFound(_))));
    assert!(world.ask(Question::Get(JobId(2))).is_ok());
}
