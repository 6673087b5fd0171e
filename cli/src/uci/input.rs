//! Lines of standard input, read on a thread of their own so that `stop` is heard during a search.

use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use corridor_shared::notation::MAX_MOVES_BYTES;

use crate::failure::Failure;
use crate::signals::Interrupts;

/// The longest line that is read: the longest move list and some room round it.
pub(super) const MAX_LINE_BYTES: usize = MAX_MOVES_BYTES + 1024;

/// Lines that wait to be carried out; a sender that is further ahead waits.
const QUEUE_LINES: usize = 64;

/// A line of input.
pub(super) enum Line {
    Text(String),
    /// Longer than [`MAX_LINE_BYTES`]; its text is gone.
    TooLong,
    /// No UTF-8.
    NotText,
    /// A signal: as `quit`.
    Interrupted,
    /// There is no more.
    End,
}

/// The reading end.
pub(super) struct Input {
    lines: Receiver<Line>,
}

impl Input {
    /// Starts to read. The thread ends with the input, or with the process.
    pub(super) fn start(mut interrupts: Interrupts) -> Result<Self, Failure> {
        let (sender, lines) = sync_channel(QUEUE_LINES);
        let interrupted = sender.clone();
        std::thread::Builder::new()
            .name("uci signals".to_owned())
            .spawn(move || {
                interrupts.block();
                // Nobody listens any more when the command has ended.
                let _ = interrupted.send(Line::Interrupted);
            })
            .map_err(|error| Failure::Failed(anyhow::Error::new(error).context("start a thread")))?;
        std::thread::Builder::new()
            .name("uci input".to_owned())
            .spawn(move || read_lines(&mut io::stdin().lock(), &sender))
            .map_err(|error| Failure::Failed(anyhow::Error::new(error).context("start the input thread")))?;
        Ok(Self { lines })
    }

    /// The next line, or `None` at the end of the input.
    pub(super) fn next(&self) -> Option<Line> {
        self.lines.recv().ok().filter(|line| !matches!(line, Line::End))
    }
}

fn read_lines(input: &mut impl BufRead, sender: &SyncSender<Line>) {
    while let Ok(Some(line)) = read_line(input) {
        if sender.send(line).is_err() {
            return;
        }
    }
    // The channel has other senders, so that its end must be said.
    let _ = sender.send(Line::End);
}

/// Reads to the end of a line without ever holding more than [`MAX_LINE_BYTES`] of it.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let mut too_long = false;
    let mut seen_any = false;
    loop {
        let buffer = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if buffer.is_empty() {
            break;
        }
        seen_any = true;
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        if line.len() + part.len() > MAX_LINE_BYTES {
            too_long = true;
            line.clear();
        } else if !too_long {
            line.extend_from_slice(part);
        }
        let used = end.map_or(buffer.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            break;
        }
    }
    Ok(match (seen_any, too_long) {
        (false, _) => None,
        (true, true) => Some(Line::TooLong),
        (true, false) => Some(String::from_utf8(line).map_or(Line::NotText, Line::Text)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<String> {
        let mut input = bytes;
        let mut seen = Vec::new();
        while let Some(line) = read_line(&mut input).unwrap() {
            seen.push(match line {
                Line::Text(text) => text,
                Line::TooLong => "TOO LONG".to_owned(),
                Line::NotText => "NOT TEXT".to_owned(),
                Line::Interrupted | Line::End => unreachable!("no line of the input"),
            });
        }
        seen
    }

    #[test]
    fn lines_end_with_a_newline_or_the_input() {
        assert_eq!(lines(b"uci\n\nquit"), ["uci", "", "quit"]);
        assert_eq!(lines(b""), Vec::<String>::new());
        assert_eq!(lines(b"a\xff\nb\n"), ["NOT TEXT", "b"]);
    }

    #[test]
    fn long_lines_are_dropped_and_the_next_one_is_read() {
        let mut bytes = vec![b'x'; 10 << 20];
        bytes.extend_from_slice(b"\nisready\n");
        assert_eq!(lines(&bytes), ["TOO LONG", "isready"]);
        let mut longest = vec![b'x'; MAX_LINE_BYTES];
        longest.push(b'\n');
        assert_eq!(lines(&longest)[0].len(), MAX_LINE_BYTES);
    }
}
