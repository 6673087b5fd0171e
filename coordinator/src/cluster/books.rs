//! Books in memory, and the jobs that work on them.
//!
//! A book's job has its positions searched by jobs of its own, a few more at a time than there are slots, so that whole
//! positions keep all workers busy; only when fewer are left than that are they split. These parts are silent: nobody sees
//! them, nothing of them is kept but the depths that took long.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use corridor_shared::board::{Move, Position};
use corridor_shared::book::{Alternative, Book, Effort, Learned, NodeId, Order, Searched};
use corridor_shared::job::{
    BookJobSpec, BookStop, BookTask, DoneReport, ENGINE_EPOCH, Failure, JobId, JobLimits, JobState, Line,
    StoppedBy, WorkerId,
};
use corridor_shared::score::Bound;

use super::batch::Batch;
use super::job::{End, Job};
use super::ledger::{Ledger, PAUSED_BY_CLIENT};
use super::messages::{Effect, Entered, Iteration, Keep, Refusal, WatcherId};
use super::{Cluster, check_multipv, exhausted};
use crate::limits;

/// Numbers of parts begin here, out of the way of those that clients see.
const FIRST_PART: u64 = 1 << 63;
/// A search that has run for so long keeps each depth that it completes.
const LONG_SEARCH: Duration = Duration::from_secs(1);

impl Cluster {
    // ---- what clients ask -----------------------------------------------------------------------------------------

    pub(super) fn open_book(&mut self, name: Arc<str>, book: Book) {
        self.books.entry(name).or_insert(book);
    }

    fn book_mut(&mut self, name: &str) -> Result<&mut Book, Refusal> {
        self.books.get_mut(name).ok_or_else(|| Refusal::NotFound(format!("there is no book '{name}'")))
    }

    /// Adds positions and what is known about some. Everything is checked before anything is changed.
    pub(super) fn enter(
        &mut self,
        name: &Arc<str>,
        positions: &[Position],
        found: Vec<(Position, Searched)>,
        effects: &mut Vec<Effect>,
    ) -> Result<Entered, Refusal> {
        self.check_store()?;
        let book = self.book_mut(name)?;
        if book.len() + positions.len() + found.len() > limits::MAX_BOOK_POSITIONS {
            let all = positions.iter().chain(found.iter().map(|(position, _)| position));
            let new: BTreeSet<u64> =
                all.filter(|it| book.find(it).is_none()).map(Position::canonical_key).collect();
            if book.len() + new.len() > limits::MAX_BOOK_POSITIONS {
                return Err(exhausted("max_book_positions", limits::MAX_BOOK_POSITIONS));
            }
        }
        let mut entered = Entered::default();
        let before = book.len();
        for position in positions.iter().chain(found.iter().map(|(position, _)| position)) {
            book.insert(position).map_err(|error| Refusal::Invalid(error.to_string()))?;
        }
        entered.new_positions = count(book.len() - before);
        let mut taken = Vec::new();
        for (position, searched) in found {
            let Some(id) = book.find(&position) else { continue };
            if book.learn(id, searched, ENGINE_EPOCH) == Learned::Value {
                taken.push(id);
            }
        }
        entered.new_values = count(taken.len());
        entered.positions = count(book.len());
        self.keep_new(name, before, None, effects);
        for id in taken {
            self.keep_found(name, id, Vec::new(), effects);
        }
        self.settle_book(name, effects);
        self.tell_of_new(name, before);
        Ok(entered)
    }

    pub(super) fn revision(&self, name: &str) -> u64 {
        self.revisions.get(name).copied().unwrap_or(0)
    }

    /// A book is another one from now on.
    fn revise(&mut self, name: &Arc<str>) {
        *self.revisions.entry(Arc::clone(name)).or_default() += 1;
    }

    /// Open jobs take in what was imported, from a number on: whoever imports and then asks for the same work joins one of them.
    fn tell_of_new(&mut self, name: &Arc<str>, from: usize) {
        let Some(book) = self.books.get(name) else { return };
        let new: Vec<NodeId> = book.ids().skip(from).collect();
        let open = |batch: &&mut Batch| *batch.spec.book == **name && !batch.ledger.state.is_final();
        for batch in self.batches.values_mut().filter(open) {
            batch.take_in(book, &new);
        }
    }

    pub(super) fn replace_book(
        &mut self,
        name: Arc<str>,
        book: Book,
        revision: u64,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Refusal> {
        self.check_store()?;
        let busy = |batch: &&Batch| *batch.spec.book == *name && !batch.ledger.state.is_final();
        if let Some(batch) = self.batches.values().find(busy) {
            let job = batch.ledger.id;
            return Err(Refusal::Precondition(format!(
                "job {job} works on book '{name}': cancel it or wait for it"
            )));
        }
        if self.revision(&name) != revision {
            return Err(Refusal::Precondition(format!(
                "book '{name}' has changed while it was checked: try again"
            )));
        }
        self.revise(&name);
        let content = Box::new(book.clone());
        effects.push(Effect::Keep(Keep::Rewrite { name: Arc::clone(&name), book: content }));
        self.books.insert(name, book);
        Ok(())
    }

    pub(super) fn submit_book(
        &mut self,
        now: Duration,
        spec: BookJobSpec,
        watcher: Option<WatcherId>,
        effects: &mut Vec<Effect>,
    ) -> Result<JobId, Refusal> {
        check_multipv(spec.multipv)?;
        self.check_store()?;
        if watcher.is_some() {
            self.check_watchers()?;
        }
        if let Some(job) = self.join(&spec, watcher, effects) {
            return Ok(job);
        }
        if self.open_jobs() >= limits::MAX_OPEN_JOBS {
            return Err(exhausted("max_open_jobs", limits::MAX_OPEN_JOBS));
        }
        let name = Arc::clone(&spec.book);
        let id = JobId(self.last_job + 1);
        let book = self.book_mut(&name)?;
        if book.is_empty() {
            return Err(Refusal::Precondition(format!("book '{name}' has no positions: import some")));
        }
        let mut batch = Batch::new(id, spec, book, now);
        self.last_job = id.0;
        if let Some(watcher) = watcher {
            batch.ledger.watched(watcher);
            self.watchers.insert(watcher, id);
        }
        if let Some(book) = self.books.get(&name) {
            batch.announce(book, effects);
        }
        batch.served = self.least_served();
        self.open_batches.insert((Reverse(batch.spec.priority), id));
        self.batches.insert(id, batch);
        self.counted.jobs_accepted += 1;
        Ok(id)
    }

    /// An open job that does just that: whoever asks again, because an answer was lost or a client was killed, joins it.
    fn join(
        &mut self,
        spec: &BookJobSpec,
        watcher: Option<WatcherId>,
        effects: &mut Vec<Effect>,
    ) -> Option<JobId> {
        let same = |batch: &&mut Batch| !batch.ledger.state.is_final() && batch.spec.is_same_work(spec);
        let batch = self.batches.values_mut().find(same)?;
        let job = batch.ledger.id;
        if spec.detach {
            batch.ledger.let_go();
        }
        let is_other = batch.spec.priority != spec.priority;
        if let Some(watcher) = watcher {
            let records = batch.ledger.events_after(0);
            effects.push(Effect::Deliver { job, watcher, records });
            batch.ledger.watched(watcher);
            self.watchers.insert(watcher, job);
        }
        if is_other {
            self.prioritise(job, spec.priority, effects);
        }
        Some(job)
    }

    /// A book's job is served in another order from now on.
    fn prioritise(&mut self, id: JobId, priority: i32, effects: &mut Vec<Effect>) {
        for part in self.parts(id) {
            let Some(mut job) = self.jobs.remove(&part) else { continue };
            self.displace(&job);
            job.spec.priority = priority;
            job.due = None;
            self.jobs.insert(part, job);
            self.place(part);
        }
        let Some(batch) = self.batches.get_mut(&id) else { return };
        self.open_batches.remove(&(Reverse(batch.spec.priority), id));
        batch.spec.priority = priority;
        effects.push(Effect::Keep(Keep::BookJob { job: id, spec: Box::new(batch.spec.clone()) }));
        self.open_batches.insert((Reverse(priority), id));
    }

    // ---- parts ----------------------------------------------------------------------------------------------------

    /// Gives open books' jobs as many searches as keep all slots busy, and ends those that have nothing left.
    pub(super) fn feed_books(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        let open: Vec<JobId> = self.open_batches.iter().map(|&(_, id)| id).collect();
        for id in open {
            self.feed(now, id, effects);
            let stop = self.batches.get(&id).filter(|batch| batch.ledger.is_open());
            if let Some(stop) = stop.and_then(|batch| batch.stop_reason(now)) {
                self.end_batch(now, id, Ok(stop), effects);
            }
        }
    }

    fn feed(&mut self, now: Duration, id: JobId, effects: &mut Vec<Effect>) {
        let slots = self.fleet.slots();
        let Some(batch) = self.batches.get_mut(&id).filter(|batch| batch.ledger.is_open()) else { return };
        // A search with a time limit must not wait; any other one should, so that no slot waits for it.
        let each = batch.nodes_each();
        let is_timed = batch.spec.limits.time.is_some();
        let wanted = if is_timed { slots } else { slots * self.parts_per_slot(each) };
        loop {
            let Some(batch) = self.batches.get_mut(&id) else { return };
            let at_once = wanted.min(limits::MAX_PARTS);
            let has_room = batch.running.len() < at_once;
            let Some(book) = self.books.get(&batch.spec.book).filter(|_| has_room) else { return };
            if let Some((node, order, iteration)) = batch.next(book) {
                self.begin_part(now, id, node, order, iteration, effects);
                continue;
            }
            let most = batch.room_to_grow(book, now, at_once);
            if most == 0 || !self.grow(id, most, effects) {
                return;
            }
        }
    }

    fn begin_part(
        &mut self,
        now: Duration,
        of: JobId,
        node: NodeId,
        order: Order,
        iteration: Option<Iteration>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(batch) = self.batches.get_mut(&of) else { return };
        let Some(book) = self.books.get(&batch.spec.book) else { return };
        self.last_part += 1;
        let id = JobId(FIRST_PART + self.last_part);
        let spec = batch.spec.search(*book.node(node).position(), order);
        let mut job = Job::part(id, of, spec, now);
        let over = iteration.and_then(|iteration| {
            job.whole = None;
            job.resume(iteration)
        });
        batch.running.insert(id, node);
        self.jobs.insert(id, job);
        self.place(id);
        self.stale.entry(id).or_default();
        if let Some(stopped_by) = over {
            self.end_job(now, id, End::Done(stopped_by), effects);
        }
    }

    /// Adds the positions that the book misses most. Returns whether there are any.
    fn grow(&mut self, id: JobId, most: usize, effects: &mut Vec<Effect>) -> bool {
        let Some(batch) = self.batches.get_mut(&id) else { return false };
        let BookTask::Expand { growth, .. } = batch.spec.task else { return false };
        let name = Arc::clone(&batch.spec.book);
        let Some(book) = self.books.get_mut(&name) else { return false };
        let most = most.min(limits::MAX_BOOK_POSITIONS.saturating_sub(book.len()));
        let before = book.len();
        let mut added = Vec::new();
        for leaf in book.frontier(&growth, most) {
            let position = book.node(leaf.parent).position().after(leaf.mv);
            // Two moves may lead to the same position; a key that is taken is nobody's fault.
            added.extend(book.insert(&position).ok().filter(|&(_, is_new)| is_new).map(|(node, _)| node));
        }
        batch.grown(&added);
        self.keep_new(&name, before, Some(id), effects);
        self.settle_book(&name, effects);
        !added.is_empty()
    }

    /// A part has ended: its job learns what it found. Whatever it was ends here.
    pub(super) fn end_part(
        &mut self,
        now: Duration,
        of: JobId,
        id: JobId,
        end: End,
        effects: &mut Vec<Effect>,
    ) {
        let Some(job) = self.drop_part(id) else { return };
        let Some(batch) = self.batches.get_mut(&of) else { return };
        let Some(node) = batch.running.remove(&id) else { return };
        let name = Arc::clone(&batch.spec.book);
        let Some(book) = self.books.get(&name) else { return };
        match end {
            End::Done(stopped_by) => {
                let report = job.done(stopped_by, now);
                self.take_found(now, of, node, &job, report, effects);
            }
            End::Failed(_) if self.fleet.is_empty() => {
                batch.put_back(node, book.node(node).key(), Some(job.iteration()).filter(|it| it.depth > 0));
            }
            End::Failed(failure) => {
                batch.position_failed(*book.node(node).position(), failure.message, effects);
            }
        }
    }

    fn take_found(
        &mut self,
        now: Duration,
        of: JobId,
        node: NodeId,
        job: &Job,
        report: DoneReport,
        effects: &mut Vec<Effect>,
    ) {
        let workers = u32::try_from(self.fleet.len()).unwrap_or(u32::MAX);
        let analysed_at = (self.config.unix_time + now).as_secs();
        let Some(batch) = self.batches.get_mut(&of) else { return };
        let name = Arc::clone(&batch.spec.book);
        let Some(book) = self.books.get_mut(&name) else { return };
        let Some(searched) = searched(job, &report, analysed_at) else {
            let message = "no depth was completed".to_owned();
            return batch.position_failed(*book.node(node).position(), message, effects);
        };
        match book.learn(node, searched, ENGINE_EPOCH) {
            Learned::Value => {
                self.keep_found(&name, node, report.lines, effects);
                self.settle_book(&name, effects);
            }
            Learned::Effort => self.keep_effort(&name, node, effects),
            Learned::Nothing => {}
        }
        let (Some(batch), Some(book)) = (self.batches.get_mut(&of), self.books.get(&name)) else { return };
        batch.position_done(book, node, report.nodes, now, workers, effects);
    }

    /// Takes a part out of the cluster. Its leases must have been ended.
    fn drop_part(&mut self, id: JobId) -> Option<Job> {
        let mut job = self.jobs.remove(&id)?;
        self.displace(&job);
        self.stale.remove(&id);
        self.tree_nodes -= std::mem::take(&mut job.tree_nodes);
        Some(job)
    }

    fn parts(&self, id: JobId) -> Vec<JobId> {
        self.batches.get(&id).map(|batch| batch.running.keys().copied().collect()).unwrap_or_default()
    }

    /// A part has completed a depth: if it took long that is kept.
    pub(super) fn keep_progress(&self, now: Duration, id: JobId, effects: &mut Vec<Effect>) {
        let Some(job) = self.jobs.get(&id) else { return };
        let Some(batch) = job.part_of.and_then(|of| self.batches.get(&of)) else { return };
        if job.ledger.elapsed(now) < LONG_SEARCH {
            return;
        }
        effects.push(Effect::Keep(Keep::Progress {
            book: Arc::clone(&batch.spec.book),
            key: job.spec.position.canonical_key(),
            job: batch.ledger.id,
            iteration: Box::new(job.iteration()),
        }));
    }

    // ---- whole jobs -----------------------------------------------------------------------------------------------

    pub(super) fn end_batch(
        &mut self,
        now: Duration,
        id: JobId,
        stop: Result<BookStop, Failure>,
        effects: &mut Vec<Effect>,
    ) {
        for part in self.parts(id) {
            self.revoke_all(now, part, effects);
            self.deaths.forget(part);
            drop(self.drop_part(part));
        }
        let Some(batch) = self.batches.get_mut(&id).filter(|batch| !batch.ledger.state.is_final()) else {
            return;
        };
        batch.close();
        for watcher in &batch.ledger.watchers {
            self.watchers.remove(watcher);
        }
        let nothing = Book::new();
        let book = self.books.get(&batch.spec.book).unwrap_or(&nothing);
        batch.end(book, stop, now, effects);
        self.open_batches.remove(&(Reverse(batch.spec.priority), id));
        self.counted.jobs_ended += 1;
        self.ended.insert((now, id));
        self.forget_oldest(effects);
    }

    /// Holds a book's job, or lets it go on.
    pub(super) fn pause_batch(&mut self, now: Duration, id: JobId, paused: bool, effects: &mut Vec<Effect>) {
        for part in self.parts(id) {
            if paused {
                self.revoke_all(now, part, effects);
            }
            if let Some(job) = self.jobs.get_mut(&part) {
                job.ledger.paused = paused;
                job.ledger.set_clock(now);
                self.stale.entry(part).or_default();
            }
        }
        let Some(batch) = self.batches.get_mut(&id) else { return };
        batch.ledger.paused = paused;
        batch.ledger.set_clock(now);
        if paused {
            batch.ledger.set_state(JobState::Paused, PAUSED_BY_CLIENT, effects);
        }
        batch.ledger.keep(batch.standing(now), effects);
    }

    /// Says of each open book's job why nothing runs, or that something does.
    pub(super) fn tell_book_states(&mut self, effects: &mut Vec<Effect>) {
        for (_, id) in &self.open_batches {
            let Some(batch) = self.batches.get_mut(id).filter(|batch| batch.ledger.is_open()) else {
                continue;
            };
            let runs =
                |id: &JobId| self.jobs.get(id).is_some_and(|job| job.ledger.state == JobState::Running);
            if self.fleet.is_empty() {
                batch.ledger.set_state(JobState::Waiting, "no worker is connected", effects);
            } else if batch.running.keys().any(runs) {
                batch.ledger.set_state(JobState::Running, "workers search its positions", effects);
            } else if batch.ledger.state != JobState::Running {
                batch.ledger.set_state(JobState::Queued, "all workers are busy", effects);
            }
        }
    }

    /// What is known of a job to those outside, whatever it is.
    pub(super) fn ledger(&self, id: JobId) -> Result<&Ledger, Refusal> {
        let job = self.jobs.get(&id).filter(|job| job.part_of.is_none()).map(|job| &job.ledger);
        let ledger = job.or_else(|| self.batches.get(&id).map(|batch| &batch.ledger));
        ledger.ok_or_else(|| Refusal::NotFound(format!("there is no job {id}")))
    }

    pub(super) fn ledger_mut(&mut self, id: JobId) -> Option<&mut Ledger> {
        let job = self.jobs.get_mut(&id).filter(|job| job.part_of.is_none()).map(|job| &mut job.ledger);
        job.or_else(|| self.batches.get_mut(&id).map(|batch| &mut batch.ledger))
    }

    // ---- what is kept ---------------------------------------------------------------------------------------------

    /// Keeps the positions of a book from a number on, with all edges from and to them.
    fn keep_new(&mut self, name: &Arc<str>, from: usize, job: Option<JobId>, effects: &mut Vec<Effect>) {
        if self.books.get(name).is_none_or(|book| book.len() <= from) {
            return;
        }
        self.revise(name);
        let Some(book) = self.books.get(name) else { return };
        let new: Vec<NodeId> = book.ids().skip(from).collect();
        let mut edges = Vec::new();
        for &id in &new {
            let node = book.node(id);
            edges.extend(
                node.children().iter().map(|edge| (node.key(), edge.mv, book.node(edge.child).key())),
            );
            // Those from new positions are among the others.
            for &parent in node.parents().iter().filter(|parent| parent.index() < from) {
                let parent = book.node(parent);
                let leads_here = parent.children().iter().filter(|edge| edge.child == id);
                edges.extend(leads_here.map(|edge| (parent.key(), edge.mv, node.key())));
            }
        }
        let number = |id: &NodeId| u32::try_from(id.index()).unwrap_or(u32::MAX);
        let positions = new.iter().map(|id| (number(id), *book.node(*id).position())).collect();
        effects.push(Effect::Keep(Keep::Positions { book: Arc::clone(name), job, positions, edges }));
    }

    fn keep_found(&mut self, name: &Arc<str>, id: NodeId, lines: Vec<Line>, effects: &mut Vec<Effect>) {
        self.revise(name);
        let Some(node) = self.books.get(name).map(|book| book.node(id)) else { return };
        let Some(searched) = node.searched().cloned().map(Box::new) else { return };
        let (book, key) = (Arc::clone(name), node.key());
        effects.push(Effect::Keep(Keep::Found { book, key, searched, lines }));
    }

    fn keep_effort(&self, name: &Arc<str>, id: NodeId, effects: &mut Vec<Effect>) {
        let Some(node) = self.books.get(name).map(|book| book.node(id)) else { return };
        let Some(effort) = node.searched().map(|searched| searched.effort) else { return };
        effects.push(Effect::Keep(Keep::Effort { book: Arc::clone(name), key: node.key(), effort }));
    }

    /// Brings a book up to date and keeps what it says now.
    fn settle_book(&mut self, name: &Arc<str>, effects: &mut Vec<Effect>) {
        let Some(book) = self.books.get_mut(name) else { return };
        let changed = book.settle();
        if changed.is_empty() {
            return;
        }
        let value = |id: NodeId| (book.node(id).key(), book.node(id).value());
        let values = changed.into_iter().map(value).collect();
        effects.push(Effect::Keep(Keep::Values { book: Arc::clone(name), values }));
    }

    /// Who has searched a root move of a part.
    pub(super) fn note_searcher(&mut self, id: JobId, mv: Move, worker: Option<WorkerId>) {
        let name = worker.and_then(|worker| self.fleet.worker(worker));
        let name = name.map(|worker| worker.registration.name.clone());
        if let (Some(job), Some(name)) = (self.jobs.get_mut(&id), name) {
            job.searchers.insert(mv, name);
        }
    }
}

/// What a part has found, as the book takes it; `None` if it has completed no depth.
fn searched(job: &Job, report: &DoneReport, analysed_at: u64) -> Option<Searched> {
    let (best, others) = report.lines.split_first()?;
    let other = |line: &Line| Alternative { mv: line.mv, score_white: line.score_white, bound: line.bound };
    Some(Searched {
        depth: report.depth,
        score_white: best.score_white,
        bound: Bound::Exact,
        best_move: Some(best.mv),
        pv: best.pv.clone(),
        nodes: report.nodes,
        engine: ENGINE_EPOCH.into(),
        analysed_at,
        worker: job.searchers.get(&best.mv).map_or("", String::as_str).into(),
        multipv: job.spec.multipv,
        prune: job.spec.prune,
        deterministic: job.spec.deterministic,
        others: others.iter().map(other).collect(),
        effort: effort(&job.spec.limits, report),
    })
}

/// What a search was given: its limit, if that has ended it, however little of it the search has used.
fn effort(limits: &JobLimits, report: &DoneReport) -> Effort {
    let ms = u64::try_from(report.elapsed.as_millis()).unwrap_or(u64::MAX);
    let (mut effort, is_deep) =
        (Effort { nodes: report.nodes, ms }, limits.depth.is_some_and(|depth| report.depth >= depth));
    match report.stopped_by {
        StoppedBy::Time => {
            let time = limits.time.map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
            effort.ms = effort.ms.max(time);
        }
        _ if !is_deep => effort.nodes = effort.nodes.max(limits.nodes.unwrap_or(0)),
        _ => {}
    }
    effort
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
