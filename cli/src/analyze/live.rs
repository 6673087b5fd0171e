//! Lines at the foot of a terminal that are drawn over and over, on standard error.
//!
//! Not a bar of `indicatif`: those pad their lines to the terminal's width and rest in its last column, so that the echo of
//! Ctrl-C wraps and leaves a stale line behind. Tried twice, and looked at.

use console::{Term, measure_text_width, truncate_str};

use crate::out;

/// A block of lines, redrawn in place. There is nothing to see unless standard error is a terminal that moves its cursor. Whatever
/// else is written to standard error meanwhile stands above them.
pub(crate) struct Live {
    terminal: Option<Term>,
}

impl Live {
    pub(crate) fn new() -> Self {
        let terminal = Term::stderr();
        let dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        Self { terminal: (terminal.is_term() && !dumb).then_some(terminal) }
    }

    /// Rows and columns to draw in; `None` if there is no terminal.
    pub(crate) fn size(&self) -> Option<(usize, usize)> {
        let (rows, columns) = self.terminal.as_ref()?.size();
        Some((usize::from(rows).max(2), usize::from(columns).max(2)))
    }

    /// Replaces what is shown. Lines that are too long are cut, and so are too many of them.
    pub(crate) fn draw(&self, text: &str) {
        let Some((rows, columns)) = self.size() else { return };
        // A full last column or row would make some terminals wrap or scroll.
        let lines = text.lines().take(rows - 1).map(|line| truncate_str(line, columns - 1, "").into_owned());
        out::draw(lines.collect(), columns);
    }

    /// Takes away what is shown.
    pub(crate) fn clear(&self) {
        self.draw("");
    }
}

impl Drop for Live {
    /// However a command ends, its progress does not stay behind.
    fn drop(&mut self) {
        self.clear();
    }
}

/// Pieces of a text on lines of so many columns, as many on each as fit. A piece is never torn.
pub(crate) fn flow(pieces: &[String], separator: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        match lines.last_mut() {
            Some(line) if width(line) + width(separator) + width(piece) <= columns => {
                line.push_str(separator);
                line.push_str(piece);
            }
            _ => lines.push(piece.clone()),
        }
    }
    lines
}

/// Columns that a text takes in a terminal: none for its colours, two for a character of Chinese.
pub(crate) fn width(text: &str) -> usize {
    measure_text_width(text)
}

/// A bar that is full to a share, as long as there is room for one: at most 30 columns, and nothing if there are too few for it to be
/// read.
pub(crate) fn bar(done: u64, total: u64, room: usize) -> String {
    const LONGEST: usize = 30;
    const SHORTEST: usize = 8;
    let length = room.min(LONGEST);
    if length < SHORTEST {
        return String::new();
    }
    let share = u128::from(done) * length as u128 / u128::from(total.max(1));
    let full = usize::try_from(share).unwrap_or(length).min(length);
    format!("{}{}", "\u{2588}".repeat(full), "\u{2591}".repeat(length - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_flow_and_are_not_torn() {
        let pieces = ["2 workers", "", "10 positions a minute", "3,000 nodes"].map(str::to_owned);
        assert_eq!(flow(&pieces, ", ", 80), ["2 workers, 10 positions a minute, 3,000 nodes"]);
        assert_eq!(flow(&pieces, ", ", 32), ["2 workers, 10 positions a minute", "3,000 nodes"]);
        assert_eq!(flow(&pieces, ", ", 5).len(), 3);
    }

    #[test]
    fn a_bar_takes_the_room_that_there_is() {
        assert_eq!(bar(1, 2, 8), "\u{2588}\u{2588}\u{2588}\u{2588}\u{2591}\u{2591}\u{2591}\u{2591}");
        assert_eq!((bar(9, 0, 7).len(), bar(9, 9, 100).chars().count()), (0, 30));
    }
}
