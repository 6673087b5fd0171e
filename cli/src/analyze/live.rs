//! Lines at the foot of a terminal that are drawn over and over, on standard error.

use std::io;

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

use crate::out;

/// Redraws a second, at most.
const HERTZ: u8 = 10;
/// Columns left free at the right: the echo of Ctrl-C must not wrap a line, or its tail would stay behind.
const MARGIN: u16 = 4;

/// A terminal that says it is a little narrower. The bar leaves its cursor in what it takes for the last column.
#[derive(Debug)]
struct Narrow(Term);

impl TermLike for Narrow {
    fn width(&self) -> u16 {
        self.0.size().1.saturating_sub(MARGIN).max(MARGIN)
    }

    fn height(&self) -> u16 {
        self.0.size().0
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_up(n)
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_down(n)
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_right(n)
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_left(n)
    }

    fn write_line(&self, line: &str) -> io::Result<()> {
        self.0.write_line(line)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.0.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A block of lines, redrawn in place, the first of them with a bar. There is nothing to see unless standard error is a
/// terminal that moves its cursor.
pub(crate) struct Live {
    terminal: Option<Term>,
    bar: ProgressBar,
}

impl Live {
    pub(crate) fn new() -> Self {
        // Buffered, so that a redraw reaches the terminal in one piece.
        let terminal = Term::buffered_stderr();
        let dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        let terminal = (terminal.is_term() && !dumb).then_some(terminal);
        let target = terminal.clone().map_or_else(ProgressDrawTarget::hidden, |terminal| {
            ProgressDrawTarget::term_like_with_hz(Box::new(Narrow(terminal)), HERTZ)
        });
        let bar = ProgressBar::with_draw_target(Some(1), target);
        if let Ok(style) =
            ProgressStyle::with_template("{prefix}  {bar:20}  {pos}/{len} moves  {elapsed}\n{msg}")
        {
            bar.set_style(style);
        }
        Self { terminal, bar }
    }

    /// Rows and columns to draw in; `None` if there is no terminal.
    pub(crate) fn size(&self) -> Option<(usize, usize)> {
        let (rows, columns) = self.terminal.as_ref()?.size();
        Some((usize::from(rows).max(2), usize::from(columns.saturating_sub(MARGIN).max(MARGIN))))
    }

    /// Replaces what is shown: the bar with its title, and the text below it. Lines that are too long are cut.
    pub(crate) fn draw(&self, title: &str, done: usize, of: usize, text: &str) {
        let Some((_, columns)) = self.size() else { return };
        let cut: Vec<String> = text.lines().map(|line| line.chars().take(columns).collect()).collect();
        self.bar.set_length(u64::try_from(of).unwrap_or(u64::MAX));
        self.bar.set_prefix(title.to_owned());
        self.bar.set_message(cut.join("\n"));
        self.bar.set_position(u64::try_from(done).unwrap_or(u64::MAX));
    }

    /// Takes away what is shown.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Leaves a line above the block.
    pub(crate) fn print_above(&self, line: &str) {
        self.bar.suspend(|| out::notice(line));
    }
}

impl Drop for Live {
    /// However a command ends, its progress does not stay behind.
    fn drop(&mut self) {
        self.clear();
    }
}
