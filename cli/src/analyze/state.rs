//! What is known of an analysis while it runs: from its events, and from what the cluster says of itself beside them.

use std::collections::BTreeMap;
use std::time::Duration;

use corridor_shared::board::{Color, Move, Position};
use corridor_shared::cat::{CatSnapshot, cat_snapshot};
use corridor_shared::job::{
    Accepted, AuditReport, DoneReport, HeldUnit, IterationReport, JobEvent, JobId, JobLimits, JobState, Line,
    MoveReport, WorkerSummary,
};
use corridor_shared::score::Bound;
use tokio::time::Instant;

use super::table;
use crate::listing::printable;
use crate::pulse::{Beat, trouble};
use crate::units::{counted, grouped};

/// An analysis as far as it is known. What somebody else says in it (names, reasons) is safe to be shown.
pub(crate) struct State {
    /// What was accepted, with the heat of its position; nothing else makes sense before it.
    pub(crate) asked: Option<Asked>,
    /// The depth that is searched.
    pub(crate) depth: u8,
    /// The moves of that depth that are done.
    pub(crate) settled: usize,
    lines: BTreeMap<Move, MoveReport>,
    /// The completed depths.
    pub(crate) iterations: BTreeMap<u8, IterationReport>,
    /// The pruned moves that were checked.
    audits: BTreeMap<Move, AuditReport>,
    /// How it ended.
    pub(crate) done: Option<DoneReport>,
    /// Why nobody works on it, as the events say.
    waiting: Option<String>,
    /// How the cluster is.
    beat: Option<Beat>,
    /// Since when the line is broken, and why.
    lost: Option<(Instant, String)>,
    started: Instant,
}

/// What was accepted.
pub(crate) struct Asked {
    pub(crate) job: JobId,
    pub(crate) position: Position,
    pub(crate) heat: CatSnapshot,
    /// Moves that are searched.
    pub(crate) kept: usize,
    /// Moves that are not.
    pub(crate) pruned: usize,
}

impl State {
    pub(crate) fn new() -> Self {
        Self {
            asked: None,
            depth: 1,
            settled: 0,
            lines: BTreeMap::new(),
            iterations: BTreeMap::new(),
            audits: BTreeMap::new(),
            done: None,
            waiting: None,
            beat: None,
            lost: None,
            started: Instant::now(),
        }
    }

    /// Takes an event in.
    pub(crate) fn see(&mut self, event: &JobEvent) {
        self.lost = None;
        match event {
            JobEvent::Accepted(accepted) => self.accepted(accepted),
            JobEvent::Heat(heat) if heat.mv.is_none() => {
                if let Some(asked) = &mut self.asked {
                    (asked.heat.display, asked.heat.search) = (heat.cat_display, heat.cat_search);
                }
            }
            JobEvent::State(change) => {
                let waits = change.state != JobState::Running;
                self.waiting = waits.then(|| trouble(change.state, &change.reason));
                // What the cluster has said of the job is older than this.
                if let Some(beat) = &mut self.beat {
                    (beat.job.state, beat.job.reason) = (change.state, change.reason.clone());
                }
            }
            JobEvent::Move(report) => self.searched(report),
            JobEvent::Iteration(report) => {
                self.depth = report.depth.saturating_add(1);
                self.settled = 0;
                self.iterations.insert(report.depth, report.clone());
            }
            JobEvent::Audit(report) => {
                self.audits.insert(report.mv, report.clone());
            }
            JobEvent::Done(report) => self.done = Some(report.clone()),
            // Those of a book are shown elsewhere, and of a failure the command's end tells.
            JobEvent::Heat(_)
            | JobEvent::Error(_)
            | JobEvent::BookAccepted(_)
            | JobEvent::Position(_)
            | JobEvent::PositionFailed(_)
            | JobEvent::BookDone(_) => {}
        }
    }

    fn accepted(&mut self, accepted: &Accepted) {
        self.asked = Some(Asked {
            job: accepted.job,
            position: accepted.position,
            heat: cat_snapshot(&accepted.position),
            kept: accepted.kept.len(),
            pruned: accepted.pruned.len(),
        });
    }

    fn searched(&mut self, report: &MoveReport) {
        let line = &report.line;
        if line.depth != self.depth {
            self.depth = line.depth;
            self.settled = 0;
        }
        let last = self.lines.get(&line.mv).map(|last| last.line.depth);
        if line.bound == Bound::Exact || last != Some(line.depth) {
            self.settled += 1;
        }
        let report = MoveReport { line: line.clone(), worker: printable(&report.worker) };
        self.lines.insert(line.mv, report);
    }

    /// Takes in how the cluster is.
    pub(crate) fn feel(&mut self, mut beat: Beat) {
        for worker in &mut beat.crew {
            worker.name = printable(&worker.name);
        }
        for loss in &mut beat.losses {
            (loss.name, loss.reason) = (printable(&loss.name), printable(&loss.reason));
        }
        self.beat = Some(beat);
    }

    /// Takes in that the line broke. It is taken up again until something is heard.
    pub(crate) fn lose(&mut self, reason: &str) {
        self.lost = Some((Instant::now(), printable(reason)));
    }

    /// How the cluster is, as it last said.
    pub(crate) const fn beat(&self) -> Option<&Beat> {
        self.beat.as_ref()
    }

    /// Since when nothing has been heard, and why, if the line is broken.
    pub(crate) fn lost(&self) -> Option<(Duration, &str)> {
        let (since, reason) = self.lost.as_ref()?;
        let answered = self.beat.as_ref().is_some_and(|beat| beat.at > *since);
        (!answered).then(|| (since.elapsed(), reason.as_str()))
    }

    /// Why nobody works on the job, if that is so.
    pub(crate) fn trouble(&self) -> Option<String> {
        match &self.beat {
            Some(beat) => beat.trouble(),
            None => self.waiting.clone(),
        }
    }

    /// Who is to move; White before anything is known.
    pub(crate) fn turn(&self) -> Color {
        self.asked.as_ref().map_or(Color::White, |asked| asked.position.turn())
    }

    /// Moves that are searched at each depth.
    pub(crate) fn moves(&self) -> usize {
        self.asked.as_ref().map_or(0, |asked| asked.kept)
    }

    /// The searched moves, the best first.
    pub(crate) fn best_first(&self) -> Vec<&Line> {
        let mut lines: Vec<&Line> = self.lines.values().map(|report| &report.line).collect();
        table::sort_best_first(&mut lines, self.turn());
        lines
    }

    /// The last completed depth.
    pub(crate) fn last_iteration(&self) -> Option<&IterationReport> {
        self.iterations.last_key_value().map(|(_, report)| report)
    }

    /// Who has sent the last score of a move.
    pub(crate) fn sender(&self, mv: Move) -> Option<&str> {
        self.lines.get(&mv).map(|report| report.worker.as_str())
    }

    /// Who searches below a move now.
    pub(crate) fn holders(&self, mv: Move) -> Vec<&str> {
        let holds = |worker: &&WorkerSummary| {
            worker.holds.iter().any(|unit| self.is_ours(unit) && unit.moves.first() == Some(&mv))
        };
        let crew = self.beat.iter().flat_map(|beat| &beat.crew);
        crew.filter(holds).map(|worker| worker.name.as_str()).collect()
    }

    /// Whether a unit is of this job.
    pub(crate) fn is_ours(&self, unit: &HeldUnit) -> bool {
        self.asked.as_ref().is_some_and(|asked| asked.job == unit.job)
    }

    /// The pruned moves that were checked, and those of them that are better than what was searched.
    pub(crate) fn audited(&self) -> (usize, Vec<&AuditReport>) {
        (self.audits.len(), self.audits.values().filter(|report| report.miss).collect())
    }

    /// When it stops, as far as that is known.
    pub(crate) fn limits(&self) -> JobLimits {
        self.beat.as_ref().map(|beat| beat.job.limits).unwrap_or_default()
    }

    /// Time since it was accepted.
    pub(crate) fn elapsed(&self) -> Duration {
        match (&self.done, &self.beat, self.last_iteration()) {
            (Some(done), ..) => done.elapsed,
            (None, Some(beat), _) if beat.job.state == JobState::Running => {
                beat.job.elapsed + beat.at.elapsed()
            }
            (None, Some(beat), _) => beat.job.elapsed,
            (None, None, Some(iteration)) => iteration.elapsed,
            (None, None, None) => Duration::ZERO,
        }
    }

    /// Time since somebody looks on.
    pub(crate) fn watched(&self) -> Duration {
        self.started.elapsed()
    }

    /// Positions visited.
    pub(crate) fn nodes(&self) -> u64 {
        let told = self.beat.as_ref().map_or(0, |beat| beat.job.nodes);
        told.max(self.last_iteration().map_or(0, |iteration| iteration.nodes))
    }

    /// What was last heard, in one line.
    pub(crate) fn headline(&self) -> String {
        match (self.last_iteration(), &self.asked) {
            (Some(report), _) => format!(
                "depth {} complete: {} {}, {}, {}/s, {}",
                report.depth,
                report.best_move,
                report.score_white,
                counted(report.nodes, "node"),
                grouped(report.nodes_per_second),
                counted(report.workers.into(), "worker")
            ),
            (None, Some(asked)) => format!(
                "{} to move, {} searched, {} pruned",
                asked.position.turn(),
                counted(u64::try_from(asked.kept).unwrap_or(u64::MAX), "move"),
                asked.pruned
            ),
            (None, None) => String::new(),
        }
    }
}
