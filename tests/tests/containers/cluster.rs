//! A cluster of containers on a private network: one coordinator with a store, and workers, each of them a container that can
//! be killed, frozen, cut off and started again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use corridor_proto::convert::worker_summary_from_wire;
use corridor_proto::v1;
use corridor_proto::v1::analysis_client::AnalysisClient;
use corridor_shared::job::WorkerSummary;
use corridor_tests::{LONG, eventually};
use testcontainers::bollard::Docker;
use testcontainers::bollard::models::{
    ContainerState, HostConfig, NetworkConnectRequest, NetworkDisconnectRequest,
};
use testcontainers::bollard::query_parameters::{InspectContainerOptions, KillContainerOptions};
use testcontainers::core::client::docker_client_instance;
use testcontainers::core::{CmdWaitFor, ExecCommand};
use testcontainers::runners::AsyncRunner;
use testcontainers::{ContainerAsync, ContainerRequest, GenericImage, ImageExt};
use tonic::transport::Channel;

use crate::image::{Image, finish, unique};

/// Where a coordinator's clients and workers connect, and where probes do.
const GRPC_PORT: u16 = 4242;
const HTTP_PORT: u16 = 8080;

/// The name of the coordinator.
const COORDINATOR: &str = "coordinator";
/// The names of the workers.
pub(crate) const WORKERS: [&str; 3] = ["anna", "berta", "clara"];
/// A worker with one thread and a small table, however large the machine is.
const SMALL: [&str; 4] = ["--threads", "1", "--hash", "16M"];

/// Half a processor, so that a job lasts as long on a large machine as on a small one.
const SLOW: Limits = Limits { memory: None, nano_cpus: Some(500_000_000) };

/// What a container may use; `None` is all there is.
#[derive(Copy, Clone, Default)]
pub(crate) struct Limits {
    /// Bytes, swap included.
    pub(crate) memory: Option<i64>,
    /// Thousand millionths of a processor.
    pub(crate) nano_cpus: Option<i64>,
}

/// One container of a cluster. It is removed when dropped.
pub(crate) struct Node {
    /// Its name in the cluster.
    pub(crate) name: String,
    container: ContainerAsync<GenericImage>,
    docker: Docker,
    network: String,
    /// Where its published ports are.
    host: String,
}

impl Node {
    /// Starts a container; the first of a network makes the network too, and with the last of them it goes.
    async fn start(image: &Image, network: &str, name: &str, arguments: &[&str], limits: Limits) -> Self {
        Self::start_with(image, network, name, arguments, limits, &[]).await
    }

    /// The same with files in it, each a path and a text.
    async fn start_with(
        image: &Image,
        network: &str,
        name: &str,
        arguments: &[&str],
        limits: Limits,
        files: &[(&str, &str)],
    ) -> Self {
        // Nothing connects to a worker or to a client.
        let is_public = name == COORDINATOR;
        let request = image
            .built()
            .with_container_name(format!("{network}-{name}"))
            .with_network(network)
            .with_cmd(arguments.iter().copied())
            .with_host_config_modifier(move |host| limit(host, limits, is_public));
        let with_file = |request: ContainerRequest<GenericImage>, &(path, text): &(&str, &str)| {
            request.with_copy_to(path, text.as_bytes().to_vec())
        };
        let request = files.iter().fold(request, with_file);
        let container = request.start().await.expect("a container");
        let docker = docker_client_instance().await.expect("Docker");
        let host = container.get_host().await.expect("a host").to_string();
        // The ports of the newer protocol are other ones.
        let host = if host == "localhost" { "127.0.0.1".to_owned() } else { host };
        Self { name: name.to_owned(), container, docker, network: network.to_owned(), host }
    }

    /// SIGKILL: nothing is said, nothing is put in order. Returns the exit code.
    pub(crate) async fn kill(&self) -> Option<i64> {
        let options = KillContainerOptions { signal: "SIGKILL".to_owned() };
        self.docker.kill_container(self.container.id(), Some(options)).await.expect("killed");
        self.ended().await
    }

    /// SIGTERM, and SIGKILL for one that takes its time; returns the exit code.
    pub(crate) async fn stop(&self) -> Option<i64> {
        /// More than the program allows itself.
        const PATIENCE_SECONDS: i32 = 20;
        self.container.stop_with_timeout(Some(PATIENCE_SECONDS)).await.expect("stopped");
        self.ended().await
    }

    /// Waits for the end of its process; returns the exit code.
    pub(crate) async fn ended(&self) -> Option<i64> {
        eventually("it ends", async || self.state().await.running == Some(false)).await;
        self.state().await.exit_code
    }

    /// Starts it again, with what it has written before.
    pub(crate) async fn start_again(&self) {
        self.container.start().await.expect("started");
    }

    /// Freezes all its threads.
    pub(crate) async fn pause(&self) {
        self.container.pause().await.expect("paused");
    }

    /// Lets it go on.
    pub(crate) async fn unpause(&self) {
        self.container.unpause().await.expect("unpaused");
    }

    /// Takes its network away: packets vanish, nobody is told.
    pub(crate) async fn disconnect(&self) {
        let request = NetworkDisconnectRequest { container: self.container.id().to_owned(), force: None };
        self.docker.disconnect_network(&self.network, request).await.expect("disconnected");
    }

    /// Gives its network back, with another address perhaps.
    pub(crate) async fn reconnect(&self) {
        let container = self.container.id().to_owned();
        let request = NetworkConnectRequest { container, endpoint_config: None };
        self.docker.connect_network(&self.network, request).await.expect("connected");
    }

    /// What Docker says of it.
    pub(crate) async fn state(&self) -> ContainerState {
        let inspect = self.docker.inspect_container(self.container.id(), None::<InspectContainerOptions>);
        inspect.await.expect("a container").state.expect("a state")
    }

    /// What it has printed so far.
    pub(crate) async fn printed(&self) -> String {
        String::from_utf8(self.container.stdout_to_vec().await.expect("its output")).expect("text")
    }

    /// What it has said so far.
    pub(crate) async fn said(&self) -> String {
        String::from_utf8(self.container.stderr_to_vec().await.expect("its log")).expect("text")
    }

    /// Runs the binary within the container; returns its exit code and what it printed.
    pub(crate) async fn run(&self, arguments: &[&str]) -> (Option<i64>, String) {
        let command = ExecCommand::new([&["/corridor"], arguments].concat());
        let mut ran =
            self.container.exec(command.with_cmd_ready_condition(CmdWaitFor::exit())).await.expect("it runs");
        let printed = [ran.stdout_to_vec().await.expect("text"), ran.stderr_to_vec().await.expect("text")];
        let code = ran.exit_code().await.expect("an exit code");
        (code, String::from_utf8(printed.concat()).expect("text"))
    }

    /// Where others find it.
    pub(crate) fn address(&self) -> Address {
        Address {
            docker: self.docker.clone(),
            container: self.container.id().to_owned(),
            host: self.host.clone(),
        }
    }
}

/// Where a coordinator is found from here.
#[derive(Clone)]
pub(crate) struct Address {
    docker: Docker,
    container: String,
    host: String,
}

impl Address {
    /// A client, as soon as a call succeeds: neither a port that is open nor a line in a log promises that.
    pub(crate) async fn client(&self) -> AnalysisClient<Channel> {
        /// So long a call may hang, at a container that is just ending.
        const CALL_TIME: Duration = Duration::from_secs(5);
        let started = Instant::now();
        loop {
            if let Ok(Some(client)) = tokio::time::timeout(CALL_TIME, self.call()).await {
                return client;
            }
            assert!(started.elapsed() < LONG, "the coordinator does not answer");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn call(&self) -> Option<AnalysisClient<Channel>> {
        let mut client = AnalysisClient::connect(self.url().await?).await.ok()?;
        client.workers(v1::WorkersRequest {}).await.ok()?;
        Some(client)
    }

    /// A container that is started again is found at another port.
    async fn url(&self) -> Option<String> {
        let inspect = self.docker.inspect_container(&self.container, None::<InspectContainerOptions>);
        let ports = inspect.await.ok()?.network_settings?.ports?;
        let bindings = ports.get(&format!("{GRPC_PORT}/tcp"))?.as_ref()?;
        let port = bindings.first()?.host_port.as_ref()?;
        Some(format!("http://{}:{port}", self.host))
    }
}

fn limit(host: &mut HostConfig, limits: Limits, is_public: bool) {
    host.publish_all_ports = Some(is_public);
    host.memory = limits.memory;
    host.memory_swap = limits.memory;
    host.nano_cpus = limits.nano_cpus;
}

/// One coordinator and its workers. All of it is removed when dropped, its network too.
pub(crate) struct Cluster {
    pub(crate) coordinator: Node,
    pub(crate) workers: Vec<Node>,
    network: String,
    // The last to be dropped: an image cannot go before its containers.
    image: Arc<Image>,
}

impl Cluster {
    /// A coordinator that waits 2 s for a silent worker, and three small workers that are registered with it.
    pub(crate) async fn start(image: Arc<Image>) -> Self {
        let mut cluster = Self::without_workers(image).await;
        for name in WORKERS {
            cluster.add_small(name).await;
        }
        cluster.registered(&WORKERS).await;
        cluster
    }

    /// The coordinator alone.
    pub(crate) async fn without_workers(image: Arc<Image>) -> Self {
        let network = format!("corridor-test-{}", unique());
        // Tests kill more workers than a unit may.
        let arguments = "coordinator --listen 0.0.0.0:4242 --http 0.0.0.0:8080 --store /data/corridor.db --lease 2s \
                         --unit-deaths 1000";
        let arguments: Vec<_> = arguments.split(' ').collect();
        let node = Node::start(&image, &network, COORDINATOR, &arguments, Limits::default()).await;
        let cluster = Self { coordinator: node, workers: Vec::new(), network, image };
        cluster.coordinator.address().client().await;
        cluster
    }

    /// Starts a worker, which need not be registered when this returns.
    pub(crate) async fn add(&mut self, name: &str, arguments: &[&str], limits: Limits) {
        let url = self.url();
        let always = ["worker", "--coordinator", &url, "--name", name, "--http", "0.0.0.0:8080"];
        let arguments = [&always[..], arguments].concat();
        self.workers.push(Node::start(&self.image, &self.network, name, &arguments, limits).await);
    }

    /// Starts a worker as the others are.
    pub(crate) async fn add_small(&mut self, name: &str) {
        self.add(name, &SMALL, SLOW).await;
    }

    /// Starts a client, with files in it; `arguments` say what it asks for.
    pub(crate) async fn client(&self, name: &str, arguments: &[&str], files: &[(&str, &str)]) -> Node {
        let url = self.url();
        let arguments = [arguments, &["--coordinator", &url]].concat();
        Node::start_with(&self.image, &self.network, name, &arguments, Limits::default(), files).await
    }

    /// Where the others of the network find the coordinator: Docker's own name server knows it.
    fn url(&self) -> String {
        format!("http://{}-{COORDINATOR}:{GRPC_PORT}", self.network)
    }

    /// Who is registered.
    pub(crate) async fn list(&self) -> Vec<WorkerSummary> {
        let mut client = self.coordinator.address().client().await;
        let answer = client.workers(v1::WorkersRequest {}).await.expect("workers").into_inner();
        answer.workers.into_iter().map(worker_summary_from_wire).collect::<Result<_, _>>().expect("workers")
    }

    /// A worker in short; `None` unless it is registered.
    pub(crate) async fn listed(&self, name: &str) -> Option<WorkerSummary> {
        self.list().await.into_iter().find(|worker| worker.name == name)
    }

    /// Waits until just these are registered.
    pub(crate) async fn registered(&self, names: &[&str]) {
        eventually("they are registered", async || {
            let workers = self.list().await;
            workers.len() == names.len() && workers.iter().all(|worker| names.contains(&worker.name.as_str()))
        })
        .await;
    }

    /// A worker that has units to search, and the names of the others.
    pub(crate) async fn somebody_at_work(&self) -> (&Node, Vec<&str>) {
        let started = Instant::now();
        loop {
            let listed = self.list().await.into_iter().find(|worker| worker.units > 0);
            if let Some(busy) = listed {
                let node = self.workers.iter().find(|node| node.name == busy.name).expect("one of ours");
                return (node, self.all_but(&node.name));
            }
            assert!(started.elapsed() < LONG, "nobody works");
        }
    }

    /// The names of the workers but for one.
    pub(crate) fn all_but(&self, name: &str) -> Vec<&str> {
        self.workers.iter().map(|node| node.name.as_str()).filter(|other| *other != name).collect()
    }

    /// Whether the coordinator is ready, by its own probe within its container.
    pub(crate) async fn probe(&self) -> (Option<i64>, String) {
        self.coordinator.run(&["health", &format!("http://localhost:{HTTP_PORT}/readyz")]).await
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if std::thread::panicking() {
            finish(async {
                for node in std::iter::once(&self.coordinator).chain(&self.workers) {
                    eprintln!("---- {:?}\n{}", node.state().await, node.said().await);
                }
            });
        }
    }
}
