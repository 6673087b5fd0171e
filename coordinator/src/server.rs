//! The coordinator as a whole: a driver, its services on one listener, health and reflection, and an orderly end.

use std::net::SocketAddr;

use corridor_proto::v1::analysis_server::AnalysisServer;
use corridor_proto::v1::cache_server::CacheServer;
use corridor_proto::v1::fleet_server::FleetServer;
use corridor_proto::v1::positions_server::PositionsServer;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::transport::server::{Router, TcpIncoming};
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::server::HealthReporter;

use crate::cluster::Config;
use crate::driver;
use crate::limits;
use crate::service::{AnalysisService, CacheService, FleetService, PositionsService};

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
    /// The descriptors do not make a reflection service.
    #[error("start reflection: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
}

/// A running coordinator.
#[derive(Debug)]
pub struct Coordinator {
    address: SocketAddr,
    stop: CancellationToken,
    tasks: TaskTracker,
    health: HealthReporter,
    handle: driver::Handle,
}

impl Coordinator {
    /// Binds and serves. Returns when clients and workers can connect.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub async fn start(address: SocketAddr, config: Config) -> Result<Self, StartError> {
        let bind = |source| StartError::Bind { address, source };
        let listener = TcpListener::bind(address).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;

        let stop = CancellationToken::new();
        let tasks = TaskTracker::new();
        let (driver, handle) = driver::new(config);
        let (health, health_service) = tonic_health::server::health_reporter();
        set_serving(&health, true).await;
        let router = router(&handle, &tasks, &stop, health_service)?;

        tasks.spawn(driver.run(stop.clone()));
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let stopped = stop.clone().cancelled_owned();
        tasks.spawn(async move {
            if let Err(error) = router.serve_with_incoming_shutdown(incoming, stopped).await {
                tracing::error!(%error, "serving failed");
            }
        });
        Ok(Self { address, stop, tasks, health, handle })
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

    /// Stops: not serving, streams closed, then the listener, all within the drain's hard limit. Whoever stays silent on an
    /// open connection is cut off.
    pub async fn stop(self) {
        set_serving(&self.health, false).await;
        self.stop.cancel();
        self.tasks.close();
        if tokio::time::timeout(limits::DRAIN_TIME, self.tasks.wait()).await.is_err() {
            tracing::warn!("drain_time has passed with connections open");
        }
    }
}

async fn set_serving(health: &HealthReporter, serving: bool) {
    use tonic_health::ServingStatus::{NotServing, Serving};
    let status = if serving { Serving } else { NotServing };
    let services =
        ["", "corridor.v1.Analysis", "corridor.v1.Positions", "corridor.v1.Fleet", "corridor.v1.Cache"];
    for service in services {
        health.set_service_status(service, status).await;
    }
}

fn router(
    handle: &driver::Handle,
    tasks: &TaskTracker,
    stop: &CancellationToken,
    health: HealthServer<impl Health>,
) -> Result<Router, StartError> {
    let analysis = AnalysisServer::new(AnalysisService::new(handle.clone()));
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
        .add_service(limited!(fleet))
        .add_service(limited!(cache))
        .add_service(limited!(health))
        .add_service(limited!(reflection().build_v1()?))
        .add_service(limited!(reflection().build_v1alpha()?)))
}
