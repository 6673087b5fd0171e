//! Between rows and the domain. Numbers are 64 bits and signed in every database; what does not fit is an error on the way
//! in and is cut off at the largest value on the way out.

use corridor_shared::board::Move;
use corridor_shared::job::{JobState, Line};
use corridor_shared::score::{Bound, MAX_CM, Score, WhiteScore};

use super::StoreError;

/// A number for a column.
pub(super) fn big(value: impl TryInto<i64>) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}

/// A number from a column.
pub(super) fn narrow<T: TryFrom<i64>>(value: i64, what: &str) -> Result<T, StoreError> {
    T::try_from(value).map_err(|_| unreadable(format!("{what}: {value} is impossible")))
}

pub(super) fn unreadable(text: impl Into<String>) -> StoreError {
    StoreError::Unreadable(text.into())
}

/// The state of that name.
pub(super) fn state_from(name: &str) -> Result<JobState, StoreError> {
    let all = [
        JobState::Queued,
        JobState::Running,
        JobState::Waiting,
        JobState::Paused,
        JobState::Parked,
        JobState::Done,
        JobState::Failed,
    ];
    let found = all.into_iter().find(|state| state.name() == name);
    found.ok_or_else(|| unreadable(format!("state: there is no '{name}'")))
}

/// A root move with its score, as its columns are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineRow {
    pub(super) root_move: String,
    pub(super) score_kind: String,
    pub(super) score_white: i64,
    pub(super) bound_white: String,
    pub(super) depth: i64,
    pub(super) pv: String,
    pub(super) nodes: i64,
    pub(super) heat_cm: i64,
}

impl LineRow {
    pub(super) fn new(line: &Line) -> Self {
        let (score_kind, score_white) = score_columns(line.score_white);
        Self {
            root_move: line.mv.to_string(),
            score_kind: score_kind.to_owned(),
            score_white,
            bound_white: line.bound.name().to_owned(),
            depth: line.depth.into(),
            pv: moves_to(&line.pv),
            nodes: big(line.nodes),
            heat_cm: line.heat_cm.into(),
        }
    }

    pub(super) fn line(&self) -> Result<Line, StoreError> {
        Ok(Line {
            mv: move_from(&self.root_move)?,
            score_white: score_from(&self.score_kind, self.score_white)?,
            bound: bound_from(&self.bound_white)?,
            depth: narrow(self.depth, "depth")?,
            pv: moves_from(&self.pv)?,
            nodes: narrow(self.nodes, "nodes")?,
            heat_cm: narrow(self.heat_cm, "heat_cm")?,
        })
    }
}

/// A score's columns: its kind and its number.
pub(super) fn score_columns(score: WhiteScore) -> (&'static str, i64) {
    match score {
        WhiteScore::Cm(cm) => ("cm", cm.into()),
        WhiteScore::WhiteWinsIn(plies) => ("white_wins_in", plies.into()),
        WhiteScore::BlackWinsIn(plies) => ("black_wins_in", plies.into()),
    }
}

/// A score from its columns.
pub(super) fn score_from(kind: &str, value: i64) -> Result<WhiteScore, StoreError> {
    match kind {
        "cm" => {
            let cm: Score = narrow(value, "score_white")?;
            let possible = (-MAX_CM..=MAX_CM).contains(&cm);
            possible
                .then_some(WhiteScore::Cm(cm))
                .ok_or_else(|| unreadable(format!("score_white: {cm} is beyond {MAX_CM}")))
        }
        "white_wins_in" => Ok(WhiteScore::WhiteWinsIn(narrow(value, "score_white")?)),
        "black_wins_in" => Ok(WhiteScore::BlackWinsIn(narrow(value, "score_white")?)),
        other => Err(unreadable(format!("score_kind: there is no '{other}'"))),
    }
}

/// A bound of that name.
pub(super) fn bound_from(name: &str) -> Result<Bound, StoreError> {
    let found = [Bound::Exact, Bound::Lower, Bound::Upper].into_iter().find(|bound| bound.name() == name);
    found.ok_or_else(|| unreadable(format!("bound_white: there is no '{name}'")))
}

/// Moves, separated by blanks.
pub(super) fn moves_to(moves: &[Move]) -> String {
    moves.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Moves, separated by blanks.
pub(super) fn moves_from(text: &str) -> Result<Vec<Move>, StoreError> {
    text.split_whitespace().map(move_from).collect()
}

pub(super) fn move_from(text: &str) -> Result<Move, StoreError> {
    text.parse().map_err(|error| unreadable(format!("move '{text}': {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_as_they_went() {
        let scores = [WhiteScore::Cm(-1234), WhiteScore::WhiteWinsIn(9), WhiteScore::BlackWinsIn(100)];
        for score_white in scores {
            for bound in [Bound::Exact, Bound::Lower, Bound::Upper] {
                let pv = ["e3h", "e8", "a1v"].map(|mv| mv.parse().unwrap()).to_vec();
                let line =
                    Line { mv: pv[0], score_white, bound, depth: 12, pv, nodes: 1 << 40, heat_cm: 313 };
                assert_eq!(LineRow::new(&line).line(), Ok(line));
            }
        }
    }

    #[test]
    fn rows_that_make_no_sense_are_named() {
        let mv = "e2".parse().unwrap();
        let good = LineRow::new(&Line {
            mv,
            score_white: WhiteScore::Cm(0),
            bound: Bound::Exact,
            depth: 1,
            pv: vec![mv],
            nodes: 1,
            heat_cm: 1,
        });
        let named = |row: LineRow| row.line().unwrap_err().to_string();
        assert_eq!(
            named(LineRow { score_white: 1 << 30, ..good.clone() }).split(':').nth(1),
            Some(" score_white")
        );
        assert_eq!(
            named(LineRow { score_kind: "x".into(), ..good.clone() }),
            "store: score_kind: there is no 'x'"
        );
        assert_eq!(
            named(LineRow { bound_white: String::new(), ..good.clone() }),
            "store: bound_white: there is no ''"
        );
        assert_eq!(named(LineRow { depth: -1, ..good.clone() }), "store: depth: -1 is impossible");
        assert!(named(LineRow { pv: "e2 k9".into(), ..good }).starts_with("store: move 'k9'"));
        assert!(state_from("resting").is_err());
        assert_eq!(state_from("parked"), Ok(JobState::Parked));
        assert_eq!((big(u64::MAX), big(7_u64)), (i64::MAX, 7));
    }
}
