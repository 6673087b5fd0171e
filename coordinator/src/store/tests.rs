//! The store in a file: what goes in comes out, and who may not have it.

use corridor_shared::job::{
    Accepted, EventRecord, Failure, JobEvent, JobId, JobLimits, JobSpec, JobState, Line, RootPrune,
    StateChange,
};
use corridor_shared::score::{Bound, WhiteScore};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection, Executor, Row, SqliteConnection};

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

fn event(seq: u64, event: JobEvent) -> Arc<EventRecord> {
    Arc::new(EventRecord { seq, event })
}

fn state(seq: u64, state: JobState) -> Arc<EventRecord> {
    event(seq, JobEvent::State(StateChange { state, reason: "because".to_owned() }))
}

fn accepted(job: JobId) -> Arc<EventRecord> {
    let position = spec().position;
    event(1, JobEvent::Accepted(Accepted { job, position, kept: Vec::new(), pruned: Vec::new() }))
}

fn line(text: &str, score_white: WhiteScore) -> Line {
    let pv: Vec<_> = text.split(' ').map(|mv| mv.parse().expect("a move")).collect();
    Line { mv: pv[0], score_white, bound: Bound::Upper, depth: 4, pv, nodes: 12_345, heat_cm: 99 }
}

fn standing(state: JobState, iteration: Option<Iteration>) -> Box<Standing> {
    Box::new(Standing { state, paused: false, nodes: 77, elapsed: Duration::from_millis(1_234), iteration })
}

/// One whose successor looks at the worst move first.
fn iteration(depth: u8, lines: Vec<Line>) -> Iteration {
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

async fn open(path: &std::path::Path) -> SqliteStore {
    SqliteStore::open(path, "process 1 on here").await.expect("a store")
}

async fn raw(path: &std::path::Path) -> SqliteConnection {
    SqliteConnection::connect(&format!("sqlite://{}", path.display())).await.expect("any SQLite tool")
}

#[tokio::test]
async fn what_goes_in_comes_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("corridor.db");
    let mut store = open(&path).await;
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
    let mut other = raw(&path).await;
    let row =
        other.fetch_one("SELECT count(*) AS events, max(kind) AS kind FROM job_event").await.expect("rows");
    assert_eq!((row.get::<i64, _>("events"), row.get::<String, _>("kind")), (6, "state".to_owned()));
    other.close().await.expect("closed");

    let kept = store.load().await.expect("readable");
    assert_eq!((kept.last_job, kept.jobs.len()), (2, 2));
    let job = &kept.jobs[0];
    assert_eq!((job.job, &job.spec, job.standing.state), (first, &spec(), JobState::Failed));
    assert_eq!((job.standing.nodes, job.standing.elapsed), (77, Duration::from_millis(1_234)));
    let iteration = job.standing.iteration.as_ref().expect("an iteration");
    assert_eq!(
        (iteration.nodes, &iteration.order),
        (55, &vec![iteration.lines[1].mv, iteration.lines[0].mv])
    );
    let expected = [line("e8 e3 e7", WhiteScore::Cm(-40)), line("e3h", WhiteScore::BlackWinsIn(12))];
    assert_eq!((iteration.depth, iteration.lines.as_slice()), (4, &expected[..]));
    assert_eq!(job.events.iter().map(|record| record.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(kept.jobs[1].events[2], state(3, JobState::Waiting));

    // What is forgotten is gone, and its number is not used again.
    store.commit(&[Keep::Forget { job: second }]).await.expect("written");
    Box::new(store).close().await;
    let kept = open(&path).await.load().await.expect("readable");
    assert_eq!((kept.last_job, kept.jobs.iter().map(|job| job.job.0).collect::<Vec<_>>()), (2, vec![1]));
}

#[tokio::test]
async fn a_later_iteration_replaces_an_earlier_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = open(&folder.path().join("a.db")).await;
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

#[tokio::test]
async fn only_one_has_it_and_others_are_told_who() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("corridor.db");
    let store = SqliteStore::open(&path, "process 42 on alpha").await.expect("a store");
    let refused = SqliteStore::open(&path, "process 43 on alpha").await.expect_err("held");
    assert_eq!(refused.to_string(), format!("store {} is held by process 42 on alpha", path.display()));
    drop(store);
    open(&path).await;
}

#[tokio::test]
async fn a_later_schema_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("corridor.db");
    drop(open(&path).await);
    let later = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                 VALUES (9, 'later', TRUE, x'00', 0)";
    raw(&path).await.execute(later).await.expect("written");
    let refused = SqliteStore::open(&path, "me").await.expect_err("newer");
    let text = format!(
        "store {} has schema 9, newer than this version's 1: use the version that wrote it",
        path.display()
    );
    assert_eq!(refused.to_string(), text);
}

#[tokio::test]
async fn what_is_no_store_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("missing").join("corridor.db");
    let refused = SqliteStore::open(&path, "me").await.expect_err("no folder");
    assert!(
        refused.to_string().starts_with(&format!("open store {}: No such file", path.display())),
        "{refused}"
    );
    let path = folder.path().join("text.db");
    std::fs::write(&path, "no database, but more than a hundred bytes of text. ".repeat(100))
        .expect("written");
    let refused = SqliteStore::open(&path, "me").await.expect_err("no store");
    assert_eq!(refused.to_string(), format!("open store {}: file is not a database", path.display()));
    let path = folder.path().join("foreign.db");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut foreign = SqliteConnection::connect_with(&options).await.expect("made");
    foreign.execute("CREATE TABLE jobs (a INTEGER)").await.expect("written");
    foreign.close().await.expect("closed");
    let before = std::fs::read(&path).expect("a file");
    let refused = SqliteStore::open(&path, "me").await.expect_err("somebody else's");
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
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("corridor.db");
    let mut store = open(&path).await;
    store.commit(&entries(JobId(3))).await.expect("written");
    let mut other = raw(&path).await;
    for (damage, repair, complaint) in [
        ("DELETE FROM job_event WHERE seq = 1", "", "store: job 3: event 1 is missing"),
        ("UPDATE job SET state = 'resting'", "", "store: job 3: state: there is no 'resting'"),
        ("UPDATE job SET spec = x'ff'", "UPDATE job SET state = 'running'", "store: job 3: spec: "),
    ] {
        for statement in [repair, damage].iter().filter(|statement| !statement.is_empty()) {
            other.execute(sqlx::AssertSqlSafe(*statement)).await.expect("written");
        }
        let refused = store.load().await.expect_err("unreadable").to_string();
        assert!(refused.starts_with(complaint), "{refused}");
    }
}

#[tokio::test]
async fn scores_of_another_engine_are_not_gone_on_with() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("corridor.db");
    let mut store = open(&path).await;
    store.commit(&entries(JobId(1))).await.expect("written");
    raw(&path).await.execute("UPDATE job SET engine = 'older'").await.expect("written");
    let kept = store.load().await.expect("readable").jobs.remove(0);
    assert_eq!((kept.standing.iteration, kept.events.len()), (None, 2));
}

#[tokio::test]
async fn a_full_disk_keeps_nothing_of_a_batch_and_can_be_written_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("corridor.db");
    let mut store = open(&path).await;
    store.commit(&entries(JobId(1))).await.expect("written");
    let pages: i64 = raw(&path).await.fetch_one("PRAGMA page_count").await.expect("a row").get(0);
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
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("corridor.db");
    let mut store = open(&path).await;
    let mut other = raw(&path).await;
    other.execute("BEGIN IMMEDIATE").await.expect("a lock");
    let locked = StoreError::Write("database is locked".to_owned());
    assert_eq!(store.commit(&entries(JobId(1))).await, Err(locked));
    other.execute("ROLLBACK").await.expect("no lock");
    store.commit(&entries(JobId(1))).await.expect("written");
}
