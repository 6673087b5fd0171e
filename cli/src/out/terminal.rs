//! What is drawn on the terminal behind standard error: lines at its foot, or a page that covers it.
//!
//! Whatever else is written to standard error stands above the lines, or waits until the page is gone. Every change is one write, and
//! the terminal's modes are never touched: it only has to be given its screen and its cursor back.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use console::measure_text_width;

/// A page is drawn as a whole so often: what somebody types stands in it until then.
const REPAINT: Duration = Duration::from_secs(1);
/// What is written while a page covers the terminal is kept up to so many bytes, whole lines.
const MAX_KEPT: usize = 64 << 10;

/// What is drawn. Whoever writes anything else to standard error must take it into account.
struct Terminal {
    foot: Foot,
    page: Option<Page>,
}

static TERMINAL: Mutex<Terminal> =
    Mutex::new(Terminal { foot: Foot { lines: Vec::new(), columns: 1 }, page: None });

fn terminal() -> MutexGuard<'static, Terminal> {
    TERMINAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lines at the foot of the terminal, as they stand there.
struct Foot {
    lines: Vec<String>,
    columns: usize,
}

/// The page that covers the terminal, on its other screen: what stood there before comes back when it is gone. There a terminal wraps
/// nothing anew when its size changes, and nothing gets into what can be scrolled back to.
struct Page {
    lines: Vec<String>,
    /// Rows and columns.
    size: (usize, usize),
    /// When all of it was drawn.
    painted: Instant,
    /// What was to be written meanwhile.
    kept: Vec<u8>,
    /// Lines that were too many for that.
    dropped: u64,
}

/// Writes whole lines to standard error, above what is drawn at its foot, or when the page is gone.
pub(super) fn above(text: &[u8]) {
    let terminal = &mut *terminal();
    if let Some(page) = &mut terminal.page {
        return page.keep(text);
    }
    let foot = &terminal.foot;
    if foot.lines.is_empty() {
        return to_terminal(text);
    }
    let (clear, draw) = (frame(&foot.lines, &[], foot.columns), frame(&[], &foot.lines, foot.columns));
    to_terminal(&[clear.as_bytes(), text, draw.as_bytes()].concat());
}

/// Replaces the lines at the foot of the terminal, which has so many columns; they must not be longer than that.
pub(crate) fn draw(lines: Vec<String>, columns: usize) {
    let foot = &mut terminal().foot;
    if lines != foot.lines {
        to_terminal(frame(&foot.lines, &lines, columns).as_bytes());
        (foot.lines, foot.columns) = (lines, columns);
    }
}

/// Covers the terminal with lines, or replaces them; it has so many rows and columns, and they must fit into that.
pub(crate) fn show_page(lines: Vec<String>, size: (usize, usize)) {
    let terminal = &mut *terminal();
    match &mut terminal.page {
        Some(page) => page.change(lines, size),
        None => {
            to_terminal(format!("{ENTER}{}", page_frame(None, &lines, size.0, true)).as_bytes());
            let painted = Instant::now();
            terminal.page = Some(Page { lines, size, painted, kept: Vec::new(), dropped: 0 });
        }
    }
}

/// Takes the page away, if there is one: the terminal is as it was before, with what was written to standard error meanwhile.
pub(crate) fn leave_page() {
    let Some(page) = terminal().page.take() else { return };
    let dropped = match page.dropped {
        0 => String::new(),
        count => format!("corridor: {count} more lines were not kept\n"),
    };
    to_terminal(&[LEAVE.as_bytes(), &page.kept, dropped.as_bytes()].concat());
}

/// To the other screen, without a cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
/// Back. A terminal without another screen is left with an empty one.
const LEAVE: &str = "\x1b[0m\x1b[H\x1b[J\x1b[?25h\x1b[?1049l";

impl Page {
    fn change(&mut self, lines: Vec<String>, size: (usize, usize)) {
        let resized = size != self.size;
        let whole = resized || self.painted.elapsed() >= REPAINT;
        if !whole && lines == self.lines {
            return;
        }
        to_terminal(page_frame((!whole).then_some(&self.lines), &lines, size.0, resized).as_bytes());
        if whole {
            self.painted = Instant::now();
        }
        (self.lines, self.size) = (lines, size);
    }

    fn keep(&mut self, text: &[u8]) {
        if self.kept.len() + text.len() > MAX_KEPT {
            self.dropped += 1;
        } else {
            self.kept.extend_from_slice(text);
        }
    }
}

/// Writes a text with its escape sequences to standard error, in one piece. What is lost is lost only if nobody is there.
fn to_terminal(bytes: &[u8]) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(bytes).and_then(|()| stderr.flush());
}

/// The bytes that turn some lines into others, in one piece. The cursor is hidden within it only, so that no way out can
/// leave a terminal without one; it rests below the block, where the echo of Ctrl-C does no harm.
fn frame(old: &[String], new: &[String], columns: usize) -> String {
    // A terminal that became narrower has wrapped the old lines.
    let height: usize = old.iter().map(|line| measure_text_width(line).div_ceil(columns).max(1)).sum();
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

/// The bytes that turn a page into another one, those of its lines alone that have changed; all of them if what stands there is not
/// known. A terminal that can shows them at once. The cursor rests at the top, where what is typed does not make the page scroll.
fn page_frame(old: Option<&Vec<String>>, new: &[String], rows: usize, clear: bool) -> String {
    let mut bytes = "\x1b[?2026h".to_owned();
    if clear {
        bytes.push_str("\x1b[0m\x1b[2J");
    }
    for (index, line) in new.iter().enumerate() {
        if old.and_then(|old| old.get(index)) != Some(line) {
            // Erased at its end, not before: where nothing changes nothing may flicker.
            bytes.push_str(&format!("\x1b[{};1H{line}\x1b[0m\x1b[K", index + 1));
        }
    }
    // Below the last row there is none to erase: that would be the last one.
    let below = new.len()..old.map_or(rows, Vec::len).min(rows);
    if !below.is_empty() {
        bytes.push_str(&format!("\x1b[{};1H\x1b[J", below.start + 1));
    }
    bytes.push_str("\x1b[H\x1b[?2026l");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn a_frame_takes_the_last_one_back_and_shows_the_cursor_again() {
        let first = frame(&[], &lines(&["one", "two"]), 80);
        assert_eq!(first, "\x1b[?25l\r\x1b[Jone\r\ntwo\r\n\x1b[?25h");
        assert_eq!(frame(&lines(&["one", "two"]), &[], 80), "\x1b[?25l\r\x1b[2A\x1b[J\x1b[?25h");
        assert!(frame(&lines(&["wrapped", ""]), &[], 4).contains("\x1b[3A"));
        // Four columns of two characters, and a colour that takes none.
        assert!(frame(&lines(&["\x1b[1m\u{6f22}\u{5b57}\x1b[0m"]), &[], 4).contains("\x1b[1A"));
    }

    #[test]
    fn a_page_is_changed_where_it_has_changed() {
        let mut terminal = vt100::Parser::new(4.try_into().unwrap(), 20.try_into().unwrap(), 10);
        terminal.process(b"before\r\n$ ");
        let show = |terminal: &mut vt100::Parser, bytes: &str| {
            terminal.process(bytes.as_bytes());
            terminal.screen().contents()
        };
        let three = lines(&["one", "two", "three"]);
        let first = format!("{ENTER}{}", page_frame(None, &three, 4, true));
        assert_eq!(show(&mut terminal, &first), "one\ntwo\nthree");
        assert!(terminal.screen().alternate_screen() && terminal.screen().hide_cursor());
        let two = lines(&["one", "2"]);
        let second = page_frame(Some(&three), &two, 4, false);
        assert!(!second.contains("one"), "{second:?}");
        assert_eq!(show(&mut terminal, &second), "one\n2");
        // What somebody has typed is gone with the next whole page.
        terminal.process(b"^C\r\nxyz\r\nabc");
        assert_eq!(show(&mut terminal, &page_frame(None, &two, 4, false)), "one\n2");
        // A page may be as high as the terminal.
        let four = lines(&["1", "2", "3", "4"]);
        assert_eq!(show(&mut terminal, &page_frame(None, &four, 4, false)), "1\n2\n3\n4");
        assert_eq!(show(&mut terminal, LEAVE), "before\n$ ");
        assert!(!terminal.screen().alternate_screen() && !terminal.screen().hide_cursor());
    }

    #[test]
    fn what_is_written_below_a_page_is_kept_up_to_a_limit() {
        let mut page =
            Page { lines: Vec::new(), size: (1, 1), painted: Instant::now(), kept: Vec::new(), dropped: 0 };
        page.keep(b"first\n");
        page.keep(&[b'x'; MAX_KEPT]);
        page.keep(b"last\n");
        assert_eq!((page.kept.as_slice(), page.dropped), (&b"first\nlast\n"[..], 1));
    }
}
