//! The JSON form of events: compact, one object an event, names and order of fields as documented for the command line.

mod cluster;
mod node;
mod position;
pub mod requests;

use corridor_shared::board::Move;
use corridor_shared::book::{Bounded, Record, Source};
use corridor_shared::job::{self, EventRecord, JobEvent};
use corridor_shared::score::{Bound, WhiteScore};
use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::convert::millis;

pub use cluster::{JobView, LossView, WorkerView};
pub use node::NodeView;
pub use position::PositionView;

/// An event on one line, without the line's end.
///
/// # Errors
/// Only when the serializer itself fails, which these types give it no reason to.
pub fn event_line(record: &EventRecord) -> Result<String, serde_json::Error> {
    serde_json::to_string(&EventView::new(record))
}

/// A score as JSON sees it: `{"cm":120}`, `{"white_wins_in":9}` or `{"black_wins_in":16}`.
#[derive(Copy, Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreView {
    /// Centi-squares.
    Cm(i32),
    /// White has a proven win in so many plies.
    WhiteWinsIn(u16),
    /// Black has a proven win in so many plies.
    BlackWinsIn(u16),
}

impl From<WhiteScore> for ScoreView {
    fn from(score: WhiteScore) -> Self {
        match score {
            WhiteScore::Cm(cm) => Self::Cm(cm),
            WhiteScore::WhiteWinsIn(plies) => Self::WhiteWinsIn(plies),
            WhiteScore::BlackWinsIn(plies) => Self::BlackWinsIn(plies),
        }
    }
}

/// A move as JSON sees it: its `man` text.
#[derive(Copy, Clone, Debug)]
struct Text(Move);

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

fn texts(moves: &[Move]) -> Vec<Text> {
    moves.iter().copied().map(Text).collect()
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum EventView<'a> {
    Accepted {
        job: u64,
        position: String,
        turn: &'static str,
        kept: Vec<HeatView<'a>>,
        pruned: Vec<HeatView<'a>>,
        seq: u64,
    },
    Heat {
        #[serde(rename = "move")]
        mv: Option<Text>,
        cat_display: &'a [u16],
        cat_search: &'a [u16],
        seq: u64,
    },
    State {
        state: &'static str,
        reason: &'a str,
        seq: u64,
    },
    Move {
        #[serde(rename = "move")]
        mv: Text,
        depth: u8,
        score_white: ScoreView,
        bound: &'static str,
        pv: Vec<Text>,
        nodes: u64,
        heat_cm: u16,
        worker: &'a str,
        seq: u64,
    },
    Iteration {
        depth: u8,
        best_move: Text,
        score_white: ScoreView,
        pv: Vec<Text>,
        nodes: u64,
        elapsed_ms: u64,
        nodes_per_second: u64,
        workers: u32,
        seq: u64,
    },
    Audit {
        #[serde(rename = "move")]
        mv: Text,
        score_white: ScoreView,
        reason: &'a str,
        miss: bool,
        seq: u64,
    },
    Done {
        best_move: Option<Text>,
        score_white: Option<ScoreView>,
        depth: u8,
        pv: Vec<Text>,
        nodes: u64,
        elapsed_ms: u64,
        lines: Vec<LineView>,
        stopped_by: &'static str,
        seq: u64,
    },
    Error {
        code: &'a str,
        message: &'a str,
        seq: u64,
    },
    #[serde(rename = "accepted")]
    BookAccepted {
        job: u64,
        book: &'a str,
        task: &'static str,
        positions: u64,
        total: u64,
        seq: u64,
    },
    Position {
        #[serde(flatten)]
        record: Box<RecordView<'a>>,
        worker: &'a str,
        done: u64,
        total: u64,
        elapsed_ms: u64,
        workers: u32,
        seq: u64,
    },
    PositionFailed {
        position: String,
        message: &'a str,
        seq: u64,
    },
    #[serde(rename = "done")]
    BookDone {
        positions: u64,
        searched: u64,
        added: u64,
        failed: u64,
        left: u64,
        nodes: u64,
        elapsed_ms: u64,
        stopped_by: &'static str,
        seq: u64,
    },
}

/// A position of a book as JSON sees it.
#[derive(Serialize)]
struct RecordView<'a> {
    position: String,
    moves: Option<Vec<Text>>,
    key: String,
    depth: u8,
    score_white: Option<ScoreView>,
    bound: Option<&'static str>,
    best_move: Option<Text>,
    pv: Vec<Text>,
    nodes: u64,
    backed_up_white: Option<ScoreView>,
    backed_up_bound: Option<&'static str>,
    children: Children<'a>,
    children_bounds: ChildrenBounds<'a>,
    engine: Option<&'a str>,
    analysed_at: Option<String>,
}

/// An object with a field a move, in the order of their names.
struct Children<'a>(&'a [(Move, Option<Bounded>)]);

impl Serialize for Children<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let score = |said: Option<Bounded>| said.map(|(score, _)| ScoreView::from(score));
        serializer.collect_map(self.0.iter().map(|&(mv, said)| (Text(mv), score(said))))
    }
}

/// The same for those whose score is only a bound.
struct ChildrenBounds<'a>(&'a [(Move, Option<Bounded>)]);

impl Serialize for ChildrenBounds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bound = |&(mv, said): &(Move, Option<Bounded>)| {
            let (_, bound) = said.filter(|&(_, bound)| bound != Bound::Exact)?;
            Some((Text(mv), bound.name()))
        };
        serializer.collect_map(self.0.iter().filter_map(bound))
    }
}

impl<'a> RecordView<'a> {
    fn new(record: &'a Record) -> Self {
        let searched = record.searched.as_ref();
        let over = record.value.filter(|value| value.source == Source::Rules);
        let score = searched.map(|it| it.score_white).or(over.map(|value| value.score_white));
        let backed_up = record.backed_up();
        Self {
            position: record.position.to_string(),
            moves: record.moves.as_deref().map(texts),
            key: format!("{:016x}", record.key()),
            depth: searched.map_or(0, |it| it.depth),
            score_white: score.map(Into::into),
            bound: searched.map(|it| it.bound).or(over.map(|value| value.bound)).map(Bound::name),
            best_move: searched.and_then(|it| it.best_move).map(Text),
            pv: searched.map(|it| texts(&it.pv)).unwrap_or_default(),
            nodes: searched.map_or(0, |it| it.nodes),
            backed_up_white: backed_up.map(|value| value.score_white.into()),
            backed_up_bound: backed_up.map(|value| value.bound.name()),
            children: Children(&record.children),
            children_bounds: ChildrenBounds(&record.children),
            engine: searched.map(|it| &*it.engine),
            analysed_at: searched.map(|it| rfc3339(it.analysed_at)),
        }
    }
}

/// A position of a book on one line, as it is exported.
///
/// # Errors
/// Only when the serializer itself fails, which these types give it no reason to.
pub fn record_line(record: &Record) -> Result<String, serde_json::Error> {
    serde_json::to_string(&RecordView::new(record))
}

/// A moment, given in seconds since 1970, as `2026-11-30T12:00:00Z`; what no calendar reaches is the last one that it does.
#[must_use]
pub fn rfc3339(seconds: u64) -> String {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX).to_string()
}

/// Seconds since 1970 of a moment as [`rfc3339`] writes it; `None` if it is none, or an earlier one.
#[must_use]
pub fn seconds_since_1970(text: &str) -> Option<u64> {
    let moment: Timestamp = text.parse().ok()?;
    u64::try_from(moment.as_second()).ok()
}

#[derive(Serialize)]
struct HeatView<'a> {
    #[serde(rename = "move")]
    mv: Text,
    heat_cm: u16,
    reason: &'a str,
}

#[derive(Serialize)]
struct LineView {
    #[serde(rename = "move")]
    mv: Text,
    score_white: ScoreView,
    bound: &'static str,
    depth: u8,
    pv: Vec<Text>,
    nodes: u64,
    heat_cm: u16,
}

fn heats(moves: &[job::MoveHeat]) -> Vec<HeatView<'_>> {
    moves.iter().map(heat).collect()
}

fn heat(heat: &job::MoveHeat) -> HeatView<'_> {
    HeatView { mv: Text(heat.mv), heat_cm: heat.heat_cm, reason: &heat.reason }
}

fn line(line: &job::Line) -> LineView {
    LineView {
        mv: Text(line.mv),
        score_white: line.score_white.into(),
        bound: line.bound.name(),
        depth: line.depth,
        pv: texts(&line.pv),
        nodes: line.nodes,
        heat_cm: line.heat_cm,
    }
}

impl<'a> EventView<'a> {
    fn new(record: &'a EventRecord) -> Self {
        let seq = record.seq;
        match &record.event {
            JobEvent::Accepted(accepted) => Self::Accepted {
                job: accepted.job.0,
                position: accepted.position.to_string(),
                turn: accepted.position.turn().name(),
                kept: heats(&accepted.kept),
                pruned: heats(&accepted.pruned),
                seq,
            },
            JobEvent::Heat(heat) => Self::Heat {
                mv: heat.mv.map(Text),
                cat_display: &heat.cat_display,
                cat_search: &heat.cat_search,
                seq,
            },
            JobEvent::State(change) => {
                Self::State { state: change.state.name(), reason: &change.reason, seq }
            }
            JobEvent::Move(report) => Self::from_move(report, seq),
            JobEvent::Iteration(report) => Self::from_iteration(report, seq),
            JobEvent::Audit(report) => Self::Audit {
                mv: Text(report.mv),
                score_white: report.score_white.into(),
                reason: &report.reason,
                miss: report.miss,
                seq,
            },
            JobEvent::Done(report) => Self::from_done(report, seq),
            JobEvent::Error(failure) => Self::Error { code: &failure.code, message: &failure.message, seq },
            JobEvent::BookAccepted(accepted) => Self::BookAccepted {
                job: accepted.job.0,
                book: &accepted.book,
                task: accepted.task.name(),
                positions: accepted.positions,
                total: accepted.total,
                seq,
            },
            JobEvent::Position(report) => Self::from_position(report, seq),
            JobEvent::PositionFailed(failure) => Self::PositionFailed {
                position: failure.position.to_string(),
                message: &failure.message,
                seq,
            },
            JobEvent::BookDone(done) => Self::from_book_done(done, seq),
        }
    }

    fn from_position(report: &'a job::PositionReport, seq: u64) -> Self {
        let job::PositionReport { record, progress } = report;
        Self::Position {
            record: Box::new(RecordView::new(record)),
            worker: record.searched.as_ref().map_or("", |it| &it.worker),
            done: progress.done,
            total: progress.total,
            elapsed_ms: millis(progress.elapsed),
            workers: progress.workers,
            seq,
        }
    }

    fn from_book_done(done: &job::BookDone, seq: u64) -> Self {
        Self::BookDone {
            positions: done.positions,
            searched: done.searched,
            added: done.added,
            failed: done.failed,
            left: done.left,
            nodes: done.nodes,
            elapsed_ms: millis(done.elapsed),
            stopped_by: done.stopped_by.name(),
            seq,
        }
    }

    fn from_move(report: &'a job::MoveReport, seq: u64) -> Self {
        Self::Move {
            mv: Text(report.line.mv),
            depth: report.line.depth,
            score_white: report.line.score_white.into(),
            bound: report.line.bound.name(),
            pv: texts(&report.line.pv),
            nodes: report.line.nodes,
            heat_cm: report.line.heat_cm,
            worker: &report.worker,
            seq,
        }
    }

    fn from_iteration(report: &job::IterationReport, seq: u64) -> Self {
        Self::Iteration {
            depth: report.depth,
            best_move: Text(report.best_move),
            score_white: report.score_white.into(),
            pv: texts(&report.pv),
            nodes: report.nodes,
            elapsed_ms: millis(report.elapsed),
            nodes_per_second: report.nodes_per_second,
            workers: report.workers,
            seq,
        }
    }

    fn from_done(report: &job::DoneReport, seq: u64) -> Self {
        Self::Done {
            best_move: report.best_move.map(Text),
            score_white: report.score_white.map(Into::into),
            depth: report.depth,
            pv: texts(&report.pv),
            nodes: report.nodes,
            elapsed_ms: millis(report.elapsed),
            lines: report.lines.iter().map(line).collect(),
            stopped_by: report.stopped_by.name(),
            seq,
        }
    }
}
