//! Positions of a book as rows of CSV: the same fields as in a line of JSON, lists separated by blanks, a score as `cm:120`,
//! `white_wins_in:9` or `black_wins_in:16`, the children as `e2=cm:10 e3h=`, the bounds of those that have one as `e2=upper`.

use std::collections::{BTreeMap, BTreeSet};

use corridor_proto::convert::{bound_to_wire, score_to_wire};
use corridor_proto::json::rfc3339;
use corridor_proto::v1;
use corridor_shared::Position;
use corridor_shared::board::Move;
use corridor_shared::book::{Bounded, Record, Source};
use corridor_shared::score::{Bound, WhiteScore};
use csv::{ReaderBuilder, StringRecord, WriterBuilder};

use super::json_lines::{CHILDREN_BOUNDS, FieldFault, bound, child, complete, moment, score};

/// The columns, in the order of an export.
const COLUMNS: [&str; 15] = [
    "position",
    "moves",
    "key",
    "depth",
    "score_white",
    "bound",
    "best_move",
    "pv",
    "nodes",
    "backed_up_white",
    "backed_up_bound",
    "children",
    CHILDREN_BOUNDS,
    "engine",
    "analysed_at",
];

/// Those that an earlier version did not write, and that nobody needs to import what it wrote.
const LATER_COLUMNS: [&str; 2] = ["backed_up_bound", CHILDREN_BOUNDS];

/// The first line, with its end.
pub(super) fn header() -> String {
    row(&COLUMNS.map(str::to_owned))
}

/// A position as a line, with its end.
pub(super) fn write(record: &Record) -> String {
    let searched = record.searched.as_ref();
    let over = record.value.filter(|value| value.source == Source::Rules);
    let found = searched.map(|it| (it.score_white, it.bound));
    let score_and_bound = found.or(over.map(|value| (value.score_white, value.bound)));
    let optional = |text: Option<String>| text.unwrap_or_default();
    let backed_up = record.backed_up();
    let child = |&(mv, said): &(Move, Option<Bounded>)| {
        format!("{mv}={}", optional(said.map(|(score, _)| score_text(score))))
    };
    let child_bound = |&(mv, said): &(Move, Option<Bounded>)| {
        let (_, bound) = said.filter(|&(_, bound)| bound != Bound::Exact)?;
        Some(format!("{mv}={}", bound.name()))
    };
    row(&[
        record.position.to_string(),
        record.moves.as_deref().map(moves_text).unwrap_or_default(),
        format!("{:016x}", record.key()),
        searched.map_or(0, |it| it.depth).to_string(),
        optional(score_and_bound.map(|(score, _)| score_text(score))),
        optional(score_and_bound.map(|(_, bound)| bound.name().to_owned())),
        optional(searched.and_then(|it| it.best_move).map(|mv| mv.to_string())),
        searched.map(|it| moves_text(&it.pv)).unwrap_or_default(),
        searched.map_or(0, |it| it.nodes).to_string(),
        optional(backed_up.map(|value| score_text(value.score_white))),
        optional(backed_up.map(|value| value.bound.name().to_owned())),
        record.children.iter().map(child).collect::<Vec<_>>().join(" "),
        record.children.iter().filter_map(child_bound).collect::<Vec<_>>().join(" "),
        searched.map(|it| it.engine.to_string()).unwrap_or_default(),
        optional(searched.map(|it| rfc3339(it.analysed_at))),
    ])
}

fn row(cells: &[String; 15]) -> String {
    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    // Writing to memory does not fail, and what was text stays text.
    let written = writer.write_record(cells).ok().and_then(|()| writer.into_inner().ok());
    written.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn moves_text(moves: &[Move]) -> String {
    moves.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn score_text(score: WhiteScore) -> String {
    match score {
        WhiteScore::Cm(cm) => format!("cm:{cm}"),
        WhiteScore::WhiteWinsIn(plies) => format!("white_wins_in:{plies}"),
        WhiteScore::BlackWinsIn(plies) => format!("black_wins_in:{plies}"),
    }
}

/// Where in a row each column stands.
#[derive(Clone, Debug)]
pub(super) struct Header {
    /// `None` for a column that an export of an earlier version does not have.
    places: [Option<usize>; 15],
    columns: usize,
}

impl Header {
    /// Reads the first line. Columns may stand in any order, and others may be among them.
    ///
    /// # Errors
    /// Names a column that is missing.
    pub(super) fn read(line: &str) -> Result<Self, FieldFault> {
        let names = cells(line)?;
        let mut places = [None; 15];
        for (place, column) in places.iter_mut().zip(COLUMNS) {
            let mut places = names.iter().enumerate().filter(|(_, name)| name.trim() == column);
            *place = places.next().map(|(place, _)| place);
            if places.next().is_some() {
                return Err(FieldFault::new(column, "the first line has two such columns"));
            }
            if place.is_none() && !LATER_COLUMNS.contains(&column) {
                return Err(FieldFault::new(column, "the first line has no such column"));
            }
        }
        Ok(Self { places, columns: names.len() })
    }

    /// Reads a position. Whether it makes sense is for the book to say.
    ///
    /// # Errors
    /// Names the first field that does not read.
    pub(super) fn record(&self, line: &str) -> Result<v1::BookNode, FieldFault> {
        let cells = cells(line)?;
        if cells.len() != self.columns {
            let fault = format!("{} fields, but the first line names {}", cells.len(), self.columns);
            return Err(FieldFault::new("record", fault));
        }
        let cell = |column: &str| {
            let place = COLUMNS.iter().position(|it| *it == column).and_then(|index| self.places[index]);
            place.and_then(|place| cells.get(place)).unwrap_or_default()
        };
        let optional_score = |column: &'static str| {
            Some(cell(column)).filter(|text| !text.is_empty()).map(|text| score_in(text, column)).transpose()
        };
        let position = cell("position").to_owned();
        let moves = moves_in(cell("moves"));
        let mut node = v1::BookNode {
            // A line without moves leads to the start and nowhere else.
            unreachable: moves.is_empty() && position != Position::start().to_string(),
            position,
            moves,
            key: cell("key").to_owned(),
            depth: whole(cell("depth"), "depth")?,
            score_white: optional_score("score_white")?.map(score_to_wire),
            best_move: cell("best_move").to_owned(),
            pv: moves_in(cell("pv")),
            nodes: whole(cell("nodes"), "nodes")?,
            backed_up_white: optional_score("backed_up_white")?.map(score_to_wire),
            backed_up_bound: optional_bound(cell("backed_up_bound"), "backed_up_bound")?,
            children: children_in(cell("children"), cell(CHILDREN_BOUNDS))?,
            engine: cell("engine").to_owned(),
            ..v1::BookNode::default()
        };
        let is_given = |text: &&str| !text.is_empty();
        let bound = Some(cell("bound")).filter(is_given).map(|name| bound(name, "bound")).transpose()?;
        let analysed_at = Some(cell("analysed_at")).filter(is_given).map(moment).transpose()?;
        complete(&mut node, bound, analysed_at);
        Ok(node)
    }
}

/// The cells of a line. No field of ours has a line's end in it.
fn cells(line: &str) -> Result<StringRecord, FieldFault> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(line.len().max(1))
        .from_reader(line.as_bytes());
    let mut cells = StringRecord::new();
    match reader.read_record(&mut cells) {
        Ok(true) => Ok(cells),
        Ok(false) => Err(FieldFault::new("record", "it is empty")),
        Err(error) => Err(FieldFault::new("record", error)),
    }
}

fn moves_in(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn whole<T: std::str::FromStr>(text: &str, field: &'static str) -> Result<T, FieldFault> {
    text.parse().map_err(|_| FieldFault::new(field, "a whole number is wanted, or it is too large"))
}

fn score_in(text: &str, field: &'static str) -> Result<WhiteScore, FieldFault> {
    let read = text.split_once(':').and_then(|(kind, number)| score(kind, number.parse().ok()?));
    read.ok_or_else(|| {
        let wanted = "a score such as cm:120, white_wins_in:9 or black_wins_in:16 is wanted";
        FieldFault::new(field, wanted)
    })
}

/// A bound as the wire has it, 0 if there is none.
fn optional_bound(name: &str, field: &'static str) -> Result<i32, FieldFault> {
    if name.is_empty() { Ok(0) } else { Ok(bound_to_wire(bound(name, field)?).into()) }
}

fn children_in(children: &str, bounds: &str) -> Result<Vec<v1::BookChild>, FieldFault> {
    let mut bounds = bounds_in(bounds)?;
    let fault = || FieldFault::new("children", "moves such as e2=cm:10 or e3h= are wanted");
    let child = |text: &str| {
        let (mv, score) = text.split_once('=').ok_or_else(fault)?;
        if score.is_empty() {
            return Ok(child(mv, None, Bound::Exact));
        }
        let bound = bounds.remove(mv).unwrap_or(Bound::Exact);
        Ok(child(mv, Some(score_in(score, "children")?), bound))
    };
    let children: Vec<v1::BookChild> = children.split_whitespace().map(child).collect::<Result<_, _>>()?;
    let mut seen = BTreeSet::new();
    if let Some(twice) = children.iter().find(|child| !seen.insert(&child.r#move)) {
        return Err(FieldFault::new("children", format!("{} stands there twice", twice.r#move)));
    }
    if bounds.is_empty() {
        return Ok(children);
    }
    Err(FieldFault::new(CHILDREN_BOUNDS, "only moves among the children, with a score, have a bound"))
}

fn bounds_in(text: &str) -> Result<BTreeMap<&str, Bound>, FieldFault> {
    let fault = || FieldFault::new(CHILDREN_BOUNDS, "moves such as e2=upper are wanted");
    let read = |text| -> Result<_, FieldFault> {
        let (mv, name): (&str, &str) = str::split_once(text, '=').ok_or_else(fault)?;
        Ok((mv, bound(name, CHILDREN_BOUNDS)?))
    };
    let mut bounds = BTreeMap::new();
    for read in text.split_whitespace().map(read) {
        let (mv, bound) = read?;
        if bounds.insert(mv, bound).is_some() {
            return Err(FieldFault::new(CHILDREN_BOUNDS, format!("{mv} stands there twice")));
        }
    }
    Ok(bounds)
}

#[cfg(test)]
mod tests {
    use corridor_proto::convert::record_from_wire;

    use super::super::json_lines::tests::book;
    use super::*;

    #[test]
    fn rows_read_as_they_were() {
        let header = Header::read(header().trim_end()).unwrap();
        for record in book().records() {
            let line = write(&record);
            let read = record_from_wire(&header.record(line.trim_end()).unwrap()).unwrap();
            assert_eq!((read.position, &read.moves), (record.position, &record.moves));
            assert_eq!(read.searched, record.searched);
            assert_eq!(read.children, record.children, "with their bounds");
            // What follows from the rest is the book's to say.
            assert_eq!(write(&Record { value: record.value, ..read }), line);
        }
    }

    #[test]
    fn a_row_is_what_the_manual_says() {
        let book = book();
        let start = book.find(&Position::start()).unwrap();
        let row = write(&book.record(start));
        let parts: Vec<&str> = row.trim_end().split(',').collect();
        assert_eq!(parts[0], "/ / e1 e9 / 10 10 / 1");
        assert_eq!(parts[1], "");
        assert_eq!(parts[3..10], ["7", "cm:-30", "exact", "e2", "e2", "12345", "cm:-30"]);
        // The best move of the search is refuted: White has no more than the search has said.
        assert_eq!(parts[10..13], ["upper", "e2=black_wins_in:16", "e2=upper"]);
        assert_eq!(parts[14], "2027-01-15T08:00:00Z");
    }

    #[test]
    fn columns_stand_in_any_order_and_faults_name_theirs() {
        let without = COLUMNS.iter().filter(|name| **name != "pv").copied().collect::<Vec<_>>().join(",");
        assert_eq!(Header::read(&without).unwrap_err().field, "pv");
        let earlier = |name: &&&str| !LATER_COLUMNS.contains(name);
        let earlier = COLUMNS.iter().filter(earlier).copied().collect::<Vec<_>>().join(",");
        assert!(Header::read(&earlier).is_ok(), "an earlier version has not written them");
        assert_eq!(Header::read(&format!("{earlier},depth")).unwrap_err().field, "depth");
        let reversed: Vec<&str> = COLUMNS.iter().rev().copied().chain(["note"]).collect();
        let header = Header::read(&reversed.join(",")).unwrap();
        let row = |changed: &str, value: &str| {
            let cell = |name: &&str| match *name {
                name if name == changed => value.to_owned(),
                "position" => "/ / e1 e9 / 10 10 / 1".to_owned(),
                "depth" | "nodes" => "0".to_owned(),
                "note" => "\"with, comma\"".to_owned(),
                _ => String::new(),
            };
            header.record(&reversed.iter().map(cell).collect::<Vec<_>>().join(","))
        };
        assert_eq!(row("", "").unwrap().position, "/ / e1 e9 / 10 10 / 1");
        for (column, value) in [
            ("depth", "x"),
            ("nodes", "-1"),
            ("score_white", "120"),
            ("bound", "about"),
            ("children", "e2"),
            ("children", "e2=x"),
            ("children", "e2= e2="),
            ("backed_up_bound", "about"),
            ("children_bounds", "e2"),
            ("children_bounds", "e2=about"),
            ("children_bounds", "e2=upper"),
            ("analysed_at", "now"),
        ] {
            assert_eq!(row(column, value).unwrap_err().field, column, "{value}");
        }
        assert_eq!(
            header.record("a,b").unwrap_err().to_string(),
            "record: 2 fields, but the first line names 16"
        );
    }
}
