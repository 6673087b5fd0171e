//! What ends a command from outside: Ctrl-C, what a supervisor sends, and a terminal that goes away.
//!
//! The first signal asks the command to stop and to print what it knows; a second one ends the process at once.

use std::process;
use std::time::Duration;

use anyhow::Context;
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// A server that was asked to end is gone after this time, whatever hangs (`EXIT_TIME`): more than the drains of a worker
/// and of a coordinator together may take.
pub(crate) const EXIT_TIME: Duration = Duration::from_secs(15);

/// Whether somebody wants an end. Clones see the same signals.
#[derive(Clone, Debug)]
pub(crate) struct Interrupts {
    seen: watch::Receiver<bool>,
}

impl Interrupts {
    /// From now on no signal is lost. To be called before anything that takes time.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        Self::listen_for(None)
    }

    /// The same for a server: the first signal also sets a limit to the time until its end.
    pub(crate) fn listen_as_server() -> anyhow::Result<Self> {
        Self::listen_for(Some(EXIT_TIME))
    }

    fn listen_for(limit: Option<Duration>) -> anyhow::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build().context("listen for signals")?;
        let mut signals = {
            let _within = runtime.enter();
            Signals::listen().context("listen for signals")?
        };
        let (sender, seen) = watch::channel(false);
        let watching = move || {
            runtime.block_on(async {
                signals.next().await;
                // Nobody may listen any more: then the command is about to end anyway.
                let _ = sender.send(true);
                match limit {
                    None => signals.next().await,
                    Some(limit) => {
                        if tokio::time::timeout(limit, signals.next()).await.is_err() {
                            crate::out::complain(&format!(
                                "not ended in {} s: it is cut short",
                                limit.as_secs()
                            ));
                        }
                    }
                }
                crate::out::leave_page();
                process::exit(1);
            });
        };
        std::thread::Builder::new().name("signals".to_owned()).spawn(watching).context("start a thread")?;
        Ok(Self { seen })
    }

    /// Whether a signal has come.
    pub(crate) fn seen(&self) -> bool {
        *self.seen.borrow()
    }

    /// Blocks this thread until a signal comes, or returns at once if one has come already.
    pub(crate) fn block(&mut self) {
        if let Ok(runtime) = Builder::new_current_thread().build() {
            runtime.block_on(self.wait());
        }
    }

    /// Waits for a signal, or returns at once if one has come already.
    pub(crate) async fn wait(&mut self) {
        if self.seen.wait_for(|&seen| seen).await.is_err() {
            // The other end only goes away with the process.
            std::future::pending::<()>().await;
        }
    }
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Option<Signal>,
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            // Whoever started this with `nohup` wants it to outlive the terminal.
            hang_up: if ignores_hang_up() { None } else { Some(signal(SignalKind::hangup())?) },
        })
    }

    async fn next(&mut self) {
        let hung_up = async {
            match &mut self.hang_up {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = hung_up => {}
        }
    }
}

/// Whether the process was started with SIGHUP (signal 1, the mask's lowest bit) ignored. Without `/proc` the answer is no.
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
