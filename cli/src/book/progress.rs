//! What a person sees while something takes long that tells nothing of itself. On a terminal only.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::time::MissedTickBehavior;

use super::site::positions_of;
use crate::analyze::live::{Live, flow};
use crate::client::Client;
use crate::units::{grouped, per_second, span};

/// How often it is drawn.
const REDRAW: Duration = Duration::from_millis(200);
/// How often a cluster is asked how far it is.
const ASK: Duration = Duration::from_secs(1);

/// How much is done. Clones count the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Counter(Arc<AtomicU64>);

impl Counter {
    /// So much is done by now.
    pub(super) fn set(&self, done: u64) {
        self.0.store(done, Ordering::Relaxed);
    }

    /// How much is done.
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts the positions of a book on a cluster, again and again.
    pub(super) async fn follow<T>(&self, client: &Client, book: &str, work: impl Future<Output = T>) -> T {
        let asking = async {
            loop {
                if let Some(positions) = positions_of(client, book).await {
                    self.set(positions);
                }
                tokio::time::sleep(ASK).await;
            }
        };
        tokio::select! {
            done = work => done,
            never = asking => never,
        }
    }
}

/// Whether anybody sees it.
pub(super) fn is_seen() -> bool {
    Live::new().size().is_some()
}

/// Does something and shows how far it is: `what`, and how many `things` so far of `total`, if that is known.
pub(super) async fn shown<T>(
    what: &str,
    things: &str,
    total: Option<u64>,
    done: &Counter,
    work: impl Future<Output = T>,
) -> T {
    let live = Live::new();
    if live.size().is_none() {
        return work.await;
    }
    let (started, before) = (Instant::now(), done.get());
    let mut redraw = tokio::time::interval(REDRAW);
    redraw.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::pin!(work);
    loop {
        tokio::select! {
            ended = &mut work => return ended,
            _ = redraw.tick() => {
                let Some((_, columns)) = live.size() else { continue };
                let so_far = SoFar { before, done: done.get(), total, elapsed: started.elapsed() };
                live.draw(&flow(&so_far.pieces(what, things), ", ", columns - 1).join("\n"));
            }
        }
    }
}

/// How far something is.
struct SoFar {
    /// What was there when it began.
    before: u64,
    done: u64,
    total: Option<u64>,
    elapsed: Duration,
}

impl SoFar {
    fn pieces(&self, what: &str, things: &str) -> Vec<String> {
        let of = self.total.map(|total| format!(" of {}", grouped(total))).unwrap_or_default();
        let count =
            if self.done > 0 { format!("{}{of} {things}", grouped(self.done)) } else { String::new() };
        let rate = per_second(self.done.saturating_sub(self.before), self.elapsed);
        let rate = if rate > 0 { format!("{} a second", grouped(rate)) } else { String::new() };
        vec![what.to_owned(), count, rate, span(self.elapsed)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_how_many_how_fast_and_how_long() {
        let so_far = SoFar { before: 500, done: 2_500, total: None, elapsed: Duration::from_secs(2) };
        let line = |so_far: &SoFar, things| flow(&so_far.pieces("book main: importing", things), ", ", 200);
        assert_eq!(
            line(&so_far, "positions in the book"),
            ["book main: importing, 2,500 positions in the book, 1,000 a second, 2.0 s"]
        );
        let known = SoFar { total: Some(10_000), ..so_far };
        assert!(line(&known, "positions")[0].contains("2,500 of 10,000 positions"));
        let new = SoFar { before: 0, done: 0, total: None, elapsed: Duration::from_secs(1) };
        assert_eq!(line(&new, "lines"), ["book main: importing, 1.0 s"]);
    }
}
