//! A job's events as server-sent events.
//!
//! One watcher of each job feeds all who look at it: it gathers what happens within a tenth of a second, encodes that once,
//! and hands the same bytes to everybody. What happened before somebody came is read for that one alone. Whoever is too slow
//! for the common feed reads what it has missed in the same way, so that nobody misses anything and the search waits for
//! nobody.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use corridor_proto::json::event_line;
use corridor_shared::job::{EventRecord, JobEvent, JobId};
use futures_util::{Stream, stream};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tonic::Status;

use crate::cluster::Question;
use crate::driver::{EventStream, Handle};
use crate::limits::{VIEWER_ALIVE, VIEWER_BACKLOG, VIEWER_INTERVAL};
use crate::service::asked;

/// What a browser does when the line breaks: try again after a second.
const RETRY: &str = "retry: 1000\n\n";
/// Says that the line lives.
const ALIVE: &str = ": alive\n\n";

type Records = Vec<Arc<EventRecord>>;

/// Events that travel together, encoded.
#[derive(Clone)]
struct Message {
    records: Arc<Records>,
    bytes: Bytes,
    /// Nothing comes after it.
    is_last: bool,
}

/// A message of one or more events, its number the last one's.
fn encoded(records: &[Arc<EventRecord>]) -> Bytes {
    let Some(last) = records.last() else { return Bytes::new() };
    let lines: Vec<String> = records.iter().filter_map(|record| event_line(record).ok()).collect();
    Bytes::from(format!("id: {}\ndata: [{}]\n\n", last.seq, lines.join(",")))
}

/// What happened, without what later events have replaced: of each root move and of the state the latest, of everything else
/// all. Whoever has seen this sees the same picture as somebody who has seen everything.
fn picture(records: Records) -> Records {
    let (mut has_state, mut moves) = (false, BTreeSet::new());
    let mut kept: Records = records
        .into_iter()
        .rev()
        .filter(|record| match &record.event {
            JobEvent::State(_) => !std::mem::replace(&mut has_state, true),
            JobEvent::Move(report) => moves.insert(report.line.mv),
            _ => true,
        })
        .collect();
    kept.reverse();
    kept
}

/// A job's events after a number. Whoever is dropped for being slow watches again from where it was: that is no end.
struct Source {
    cluster: Handle,
    job: JobId,
    seen: u64,
    events: EventStream,
}

impl Source {
    async fn after(cluster: &Handle, job: JobId, seen: u64) -> Result<Self, Status> {
        let events = asked(cluster.watch(job, seen).await)?;
        Ok(Self { cluster: cluster.clone(), job, seen, events })
    }

    /// The next events; `Ok(None)` after the job's last one. Whoever gives up waiting misses nothing.
    ///
    /// # Errors
    /// The coordinator ends, or does not know the job any more.
    async fn next(&mut self) -> Result<Option<Records>, Status> {
        loop {
            match self.events.next().await {
                Ok(Some(records)) => {
                    self.seen = records.last().map_or(self.seen, |record| record.seq);
                    return Ok(Some(records));
                }
                Ok(None) => return Ok(None),
                Err(_) => self.events = asked(self.cluster.watch(self.job, self.seen).await)?,
            }
        }
    }
}

/// The feeds of all jobs that somebody looks at.
pub(super) struct Feeds {
    cluster: Handle,
    stop: CancellationToken,
    live: Arc<Mutex<BTreeMap<JobId, broadcast::Sender<Message>>>>,
}

impl Feeds {
    pub(super) fn new(cluster: Handle, stop: CancellationToken) -> Self {
        Self { cluster, stop, live: Arc::default() }
    }

    /// What somebody sees who has seen a job's events up to a number. With `picture`, without what is of no interest any more.
    pub(super) async fn view(
        &self,
        job: JobId,
        after: u64,
        picture: bool,
    ) -> Result<impl Stream<Item = Bytes> + Send + use<>, Status> {
        let history = Source::after(&self.cluster, job, after).await?;
        let viewer = Viewer {
            cluster: self.cluster.clone(),
            stop: self.stop.clone(),
            job,
            seen: after,
            picture,
            live: self.join(job).await?,
            history: Some(history),
            ended: false,
            greeted: false,
        };
        Ok(stream::unfold(viewer, |mut viewer| async move { Some((viewer.next().await?, viewer)) }))
    }

    /// The common feed of a job, which is begun if there is none.
    async fn join(&self, job: JobId) -> Result<broadcast::Receiver<Message>, Status> {
        if let Some(feed) = lock(&self.live).get(&job) {
            return Ok(feed.subscribe());
        }
        let last = last_seq(&self.cluster, job).await?;
        let events = Source::after(&self.cluster, job, last).await?;
        let mut live = lock(&self.live);
        // Somebody else may have been quicker.
        if let Some(feed) = live.get(&job) {
            return Ok(feed.subscribe());
        }
        let (feed, viewer) = broadcast::channel(VIEWER_BACKLOG);
        live.insert(job, feed.clone());
        drop(live);
        let (all, stop) = (Arc::clone(&self.live), self.stop.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = run(events, &feed) => {}
                () = stop.cancelled() => {}
            }
            lock(&all).remove(&job);
        });
        Ok(viewer)
    }
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Nothing panics under these locks, and what they guard are plain values.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn last_seq(cluster: &Handle, job: JobId) -> Result<u64, Status> {
    match asked(cluster.ask(Question::Get(job)).await)? {
        crate::cluster::Answer::Jobs(jobs) => Ok(jobs.first().map_or(0, |job| job.last_seq)),
        _ => Ok(0),
    }
}

/// Tells everybody what happens, at most ten times a second, as long as there is somebody and something can happen.
async fn run(mut events: Source, feed: &broadcast::Sender<Message>) {
    let mut due = Instant::now();
    loop {
        let first = match timeout(VIEWER_ALIVE, events.next()).await {
            // Nobody looks any more.
            Err(_) if feed.receiver_count() == 0 => return,
            Err(_) => continue,
            Ok(Ok(Some(records))) => records,
            Ok(Ok(None)) => return tell(feed, Vec::new(), true),
            // Nobody is told that this was all: whoever looks is let go, and asks again.
            Ok(Err(_)) => return,
        };
        let (records, more) = gathered(first, &mut events, due).await;
        due = Instant::now() + VIEWER_INTERVAL;
        tell(feed, records, more == More::Never);
        // Who goes on without anybody would keep a job alive that nobody watches.
        if more != More::MayCome || feed.receiver_count() == 0 {
            return;
        }
    }
}

/// What can be said of events that have not come yet.
#[derive(PartialEq, Eq)]
enum More {
    MayCome,
    /// The job has ended.
    Never,
    /// They cannot be had here.
    Unknown,
}

/// What comes until a moment.
async fn gathered(mut records: Records, events: &mut Source, due: Instant) -> (Records, More) {
    loop {
        tokio::select! {
            biased;
            next = events.next() => match next {
                Ok(Some(more)) => records.extend(more),
                Ok(None) => return (records, More::Never),
                Err(_) => return (records, More::Unknown),
            },
            () = sleep_until(due) => return (records, More::MayCome),
        }
    }
}

fn tell(feed: &broadcast::Sender<Message>, records: Records, is_last: bool) {
    let bytes = encoded(&records);
    // That nobody looks is no fault.
    let _ = feed.send(Message { records: Arc::new(records), bytes, is_last });
}

/// Somebody who looks at a job.
struct Viewer {
    cluster: Handle,
    stop: CancellationToken,
    job: JobId,
    /// Number of the last event that was sent.
    seen: u64,
    picture: bool,
    live: broadcast::Receiver<Message>,
    /// What it has to read by itself.
    history: Option<Source>,
    ended: bool,
    greeted: bool,
}

impl Viewer {
    /// The next bytes; `None` when the coordinator ends. After a job's last event the line stays open and silent: a browser
    /// would take an end for a fault and come again.
    async fn next(&mut self) -> Option<Bytes> {
        if !std::mem::replace(&mut self.greeted, true) {
            return Some(Bytes::from_static(RETRY.as_bytes()));
        }
        let stop = self.stop.clone();
        loop {
            let step = async {
                if self.ended {
                    std::future::pending::<()>().await;
                }
                match self.history.take() {
                    Some(history) => self.read(history).await,
                    None => self.follow().await,
                }
            };
            tokio::select! {
                () = stop.cancelled() => return None,
                bytes = timeout(VIEWER_ALIVE, step) => match bytes {
                    Ok(Some(bytes)) if bytes.is_empty() => {}
                    Ok(Some(bytes)) => return Some(bytes),
                    Ok(None) => return None,
                    Err(_) => return Some(Bytes::from_static(ALIVE.as_bytes())),
                },
            }
        }
    }

    /// What has happened up to now.
    async fn read(&mut self, mut history: Source) -> Option<Bytes> {
        let until = last_seq(&self.cluster, self.job).await.ok()?;
        let mut records = Records::new();
        while self.seen < until {
            match history.next().await {
                Ok(Some(more)) => records.extend(more),
                Ok(None) => {
                    self.ended = true;
                    break;
                }
                Err(_) => return None,
            }
            self.seen = records.last().map_or(self.seen, |record| record.seq);
        }
        if std::mem::take(&mut self.picture) {
            records = picture(records);
        }
        Some(encoded(&records))
    }

    /// What happens from now on, as everybody sees it.
    async fn follow(&mut self) -> Option<Bytes> {
        match self.live.recv().await {
            Ok(message) => Some(self.part_of(&message)),
            Err(RecvError::Lagged(_)) => {
                self.history = Some(Source::after(&self.cluster, self.job, self.seen).await.ok()?);
                Some(Bytes::new())
            }
            Err(RecvError::Closed) => None,
        }
    }

    /// What is new of a message.
    fn part_of(&mut self, message: &Message) -> Bytes {
        self.ended |= message.is_last;
        let seen = self.seen;
        self.seen = message.records.last().map_or(seen, |last| last.seq.max(seen));
        let is_new = |record: &&Arc<EventRecord>| record.seq > seen;
        if message.records.iter().all(|record| is_new(&record)) {
            return message.bytes.clone();
        }
        let new: Records = message.records.iter().filter(is_new).cloned().collect();
        encoded(&new)
    }
}

#[cfg(test)]
mod tests {
    use corridor_shared::Position;
    use corridor_shared::job::{JobSpec, JobState, StateChange};

    use super::*;
    use crate::limits::WATCHER_BACKLOG;
    use crate::{Config, driver};

    fn state(seq: u64) -> Arc<EventRecord> {
        let event = JobEvent::State(StateChange { state: JobState::Running, reason: "x".to_owned() });
        Arc::new(EventRecord { seq, event })
    }

    #[test]
    fn a_message_has_the_number_of_its_last_event() {
        let text = encoded(&[state(3), state(4)]);
        let line = |seq| format!(r#"{{"event":"state","state":"running","reason":"x","seq":{seq}}}"#);
        assert_eq!(text, format!("id: 4\ndata: [{},{}]\n\n", line(3), line(4)));
        assert_eq!(encoded(&[]), "");
    }

    /// Hands a job in and looks at it from its beginning.
    async fn looked_at(cluster: &Handle) -> (JobId, Source) {
        let spec = JobSpec { detach: true, ..JobSpec::new(Position::start()).to_depth(4) };
        let submit = Question::Submit { spec: Box::new(spec), watcher: None, known: None };
        let crate::cluster::Answer::Job(job) = cluster.ask(submit).await.expect("accepted") else {
            panic!("a number is answered")
        };
        (job, Source::after(cluster, job, 0).await.expect("a source"))
    }

    #[tokio::test]
    async fn whoever_is_dropped_for_being_slow_goes_on_where_it_was() {
        let (driver, cluster) = driver::new(Config::default());
        let stop = CancellationToken::new();
        tokio::spawn(driver.run(stop.clone()));
        let (job, mut source) = looked_at(&cluster).await;
        let mut seen = Vec::new();
        seen.extend(source.next().await.expect("events").expect("not the end"));
        // More than is kept for somebody who does not read.
        for _ in 0..WATCHER_BACKLOG {
            for question in [Question::Pause(job), Question::Resume(job)] {
                cluster.ask(question).await.expect("done");
            }
        }
        cluster.ask(Question::Cancel(job)).await.expect("done");
        while let Some(records) = source.next().await.expect("events") {
            seen.extend(records);
        }
        assert!(seen.len() > 2 * WATCHER_BACKLOG);
        assert!(seen.iter().map(|record| record.seq).eq(1..=u64::try_from(seen.len()).expect("few")));
        assert!(seen.last().is_some_and(|record| record.event.is_last()));
        // The coordinator's end is not the job's.
        let (_, mut source) = looked_at(&cluster).await;
        source.next().await.expect("events");
        stop.cancel();
        while let Ok(records) = source.next().await {
            assert!(records.is_some(), "the job has not ended");
        }
    }

    #[test]
    fn a_picture_has_the_latest_state_only() {
        let numbers = |records: Records| records.iter().map(|it| it.seq).collect::<Vec<_>>();
        assert_eq!(numbers(picture(vec![state(1), state(2), state(5)])), [5]);
    }
}
