//! Ctrl-Z while a page covers the terminal: the shell gets its own screen back, and the page comes again with `fg`.

use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;

use crate::out;

/// Gives way for as long as it lives.
#[derive(Debug)]
pub(super) struct Suspension(Option<JoinHandle<()>>);

impl Suspension {
    /// From now on. A system that does not tell of the signal stops the process as it always does.
    pub(super) fn listen() -> Self {
        let stop = SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw());
        let listening = signal(stop).ok().map(|mut stops| {
            tokio::spawn(async move {
                while stops.recv().await.is_some() {
                    out::leave_page();
                    // Nothing goes on here until the shell says so. That it cannot be done to oneself does not happen.
                    let _ = rustix::process::kill_process(
                        rustix::process::getpid(),
                        rustix::process::Signal::STOP,
                    );
                }
            })
        });
        Self(listening)
    }
}

impl Drop for Suspension {
    fn drop(&mut self) {
        if let Some(listening) = &self.0 {
            listening.abort();
        }
    }
}
