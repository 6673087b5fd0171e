//! PostgreSQL for tests: one server for all tests of a process, a database for each of them; or servers of their own, to be
//! stopped and frozen. Only programs are called, so that tests of every crate can take this file in.
//!
//! A server lives in a temporary folder and ends with the process that started it, however that ends. Where the programs are
//! missing a test is skipped and says so. With `CORRIDOR_POSTGRES_URL` the databases are made on that server instead.
//! All passwords hold the word [`SECRET`], which must never be seen.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    dead_code,
    unreachable_pub,
    reason = "a test fails by panicking, and each crate uses its share"
)]

use std::io::Write;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

#[path = "outside.rs"]
#[allow(clippy::duplicate_mod, reason = "crates take in this file, browser.rs, or both")]
pub mod outside;

/// What every password holds.
pub const SECRET: &str = "geheim";
/// How often a server is started before the test gives up: another process may be faster at its port.
const TRIES: u32 = 5;

/// A database of one test. It goes when it is dropped.
#[derive(Debug)]
pub struct Database {
    /// Where it is, password and all.
    pub url: String,
    name: String,
    server: String,
}

/// A server of one test, or of all. It goes when it is dropped, or with the process.
#[derive(Debug)]
pub struct Server {
    programs: PathBuf,
    folder: String,
    port: u16,
    /// Whoever reads the other end stops the server and removes its folder when this one closes.
    alive: Option<ChildStdin>,
    keeper: Child,
}

/// A database on the server of all tests; `None` if there is none, which has then been said.
#[must_use]
pub fn database() -> Option<Database> {
    static SHARED: OnceLock<Result<Server, String>> = OnceLock::new();
    if let Ok(url) = std::env::var("CORRIDOR_POSTGRES_URL")
        && !url.is_empty()
    {
        return Some(Database::make(&url));
    }
    match SHARED.get_or_init(Server::start) {
        Ok(server) => Some(server.database()),
        Err(why) => skipped(why),
    }
}

/// A server for one test; `None` if there is none, which has then been said.
#[must_use]
pub fn server() -> Option<Server> {
    match Server::start() {
        Ok(server) => Some(server),
        Err(why) => skipped(&why),
    }
}

fn skipped<T>(why: &str) -> Option<T> {
    assert!(!outside::can_have("postgres", &Err(why.to_owned())), "it is missing");
    None
}

impl Database {
    fn make(server: &str) -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let name = format!("corridor_test_{}_{number}", std::process::id());
        sql(server, &format!("CREATE DATABASE {name}"));
        let (base, parameters) = server.split_once('?').map_or((server, None), |(base, it)| (base, Some(it)));
        let authority = base.find("://").map_or(0, |at| at + 3);
        let end = base[authority..].find('/').map_or(base.len(), |at| authority + at);
        let parameters = parameters.map(|it| format!("?{it}")).unwrap_or_default();
        Self { url: format!("{}/{name}{parameters}", &base[..end]), name, server: server.to_owned() }
    }

    /// Runs statements as any other tool would; returns rows, one a line, columns separated by bars.
    #[track_caller]
    pub fn sql(&self, statements: &str) -> String {
        sql(&self.url, statements)
    }

    /// The number of the process on the server that serves the holder of a store in this database.
    #[track_caller]
    pub fn holder(&self) -> u32 {
        let found = self.sql(
            "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = \
                              (SELECT oid FROM pg_database WHERE datname = current_database())",
        );
        found.trim().parse().expect("one holder")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // The server may be gone before it.
        let _ = psql(&self.server, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
    }
}

#[track_caller]
fn sql(url: &str, statements: &str) -> String {
    let output = psql(url, statements);
    assert!(output.status.success(), "{statements}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn psql(url: &str, statements: &str) -> Output {
    let arguments = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"];
    let mut command = Command::new("psql");
    command.args(arguments).args(["--command", statements, url]).env("PGCONNECT_TIMEOUT", "10");
    command.stdin(Stdio::null()).output().expect("psql, PostgreSQL's client")
}

impl Server {
    fn start() -> Result<Self, String> {
        let programs = programs().ok_or("no initdb in PATH or in /usr/lib/postgresql")?;
        let folder = said(as_server("mktemp", &["--directory", "--tmpdir", "corridor-pg-XXXXXX"]))?;
        let (mut keeper, alive) = keeper(&programs, &folder)?;
        let made = make_cluster(&programs, &folder);
        let started = made.and_then(|()| {
            let mut last = String::new();
            for _ in 0..TRIES {
                let port = free_port()?;
                match start(&programs, &folder, port) {
                    Ok(()) => return Ok(port),
                    Err(why) => last = why,
                }
            }
            Err(last)
        });
        match started {
            Ok(port) => Ok(Self { programs, folder, port, alive: Some(alive), keeper }),
            Err(why) => {
                drop(alive);
                let _ = keeper.wait();
                Err(why)
            }
        }
    }

    /// The URL of its first database.
    fn url(&self) -> String {
        format!("postgres://postgres:{SECRET}@127.0.0.1:{}/postgres", self.port)
    }

    /// Where it listens.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// A new database.
    pub fn database(&self) -> Database {
        Database::make(&self.url())
    }

    /// Stops it as suddenly as it can be.
    pub fn stop_at_once(&self) {
        let stop = ["--pgdata", &self.data(), "--mode", "immediate", "--wait", "stop"].map(str::to_owned);
        said(as_server_in(&self.programs, "pg_ctl", &stop)).expect("stopped");
    }

    /// Starts it again where it was.
    pub fn start_again(&self) {
        start(&self.programs, &self.folder, self.port).expect("started");
    }

    /// The number of its first process, which takes new connections.
    pub fn process(&self) -> u32 {
        let lines = said(as_server("cat", &[&format!("{}/postmaster.pid", self.data())])).expect("it runs");
        lines.lines().next().and_then(|line| line.parse().ok()).expect("a number")
    }

    /// Sends one of its processes a signal, such as `-STOP`.
    pub fn signal(&self, process: u32, signal: &str) {
        said(as_server("kill", &[signal, &process.to_string()])).expect("sent");
    }

    /// Lets one of its processes write no file beyond so many bytes, as if the disk were full.
    pub fn limit_files(&self, process: u32, bytes: u32) {
        let limit = format!("--fsize={bytes}:unlimited");
        said(as_server("prlimit", &["--pid", &process.to_string(), &limit])).expect("limited");
    }

    fn data(&self) -> String {
        format!("{}/data", self.folder)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.alive.take());
        let _ = self.keeper.wait();
    }
}

/// The folder of the newest server's programs.
fn programs() -> Option<PathBuf> {
    let has = |folder: &PathBuf| folder.join("initdb").exists() && folder.join("pg_ctl").exists();
    let path = std::env::var_os("PATH").unwrap_or_default();
    if let Some(folder) = std::env::split_paths(&path).find(has) {
        return Some(folder);
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut folders: Vec<(u32, PathBuf)> = versions
        .filter_map(Result::ok)
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .filter(|(_, folder)| has(folder))
        .collect();
    folders.sort();
    folders.pop().map(|(_, folder)| folder)
}

/// A command of the server's user: it does not run as root.
fn as_server(program: &str, arguments: &[&str]) -> Command {
    let user = Command::new("id").arg("-u").output().expect("a user");
    let mut command = if user.stdout.trim_ascii() == b"0" {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--", program]);
        command
    } else {
        Command::new(program)
    };
    // What the user sees, everybody may see.
    command.args(arguments).current_dir("/").env("LC_ALL", "C").stdin(Stdio::null());
    command
}

fn as_server_in(programs: &Path, program: &str, arguments: &[String]) -> Command {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    as_server(&programs.join(program).to_string_lossy(), &arguments)
}

/// What a command prints; what it complains of if it fails.
fn said(mut command: Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {} {complaint}", String::from_utf8_lossy(&output.stdout)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Waits for the end of this process, or of the server's owner in it; then stops the server, frozen or not, and cleans up.
fn keeper(programs: &Path, folder: &str) -> Result<(Child, ChildStdin), String> {
    const SCRIPT: &str = "cat > /dev/null; \
        [ -f \"$1/data/postmaster.pid\" ] && kill -CONT \"$(head -n 1 \"$1/data/postmaster.pid\")\" && \
        \"$0\" --pgdata \"$1/data\" --mode immediate --wait stop; \
        rm -rf \"$1\"";
    let control = programs.join("pg_ctl");
    let mut command = as_server("sh", &["-c", SCRIPT, &control.to_string_lossy(), folder]);
    // Whoever interrupts this process does not mean it.
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("sh: {error}"))?;
    let alive = child.stdin.take().ok_or("no pipe")?;
    Ok((child, alive))
}

fn make_cluster(programs: &Path, folder: &str) -> Result<(), String> {
    let mut write = as_server("tee", &[&format!("{folder}/password")]);
    let mut child =
        write.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().map_err(|error| error.to_string())?;
    child.stdin.take().ok_or("no pipe")?.write_all(SECRET.as_bytes()).map_err(|error| error.to_string())?;
    child.wait().map_err(|error| error.to_string())?;
    let arguments = [
        format!("--pgdata={folder}/data"),
        format!("--pwfile={folder}/password"),
        "--username=postgres".to_owned(),
        "--auth=scram-sha-256".to_owned(),
        "--encoding=UTF8".to_owned(),
        "--locale=C".to_owned(),
        "--no-sync".to_owned(),
    ];
    said(as_server_in(programs, "initdb", &arguments)).map(drop)
}

/// Nothing here outlives the machine, so nothing is forced to the disk.
fn start(programs: &Path, folder: &str, port: u16) -> Result<(), String> {
    let options =
        format!("-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=50");
    let arguments = [
        format!("--pgdata={folder}/data"),
        format!("--log={folder}/log"),
        format!("--options={options}"),
        "--wait".to_owned(),
        "start".to_owned(),
    ];
    let mut command = as_server_in(programs, "pg_ctl", &arguments);
    // The server must not keep the pipes of this process open.
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let status = status.map_err(|error| format!("pg_ctl: {error}"))?;
    if status.success() {
        return Ok(());
    }
    let log = said(as_server("tail", &["-n", "5", &format!("{folder}/log")])).unwrap_or_default();
    Err(format!("pg_ctl start: {log}"))
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    listener.local_addr().map(|address| address.port()).map_err(|error| error.to_string())
}
