//! A book as `deploy/k8s/batch` has it analysed: imported and handed in by a client that is killed in the middle, and again by
//! the next one, which joins the same job.

use std::sync::Arc;
use std::time::Instant;

use corridor_tests::LONG;
use serde_json::Value;

use crate::cluster::{Cluster, Node};
use crate::image::Image;
use crate::with_docker;

/// Twenty positions and more.
const GAMES: &str = "\
    e2 e8 e3 e7 e4 e6 d3h\n\
    e2 e8 e3 e7 d3h e6h d3\n\
    e2 e8 d3h e7h d2 d8\n\
    e2 e8 e3 d8 e4 d7h\n\
    d1 e8 d2 e7 d3 e6\n";
const FILE: &str = "/data/book.txt";

const IMPORT: [&str; 6] = ["book", "import", FILE, "--notation", "man", "--json"];
/// Takes ten seconds or more, all in all.
const ANALYZE: [&str; 8] =
    ["book", "analyze", "--depth", "7", "--deterministic", "--detach", "--wait", "--json"];

#[test]
fn a_client_that_is_killed_and_comes_again_goes_on_with_the_same_job() {
    with_docker(async |image| {
        let cluster = Batch::start(Arc::clone(&image), &["anna", "berta"]).await;
        let imported = cluster.import("import").await;
        let positions = imported["new_positions"].as_u64().expect("a number");
        assert!(positions > 20, "{imported}");

        let first = cluster.analyze("first").await;
        until(&first, 2).await;
        assert_eq!(first.kill().await, Some(137));
        assert_eq!(job(&first).await, 1);
        cluster.still_runs().await;

        // Another pod: it begins with the import.
        assert_eq!(cluster.import("import-again").await["new_positions"], 0);
        let second = cluster.analyze("second").await;
        until(&second, 4).await;
        assert_eq!(second.stop().await, Some(1), "{}", second.said().await);
        assert!(second.said().await.contains("interrupted: job 1 goes on"), "{}", second.said().await);
        assert_eq!(job(&second).await, 1);
        cluster.still_runs().await;

        let third = cluster.analyze("third").await;
        assert_eq!(third.ended().await, Some(0), "{}", third.said().await);
        assert_eq!(job(&third).await, 1);
        let done = events(&third).await.pop().expect("events");
        assert_eq!(
            (&done["event"], &done["left"], &done["searched"]),
            (&"done".into(), &0.into(), &positions.into())
        );
        // Whoever comes when all is done has nothing to wait for.
        let late = cluster.analyze("late").await;
        assert_eq!(late.ended().await, Some(0), "{}", late.said().await);

        let searched: u64 =
            cluster.jobs().await.iter().map(|job| job["book"]["done"].as_u64().expect("a number")).sum();
        assert_eq!(positions, searched, "nothing is searched twice");
        let exported = cluster.export().await;
        drop(cluster);

        let undisturbed = Batch::start(image, &["clara"]).await;
        undisturbed.import("import").await;
        assert_eq!(undisturbed.analyze("only").await.ended().await, Some(0));
        assert_eq!(exported, undisturbed.export().await);
    });
}

/// A cluster for a book.
struct Batch(Cluster);

impl Batch {
    async fn start(image: Arc<Image>, workers: &[&str]) -> Self {
        let mut cluster = Cluster::without_workers(image).await;
        for name in workers {
            cluster.add_small(name).await;
        }
        cluster.registered(workers).await;
        Self(cluster)
    }

    /// Imports the book; returns what is reported.
    async fn import(&self, name: &str) -> Value {
        let client = self.0.client(name, &IMPORT, &[(FILE, GAMES)]).await;
        assert_eq!(client.ended().await, Some(0), "{}", client.said().await);
        events(&client).await.pop().expect("a report")
    }

    async fn analyze(&self, name: &str) -> Node {
        self.0.client(name, &ANALYZE, &[]).await
    }

    async fn ask(&self, arguments: &[&str]) -> Vec<Value> {
        let arguments = [arguments, &["--coordinator", "http://localhost:4242"]].concat();
        let (code, printed) = self.0.coordinator.run(&arguments).await;
        assert_eq!(code, Some(0), "{printed}");
        printed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    async fn jobs(&self) -> Vec<Value> {
        self.ask(&["jobs", "--json"]).await
    }

    /// What happened has happened in the middle of the only job, or the test has tested nothing.
    async fn still_runs(&self) {
        let jobs = self.jobs().await;
        assert!(jobs.len() == 1 && jobs[0]["state"] == "running", "{jobs:?}");
    }

    /// The whole book but for when it was found.
    async fn export(&self) -> Vec<Value> {
        let mut records = self.ask(&["book", "export"]).await;
        for record in &mut records {
            let analysed_at = record.as_object_mut().expect("an object").remove("analysed_at");
            assert!(analysed_at.is_some_and(|it| it.is_string()), "not analysed: {record}");
        }
        records
    }
}

/// The whole lines that a client has printed.
async fn events(client: &Node) -> Vec<Value> {
    let printed = client.printed().await;
    let lines = printed.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    lines.map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The job that a client waits for.
async fn job(client: &Node) -> u64 {
    let events = events(client).await;
    assert_eq!(events[0]["event"], "accepted", "{}", events[0]);
    events[0]["job"].as_u64().expect("a number")
}

/// Waits until a client has seen so many positions analysed.
async fn until(client: &Node, positions: usize) {
    let started = Instant::now();
    while events(client).await.iter().filter(|event| event["event"] == "position").count() < positions {
        assert!(started.elapsed() < LONG, "{}", client.said().await);
    }
}
