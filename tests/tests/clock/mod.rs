//! A clock that stands still but for what a test lets pass, under real gRPC on loopback: what takes half a minute takes
//! moments, and what must happen by a certain time is seen to happen by then, however busy the machine is.
//!
//! For a runtime of one thread.

#![allow(dead_code, reason = "each file of tests uses its share")]

use std::sync::mpsc;
use std::time::{Duration, Instant};

use corridor_coordinator::Coordinator;
use corridor_tests::LONG;

/// As fine as time passes, unless a test lets much of it pass.
pub(crate) const STEP: Duration = Duration::from_millis(100);

/// The clock of this runtime, frozen for as long as it lives.
pub(crate) struct FrozenClock {
    _held: mpsc::Sender<()>,
}

impl FrozenClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "a paused clock jumps to its next timer unless such a task runs"
    )]
    pub(crate) fn freeze() -> Self {
        let (held, released) = mpsc::channel::<()>();
        drop(tokio::task::spawn_blocking(move || released.recv()));
        tokio::time::pause();
        Self { _held: held }
    }

    /// Lets time pass, step by step, with everything carried out that is due.
    pub(crate) async fn pass(&self, time: Duration) {
        let until = tokio::time::Instant::now() + time;
        let step = STEP.max(time / 200);
        while tokio::time::Instant::now() < until {
            tokio::time::advance(step.min(until - tokio::time::Instant::now())).await;
            settle().await;
        }
    }

    /// Lets the clock run again.
    pub(crate) fn resume(self) {
        tokio::time::resume();
    }

    /// Lets the clock run again, and ends a coordinator in good order.
    pub(crate) async fn stop(self, coordinator: Coordinator) {
        self.resume();
        coordinator.stop().await;
    }

    /// Lets time pass until something is so. Returns how long that took.
    pub(crate) async fn pass_until(&self, what: &str, so: impl AsyncFn() -> bool) -> Duration {
        let started = tokio::time::Instant::now();
        while !so().await {
            assert!(started.elapsed() < LONG, "never: {what}");
            self.pass(STEP).await;
        }
        started.elapsed()
    }
}

/// Carries out everything that is ready, without letting time pass.
pub(crate) async fn settle() {
    // Each is a look at the sockets and a turn of every task.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

/// Waits, in real time, for something that other threads do.
pub(crate) async fn eventually(what: &str, so: impl AsyncFn() -> bool) {
    let started = Instant::now();
    while !so().await {
        assert!(started.elapsed() < LONG, "never: {what}");
        settle().await;
        std::thread::yield_now();
    }
}

/// Tasks of this runtime that have not ended.
pub(crate) fn tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}
