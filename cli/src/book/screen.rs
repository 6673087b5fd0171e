//! What a person sees of a book's job: how far it is while it runs, what has come of it at the end.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use corridor_shared::book::Record;
use corridor_shared::job::{
    BookAccepted, BookDone, BookProgress, BookStop, BookTask, JobEvent, JobState, PositionReport,
};

use super::search::positions;
use crate::analyze::live::{Live, bar, flow, width};
use crate::failure::Failure;
use crate::pulse::{Beat, trouble};
use crate::units::{counted, grouped, per_second, span};
use crate::{out, render};

/// Positions that are shown while it runs.
const LAST: usize = 6;
/// Moves of a position's line that are shown, its last ones, if there is room for so many.
const PLIES: usize = 8;

/// The terminal. Progress goes to standard error, and only if that is a terminal; the summary goes to standard output.
pub(crate) struct BookScreen {
    live: Live,
    book: String,
    task: BookTask,
    progress: BookProgress,
    failed: u64,
    last: VecDeque<Record>,
    /// Why nobody works on it, as the events say.
    waiting: Option<String>,
    /// When the progress was as it is.
    seen: Instant,
    /// How the cluster is.
    beat: Option<Beat>,
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
            beat: None,
        }
    }

    /// There is a terminal to see it on.
    pub(crate) fn is_live(&self) -> bool {
        self.live.size().is_some()
    }

    /// Takes an event in; the last one is shown at once, the others with the next [`Self::redraw`].
    pub(crate) fn show(&mut self, event: &JobEvent) -> Result<(), Failure> {
        match event {
            JobEvent::State(change) => {
                let waits = change.state != JobState::Running;
                self.waiting = waits.then(|| trouble(change.state, &change.reason));
                // It is older than this.
                self.beat = None;
            }
            JobEvent::Position(report) => self.searched(report),
            JobEvent::PositionFailed(failure) => {
                self.failed += 1;
                let text = format!("{}: {}", failure.position, failure.message);
                out::complain(&crate::listing::printable(&text));
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
        self.last.push_front(report.record.clone());
        self.last.truncate(LAST);
    }

    /// Takes in how the cluster is.
    pub(crate) fn feel(&mut self, beat: Beat) {
        if let Some(book) = &beat.job.book {
            self.progress.total = book.total;
            self.progress.nodes = self.progress.nodes.max(beat.job.nodes);
        }
        self.beat = Some(beat);
    }

    /// Draws what has changed. Whoever calls this decides how often that is.
    pub(crate) fn redraw(&mut self) {
        let Some((rows, columns)) = self.live.size() else { return };
        let mut lines = self.headlines(self.seen.elapsed(), columns - 1);
        let room = rows.saturating_sub(lines.len() + 1);
        let last = self.last.iter().take(room);
        lines.extend(last.map(|record| format!("  {}", position(record, columns.saturating_sub(3)))));
        self.live.draw(&lines.join("\n"));
    }

    /// How far it is, and how fast, so long after the last position, on lines of so many columns.
    fn headlines(&self, since: Duration, columns: usize) -> Vec<String> {
        let BookProgress { done, total, nodes, elapsed, workers } = self.progress;
        // Nothing may have been finished for a while, and then it is slower than it looked.
        let now = BookProgress { elapsed: elapsed + since, ..self.progress };
        let trouble = match &self.beat {
            Some(beat) => beat.trouble(),
            None => self.waiting.clone(),
        };
        // While nobody works there is no telling when it ends.
        let left = remaining(now, self.task).filter(|_| trouble.is_none());
        let left = left.map(|time| format!(", {} left", span(time))).unwrap_or_default();
        let failed =
            if self.failed > 0 { format!(", {} failed", grouped(self.failed)) } else { String::new() };
        let name = format!("book {}: {}", self.book, self.task.name());
        let count = format!("{}/{}{failed}", grouped(done), grouped(total));
        let time = format!("{}{left}", span(now.elapsed));
        let taken: usize = [&name, &count, &time].map(|piece| width(piece) + 2).iter().sum();
        let mut lines =
            flow(&[name, bar(done, total, columns.saturating_sub(taken)), count, time], "  ", columns);
        let searched = if nodes > 0 { counted(nodes, "node") } else { String::new() };
        let works = match (trouble, &self.beat) {
            (Some(trouble), _) => words(&trouble, columns).into_iter().chain([searched]).collect(),
            (None, Some(beat)) => {
                let workers = counted(beat.workers, "worker");
                let measured = if nodes > 0 { per_second(nodes, elapsed) } else { 0 };
                let a_second = if beat.nodes_per_second > 0 { beat.nodes_per_second } else { measured };
                flow(&[workers, self.pace(now), searched, speed(a_second)], ", ", columns)
            }
            (None, None) => {
                let workers = if workers > 0 { counted(workers.into(), "worker") } else { String::new() };
                flow(&[workers, self.pace(now), searched, speed(per_second(nodes, elapsed))], ", ", columns)
            }
        };
        lines.extend(works.into_iter().filter(|line| !line.is_empty()));
        lines
    }

    /// Positions in a time, as soon as there is one.
    fn pace(&self, now: BookProgress) -> String {
        if now.done == 0 { "no position is finished yet".to_owned() } else { rate(now.done, now.elapsed) }
    }

    /// Shows how far a job is that goes on without this command.
    pub(crate) fn leave(&self) -> Result<(), Failure> {
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

    /// What has come of it.
    pub(crate) fn summary(&self, done: &BookDone) -> String {
        let added = match self.task {
            BookTask::Analyze { .. } => String::new(),
            BookTask::Expand { .. } => format!("{} added, ", grouped(done.added)),
        };
        let failed =
            if done.failed > 0 { format!(", {} failed", grouped(done.failed)) } else { String::new() };
        let known = match done.left {
            0 => "all of them known as well as was asked".to_owned(),
            left => format!("{} of them not known as well as was asked", grouped(left)),
        };
        let why = match done.stopped_by {
            BookStop::Complete if done.left == 0 => "complete",
            BookStop::Complete if done.failed >= done.left => "their searches failed",
            BookStop::Complete if done.failed > 0 => {
                "searches failed, and the others were not part of the job"
            }
            BookStop::Complete => "the part that was asked for is done",
            BookStop::Cost => "nothing cheaper is missing",
            BookStop::Time => "the time is up",
            BookStop::Cancel => "cancelled",
        };
        format!(
            "book {}: {added}{} searched{failed}, {} in {}, {}\n{} in the book, {known}; {why}",
            self.book,
            positions(done.searched),
            counted(done.nodes, "node"),
            span(done.elapsed),
            rate(done.searched, done.elapsed),
            positions(done.positions),
        )
    }
}

/// How fast it searches, if that is known.
fn speed(nodes_a_second: u64) -> String {
    if nodes_a_second > 0 { format!("{}/s", grouped(nodes_a_second)) } else { String::new() }
}

/// A text on lines of so many columns, three at most.
fn words(text: &str, columns: usize) -> Vec<String> {
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    flow(&words, " ", columns).into_iter().take(3).collect()
}

/// Positions in a time that makes a readable number.
fn rate(done: u64, elapsed: Duration) -> String {
    let a_second = per_second(done, elapsed);
    if a_second >= 10 {
        return format!("{} a second", positions(a_second));
    }
    let a_minute = per_second(done.saturating_mul(60), elapsed);
    if a_minute >= 10 {
        return format!("{} a minute", positions(a_minute));
    }
    format!("{} an hour", positions(per_second(done.saturating_mul(3_600), elapsed)))
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

/// A position that was searched, in so many columns: with as much of its line's end as there is room for.
pub(crate) fn position(record: &Record, columns: usize) -> String {
    let found = record.searched.as_ref().map(|searched| {
        let score = render::bounded(searched.score_white, searched.bound);
        let best = searched.best_move.map(|mv| format!(", best {mv}")).unwrap_or_default();
        format!(": {score}, depth {}{best}", searched.depth)
    });
    let found = found.unwrap_or_default();
    let Some(moves) = &record.moves else { return format!("{}{found}", record.position) };
    let named = |plies: usize| {
        let from = moves.len().saturating_sub(plies);
        let shown: Vec<String> = moves[from..].iter().map(ToString::to_string).collect();
        format!("{}{}{found}", if from > 0 { ".. " } else { "" }, shown.join(" "))
    };
    if moves.is_empty() {
        return format!("start{found}");
    }
    let fitting = (1..=PLIES).rev().map(named).find(|text| text.chars().count() <= columns);
    fitting.unwrap_or_else(|| named(1))
}

#[cfg(test)]
mod tests {
    use corridor_shared::Position;
    use corridor_shared::book::{Book, Effort, Growth, Searched};
    use corridor_shared::job::{ENGINE_EPOCH, JobId, RootPrune};
    use corridor_shared::score::{Bound, WhiteScore};

    use super::*;
    use crate::pulse::tests::beat;

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
        let headlines = |screen: &BookScreen, since| screen.headlines(Duration::from_secs(since), 79);
        let shown = headlines(&screen, 0);
        let bar = format!("{}{}", "\u{2588}".repeat(7), "\u{2591}".repeat(23));
        assert_eq!(
            shown[0],
            format!("book main: analyze  {}  50/200  5m 00s, 15m 00s left", bar_of(&shown[0]))
        );
        assert!(bar.starts_with(&bar_of(&shown[0])[..21]), "a quarter is full: {shown:?}");
        assert_eq!(shown[1..], ["4 workers, 10 positions a minute, 3,000,000 nodes, 10,000/s"]);
        let later = headlines(&screen, 300);
        assert!(later[0].ends_with("10m 00s, 30m 00s left"), "{later:?}");
        assert!(later[1].contains("300 positions an hour"), "nothing has come for a while: {later:?}");
        let growing = BookTask::Expand { positions: None, growth: Growth::default(), time: None };
        assert_eq!(remaining(progress(50), growing), None);
        assert_eq!(remaining(progress(0), task), None);
    }

    fn bar_of(line: &str) -> String {
        line.chars().filter(|c| ['\u{2588}', '\u{2591}'].contains(c)).collect()
    }

    #[test]
    fn before_the_first_position_is_finished_it_says_who_works() {
        let mut screen = BookScreen::new(&accepted(BookTask::Analyze { stale: false, most: None }));
        assert_eq!(screen.headlines(Duration::ZERO, 79)[1..], ["no position is finished yet"]);
        screen.feel(beat(JobState::Running, ""));
        assert_eq!(
            screen.headlines(Duration::ZERO, 79)[1..],
            ["2 workers, no position is finished yet, 1,000/s"]
        );
    }

    #[test]
    fn while_nobody_works_it_says_why_and_not_when_it_ends() {
        let mut screen = BookScreen::new(&accepted(BookTask::Analyze { stale: false, most: None }));
        screen.progress = progress(50);
        screen.feel(beat(JobState::Paused, "the store cannot be written: database or disk is full"));
        let shown = screen.headlines(Duration::ZERO, 79);
        assert!(shown[0].ends_with("50/200  5m 00s"), "{shown:?}");
        assert_eq!(
            shown[1..],
            ["paused: the store cannot be written: database or disk is full", "3,000,000 nodes"]
        );
        screen.feel(beat(JobState::Running, ""));
        assert!(screen.headlines(Duration::ZERO, 79)[0].ends_with("15m 00s left"));
    }

    #[test]
    fn a_narrow_terminal_shows_all_of_it() {
        let mut screen = BookScreen::new(&accepted(BookTask::Analyze { stale: false, most: None }));
        screen.progress = progress(50);
        for columns in [39, 59] {
            let lines = screen.headlines(Duration::ZERO, columns);
            assert!(lines.iter().all(|line| line.chars().count() <= columns), "{lines:?}");
            let text = lines.join("\n");
            for part in ["book main: analyze", "50/200", "5m 00s, 15m 00s left", "4 workers", "10,000/s"] {
                assert!(text.contains(part), "{columns}: {part} in {lines:?}");
            }
        }
    }

    #[test]
    fn the_end_says_what_is_known_and_why_not_more() {
        let screen = BookScreen::new(&accepted(BookTask::Analyze { stale: false, most: None }));
        let done = BookDone {
            positions: 9,
            searched: 1,
            added: 0,
            failed: 0,
            left: 0,
            nodes: 1,
            elapsed: Duration::from_secs(1),
            stopped_by: BookStop::Complete,
        };
        let said = |done: BookDone| screen.summary(&done).lines().nth(1).unwrap_or_default().to_owned();
        assert!(screen.summary(&done).starts_with("book main: 1 position searched, 1 node in 1.0 s, "));
        assert_eq!(said(done), "9 positions in the book, all of them known as well as was asked; complete");
        let most = BookDone { left: 6, ..done };
        let part = "9 positions in the book, 6 of them not known as well as was asked; the part that was asked for is done";
        assert_eq!(said(most), part);
        assert!(said(BookDone { left: 2, failed: 2, ..done }).ends_with("; their searches failed"));
        assert!(said(BookDone { left: 3, failed: 2, ..done }).contains("not part of the job"));
    }

    #[test]
    fn rates_are_in_a_unit_that_reads() {
        assert_eq!(rate(500, Duration::from_secs(10)), "50 positions a second");
        assert_eq!(rate(5, Duration::from_secs(10)), "30 positions a minute");
        assert_eq!(rate(1, Duration::from_secs(600)), "6 positions an hour");
        assert_eq!(rate(1, Duration::from_secs(3_600)), "1 position an hour");
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
        let shown = super::position(&book.record(last), 100);
        assert!(shown.starts_with(".. e8 e3") && shown.contains(": +1.50, depth 12, best "), "{shown}");
        let narrow = super::position(&book.record(last), 40);
        assert!(
            narrow.starts_with(".. ") && narrow.chars().count() <= 40 && narrow.contains("best "),
            "{narrow}"
        );
        let start = book.find(&Position::start()).unwrap();
        assert_eq!(super::position(&book.record(start), 40), "start");
    }
}
