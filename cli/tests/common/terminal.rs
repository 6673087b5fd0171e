//! A terminal of our own: a pseudo-terminal with a command on it, and what would be seen there.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::common::{LONG, command, eventually, pause};

/// A command on a terminal.
pub(crate) struct OnTerminal {
    child: Child,
    /// Our end.
    controller: File,
    /// The command's end, held open so that what it has left there can be asked.
    terminal: OwnedFd,
    screen: Arc<Mutex<Screen>>,
    reader: Option<JoinHandle<()>>,
    /// The terminal's modes before the command.
    pub(crate) before: Termios,
}

/// What has come, and what it looks like.
pub(crate) struct Screen {
    parser: vt100::Parser,
    pub(crate) bytes: Vec<u8>,
}

fn window(rows: u16, columns: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

fn emulator(rows: u16, columns: u16) -> vt100::Parser {
    vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 500)
}

impl OnTerminal {
    /// Starts the binary with a terminal of so many rows and columns.
    pub(crate) fn start(arguments: &[&str], (rows, columns): (u16, u16)) -> Self {
        let controller =
            rustix::pty::openpt(rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY).unwrap();
        rustix::pty::grantpt(&controller).unwrap();
        rustix::pty::unlockpt(&controller).unwrap();
        let name = rustix::pty::ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
        let terminal = File::options().read(true).write(true).open(name).unwrap();
        tcsetwinsize(&terminal, window(rows, columns)).unwrap();
        let before = tcgetattr(&terminal).unwrap();
        let end = || Stdio::from(terminal.try_clone().unwrap());
        let child = on_its_own(arguments).stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let controller = File::from(controller);
        let screen = Arc::new(Mutex::new(Screen { parser: emulator(rows, columns), bytes: Vec::new() }));
        let reader = read(controller.try_clone().unwrap(), Arc::clone(&screen));
        Self { child, controller, terminal: terminal.into(), screen, reader: Some(reader), before }
    }

    /// What the screen is like now.
    pub(crate) fn look<T>(&self, at: impl FnOnce(&vt100::Screen) -> T) -> T {
        at(self.screen.lock().unwrap().parser.screen())
    }

    /// The text on the screen now.
    pub(crate) fn text(&self) -> String {
        self.look(vt100::Screen::contents)
    }

    /// All that has come so far.
    pub(crate) fn bytes(&self) -> String {
        String::from_utf8(self.screen.lock().unwrap().bytes.clone()).unwrap()
    }

    /// Waits until the screen is so.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, so: impl Fn(&str) -> bool) -> String {
        let started = std::time::Instant::now();
        loop {
            let text = self.text();
            if so(&text) {
                return text;
            }
            assert!(started.elapsed() < LONG, "never: {what}\n{text}");
            pause(std::time::Duration::from_millis(10));
        }
    }

    /// Gives the terminal another size, as whoever drags at a window does.
    pub(crate) fn resize(&self, rows: u16, columns: u16) {
        let mut screen = self.screen.lock().unwrap();
        screen.parser.screen_mut().set_size(rows.try_into().unwrap(), columns.try_into().unwrap());
        tcsetwinsize(self.controller.as_fd(), window(rows, columns)).unwrap();
    }

    /// Types something.
    pub(crate) fn types(&mut self, bytes: &[u8]) {
        self.controller.write_all(bytes).unwrap();
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the command's end; returns its exit code, with all that it has written on the screen.
    #[track_caller]
    pub(crate) fn end(&mut self) -> Option<i32> {
        eventually("the command ends", || self.child.try_wait().unwrap().is_some());
        // A word of our own comes after all of its.
        File::from(self.terminal.try_clone().unwrap()).write_all(b"\r\n--end--").unwrap();
        self.until("the end", |text| text.contains("--end--"));
        self.child.wait().unwrap().code()
    }

    /// The terminal's modes now.
    pub(crate) fn modes(&self) -> Termios {
        tcgetattr(&self.terminal).unwrap()
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // The reader ends with the last end of the terminal that is open, and it cannot be waited for before that.
        drop(self.reader.take());
    }
}

/// The binary in a session of its own, with what it has as standard input as its terminal: then Ctrl-C is a signal.
fn on_its_own(arguments: &[&str]) -> Command {
    let binary = command();
    let mut session = Command::new("setsid");
    session.arg("--ctty").arg(binary.get_program()).args(arguments).env("TERM", "xterm-256color");
    for (name, value) in binary.get_envs() {
        match value {
            Some(value) => session.env(name, value),
            None => session.env_remove(name),
        };
    }
    session.env_remove("NO_COLOR");
    session
}

/// Shows on the screen whatever comes.
fn read(mut from: File, screen: Arc<Mutex<Screen>>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            let mut screen = screen.lock().unwrap();
            screen.parser.process(&buffer[..count]);
            screen.bytes.extend_from_slice(&buffer[..count]);
        }
    })
}
