//! Lines at the foot of a terminal that are drawn over and over, on standard error.
//!
//! Not a bar of `indicatif`: those pad their lines to the terminal's width and rest in its last column, so that the echo of
//! Ctrl-C wraps and leaves a stale line behind. Tried twice, and looked at.

use console::Term;

use crate::out;

/// A block of lines, redrawn in place. There is nothing to see unless standard error is a terminal that moves its cursor.
pub(crate) struct Live {
    terminal: Option<Term>,
    /// The lines as they stand there.
    shown: Vec<String>,
}

impl Live {
    pub(crate) fn new() -> Self {
        let terminal = Term::stderr();
        let dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        Self { terminal: (terminal.is_term() && !dumb).then_some(terminal), shown: Vec::new() }
    }

    /// Rows and columns to draw in; `None` if there is no terminal.
    pub(crate) fn size(&self) -> Option<(usize, usize)> {
        let (rows, columns) = self.terminal.as_ref()?.size();
        Some((usize::from(rows).max(2), usize::from(columns).max(2)))
    }

    /// Replaces what is shown. Lines that are too long are cut, and so are too many of them.
    pub(crate) fn draw(&mut self, text: &str) {
        let Some((rows, columns)) = self.size() else { return };
        // A full last column or row would make some terminals wrap or scroll.
        let lines = text.lines().take(rows - 1).map(|line| line.chars().take(columns - 1).collect());
        let lines: Vec<String> = lines.collect();
        if lines != self.shown {
            out::to_terminal(&frame(&self.shown, &lines, columns));
            self.shown = lines;
        }
    }

    /// Takes away what is shown.
    pub(crate) fn clear(&mut self) {
        self.draw("");
    }

    /// Leaves a line above the block.
    pub(crate) fn print_above(&mut self, line: &str) {
        let shown = self.shown.join("\n");
        self.clear();
        out::notice(line);
        self.draw(&shown);
    }
}

impl Drop for Live {
    /// However a command ends, its progress does not stay behind.
    fn drop(&mut self) {
        self.clear();
    }
}

/// The bytes that turn some lines into others, in one piece. The cursor is hidden within it only, so that no way out can
/// leave a terminal without one; it rests below the block, where the echo of Ctrl-C does no harm.
fn frame(old: &[String], new: &[String], columns: usize) -> String {
    // A terminal that became narrower has wrapped the old lines.
    let height: usize = old.iter().map(|line| line.chars().count().div_ceil(columns).max(1)).sum();
    let mut bytes = "\x1b[?25l\r".to_owned();
    if height > 0 {
        bytes.push_str(&format!("\x1b[{height}A"));
    }
    bytes.push_str("\x1b[J");
    for line in new {
        bytes.push_str(line);
        bytes.push_str("\r\n");
    }
    bytes.push_str("\x1b[?25h");
    bytes
}

#[cfg(test)]
mod tests {
    use super::frame;

    #[test]
    fn a_frame_takes_the_last_one_back_and_shows_the_cursor_again() {
        let lines = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let first = frame(&[], &lines(&["one", "two"]), 80);
        assert_eq!(first, "\x1b[?25l\r\x1b[Jone\r\ntwo\r\n\x1b[?25h");
        assert_eq!(frame(&lines(&["one", "two"]), &[], 80), "\x1b[?25l\r\x1b[2A\x1b[J\x1b[?25h");
        assert!(frame(&lines(&["wrapped", ""]), &[], 4).contains("\x1b[3A"));
    }
}
