//! The tables of jobs: what a batch of entries writes, and what is read back. A batch is gathered first, so that it is a few
//! statements however many entries it has: with a server each of them is a round trip.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use corridor_proto::convert::{
    event_from_bytes, event_kind, event_to_bytes, millis, spec_from_bytes, spec_to_bytes,
};
use corridor_shared::board::Move;
use corridor_shared::job::{ENGINE_EPOCH, EventRecord, JobId, JobSpec, JobState, Line};

use super::connection::{Connection, Row, Value, read_fault};
use super::rows::{LineRow, big, narrow, state_from, unreadable};
use super::{Kept, StoreError};
use crate::cluster::{Iteration, Keep, KeptJob, Standing};

// ---- writing ------------------------------------------------------------------------------------------------------

/// Writes a batch, within the transaction that is open.
pub(super) async fn write(connection: &mut Connection, batch: &[Keep]) -> Result<(), sqlx::Error> {
    let changes = Changes::gather(batch);
    changes.write_jobs(connection).await?;
    changes.write_events(connection).await?;
    changes.write_standings(connection).await?;
    changes.write_lines(connection).await?;
    changes.forget(connection).await
}

/// What a batch comes to: of what is written over only the last, of what is forgotten nothing.
#[derive(Default)]
struct Changes<'a> {
    jobs: Vec<(JobId, &'a JobSpec)>,
    last_job: Option<JobId>,
    events: Vec<(JobId, &'a EventRecord)>,
    standings: BTreeMap<JobId, &'a Standing>,
    iterations: BTreeMap<JobId, &'a Iteration>,
    forgotten: BTreeSet<JobId>,
}

impl<'a> Changes<'a> {
    fn gather(batch: &'a [Keep]) -> Self {
        let mut changes = Self::default();
        for entry in batch {
            match entry {
                Keep::Job { job, spec } => {
                    changes.jobs.push((*job, spec));
                    changes.last_job = changes.last_job.max(Some(*job));
                }
                Keep::Event { job, record } => changes.events.push((*job, record)),
                Keep::Standing { job, standing } => {
                    changes.standings.insert(*job, standing);
                    if let Some(iteration) = &standing.iteration {
                        changes.iterations.insert(*job, iteration);
                    }
                }
                Keep::Forget { job } => {
                    changes.forgotten.insert(*job);
                }
                // Its own row is among the books' tables.
                Keep::BookJob { job, .. } => changes.last_job = changes.last_job.max(Some(*job)),
                Keep::Positions { .. }
                | Keep::Found { .. }
                | Keep::Effort { .. }
                | Keep::Values { .. }
                | Keep::Progress { .. }
                | Keep::Rewrite { .. } => {}
            }
        }
        let forgotten = &changes.forgotten;
        changes.jobs.retain(|(job, _)| !forgotten.contains(job));
        changes.events.retain(|(job, _)| !forgotten.contains(job));
        changes.standings.retain(|job, _| !forgotten.contains(job));
        changes.iterations.retain(|job, _| !forgotten.contains(job));
        changes
    }

    async fn write_jobs(&self, connection: &mut Connection) -> Result<(), sqlx::Error> {
        let row = |(job, spec): &(JobId, &'a JobSpec)| {
            [
                big(job.0).into(),
                spec.position.to_string().into(),
                spec_to_bytes(spec).into(),
                Value::Perhaps(spec.traceparent.as_deref()),
                unix_ms().into(),
                JobState::Queued.name().into(),
                0.into(),
                0.into(),
                0.into(),
                0.into(),
                0.into(),
                ENGINE_EPOCH.into(),
            ]
        };
        let before = "INSERT INTO job (id, position, spec, traceparent, accepted_unix_ms, state, paused, nodes, elapsed_ms, \
                      depth, depth_nodes, engine)";
        let rows = self.jobs.iter().map(row).collect();
        connection.run_for(before, rows, "ON CONFLICT (id) DO NOTHING").await?;
        let last = self.last_job.map(|job| ["last_job".into(), big(job.0).into()]);
        let before = "INSERT INTO counter (name, value)";
        let after =
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE counter.value < excluded.value";
        connection.run_for(before, last.into_iter().collect(), after).await
    }

    async fn write_events(&self, connection: &mut Connection) -> Result<(), sqlx::Error> {
        let row = |(job, record): &(JobId, &'a EventRecord)| {
            let body = event_to_bytes(record);
            [big(job.0).into(), big(record.seq).into(), event_kind(&record.event).into(), body.into()]
        };
        let rows = self.events.iter().map(row).collect();
        let before = "INSERT INTO job_event (job, seq, kind, body)";
        connection.run_for(before, rows, "ON CONFLICT (job, seq) DO NOTHING").await
    }

    async fn write_standings(&self, connection: &mut Connection) -> Result<(), sqlx::Error> {
        let standing = |(job, standing): (&JobId, &&'a Standing)| {
            [
                big(job.0).into(),
                standing.state.name().into(),
                i64::from(standing.paused).into(),
                big(standing.nodes).into(),
                big(millis(standing.elapsed)).into(),
            ]
        };
        let rows = self.standings.iter().map(standing).collect();
        let before = "WITH new (id, state, paused, nodes, elapsed_ms) AS (";
        let after = ") UPDATE job SET state = new.state, paused = new.paused, nodes = new.nodes, \
                     elapsed_ms = new.elapsed_ms FROM new WHERE job.id = new.id";
        connection.run_for(before, rows, after).await?;
        let depth = |(job, iteration): (&JobId, &&'a Iteration)| {
            let depth = i64::from(iteration.depth);
            [big(job.0).into(), depth.into(), big(iteration.nodes).into(), ENGINE_EPOCH.into()]
        };
        let rows = self.iterations.iter().map(depth).collect();
        let before = "WITH new (id, depth, depth_nodes, engine) AS (";
        let after = ") UPDATE job SET depth = new.depth, depth_nodes = new.depth_nodes, engine = new.engine \
                     FROM new WHERE job.id = new.id";
        connection.run_for(before, rows, after).await
    }

    async fn write_lines(&self, connection: &mut Connection) -> Result<(), sqlx::Error> {
        let jobs = self.iterations.keys().map(|job| [big(job.0).into()]).collect();
        connection.run_for("DELETE FROM job_line WHERE job IN (", jobs, ")").await?;
        let rows = self.iterations.iter().flat_map(|(job, iteration)| lines(*job, iteration)).collect();
        let before = "INSERT INTO job_line (job, place, next_place, root_move, score_kind, score_white, bound_white, depth, pv, \
                      nodes, heat_cm)";
        connection.run_for(before, rows, "").await
    }

    async fn forget(&self, connection: &mut Connection) -> Result<(), sqlx::Error> {
        for before in [
            "DELETE FROM job_event WHERE job IN (",
            "DELETE FROM job_line WHERE job IN (",
            "DELETE FROM job WHERE id IN (",
        ] {
            let jobs = self.forgotten.iter().map(|job| [big(job.0).into()]).collect();
            connection.run_for(before, jobs, ")").await?;
        }
        Ok(())
    }
}

/// The rows of an iteration's lines.
fn lines(job: JobId, iteration: &Iteration) -> impl Iterator<Item = [Value<'static>; 11]> {
    let order = &iteration.order;
    (1_i64..).zip(&iteration.lines).map(move |(place, line)| {
        let next_place = order.iter().position(|&mv| mv == line.mv).unwrap_or(order.len()) + 1;
        let row = LineRow::new(line);
        [
            big(job.0).into(),
            place.into(),
            big(next_place).into(),
            row.root_move.into(),
            row.score_kind.into(),
            row.score_white.into(),
            row.bound_white.into(),
            row.depth.into(),
            row.pv.into(),
            row.nodes.into(),
            row.heat_cm.into(),
        ]
    })
}

/// The time of day, for people who look into the store.
pub(super) fn unix_ms() -> i64 {
    #[expect(clippy::disallowed_methods, reason = "nothing is decided by it")]
    let now = SystemTime::now();
    big(now.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis())
}

// ---- reading ------------------------------------------------------------------------------------------------------

/// Everything that is kept.
pub(super) async fn load(connection: &mut Connection) -> Result<Kept, StoreError> {
    let last = select(connection, "SELECT value FROM counter WHERE name = 'last_job'", Vec::new()).await?;
    let last_job = match last.first() {
        None => 0,
        Some(row) => narrow(row.number("value")?, "last_job")?,
    };
    let jobs = select(connection, "SELECT * FROM job WHERE book = '' ORDER BY id", Vec::new()).await?;
    let mut kept = Kept { jobs: Vec::with_capacity(jobs.len()), last_job, ..Kept::default() };
    for row in jobs {
        let job = JobId(narrow(row.number("id")?, "id")?);
        let loaded = load_job(connection, job, &row).await;
        kept.jobs.push(loaded.map_err(|error| match error {
            StoreError::Unreadable(text) => unreadable(format!("job {job}: {text}")),
            other => other,
        })?);
    }
    Ok(kept)
}

pub(super) async fn select(
    connection: &mut Connection,
    sql: &'static str,
    values: Vec<Value<'_>>,
) -> Result<Vec<Row>, StoreError> {
    connection.fetch(sql, values).await.map_err(|error| read_fault(&error))
}

/// Where a job stands, its last iteration apart.
pub(super) fn load_standing(row: &Row) -> Result<Standing, StoreError> {
    Ok(Standing {
        state: state_from(&row.text("state")?)?,
        paused: row.number("paused")? != 0,
        nodes: narrow(row.number("nodes")?, "nodes")?,
        elapsed: Duration::from_millis(narrow(row.number("elapsed_ms")?, "elapsed_ms")?),
        iteration: None,
    })
}

async fn load_job(connection: &mut Connection, job: JobId, row: &Row) -> Result<KeptJob, StoreError> {
    let traceparent = row.perhaps("traceparent")?;
    let spec = spec_from_bytes(&row.bytes("spec")?, traceparent.map(Arc::from))
        .map_err(|error| unreadable(error.to_string()))?;
    let mut standing = load_standing(row)?;
    let depth: u8 = narrow(row.number("depth")?, "depth")?;
    // Scores of another engine are worth nothing to this one, unless they are an answer that was given.
    if depth > 0 && (row.text("engine")? == ENGINE_EPOCH || standing.state.is_final()) {
        let nodes = narrow(row.number("depth_nodes")?, "depth_nodes")?;
        let (lines, order) = load_lines(connection, job).await?;
        standing.iteration = Some(Iteration { depth, nodes, lines, order });
    }
    Ok(KeptJob { job, spec, standing, events: load_events(connection, job).await? })
}

/// Lines, best first, and their moves in the order of the next iteration.
async fn load_lines(connection: &mut Connection, job: JobId) -> Result<(Vec<Line>, Vec<Move>), StoreError> {
    let sql = "SELECT * FROM job_line WHERE job = $1 ORDER BY place";
    let rows = select(connection, sql, vec![big(job.0).into()]).await?;
    let line = |row: &Row| {
        let row = LineRow {
            root_move: row.text("root_move")?,
            score_kind: row.text("score_kind")?,
            score_white: row.number("score_white")?,
            bound_white: row.text("bound_white")?,
            depth: row.number("depth")?,
            pv: row.text("pv")?,
            nodes: row.number("nodes")?,
            heat_cm: row.number("heat_cm")?,
        };
        row.line()
    };
    let lines = rows.iter().map(line).collect::<Result<Vec<_>, _>>()?;
    let places = rows.iter().map(|row| row.number("next_place")).collect::<Result<Vec<_>, _>>()?;
    let mut order: Vec<(i64, Move)> = places.into_iter().zip(lines.iter().map(|line| line.mv)).collect();
    order.sort_by_key(|&(place, _)| place);
    Ok((lines, order.into_iter().map(|(_, mv)| mv).collect()))
}

pub(super) async fn load_events(
    connection: &mut Connection,
    job: JobId,
) -> Result<Vec<Arc<EventRecord>>, StoreError> {
    let sql = "SELECT body FROM job_event WHERE job = $1 ORDER BY seq";
    let rows = select(connection, sql, vec![big(job.0).into()]).await?;
    let mut events = Vec::with_capacity(rows.len());
    for (row, seq) in rows.iter().zip(1..) {
        let record = event_from_bytes(&row.bytes("body")?)
            .map_err(|error| unreadable(format!("event {seq}: {error}")))?;
        if record.seq != seq {
            return Err(unreadable(format!("event {seq} is missing")));
        }
        events.push(Arc::new(record));
    }
    if events.is_empty() {
        return Err(unreadable("event 1 is missing"));
    }
    Ok(events)
}
