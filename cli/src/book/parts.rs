//! The parts in which something is sent to a book, and where in the file each piece of it stands.

use std::sync::Arc;

use corridor_proto::convert::notation_to_wire;
use corridor_proto::v1;
use corridor_shared::notation::Notation;
use prost::Message;

/// Lines or positions of a part.
const PART_ENTRIES: usize = 500;
/// Bytes of a part, but for the last entry in it.
const PART_BYTES: usize = 1 << 20;

/// Collects what is to be sent.
pub(super) struct Parts {
    /// What every part says.
    head: v1::ImportRequest,
    open: v1::ImportRequest,
    bytes: usize,
    done: Vec<Vec<u8>>,
    /// In which line of the file each entry stands.
    lines: Vec<u64>,
}

/// What is sent: the parts, encoded, and in which line each entry stands.
pub(super) struct Packed {
    pub(super) parts: Arc<[Vec<u8>]>,
    lines: Vec<u64>,
}

impl Packed {
    /// How many entries there are.
    pub(super) fn entries(&self) -> u64 {
        u64::try_from(self.lines.len()).unwrap_or(u64::MAX)
    }

    /// The line of the file in which an entry stands; both are counted from 1.
    pub(super) fn line(&self, entry: u64) -> u64 {
        let index = usize::try_from(entry).unwrap_or(usize::MAX).wrapping_sub(1);
        self.lines.get(index).copied().unwrap_or(entry)
    }
}

impl Parts {
    pub(super) fn new(book: &str, notation: Option<Notation>, keep_going: bool) -> Self {
        let head = v1::ImportRequest {
            book: book.to_owned(),
            notation: notation.map_or(0, |notation| notation_to_wire(notation).into()),
            keep_going,
            ..v1::ImportRequest::default()
        };
        Self { open: head.clone(), head, bytes: 0, done: Vec::new(), lines: Vec::new() }
    }

    /// Adds a line of games.
    pub(super) fn push_line(&mut self, number: u64, line: String) {
        self.bytes += line.len();
        self.open.games.push(line);
        self.pushed(number);
    }

    /// Adds a position.
    pub(super) fn push_record(&mut self, number: u64, node: v1::BookNode) {
        self.bytes += node.encoded_len();
        self.open.records.push(node);
        self.pushed(number);
    }

    fn pushed(&mut self, number: u64) {
        self.lines.push(number);
        if self.open.games.len() + self.open.records.len() >= PART_ENTRIES || self.bytes >= PART_BYTES {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let part = std::mem::replace(&mut self.open, self.head.clone());
        self.done.push(part.encode_to_vec());
        self.bytes = 0;
    }

    /// All of it; at least one part, so that the book is named.
    pub(super) fn pack(mut self) -> Packed {
        let has_more = !self.open.games.is_empty() || !self.open.records.is_empty();
        if has_more || self.done.is_empty() {
            self.flush();
        }
        Packed { parts: self.done.into(), lines: self.lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(packed: &Packed) -> Vec<v1::ImportRequest> {
        packed.parts.iter().map(|part| v1::ImportRequest::decode(&**part).unwrap()).collect()
    }

    #[test]
    fn parts_are_small_and_know_the_lines_of_the_file() {
        let mut parts = Parts::new("main", Some(Notation::Nw), true);
        for number in 0..1_001 {
            parts.push_line(2 * number + 1, "e2".to_owned());
        }
        let packed = parts.pack();
        let sizes: Vec<usize> = read(&packed).iter().map(|part| part.games.len()).collect();
        assert_eq!(sizes, [500, 500, 1]);
        assert!(
            read(&packed).iter().all(|part| part.book == "main" && part.keep_going && part.notation != 0)
        );
        assert_eq!([packed.line(1), packed.line(2), packed.line(1_001)], [1, 3, 2_001]);
    }

    #[test]
    fn long_lines_make_short_parts_and_nothing_is_still_a_part() {
        let mut parts = Parts::new("main", None, false);
        (1..=3).for_each(|number| parts.push_line(number, "x".repeat(PART_BYTES / 2)));
        assert_eq!(read(&parts.pack()).len(), 2);
        let nothing = Parts::new("main", None, false).pack();
        assert_eq!(read(&nothing).len(), 1);
        assert_eq!(nothing.line(7), 7, "an entry that nobody has sent");
    }
}
