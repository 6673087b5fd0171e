//! A worker by hand: a session in which nothing is said but what a test says.

use std::collections::VecDeque;
use std::sync::Arc;

use corridor_coordinator::Coordinator;
use corridor_proto::convert::{report_to_wire, unit_from_wire};
use corridor_proto::limits::MAX_MESSAGE_BYTES;
use corridor_proto::v1;
use corridor_proto::v1::fleet_client::FleetClient;
use corridor_proto::v1::session_request::Kind as Says;
use corridor_proto::v1::session_response::Kind as Told;
use corridor_shared::job::{DETERMINISTIC_TABLE_BYTES, ENGINE_EPOCH};
use corridor_shared::search::{Searcher, Undisturbed};
use corridor_shared::tt::TranspositionTable;
use corridor_worker::search_unit;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use crate::{LONG, url};

/// A worker that does nothing by itself.
pub struct FakeWorker {
    /// Its half of the session.
    pub says: mpsc::Sender<v1::SessionRequest>,
    /// The coordinator's half.
    pub told: Streaming<v1::SessionResponse>,
    /// Units that came with others and were not asked for yet.
    granted: VecDeque<v1::Unit>,
}

/// What a worker says when it has found something.
pub fn found(result: v1::UnitResult) -> Says {
    Says::Results(v1::UnitResults { results: vec![result] })
}

/// The registration of a worker with one slot.
pub fn register(name: &str) -> v1::Register {
    v1::Register {
        name: name.to_owned(),
        instance: 7,
        engine_epoch: ENGINE_EPOCH.to_owned(),
        slots: 1,
        table_bytes: 0,
    }
}

/// A session with a first message of the test's choice.
///
/// # Errors
/// The coordinator's refusal.
pub async fn open_session(coordinator: &Coordinator, first: Says) -> Result<FakeWorker, Status> {
    open_session_at(url(coordinator.address()), first).await
}

/// The same, at any address.
///
/// # Errors
/// The coordinator's refusal.
pub async fn open_session_at(url: String, first: Says) -> Result<FakeWorker, Status> {
    let client = FleetClient::connect(url).await.expect("a client");
    let mut client =
        client.max_decoding_message_size(MAX_MESSAGE_BYTES).max_encoding_message_size(MAX_MESSAGE_BYTES);
    let (says, requests) = mpsc::channel(16);
    says.send(v1::SessionRequest { kind: Some(first) }).await.expect("room");
    let told = client.session(ReceiverStream::new(requests)).await?.into_inner();
    Ok(FakeWorker { says, told, granted: VecDeque::new() })
}

impl FakeWorker {
    /// A worker that is registered.
    pub async fn join(coordinator: &Coordinator, name: &str) -> Self {
        let mut fake = open_session(coordinator, Says::Register(register(name))).await.expect("a session");
        assert!(matches!(fake.told().await, Some(Told::Registered(_))));
        fake
    }

    /// The next thing that it is told; `None` at the end of the session.
    pub async fn told(&mut self) -> Option<Told> {
        let message = tokio::time::timeout(LONG, self.told.message()).await.expect("in time").ok()??;
        message.kind
    }

    /// Says something.
    pub async fn say(&self, kind: Says) {
        self.says.send(v1::SessionRequest { kind: Some(kind) }).await.expect("an open session");
    }

    /// The next unit; whatever else it is told is forgotten.
    pub async fn granted(&mut self) -> v1::Unit {
        loop {
            if let Some(unit) = self.granted.pop_front() {
                return unit;
            }
            if let Told::Grant(grant) = self.told().await.expect("an open session") {
                self.granted.extend(grant.units);
            }
        }
    }

    /// The next `lease_lost`, as unit and attempt; whatever else it is told is forgotten.
    pub async fn lease_lost(&mut self) -> (u64, u32) {
        loop {
            if let Told::LeaseLost(lost) = self.told().await.expect("an open session") {
                return (lost.unit, lost.attempt);
            }
        }
    }

    /// A sign of life, with how far units are.
    pub async fn beat(&self, units: &[(&v1::Unit, u64)]) {
        let progress = |&(unit, nodes): &(&v1::Unit, u64)| v1::UnitProgress {
            unit: unit.unit,
            attempt: unit.attempt,
            nodes,
        };
        self.say(Says::Heartbeat(v1::Heartbeat { units: units.iter().map(progress).collect() })).await;
    }
}

/// What a real worker would find of a unit, on this thread, with a table of its own.
pub fn searched(unit: &v1::Unit) -> v1::UnitResult {
    let unit = unit_from_wire(unit.clone()).expect("a good unit");
    let table = TranspositionTable::new(DETERMINISTIC_TABLE_BYTES).expect("a table");
    let window = unit.window.to_engine(unit.turn());
    let mut searcher = Searcher::new(Arc::new(table));
    report_to_wire(&search_unit(&mut searcher, &unit, window, &mut Undisturbed).expect("a report"))
}
