//! Positions of a book as lines of JSON: reading what an export has written.

use std::collections::BTreeMap;

use corridor_proto::convert::{bound_to_wire, root_prune_to_wire, score_to_wire};
use corridor_proto::json::seconds_since_1970;
use corridor_proto::v1;
use corridor_shared::job::RootPrune;
use corridor_shared::score::{Bound, WhiteScore};
use serde_json::Value;

use super::strict::{Object, Strict};

/// The field with the bounds of the children.
pub(super) const CHILDREN_BOUNDS: &str = "children_bounds";

/// Why a text is no position of a book.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {fault}")]
pub(super) struct FieldFault {
    /// The field, or `record` for the whole of it.
    pub(super) field: &'static str,
    /// What is wrong with it.
    pub(super) fault: String,
}

impl FieldFault {
    pub(super) fn new(field: &'static str, fault: impl std::fmt::Display) -> Self {
        Self { field, fault: fault.to_string() }
    }
}

/// A position from a line that an export has written. Whether it makes sense is for the book to say.
///
/// # Errors
/// Names the first field that does not read.
pub(super) fn read(line: &str) -> Result<v1::BookNode, FieldFault> {
    let Strict(value) = serde_json::from_str(line).map_err(|error| {
        let what = if error.is_data() { "" } else { "no JSON: " };
        FieldFault::new("record", format!("{what}{error}"))
    })?;
    let Value::Object(object) = value else {
        return Err(FieldFault::new("record", "an object is wanted"));
    };
    let fields = Fields(object);
    let moves = fields.optional_moves("moves")?;
    let mut node = v1::BookNode {
        position: fields.text("position")?.to_owned(),
        unreachable: moves.is_none(),
        moves: moves.unwrap_or_default(),
        key: fields.text("key")?.to_owned(),
        depth: fields.whole("depth")?,
        score_white: fields.score("score_white")?.map(score_to_wire),
        best_move: fields.optional_text("best_move")?.unwrap_or_default().to_owned(),
        pv: fields.optional_moves("pv")?.unwrap_or_default(),
        nodes: fields.whole("nodes")?,
        backed_up_white: fields.score("backed_up_white")?.map(score_to_wire),
        backed_up_bound: fields.optional_bound("backed_up_bound")?,
        children: fields.children()?,
        engine: fields.optional_text("engine")?.unwrap_or_default().to_owned(),
        ..v1::BookNode::default()
    };
    let bound = fields.optional_text("bound")?.map(|name| bound(name, "bound")).transpose()?;
    let analysed_at = fields.optional_text("analysed_at")?.map(moment).transpose()?;
    complete(&mut node, bound, analysed_at);
    Ok(node)
}

/// Fills in what follows from the rest. An export does not say how many lines were searched and which root moves: the least is
/// taken, so that whoever wants more searches again.
pub(super) fn complete(node: &mut v1::BookNode, bound: Option<Bound>, analysed_at: Option<u64>) {
    node.bound = bound.map_or(0, |bound| bound_to_wire(bound).into());
    node.analysed_at = analysed_at.unwrap_or(0);
    if node.score_white.is_some() {
        node.multipv = 1;
        node.prune = root_prune_to_wire(RootPrune::Cat).into();
    }
}

/// Reads the name of a bound.
pub(super) fn bound(name: &str, field: &'static str) -> Result<Bound, FieldFault> {
    [Bound::Exact, Bound::Lower, Bound::Upper]
        .into_iter()
        .find(|bound| bound.name() == name)
        .ok_or_else(|| FieldFault::new(field, "exact, lower or upper is wanted"))
}

/// Reads a moment.
pub(super) fn moment(text: &str) -> Result<u64, FieldFault> {
    let fault = || FieldFault::new("analysed_at", "a moment such as 2026-11-30T12:00:00Z is wanted");
    seconds_since_1970(text).ok_or_else(fault)
}

/// A move that stays in the book.
pub(super) fn child(mv: &str, score: Option<WhiteScore>, bound: Bound) -> v1::BookChild {
    v1::BookChild {
        r#move: mv.to_owned(),
        score_white: score.map(score_to_wire),
        bound: score.map_or(0, |_| bound_to_wire(bound).into()),
    }
}

/// A score by its kind and its number.
pub(super) fn score(kind: &str, number: i64) -> Option<WhiteScore> {
    match kind {
        "cm" => i32::try_from(number).ok().map(WhiteScore::Cm),
        "white_wins_in" => u16::try_from(number).ok().map(WhiteScore::WhiteWinsIn),
        "black_wins_in" => u16::try_from(number).ok().map(WhiteScore::BlackWinsIn),
        _ => None,
    }
}

/// The fields of an object. Those that nobody asks for may be anything.
struct Fields(Object);

impl Fields {
    /// `None` if it is missing or null.
    fn get(&self, field: &'static str) -> Option<&Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    fn optional_text(&self, field: &'static str) -> Result<Option<&str>, FieldFault> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(FieldFault::new(field, "a text is wanted")),
        }
    }

    fn text(&self, field: &'static str) -> Result<&str, FieldFault> {
        self.optional_text(field)?.ok_or_else(|| FieldFault::new(field, "it is missing"))
    }

    fn whole<T: TryFrom<u64>>(&self, field: &'static str) -> Result<T, FieldFault> {
        let value = self.get(field).ok_or_else(|| FieldFault::new(field, "it is missing"))?;
        let number = value.as_u64().and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| FieldFault::new(field, "a whole number is wanted, or it is too large"))
    }

    fn optional_moves(&self, field: &'static str) -> Result<Option<Vec<String>>, FieldFault> {
        let Some(value) = self.get(field) else { return Ok(None) };
        let texts = value.as_array().and_then(|list| {
            list.iter().map(|text| text.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
        });
        texts.map(Some).ok_or_else(|| FieldFault::new(field, "a list of moves is wanted"))
    }

    fn score(&self, field: &'static str) -> Result<Option<WhiteScore>, FieldFault> {
        self.get(field).map(|value| score_in(value, field)).transpose()
    }

    fn children(&self) -> Result<Vec<v1::BookChild>, FieldFault> {
        const FIELD: &str = "children";
        let value = self.get(FIELD).ok_or_else(|| FieldFault::new(FIELD, "it is missing"))?;
        let Value::Object(children) = value else {
            return Err(FieldFault::new(FIELD, "an object with a field a move is wanted"));
        };
        let bounds = self.children_bounds()?;
        if bounds.keys().any(|mv| children.get(mv.as_str()).is_none_or(Value::is_null)) {
            let fault = "only moves among the children, with a score, have a bound";
            return Err(FieldFault::new(CHILDREN_BOUNDS, fault));
        }
        let child = |(mv, value): (&String, &Value)| {
            let score = if value.is_null() { None } else { Some(score_in(value, FIELD)?) };
            let bound = bounds.get(mv).copied().unwrap_or(Bound::Exact);
            Ok(child(mv, score, bound))
        };
        children.iter().map(child).collect()
    }

    /// Bounds of the children whose score is not exact; none in an export of an earlier version.
    fn children_bounds(&self) -> Result<BTreeMap<String, Bound>, FieldFault> {
        let Some(value) = self.get(CHILDREN_BOUNDS) else { return Ok(BTreeMap::new()) };
        let fault = || FieldFault::new(CHILDREN_BOUNDS, "an object such as {\"e2\":\"upper\"} is wanted");
        let named = |(mv, name): (&String, &Value)| {
            Ok((mv.clone(), bound(name.as_str().ok_or_else(fault)?, CHILDREN_BOUNDS)?))
        };
        value.as_object().ok_or_else(fault)?.iter().map(named).collect()
    }

    /// A bound as the wire has it, 0 if there is none.
    fn optional_bound(&self, field: &'static str) -> Result<i32, FieldFault> {
        let named = self.optional_text(field)?.map(|name| bound(name, field)).transpose()?;
        Ok(named.map_or(0, |bound| bound_to_wire(bound).into()))
    }
}

fn score_in(value: &Value, field: &'static str) -> Result<WhiteScore, FieldFault> {
    let only = value.as_object().filter(|object| object.len() == 1).and_then(|object| object.iter().next());
    only.and_then(|(kind, number)| score(kind, number.as_i64()?)).ok_or_else(|| {
        FieldFault::new(
            field,
            "a score such as {\"cm\":120}, {\"white_wins_in\":9} or {\"black_wins_in\":16} is wanted",
        )
    })
}

#[cfg(test)]
pub(super) mod tests {
    use corridor_proto::convert::record_from_wire;
    use corridor_proto::json::record_line;
    use corridor_shared::Position;
    use corridor_shared::book::{Book, Effort, Searched};
    use corridor_shared::job::ENGINE_EPOCH;

    use serde_json::Map;

    use super::*;

    /// A book with the start, one answer, a position that no line leads to, and one where the game is over.
    pub(in crate::book) fn book() -> Book {
        let mut book = Book::new();
        let start = book.insert(&Position::start()).unwrap().0;
        let after = Position::start().play("e2".parse().unwrap()).unwrap();
        let after = book.insert(&after).unwrap().0;
        for text in ["a1 / / e5 e6 / 9 10 / 1", "/ / e9 d9 / 10 10 / 2"] {
            book.insert(&text.parse().unwrap()).unwrap();
        }
        let searched = |best: &str, score_white, bound| Searched {
            depth: 7,
            score_white,
            bound,
            best_move: Some(best.parse().unwrap()),
            pv: vec![best.parse().unwrap()],
            nodes: 12_345,
            engine: ENGINE_EPOCH.into(),
            analysed_at: 1_800_000_000,
            worker: "".into(),
            multipv: 1,
            prune: RootPrune::Cat,
            deterministic: false,
            others: Vec::new(),
            effort: Effort { nodes: 12_345, ms: 0 },
        };
        book.learn(start, searched("e2", WhiteScore::Cm(-30), Bound::Exact), ENGINE_EPOCH);
        book.learn(after, searched("e8", WhiteScore::BlackWinsIn(16), Bound::Upper), ENGINE_EPOCH);
        book.settle();
        book
    }

    #[test]
    fn what_is_exported_reads_as_it_was() {
        let book = book();
        assert_eq!(book.len(), 4);
        for record in book.records() {
            let line = record_line(&record).unwrap();
            let read = record_from_wire(&read(&line).unwrap()).unwrap();
            assert_eq!((read.position, &read.moves), (record.position, &record.moves));
            assert_eq!(read.searched, record.searched);
            assert_eq!(read.children, record.children, "with their bounds");
            // What follows from the rest is the book's to say.
            let again = corridor_shared::book::Record { value: record.value, ..read };
            assert_eq!(record_line(&again).unwrap(), line);
        }
    }

    #[test]
    fn faults_name_their_field() {
        let book = book();
        let line = record_line(&book.records().next().unwrap()).unwrap();
        let object: Map<String, Value> = serde_json::from_str(&line).unwrap();
        for (field, value) in [
            ("position", Value::Null),
            ("moves", Value::from("e2")),
            ("depth", Value::from(-1)),
            ("depth", Value::from(1_u64 << 40)),
            ("score_white", Value::from(12)),
            ("bound", Value::from("about")),
            ("pv", Value::from(vec![1])),
            ("children", Value::Null),
            ("backed_up_bound", Value::from("about")),
            ("children_bounds", Value::from("upper")),
            ("children_bounds", serde_json::json!({"a9": "upper"})),
            ("children_bounds", serde_json::json!({"e2": "below"})),
            ("analysed_at", Value::from("yesterday")),
        ] {
            let mut object = object.clone();
            object.insert(field.to_owned(), value);
            let line = serde_json::to_string(&object).unwrap();
            assert_eq!(read(&line).unwrap_err().field, field, "{line}");
        }
        assert_eq!(read("e2 e8").unwrap_err().field, "record");
        for (twice, named) in [
            (line.replacen("{", "{\"depth\":3,", 1), "depth"),
            (line.replace("\"children\":{", "\"children\":{\"a1h\":null,\"a1h\":null,"), "a1h"),
        ] {
            let fault = read(&twice).unwrap_err().to_string();
            assert!(fault.starts_with(&format!("record: \"{named}\" stands there twice")), "{fault}");
        }
        assert_eq!(read("[1]").unwrap_err().to_string(), "record: an object is wanted");
    }
}
