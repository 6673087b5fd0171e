//! Simulated workers: real sessions over connections of their own, and a search that only pretends.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use corridor_proto::v1;
use corridor_proto::v1::fleet_client::FleetClient;
use corridor_proto::v1::session_request::Kind as Says;
use corridor_proto::v1::session_response::Kind as Told;
use corridor_shared::job::ENGINE_EPOCH;
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

use super::fake;

/// A unit that is leased to nobody: whoever says that it holds it is answered at once, which times a heartbeat.
const PROBE: u64 = u64::MAX;
/// Cancelled units that a worker remembers: what it had said about them before it knew is answered `lease_lost`.
const REMEMBERED: usize = 256;

/// What all workers of a fleet have in common.
#[derive(Default)]
pub(crate) struct Common {
    pub(crate) orders: Orders,
    pub(crate) tally: Tally,
    stop: Notify,
}

/// How the workers search.
pub(crate) struct Orders {
    /// Time that a unit takes, in microseconds.
    unit_us: AtomicU64,
    /// Units of this job end in turns, all workers together.
    paced_job: AtomicU64,
    turns: Arc<Semaphore>,
    search: Mutex<Search>,
}

/// What workers do with a unit.
pub(crate) type Search = fn(v1::Unit) -> v1::UnitResult;

impl Default for Orders {
    fn default() -> Self {
        Self {
            unit_us: AtomicU64::new(0),
            paced_job: AtomicU64::new(0),
            turns: Arc::new(Semaphore::new(0)),
            search: Mutex::new(fake::flat),
        }
    }
}

/// When the search of a unit ends.
enum End {
    At(Instant),
    InTurn(Pin<Box<dyn Future<Output = ()> + Send>>),
}

impl Orders {
    /// Every unit takes this time from now on.
    pub(crate) fn take(&self, time: Duration) {
        self.unit_us.store(u64::try_from(time.as_micros()).expect("short"), Ordering::Relaxed);
    }

    /// Units of a job end at this interval.
    pub(crate) fn pace(&self, job: u64, interval: Duration) {
        self.paced_job.store(job, Ordering::Relaxed);
        let turns = Arc::clone(&self.turns);
        tokio::spawn(async move {
            let mut tick = tokio::time::interval(interval);
            loop {
                tick.tick().await;
                // A turn that nobody has taken is not saved up.
                if turns.available_permits() == 0 {
                    turns.add_permits(1);
                }
            }
        });
    }

    /// Units are searched like this from now on.
    pub(crate) fn search_like(&self, search: Search) {
        *self.search.lock().expect("nobody panics") = search;
    }

    fn search(&self, unit: v1::Unit) -> v1::UnitResult {
        let search = *self.search.lock().expect("nobody panics");
        search(unit)
    }

    /// When a unit of a job that begins now will have ended.
    fn end_of(&self, job: u64) -> End {
        if job != self.paced_job.load(Ordering::Relaxed) {
            return End::At(Instant::now() + Duration::from_micros(self.unit_us.load(Ordering::Relaxed)));
        }
        let turns = Arc::clone(&self.turns);
        End::InTurn(Box::pin(async move { turns.acquire().await.expect("never closed").forget() }))
    }
}

/// What the workers of a fleet have seen.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) registered: AtomicU64,
    pub(crate) grants: AtomicU64,
    pub(crate) results: AtomicU64,
    /// What was said about a unit while the word that it is cancelled was on its way.
    pub(crate) crossed: AtomicU64,
    /// Leases that were lost without such a reason.
    pub(crate) lost: AtomicU64,
    /// How sessions have ended before their time.
    ended: Mutex<Vec<String>>,
    heartbeats: Mutex<Vec<Duration>>,
}

impl Tally {
    /// Round trips of heartbeats since the last call, the shortest first.
    pub(crate) fn heartbeats(&self) -> Vec<Duration> {
        let mut heartbeats = std::mem::take(&mut *self.heartbeats.lock().expect("nobody panics"));
        heartbeats.sort_unstable();
        heartbeats
    }

    pub(crate) fn read(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Workers of one slot each.
pub(crate) struct Fleet {
    pub(crate) common: Arc<Common>,
    workers: JoinSet<()>,
}

impl Fleet {
    /// Lets so many workers connect at once.
    pub(crate) fn connect(url: &str, workers: usize) -> Self {
        let common = Arc::new(Common::default());
        let mut set = JoinSet::new();
        for number in 0..workers {
            let (url, common) = (url.to_owned(), Arc::clone(&common));
            set.spawn(async move {
                let mut worker = Worker::register(url, number, Arc::clone(&common)).await;
                tokio::select! {
                    reason = worker.work() => common.tally.ended.lock().expect("nobody panics").push(reason),
                    () = common.stop.notified() => {}
                }
            });
        }
        Self { common, workers: set }
    }

    /// Waits until so many are registered.
    pub(crate) async fn registered(&self, workers: u64) {
        while Tally::read(&self.common.tally.registered) < workers {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Leaves. Every session must have lasted until now.
    pub(crate) async fn leave(mut self) {
        self.common.stop.notify_waiters();
        while let Some(worker) = self.workers.join_next().await {
            worker.expect("a worker of good health");
        }
        let ended = self.common.tally.ended.lock().expect("nobody panics");
        assert!(ended.is_empty(), "sessions have ended: {ended:?}");
    }
}

struct Held {
    unit: v1::Unit,
    /// When its search ends; `None` while it waits.
    end: Option<End>,
    /// Progress that heartbeats tell: it grows with each.
    nodes: u64,
}

struct Worker {
    common: Arc<Common>,
    says: mpsc::Sender<v1::SessionRequest>,
    told: Streaming<v1::SessionResponse>,
    heartbeat: Duration,
    /// The first one runs, the others wait.
    held: VecDeque<Held>,
    cancelled: VecDeque<(u64, u32)>,
    /// What has ended and was not said yet.
    results: Vec<v1::UnitResult>,
    /// Heartbeats without an answer, by number.
    probes: VecDeque<(u32, Instant)>,
    probe: u32,
}

impl Worker {
    async fn register(url: String, number: usize, common: Arc<Common>) -> Self {
        let mut client = FleetClient::connect(url).await.expect("a connection");
        let (says, requests) = mpsc::channel(64);
        let register = v1::Register {
            name: format!("simulated-{number}"),
            instance: u64::try_from(number).expect("few"),
            engine_epoch: ENGINE_EPOCH.to_owned(),
            slots: 1,
            table_bytes: 0,
        };
        let kind = Some(Says::Register(register));
        says.send(v1::SessionRequest { kind }).await.expect("room");
        let mut told = client.session(ReceiverStream::new(requests)).await.expect("a session").into_inner();
        let answer = told.message().await.expect("an answer").and_then(|message| message.kind);
        let Some(Told::Registered(terms)) = answer else { panic!("{answer:?}") };
        count(&common.tally.registered);
        Self {
            common,
            says,
            told,
            heartbeat: Duration::from_millis(terms.heartbeat_ms),
            held: VecDeque::new(),
            cancelled: VecDeque::new(),
            results: Vec::new(),
            probes: VecDeque::new(),
            probe: 0,
        }
    }

    /// Works until the session ends. Returns how.
    async fn work(&mut self) -> String {
        let started = Instant::now();
        let mut beat = tokio::time::interval(self.heartbeat);
        loop {
            let end = self.held.front_mut().and_then(|held| held.end.as_mut());
            let ended = async {
                match end {
                    Some(End::At(at)) => tokio::time::sleep_until(*at).await,
                    Some(End::InTurn(turn)) => turn.await,
                    None => std::future::pending().await,
                }
            };
            let open = tokio::select! {
                message = self.told.message() => match message {
                    Ok(Some(message)) => self.hear(message.kind.expect("a kind")).await,
                    end => return format!("after {:?}: {end:?}", started.elapsed()),
                },
                () = ended => {
                    self.finish();
                    self.begin().await
                }
                _ = beat.tick() => self.beat().await,
            };
            if !open {
                return format!("after {:?}: nobody listens", started.elapsed());
            }
        }
    }

    async fn say(&mut self, kind: Says) -> bool {
        self.says.send(v1::SessionRequest { kind: Some(kind) }).await.is_ok()
    }

    async fn beat(&mut self) -> bool {
        self.probe += 1;
        let mut units = Vec::with_capacity(self.held.len() + 1);
        for held in &mut self.held {
            held.nodes += u64::from(held.end.is_some());
            units.push(v1::UnitProgress {
                unit: held.unit.unit,
                attempt: held.unit.attempt,
                nodes: held.nodes,
            });
        }
        units.push(v1::UnitProgress { unit: PROBE, attempt: self.probe, nodes: 0 });
        self.probes.push_back((self.probe, Instant::now()));
        self.say(Says::Heartbeat(v1::Heartbeat { units })).await
    }

    async fn hear(&mut self, told: Told) -> bool {
        match told {
            Told::Grant(grant) => {
                self.common.tally.grants.fetch_add(grant.units.len() as u64, Ordering::Relaxed);
                self.held.extend(grant.units.into_iter().map(|unit| Held { unit, end: None, nodes: 0 }));
                return self.begin().await;
            }
            Told::Window(update) => {
                let meant =
                    |held: &&mut Held| (held.unit.unit, held.unit.attempt) == (update.unit, update.attempt);
                if let Some(held) = self.held.iter_mut().find(meant) {
                    held.unit.window = update.window;
                }
            }
            Told::Cancel(cancel) => {
                let other =
                    |held: &Held| (held.unit.unit, held.unit.attempt) != (cancel.unit, cancel.attempt);
                self.held.retain(other);
                self.cancelled.push_back((cancel.unit, cancel.attempt));
                if self.cancelled.len() > REMEMBERED {
                    self.cancelled.pop_front();
                }
                return self.begin().await;
            }
            Told::LeaseLost(lost) if lost.unit == PROBE => self.answered(lost.attempt),
            Told::LeaseLost(lost) if self.cancelled.contains(&(lost.unit, lost.attempt)) => {
                count(&self.common.tally.crossed);
            }
            Told::LeaseLost(_) => count(&self.common.tally.lost),
            // It goes on to its end: that is allowed, if not what is wanted.
            Told::Shed(_) => {}
            Told::Registered(_) | Told::Drain(_) => panic!("{told:?}"),
        }
        true
    }

    /// A heartbeat was answered.
    fn answered(&mut self, probe: u32) {
        let now = Instant::now();
        while let Some((number, sent)) = self.probes.pop_front() {
            if number == probe {
                let mut heartbeats = self.common.tally.heartbeats.lock().expect("nobody panics");
                heartbeats.push(now - sent);
                return;
            }
        }
    }

    /// Begins what comes next, and ends what takes no time.
    async fn begin(&mut self) -> bool {
        while let Some(head) = self.held.front_mut().filter(|head| head.end.is_none()) {
            let end = self.common.orders.end_of(head.unit.job);
            if !matches!(end, End::At(at) if at <= Instant::now()) {
                head.end = Some(end);
                break;
            }
            self.finish();
        }
        if self.results.is_empty() {
            return true;
        }
        let results = std::mem::take(&mut self.results);
        self.say(Says::Results(v1::UnitResults { results })).await
    }

    /// The unit at the head has ended.
    fn finish(&mut self) {
        let Some(done) = self.held.pop_front() else { return };
        count(&self.common.tally.results);
        self.results.push(self.common.orders.search(done.unit));
    }
}
