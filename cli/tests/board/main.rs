//! The live board as people use it: a real browser on real processes. `coordinator/src/dashboard/HOOKS.md` says what of the page can be
//! held on to.
//!
//! Pictures of every view are written to `CORRIDOR_PICTURES`, or into cargo's target folder.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

#[path = "../../../tests/src/browser.rs"]
mod browser;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/proxy.rs"]
mod proxy;

mod books;
mod faults;
mod looks;
mod play;
mod watching;

use std::collections::BTreeSet;

use browser::Browser;
use common::{Server, lines, watch};
use serde_json::Value;
use tokio::sync::{Mutex, MutexGuard};

/// One browser at a time: it takes all that a small machine has.
static TURN: Mutex<()> = Mutex::const_new(());

/// A cluster of one process and a browser on its page.
pub(crate) struct Board {
    pub(crate) browser: Browser,
    /// Where programs find the cluster.
    pub(crate) cluster: String,
    /// Where the page is, with a slash at the end.
    pub(crate) page: String,
    pub(crate) servers: Vec<Server>,
    _turn: MutexGuard<'static, ()>,
}

/// What is in the page's own words: an element by its test id.
pub(crate) fn id(test_id: &str) -> String {
    format!("[data-testid='{test_id}']")
}

/// `corridor serve` with one small worker: where programs find it, and where its page is.
pub(crate) fn serve(arguments: &[&str]) -> (Server, String, String) {
    let serve =
        ["serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--workers", "1", "--hash", "4M"];
    let mut server = Server::start(&[&serve[..], arguments].concat());
    let (cluster, page) = (server.url("listening"), server.url("live board"));
    (server, cluster, page)
}

impl Board {
    /// `corridor serve` with one small worker, and a browser that shows the page; `None` if there is no browser here.
    pub(crate) async fn serve(arguments: &[&str]) -> Option<Self> {
        Self::on(|| {
            let (server, cluster, page) = serve(arguments);
            (vec![server], cluster, page)
        })
        .await
    }

    /// A coordinator without workers, and a browser on its page.
    pub(crate) async fn coordinator() -> Option<Self> {
        Self::on(|| {
            let mut coordinator = Server::coordinator(&[]);
            let (cluster, page) = (coordinator.url("listening"), coordinator.url("live board"));
            (vec![coordinator], cluster, page)
        })
        .await
    }

    /// A browser on servers that somebody starts: they, the cluster's address and the page's.
    pub(crate) async fn on(start: impl FnOnce() -> (Vec<Server>, String, String)) -> Option<Self> {
        let turn = TURN.lock().await;
        let browser = Browser::open().await?;
        let (servers, cluster, page) = start();
        let page = format!("{}/", page.trim_end_matches('/'));
        let board = Self { browser, cluster, page, servers, _turn: turn };
        board.open("").await;
        Some(board)
    }

    /// Opens the page anew, at an address's fragment, and waits for the first useful picture.
    pub(crate) async fn open(&self, fragment: &str) {
        self.browser.goto("about:blank").await;
        self.browser.goto(&format!("{}{fragment}", self.page)).await;
        self.browser.until_true("document.querySelector('#board-svg')?.dataset.position").await;
    }

    /// The position that the board shows.
    pub(crate) async fn position(&self) -> String {
        self.browser.attr("#board-svg", "data-position").await.unwrap()
    }

    /// Waits until the board shows a position.
    pub(crate) async fn until_position(&self, position: &str) {
        self.browser.until_attr("#board-svg", "data-position", position).await;
    }

    /// Waits until the shown job is in a state.
    pub(crate) async fn until_state(&self, state: &str) {
        self.browser.until_attr("#analysis-panel", "data-state", state).await;
    }

    /// The shown job's number.
    pub(crate) async fn job(&self) -> String {
        self.browser.attr("#analysis-panel", "data-job").await.unwrap()
    }

    /// Starts an analysis with these fields and waits until it is shown.
    pub(crate) async fn start(&self, fields: &[(&str, &str)]) -> String {
        let before = self.browser.attr("#analysis-panel", "data-job").await;
        for (field, text) in fields {
            self.browser.fill(&id(field), text).await;
        }
        self.browser.click(&id("start")).await;
        let expression = "document.querySelector('#analysis-panel').dataset.job";
        self.browser.until(expression, |job| job.is_string() && job.as_str() != before.as_deref()).await;
        self.job().await
    }

    /// All events of a job that is over, as programs read them.
    pub(crate) fn events(&self, job: &str) -> Vec<Value> {
        let output = watch(&self.cluster, job).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        lines(&String::from_utf8(output.stdout).unwrap())
    }

    /// Nothing went wrong that a person would not see: no words on the console, no place asked but the page's own, no event
    /// missed or counted twice.
    pub(crate) async fn end(self) {
        self.check().await;
        self.browser.close().await;
    }

    /// The same, and the browser stays.
    pub(crate) async fn check(&self) {
        assert_eq!(self.browser.console().await, Vec::<String>::new());
        let mut asked = self.browser.asked().await;
        // What the browser shows before anything is opened.
        asked.retain(|place| place != "null");
        let own = self.page.trim_end_matches('/').to_owned();
        assert_eq!(asked, BTreeSet::from([own]));
        for count in ["data-gaps", "data-repeats"] {
            let value = self.browser.attr("#analysis-panel", count).await;
            assert!(value.is_none() || value.as_deref() == Some("0"), "{count}: {value:?}");
        }
    }
}

/// The table of candidates as it stands: a row a move, each with the words of its cells.
pub(crate) async fn table(browser: &Browser) -> Vec<Vec<String>> {
    let rows = browser
        .value("[...document.querySelectorAll('.c-body .c-row')].map(row => [...row.children].map(it => it.textContent))")
        .await;
    serde_json::from_value(rows).unwrap()
}
