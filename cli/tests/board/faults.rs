//! What the page shows when processes die under it.

use serde_json::Value;

use crate::common::{Server, eventually, finish, hand_in, run, watch};
use crate::proxy::Proxy;
use crate::watching::same_as_programs_read;
use crate::{Board, id};

/// Enough work for the kills to come in the middle of it.
const JOB: [&str; 6] = ["analyze", "--moves", "e2 e8 e3 e7 d3h e6", "--deterministic", "--depth", "11"];

fn address(url: &str) -> String {
    url.trim_end_matches('/').strip_prefix("http://").unwrap().to_owned()
}

fn coordinator(listen: &str, http: &str, store: &str) -> Server {
    Server::start(&[
        "coordinator",
        "--listen",
        listen,
        "--http",
        http,
        "--store",
        store,
        "--unit-deaths",
        "1000",
    ])
}

/// A coordinator with a store, two workers, and a browser.
async fn cluster(store: &str) -> Option<Board> {
    Board::on(|| {
        let mut coordinator = coordinator("127.0.0.1:0", "127.0.0.1:0", store);
        let (cluster, page) = (coordinator.url("listening"), coordinator.url("live board"));
        let mut servers = vec![coordinator];
        for name in ["anna", "berta"] {
            let mut worker = Server::worker(&cluster, &["--threads", "1", "--name", name]);
            worker.line("registered");
            servers.push(worker);
        }
        (servers, cluster, page)
    })
    .await
}

fn kill(server: &mut Server) {
    server.signal("-KILL");
    assert_eq!(server.end().0, None);
}

/// Waits for the end of a job as a program sees it; whoever reads this has all of it.
fn answer(board: &Board, job: &str) -> Vec<Value> {
    let ran = finish(watch(&board.cluster, job), Vec::new());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    crate::common::lines(&ran.stdout)
}

/// What an undisturbed run of the job comes to, but for its time and numbers of events.
fn undisturbed() -> Value {
    let ran = run(&[&JOB[..], &["--json", "--workers", "2", "--hash", "4M"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    crate::common::answer(&crate::common::lines(&ran.stdout))
}

#[tokio::test]
async fn the_page_outlives_a_killed_worker_and_a_killed_coordinator() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("corridor.db").to_str().unwrap().to_owned();
    let Some(mut board) = cluster(&store).await else { return };
    let job = hand_in(&board.cluster, &JOB);
    // It must not end before the page is there.
    assert_eq!(run(&["pause", &job, "--coordinator", &board.cluster]).code, 0);
    board.open(&format!("#job={job}")).await;
    board.until_state("paused").await;
    board.browser.click(&id("pause")).await;
    board.until_state("running").await;
    board.browser.until_true("document.querySelectorAll('.c-body .c-row').length > 20").await;
    for name in ["anna", "berta"] {
        board.browser.until_attr(&id(&format!("worker-{name}")), "data-state", "live").await;
    }

    // A worker: it is gone from the list, and its loss is told.
    kill(&mut board.servers[1]);
    board.browser.until_true(&format!("!document.querySelector(\"{}\")", id("worker-anna"))).await;
    board
        .browser
        .until("document.querySelector('#losses').textContent", |it| it.as_str().unwrap().contains("anna"))
        .await;

    // The coordinator: the page says that what it shows is old, keeps it, and goes on by itself when it is back.
    let rows = "document.querySelectorAll('.c-body .c-row').length";
    let before = board.browser.value(rows).await;
    kill(&mut board.servers[0]);
    board.browser.until_attr("#connection", "data-state", "stale").await;
    board.browser.until_true("!document.querySelector('#banner').hidden").await;
    assert_eq!(board.browser.value(rows).await, before);
    let seen = board.browser.attr("#analysis-panel", "data-last-seq").await.unwrap();
    assert_ne!(seen, "0");
    board.servers[0] = coordinator(&address(&board.cluster), &address(&board.page), &store);
    board.servers[0].line("live board");
    board.browser.until_attr("#connection", "data-state", "live").await;
    board.browser.until_true("document.querySelector('#banner').hidden").await;

    board.until_state("done").await;
    let events = answer(&board, &job);
    crate::common::check_events(&events);
    assert_eq!(crate::common::answer(&events), undisturbed());
    same_as_programs_read(&board, &events).await;
    // Refused connections while nobody was there are no fault of the page; a hole or a repeat would be.
    board.end().await;
}

/// Two stores have a job 1 each: the page does not take the one for the other, and knows its own again.
#[tokio::test]
async fn another_stores_job_of_the_same_number_is_another_job() {
    let folder = tempfile::tempdir().unwrap();
    let [own, other] =
        ["own.db", "other.db"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    {
        let mut coordinator = coordinator("127.0.0.1:0", "127.0.0.1:0", &other);
        hand_in(&coordinator.url("listening"), &["analyze", "--moves", "e2 e8 e3h", "--depth", "3"]);
        kill(&mut coordinator);
    }
    let Some(mut board) = cluster(&own).await else { return };
    let job = hand_in(&board.cluster, &["analyze", "--moves", "e2 e8 e3 e7 d3h e6", "--depth", "4"]);
    board.open(&format!("#job={job}")).await;
    board.until_state("done").await;
    let (position, events) = (board.position().await, board.events(&job));
    let (listen, http) = (address(&board.cluster), address(&board.page));
    kill(&mut board.servers[0]);
    board.servers[0] = coordinator(&listen, &http, &other);
    board.until_state("missing").await;
    board
        .browser
        .until("document.querySelector('#headline').textContent", |it| {
            it.as_str().unwrap().contains("another one")
        })
        .await;
    assert_eq!(board.position().await, position);
    kill(&mut board.servers[0]);
    board.servers[0] = coordinator(&listen, &http, &own);
    board.until_state("done").await;
    same_as_programs_read(&board, &events).await;
    board.end().await;
}

#[tokio::test]
async fn a_coordinator_that_forgot_the_job_is_believed() {
    let Some(mut board) = Board::coordinator().await else { return };
    let job = hand_in(&board.cluster, &JOB);
    board.open(&format!("#job={job}")).await;
    // Nobody works on it.
    board
        .browser
        .until_true("['queued', 'waiting'].includes(document.querySelector('#analysis-panel').dataset.state)")
        .await;
    kill(&mut board.servers[0]);
    board.browser.until_attr("#connection", "data-state", "stale").await;
    let listen = ["coordinator", "--listen", &address(&board.cluster), "--http", &address(&board.page)];
    board.servers[0] = Server::start(&listen);
    board.servers[0].line("live board");
    board.browser.until_attr("#connection", "data-state", "live").await;
    board.until_state("missing").await;
    // And it can be started again at once.
    board.browser.click(&id("start")).await;
    board.until_state("waiting").await;
    assert_eq!(board.job().await, "1", "the numbers begin anew");
    board.end().await;
}

/// What a laptop finds that has slept: nothing comes on its connections, and nobody says that they are dead.
#[tokio::test]
async fn a_laptop_that_sleeps_wakes_up_to_the_current_picture() {
    let mut network = None;
    let Some(board) = Board::on(|| {
        let (server, cluster, page) = crate::serve(&[]);
        let proxy = network.insert(Proxy::start(address(&page).parse().unwrap()));
        (vec![server], cluster, proxy.url())
    })
    .await
    else {
        return;
    };
    let network = network.unwrap();
    board.open("#moves=e2.e8.e3.e7.d3h.e6").await;
    let job = board.start(&[("depth", "40"), ("time", "5")]).await;
    board.browser.until_true("document.querySelectorAll('.c-body .c-row').length > 20").await;
    network.fail();
    eventually("the job ends without the page", || {
        run(&["jobs", "--json", "--coordinator", &board.cluster]).stdout.contains("\"done\"")
    });
    // The page knows nothing of that, and says that it has heard nothing.
    board.browser.until_attr("#connection", "data-state", "stale").await;
    board.until_state("running").await;
    network.heal();
    board.until_state("done").await;
    board.browser.until_attr("#connection", "data-state", "live").await;
    same_as_programs_read(&board, &board.events(&job)).await;
    board.end().await;
}

#[tokio::test]
async fn words_from_outside_are_words() {
    let Some(mut board) = Board::coordinator().await else { return };
    let name = "<b>x</b><img src=x>";
    let mut worker = Server::worker(&board.cluster, &["--threads", "1", "--name", name]);
    worker.line("registered");
    board.servers.push(worker);
    let names =
        "[...document.querySelectorAll('#workers [data-testid^=worker-]')].map(it => it.textContent).join()";
    board.browser.until(names, |it| it.as_str().unwrap().contains(name)).await;
    // What the address says is not believed either, and is quoted as it is.
    board.open("#start=%3Cimg%20src%3Dx%3E").await;
    let said = "document.querySelector('#move-error').textContent";
    board.browser.until(said, |it| it.as_str().unwrap().starts_with("The address: ")).await;
    assert_eq!(board.browser.value("document.querySelectorAll('img[src=x]').length").await, 0);
    // It is of no interest any more when something else is on the board.
    board.browser.fill(&id("move-input"), "e2\n").await;
    board.browser.until(said, |it| it == "").await;
    board.end().await;
}
