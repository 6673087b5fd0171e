//! Viewers without a browser: connections that read a job's events as the page does, each checking that it sees every event once.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::{Cluster, print, watchers};

const MANY: usize = 1_000;
const SLEEPERS: usize = 20;
/// What a viewer who does not read takes all the same, in bytes.
const SLEEPERS_BUFFER: u32 = 4_096;
/// How long a steady state is measured. Whoever sleeps for so long is too slow for the common feed.
const STEADY: Duration = Duration::from_secs(10);
/// Events that there are when viewers come.
const HISTORY: u64 = 300;

/// A stream of a job's events.
struct Viewer {
    connection: TcpStream,
    /// Number of the last event that was seen.
    last: u64,
    ended: bool,
    /// What was read and not looked at.
    rest: Vec<u8>,
}

impl Viewer {
    /// Comes, or comes back after an event, with a small buffer if it will sleep.
    async fn come(page: SocketAddr, job: u64, last: u64, sleeps: bool) -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        if sleeps {
            socket.set_recv_buffer_size(SLEEPERS_BUFFER).expect("a buffer");
        }
        let mut connection = socket.connect(page).await.expect("a connection");
        let request = format!(
            "GET /api/v1/jobs/{job}/events HTTP/1.1\r\nhost: {page}\r\naccept: text/event-stream\r\nlast-event-id: {last}\r\n\r\n"
        );
        connection.write_all(request.as_bytes()).await.expect("sent");
        Self { connection, last, ended: false, rest: Vec::new() }
    }

    /// Reads what there is and checks its numbers. Returns how many events that were.
    async fn read(&mut self) -> u64 {
        let read = self.connection.read_buf(&mut self.rest).await.expect("a connection that lasts");
        assert!(read > 0, "the coordinator has ended a stream");
        let before = self.last;
        // Whole messages only: a piece's length, which the wire has between them, cannot look like an event.
        while let Some(end) = find(&self.rest, b"\n\n") {
            let message: Vec<u8> = self.rest.drain(..end + 2).collect();
            self.look_at(&message);
        }
        self.last - before
    }

    fn look_at(&mut self, message: &[u8]) {
        const NUMBER: &[u8] = b"\"seq\":";
        let mut text = message;
        while let Some(at) = find(text, NUMBER) {
            text = &text[at + NUMBER.len()..];
            let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
            let seq = digits.fold(0, |seq, digit| 10 * seq + u64::from(digit - b'0'));
            assert_eq!(seq, self.last + 1, "a gap or a repeat");
            self.last = seq;
        }
        self.ended |= find(message, br#""event":"done""#).is_some();
    }

    /// Reads to the end. Returns the last number.
    async fn finish(mut self, tally: &Tally) -> u64 {
        let mut is_new = true;
        while !self.ended {
            tally.seen.fetch_add(self.read().await, Ordering::Relaxed);
            if self.last > 0 && std::mem::take(&mut is_new) {
                tally.here.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.last
    }
}

/// What all viewers have seen.
#[derive(Default)]
struct Tally {
    /// Events, all viewers together.
    seen: AtomicU64,
    /// Viewers that have seen what there was when they came.
    here: AtomicU64,
}

/// Where bytes are first found.
fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

/// Looks on without reading until told to. Every other one reads on then, the others' connections were lost: they come back.
async fn sleep(page: SocketAddr, job: u64, number: usize, wake: Arc<Notify>) -> u64 {
    let mut viewer = Viewer::come(page, job, 0, true).await;
    while viewer.last == 0 {
        viewer.read().await;
    }
    wake.notified().await;
    if number.is_multiple_of(2) {
        viewer = Viewer::come(page, job, viewer.last, false).await;
    }
    viewer.finish(&Tally::default()).await
}

/// All who look at a job.
struct Crowd {
    page: SocketAddr,
    job: u64,
    tally: Arc<Tally>,
    viewers: JoinSet<u64>,
    /// Threads of its own: what a thousand viewers take to read is no part of the workers' pace.
    runtime: Handle,
}

impl Crowd {
    /// Lets viewers come at once until there are so many, and waits until all have seen something.
    async fn come(&mut self, viewers: usize) {
        while self.viewers.len() < viewers {
            let (page, job, tally) = (self.page, self.job, Arc::clone(&self.tally));
            let viewer = async move { Viewer::come(page, job, 0, false).await.finish(&tally).await };
            self.viewers.spawn_on(viewer, &self.runtime);
        }
        while self.tally.here.load(Ordering::Relaxed) < u64::try_from(viewers).expect("few") {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// The coordinator's share of a core while all look on.
    async fn look_on(&self, cluster: &Cluster) -> f64 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let seen = || self.tally.seen.load(Ordering::Relaxed);
        let (before, cpu, started) = (seen(), cluster.process.processor_time(), Instant::now());
        tokio::time::sleep(STEADY).await;
        let seconds = started.elapsed().as_secs_f64();
        let share = (cluster.process.processor_time() - cpu).as_secs_f64() / seconds;
        let events = (seen() - before) as f64 / seconds / self.viewers.len() as f64;
        let megabytes = cluster.process.resident();
        println!(
            "    {} viewers: {events:.1} events/s each; coordinator {share:.2} of a core, {megabytes:.0} MB",
            self.viewers.len()
        );
        share
    }
}

/// A thousand viewers of one job, and some that sleep.
pub(crate) async fn many(runtime: Handle) {
    let mut cluster = Cluster::start().await;
    let (job, page) = (cluster.job().await, cluster.process.page());
    while watchers::last_seq(&mut cluster.client, job).await < HISTORY {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let mut crowd = Crowd { page, job, tally: Arc::default(), viewers: JoinSet::new(), runtime };
    crowd.come(1).await;
    crowd.look_on(&cluster).await;
    let wake = Arc::new(Notify::new());
    let mut sleepers = JoinSet::new();
    for number in 0..SLEEPERS {
        sleepers.spawn_on(sleep(page, job, number, Arc::clone(&wake)), &crowd.runtime);
    }
    let (started, cpu) = (Instant::now(), cluster.process.processor_time());
    crowd.come(MANY).await;
    let (took, busy) = (started.elapsed(), cluster.process.processor_time() - cpu);
    println!("    {MANY} viewers come within {took:.1?} and {busy:.1?} of processor time");
    let share = crowd.look_on(&cluster).await;
    print(
        &format!("{MANY} viewers of one job: coordinator"),
        &format!("{share:.2} of a core"),
        "0.5",
        share <= 0.5,
    );
    wake.notify_waiters();
    watchers::cancel(&mut cluster.client, job).await;
    let mut lasts = Vec::new();
    while let Some(last) = crowd.viewers.join_next().await {
        lasts.push(last.expect("every event once"));
    }
    while let Some(last) = sleepers.join_next().await {
        lasts.push(last.expect("every event once, after a sleep"));
    }
    let last = watchers::last_seq(&mut cluster.client, job).await;
    assert!(lasts.iter().all(|it| *it == last), "not everybody has seen the end, {last}: {lasts:?}");
    println!("    {} viewers saw all {last} events once, {SLEEPERS} of them after a sleep", lasts.len());
    let peak = cluster.process.peak();
    print("    its memory, at most", &format!("{peak:.0} MB"), "300 MB", peak <= 300.0);
    cluster.stop().await;
}
