//! The page in a real browser: what it weighs, how soon it shows something, how soon an event is seen, and what it costs to show.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, UNIX_EPOCH};

use corridor_proto::v1;
use corridor_tests::browser::Browser;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::{Cluster, ROOT_MOVES, Spread, print, watchers};

/// Openings of each kind.
const OPENINGS: usize = 11;
/// How long a steady state is measured.
const STEADY: Duration = Duration::from_secs(15);
/// A page that has just been opened is left alone for so long.
const SETTLE: Duration = Duration::from_secs(3);

/// Notes in the page what is there to see, and when: after the frame with it has been handed over, which is a frame later than
/// the page has drawn it. `POSITION` is the job's.
const WATCH: &str = r"(() => {
  const seen = window.seen = { picture: null, table: null, marks: [] };
  const afterFrame = (then) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => then(performance.now());
    port2.postMessage(0);
  });
  const shown = () => document.getElementById('board-svg')?.dataset.position;
  const watchNumbers = () => {
    const panel = document.getElementById('analysis-panel');
    new MutationObserver(() => {
      const seq = Number(panel.dataset.lastSeq ?? 0);
      afterFrame((at) => seen.marks.push([seq, performance.timeOrigin + at]));
    }).observe(panel, { attributes: true, attributeFilter: ['data-last-seq'] });
  };
  let [picture, table] = [false, false];
  const look = () => {
    if (!picture && shown()) {
      picture = true;
      afterFrame((at) => { seen.picture = at; });
    }
    if (shown() !== 'POSITION' || document.querySelector('.c-body')?.childElementCount !== ROWS) return;
    table = true;
    afterFrame((at) => { seen.table = at; });
    observer.disconnect();
    watchNumbers();
  };
  const observer = new MutationObserver(look);
  observer.observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ['data-position'] });
})()";

/// A browser whose pages are watched; `None` if there is none.
async fn watched() -> Option<Browser> {
    let browser = Browser::open_for_hours().await?;
    let position = corridor_tests::moves(super::POSITION).to_string();
    let source = WATCH.replace("POSITION", &position).replace("ROWS", &ROOT_MOVES.to_string());
    browser.devtools("Page.enable", json!({})).await;
    browser.devtools("Page.addScriptToEvaluateOnNewDocument", json!({"source": source})).await;
    Some(browser)
}

impl Cluster {
    fn address(&self, fragment: &str) -> String {
        format!("http://{}/{fragment}", self.process.page())
    }

    /// Opens the page of a job and waits for its table.
    async fn show(&self, browser: &Browser, job: u64) {
        browser.goto("about:blank").await;
        browser.goto(&self.address(&format!("#job={job}"))).await;
        browser.until_true("seen.table").await;
        tokio::time::sleep(SETTLE).await;
    }
}

/// Bytes of a first opening, and requests of it and of the next.
pub(crate) async fn weight() {
    let Some(browser) = Browser::open().await else { return };
    let cluster = Cluster::start().await;
    browser.devtools("Network.clearBrowserCache", json!({})).await;
    let open = async || {
        browser.received().await;
        browser.goto("about:blank").await;
        browser.goto(&cluster.address("")).await;
        browser.until_true("document.querySelector('#board-svg')?.dataset.position").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let received = browser.received().await;
        // What was cached comes from nowhere.
        received.into_iter().filter(|(url, bytes)| url.starts_with("http") && *bytes > 0).collect::<Vec<_>>()
    };
    let first = open().await;
    let again = open().await;
    let is_answer = |url: &str| url.contains("/api/");
    let sum = |received: &[(String, u64)]| received.iter().map(|(_, bytes)| bytes).sum::<u64>() as f64 / 1e3;
    let page: Vec<_> = first.iter().filter(|(url, _)| !is_answer(url)).cloned().collect();
    let all = sum(&first);
    print(
        "weight of the page with its answers, over the wire",
        &format!("{all:.1} KB"),
        "150 KB",
        all <= 150.0,
    );
    println!("    without them {:.1} KB in {} requests", sum(&page), page.len());
    println!("    the next opening: {:.1} KB in {} requests", sum(&again), again.len());
    browser.close().await;
    cluster.stop().await;
}

/// The first useful picture.
pub(crate) async fn open() {
    let Some(browser) = watched().await else { return };
    let mut cluster = Cluster::start().await;
    let job = cluster.job().await;
    let of_job = format!("#job={job}");
    for (what, fragment, is_job, cold) in [
        ("first useful picture, nothing cached", "", false, true),
        ("the same, opened before", "", false, false),
        ("a running job's position, nothing cached", of_job.as_str(), true, true),
        ("the same, opened before", of_job.as_str(), true, false),
    ] {
        let (mut pictures, mut tables) = (Vec::new(), Vec::new());
        for _ in 0..OPENINGS {
            browser.goto("about:blank").await;
            if cold {
                browser.devtools("Network.clearBrowserCache", json!({})).await;
            }
            browser.goto(&cluster.address(fragment)).await;
            if is_job {
                tables.extend(browser.until("seen.table", Value::is_number).await.as_f64());
            }
            pictures.extend(browser.until("seen.picture", Value::is_number).await.as_f64());
        }
        let pictures = Spread::of(pictures);
        print(what, &pictures.to_string(), "300 ms", pictures.at(50) <= 300.0);
        if is_job {
            println!("    with its {ROOT_MOVES} moves: {}", Spread::of(tables));
        }
    }
    browser.close().await;
    cluster.stop().await;
}

/// When events came to this program, by number, in ms since 1970.
type Arrivals = Arc<Mutex<BTreeMap<u64, f64>>>;

#[expect(clippy::disallowed_methods, reason = "a page's clock can be compared with the wall's only")]
fn wall_ms() -> f64 {
    std::time::SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs_f64() * 1e3
}

/// Watches a job beside the page.
async fn arrivals(url: &str, job: u64) -> (Arrivals, JoinHandle<()>) {
    let mut client = watchers::client(url).await;
    let events = client.watch(v1::WatchRequest { job, after_seq: 0 }).await.expect("events");
    let mut events = events.into_inner();
    let arrivals = Arrivals::default();
    let noted = Arc::clone(&arrivals);
    let task = tokio::spawn(async move {
        while let Ok(Some(message)) = events.message().await {
            let (at, seq) = (wall_ms(), message.event.expect("an event").seq);
            noted.lock().expect("nobody panics").insert(seq, at);
        }
    });
    (arrivals, task)
}

/// From an event's arrival at a watcher to the end of the frame that shows it.
pub(crate) async fn pixels() {
    let Some(browser) = watched().await else { return };
    let mut cluster = Cluster::start().await;
    let job = cluster.job().await;
    let (arrivals, watcher) = arrivals(&cluster.process.url(), job).await;
    cluster.show(&browser, job).await;
    browser.run("seen.marks.length = 0", &[]).await;
    tokio::time::sleep(STEADY).await;
    let marks: Vec<(u64, f64)> = serde_json::from_value(browser.value("seen.marks").await).expect("marks");
    let first = marks.first().expect("the page has shown something").0;
    let last = marks.last().expect("as above").0;
    let latency = |(&seq, &at): (&u64, &f64)| {
        let shown = marks.iter().find(|(mark, _)| *mark >= seq).expect("not beyond the last");
        shown.1 - at
    };
    let latencies: Vec<f64> =
        arrivals.lock().expect("nobody panics").range(first + 1..=last).map(latency).collect();
    let rate = latencies.len() as f64 / STEADY.as_secs_f64();
    let latencies = Spread::of(latencies);
    let p99 = latencies.at(99);
    print("an event to the pixels that show it", &latencies.to_string(), "150 ms", p99 <= 150.0);
    println!("    {rate:.1} events/s in {:.1} pictures/s", marks.len() as f64 / STEADY.as_secs_f64());
    assert_right(&browser).await;
    watcher.abort();
    browser.close().await;
    cluster.stop().await;
}

/// The page has seen every event once.
async fn assert_right(browser: &Browser) {
    for count in ["data-gaps", "data-repeats"] {
        assert_eq!(browser.attr("#analysis-panel", count).await.as_deref(), Some("0"), "{count}");
    }
}

/// What the main thread of the page was busy with, in ms a second.
#[derive(Clone, Copy)]
struct Busy {
    all: f64,
    script: f64,
    style: f64,
    layout: f64,
}

impl std::fmt::Display for Busy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { all, script, style, layout } = *self;
        let rest = all - script - style - layout;
        write!(f, "{all:.1}: script {script:.1}, style {style:.1}, layout {layout:.1}, the rest {rest:.1}")
    }
}

/// The same for a while. `clock` is the time that passes, or what a processor works (`timeTicks`, `threadTicks`).
async fn busy(browser: &Browser, clock: &str) -> Busy {
    browser.devtools("Performance.disable", json!({})).await;
    browser.devtools("Performance.enable", json!({"timeDomain": clock})).await;
    let read = async || {
        let metrics = browser.devtools("Performance.getMetrics", json!({})).await;
        let metrics = metrics["metrics"].as_array().expect("a list");
        ["TaskDuration", "ScriptDuration", "RecalcStyleDuration", "LayoutDuration"].map(|name| {
            let metric = metrics.iter().find(|metric| metric["name"] == name);
            metric.and_then(|metric| metric["value"].as_f64()).expect("a figure") * 1e3
        })
    };
    let (before, started) = (read().await, Instant::now());
    tokio::time::sleep(STEADY).await;
    let (after, seconds) = (read().await, started.elapsed().as_secs_f64());
    let [all, script, style, layout] = std::array::from_fn(|it| (after[it] - before[it]) / seconds);
    Busy { all, script, style, layout }
}

/// The page's main thread while a job with all its moves tells of fifty events a second.
pub(crate) async fn thread() {
    let Some(browser) = watched().await else { return };
    let mut cluster = Cluster::start().await;
    let job = cluster.job().await;
    cluster.show(&browser, job).await;
    for (what, inside) in [("main thread at 50 events/s", false), ("the same, pointer in the table", true)] {
        if inside {
            browser.hover(".c-body .c-row:nth-child(3)").await;
        } else {
            browser.point(2.0, 2.0).await;
        }
        let before = browser.value("Number(document.querySelector('#analysis-panel').dataset.lastSeq)").await;
        let passes = busy(&browser, "timeTicks").await;
        let after = browser.value("Number(document.querySelector('#analysis-panel').dataset.lastSeq)").await;
        let works = busy(&browser, "threadTicks").await;
        print(what, &format!("{:.1} ms/s", passes.all), "100 ms/s", passes.all <= 100.0);
        let events = after.as_f64().expect("a number") - before.as_f64().expect("a number");
        println!("    {:.1} events/s; time that passed {passes}", events / STEADY.as_secs_f64());
        println!("    processor time {works}");
    }
    assert_right(&browser).await;
    cluster.client.pause(v1::PauseRequest { job }).await.expect("paused");
    tokio::time::sleep(SETTLE).await;
    println!("    the same page while nothing happens: {}", busy(&browser, "timeTicks").await);
    browser.close().await;
    cluster.stop().await;
}
