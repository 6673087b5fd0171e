//! A job where there is no terminal to draw on: a line for everything that happens, for a log.

use corridor_shared::board::{Move, Position};
use corridor_shared::job::{
    Accepted, BookAccepted, BookDone, IterationReport, JobEvent, MoveHeat, PositionReport, StateChange,
};

use crate::analyze::result;
use crate::book::{self, BookScreen};
use crate::failure::Failure;
use crate::listing::printable;
use crate::out;
use crate::pulse::trouble;
use crate::units::{counted, grouped, span};

/// Standard output, a line at a time.
pub(crate) struct Log {
    position: Option<Position>,
    /// The best move of the last depth.
    best: Option<Move>,
    /// Sums a book's job up at its end.
    book: Option<BookScreen>,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self { position: None, best: None, book: None }
    }

    /// Takes an event in and tells of it.
    pub(crate) fn show(&mut self, event: &JobEvent) -> Result<(), Failure> {
        match event {
            JobEvent::Done(report) => return out::line(&result::page(self.position.as_ref(), report)),
            JobEvent::Accepted(accepted) => self.position = Some(accepted.position),
            JobEvent::BookDone(done) => return self.sum_up(done),
            JobEvent::BookAccepted(accepted) => self.book = Some(BookScreen::new(accepted)),
            _ => {}
        }
        match self.said(event) {
            Some(line) => out::line(&printable(&line)),
            None => Ok(()),
        }
    }

    fn sum_up(&self, done: &BookDone) -> Result<(), Failure> {
        match &self.book {
            Some(book) => out::line(&book.summary(done)),
            None => Ok(()),
        }
    }

    /// What is worth a line; the last event is worth more.
    fn said(&mut self, event: &JobEvent) -> Option<String> {
        match event {
            JobEvent::Accepted(accepted) => Some(accepted_line(accepted)),
            JobEvent::State(StateChange { state, reason }) => Some(trouble(*state, reason)),
            JobEvent::Iteration(report) => Some(self.iteration(report)),
            JobEvent::Audit(report) if report.miss => Some(result::missed(report)),
            JobEvent::BookAccepted(accepted) => Some(book_accepted(accepted)),
            JobEvent::Position(report) => Some(position(report)),
            JobEvent::PositionFailed(failure) => {
                Some(format!("{} failed: {}", failure.position, failure.message))
            }
            // Those are many, and say nothing that the next depth does not; the last ones are told elsewhere.
            JobEvent::Heat(_)
            | JobEvent::Move(_)
            | JobEvent::Audit(_)
            | JobEvent::Done(_)
            | JobEvent::Error(_)
            | JobEvent::BookDone(_) => None,
        }
    }

    /// `depth 12: e3h +1.20, 1,234,567 nodes in 3.2 s, 400,000/s, 2 workers; e3h e8 ..`.
    fn iteration(&mut self, report: &IterationReport) -> String {
        let IterationReport { depth, best_move, score_white, pv, .. } = report;
        let before = self.best.replace(*best_move).filter(|before| before != best_move);
        let before = before.map(|before| format!(" instead of {before}")).unwrap_or_default();
        let line: Vec<String> = pv.iter().map(ToString::to_string).collect();
        format!(
            "depth {depth}: {best_move} {score_white}{before}, {} in {}, {}/s, {}; line {}",
            counted(report.nodes, "node"),
            span(report.elapsed),
            grouped(report.nodes_per_second),
            counted(report.workers.into(), "worker"),
            line.join(" ")
        )
    }
}

fn accepted_line(accepted: &Accepted) -> String {
    let names = |moves: &[MoveHeat]| counted(u64::try_from(moves.len()).unwrap_or(u64::MAX), "move");
    format!(
        "job {}: {}, {} to move, {} searched, {} pruned",
        accepted.job,
        accepted.position,
        accepted.position.turn(),
        names(&accepted.kept),
        accepted.pruned.len()
    )
}

fn book_accepted(accepted: &BookAccepted) -> String {
    format!(
        "job {}: book {}: {}, {} of {} to be searched",
        accepted.job,
        accepted.book,
        accepted.task.name(),
        grouped(accepted.total),
        counted(accepted.positions, "position")
    )
}

/// `17/200 .. e8 e3: +1.50, depth 12, best e4`.
fn position(report: &PositionReport) -> String {
    /// Columns of a position with its line.
    const COLUMNS: usize = 100;
    let progress = &report.progress;
    let named = book::position_line(&report.record, COLUMNS);
    format!("{}/{} {named}, {}", grouped(progress.done), grouped(progress.total), span(progress.elapsed))
}
