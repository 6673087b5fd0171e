//! `corridor.v1.Fleet`.

use std::pin::Pin;

use corridor_proto::convert::{
    heartbeat_from_wire, registration_from_wire, report_from_wire, terms_to_wire, unit_iteration_from_wire,
    unit_to_wire, window_to_wire,
};
use corridor_proto::v1;
use corridor_shared::job::{Attempt, UnitId, WorkerId};
use futures_util::Stream;
use futures_util::stream::{self, StreamExt};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::{Request, Response, Status, Streaming};
use tracing::warn;

use super::{malformed, unanswered};
use crate::cluster::{Command, WorkerSays};
use crate::driver::Handle;
use crate::limits::{MAX_GRANTED, REGISTER_TIME};

/// The conversations with workers.
#[derive(Clone, Debug)]
pub struct FleetService {
    cluster: Handle,
    tasks: TaskTracker,
    stop: CancellationToken,
}

type Commands = Pin<Box<dyn Stream<Item = Result<v1::SessionResponse, Status>> + Send>>;

impl FleetService {
    /// A service in front of a driver. Conversations run as tasks of the tracker and end with the token.
    #[must_use]
    pub fn new(cluster: Handle, tasks: TaskTracker, stop: CancellationToken) -> Self {
        Self { cluster, tasks, stop }
    }
}

/// Of what a worker says about a fault, so much is kept.
const MAX_FAULT_CHARACTERS: usize = 1_000;

/// What a new session says first.
async fn register(messages: &mut Streaming<v1::SessionRequest>) -> Result<v1::Register, Status> {
    use v1::session_request::Kind;
    let first = tokio::time::timeout(REGISTER_TIME, messages.message());
    let first = first.await.map_err(|_| Status::deadline_exceeded("register_time has passed"))??;
    match first.and_then(|message| message.kind) {
        Some(Kind::Register(register)) => Ok(register),
        _ => Err(Status::failed_precondition("kind: the first message must be `register`")),
    }
}

/// What a message of a worker means; nothing if it has no meaning now.
fn decode(message: v1::SessionRequest) -> Vec<WorkerSays> {
    use v1::session_request::Kind;
    match message.kind {
        None | Some(Kind::Register(_)) => Vec::new(),
        Some(Kind::Heartbeat(heartbeat)) => vec![WorkerSays::Heartbeat(heartbeat_from_wire(&heartbeat))],
        Some(Kind::Results(results)) => results.results.iter().map(decode_result).collect(),
        Some(Kind::Failed(failed)) => vec![WorkerSays::Failed {
            unit: UnitId(failed.unit),
            attempt: Attempt(failed.attempt),
            message: failed.message.chars().take(MAX_FAULT_CHARACTERS).collect(),
        }],
        Some(Kind::Draining(_)) => vec![WorkerSays::Draining],
        // One that does not read is as good as none.
        Some(Kind::Iteration(iteration)) => {
            unit_iteration_from_wire(&iteration).map(WorkerSays::Iteration).into_iter().collect()
        }
    }
}

/// A result that does not read is a failure of its unit, not of its worker.
fn decode_result(result: &v1::UnitResult) -> WorkerSays {
    let (unit, attempt) = (UnitId(result.unit), Attempt(result.attempt));
    match report_from_wire(result) {
        Ok(report) => WorkerSays::Report(report),
        Err(error) => WorkerSays::Failed { unit, attempt, message: error.to_string() },
    }
}

/// Commands as messages, in their order. Units that were granted one after the other travel together.
fn encode(commands: &mut Vec<Command>) -> Vec<Result<v1::SessionResponse, Status>> {
    use v1::session_response::Kind;
    let mut messages: Vec<Kind> = Vec::with_capacity(commands.len());
    for command in commands.drain(..) {
        match (command, messages.last_mut()) {
            (Command::Grant(unit), Some(Kind::Grant(grant))) if grant.units.len() < MAX_GRANTED => {
                grant.units.push(unit_to_wire(&unit));
            }
            (command, _) => messages.push(encode_one(command)),
        }
    }
    messages.into_iter().map(|kind| Ok(v1::SessionResponse { kind: Some(kind) })).collect()
}

fn encode_one(command: Command) -> v1::session_response::Kind {
    use v1::session_response::Kind;
    match command {
        Command::Grant(unit) => Kind::Grant(v1::Grant { units: vec![unit_to_wire(&unit)] }),
        Command::Window { unit, attempt, window } => Kind::Window(v1::WindowUpdate {
            unit: unit.0,
            attempt: attempt.0,
            window: Some(window_to_wire(window)),
        }),
        Command::Cancel { unit, attempt } => {
            Kind::Cancel(v1::CancelUnit { unit: unit.0, attempt: attempt.0 })
        }
        Command::Shed { unit, attempt } => Kind::Shed(v1::ShedUnit { unit: unit.0, attempt: attempt.0 }),
        Command::LeaseLost { unit, attempt } => {
            Kind::LeaseLost(v1::LeaseLost { unit: unit.0, attempt: attempt.0 })
        }
    }
}

/// Passes on what a worker says until it has nothing more to say. However it ends, the cluster hears of it.
async fn listen(
    cluster: Handle,
    worker: WorkerId,
    mut messages: Streaming<v1::SessionRequest>,
    stop: CancellationToken,
) {
    let last_words = loop {
        let message = tokio::select! {
            () = stop.cancelled() => {
                break WorkerSays::Gone { reason: "the coordinator is shutting down".to_owned() };
            }
            message = messages.message() => message,
        };
        match message {
            Ok(None) => break WorkerSays::Gone { reason: "it has closed its session".to_owned() },
            Err(status) => {
                break WorkerSays::Broken { reason: format!("its session broke: {}", status.message()) };
            }
            Ok(Some(message)) => {
                let meant = decode(message);
                if meant.is_empty() {
                    warn!(%worker, "a message without meaning was ignored");
                }
                for says in meant {
                    if cluster.worker_says(worker, says).await.is_err() {
                        return;
                    }
                }
            }
        }
    };
    // The driver may be gone already, and then nobody needs to know.
    let _ = cluster.worker_says(worker, last_words).await;
}

#[tonic::async_trait]
impl v1::fleet_server::Fleet for FleetService {
    type SessionStream = Commands;

    async fn session(
        &self,
        request: Request<Streaming<v1::SessionRequest>>,
    ) -> Result<Response<Commands>, Status> {
        let mut messages = request.into_inner();
        let registration =
            registration_from_wire(register(&mut messages).await?).map_err(|error| malformed(&error))?;
        let (terms, commands) =
            self.cluster.register(registration).await.map_err(|error| unanswered(&error))?;
        let listening = listen(self.cluster.clone(), terms.worker, messages, self.stop.clone());
        self.tasks.spawn(listening);

        let registered =
            v1::SessionResponse { kind: Some(v1::session_response::Kind::Registered(terms_to_wire(terms))) };
        let waiting = Vec::with_capacity(MAX_GRANTED);
        let rest = stream::unfold((commands, waiting), |(mut commands, mut waiting)| async move {
            if commands.recv_many(&mut waiting, MAX_GRANTED).await == 0 {
                return None;
            }
            Some((stream::iter(encode(&mut waiting)), (commands, waiting)))
        });
        Ok(Response::new(Box::pin(stream::iter([Ok(registered)]).chain(rest.flatten()))))
    }
}

#[cfg(test)]
mod tests {
    use corridor_shared::job::{JobId, Unit, WhiteWindow};
    use corridor_shared::search::PruneMode;

    use super::*;

    fn grant(unit: u64) -> Command {
        Command::Grant(Box::new(Unit {
            job: JobId(1),
            unit: UnitId(unit),
            attempt: Attempt::FIRST,
            root: corridor_shared::Position::start(),
            path: Vec::new(),
            depth: 3,
            window: WhiteWindow::default(),
            node_budget: None,
            pv_hint: Vec::new(),
            deterministic: false,
            prune: PruneMode::Cat,
            traceparent: None,
            speculative: false,
            seeds: Vec::new(),
            whole: None,
        }))
    }

    fn cancel(unit: u64) -> Command {
        Command::Cancel { unit: UnitId(unit), attempt: Attempt::FIRST }
    }

    /// Units of each message, a cancelled one as a negative number.
    fn sent(mut commands: Vec<Command>) -> Vec<Vec<i64>> {
        use v1::session_response::Kind;
        let number = |unit: u64| i64::try_from(unit).expect("small");
        let units = |message: Result<v1::SessionResponse, Status>| match message.expect("a message").kind {
            Some(Kind::Grant(grant)) => grant.units.iter().map(|unit| number(unit.unit)).collect(),
            Some(Kind::Cancel(cancel)) => vec![-number(cancel.unit)],
            other => panic!("{other:?}"),
        };
        encode(&mut commands).into_iter().map(units).collect()
    }

    #[test]
    fn units_that_are_granted_together_travel_together_and_nothing_overtakes_anything() {
        let commands =
            vec![grant(1), grant(2), cancel(1), grant(3), cancel(4), cancel(5), grant(6), grant(7)];
        assert_eq!(sent(commands), [vec![1, 2], vec![-1], vec![3], vec![-4], vec![-5], vec![6, 7]]);
        let many = u64::try_from(MAX_GRANTED).expect("small") + 1;
        let lengths: Vec<usize> = sent((1..=many).map(grant).collect()).iter().map(Vec::len).collect();
        assert_eq!(lengths, [MAX_GRANTED, 1]);
    }
}
