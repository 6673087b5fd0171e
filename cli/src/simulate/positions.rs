//! The positions of a simulation: a file with one on each line.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use corridor_shared::Position;
use corridor_shared::notation::{Notation, parse_moves, replay};

use crate::failure::Failure;

/// Largest file of positions, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// A position and what it is called.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) position: Position,
}

/// Reads a file: moves, a position text, or a name, a tab and either; `#` begins a comment line.
///
/// # Errors
/// The file cannot be read or is too large, a line is no position, or there is none.
pub(super) fn read(flag: &str, path: &Path) -> Result<Vec<Named>, Failure> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| Failure::bad_input(&format!("{flag}: read {}: {error}", path.display())))?;
    text(bytes)
        .and_then(|text| parse(&text))
        .map_err(|fault| Failure::bad_input(&format!("{flag}: {}: {fault}", path.display())))
}

fn text(bytes: Vec<u8>) -> Result<String, String> {
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_FILE_BYTES) {
        return Err(format!("it has more than {MAX_FILE_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is no text".to_owned())
}

fn parse(text: &str) -> Result<Vec<Named>, String> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let mut positions = Vec::new();
    for (number, line) in lines {
        let (name, text) = line.split_once('\t').unwrap_or((line, line));
        if name.chars().any(char::is_control) || text.contains('\t') {
            return Err(format!(
                "line {number}: a name, one tab and a position are wanted, and nothing unprintable"
            ));
        }
        let position = position(text.trim()).map_err(|fault| format!("line {number}: {fault}"))?;
        if position.winner().is_some() {
            return Err(format!("line {number}: the game is over"));
        }
        positions.push(Named { name: name.trim().to_owned(), position });
    }
    if positions.is_empty() { Err("there is no position in it".to_owned()) } else { Ok(positions) }
}

/// A position text has slashes, moves have none.
fn position(text: &str) -> Result<Position, String> {
    if text.contains('/') {
        return text.parse().map_err(|error| format!("{error}"));
    }
    let moves = parse_moves(Notation::Man, text).map_err(|error| error.to_string())?;
    replay(&Position::start(), &moves).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_forms_read_and_faults_name_their_line() {
        let text = "# comment\n\ne2 e8\nopening\te2 e8 e3h\n/ / e2 e9 / 10 10 / 2\n";
        let names: Vec<String> = parse(text).unwrap().into_iter().map(|named| named.name).collect();
        assert_eq!(names, ["e2 e8", "opening", "/ / e2 e9 / 10 10 / 2"]);
        assert!(parse("e2\ne2 e9x\n").unwrap_err().starts_with("line 2: "));
        for line in ["e2\na\x1bb\te2", "\ne2\te2 e8\te3"] {
            assert!(parse(line).unwrap_err().starts_with("line 2: a name, one tab"), "{line:?}");
        }
        assert!(parse("e2 e2").unwrap_err().starts_with("line 1: "));
        assert_eq!(parse("# nothing\n").unwrap_err(), "there is no position in it");
    }
}
