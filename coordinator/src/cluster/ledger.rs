//! What is known of a job to those outside: where it stands, what has happened to it, and who watches.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use corridor_shared::job::{EventRecord, JobEvent, JobId, JobState, StateChange};

use super::messages::{Effect, Keep, Standing, WatcherId};
use crate::limits::UNWATCHED_TIME;

/// The reason that a client's pause is given.
pub(crate) const PAUSED_BY_CLIENT: &str = "paused by a client";

/// Why a job has ended that was not to go on.
pub(crate) const CANCELLED: &str = "cancelled";

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    pub(crate) id: JobId,
    pub(crate) state: JobState,
    pub(crate) watchers: BTreeSet<WatcherId>,
    /// Held by a client; the state tells no more than that nothing runs.
    pub(crate) paused: bool,
    /// Held because a unit of it kills workers, as this says.
    pub(crate) parked: Option<String>,
    /// Nobody is told about it, and nothing of it is kept: it is a part of another job.
    is_silent: bool,
    detach: bool,
    /// The state that watchers were told last.
    told: Option<JobState>,
    /// Why it is in that state, or has failed.
    reason: String,
    accepted_at: Duration,
    /// Until when it had a unit at a worker, or when it came.
    served_at: Duration,
    /// Time that had passed when it was accepted again by this coordinator.
    elapsed_before: Duration,
    /// It is held because the store cannot be written.
    held: bool,
    /// Its clock stands still since then, for any of the three reasons for which nothing of it runs.
    still_since: Option<Duration>,
    ended_at: Option<Duration>,
    unwatched_since: Option<Duration>,
    log: Vec<Arc<EventRecord>>,
}

impl Ledger {
    /// Of a job that has just been accepted, without events.
    pub(crate) fn new(id: JobId, detach: bool, now: Duration) -> Self {
        Self {
            id,
            state: JobState::Queued,
            watchers: BTreeSet::new(),
            paused: false,
            parked: None,
            is_silent: false,
            detach,
            told: None,
            reason: String::new(),
            accepted_at: now,
            served_at: now,
            elapsed_before: Duration::ZERO,
            held: false,
            still_since: None,
            ended_at: None,
            unwatched_since: None,
            log: Vec::new(),
        }
    }

    /// The same of a part of another job.
    pub(crate) fn silent(self) -> Self {
        Self { is_silent: true, ..self }
    }

    /// It has had a unit at a worker until now.
    pub(crate) const fn served(&mut self, now: Duration) {
        self.served_at = now;
    }

    /// How long it has had nothing at any worker, if that is so.
    pub(crate) const fn unserved(&self, now: Duration) -> Duration {
        now.saturating_sub(self.served_at)
    }

    /// Appends an event and hands it to whoever watches.
    pub(crate) fn emit(&mut self, event: JobEvent, effects: &mut Vec<Effect>) {
        if self.is_silent {
            return;
        }
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

    /// All events.
    pub(crate) fn events(&self) -> &[Arc<EventRecord>] {
        &self.log
    }

    /// The events after a cursor.
    pub(crate) fn events_after(&self, seq: u64) -> Vec<Arc<EventRecord>> {
        let seen = usize::try_from(seq).unwrap_or(usize::MAX);
        self.log.get(seen..).unwrap_or_default().to_vec()
    }

    /// Why it is in its state.
    pub(crate) fn reason(&self) -> &str {
        &self.reason
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

    /// It goes on without watchers from now on.
    pub(crate) const fn let_go(&mut self) {
        self.detach = true;
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

    /// Its clock begins now, whatever has passed.
    pub(crate) const fn begin(&mut self, now: Duration) {
        self.accepted_at = now;
    }

    /// When so much time has passed; `None` while its clock stands still.
    pub(crate) fn after(&self, time: Duration) -> Option<Duration> {
        if self.still_since.is_some() {
            return None;
        }
        Some(self.accepted_at.saturating_add(time.saturating_sub(self.elapsed_before)))
    }

    /// When it is cancelled because nobody watches.
    pub(crate) fn abandoned_at(&self) -> Option<Duration> {
        if self.detach { None } else { Some(self.unwatched_since? + UNWATCHED_TIME) }
    }

    /// Time since acceptance during which it could run, until its end if it has ended.
    pub(crate) fn elapsed(&self, now: Duration) -> Duration {
        let until = self.still_since.or(self.ended_at).unwrap_or(now);
        until.saturating_sub(self.accepted_at).saturating_add(self.elapsed_before)
    }

    /// Its last event.
    pub(crate) fn end(
        &mut self,
        now: Duration,
        state: JobState,
        reason: String,
        event: JobEvent,
        effects: &mut Vec<Effect>,
    ) {
        self.ended_at = Some(now);
        self.state = state;
        self.reason = reason;
        self.emit(event, effects);
    }

    /// Lets go of whoever watches.
    pub(crate) fn dismiss(&mut self, effects: &mut Vec<Effect>) {
        let job = self.id;
        let finish = |watcher| Effect::Finish { job, watcher };
        effects.extend(std::mem::take(&mut self.watchers).into_iter().map(finish));
    }

    /// Keeps where it stands.
    pub(crate) fn keep(&self, standing: Standing, effects: &mut Vec<Effect>) {
        if !self.is_silent {
            effects.push(Effect::Keep(Keep::Standing { job: self.id, standing: Box::new(standing) }));
        }
    }

    /// Where it stands, after so many positions.
    pub(crate) fn standing(&self, now: Duration, nodes: u64) -> Standing {
        Standing {
            state: if self.parked.is_some() { JobState::Parked } else { self.state },
            paused: self.paused,
            nodes,
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

    /// Goes on where another coordinator has stopped.
    pub(crate) fn restore(&mut self, standing: &Standing, events: Vec<Arc<EventRecord>>, now: Duration) {
        self.state = standing.state;
        self.paused = standing.paused;
        let why = |record: &Arc<EventRecord>| match &record.event {
            JobEvent::State(change) => Some(change.reason.clone()),
            JobEvent::Error(failure) => Some(failure.message.clone()),
            JobEvent::Done(_) | JobEvent::BookDone(_) => Some(String::new()),
            _ => None,
        };
        self.reason = events.iter().rev().find_map(why).unwrap_or_default();
        self.parked = (standing.state == JobState::Parked).then(|| self.reason.clone());
        self.set_clock(now);
        self.elapsed_before = standing.elapsed;
        self.told = events.iter().rev().find_map(|record| match &record.event {
            JobEvent::State(change) => Some(change.state),
            _ => None,
        });
        self.log = events;
        if self.state.is_final() {
            self.ended_at = Some(now);
        } else if !self.detach {
            self.unwatched_since = Some(now);
        }
    }
}
