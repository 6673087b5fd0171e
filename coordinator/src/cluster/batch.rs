//! A book's job: many positions, each searched by a job of its own, and what they come to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use corridor_shared::board::Position;
use corridor_shared::book::{Book, NodeId, Order, Wanted};
use corridor_shared::job::{
    BookAccepted, BookDone, BookJobSpec, BookProgress, BookStop, BookSummary, BookTask, ENGINE_EPOCH,
    EventRecord, Failure, JobEvent, JobId, JobState, JobSummary, PositionFailure, PositionReport,
};

use super::ledger::{CANCELLED, Ledger};
use super::messages::{Effect, Iteration, Keep, Standing};
use crate::limits;

/// Positions that a deterministic job adds at a time, by how large the book is: a share of it, but never less or more than this.
/// The next ones are chosen when all of them are known, so that the choice does not depend on who was quicker.
const ROUND_SHARE: usize = 8;
const LEAST_ROUND: usize = 4;
const LARGEST_ROUND: usize = 64;

/// Positions that any other job adds at a time at least, as a share of the book: to choose one is hardly less work than many.
const LOOK_SHARE: usize = 1_024;

/// A book's job as a store has kept it.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptBatch {
    /// The job's number.
    pub job: JobId,
    /// What was asked.
    pub spec: BookJobSpec,
    /// Where it stands.
    pub standing: Standing,
    /// Its events, numbered from 1 without a gap.
    pub events: Vec<Arc<EventRecord>>,
    /// How many positions it has added.
    pub added: u64,
    /// Searches that have completed a depth, by their positions' keys.
    pub progress: BTreeMap<u64, Iteration>,
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) ledger: Ledger,
    pub(crate) spec: BookJobSpec,
    /// Positions to be searched, in the order of their numbers.
    pub(crate) todo: BTreeSet<NodeId>,
    /// Positions that are being searched, by the jobs that do it.
    pub(crate) running: BTreeMap<JobId, NodeId>,
    /// Those of them that wait for a slot as a whole.
    pub(crate) free: BTreeSet<JobId>,
    /// What it counts as given, in positions visited.
    pub(crate) served: u64,
    /// Searches that were interrupted, by their positions' keys.
    progress: BTreeMap<u64, Iteration>,
    /// Positions visited.
    nodes: u64,
    searched: u64,
    added: u64,
    failed: u64,
    /// Nothing is left to add that would cost less.
    is_exhausted: bool,
    /// How many positions it was about when it ended.
    last_total: Option<u64>,
}

impl Batch {
    pub(crate) fn new(id: JobId, spec: BookJobSpec, book: &Book, now: Duration) -> Self {
        let mut batch = Self {
            ledger: Ledger::new(id, spec.detach, now),
            todo: BTreeSet::new(),
            running: BTreeMap::new(),
            free: BTreeSet::new(),
            served: 0,
            progress: BTreeMap::new(),
            nodes: 0,
            searched: 0,
            added: 0,
            failed: 0,
            is_exhausted: false,
            last_total: None,
            spec,
        };
        let most = match batch.spec.task {
            BookTask::Analyze { most: Some(most), .. } => usize::try_from(most).unwrap_or(usize::MAX),
            _ => usize::MAX,
        };
        // The others are for whoever asks again.
        batch.todo = batch.unknown(book).take(most.min(limits::MAX_POSITIONS_PER_JOB)).collect();
        batch
    }

    /// What is wanted to be known of each position.
    fn wanted(&self) -> Wanted<'static> {
        let stale = matches!(self.spec.task, BookTask::Analyze { stale: true, .. });
        Wanted {
            limits: self.spec.limits,
            multipv: self.spec.multipv,
            prune: self.spec.prune,
            stale,
            engine: ENGINE_EPOCH,
        }
    }

    /// Positions of which not enough is known.
    fn unknown<'a>(&self, book: &'a Book) -> impl Iterator<Item = NodeId> + use<'a> {
        let wanted = self.wanted();
        book.ids().filter(move |&id| wanted.of(book.node(id)).is_some())
    }

    /// Positions were imported: those of which not enough is known are part of the work of whoever does all of it, as far as a
    /// job may have so many.
    pub(crate) fn take_in(&mut self, book: &Book, new: &[NodeId]) {
        if !matches!(self.spec.task, BookTask::Analyze { most: None, .. }) {
            return;
        }
        let total = usize::try_from(self.total() + self.failed).unwrap_or(usize::MAX);
        let room = limits::MAX_POSITIONS_PER_JOB.saturating_sub(total);
        let wanted = self.wanted();
        let unknown = new.iter().filter(|&&id| wanted.of(book.node(id)).is_some());
        self.todo.extend(unknown.take(room));
    }

    /// The first events.
    pub(crate) fn announce(&mut self, book: &Book, effects: &mut Vec<Effect>) {
        let (job, spec) = (self.ledger.id, Box::new(self.spec.clone()));
        effects.push(Effect::Keep(Keep::BookJob { job, spec }));
        let accepted = BookAccepted {
            job,
            book: Arc::clone(&self.spec.book),
            task: self.spec.task,
            positions: count(book.len()),
            total: count(self.todo.len()),
        };
        self.ledger.emit(JobEvent::BookAccepted(accepted), effects);
    }

    /// The next position to search, with what is wanted and how far that was before; positions that have become
    /// known meanwhile are passed over.
    pub(crate) fn next(&mut self, book: &Book) -> Option<(NodeId, Order, Option<Iteration>)> {
        let wanted = self.wanted();
        while let Some(id) = self.todo.pop_first() {
            let node = book.node(id);
            if let Some(order) = wanted.of(node) {
                return Some((id, order, self.progress.remove(&node.key())));
            }
        }
        None
    }

    /// How many positions may be added now, when so many are searched at once. To choose them means to look at the whole book, so
    /// it is done for half of them at a time.
    pub(crate) fn room_to_grow(&self, book: &Book, now: Duration, at_once: usize) -> usize {
        let BookTask::Expand { positions, .. } = self.spec.task else { return 0 };
        if !self.todo.is_empty() || self.is_exhausted || self.is_late(now) {
            return 0;
        }
        let left = positions.map_or(u64::MAX, |positions| u64::from(positions).saturating_sub(self.added));
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        if !self.spec.deterministic {
            let room = at_once.saturating_sub(self.running.len());
            return if 2 * room < at_once { 0 } else { left.min(room.max(book.len() / LOOK_SHARE)) };
        }
        if !self.running.is_empty() {
            return 0;
        }
        left.min((book.len() / ROUND_SHARE).clamp(LEAST_ROUND, LARGEST_ROUND))
    }

    /// Positions were added for it.
    pub(crate) fn grown(&mut self, ids: &[NodeId]) {
        self.added += count(ids.len());
        self.todo.extend(ids);
        // What is being searched may show more.
        self.is_exhausted = ids.is_empty() && self.running.is_empty();
    }

    /// No more positions are added from then on.
    pub(crate) fn growth_ends(&self) -> Option<Duration> {
        match self.spec.task {
            BookTask::Expand { time: Some(time), .. } => self.ledger.after(time),
            _ => None,
        }
    }

    fn is_late(&self, now: Duration) -> bool {
        self.growth_ends().is_some_and(|end| end <= now)
    }

    /// Why it ends now, if it does.
    pub(crate) fn stop_reason(&self, now: Duration) -> Option<BookStop> {
        if !self.running.is_empty() || !self.todo.is_empty() {
            return None;
        }
        let BookTask::Expand { positions, .. } = self.spec.task else { return Some(BookStop::Complete) };
        if positions.is_some_and(|positions| self.added >= u64::from(positions)) {
            Some(BookStop::Complete)
        } else if self.is_exhausted {
            Some(BookStop::Cost)
        } else {
            self.is_late(now).then_some(BookStop::Time)
        }
    }

    /// A position was searched.
    pub(crate) fn position_done(
        &mut self,
        book: &Book,
        id: NodeId,
        nodes: u64,
        now: Duration,
        workers: u32,
        effects: &mut Vec<Effect>,
    ) {
        self.searched += 1;
        self.nodes += nodes;
        let progress = BookProgress {
            done: self.searched,
            total: self.total(),
            nodes: self.nodes,
            elapsed: self.ledger.elapsed(now),
            workers,
        };
        let report = PositionReport { record: book.record(id), progress };
        self.ledger.emit(JobEvent::Position(Box::new(report)), effects);
    }

    /// The search of a position failed.
    pub(crate) fn position_failed(&mut self, position: Position, message: String, effects: &mut Vec<Effect>) {
        self.failed += 1;
        let failure = PositionFailure { position, message };
        self.ledger.emit(JobEvent::PositionFailed(Box::new(failure)), effects);
    }

    /// A search was given up for now.
    pub(crate) fn put_back(&mut self, id: NodeId, key: u64, iteration: Option<Iteration>) {
        self.todo.insert(id);
        if let Some(iteration) = iteration {
            self.progress.insert(key, iteration);
        }
    }

    /// Positions that the search of one of its positions has visited so far, on average; `None` before the first.
    pub(crate) fn nodes_each(&self) -> Option<u64> {
        self.nodes.checked_div(self.searched)
    }

    fn total(&self) -> u64 {
        self.last_total.unwrap_or_else(|| self.searched + count(self.todo.len() + self.running.len()))
    }

    /// It has no more parts.
    pub(crate) fn close(&mut self) {
        self.last_total = Some(self.total());
        self.running.clear();
        self.free.clear();
    }

    /// The job's last event.
    pub(crate) fn end(
        &mut self,
        book: &Book,
        stop: Result<BookStop, Failure>,
        now: Duration,
        effects: &mut Vec<Effect>,
    ) {
        debug_assert!(self.running.is_empty(), "a search outlived its job");
        let (state, reason, event) = match stop {
            Ok(stopped_by) => {
                let done = BookDone {
                    positions: count(book.len()),
                    searched: self.searched,
                    added: self.added,
                    failed: self.failed,
                    left: count(self.unknown(book).count()),
                    nodes: self.nodes,
                    elapsed: self.ledger.elapsed(now),
                    stopped_by,
                };
                let reason = if stopped_by == BookStop::Cancel { CANCELLED } else { "" };
                (JobState::Done, reason.to_owned(), JobEvent::BookDone(done))
            }
            Err(failure) => (JobState::Failed, failure.message.clone(), JobEvent::Error(failure)),
        };
        self.ledger.end(now, state, reason, event, effects);
        self.ledger.keep(self.standing(now), effects);
        self.todo = BTreeSet::new();
        self.progress = BTreeMap::new();
        self.ledger.dismiss(effects);
    }

    pub(crate) fn standing(&self, now: Duration) -> Standing {
        self.ledger.standing(now, self.nodes)
    }

    pub(crate) fn summary(&self, now: Duration) -> JobSummary {
        JobSummary {
            job: self.ledger.id,
            state: self.ledger.state,
            reason: self.ledger.reason().to_owned(),
            position: None,
            book: Some(BookSummary {
                book: Arc::clone(&self.spec.book),
                task: self.spec.task,
                done: self.searched,
                total: self.total(),
            }),
            depth: 0,
            best_move: None,
            score_white: None,
            nodes: self.nodes,
            elapsed: self.ledger.elapsed(now),
            last_seq: self.ledger.last_seq(),
            priority: self.spec.priority,
            limits: self.spec.limits,
        }
    }

    /// Goes on with a job that another coordinator has left behind. Positions that it has searched are known, and those whose
    /// search failed are not tried again.
    pub(crate) fn restore(kept: KeptBatch, book: Option<&Book>, now: Duration) -> Self {
        let KeptBatch { job, spec, standing, events, added, progress } = kept;
        let nothing = Book::new();
        let mut batch = Self::new(job, spec, &nothing, now);
        let mut given_up = BTreeSet::new();
        for record in &events {
            match &record.event {
                JobEvent::Position(report) => {
                    batch.searched += 1;
                    batch.nodes = report.progress.nodes;
                }
                JobEvent::PositionFailed(failure) => {
                    batch.failed += 1;
                    given_up.insert(failure.position.canonical_key());
                }
                _ => {}
            }
        }
        batch.added = added;
        batch.progress = progress;
        batch.ledger.restore(&standing, events, now);
        if let Some(book) = book.filter(|_| !batch.ledger.state.is_final()) {
            let most = match batch.spec.task {
                BookTask::Analyze { most: Some(most), .. } => {
                    u64::from(most).saturating_sub(batch.searched + batch.failed)
                }
                _ => u64::MAX,
            };
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            let unknown = batch.unknown(book).filter(|&id| !given_up.contains(&book.node(id).key()));
            batch.todo = unknown.take(most).collect();
        }
        batch
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
