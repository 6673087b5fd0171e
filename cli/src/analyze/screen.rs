//! What a person sees: a progress bar and a live table while it runs, the board and the final table at the end.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use corridor_shared::board::{Move, Position};
use corridor_shared::job::{Accepted, DoneReport, IterationReport, JobEvent, JobState, Line};
use corridor_shared::score::Bound;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::table;
use crate::failure::Failure;
use crate::units::grouped;
use crate::{out, render};

/// The live table is drawn at most so often.
const REDRAW: Duration = Duration::from_millis(100);
/// Rows of the live table.
const LIVE_ROWS: usize = 10;
/// Rows of the final table.
const FINAL_ROWS: usize = 20;

/// The terminal. Bars and live table go to standard error, and only if that is a terminal; the answer goes to standard
/// output.
pub(crate) struct Screen {
    bars: MultiProgress,
    depth: ProgressBar,
    live: ProgressBar,
    position: Option<Position>,
    moves: usize,
    current_depth: u8,
    settled: u64,
    lines: BTreeMap<Move, Line>,
    headline: String,
    drawn_at: Instant,
}

impl Screen {
    pub(crate) fn new() -> Self {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let depth = bars.add(ProgressBar::new(0));
        let live = bars.add(ProgressBar::new_spinner());
        if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} moves  {elapsed}") {
            depth.set_style(style);
        }
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            live.set_style(style);
        }
        Self {
            bars,
            depth,
            live,
            position: None,
            moves: 0,
            current_depth: 0,
            settled: 0,
            lines: BTreeMap::new(),
            headline: String::new(),
            drawn_at: Instant::now(),
        }
    }

    /// Shows an event.
    pub(crate) fn show(&mut self, event: &JobEvent) -> Result<(), Failure> {
        match event {
            JobEvent::Accepted(accepted) => self.accepted(accepted),
            JobEvent::State(change) if change.state != JobState::Running => {
                self.depth.set_prefix(format!("{}: {}", change.state.name(), change.reason));
            }
            JobEvent::Move(report) => self.searched(&report.line),
            JobEvent::Iteration(report) => self.iteration(report),
            JobEvent::Audit(report) if report.miss => {
                let text = format!("audit: pruned {} is better: {}", report.mv, report.score_white);
                // Lost only if the terminal is gone.
                let _ = self.bars.println(text);
            }
            JobEvent::Done(report) => {
                self.clear();
                return self.done(report);
            }
            JobEvent::Error(_) => self.clear(),
            JobEvent::Heat(_) | JobEvent::State(_) | JobEvent::Audit(_) => {}
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
        if self.drawn_at.elapsed() >= REDRAW {
            self.draw();
        }
    }

    fn iteration(&mut self, report: &IterationReport) {
        self.headline = format!(
            "depth {}  {} {}  {} nodes, {}/s, {} workers",
            report.depth,
            report.best_move,
            report.score_white,
            grouped(report.nodes),
            grouped(report.nodes_per_second),
            report.workers
        );
        if self.drawn_at.elapsed() >= REDRAW {
            self.draw();
        }
    }

    fn draw(&mut self) {
        self.drawn_at = Instant::now();
        if self.bars.is_hidden() {
            return;
        }
        let moves = u64::try_from(self.moves).unwrap_or(u64::MAX);
        self.depth.set_length(moves);
        self.depth.set_prefix(format!("depth {:>2}", self.current_depth));
        self.depth.set_position(self.settled.min(moves));
        let mut lines: Vec<&Line> = self.lines.values().collect();
        let turn = self.position.map_or(corridor_shared::Color::White, |position| position.turn());
        table::sort_best_first(&mut lines, turn);
        lines.truncate(LIVE_ROWS);
        self.live.set_message(format!("{}\n{}", self.headline, table::lines(&lines)));
    }

    fn clear(&self) {
        self.depth.finish_and_clear();
        self.live.finish_and_clear();
        // Lost only if the terminal is gone.
        let _ = self.bars.clear();
    }

    fn done(&self, report: &DoneReport) -> Result<(), Failure> {
        let mut page = String::new();
        if let Some(position) = &self.position {
            page.push_str(&render::board::plain(position));
            page.push('\n');
        }
        let shown: Vec<&Line> = report.lines.iter().take(FINAL_ROWS).collect();
        if !shown.is_empty() {
            page.push_str(&table::lines(&shown));
            page.push('\n');
        }
        let hidden = report.lines.len() - shown.len();
        if hidden > 0 {
            page.push_str(&format!("and {hidden} more moves\n"));
        }
        page.push_str(&verdict(report));
        out::line(&page)
    }
}

fn verdict(report: &DoneReport) -> String {
    let answer = match (report.best_move, report.score_white) {
        (Some(best), Some(score)) => format!("best move {best}, {score}"),
        (None, Some(score)) => format!("the game is over: {score}"),
        _ => "no depth was completed".to_owned(),
    };
    format!(
        "{answer}, depth {}, {} nodes in {:.1} s, stopped by {}",
        report.depth,
        grouped(report.nodes),
        report.elapsed.as_secs_f64(),
        report.stopped_by.name()
    )
}
