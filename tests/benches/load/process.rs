//! The coordinator under test: this program once more, as a process of its own, so that its memory and its processor time
//! are its own.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use axum::serve::ListenerExt;
use corridor_coordinator::store::{DatabaseStore, Place, Store};
use corridor_coordinator::{Config, Coordinator};
use corridor_tests::ANY_PORT;

/// The argument that makes this program a coordinator.
const SERVE: &str = "serve-as-coordinator";
/// Ticks of `/proc/*/stat` in a second: the same on every Linux.
const TICKS: u64 = 100;

/// A coordinator in a process of its own.
pub(crate) struct Process {
    child: Child,
    address: SocketAddr,
    page: SocketAddr,
}

impl Process {
    /// Starts one, with a store in this file if there is a name.
    pub(crate) fn start(store: Option<&Path>) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.arg(SERVE).args(store).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a process");
        let mut line = String::new();
        let said = child.stdout.as_mut().expect("its output");
        BufReader::new(said).read_line(&mut line).expect("its addresses");
        let (address, page) = line.trim().split_once(' ').expect("two addresses");
        let [address, page] = [address, page].map(|it| it.parse().expect("an address"));
        Self { child, address, page }
    }

    pub(crate) fn url(&self) -> String {
        corridor_tests::url(self.address)
    }

    /// Where its live board is.
    pub(crate) const fn page(&self) -> SocketAddr {
        self.page
    }

    /// Memory that it has now, in MB.
    pub(crate) fn resident(&self) -> f64 {
        self.status("VmRSS:")
    }

    /// The most memory that it ever had, in MB.
    pub(crate) fn peak(&self) -> f64 {
        self.status("VmHWM:")
    }

    fn status(&self, field: &str) -> f64 {
        let path = format!("/proc/{}/status", self.child.id());
        let text = std::fs::read_to_string(path).expect("Linux");
        let line = text.lines().find(|line| line.starts_with(field)).expect("the field");
        let kib: f64 = line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number");
        kib * 1_024.0 / 1e6
    }

    /// Processor time that it has used, all threads together.
    pub(crate) fn processor_time(&self) -> Duration {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("Linux");
        // The name, in brackets, may hold anything; the 12th and 13th fields after it are user and system time.
        let (_, fields) = text.rsplit_once(')').expect("a name");
        let ticks: u64 =
            fields.split_whitespace().skip(11).take(2).map(|it| it.parse::<u64>().expect("ticks")).sum();
        Duration::from_millis(ticks * 1_000 / TICKS)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The end of its input is its sign to stop.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Is a coordinator, if the arguments say so, until its input ends. Returns whether it was.
pub(crate) fn serve_if_told() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|argument| argument != SERVE) {
        return false;
    }
    let store = arguments.next().map(PathBuf::from);
    super::runtime().block_on(async {
        let store: Option<Box<dyn Store>> = match store {
            Some(file) => Some(Box::new(
                DatabaseStore::open(&Place::file(&file), "the load benchmark").await.expect("a store"),
            )),
            None => None,
        };
        let listener = corridor_coordinator::listen(ANY_PORT).expect("a port");
        let started = Coordinator::serve_with(listener, Config::default(), store).await;
        let coordinator = started.expect("a coordinator");
        let page = corridor_coordinator::listen(ANY_PORT).expect("a port");
        println!("{} {}", coordinator.address(), page.local_addr().expect("an address"));
        // As `corridor serve` does it.
        let page = page.tap_io(|connection| drop(connection.set_nodelay(true)));
        drop(tokio::spawn(axum::serve(page, coordinator.page()).into_future()));
        let (ended, end) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            let _ = ended.send(());
        });
        let _ = end.await;
        coordinator.stop().await;
    });
    true
}
