//! The coordinator as a whole: a driver, its services on one listener, health and reflection, and an orderly end.

use std::net::SocketAddr;
use std::sync::Arc;

use corridor_proto::v1::analysis_server::AnalysisServer;
use corridor_proto::v1::book_server::BookServer;
use corridor_proto::v1::cache_server::CacheServer;
use corridor_proto::v1::fleet_server::FleetServer;
use corridor_proto::v1::positions_server::PositionsServer;
use futures_util::StreamExt;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::transport::server::{Router, TcpIncoming};
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::server::HealthReporter;

use crate::cluster::Config;
use crate::connection::Connection;
use crate::dashboard;
use crate::driver::{self, Driver};
use crate::keeper::{Keeper, StoreFault};
use crate::limits;
use crate::service::{AnalysisService, BookService, CacheService, FleetService, PositionsService};
use crate::store::{BookReader, Store, StoreError, writer};

/// Why a coordinator does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be had.
    #[error("bind {address}: {source}")]
    Bind {
        /// The address that was asked for.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// The listener has no address.
    #[error("read the listener's address: {0}")]
    Listener(std::io::Error),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The descriptors do not make a reflection service.
    #[error("start reflection: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
}

/// Whether work can be given to it; if not, why, in plain words.
pub type Readiness = Result<(), String>;

/// Why it is not ready while it drains.
const DRAINS: &str = "it is shutting down";

/// A running coordinator.
pub struct Coordinator {
    address: SocketAddr,
    stop: CancellationToken,
    cut: CancellationToken,
    tasks: TaskTracker,
    health: HealthReporter,
    readiness: watch::Sender<Readiness>,
    handle: driver::Handle,
    books: Option<Arc<dyn BookReader>>,
    book: BookService,
}

impl std::fmt::Debug for Coordinator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Coordinator").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Coordinator {
    /// Binds and serves. Returns when clients and workers can connect.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub async fn start(address: SocketAddr, config: Config) -> Result<Self, StartError> {
        let listener = listen(address).map_err(|source| StartError::Bind { address, source })?;
        Self::serve(listener, config).await
    }

    /// Serves on a port that is bound already.
    ///
    /// # Errors
    /// The listener has no address.
    pub async fn serve(listener: TcpListener, config: Config) -> Result<Self, StartError> {
        Self::serve_with(listener, config, None).await
    }

    /// The same with a store: goes on with the jobs that are in it, and keeps what happens. Nothing is told about a job
    /// before it is durable.
    ///
    /// # Errors
    /// The store cannot be read, or the listener has no address.
    pub async fn serve_with(
        listener: TcpListener,
        config: Config,
        store: Option<Box<dyn Store>>,
    ) -> Result<Self, StartError> {
        Self::serve_from(listener, config, store, None).await
    }

    /// Serves what others have kept to whoever only looks: nothing is written, what would be is refused, and a store that somebody
    /// else holds will do.
    ///
    /// # Errors
    /// The listener has no address.
    pub async fn show(
        listener: TcpListener,
        config: Config,
        books: Arc<dyn BookReader>,
    ) -> Result<Self, StartError> {
        Self::serve_from(listener, config, None, Some(books)).await
    }

    async fn serve_from(
        listener: TcpListener,
        config: Config,
        store: Option<Box<dyn Store>>,
        looks_into: Option<Arc<dyn BookReader>>,
    ) -> Result<Self, StartError> {
        let address = listener.local_addr().map_err(StartError::Listener)?;
        let (stop, cut) = (CancellationToken::new(), CancellationToken::new());
        let tasks = TaskTracker::new();
        let (mut driver, handle) = driver::new(config);
        let (health, health_service) = tonic_health::server::health_reporter();
        let (readiness, _) = watch::channel(Ok(()));
        set_serving(&health, true).await;
        let only_shows = looks_into.is_some();
        let books = store.as_ref().map(|store| store.reader()).or(looks_into);
        let book = BookService::new(handle.clone(), books.clone());
        let book = if only_shows { book.that_only_shows() } else { book };
        let router = router(&handle, books.clone(), book.clone(), &tasks, &stop, health_service)?;

        if let Some(store) = store {
            let fault = keep(&mut driver, store, &tasks).await?;
            tasks.spawn(follow(fault, health.clone(), readiness.clone(), stop.clone()));
        }
        tasks.spawn(driver.run(stop.clone()));
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let cuttable = cut.clone();
        let incoming = incoming.map(move |stream| stream.map(|stream| Connection::new(stream, &cuttable)));
        let stopped = stop.clone().cancelled_owned();
        tasks.spawn(async move {
            if let Err(error) = router.serve_with_incoming_shutdown(incoming, stopped).await {
                tracing::error!(%error, "serving failed");
            }
        });
        Ok(Self { address, stop, cut, tasks, health, readiness, handle, books, book })
    }

    /// The live board: a page for a browser, and what it does in JSON. Its streams end when the coordinator stops.
    pub fn page(&self) -> axum::Router {
        let analysis = AnalysisService::new(self.handle.clone(), self.books.clone());
        dashboard::router(&self.handle, analysis, self.book.clone(), self.stop.clone())
    }

    /// What Prometheus reads, at `/metrics`.
    pub fn metrics(&self) -> axum::Router {
        let handle = self.handle.clone();
        let answer = move || async move { crate::metrics::answer(&handle).await };
        axum::Router::new().route("/metrics", axum::routing::get(answer))
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// A way to its driver, past the wire.
    #[must_use]
    pub const fn handle(&self) -> &driver::Handle {
        &self.handle
    }

    /// Whether work can be given to it, now and from now on.
    #[must_use]
    pub fn readiness(&self) -> watch::Receiver<Readiness> {
        self.readiness.subscribe()
    }

    /// Says everywhere that it is not ready any more, and goes on serving: the beginning of every end.
    pub async fn begin_drain(&self) {
        self.readiness.send_modify(|ready| *ready = Err(DRAINS.to_owned()));
        set_serving(&self.health, false).await;
    }

    /// Stops: not ready, streams closed, then the listener, all within the drain's hard limit. Whoever stays silent on an
    /// open connection is cut off.
    pub async fn stop(self) {
        self.begin_drain().await;
        self.stop.cancel();
        self.tasks.close();
        if tokio::time::timeout(limits::DRAIN_TIME, self.tasks.wait()).await.is_ok() {
            return;
        }
        tracing::warn!("drain_time has passed with connections open: they are cut off");
        self.cut.cancel();
        if tokio::time::timeout(limits::CUT_TIME, self.tasks.wait()).await.is_err() {
            tracing::warn!("cut_time has passed with connections open");
        }
    }
}

/// Takes a port, with room for as many connections at once as a whole cluster makes.
///
/// # Errors
/// What the system says: the port is taken, or not ours to take.
pub fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // As the runtime's own way does: a port can be had again at once. On Windows this would mean that it can be shared.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(limits::LISTEN_BACKLOG)
}

/// Loads what a store has, and starts its writer. Returns why it cannot be written, now and from now on.
async fn keep(
    driver: &mut Driver,
    mut store: Box<dyn Store>,
    tasks: &TaskTracker,
) -> Result<watch::Receiver<StoreFault>, StoreError> {
    let kept = store.load().await?;
    let (batches, written) = mpsc::channel(1);
    let (say, news) = mpsc::channel(1);
    let keeper = Keeper::new(batches, news);
    let fault = keeper.fault();
    driver.restore(kept, keeper);
    tasks.spawn(writer::run(store, written, say));
    Ok(fault)
}

/// Passes on whether the store can be written to whoever asks for readiness, until the end begins.
async fn follow(
    mut fault: watch::Receiver<StoreFault>,
    health: HealthReporter,
    readiness: watch::Sender<Readiness>,
    stop: CancellationToken,
) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            changed = fault.changed() => {
                if changed.is_err() {
                    return;
                }
            }
        }
        let now = fault.borrow_and_update().clone();
        let drains = |ready: &Readiness| ready.as_ref().is_err_and(|why| why == DRAINS);
        set_serving(&health, now.is_none() && !drains(&readiness.borrow())).await;
        readiness.send_if_modified(|ready| {
            let changes = !drains(ready);
            if changes {
                *ready = now.map_or(Ok(()), Err);
            }
            changes
        });
        // The end may have begun in between.
        if drains(&readiness.borrow()) {
            set_serving(&health, false).await;
        }
    }
}

async fn set_serving(health: &HealthReporter, serving: bool) {
    use tonic_health::ServingStatus::{NotServing, Serving};
    let status = if serving { Serving } else { NotServing };
    let services = [
        "",
        "corridor.v1.Analysis",
        "corridor.v1.Positions",
        "corridor.v1.Book",
        "corridor.v1.Fleet",
        "corridor.v1.Cache",
    ];
    for service in services {
        health.set_service_status(service, status).await;
    }
}

fn router(
    handle: &driver::Handle,
    books: Option<Arc<dyn BookReader>>,
    book: BookService,
    tasks: &TaskTracker,
    stop: &CancellationToken,
    health: HealthServer<impl Health>,
) -> Result<Router, StartError> {
    let analysis = AnalysisServer::new(AnalysisService::new(handle.clone(), books));
    let book = BookServer::new(book);
    let positions = PositionsServer::new(PositionsService);
    let fleet = FleetServer::new(FleetService::new(handle.clone(), tasks.clone(), stop.clone()));
    let cache = CacheServer::new(CacheService::new(handle.cache().clone(), tasks.clone(), stop.clone()));
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(corridor_proto::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    // Every service takes and sends the same largest message: gRPC's own default is easily forgotten on one of them.
    macro_rules! limited {
        ($server:expr) => {
            $server
                .max_decoding_message_size(limits::MAX_MESSAGE_BYTES)
                .max_encoding_message_size(limits::MAX_MESSAGE_BYTES)
        };
    }
    Ok(tonic::transport::Server::builder()
        .http2_keepalive_interval(Some(limits::KEEPALIVE_INTERVAL))
        .http2_keepalive_timeout(Some(limits::KEEPALIVE_TIMEOUT))
        .add_service(limited!(analysis))
        .add_service(limited!(positions))
        .add_service(limited!(book))
        .add_service(limited!(fleet))
        .add_service(limited!(cache))
        .add_service(limited!(health))
        .add_service(limited!(reflection().build_v1()?))
        .add_service(limited!(reflection().build_v1alpha()?)))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpStream;
    use std::time::Duration;

    /// As many as a cluster's workers can be, and more than the runtime's own listener lets wait.
    const WAITING: usize = 1_500;
    /// What the system says to a process that has too many files open.
    const TOO_MANY_FILES: i32 = 24;

    /// Past the harness, which shows what a test prints only if it fails.
    fn skip(why: &str) {
        let _ = writeln!(
            std::io::stderr(),
            "\nSKIPPED a_whole_cluster_can_connect_before_anybody_is_taken_up: {why}"
        );
    }

    #[tokio::test]
    async fn a_whole_cluster_can_connect_before_anybody_is_taken_up() {
        let allowed = std::fs::read_to_string("/proc/sys/net/core/somaxconn").ok();
        let allowed = allowed.and_then(|text| text.trim().parse::<usize>().ok()).unwrap_or(0);
        if allowed < WAITING {
            return skip(&format!("the system lets {allowed} connections wait (net.core.somaxconn)"));
        }
        let listener = super::listen(([127, 0, 0, 1], 0).into()).expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut lines = Vec::new();
        for number in 0..WAITING {
            match TcpStream::connect_timeout(&address, Duration::from_secs(30)) {
                Ok(line) => lines.push(line),
                Err(error) if error.raw_os_error() == Some(TOO_MANY_FILES) => {
                    return skip(&format!(
                        "{number} more files are all that this process may open (ulimit -n)"
                    ));
                }
                Err(error) => panic!("connection {number}: {error}"),
            }
        }
        assert_eq!(lines.len(), WAITING);
    }
}
