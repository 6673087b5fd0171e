//! What a person sees of a book's job: how far it is while it runs, what has come of it at the end.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use corridor_shared::book::Record;
use corridor_shared::job::{
    BookAccepted, BookDone, BookProgress, BookStop, BookTask, JobEvent, JobState, PositionReport,
};

use super::search::positions;
use crate::analyze::live::Live;
use crate::failure::Failure;
use crate::units::{grouped, per_second, span};
use crate::{out, render};

/// Positions that are shown while it runs.
const LAST: usize = 6;
/// Characters of the progress bar.
const BAR: usize = 30;
/// Moves of a position's line that are shown, its last ones.
const PLIES: usize = 8;

/// The terminal. Progress goes to standard error, and only if that is a terminal; the summary goes to standard output.
pub(crate) struct BookScreen {
    live: Live,
    book: String,
    task: BookTask,
    progress: BookProgress,
    failed: u64,
    last: VecDeque<String>,
    waiting: Option<String>,
    /// When the progress was as it is.
    seen: Instant,
}

impl BookScreen {
    pub(crate) fn new(accepted: &BookAccepted) -> Self {
        let nothing =
            BookProgress { done: 0, total: accepted.total, nodes: 0, elapsed: Duration::ZERO, workers: 0 };
        Self {
            live: Live::new(),
            book: accepted.book.to_string(),
            task: accepted.task,
            progress: nothing,
            failed: 0,
            last: VecDeque::new(),
            waiting: None,
            seen: Instant::now(),
        }
    }

    /// Takes an event in; the last one is shown at once, the others with the next [`Self::redraw`].
    pub(crate) fn show(&mut self, event: &JobEvent) -> Result<(), Failure> {
        match event {
            JobEvent::State(change) => {
                let waits = change.state != JobState::Running;
                self.waiting = waits.then(|| format!("{}: {}", change.state.name(), change.reason));
            }
            JobEvent::Position(report) => self.searched(report),
            JobEvent::PositionFailed(failure) => {
                self.failed += 1;
                let text = format!("corridor: {}: {}", failure.position, failure.message);
                self.live.print_above(&crate::listing::printable(&text));
            }
            JobEvent::BookDone(done) => {
                self.live.clear();
                return out::line(&self.summary(done));
            }
            JobEvent::Error(_) => self.live.clear(),
            // Those of a position's job are shown elsewhere.
            JobEvent::BookAccepted(_)
            | JobEvent::Accepted(_)
            | JobEvent::Heat(_)
            | JobEvent::Move(_)
            | JobEvent::Iteration(_)
            | JobEvent::Audit(_)
            | JobEvent::Done(_) => {}
        }
        Ok(())
    }

    fn searched(&mut self, report: &PositionReport) {
        self.progress = report.progress;
        self.seen = Instant::now();
        self.last.push_front(position(&report.record));
        self.last.truncate(LAST);
    }

    /// Leaves a line above everything.
    pub(crate) fn note(&mut self, text: &str) {
        self.live.print_above(text);
    }

    /// Draws what has changed. Whoever calls this decides how often that is.
    pub(crate) fn redraw(&mut self) {
        let Some((rows, _)) = self.live.size() else { return };
        let mut text = self.headlines(self.seen.elapsed());
        // Three lines more: the headlines, and one below everything.
        for line in self.last.iter().take(rows.saturating_sub(4)) {
            text.push_str(&format!("  {line}\n"));
        }
        self.live.draw(&text);
    }

    /// How far it is, and how fast, so long after the last position.
    fn headlines(&self, since: Duration) -> String {
        let BookProgress { done, total, nodes, elapsed, workers } = self.progress;
        // Nothing may have been finished for a while, and then it is slower than it looked.
        let now = BookProgress { elapsed: elapsed + since, ..self.progress };
        let full = usize::try_from(u128::from(done) * 30 / u128::from(total.max(1))).unwrap_or(BAR).min(BAR);
        let bar = format!("{}{}", "\u{2588}".repeat(full), "\u{2591}".repeat(BAR - full));
        let left = remaining(now, self.task).map(|time| format!(", {} left", span(time)));
        let state = self.waiting.clone().unwrap_or_else(|| format!("{workers} workers"));
        let failed =
            if self.failed > 0 { format!(", {} failed", grouped(self.failed)) } else { String::new() };
        format!(
            "book {}: {}  {bar}  {}/{}{failed}  {}{}\n{}, {}, {} nodes, {}/s\n",
            self.book,
            self.task.name(),
            grouped(done),
            grouped(total),
            span(now.elapsed),
            left.unwrap_or_default(),
            state,
            rate(done, now.elapsed),
            grouped(nodes),
            grouped(per_second(nodes, elapsed)),
        )
    }

    /// Shows how far a job is that goes on without this command.
    pub(crate) fn leave(&mut self) -> Result<(), Failure> {
        self.live.clear();
        let BookProgress { done, total, .. } = self.progress;
        out::line(&format!(
            "book {}: {}, {} of {} searched",
            self.book,
            self.task.name(),
            grouped(done),
            positions(total)
        ))
    }

    fn summary(&self, done: &BookDone) -> String {
        let added = match self.task {
            BookTask::Analyze { .. } => String::new(),
            BookTask::Expand { .. } => format!("{} added, ", grouped(done.added)),
        };
        let failed =
            if done.failed > 0 { format!(", {} failed", grouped(done.failed)) } else { String::new() };
        let why = match done.stopped_by {
            BookStop::Complete => "complete",
            BookStop::Cost => "nothing cheaper is missing",
            BookStop::Time => "the time is up",
            BookStop::Cancel => "cancelled",
        };
        format!(
            "book {}: {added}{} searched{failed}, {} nodes in {}, {}\n\
             {} in the book, {} of them not known as well as was asked; {why}",
            self.book,
            positions(done.searched),
            grouped(done.nodes),
            span(done.elapsed),
            rate(done.searched, done.elapsed),
            positions(done.positions),
            grouped(done.left),
        )
    }
}

/// Positions in a time that makes a readable number.
fn rate(done: u64, elapsed: Duration) -> String {
    let a_second = per_second(done, elapsed);
    if a_second >= 10 {
        return format!("{} positions a second", grouped(a_second));
    }
    let a_minute = per_second(done.saturating_mul(60), elapsed);
    if a_minute >= 10 {
        return format!("{} positions a minute", grouped(a_minute));
    }
    format!("{} positions an hour", grouped(per_second(done.saturating_mul(3_600), elapsed)))
}

/// How long it will take at the rate so far. A book that grows does not know where it ends.
fn remaining(progress: BookProgress, task: BookTask) -> Option<Duration> {
    if progress.done == 0 || matches!(task, BookTask::Expand { .. }) {
        return None;
    }
    let left = u128::from(progress.total.saturating_sub(progress.done));
    let millis = progress.elapsed.as_millis().saturating_mul(left) / u128::from(progress.done);
    Some(Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX)))
}

/// A position that was searched, on a line.
fn position(record: &Record) -> String {
    let name = match &record.moves {
        None => record.position.to_string(),
        Some(moves) if moves.is_empty() => "start".to_owned(),
        Some(moves) => {
            let from = moves.len().saturating_sub(PLIES);
            let shown: Vec<String> = moves[from..].iter().map(ToString::to_string).collect();
            format!("{}{}", if from > 0 { ".. " } else { "" }, shown.join(" "))
        }
    };
    let Some(searched) = &record.searched else { return name };
    let score = render::bounded(searched.score_white, searched.bound);
    let best = searched.best_move.map(|mv| format!(", best {mv}")).unwrap_or_default();
    format!("{name}: {score}, depth {}{best}", searched.depth)
}

#[cfg(test)]
mod tests {
    use corridor_shared::Position;
    use corridor_shared::book::{Book, Effort, Growth, Searched};
    use corridor_shared::job::{ENGINE_EPOCH, JobId, RootPrune};
    use corridor_shared::score::{Bound, WhiteScore};

    use super::*;

    fn accepted(task: BookTask) -> BookAccepted {
        BookAccepted { job: JobId(1), book: "main".into(), task, positions: 200, total: 200 }
    }

    fn progress(done: u64) -> BookProgress {
        BookProgress { done, total: 200, nodes: 3_000_000, elapsed: Duration::from_secs(300), workers: 4 }
    }

    #[test]
    fn progress_says_how_far_how_fast_and_how_long() {
        let task = BookTask::Analyze { stale: false, most: None };
        let mut screen = BookScreen::new(&accepted(task));
        screen.progress = progress(50);
        let shown = screen.headlines(Duration::ZERO);
        assert!(
            shown.starts_with(
                "book main: analyze  \u{2588}\u{2588}\u{2588}\u{2588}\u{2588}\u{2588}\u{2588}\u{2591}"
            ),
            "{shown}"
        );
        assert!(shown.contains("  50/200  5m 00s, 15m 00s left\n"), "{shown}");
        assert!(shown.ends_with("4 workers, 10 positions a minute, 3,000,000 nodes, 10,000/s\n"), "{shown}");
        let later = screen.headlines(Duration::from_secs(300));
        assert!(later.contains("10m 00s, 30m 00s left\n"), "{later}");
        assert!(later.contains("300 positions an hour"), "nothing has come for a while: {later}");
        let growing = BookTask::Expand { positions: None, growth: Growth::default(), time: None };
        assert_eq!(remaining(progress(50), growing), None);
        assert_eq!(remaining(progress(0), task), None);
    }

    #[test]
    fn rates_are_in_a_unit_that_reads() {
        assert_eq!(rate(500, Duration::from_secs(10)), "50 positions a second");
        assert_eq!(rate(5, Duration::from_secs(10)), "30 positions a minute");
        assert_eq!(rate(1, Duration::from_secs(600)), "6 positions an hour");
        assert_eq!(rate(0, Duration::ZERO), "0 positions an hour");
    }

    #[test]
    fn a_position_is_named_by_the_end_of_its_line() {
        let mut book = Book::new();
        let moves = "e2 e8 e3 e7 e4 e6 e3h f6h c6h".split(' ');
        let mut position = Position::start();
        let mut last = book.insert(&position).unwrap().0;
        for mv in moves {
            position = position.play(mv.parse().unwrap()).unwrap();
            last = book.insert(&position).unwrap().0;
        }
        let best = position.legal_moves()[0];
        let searched = Searched {
            depth: 12,
            score_white: WhiteScore::Cm(150),
            bound: Bound::Exact,
            best_move: Some(best),
            pv: vec![best],
            nodes: 1,
            engine: ENGINE_EPOCH.into(),
            analysed_at: 1,
            worker: "anna".into(),
            multipv: 1,
            prune: RootPrune::Cat,
            deterministic: true,
            others: Vec::new(),
            effort: Effort::default(),
        };
        book.learn(last, searched, ENGINE_EPOCH);
        book.settle();
        let shown = super::position(&book.record(last));
        assert!(shown.starts_with(".. ") && shown.contains(": +1.50, depth 12, best "), "{shown}");
        let start = book.find(&Position::start()).unwrap();
        assert_eq!(super::position(&book.record(start)), "start");
    }
}
