//! What a person sees: a progress bar and a live table while it runs, the board and the final table at the end.

use super::live::{Live, bar, flow, width};
use super::state::State;
use super::{result, table};
use crate::failure::Failure;
use crate::out;
use crate::pulse::Beat;
use crate::units::counted;
use corridor_shared::job::JobEvent;

/// Rows of the live table.
const LIVE_ROWS: usize = 10;

/// The terminal. Bar and live table go to standard error, and only if that is a terminal; the answer goes to standard
/// output.
pub(crate) struct Screen {
    live: Live,
    state: State,
}

impl Screen {
    pub(crate) fn new() -> Self {
        Self { live: Live::new(), state: State::new() }
    }

    /// Takes an event in; the last one is shown at once, the others with the next [`Self::redraw`].
    pub(crate) fn show(&mut self, event: &JobEvent) -> Result<(), Failure> {
        self.state.see(event);
        match event {
            JobEvent::Audit(report) if report.miss => {
                out::notice(&result::missed(report));
            }
            JobEvent::Done(report) => {
                self.live.clear();
                let position = self.state.asked.as_ref().map(|asked| &asked.position);
                return out::line(&result::page(position, report));
            }
            JobEvent::Error(_) => self.live.clear(),
            _ => {}
        }
        Ok(())
    }

    /// There is a terminal to see it on.
    pub(crate) fn is_live(&self) -> bool {
        self.live.size().is_some()
    }

    /// Takes in how the cluster is.
    pub(crate) fn feel(&mut self, beat: Beat) {
        self.state.feel(beat);
    }

    /// Draws what has changed. Whoever calls this decides how often that is.
    pub(crate) fn redraw(&mut self) {
        let Some((rows, columns)) = self.live.size() else { return };
        if self.state.asked.is_none() {
            return;
        }
        let mut lines = self.state.best_first();
        let progress = self.progress(columns - 1);
        // Five lines more: the headline, and the table's frame.
        lines.truncate(LIVE_ROWS.min(rows.saturating_sub(6 + progress.len())));
        let mut text = format!("{}\n{}\n", progress.join("\n"), self.state.headline());
        if !lines.is_empty() {
            text.push_str(&table::lines(&lines, columns - 1));
        }
        self.live.draw(&text);
    }

    /// How far it is, and who works on it, on lines of so many columns.
    fn progress(&self, columns: usize) -> Vec<String> {
        let all = self.state.moves();
        let settled = self.state.settled.min(all);
        let (done, all) = (settled as u64, all as u64);
        let trouble = self.state.trouble();
        let who = match self.state.beat() {
            Some(beat) if trouble.is_none() => counted(beat.workers, "worker"),
            _ => String::new(),
        };
        let state = trouble.unwrap_or_else(|| format!("depth {:>2} running", self.state.depth.max(1)));
        let count = format!("{settled}/{}", counted(all, "move"));
        let time = format!("{} s", self.state.watched().as_secs());
        let taken: usize = [&state, &count, &time, &who].map(|piece| width(piece) + 2).iter().sum();
        flow(&[state, bar(done, all, columns.saturating_sub(taken)), count, time, who], "  ", columns)
    }

    /// Shows what is known so far of a job that goes on without this command.
    pub(crate) fn leave(&mut self) -> Result<(), Failure> {
        self.live.clear();
        if self.state.asked.is_none() {
            return Ok(());
        }
        out::line(&format!("{}{}", result::ranking(&self.state.best_first()), self.state.headline()))
    }
}
