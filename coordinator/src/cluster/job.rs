//! One job: what was asked, where it stands, its events and who watches them.

use std::collections::BTreeMap;
use std::time::Duration;

use corridor_shared::board::{Color, Move, Position};
use corridor_shared::cat::{self, Reason, Verdict};
use corridor_shared::job::{
    Accepted, AuditReport, BoardHeat, DoneReport, Failure, IterationReport, JobEvent, JobId, JobLimits,
    JobSpec, JobState, JobSummary, Line, MAX_DEPTH, MoveHeat, RootPrune, StoppedBy,
};
use corridor_shared::score::WhiteScore;
use corridor_shared::search::PruneMode;

use super::ledger::{CANCELLED, Ledger};
use super::merge;
use super::messages::{Effect, Iteration, Keep, Known, Standing};
use super::plan::{Manner, Plan, RootMove};
use super::restore::KeptJob;
use super::whole::Whole;
use crate::limits::{DEFAULT_TIME, FIRST_DEPTH_GRACE};

/// Plies searched when there is but one legal move: enough for a pawn race to be scored exactly.
const FORCED_DEPTH: u8 = 2;

/// A job, from its acceptance to the day it is forgotten.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) ledger: Ledger,
    pub(crate) spec: JobSpec,
    /// The book's job that it is a part of.
    pub(crate) part_of: Option<JobId>,
    /// The position is one unit, as long as this is there.
    pub(crate) whole: Option<Whole>,
    /// When its time is up, as the cluster has noted it; of a whole position that is being searched.
    pub(crate) due: Option<Duration>,
    /// Who has searched each root move last; for a part.
    pub(crate) searchers: BTreeMap<Move, String>,
    pub(crate) plan: Plan,
    /// Nodes of its tree when it was last looked at.
    pub(crate) tree_nodes: usize,
    /// Positions visited by units that have ended.
    pub(crate) nodes: u64,
    /// Why it ends as soon as its pruned moves are checked.
    pub(crate) ending: Option<StoppedBy>,
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
            ledger: Ledger::new(id, spec.detach, now),
            part_of: None,
            whole: None,
            due: None,
            searchers: BTreeMap::new(),
            plan: Plan::new(spec.position, moves.kept.iter().map(root_move), manner(&spec)),
            tree_nodes: 0,
            nodes: 0,
            ending: None,
            pruned: moves.pruned.iter().map(root_move).collect(),
            misses: 0,
            forced,
            depth: 0,
            lines: Vec::new(),
            spec,
        }
    }

    /// The search of a position of a book.
    pub(crate) fn part(id: JobId, of: JobId, spec: JobSpec, now: Duration) -> Self {
        let job = Self::new(id, spec, now);
        // What must not depend on a schedule, or looks at pruned moves afterwards, is searched in the ordinary way.
        let whole = !job.spec.deterministic && job.spec.prune != RootPrune::Audit;
        let whole = whole.then(Whole::default);
        Self { part_of: Some(of), ledger: job.ledger.silent(), whole, ..job }
    }

    /// The answer is known already.
    pub(crate) fn know(&mut self, known: Known) {
        self.depth = known.depth;
        self.lines = known.lines;
    }

    /// The first events: what was accepted, and every heat that a display needs.
    pub(crate) fn announce(&mut self, effects: &mut Vec<Effect>) {
        effects.push(Effect::Keep(Keep::Job { job: self.ledger.id, spec: Box::new(self.spec.clone()) }));
        let position = self.spec.position;
        let moves = root_moves(&position, self.spec.prune);
        let searched: Vec<Move> = moves.kept.iter().map(|verdict| verdict.mv).collect();
        let accepted = Accepted {
            job: self.ledger.id,
            position,
            kept: moves.kept.iter().map(move_heat).collect(),
            pruned: moves.pruned.iter().map(move_heat).collect(),
        };
        self.ledger.emit(JobEvent::Accepted(accepted), effects);
        self.ledger.emit(JobEvent::Heat(Box::new(board_heat(None, &position))), effects);
        for mv in searched {
            let heat = Box::new(board_heat(Some(mv), &position.after(mv)));
            self.ledger.emit(JobEvent::Heat(heat), effects);
        }
    }

    /// Nobody has walls in hand.
    pub(crate) fn is_race(&self) -> bool {
        Color::BOTH.iter().all(|&color| self.spec.position.walls_in_hand(color) == 0)
    }

    /// The depth after which it ends.
    pub(crate) fn last_depth(&self) -> u8 {
        let asked = self.spec.limits.depth.unwrap_or(MAX_DEPTH);
        if self.forced { asked.min(FORCED_DEPTH) } else { asked }
    }

    /// When its time is up. A limit that is shorter than the first depth takes is stretched a little.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        // A part of another job has its time from the moment on at which somebody searches it.
        let is_late = self.whole.as_ref().is_some_and(Whole::is_late);
        if is_late || (self.part_of.is_some() && self.ledger.state == JobState::Queued) {
            return None;
        }
        let time = self.time_limit()?;
        // Of a whole position nobody knows how deep it is: its worker is asked, and hands back what it has.
        let grace = if self.depth == 0 && self.whole.is_none() { FIRST_DEPTH_GRACE } else { Duration::ZERO };
        self.ledger.after(time.saturating_add(grace))
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
        let elapsed = self.ledger.elapsed(now);
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
            self.ledger.emit(JobEvent::Iteration(report), effects);
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
            self.ledger.emit(JobEvent::Audit(report), effects);
        }
        !self.plan.is_audit()
    }

    /// Name of the rule that pruned a root move.
    fn pruned_because(&self, mv: Move) -> String {
        let accepted = self.ledger.events().first().map(|record| &record.event);
        let Some(JobEvent::Accepted(accepted)) = accepted else { return String::new() };
        let verdict = accepted.pruned.iter().find(|heat| heat.mv == mv);
        verdict.map(|heat| heat.reason.clone()).unwrap_or_default()
    }

    /// The job's last event. Its plan must hold no leases any more.
    pub(crate) fn end(&mut self, end: End, now: Duration, effects: &mut Vec<Effect>) {
        debug_assert!(self.leased_units().next().is_none(), "a lease outlived its job");
        let (state, reason, event) = match end {
            End::Done(stopped_by) => {
                let reason = if stopped_by == StoppedBy::Cancel { CANCELLED } else { "" };
                (JobState::Done, reason.to_owned(), JobEvent::Done(self.done(stopped_by, now)))
            }
            End::Failed(failure) => (JobState::Failed, failure.message.clone(), JobEvent::Error(failure)),
        };
        self.ledger.end(now, state, reason, event, effects);
        self.keep_standing(now, effects);
        self.drop_plan();
        self.ledger.dismiss(effects);
    }

    /// Frees what only a search needs: a master tree is many times larger than all events.
    fn drop_plan(&mut self) {
        self.plan = Plan::new(self.spec.position, [], manner(&self.spec));
        self.pruned = Vec::new();
    }

    /// What is known, as its last event says it.
    pub(crate) fn done(&self, stopped_by: StoppedBy, now: Duration) -> DoneReport {
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
            elapsed: self.ledger.elapsed(now),
            lines: self.lines.clone(),
            stopped_by,
        }
    }

    /// Keeps where it stands, the lines of the last iteration apart.
    pub(crate) fn keep_standing(&self, now: Duration, effects: &mut Vec<Effect>) {
        self.ledger.keep(self.standing(now), effects);
    }

    /// The last completed iteration.
    pub(crate) fn iteration(&self) -> Iteration {
        Iteration {
            depth: self.depth,
            nodes: self.nodes,
            lines: self.lines.clone(),
            order: self.plan.order(),
        }
    }

    fn keep_iteration(&self, now: Duration, effects: &mut Vec<Effect>) {
        let iteration = Some(self.iteration());
        self.ledger.keep(Standing { iteration, ..self.standing(now) }, effects);
    }

    pub(crate) fn standing(&self, now: Duration) -> Standing {
        self.ledger.standing(now, self.nodes)
    }

    /// Goes on with a job that another coordinator has left behind: what is known about it becomes this one's. Returns why it
    /// ends now, if its last iteration was complete and only an audit was left.
    pub(crate) fn restore(&mut self, kept: KeptJob, now: Duration) -> Option<StoppedBy> {
        let KeptJob { standing, events, .. } = kept;
        self.ledger.restore(&standing, events, now);
        self.nodes = standing.nodes;
        // Without an iteration it begins again, and what was visited for nothing does not count in a deterministic answer.
        let Some(iteration) = standing.iteration else {
            self.nodes = if self.spec.deterministic { 0 } else { self.nodes };
            return None;
        };
        self.resume(iteration)
    }

    /// Goes on after an iteration that was completed before. Returns why it ends now, if nothing but an audit was left.
    pub(crate) fn resume(&mut self, iteration: Iteration) -> Option<StoppedBy> {
        let Iteration { depth, nodes, lines, order } = iteration;
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
        if self.ledger.state.is_final() {
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
        let audits = self.ledger.events().iter().filter_map(|record| match &record.event {
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
            job: self.ledger.id,
            state: self.ledger.state,
            reason: self.ledger.reason().to_owned(),
            position: Some(self.spec.position),
            book: None,
            depth: self.depth,
            best_move: best.map(|best| best.mv),
            score_white: best.map(|best| best.score_white),
            nodes: self.nodes,
            elapsed: self.ledger.elapsed(now),
            last_seq: self.ledger.last_seq(),
            priority: self.spec.priority,
            limits: JobLimits { time: self.time_limit(), ..self.spec.limits },
        }
    }

    /// Time for it, if that is limited.
    fn time_limit(&self) -> Option<Duration> {
        let limits = &self.spec.limits;
        let unlimited = limits.depth.is_none() && limits.nodes.is_none();
        limits.time.or(unlimited.then_some(DEFAULT_TIME))
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
pub(super) fn root_moves(position: &Position, prune: RootPrune) -> cat::SearchMoves {
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
