//! Words in colours, and how wide they are.

use console::truncate_str;

use crate::analyze::live::width;
use crate::render::board::coloured;
use crate::render::ramp::Rgb;

/// Colours, if the terminal is to have any. The named ones are the terminal's own, so that they read on whatever it is like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    pub(super) colours: bool,
}

impl Paint {
    /// What matters most.
    pub(super) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// What matters least.
    pub(super) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// What is as it should be.
    pub(super) fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    /// What somebody may want to look after.
    pub(super) fn warning(self, text: &str) -> String {
        self.with("1;33", text)
    }

    /// What is wrong.
    pub(super) fn bad(self, text: &str) -> String {
        self.with("1;31", text)
    }

    /// On paper of a colour.
    pub(super) fn on(self, paper: Rgb, text: &str) -> String {
        if self.colours && !text.is_empty() { coloured(text, None, Some(paper)) } else { text.to_owned() }
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.colours && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// As much of a text as fits into so many columns.
pub(super) fn cut(text: &str, columns: usize) -> String {
    truncate_str(text, columns, "").into_owned()
}

/// The same, and blanks up to there.
pub(super) fn fitted(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let blanks = columns.saturating_sub(width(&text));
    text + &" ".repeat(blanks)
}

/// The same, with the blanks before it.
pub(super) fn right(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    " ".repeat(columns.saturating_sub(width(&text))) + &text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_terminal() {
        let red = Paint { colours: true }.bad("wrong");
        assert_eq!((width(&red), width(&cut(&red, 3))), (5, 3));
        assert!(cut(&red, 3).ends_with("\x1b[0m"), "the colour ends where the text does");
        // A character of two columns does not fit into one.
        assert_eq!(
            [2, 3, 4].map(|columns| cut("a\u{6f22}\u{5b57}", columns)),
            ["a", "a\u{6f22}", "a\u{6f22}"]
        );
        assert_eq!(
            (fitted("a\u{6f22}\u{5b57}", 4), right("ab", 4)),
            ("a\u{6f22} ".to_owned(), "  ab".to_owned())
        );
        assert_eq!(Paint { colours: false }.warning("plain"), "plain");
    }
}
