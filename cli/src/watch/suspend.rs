//! What takes the terminal away while a page covers it: Ctrl-Z, after which the shell gets its own screen back and the page comes again
//! with `fg`; Ctrl-\, which ends the process on the spot; and a fault of our own, whose message is to be seen.

use std::panic;

use rustix::process::{Signal, getpid, kill_process};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;

use crate::out;

/// Gives way for as long as it lives.
#[derive(Debug)]
pub(super) struct Suspension(Vec<JoinHandle<()>>);

impl Suspension {
    /// From now on. A system that does not tell of a signal does with the process what it always does.
    pub(super) fn listen() -> Self {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |fault| {
            out::leave_page();
            report(fault);
        }));
        let stop = SignalKind::from_raw(Signal::TSTP.as_raw());
        let answers = [(stop, Signal::STOP), (SignalKind::quit(), Signal::ABORT)];
        Self(answers.into_iter().filter_map(|(asked, then)| give_way(asked, then)).collect())
    }
}

/// Gives the terminal back whenever a signal asks for it, and sends the process the one that cannot be put off.
fn give_way(asked: SignalKind, then: Signal) -> Option<JoinHandle<()>> {
    let mut asked = signal(asked).ok()?;
    Some(tokio::spawn(async move {
        while asked.recv().await.is_some() {
            out::leave_page();
            // Nothing goes on here until the shell says so. That it cannot be done to oneself does not happen.
            let _ = kill_process(getpid(), then);
        }
    }))
}

impl Drop for Suspension {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}
