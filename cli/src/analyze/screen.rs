//! What a person sees: a progress bar and a live table while it runs, the board and the final table at the end.

use std::collections::BTreeMap;
use std::time::Instant;

use super::live::Live;
use super::table;
use crate::failure::Failure;
use crate::units::grouped;
use crate::{out, render};
use corridor_shared::board::{Color, Move, Position};
use corridor_shared::cat::cat_snapshot;
use corridor_shared::job::{Accepted, DoneReport, IterationReport, JobEvent, JobState, Line, StoppedBy};
use corridor_shared::score::{Bound, WhiteScore};

/// Rows of the live table.
const LIVE_ROWS: usize = 10;
/// Rows of the final table.
const FINAL_ROWS: usize = 20;

/// Characters of the progress bar.
const BAR: usize = 30;

/// The terminal. Bar and live table go to standard error, and only if that is a terminal; the answer goes to standard
/// output.
pub(crate) struct Screen {
    live: Live,
    position: Option<Position>,
    moves: usize,
    current_depth: u8,
    settled: usize,
    lines: BTreeMap<Move, Line>,
    headline: String,
    waiting: Option<String>,
    started: Instant,
}

impl Screen {
    pub(crate) fn new() -> Self {
        Self {
            live: Live::new(),
            position: None,
            moves: 0,
            current_depth: 0,
            settled: 0,
            lines: BTreeMap::new(),
            headline: String::new(),
            waiting: None,
            started: Instant::now(),
        }
    }

    /// Takes an event in; the last one is shown at once, the others with the next [`Self::redraw`].
    pub(crate) fn show(&mut self, event: &JobEvent) -> Result<(), Failure> {
        match event {
            JobEvent::Accepted(accepted) => self.accepted(accepted),
            JobEvent::State(change) => {
                let waits = change.state != JobState::Running;
                self.waiting = waits.then(|| format!("{}: {}", change.state.name(), change.reason));
            }
            JobEvent::Move(report) => self.searched(&report.line),
            JobEvent::Iteration(report) => self.iteration(report),
            JobEvent::Audit(report) if report.miss => {
                let text = format!("audit: pruned {} is better: {}", report.mv, report.score_white);
                self.live.print_above(&text);
            }
            JobEvent::Done(report) => {
                self.live.clear();
                return self.done(report);
            }
            JobEvent::Error(_) => self.live.clear(),
            // Those of a book are shown elsewhere.
            JobEvent::Heat(_)
            | JobEvent::Audit(_)
            | JobEvent::BookAccepted(_)
            | JobEvent::Position(_)
            | JobEvent::PositionFailed(_)
            | JobEvent::BookDone(_) => {}
        }
        Ok(())
    }

    fn accepted(&mut self, accepted: &Accepted) {
        self.position = Some(accepted.position);
        self.moves = accepted.kept.len();
        self.headline = format!(
            "{} to move, {} moves searched, {} pruned",
            accepted.position.turn(),
            accepted.kept.len(),
            accepted.pruned.len()
        );
    }

    fn searched(&mut self, line: &Line) {
        if line.depth != self.current_depth {
            self.current_depth = line.depth;
            self.settled = 0;
        }
        if line.bound == Bound::Exact || self.lines.get(&line.mv).is_none_or(|last| last.depth != line.depth)
        {
            self.settled += 1;
        }
        self.lines.insert(line.mv, line.clone());
    }

    fn iteration(&mut self, report: &IterationReport) {
        self.current_depth = report.depth + 1;
        self.settled = 0;
        self.headline = format!(
            "depth {} complete: {} {}, {} nodes, {}/s, {} workers",
            report.depth,
            report.best_move,
            report.score_white,
            grouped(report.nodes),
            grouped(report.nodes_per_second),
            report.workers
        );
    }

    /// Leaves a line above everything.
    pub(crate) fn note(&mut self, text: &str) {
        self.live.print_above(text);
    }

    /// Draws what has changed. Whoever calls this decides how often that is.
    pub(crate) fn redraw(&mut self) {
        let Some((rows, columns)) = self.live.size() else { return };
        if self.position.is_none() {
            return;
        }
        let mut lines = self.best_first();
        // Six lines more: the bar, the headline, and the table's frame.
        lines.truncate(LIVE_ROWS.min(rows.saturating_sub(7)));
        let mut text = format!("{}\n{}\n", self.progress(), self.headline);
        if !lines.is_empty() {
            text.push_str(&table::lines(&lines, columns - 1));
        }
        self.live.draw(&text);
    }

    fn progress(&self) -> String {
        let settled = self.settled.min(self.moves);
        let full = (BAR * settled).checked_div(self.moves).unwrap_or(0);
        let seconds = self.started.elapsed().as_secs();
        let state = match &self.waiting {
            Some(waiting) => waiting.clone(),
            None => format!("depth {:>2} running", self.current_depth.max(1)),
        };
        format!(
            "{state}  {}{}  {settled}/{} moves  {seconds} s",
            "\u{2588}".repeat(full),
            "\u{2591}".repeat(BAR - full),
            self.moves
        )
    }

    /// Shows what is known so far of a job that goes on without this command.
    pub(crate) fn leave(&mut self) -> Result<(), Failure> {
        self.live.clear();
        if self.position.is_none() {
            return Ok(());
        }
        out::line(&format!("{}{}", ranking(&self.best_first()), self.headline))
    }

    fn best_first(&self) -> Vec<&Line> {
        let mut lines: Vec<&Line> = self.lines.values().collect();
        table::sort_best_first(&mut lines, self.position.map_or(Color::White, |position| position.turn()));
        lines
    }

    fn done(&self, report: &DoneReport) -> Result<(), Failure> {
        let mut page = String::new();
        if let Some(position) = &self.position {
            page.push_str(&if out::wants_colours() {
                render::board::with_heat(position, &cat_snapshot(position), true)
            } else {
                render::board::plain(position)
            });
            page.push('\n');
        }
        page.push_str(&ranking(&report.lines.iter().collect::<Vec<_>>()));
        page.push_str(&verdict(report));
        out::line(&page)
    }
}

/// The best of the moves as a table, with what its numbers are.
fn ranking(lines: &[&Line]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let shown = &lines[..lines.len().min(FINAL_ROWS)];
    let mut text = format!("{}\n", table::lines(shown, table::width_of_output()));
    let hidden = lines.len() - shown.len();
    if hidden > 0 {
        text.push_str(&format!("and {hidden} more moves\n"));
    }
    text.push_str(LEGEND);
    text
}

/// What the table's numbers are.
const LEGEND: &str = "\
scores in squares from White's view (\u{2264} at most, \u{2265} at least), wins in plies;
heat in cm, 100 to a square; nodes are those of the line's last depth
";

fn verdict(report: &DoneReport) -> String {
    let numbers = format!("{} nodes in {:.1} s", grouped(report.nodes), report.elapsed.as_secs_f64());
    let answer = match (report.best_move, report.score_white) {
        (Some(best), Some(score)) => format!("best move {best}, {}", render::in_plies(score)),
        (None, Some(WhiteScore::WhiteWinsIn(_))) => return "the game is over: White has won".to_owned(),
        (None, Some(WhiteScore::BlackWinsIn(_))) => return "the game is over: Black has won".to_owned(),
        _ => return format!("no depth was completed, {numbers}, stopped by {}", report.stopped_by.name()),
    };
    if report.stopped_by == StoppedBy::Book {
        return format!("{answer}, depth {}, from the book (--fresh searches it again)", report.depth);
    }
    format!("{answer}, depth {}, {numbers}, stopped by {}", report.depth, report.stopped_by.name())
}
