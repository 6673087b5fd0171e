//! The splitting planner against the real search, under schedules that nobody would wish for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use corridor_shared::board::Position;
use corridor_shared::job::{
    AuditReport, DoneReport, JobEvent, JobSpec, Registration, RootPrune, ShedNode, Unit, UnitProgress,
    UnitReport,
};
use corridor_shared::score::WhiteScore;
use corridor_shared::search::{Directive, SearchHandler, Searcher, UnitSpec};
use corridor_shared::tt::TranspositionTable;
use proptest::prelude::*;

use super::*;

/// A middle game with few walls left: deep searches are small.
const POSITION: &str = "a3c5f3h3 / d4f6 / e4 e7 / 2 2 / 1";

fn table() -> Arc<TranspositionTable> {
    Arc::new(TranspositionTable::new(1 << 20).expect("a table"))
}

fn spec(depth: u8, deterministic: bool) -> JobSpec {
    let spec = JobSpec::new(POSITION.parse().expect("a position")).to_depth(depth);
    JobSpec { deterministic, detach: true, ..spec }
}

/// Sheds after some polls.
struct Sheds(u32);

impl SearchHandler for Sheds {
    fn poll(&mut self, _nodes: u64) -> Directive {
        match self.0.checked_sub(1) {
            Some(left) => {
                self.0 = left;
                Directive::Continue
            }
            None => Directive::Shed,
        }
    }
}

/// Searches a unit as a worker does.
fn search(searcher: &mut Searcher, unit: &Unit, polls: u32) -> UnitReport {
    let mut own = unit.deterministic.then(|| Searcher::new(table()));
    let searcher = own.as_mut().unwrap_or(searcher);
    let turn = unit.turn();
    let spec = UnitSpec {
        depth: unit.depth,
        window: unit.window.to_engine(turn),
        prune: unit.prune,
        node_budget: unit.node_budget,
        hint: &unit.pv_hint,
    };
    let found = searcher.search_unit(&unit.root, &unit.path, &spec, &mut Sheds(polls));
    let mut at = turn;
    let mut open = Vec::new();
    for node in found.open {
        let done = node
            .done
            .iter()
            .map(|&(mv, score, bound)| (mv, WhiteScore::from_engine(score, at), bound.from_white(at)));
        open.push(ShedNode { current: node.current, done: done.collect() });
        at = !at;
    }
    let score = (WhiteScore::from_engine(found.score, turn), found.bound.from_white(turn));
    UnitReport {
        unit: unit.unit,
        attempt: unit.attempt,
        score: found.completed.then_some(score),
        pv: found.pv,
        nodes: found.nodes,
        completed: found.completed,
        search_time: Duration::from_micros(found.nodes),
        open,
        path_dependent: found.path_dependent,
        lines: Vec::new(),
    }
}

struct Hand {
    searcher: Searcher,
    units: Vec<Unit>,
    /// Units that are to be shed.
    shed: Vec<UnitId>,
}

/// A cluster with real searches.
struct Lab {
    cluster: Cluster,
    now: Duration,
    hands: BTreeMap<WorkerId, Hand>,
    last_worker: u64,
    done: Option<DoneReport>,
    audits: Vec<AuditReport>,
    /// Reports that were delivered, to be delivered again.
    old: Vec<(WorkerId, UnitReport)>,
    shed: usize,
    deepest_path: usize,
}

impl Lab {
    fn new(spec: JobSpec) -> Self {
        Self::with_tree(spec, Config::default().tree_nodes)
    }

    /// With room for so many nodes.
    fn with_tree(spec: JobSpec, tree_nodes: usize) -> Self {
        let config = Config { smallest_unit: Duration::ZERO, tree_nodes, ..Config::default() };
        let mut lab = Self {
            cluster: Cluster::new(config),
            now: Duration::ZERO,
            hands: BTreeMap::new(),
            last_worker: 0,
            done: None,
            audits: Vec::new(),
            old: Vec::new(),
            shed: 0,
            deepest_path: 0,
        };
        let question = Question::Submit { spec: Box::new(spec), watcher: Some(WatcherId(1)), known: None };
        lab.step(Event::Ask { ticket: Ticket(1), question });
        lab
    }

    fn step(&mut self, event: Event) {
        self.take(event);
        self.settle();
    }

    fn take(&mut self, event: Event) {
        self.now += Duration::from_micros(200);
        let mut effects = Vec::new();
        self.cluster.take(self.now, event, &mut effects);
        self.carry_out(effects);
    }

    /// Draws the conclusions from all that was taken.
    fn settle(&mut self) {
        let mut effects = Vec::new();
        self.cluster.settle(self.now, &mut effects);
        self.carry_out(effects);
        self.check();
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Send { worker, command } => self.told(worker, command),
                Effect::Disconnect { worker, .. } => drop(self.hands.remove(&worker)),
                Effect::Deliver { records, .. } => {
                    for record in records {
                        match &record.event {
                            JobEvent::Done(done) => self.done = Some(done.clone()),
                            JobEvent::Audit(audit) => self.audits.push(audit.clone()),
                            JobEvent::Error(failure) => panic!("{failure:?}"),
                            _ => {}
                        }
                    }
                }
                Effect::Answer { .. } | Effect::Finish { .. } | Effect::Share { .. } | Effect::Keep(_) => {}
            }
        }
    }

    fn told(&mut self, worker: WorkerId, command: Command) {
        let Some(hand) = self.hands.get_mut(&worker) else { return };
        match command {
            Command::Grant(unit) => {
                self.deepest_path = self.deepest_path.max(unit.path.len());
                hand.units.push(*unit);
            }
            Command::Window { unit, window, .. } => {
                for held in hand.units.iter_mut().filter(|held| held.unit == unit) {
                    assert!(!held.deterministic, "what it has searched so far depends on the schedule");
                    held.window = window;
                }
            }
            Command::Cancel { unit, .. } => hand.units.retain(|held| held.unit != unit),
            Command::Shed { unit, .. } => hand.shed.push(unit),
            Command::LeaseLost { .. } => {}
        }
    }

    /// Each unit that the plan has given away is leased to one worker and in its hands, and nowhere else; nothing that is
    /// leased stands ready as well.
    fn check(&self) {
        let mut held: Vec<UnitId> =
            self.hands.values().flat_map(|hand| &hand.units).map(|unit| unit.unit).collect();
        held.sort();
        let leased: Vec<UnitId> = self.cluster.fleet.leases().map(|lease| lease.unit.unit).collect();
        assert_eq!(held, leased, "the workers' units and the leases");
        for job in self.cluster.jobs.values() {
            let planned: Vec<UnitId> = job.plan.leased_units().collect();
            assert_eq!(planned, leased, "the plan's leases");
            job.plan.check();
        }
    }

    fn join(&mut self) {
        self.last_worker += 1;
        let worker = WorkerId(self.last_worker);
        let hand = Hand { searcher: Searcher::new(table()), units: Vec::new(), shed: Vec::new() };
        self.hands.insert(worker, hand);
        let registration = Registration {
            name: format!("w{worker}"),
            instance: self.last_worker,
            engine_epoch: ENGINE_EPOCH.to_owned(),
            slots: 1,
            table_bytes: 1 << 20,
        };
        let ticket = Ticket(100 + self.last_worker);
        self.step(Event::Ask { ticket, question: Question::Register { worker, registration } });
    }

    fn says(&mut self, worker: WorkerId, says: WorkerSays) {
        self.step(Event::Worker { worker, says });
    }

    /// All workers say that they live, and have begun their first units.
    fn all_alive(&mut self) {
        let workers: Vec<WorkerId> = self.hands.keys().copied().collect();
        for worker in workers {
            let begun = self.hands.get(&worker).and_then(|hand| hand.units.first());
            let progress =
                begun.map(|unit| UnitProgress { unit: unit.unit, attempt: unit.attempt, nodes: 7_000 });
            self.says(worker, WorkerSays::Heartbeat(progress.into_iter().collect()));
        }
    }

    /// Lets a worker search one of its units and report.
    fn work(&mut self, index: usize, pick: usize) {
        self.report(index, pick);
        self.settle();
    }

    /// The same, and nobody looks at it yet.
    fn report(&mut self, index: usize, pick: usize) {
        let count = self.hands.len().max(1);
        let Some((&worker, hand)) = self.hands.iter_mut().nth(index % count) else { return };
        if hand.units.is_empty() {
            return;
        }
        let unit = hand.units.remove(pick % hand.units.len());
        let polls = if hand.shed.contains(&unit.unit) { 0 } else { u32::MAX };
        let report = search(&mut hand.searcher, &unit, polls);
        self.shed += usize::from(!report.open.is_empty());
        self.old.push((worker, report.clone()));
        self.take(Event::Worker { worker, says: WorkerSays::Report(report) });
    }

    fn finish(mut self) -> Self {
        for round in 0..200_000 {
            if self.done.is_some() {
                return self;
            }
            if self.hands.is_empty() {
                self.join();
            }
            self.work(round, 0);
            if round % 7 == 0 {
                self.step(Event::Tick);
            }
        }
        panic!("the job does not end");
    }

    /// What is not a matter of the schedule.
    fn answer(&self) -> DoneReport {
        let done = self.done.clone().expect("done");
        DoneReport { elapsed: Duration::ZERO, ..done }
    }
}

/// Something that a schedule lets happen.
fn happen(lab: &mut Lab, what: u8, which: usize) {
    match what {
        0 => lab.join(),
        1 => {
            if let Some(&worker) = lab.hands.keys().nth(which % lab.hands.len().max(1)) {
                lab.hands.remove(&worker);
                lab.says(worker, WorkerSays::Gone { reason: "test".to_owned() });
            }
        }
        2 => {
            if let Some((worker, report)) = lab.old.get(which % lab.old.len().max(1)).cloned() {
                lab.says(worker, WorkerSays::Report(report));
            }
        }
        3 => {
            // Whatever runs may be late now.
            lab.now += Duration::from_millis(u64::try_from(which).expect("small"));
            lab.step(Event::Tick);
        }
        4..7 => lab.report(which, which / 7),
        _ => lab.work(which, which / 7),
    }
}

fn undisturbed(spec: JobSpec) -> DoneReport {
    let mut lab = Lab::new(spec);
    lab.join();
    lab.finish().answer()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Losses, repeated results and new workers in any order change neither score nor line nor node count.
    #[test]
    fn a_deterministic_answer_depends_on_no_schedule(
        events in prop::collection::vec((0..12_u8, 0..1_000_usize), 0..300),
        workers in 1..5_usize,
    ) {
        let expected = undisturbed(spec(8, true));
        let mut lab = Lab::new(spec(8, true));
        for _ in 0..workers {
            lab.join();
        }
        for (what, which) in events {
            if lab.done.is_none() {
                happen(&mut lab, what, which);
            }
        }
        let lab = lab.finish();
        prop_assert_eq!(lab.answer(), expected);
        prop_assert!(lab.deepest_path >= 3, "the principal variation is split");
    }

    /// With everything split as finely as it goes, and room for a large tree or for next to none, the job ends at its depth,
    /// with lines that can be played.
    #[test]
    fn fine_splitting_survives_any_schedule(
        events in prop::collection::vec((0..12_u8, 0..1_000_usize), 0..400),
        workers in 2..7_usize,
        room in prop_oneof![Just(Config::default().tree_nodes), 1..2_000_usize],
    ) {
        let mut lab = Lab::with_tree(spec(8, false), room);
        for _ in 0..workers {
            lab.join();
        }
        for (what, which) in events {
            if lab.done.is_none() {
                happen(&mut lab, what, which);
            }
        }
        let done = lab.finish().answer();
        prop_assert_eq!(done.depth, 8);
        for line in &done.lines {
            let mut position: Position = POSITION.parse().expect("a position");
            for &mv in &line.pv {
                position = position.play(mv).map_err(|fault| TestCaseError::fail(fault.to_string()))?;
            }
        }
    }
}

#[test]
fn splitting_reaches_below_the_root_and_large_units_shed() {
    let mut lab = Lab::new(spec(10, false));
    for _ in 0..8 {
        lab.join();
    }
    let lab = lab.finish();
    assert!(lab.deepest_path > 3, "units {} plies deep", lab.deepest_path);
}

#[test]
fn a_shed_unit_goes_on_where_it_was() {
    let mut lab = Lab::new(spec(9, false));
    lab.join();
    lab.join();
    // Everything is shed at the first poll, as long as that is possible.
    for round in 0..100_000 {
        if lab.done.is_some() {
            break;
        }
        let large: Vec<(WorkerId, UnitId)> = lab
            .hands
            .iter()
            .flat_map(|(&worker, hand)| hand.units.iter().map(move |unit| (worker, unit.unit)))
            .collect();
        for (worker, unit) in large {
            if let Some(lease) = lab.cluster.fleet.lease_mut(unit).filter(|lease| lease.unit.depth >= 6) {
                lease.shedding = true;
                if let Some(hand) = lab.hands.get_mut(&worker) {
                    hand.shed.push(unit);
                }
            }
        }
        lab.work(round, 0);
    }
    assert!(lab.shed > 0, "nothing was large enough");
    assert_eq!(lab.answer().depth, 9);
}

#[test]
fn a_straggler_is_duplicated_and_the_first_result_wins() {
    for deterministic in [false, true] {
        let mut lab = Lab::new(spec(6, deterministic));
        lab.join();
        lab.join();
        let frozen = WorkerId(1);
        for _ in 0..20_000 {
            if lab.done.is_some() {
                break;
            }
            lab.now += Duration::from_millis(20);
            lab.step(Event::Tick);
            // The frozen one lives too, but its searches stand still after their first steps.
            lab.all_alive();
            let alive = lab.hands.keys().position(|&worker| worker != frozen).expect("alive");
            lab.work(alive, 0);
        }
        let expected = undisturbed(spec(6, deterministic));
        let done = lab.answer();
        assert_eq!((done.depth, lab.hands.len()), (6, 2));
        if deterministic {
            assert_eq!(done, expected);
        }
    }
}

/// Some workers are slow, so that others get the same units; whoever is first, each search counts once and as it was asked for.
#[test]
fn duplicates_of_a_deterministic_unit_change_nothing() {
    let expected = undisturbed(spec(8, true));
    let mut duplicates = 0;
    for seed in 1..=20_u64 {
        let mut lab = Lab::new(spec(8, true));
        for _ in 0..3 {
            lab.join();
        }
        let mut random = seed;
        while lab.done.is_none() {
            // Marsaglia's xorshift64.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            lab.now += Duration::from_millis(random % 400);
            lab.all_alive();
            lab.step(Event::Tick);
            let mut nodes: Vec<_> =
                lab.hands.values().flat_map(|hand| &hand.units).map(|unit| &unit.path).collect();
            let count = nodes.len();
            nodes.sort();
            nodes.dedup();
            duplicates += count - nodes.len();
            // Every second time the last one, who is slow therefore.
            lab.work(usize::try_from((random >> 20) % 5 / 2).expect("small"), 0);
        }
        assert_eq!(lab.answer(), expected, "seed {seed}");
    }
    assert!(duplicates > 0, "nobody was slow enough");
}

#[test]
fn an_audit_checks_every_pruned_move_against_the_best() {
    for deterministic in [false, true] {
        let mut lab = Lab::new(JobSpec { prune: RootPrune::Audit, ..spec(5, deterministic) });
        lab.join();
        lab.join();
        let lab = lab.finish();
        let position: Position = POSITION.parse().expect("a position");
        let pruned = corridor_shared::cat::collect_search_moves(&position).pruned;
        assert!(!pruned.is_empty());
        let mut audited: Vec<_> = lab.audits.iter().map(|audit| audit.mv).collect();
        audited.sort();
        let mut expected: Vec<_> = pruned.iter().map(|verdict| verdict.mv).collect();
        expected.sort();
        assert_eq!(audited, expected, "each pruned move once");
        let best = lab.answer().score_white.expect("a score").to_engine(position.turn());
        for audit in &lab.audits {
            assert_eq!(audit.miss, audit.score_white.to_engine(position.turn()) > best, "{audit:?}");
            assert!(!audit.reason.is_empty());
        }
    }
}
