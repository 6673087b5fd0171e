//! One job: what was asked, where it stands, its events and who watches them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use corridor_shared::board::{Color, Move, Position};
use corridor_shared::cat::{self, Reason, Verdict};
use corridor_shared::job::{
    Accepted, AuditReport, BoardHeat, DoneReport, EventRecord, Failure, IterationReport, JobEvent, JobId,
    JobSpec, JobState, JobSummary, Line, MAX_DEPTH, MoveHeat, RootPrune, StateChange, StoppedBy,
};
use corridor_shared::score::WhiteScore;
use corridor_shared::search::PruneMode;

use super::merge;
use super::messages::{Effect, Iteration, Keep, Standing, WatcherId};
use super::plan::{Manner, Plan, RootMove};
use super::restore::KeptJob;
use crate::limits::{DEFAULT_TIME, FIRST_DEPTH_GRACE, UNWATCHED_TIME};

/// Plies searched when there is but one legal move: enough for a pawn race to be scored exactly.
const FORCED_DEPTH: u8 = 2;

/// The reason that a client's pause is given.
pub(crate) const PAUSED_BY_CLIENT: &str = "paused by a client";

/// A job, from its acceptance to the day it is forgotten.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) id: JobId,
    pub(crate) spec: JobSpec,
    pub(crate) state: JobState,
    pub(crate) plan: Plan,
    /// Nodes of its tree when it was last looked at.
    pub(crate) tree_nodes: usize,
    /// Positions visited by units that have ended.
    pub(crate) nodes: u64,
    pub(crate) watchers: BTreeSet<WatcherId>,
    /// Held by a client; the state tells no more than that nothing runs.
    pub(crate) paused: bool,
    /// Held because a unit of it kills workers, as this says.
    pub(crate) parked: Option<String>,
    /// Why it ends as soon as its pruned moves are checked.
    pub(crate) ending: Option<StoppedBy>,
    /// The state that watchers were told last.
    told: Option<JobState>,
    /// Why it is in that state, or has failed.
    reason: String,
    accepted_at: Duration,
    /// Time that had passed when it was accepted again by this coordinator.
    elapsed_before: Duration,
    /// It is held because the store cannot be written.
    held: bool,
    /// Its clock stands still since then, for any of the three reasons for which nothing of it runs.
    still_since: Option<Duration>,
    ended_at: Option<Duration>,
    unwatched_since: Option<Duration>,
    log: Vec<Arc<EventRecord>>,
    /// Root moves that are not searched unless everything else loses.
    pruned: Vec<RootMove>,
    /// Pruned moves that turned out better than the best searched one.
    pub(crate) misses: u32,
    /// There is but one legal move: a shallow search answers.
    forced: bool,
    /// Last completed depth, and its moves, best first.
    depth: u8,
    lines: Vec<Line>,
}

impl Job {
    /// A job that has just been accepted, without events.
    pub(crate) fn new(id: JobId, spec: JobSpec, now: Duration) -> Self {
        let moves = root_moves(&spec.position, spec.prune);
        let forced = moves.kept.len() + moves.pruned.len() == 1;
        Self {
            id,
            state: JobState::Queued,
            plan: Plan::new(spec.position, moves.kept.iter().map(root_move), manner(&spec)),
            tree_nodes: 0,
            nodes: 0,
            watchers: BTreeSet::new(),
            paused: false,
            parked: None,
            ending: None,
            told: None,
            reason: String::new(),
            accepted_at: now,
            elapsed_before: Duration::ZERO,
            held: false,
            still_since: None,
            ended_at: None,
            unwatched_since: None,
            log: Vec::new(),
            pruned: moves.pruned.iter().map(root_move).collect(),
            misses: 0,
            forced,
            depth: 0,
            lines: Vec::new(),
            spec,
        }
    }

    /// The first events: what was accepted, and every heat that a display needs.
    pub(crate) fn announce(&mut self, effects: &mut Vec<Effect>) {
        effects.push(Effect::Keep(Keep::Job { job: self.id, spec: Box::new(self.spec.clone()) }));
        let position = self.spec.position;
        let moves = root_moves(&position, self.spec.prune);
        let searched: Vec<Move> = moves.kept.iter().map(|verdict| verdict.mv).collect();
        let accepted = Accepted {
            job: self.id,
            position,
            kept: moves.kept.iter().map(move_heat).collect(),
            pruned: moves.pruned.iter().map(move_heat).collect(),
        };
        self.emit(JobEvent::Accepted(accepted), effects);
        self.emit(JobEvent::Heat(Box::new(board_heat(None, &position))), effects);
        for mv in searched {
            let heat = Box::new(board_heat(Some(mv), &position.after(mv)));
            self.emit(JobEvent::Heat(heat), effects);
        }
    }

    /// Appends an event and hands it to whoever watches.
    pub(crate) fn emit(&mut self, event: JobEvent, effects: &mut Vec<Effect>) {
        debug_assert!(
            self.log.last().is_none_or(|last| !last.event.is_last()),
            "an event after the last one"
        );
        let record = Arc::new(EventRecord { seq: self.last_seq() + 1, event });
        self.log.push(Arc::clone(&record));
        let job = self.id;
        effects.push(Effect::Keep(Keep::Event { job, record: Arc::clone(&record) }));
        let deliver = |&watcher| Effect::Deliver { job, watcher, records: vec![Arc::clone(&record)] };
        effects.extend(self.watchers.iter().map(deliver));
    }

    /// Number of the latest event; 0 before the first.
    pub(crate) fn last_seq(&self) -> u64 {
        self.log.last().map_or(0, |record| record.seq)
    }

    /// How many events there are.
    pub(crate) fn events(&self) -> usize {
        self.log.len()
    }

    /// The events after a cursor.
    pub(crate) fn events_after(&self, seq: u64) -> Vec<Arc<EventRecord>> {
        let seen = usize::try_from(seq).unwrap_or(usize::MAX);
        self.log.get(seen..).unwrap_or_default().to_vec()
    }

    /// Changes the state and says so; what was told already is no event.
    pub(crate) fn set_state(&mut self, state: JobState, reason: &str, effects: &mut Vec<Effect>) {
        self.state = state;
        if self.told.replace(state) == Some(state) {
            return;
        }
        reason.clone_into(&mut self.reason);
        self.emit(JobEvent::State(StateChange { state, reason: reason.to_owned() }), effects);
    }

    /// A watcher came.
    pub(crate) fn watched(&mut self, watcher: WatcherId) {
        self.watchers.insert(watcher);
        self.unwatched_since = None;
    }

    /// A watcher left.
    pub(crate) fn unwatched(&mut self, watcher: WatcherId, now: Duration) {
        if self.watchers.remove(&watcher) && self.watchers.is_empty() {
            self.unwatched_since = Some(now);
        }
    }

    /// Nobody has walls in hand.
    pub(crate) fn is_race(&self) -> bool {
        Color::BOTH.iter().all(|&color| self.spec.position.walls_in_hand(color) == 0)
    }

    /// Units of it may be granted.
    pub(crate) fn is_open(&self) -> bool {
        !self.state.is_final() && !self.stands_still()
    }

    fn stands_still(&self) -> bool {
        self.paused || self.parked.is_some() || self.held
    }

    /// Stops its clock or lets it go on, whichever is right now.
    pub(crate) fn set_clock(&mut self, now: Duration) {
        if self.stands_still() {
            self.still_since.get_or_insert(now);
        } else if let Some(since) = self.still_since.take() {
            self.accepted_at += now.saturating_sub(since);
        }
    }

    /// The depth after which it ends.
    pub(crate) fn last_depth(&self) -> u8 {
        let asked = self.spec.limits.depth.unwrap_or(MAX_DEPTH);
        if self.forced { asked.min(FORCED_DEPTH) } else { asked }
    }

    /// When its time is up. A limit that is shorter than the first depth takes is stretched a little.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        if self.still_since.is_some() {
            return None;
        }
        let limits = &self.spec.limits;
        let unlimited = limits.depth.is_none() && limits.nodes.is_none();
        let time = limits.time.or(unlimited.then_some(DEFAULT_TIME))?;
        let grace = if self.depth == 0 { FIRST_DEPTH_GRACE } else { Duration::ZERO };
        let left = time.saturating_add(grace).saturating_sub(self.elapsed_before);
        Some(self.accepted_at.saturating_add(left))
    }

    /// When it is cancelled because nobody watches.
    pub(crate) fn abandoned_at(&self) -> Option<Duration> {
        if self.spec.detach { None } else { Some(self.unwatched_since? + UNWATCHED_TIME) }
    }

    /// Positions that may still be visited when so many are visited by units that run; no limit holds before the first
    /// depth is complete.
    pub(crate) fn nodes_left(&self, running: u64) -> Option<u64> {
        // A deterministic job ends where an iteration does.
        let limit = self.spec.limits.nodes.filter(|_| self.depth > 0 && !self.spec.deterministic)?;
        Some(limit.saturating_sub(self.nodes).saturating_sub(running))
    }

    /// Last completed depth.
    pub(crate) const fn depth(&self) -> u8 {
        self.depth
    }

    /// Everything that was searched loses, but not everything was searched: searches the rest as well. Returns whether
    /// there was a rest. A loss claimed from the kept moves alone would not be a proof.
    pub(crate) fn widen(&mut self) -> bool {
        if self.pruned.is_empty() {
            return false;
        }
        self.plan.admit(std::mem::take(&mut self.pruned));
        true
    }

    /// Ends an iteration: its results become the job's. Returns why the job ends now, if it does.
    pub(crate) fn complete_iteration(
        &mut self,
        now: Duration,
        workers: usize,
        effects: &mut Vec<Effect>,
    ) -> Option<StoppedBy> {
        self.plan.finish_iteration();
        self.depth = self.plan.depth();
        self.lines = merge::lines(self.plan.candidates(), self.spec.position.turn());
        let elapsed = self.elapsed(now);
        if let Some(best) = self.lines.first() {
            let report = IterationReport {
                depth: self.depth,
                best_move: best.mv,
                score_white: best.score_white,
                pv: best.pv.clone(),
                nodes: self.nodes,
                elapsed,
                nodes_per_second: per_second(self.nodes, elapsed),
                workers: u32::try_from(workers).unwrap_or(u32::MAX),
            };
            self.emit(JobEvent::Iteration(report), effects);
        }
        self.keep_iteration(now, effects);
        self.stop_reason()
    }

    /// Why nothing is searched after the last completed iteration, if that is so.
    fn stop_reason(&self) -> Option<StoppedBy> {
        let proven = |line: &Line| !matches!(line.score_white, WhiteScore::Cm(_));
        if self.lines.iter().take(self.plan.multipv()).all(proven) {
            return Some(StoppedBy::Proof);
        }
        let spent =
            self.spec.limits.nodes.is_some_and(|limit| self.spec.deterministic && self.nodes >= limit);
        if spent {
            return Some(StoppedBy::Nodes);
        }
        (self.depth >= self.last_depth()).then_some(StoppedBy::Depth)
    }

    /// Begins to check the pruned root moves, if that was asked for and there are any.
    pub(crate) fn begin_audit(&mut self) -> bool {
        if self.spec.prune != RootPrune::Audit || self.pruned.is_empty() || self.lines.is_empty() {
            return false;
        }
        self.plan.suspect(std::mem::take(&mut self.pruned));
        true
    }

    /// Tells which pruned moves were checked since the last call. Returns whether all are.
    pub(crate) fn tell_audit(&mut self, effects: &mut Vec<Effect>) -> bool {
        let turn = self.spec.position.turn();
        for (root_move, score, miss) in self.plan.audited() {
            let report = AuditReport {
                mv: root_move.mv,
                score_white: WhiteScore::from_engine(score, turn),
                reason: self.pruned_because(root_move.mv),
                miss,
            };
            self.misses += u32::from(miss);
            self.emit(JobEvent::Audit(report), effects);
        }
        !self.plan.is_audit()
    }

    /// Name of the rule that pruned a root move.
    fn pruned_because(&self, mv: Move) -> String {
        let accepted = self.log.first().map(|record| &record.event);
        let Some(JobEvent::Accepted(accepted)) = accepted else { return String::new() };
        let verdict = accepted.pruned.iter().find(|heat| heat.mv == mv);
        verdict.map(|heat| heat.reason.clone()).unwrap_or_default()
    }

    /// The job's last event. Its plan must hold no leases any more.
    pub(crate) fn end(&mut self, end: End, now: Duration, effects: &mut Vec<Effect>) {
        debug_assert!(self.plan.leased_units().next().is_none(), "a lease outlived its job");
        self.ended_at = Some(now);
        let event = match end {
            End::Done(stopped_by) => {
                self.state = JobState::Done;
                self.reason.clear();
                JobEvent::Done(self.done(stopped_by, now))
            }
            End::Failed(failure) => {
                self.state = JobState::Failed;
                self.reason.clone_from(&failure.message);
                JobEvent::Error(failure)
            }
        };
        self.emit(event, effects);
        self.keep_standing(now, effects);
        self.drop_plan();
        let job = self.id;
        let finish = |watcher| Effect::Finish { job, watcher };
        effects.extend(std::mem::take(&mut self.watchers).into_iter().map(finish));
    }

    /// Frees what only a search needs: a master tree is many times larger than all events.
    fn drop_plan(&mut self) {
        self.plan = Plan::new(self.spec.position, [], manner(&self.spec));
        self.pruned = Vec::new();
    }

    fn done(&self, stopped_by: StoppedBy, now: Duration) -> DoneReport {
        let best = self.lines.first();
        let over = |winner| match winner {
            Color::White => WhiteScore::WhiteWinsIn(0),
            Color::Black => WhiteScore::BlackWinsIn(0),
        };
        DoneReport {
            best_move: best.map(|best| best.mv),
            score_white: best.map(|best| best.score_white).or_else(|| self.spec.position.winner().map(over)),
            depth: self.depth,
            pv: best.map(|best| best.pv.clone()).unwrap_or_default(),
            nodes: self.nodes,
            elapsed: self.elapsed(now),
            lines: self.lines.clone(),
            stopped_by,
        }
    }

    fn elapsed(&self, now: Duration) -> Duration {
        let until = self.still_since.or(self.ended_at).unwrap_or(now);
        until.saturating_sub(self.accepted_at).saturating_add(self.elapsed_before)
    }

    /// Keeps where it stands, the lines of the last iteration apart.
    pub(crate) fn keep_standing(&self, now: Duration, effects: &mut Vec<Effect>) {
        let standing = Box::new(self.standing(now));
        effects.push(Effect::Keep(Keep::Standing { job: self.id, standing }));
    }

    fn keep_iteration(&self, now: Duration, effects: &mut Vec<Effect>) {
        let iteration = Some(Iteration {
            depth: self.depth,
            nodes: self.nodes,
            lines: self.lines.clone(),
            order: self.plan.order(),
        });
        let standing = Box::new(Standing { iteration, ..self.standing(now) });
        effects.push(Effect::Keep(Keep::Standing { job: self.id, standing }));
    }

    pub(crate) fn standing(&self, now: Duration) -> Standing {
        Standing {
            state: if self.parked.is_some() { JobState::Parked } else { self.state },
            paused: self.paused,
            nodes: self.nodes,
            elapsed: self.elapsed(now),
            iteration: None,
        }
    }

    /// Nothing of it can be kept for now: it must not run.
    pub(crate) fn hold(&mut self, now: Duration, reason: &str, effects: &mut Vec<Effect>) {
        if !std::mem::replace(&mut self.held, true) {
            self.set_clock(now);
            // Also after a client's pause: why nothing runs is another reason now.
            self.told = None;
            self.set_state(JobState::Paused, reason, effects);
        }
    }

    /// The store is back.
    pub(crate) fn release(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        if !std::mem::take(&mut self.held) {
            return;
        }
        self.set_clock(now);
        if self.paused {
            self.told = None;
            self.set_state(JobState::Paused, PAUSED_BY_CLIENT, effects);
        } else if let Some(reason) = self.parked.clone() {
            self.set_state(JobState::Parked, &reason, effects);
        } else {
            // Whoever schedules says what it is now.
            self.state = JobState::Queued;
        }
    }

    /// Goes on with a job that another coordinator has left behind: what is known about it becomes this one's. Returns why it
    /// ends now, if its last iteration was complete and only an audit was left.
    pub(crate) fn restore(&mut self, kept: KeptJob, now: Duration) -> Option<StoppedBy> {
        let KeptJob { standing, events, .. } = kept;
        self.state = standing.state;
        self.paused = standing.paused;
        let why = |record: &Arc<EventRecord>| match &record.event {
            JobEvent::State(change) => Some(change.reason.clone()),
            JobEvent::Error(failure) => Some(failure.message.clone()),
            JobEvent::Done(_) => Some(String::new()),
            _ => None,
        };
        self.reason = events.iter().rev().find_map(why).unwrap_or_default();
        self.parked = (standing.state == JobState::Parked).then(|| self.reason.clone());
        self.set_clock(now);
        self.nodes = standing.nodes;
        self.elapsed_before = standing.elapsed;
        self.told = events.iter().rev().find_map(|record| match &record.event {
            JobEvent::State(change) => Some(change.state),
            _ => None,
        });
        self.log = events;
        if self.state.is_final() {
            self.ended_at = Some(now);
        } else if !self.spec.detach {
            self.unwatched_since = Some(now);
        }
        // Without an iteration it begins again, and what was visited for nothing does not count in a deterministic answer.
        let Some(Iteration { depth, nodes, lines, order }) = standing.iteration else {
            self.nodes = if self.spec.deterministic { 0 } else { self.nodes };
            return None;
        };
        if self.spec.deterministic {
            self.nodes = nodes;
        }
        let kept = |line: &Line| self.plan.candidates().iter().any(|it| it.root_move.mv == line.mv);
        if !lines.iter().all(kept) {
            self.widen();
        }
        self.depth = depth;
        self.plan.resume(depth, &lines, &order);
        self.lines = lines;
        if self.state.is_final() {
            self.drop_plan();
            return None;
        }
        let stop = self.stop_reason();
        match stop {
            None => self.plan.deepen(),
            Some(_) => self.forget_audited(),
        }
        stop
    }

    /// What was audited before is not audited again.
    fn forget_audited(&mut self) {
        let audits = self.log.iter().filter_map(|record| match &record.event {
            JobEvent::Audit(report) => Some(report),
            _ => None,
        });
        for report in audits {
            self.misses += u32::from(report.miss);
            self.pruned.retain(|root_move| root_move.mv != report.mv);
        }
    }

    pub(crate) fn summary(&self, now: Duration) -> JobSummary {
        let best = self.lines.first();
        JobSummary {
            job: self.id,
            state: self.state,
            reason: self.reason.clone(),
            position: self.spec.position,
            depth: self.depth,
            best_move: best.map(|best| best.mv),
            score_white: best.map(|best| best.score_white),
            nodes: self.nodes,
            elapsed: self.elapsed(now),
            last_seq: self.last_seq(),
            priority: self.spec.priority,
        }
    }
}

/// How a job ends.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// With what is known.
    Done(StoppedBy),
    /// With a fault.
    Failed(Failure),
}

/// How a job's units are searched.
fn manner(spec: &JobSpec) -> Manner {
    Manner { multipv: spec.multipv, prune: prune_mode(spec), deterministic: spec.deterministic }
}

/// Which moves are searched inside a job's units.
pub(crate) fn prune_mode(spec: &JobSpec) -> PruneMode {
    if spec.prune == RootPrune::None { PruneMode::None } else { PruneMode::Cat }
}

/// Kept and pruned root moves, hottest first.
fn root_moves(position: &Position, prune: RootPrune) -> cat::SearchMoves {
    let mut moves = cat::collect_search_moves(position);
    if prune == RootPrune::None {
        moves.kept.append(&mut moves.pruned);
        for verdict in moves.kept.iter_mut().filter(|verdict| !verdict.mv.is_pawn()) {
            verdict.reason = Reason::All;
        }
    }
    moves.kept.sort_by_key(|verdict| std::cmp::Reverse(verdict.heat_cm + verdict.shape_bonus_cm));
    moves
}

fn root_move(verdict: &Verdict) -> RootMove {
    RootMove {
        mv: verdict.mv,
        heat_cm: verdict.heat_cm,
        order_cm: verdict.heat_cm.saturating_add(verdict.shape_bonus_cm),
    }
}

fn move_heat(verdict: &Verdict) -> MoveHeat {
    MoveHeat { mv: verdict.mv, heat_cm: verdict.heat_cm, reason: verdict.reason.name().to_owned() }
}

fn board_heat(mv: Option<Move>, position: &Position) -> BoardHeat {
    let attention = cat::build_corridor_attention(position);
    BoardHeat { mv, cat_display: attention.display(), cat_search: attention.search }
}

/// A rate, rounded down; everything counts as at least a millisecond.
fn per_second(nodes: u64, elapsed: Duration) -> u64 {
    let micros = elapsed.as_micros().max(1_000);
    u64::try_from(u128::from(nodes) * 1_000_000 / micros).unwrap_or(u64::MAX)
}
