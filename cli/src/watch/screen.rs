//! A position's job on a terminal of its own: a page that is drawn over and over, and what stays when it is gone.

use std::io::IsTerminal;
use std::time::Duration;

use corridor_shared::job::JobEvent;

use super::layout;
use super::paint::Paint;
use crate::analyze::live::Live;
use crate::analyze::result;
use crate::analyze::state::State;
use crate::failure::Failure;
use crate::out;
use crate::pulse::Beat;

/// The first page waits so long for what the cluster says of itself: a job that has ended long ago needs none.
const PATIENCE: Duration = Duration::from_secs(1);

/// The page covers the terminal behind standard error; the result goes to standard output.
pub(crate) struct WatchScreen {
    live: Live,
    paint: Paint,
    state: State,
}

impl WatchScreen {
    /// Whether there is a terminal to draw on, and the result is to stand there too.
    pub(crate) fn is_possible() -> bool {
        Live::new().size().is_some() && std::io::stdout().is_terminal()
    }

    pub(crate) fn new() -> Self {
        Self { live: Live::new(), paint: Paint { colours: out::wants_colours() }, state: State::new() }
    }

    /// Takes an event in; the last one is shown at once, the others with the next [`Self::redraw`].
    pub(crate) fn show(&mut self, event: &JobEvent) -> Result<(), Failure> {
        self.state.see(event);
        match event {
            JobEvent::Done(report) => {
                out::leave_page();
                let position = self.state.asked.as_ref().map(|asked| &asked.position);
                out::line(&format!("{}{}", self.missed(), result::page(position, report)))
            }
            JobEvent::Error(_) => self.leave(),
            _ => Ok(()),
        }
    }

    /// Takes in how the cluster is.
    pub(crate) fn feel(&mut self, beat: Beat) {
        self.state.feel(beat);
    }

    /// Takes in that the line broke.
    pub(crate) fn lose(&mut self, reason: &str) {
        self.state.lose(reason);
    }

    /// Draws what has changed. Whoever calls this decides how often that is.
    pub(crate) fn redraw(&mut self) {
        let Some((rows, columns)) = self.live.size() else { return };
        let is_ready = self.state.beat().is_some_and(|beat| !beat.job.state.is_final())
            || self.state.watched() > PATIENCE;
        if self.state.asked.is_none() || !is_ready || !in_foreground() {
            return;
        }
        // A full last column would make some terminals wrap.
        let lines = layout::page(&self.state, (rows, columns - 1), self.paint);
        out::show_page(lines, (rows, columns));
    }

    /// Shows what is known so far of a job that goes on without this command.
    pub(crate) fn leave(&mut self) -> Result<(), Failure> {
        out::leave_page();
        let Some(asked) = &self.state.asked else { return Ok(()) };
        let board = result::board(&asked.position);
        let ranking = result::ranking(&self.state.best_first());
        out::line(&format!("{}{board}{ranking}{}", self.missed(), self.state.headline()))
    }

    /// The pruned moves that turned out to be better, a line each: the result does not name them.
    fn missed(&self) -> String {
        let (_, misses) = self.state.audited();
        misses.iter().map(|miss| format!("{}\n", result::missed(miss))).collect()
    }
}

impl Drop for WatchScreen {
    /// However the command ends, the terminal is given back.
    fn drop(&mut self) {
        out::leave_page();
    }
}

/// Whether the terminal is ours at the moment: a shell may have put the command into the background.
fn in_foreground() -> bool {
    let terminal = rustix::termios::tcgetpgrp(rustix::stdio::stderr());
    terminal.map_or(true, |group| group == rustix::process::getpgrp())
}
