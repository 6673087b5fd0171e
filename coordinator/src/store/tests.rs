//! Stores in a file and on a server alike: what goes in comes out, and who may not have it.

#[path = "../../../tests/src/postgres.rs"]
mod server;

use std::path::{Path, PathBuf};

use corridor_shared::job::{
    Accepted, EventRecord, Failure, JobEvent, JobId, JobLimits, JobSpec, JobState, Line, RootPrune,
    StateChange,
};
use corridor_shared::score::{Bound, WhiteScore};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, Executor, PgConnection, Row, SqliteConnection};

use super::connection::Connection;
use super::rows::big;
use super::*;
use crate::cluster::{Iteration, Standing};
use std::sync::Arc;
use std::time::Duration;

fn spec() -> JobSpec {
    JobSpec {
        position: "/ / e2 e9 / 10 9 / 2".parse().expect("a position"),
        limits: JobLimits { depth: Some(9), time: Some(Duration::from_secs(7)), nodes: Some(1 << 40) },
        multipv: 3,
        prune: RootPrune::None,
        deterministic: true,
        priority: -5,
        detach: true,
        traceparent: Some(Arc::from("00-1-2-03")),
    }
}

pub(super) fn event(seq: u64, event: JobEvent) -> Arc<EventRecord> {
    Arc::new(EventRecord { seq, event })
}

pub(super) fn state(seq: u64, state: JobState) -> Arc<EventRecord> {
    event(seq, JobEvent::State(StateChange { state, reason: "because".to_owned() }))
}

fn accepted(job: JobId) -> Arc<EventRecord> {
    let position = spec().position;
    event(1, JobEvent::Accepted(Accepted { job, position, kept: Vec::new(), pruned: Vec::new() }))
}

pub(super) fn line(text: &str, score_white: WhiteScore) -> Line {
    let pv: Vec<_> = text.split(' ').map(|mv| mv.parse().expect("a move")).collect();
    Line { mv: pv[0], score_white, bound: Bound::Upper, depth: 4, pv, nodes: 12_345, heat_cm: 99 }
}

pub(super) fn standing(state: JobState, iteration: Option<Iteration>) -> Box<Standing> {
    Box::new(Standing { state, paused: false, nodes: 77, elapsed: Duration::from_millis(1_234), iteration })
}

/// One whose successor looks at the worst move first.
pub(super) fn iteration(depth: u8, lines: Vec<Line>) -> Iteration {
    let order = lines.iter().rev().map(|line| line.mv).collect();
    Iteration { depth, nodes: 55, lines, order }
}

/// The entries of a job that has had one iteration.
fn entries(job: JobId) -> Vec<Keep> {
    let lines = vec![line("e8 e3 e7", WhiteScore::Cm(-40)), line("e3h", WhiteScore::BlackWinsIn(12))];
    vec![
        Keep::Job { job, spec: Box::new(spec()) },
        Keep::Event { job, record: accepted(job) },
        Keep::Event { job, record: state(2, JobState::Running) },
        Keep::Standing { job, standing: standing(JobState::Running, Some(iteration(4, lines))) },
    ]
}

/// A place for a store, which goes with the test.
pub(super) struct Ground {
    pub(super) place: Place,
    /// If it is none, it is a file.
    database: Option<server::Database>,
    _folder: Option<tempfile::TempDir>,
}

/// One of each kind that this machine can have.
pub(super) fn grounds() -> Vec<Ground> {
    let mut grounds = vec![file()];
    grounds.extend(database());
    grounds
}

pub(super) fn file() -> Ground {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::file(&folder.path().join("corridor.db"));
    Ground { place, database: None, _folder: Some(folder) }
}

fn database() -> Option<Ground> {
    let database = server::database()?;
    let place = database.url.parse().expect("a URL");
    Some(Ground { place, database: Some(database), _folder: None })
}

impl Ground {
    pub(super) async fn open(&self) -> DatabaseStore {
        DatabaseStore::open(&self.place, "process 1 on here").await.expect("a store")
    }

    async fn refused(&self, holder: &str) -> String {
        let refused = DatabaseStore::open(&self.place, holder).await.expect_err("refused").to_string();
        assert!(!refused.contains(server::SECRET), "{refused}");
        refused
    }

    pub(super) fn path(&self) -> PathBuf {
        match &self.place {
            Place::File(path) => path.clone(),
            Place::Postgres(_) => panic!("no file"),
        }
    }

    /// What any other tool finds: the only column of the first row, a text.
    pub(super) async fn sql(&self, statement: &str) -> String {
        match &self.database {
            None => {
                let statement = sqlx::AssertSqlSafe(statement.to_owned());
                let rows = raw(&self.path()).await.fetch_all(statement).await.expect("run");
                rows.first().map(|row| row.get(0)).unwrap_or_default()
            }
            Some(database) => {
                database.sql(&format!("SET search_path = corridor; {statement}")).trim().to_owned()
            }
        }
    }

    /// Another tool, which has the positions of books to itself until it is closed.
    pub(super) async fn alone(&self) -> Connection {
        let mut tool = match &self.database {
            None => Connection::Sqlite(raw(&self.path()).await),
            Some(database) => {
                Connection::Postgres(PgConnection::connect(&database.url).await.expect("a tool"))
            }
        };
        let lock = match &tool {
            Connection::Sqlite(_) => "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE",
            Connection::Postgres(_) => "BEGIN; LOCK TABLE corridor.book_position",
        };
        tool.run(lock).await.expect("a lock");
        tool
    }

    /// Bytes, as this database writes them.
    pub(super) fn bytes(&self, hex: &str) -> String {
        match &self.database {
            None => format!("x'{hex}'"),
            Some(_) => format!("'\\x{hex}'"),
        }
    }
}

async fn raw(path: &Path) -> SqliteConnection {
    SqliteConnection::connect(&format!("sqlite://{}", path.display())).await.expect("any SQLite tool")
}

#[tokio::test]
async fn what_goes_in_comes_out() {
    for ground in grounds() {
        let mut store = ground.open().await;
        assert_eq!(store.load().await, Ok(Kept::default()));
        let (first, second) = (JobId(1), JobId(2));
        store.commit(&entries(first)).await.expect("written");
        let mut batch = entries(second);
        batch.push(Keep::Event { job: second, record: state(3, JobState::Waiting) });
        // Written twice, as after an answer that was lost: nothing changes.
        for _ in 0..2 {
            store.commit(&batch).await.expect("written");
        }
        let failure = Failure { code: "internal".to_owned(), message: "broken".to_owned() };
        let end = [
            Keep::Event { job: first, record: event(3, JobEvent::Error(failure)) },
            Keep::Standing { job: first, standing: standing(JobState::Failed, None) },
        ];
        store.commit(&end).await.expect("written");

        // Another tool reads while it is held open.
        let found = ground.sql("SELECT count(*) || ' ' || max(kind) FROM job_event").await;
        assert_eq!(found, "6 state", "{}", ground.place);

        let kept = store.load().await.expect("readable");
        assert_eq!((kept.last_job, kept.jobs.len()), (2, 2));
        let job = &kept.jobs[0];
        assert_eq!((job.job, &job.spec, job.standing.state), (first, &spec(), JobState::Failed));
        assert_eq!((job.standing.nodes, job.standing.elapsed), (77, Duration::from_millis(1_234)));
        let iteration = job.standing.iteration.as_ref().expect("an iteration");
        let expected = [line("e8 e3 e7", WhiteScore::Cm(-40)), line("e3h", WhiteScore::BlackWinsIn(12))];
        assert_eq!((iteration.depth, iteration.lines.as_slice()), (4, &expected[..]));
        assert_eq!((iteration.nodes, &iteration.order), (55, &vec![expected[1].mv, expected[0].mv]));
        assert_eq!(job.events.iter().map(|record| record.seq).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(kept.jobs[1].events[2], state(3, JobState::Waiting));

        // What is forgotten is gone, and its number is not used again.
        store.commit(&[Keep::Forget { job: second }]).await.expect("written");
        Box::new(store).close().await;
        let kept = ground.open().await.load().await.expect("readable");
        assert_eq!((kept.last_job, kept.jobs.iter().map(|job| job.job.0).collect::<Vec<_>>()), (2, vec![1]));
    }
}

/// More rows than fit into one statement, more than one change of each job, and one that comes and goes.
#[tokio::test]
async fn a_large_batch_is_what_its_entries_are_one_by_one() {
    for ground in grounds() {
        let mut batch = Vec::new();
        for job in (1..=600).map(JobId) {
            batch.extend(entries(job));
            batch.push(Keep::Event { job, record: state(3, JobState::Waiting) });
            let lines = vec![line("e7", WhiteScore::Cm(big(job.0).try_into().expect("small")))];
            let deeper = standing(JobState::Running, Some(iteration(5, lines)));
            batch.push(Keep::Standing { job, standing: deeper });
            batch.push(Keep::Standing { job, standing: standing(JobState::Waiting, None) });
        }
        batch.push(Keep::Forget { job: JobId(600) });
        let mut store = ground.open().await;
        store.commit(&batch).await.expect("written");
        let kept = store.load().await.expect("readable");
        assert_eq!((kept.last_job, kept.jobs.len()), (600, 599));
        for (job, number) in kept.jobs.iter().zip(1_i32..) {
            let standing = &job.standing;
            let iteration = standing.iteration.as_ref().expect("an iteration");
            let score = iteration.lines.iter().map(|line| line.score_white).collect::<Vec<_>>();
            assert_eq!((standing.state, iteration.depth), (JobState::Waiting, 5));
            assert_eq!((score, job.events.len()), (vec![WhiteScore::Cm(number)], 3));
        }
        for table in ["job_line", "job_event"] {
            let left = format!("SELECT CAST(count(*) AS TEXT) FROM {table} WHERE job = 600");
            assert_eq!(ground.sql(&left).await, "0", "{table}");
        }
    }
}

#[tokio::test]
async fn a_later_iteration_replaces_an_earlier_one() {
    for ground in grounds() {
        let mut store = ground.open().await;
        let job = JobId(7);
        store.commit(&entries(job)).await.expect("written");
        let lines = vec![line("e7", WhiteScore::WhiteWinsIn(3))];
        let later = standing(JobState::Running, Some(iteration(5, lines.clone())));
        store.commit(&[Keep::Standing { job, standing: later }]).await.expect("written");
        // Progress alone leaves it alone.
        let progress = Box::new(Standing { paused: true, ..*standing(JobState::Paused, None) });
        store.commit(&[Keep::Standing { job, standing: progress }]).await.expect("written");
        let kept = store.load().await.expect("readable").jobs.remove(0).standing;
        assert_eq!(kept.iteration, Some(iteration(5, lines)));
        assert!(kept.paused && kept.state == JobState::Paused);
    }
}

#[tokio::test]
async fn only_one_has_it_and_others_are_told_who() {
    for ground in grounds() {
        let store = DatabaseStore::open(&ground.place, "process 42 on alpha").await.expect("a store");
        let held = format!("store {} is held by process 42 on alpha", ground.place);
        assert_eq!(ground.refused("process 43 on alpha").await, held);
        drop(store);
        ground.open().await;
    }
}

#[tokio::test]
async fn a_later_schema_is_refused() {
    for ground in grounds() {
        Box::new(ground.open().await).close().await;
        let later = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                     VALUES (9, 'later', TRUE, BYTES, 0)";
        ground.sql(&later.replace("BYTES", &ground.bytes("00"))).await;
        let text = format!(
            "store {} has schema 9, newer than this version's 3: use the version that wrote it",
            ground.place
        );
        assert_eq!(ground.refused("me").await, text);
    }
}

#[tokio::test]
async fn what_is_no_store_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("missing").join("corridor.db");
    let open = async |path: &Path| DatabaseStore::open(&Place::file(path), "me").await;
    let refused = open(&path).await.expect_err("no folder");
    assert!(
        refused.to_string().starts_with(&format!("open store {}: No such file", path.display())),
        "{refused}"
    );
    let path = folder.path().join("text.db");
    std::fs::write(&path, "no database, but more than a hundred bytes of text. ".repeat(100))
        .expect("written");
    let refused = open(&path).await.expect_err("no store");
    assert_eq!(refused.to_string(), format!("open store {}: file is not a database", path.display()));
    let path = folder.path().join("foreign.db");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut foreign = SqliteConnection::connect_with(&options).await.expect("made");
    foreign.execute("CREATE TABLE jobs (a INTEGER)").await.expect("written");
    foreign.close().await.expect("closed");
    let before = std::fs::read(&path).expect("a file");
    let refused = open(&path).await.expect_err("somebody else's");
    assert_eq!(
        refused.to_string(),
        format!("open store {}: it is a database of something else", path.display())
    );
    assert_eq!(std::fs::read(&path).expect("a file"), before, "it is left as it was");
    let names =
        std::fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("a file").file_name());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, ["foreign.db", "text.db"], "nothing is left behind");
}

#[tokio::test]
async fn what_makes_no_sense_is_named() {
    for ground in grounds() {
        let mut store = ground.open().await;
        store.commit(&entries(JobId(3))).await.expect("written");
        let spec = format!("UPDATE job SET spec = {}", ground.bytes("ff"));
        for (damage, repair, complaint) in [
            ("DELETE FROM job_event WHERE seq = 1", "", "store: job 3: event 1 is missing"),
            ("UPDATE job SET state = 'resting'", "", "store: job 3: state: there is no 'resting'"),
            (&spec, "UPDATE job SET state = 'running'", "store: job 3: spec: "),
        ] {
            for statement in [repair, damage].iter().filter(|statement| !statement.is_empty()) {
                ground.sql(statement).await;
            }
            let refused = store.load().await.expect_err("unreadable").to_string();
            assert!(refused.starts_with(complaint), "{refused}");
        }
    }
}

#[tokio::test]
async fn scores_of_another_engine_are_not_gone_on_with() {
    for ground in grounds() {
        let mut store = ground.open().await;
        store.commit(&entries(JobId(1))).await.expect("written");
        ground.sql("UPDATE job SET engine = 'older'").await;
        let kept = store.load().await.expect("readable").jobs.remove(0);
        assert_eq!((kept.standing.iteration, kept.events.len()), (None, 2));
    }
}

#[tokio::test]
async fn a_full_disk_keeps_nothing_of_a_batch_and_can_be_written_again() {
    let ground = file();
    let mut store = ground.open().await;
    store.commit(&entries(JobId(1))).await.expect("written");
    let pages: i64 = raw(&ground.path()).await.fetch_one("PRAGMA page_count").await.expect("a row").get(0);
    let mut store = store.with_pages(u32::try_from(pages).expect("few"));
    let reason = "x".repeat(100_000);
    let large = event(3, JobEvent::State(StateChange { state: JobState::Queued, reason }));
    let mut batch = entries(JobId(2));
    batch.push(Keep::Event { job: JobId(2), record: large });
    for _ in 0..3 {
        let full = StoreError::Write("database or disk is full".to_owned());
        assert_eq!(store.commit(&batch).await, Err(full));
    }
    assert_eq!(store.load().await.expect("readable").jobs.len(), 1, "nothing of the batch");
    let mut store = store.with_pages(1_000);
    store.commit(&batch).await.expect("there is room again");
    let kept = store.load().await.expect("readable");
    assert_eq!((kept.jobs.len(), kept.jobs[1].events.len()), (2, 3));
}

#[tokio::test]
async fn a_lock_by_another_tool_is_a_fault_that_passes() {
    let ground = file();
    let mut store = ground.open().await;
    let mut other = raw(&ground.path()).await;
    other.execute("BEGIN IMMEDIATE").await.expect("a lock");
    let locked = StoreError::Write("database is locked".to_owned());
    assert_eq!(store.commit(&entries(JobId(1))).await, Err(locked));
    other.execute("ROLLBACK").await.expect("no lock");
    store.commit(&entries(JobId(1))).await.expect("written");
}

// ---- a server -----------------------------------------------------------------------------------------------------

fn numbers(kept: &Kept) -> Vec<u64> {
    kept.jobs.iter().map(|job| job.job.0).collect()
}

#[tokio::test]
async fn a_line_that_breaks_while_nobody_writes_is_no_fault() {
    let Some(server) = server::server() else { return };
    let database = server.database();
    let place = database.url.parse().expect("a URL");
    let mut store = DatabaseStore::open(&place, "me").await.expect("a store");
    store.commit(&entries(JobId(1))).await.expect("written");
    server.stop_at_once();
    server.start_again();
    store.commit(&entries(JobId(2))).await.expect("written on a new line");
    server.stop_at_once();
    let away = store.commit(&entries(JobId(3))).await.expect_err("nobody there").to_string();
    assert_eq!(away, "the store cannot be written: Connection refused (os error 111)");
    server.start_again();
    store.commit(&entries(JobId(3))).await.expect("it is back");
    assert_eq!(numbers(&store.load().await.expect("readable")), [1, 2, 3]);
    // The lock came back with it.
    let held = DatabaseStore::open(&place, "you").await.expect_err("held");
    assert_eq!(held, StoreError::Held { store: place.to_string(), holder: "me".to_owned() });
}

/// No file may become larger than a segment of the server's log, and a batch is.
#[tokio::test]
async fn a_server_whose_disk_is_full_keeps_nothing_of_a_batch_and_can_be_written_again() {
    const SEGMENT: u32 = 16 << 20;
    let Some(server) = server::server() else { return };
    let database = server.database();
    let place = database.url.parse().expect("a URL");
    let mut store = DatabaseStore::open(&place, "me").await.expect("a store");
    store.commit(&entries(JobId(1))).await.expect("written");
    // Nothing that could be compressed.
    let mut seed = 1_u64;
    let mut reason = || {
        let mut digit = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b'!' + u8::try_from((seed >> 33) % 90).expect("small"))
        };
        (0..1 << 20).map(|_| digit()).collect::<String>()
    };
    let mut batch = entries(JobId(2));
    for seq in 3..23 {
        let change = StateChange { state: JobState::Queued, reason: reason() };
        batch.push(Keep::Event { job: JobId(2), record: event(seq, JobEvent::State(change)) });
    }
    server.limit_files(database.holder(), SEGMENT);
    let full = store.commit(&batch).await.expect_err("full").to_string();
    assert!(full.contains("could not extend file") && full.contains("File too large"), "{full}");
    // A new session has no limit.
    store.commit(&batch).await.expect("there is room again");
    let kept = store.load().await.expect("readable");
    assert_eq!((kept.jobs.len(), kept.jobs[0].events.len(), kept.jobs[1].events.len()), (2, 2, 22));
}

#[tokio::test]
async fn whoever_was_replaced_writes_nothing_any_more() {
    let (Some(server), Some(_)) = (server::server(), database()) else { return };
    let database = server.database();
    let place: Place = database.url.parse().expect("a URL");
    let end_session = |holder: u32| database.sql(&format!("SELECT pg_terminate_backend({holder})"));
    let mut first = DatabaseStore::open(&place, "the first").await.expect("a store");
    first.commit(&entries(JobId(1))).await.expect("written");
    // Its session ends, and somebody else is faster.
    end_session(database.holder());
    let mut second = DatabaseStore::open(&place, "the second").await.expect("it is free");
    second.commit(&entries(JobId(2))).await.expect("written");
    let held = format!("store {place} is held by the second");
    assert_eq!(first.commit(&entries(JobId(3))).await, Err(StoreError::Write(held)));
    // Its own line breaks too, but nobody came in between.
    end_session(database.holder());
    second.commit(&entries(JobId(4))).await.expect("written on a new line");
    Box::new(second).close().await;
    for _ in 0..2 {
        let refused = first.commit(&entries(JobId(3))).await.expect_err("too late").to_string();
        assert!(refused.starts_with("the store cannot be written: another process has held"), "{refused}");
    }
    let mut third = DatabaseStore::open(&place, "the third").await.expect("it is free");
    assert_eq!(numbers(&third.load().await.expect("readable")), [1, 2, 4]);
}

/// Takes a quarter of a minute: so long a server may be silent.
#[tokio::test]
async fn a_session_that_is_frozen_is_replaced_and_nothing_is_lost_or_doubled() {
    let Some(server) = server::server() else { return };
    let database = server.database();
    let place = database.url.parse().expect("a URL");
    let mut store = DatabaseStore::open(&place, "me").await.expect("a store");
    store.commit(&entries(JobId(1))).await.expect("written");
    let frozen = database.holder();
    server.signal(frozen, "-STOP");
    let refused = store.commit(&entries(JobId(2))).await.expect_err("no answer").to_string();
    let reason = "is held by a former session of this process, which does not end";
    assert!(refused.ends_with(reason), "{refused}");
    server.signal(frozen, "-CONT");
    store.commit(&entries(JobId(2))).await.expect("written");
    assert_ne!(database.holder(), frozen);
    let kept = store.load().await.expect("readable");
    assert_eq!((numbers(&kept), kept.jobs[1].events.len()), (vec![1, 2], 2));
}

#[tokio::test]
async fn a_database_is_shared_with_others_but_a_schema_is_not() {
    let Some(ground) = database() else { return };
    let database = ground.database.as_ref().expect("a server");
    database.sql("CREATE TABLE job (a INTEGER); CREATE SCHEMA mine; CREATE SCHEMA theirs; CREATE TABLE theirs.a (b INTEGER)");
    let mut store = ground.open().await;
    store.commit(&entries(JobId(1))).await.expect("written");
    assert_eq!(database.sql("SELECT count(*) FROM job").trim(), "0", "the other's");
    // Another schema is another store.
    let other = |schema: &str| {
        let parameter = if database.url.contains('?') { '&' } else { '?' };
        format!("{}{parameter}options[search_path]={schema}", database.url).parse::<Place>().expect("a URL")
    };
    let mut mine = DatabaseStore::open(&other("mine"), "me").await.expect("another store");
    assert_eq!(mine.load().await, Ok(Kept::default()));
    for (schema, reason) in
        [("theirs", "it is a database of something else"), ("missing", "there is no schema missing")]
    {
        let refused = DatabaseStore::open(&other(schema), "me").await.expect_err("refused").to_string();
        assert!(refused.starts_with("open store postgres://") && refused.ends_with(reason), "{refused}");
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_had_is_named_without_a_password() {
    let Some(server) = server::server() else { return };
    let at = format!("127.0.0.1:{}", server.port());
    for (login, reason) in [
        ("postgres:geheimer", "password authentication failed for user \"postgres\""),
        ("nobody:geheim", "password authentication failed for user \"nobody\""),
    ] {
        let place: Place = format!("postgres://{login}@{at}/postgres").parse().expect("a URL");
        let refused = DatabaseStore::open(&place, "me").await.expect_err("refused").to_string();
        let user = login.split(':').next().expect("a user");
        assert_eq!(refused, format!("open store postgres://{user}@{at}/postgres: {reason}"));
    }
    let missing: Place = format!("postgres://postgres:geheim@{at}/missing").parse().expect("a URL");
    let refused = DatabaseStore::open(&missing, "me").await.expect_err("refused").to_string();
    assert_eq!(refused, format!("open store {missing}: database \"missing\" does not exist"));
}
