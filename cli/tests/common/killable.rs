//! A coordinator and workers that may be killed at any moment and come back as who they were, and clients whose words are
//! counted, so that moments can be chosen.

#![allow(dead_code, reason = "each file of tests uses its share")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;

use crate::common::{LONG, Server};
use crate::random::Draw;

const WORKERS: [&str; 2] = ["anna", "berta"];

/// Somebody who prints a line an event, all of which are read.
pub(crate) struct Client {
    child: Child,
    out: mpsc::Receiver<String>,
    pub(crate) seen: String,
    err: JoinHandle<String>,
}

impl Client {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (sender, out) = mpsc::channel();
        std::thread::spawn(move || {
            BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let err = std::thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).unwrap();
            text
        });
        Self { child, out, seen: String::new(), err }
    }

    /// Reads until it has seen so many events. False if there are no more.
    pub(crate) fn read(&mut self, count: usize) -> bool {
        while self.seen.lines().count() < count {
            match self.out.recv_timeout(LONG) {
                Ok(line) => self.seen += &(line + "\n"),
                Err(mpsc::RecvTimeoutError::Disconnected) => return false,
                Err(error) => panic!("no event ({error}) after {}", self.seen),
            }
        }
        true
    }

    /// Waits for its end: the exit code, everything that it has printed, and its complaints.
    pub(crate) fn end(mut self) -> (Option<i32>, String, String) {
        self.read(usize::MAX);
        let status = self.child.wait().unwrap();
        (status.code(), self.seen, self.err.join().unwrap())
    }

    /// Everything that it has printed; it must end well.
    pub(crate) fn finish(self) -> String {
        let (code, seen, err) = self.end();
        assert_eq!(code, Some(0), "{err}");
        seen
    }

    /// Ends it without a word. What it has printed is not wanted any more.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.err.join().unwrap();
    }
}

/// A coordinator with a store and two workers.
pub(crate) struct Cluster {
    store: String,
    address: String,
    coordinator: Server,
    workers: Vec<Server>,
}

/// Ends a process without a word.
pub(crate) fn kill(server: &mut Server) {
    server.signal("-KILL");
    assert_eq!(server.end().0, None);
}

impl Cluster {
    pub(crate) fn start(store: &str) -> Self {
        let mut coordinator = Self::coordinator("127.0.0.1:0", store);
        let url = coordinator.url("listening");
        let address = url.strip_prefix("http://").unwrap().to_owned();
        let mut cluster = Self { store: store.to_owned(), address, coordinator, workers: Vec::new() };
        cluster.workers = (0..2).map(|index| cluster.worker(index)).collect();
        cluster.workers.iter_mut().for_each(|worker| drop(worker.line("registered")));
        cluster
    }

    fn coordinator(address: &str, store: &str) -> Server {
        // Three kills over one unit would park the job, which has a test of its own.
        Server::start(&["coordinator", "--listen", address, "--store", store, "--unit-deaths", "1000"])
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn worker(&self, index: usize) -> Server {
        Server::worker(&self.url(), &["--threads", "1", "--name", WORKERS[index]])
    }

    fn kill_worker(&mut self, index: usize) -> &'static str {
        kill(&mut self.workers[index]);
        self.workers[index] = self.worker(index);
        WORKERS[index]
    }

    fn kill_workers(&mut self) -> &'static str {
        self.workers.iter_mut().for_each(kill);
        self.workers = (0..2).map(|index| self.worker(index)).collect();
        "both workers"
    }

    pub(crate) fn kill_coordinator(&mut self) -> &'static str {
        kill(&mut self.coordinator);
        self.coordinator = Self::coordinator(&self.address, &self.store);
        self.coordinator.line("listening");
        "the coordinator"
    }

    /// Kills somebody, and lets the same ones come back. Returns who it was.
    pub(crate) fn kill(&mut self, draw: &mut Draw) -> &'static str {
        match draw.below(5) {
            0 => self.kill_worker(0),
            1 => self.kill_worker(1),
            2 => self.kill_workers(),
            3 => self.kill_coordinator(),
            _ => {
                self.workers.iter_mut().for_each(kill);
                self.kill_coordinator();
                self.workers = (0..2).map(|index| self.worker(index)).collect();
                "everybody"
            }
        }
    }
}
