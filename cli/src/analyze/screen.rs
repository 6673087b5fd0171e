//! What a person sees: a progress bar and a live table while it runs, the board and the final table at the end.

use std::collections::BTreeMap;
use std::time::Instant;

use super::live::{Live, bar, flow};
use super::table;
use crate::failure::Failure;
use crate::pulse::{Beat, trouble};
use crate::units::{counted, grouped};
use crate::{out, render};
use corridor_shared::board::{Color, Move, Position};
use corridor_shared::cat::cat_snapshot;
use corridor_shared::job::{Accepted, DoneReport, IterationReport, JobEvent, JobState, Line, StoppedBy};
use corridor_shared::score::{Bound, WhiteScore};

/// Rows of the live table.
const LIVE_ROWS: usize = 10;
/// Rows of the final table.
const FINAL_ROWS: usize = 20;

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
    /// Why nobody works on it, as the events say.
    waiting: Option<String>,
    started: Instant,
    /// How the cluster is.
    beat: Option<Beat>,
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
            beat: None,
        }
    }

    /// Takes an event in; the last one is shown at once, the others with the next [`Self::redraw`].
    pub(crate) fn show(&mut self, event: &JobEvent) -> Result<(), Failure> {
        match event {
            JobEvent::Accepted(accepted) => self.accepted(accepted),
            JobEvent::State(change) => {
                let waits = change.state != JobState::Running;
                self.waiting = waits.then(|| trouble(change.state, &change.reason));
                // It is older than this.
                self.beat = None;
            }
            JobEvent::Move(report) => self.searched(&report.line),
            JobEvent::Iteration(report) => self.iteration(report),
            JobEvent::Audit(report) if report.miss => {
                out::notice(&format!("audit: pruned {} is better: {}", report.mv, report.score_white));
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
            "{} to move, {} searched, {} pruned",
            accepted.position.turn(),
            counted(u64::try_from(accepted.kept.len()).unwrap_or(u64::MAX), "move"),
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
            "depth {} complete: {} {}, {}, {}/s, {}",
            report.depth,
            report.best_move,
            report.score_white,
            counted(report.nodes, "node"),
            grouped(report.nodes_per_second),
            counted(report.workers.into(), "worker")
        );
    }

    /// There is a terminal to see it on.
    pub(crate) fn is_live(&self) -> bool {
        self.live.size().is_some()
    }

    /// Takes in how the cluster is.
    pub(crate) fn feel(&mut self, beat: Beat) {
        self.beat = Some(beat);
    }

    /// Draws what has changed. Whoever calls this decides how often that is.
    pub(crate) fn redraw(&mut self) {
        let Some((rows, columns)) = self.live.size() else { return };
        if self.position.is_none() {
            return;
        }
        let mut lines = self.best_first();
        let progress = self.progress(columns - 1);
        // Five lines more: the headline, and the table's frame.
        lines.truncate(LIVE_ROWS.min(rows.saturating_sub(6 + progress.len())));
        let mut text = format!("{}\n{}\n", progress.join("\n"), self.headline);
        if !lines.is_empty() {
            text.push_str(&table::lines(&lines, columns - 1));
        }
        self.live.draw(&text);
    }

    /// How far it is, and who works on it, on lines of so many columns.
    fn progress(&self, columns: usize) -> Vec<String> {
        let settled = self.settled.min(self.moves);
        let (done, all) = (settled as u64, self.moves as u64);
        let trouble = match &self.beat {
            Some(beat) => beat.trouble(),
            None => self.waiting.clone(),
        };
        let who = match &self.beat {
            Some(beat) if trouble.is_none() => counted(beat.workers, "worker"),
            _ => String::new(),
        };
        let state = trouble.unwrap_or_else(|| format!("depth {:>2} running", self.current_depth.max(1)));
        let count = format!("{settled}/{}", counted(all, "move"));
        let time = format!("{} s", self.started.elapsed().as_secs());
        let taken: usize = [&state, &count, &time, &who].map(|piece| piece.chars().count() + 2).iter().sum();
        flow(&[state, bar(done, all, columns.saturating_sub(taken)), count, time, who], "  ", columns)
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
        text.push_str(&format!("and {hidden} more move{}\n", if hidden == 1 { "" } else { "s" }));
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
    let numbers = format!("{} in {:.1} s", counted(report.nodes, "node"), report.elapsed.as_secs_f64());
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
