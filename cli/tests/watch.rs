//! `corridor watch` on a real terminal, and where there is none.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

mod common;
#[path = "common/terminal.rs"]
mod terminal;

use std::process::Stdio;

use common::{Server, eventually, hand_in, lines, run, signal_to};
use terminal::OnTerminal;

/// A cluster in one process, and where it is.
fn cluster(arguments: &[&str]) -> (Server, String) {
    let serve =
        ["serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--workers", "1", "--hash", "4M"];
    let mut serve = Server::start(&[&serve[..], arguments].concat());
    let url = serve.url("listening");
    serve.line("1 worker");
    (serve, url)
}

/// A job that does not end by itself while it is looked at.
fn long_job(url: &str) -> String {
    hand_in(url, &["analyze", "--moves", "e2 e8 e3 e7", "--time", "1h"])
}

/// The terminal is as it was before the command: its screen, its cursor, its modes, its colours.
#[track_caller]
fn is_given_back(watch: &OnTerminal) {
    watch.look(|screen| {
        assert!(!screen.alternate_screen(), "the other screen is still there");
        assert!(!screen.hide_cursor(), "no cursor");
        assert_eq!((screen.fgcolor(), screen.bgcolor()), (vt100::Color::Default, vt100::Color::Default));
        assert!(!screen.bold() && !screen.inverse());
    });
    let (now, before) = (watch.modes(), &watch.before);
    assert_eq!(
        (now.input_modes, now.output_modes, now.control_modes, now.local_modes),
        (before.input_modes, before.output_modes, before.control_modes, before.local_modes)
    );
    let bytes = watch.bytes();
    for (on, off) in
        [("\x1b[?2026h", "\x1b[?2026l"), ("\x1b[?1049h", "\x1b[?1049l"), ("\x1b[?25l", "\x1b[?25h")]
    {
        assert_eq!(bytes.matches(on).count(), bytes.matches(off).count(), "{on:?} is left open");
    }
}

#[test]
fn a_page_is_drawn_resized_and_left() {
    let (_serve, url) = cluster(&[]);
    let job = long_job(&url);
    let mut watch = OnTerminal::start(&["watch", &job, "--coordinator", &url], (24, 80));
    let is_page = |text: &str| text.starts_with("job 1  running") && text.contains("is best");
    let text = watch.until("a page", |text| is_page(text) && text.contains("\u{25cf} local-1"));
    assert!(watch.look(|screen| screen.alternate_screen() && screen.hide_cursor()));
    for part in ["9 ", "   a   b", "> White on e3: 6 to go, 10 walls", "White ", " Black", "move ", "Ctrl-C"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // The pawn on e3 on its white square: the sixth of the board's rows from below.
    let pawn =
        watch.look(|screen| screen.cell(13, 19).map(|cell| (cell.contents().to_owned(), cell.bgcolor())));
    assert_eq!(pawn, Some(("W".to_owned(), vt100::Color::Rgb(255, 253, 248))));

    for (rows, columns, files) in
        [(30, 130, "a     b     c"), (12, 40, ""), (60, 60, "a b c d"), (24, 80, "a   b   c")]
    {
        watch.resize(rows, columns);
        // What is typed stands in the page until it is drawn anew.
        watch.types(b"rubbish\r");
        let text = watch.until("a page of the other size", |text| {
            is_page(text) && text.contains("Ctrl-C") && !text.contains("rubbish") && text.contains(files)
        });
        assert!(text.lines().count() <= usize::from(rows), "{rows}x{columns}\n{text}");
        let last = text.lines().last().unwrap_or_default();
        assert_eq!(last, "Ctrl-C leaves, the job goes on", "nothing is left below it\n{text}");
        assert_eq!(text.matches("job 1").count(), 1, "{text}");
    }

    watch.types(b"\x03");
    assert_eq!(watch.end(), Some(1));
    is_given_back(&watch);
    let text = watch.text();
    assert!(text.contains("corridor: interrupted: job 1 goes on"), "{text}");
    assert!(text.contains("depth ") && text.contains(" complete: "), "what is known stays\n{text}");
    assert_eq!(lines(&run(&["jobs", "--json", "--coordinator", &url]).stdout)[0]["state"], "running");
}

#[test]
fn whatever_ends_it_gives_the_terminal_back() {
    let (mut serve, url) = cluster(&[]);
    let job = long_job(&url);
    let at = ["--coordinator", &url];
    let start = || {
        let watch = OnTerminal::start(&[&["watch", &job], &at[..]].concat(), (24, 80));
        watch.until("a page", |text| text.contains("is best"));
        watch
    };
    // A supervisor.
    let mut ended = start();
    signal_to(ended.pid(), "-TERM");
    assert_eq!(ended.end(), Some(1));
    is_given_back(&ended);

    // The shell, for a while.
    let mut stopped = start();
    stopped.types(b"\x1a");
    eventually("the screen is the shell's", || stopped.look(|screen| !screen.alternate_screen()));
    eventually("it stands still", || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", stopped.pid())).unwrap();
        stat.rsplit(") ").next().is_some_and(|state| state.starts_with('T'))
    });
    is_given_back(&stopped);
    signal_to(stopped.pid(), "-CONT");
    stopped.until("the page again", |text| text.starts_with("job 1  running"));
    assert!(stopped.look(vt100::Screen::alternate_screen));

    // The job's end.
    assert_eq!(run(&[&["cancel", &job], &at[..]].concat()).code, 0);
    assert_eq!(stopped.end(), Some(0));
    is_given_back(&stopped);
    let text = stopped.text();
    assert!(text.contains("best move ") && text.contains("stopped by cancel"), "{text}");

    // The end of the coordinator, which is not waited for without end.
    let second = long_job(&url);
    let mut lost = OnTerminal::start(&[&["watch", &second], &at[..]].concat(), (24, 80));
    lost.until("a page", |text| text.contains("is best"));
    serve.signal("-KILL");
    serve.end();
    lost.until("that it is old", |text| text.starts_with("job 2  not connected for "));
    lost.types(b"\x03");
    assert_eq!(lost.end(), Some(1));
    is_given_back(&lost);
}

#[test]
fn what_has_ended_needs_no_page() {
    let (_serve, url) = cluster(&[]);
    let at = ["--coordinator", &url];
    assert_eq!(run(&[&["analyze", "--moves", "", "--depth", "3"], &at[..]].concat()).code, 0);
    let mut watch = OnTerminal::start(&[&["watch", "1"], &at[..]].concat(), (40, 80));
    assert_eq!(watch.end(), Some(0));
    is_given_back(&watch);
    assert!(!watch.bytes().contains("\x1b[?1049h"), "no page");
    assert!(watch.text().contains("stopped by depth"), "{}", watch.text());
}

#[test]
fn without_a_terminal_it_is_a_log() {
    let (_serve, url) = cluster(&[]);
    let at = ["--coordinator", &url];
    assert_eq!(run(&[&["analyze", "--moves", "", "--depth", "4"], &at[..]].concat()).code, 0);
    let ran = run(&[&["watch", "1"], &at[..]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    assert!(!ran.stdout.contains('\x1b'), "no escape sequences");
    let said: Vec<&str> = ran.stdout.lines().collect();
    assert!(said[0].starts_with("job 1: ") && said[0].contains("White to move"), "{}", ran.stdout);
    let depths: Vec<&str> = said.iter().filter(|line| line.starts_with("depth ")).copied().collect();
    assert_eq!(depths.len(), 4, "{}", ran.stdout);
    for (depth, line) in depths.iter().enumerate() {
        assert!(line.starts_with(&format!("depth {}: ", depth + 1)), "{line}");
        assert!(line.contains(" nodes in ") && line.contains("1 worker; line "), "{line}");
    }
    assert!(said.last().is_some_and(|last| last.starts_with("best move ")), "{}", ran.stdout);
}

#[test]
fn a_log_is_written_as_it_happens() {
    let mut coordinator = Server::coordinator(&[]);
    let url = coordinator.url("listening");
    let job = long_job(&url);
    let mut watch = common::command();
    watch.args(["watch", &job, "--coordinator", &url]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut watch = watch.spawn().unwrap();
    let mut log = std::io::BufReader::new(watch.stdout.take().unwrap());
    let mut until = |word: &str| {
        let mut line = String::new();
        while !line.contains(word) {
            line.clear();
            assert!(std::io::BufRead::read_line(&mut log, &mut line).unwrap() > 0, "no '{word}'");
        }
        line
    };
    assert!(until("waiting").starts_with("waiting: "));
    let _worker = Server::worker(&url, &["--threads", "1"]);
    until("running");
    until("depth 2: ");
    signal_to(watch.id(), "-INT");
    let output = watch.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), err.as_str()), (Some(1), "corridor: interrupted: job 1 goes on\n"));
}
