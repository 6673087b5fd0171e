//! A real browser for tests: Debian's Chromium, steered by its WebDriver program. Every crate's tests can take this file in.
//!
//! Each browser has a driver of its own, a profile in a temporary folder, and no network but this machine's. All of it ends with
//! the process that started it, however that ends. Where the programs are missing a test is skipped and says so.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    dead_code,
    unreachable_pub,
    reason = "a test fails by panicking, and each crate uses its share"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

#[path = "outside.rs"]
#[allow(clippy::duplicate_mod, reason = "crates take in this file, postgres.rs, or both")]
pub mod outside;

/// Nothing in a test should take so long.
const LONG: Duration = Duration::from_secs(60);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// How the browser is started. It looks for updates and much else by itself: nothing of that may leave the machine.
const FLAGS: [&str; 12] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    // What is measured is the page, not what the browser saves while nobody sees it.
    "--disable-backgrounding-occluded-windows",
];

/// A page of this size, as what it is shown on.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// Pixels of CSS.
    pub width: u32,
    /// Pixels of CSS.
    pub height: u32,
    /// Touched by fingers.
    pub phone: bool,
    /// Asks pages for dark colours.
    pub dark: bool,
}

impl Screen {
    /// A desk.
    pub const DESKTOP: Self = Self { width: 1440, height: 900, phone: false, dark: false };
    /// A telephone.
    pub const PHONE: Self = Self { width: 390, height: 844, phone: true, dark: false };

    /// The same in the dark.
    pub const fn dark(self) -> Self {
        Self { dark: true, ..self }
    }
}

/// The driver's process. Whoever reads the other end of `alive` ends it, and the browser, when this one closes.
#[derive(Debug)]
struct Driver {
    alive: Option<ChildStdin>,
    keeper: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl Driver {
    /// # Errors
    /// There is no driver or no browser on this machine.
    fn start() -> Result<Self, String> {
        for program in ["chromium", "chromedriver"] {
            which(program).ok_or(format!("no program '{program}' on PATH"))?;
        }
        let folder = tempfile::tempdir().expect("a folder");
        // The browser's processes are the driver's children, in the group of this shell, all of which goes.
        let script = "chromedriver --port=0 2>&1 & read -r _; kill -KILL 0";
        let mut keeper = Command::new("sh")
            .args(["-c", script])
            .process_group(0)
            .env("TMPDIR", folder.path())
            .env("HOME", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let alive = keeper.stdin.take();
        let lines = BufReader::new(keeper.stdout.take().expect("piped")).lines();
        let port = lines.map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once("started successfully on port ")?;
            port.trim_end_matches('.').parse().ok()
        });
        let port = port.ok_or("chromedriver did not start")?;
        Ok(Self { alive, keeper, port, folder })
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.alive.take());
        let _ = self.keeper.wait();
    }
}

/// Where a program is.
fn which(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// A command of the driver that is not in the standard: it is posted to a path below the session's.
#[derive(Debug)]
struct Extension(&'static str, Value);

impl WebDriverCompatibleCommand for Extension {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.0))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.1.to_string()))
    }
}

/// A browser with a page.
#[derive(Debug)]
pub struct Browser {
    client: Client,
    // Ends after the client.
    driver: Driver,
}

/// What Chromium writes about an answer that is an error, whoever asked for it.
const REFUSED: &str = "Failed to load resource";

impl Browser {
    /// A browser with a desktop's page; `None` if there is none, which has then been said.
    pub async fn open() -> Option<Self> {
        Self::open_with(true).await
    }

    /// The same, without a record of all that goes over the wire: hours of events would fill the memory.
    pub async fn open_for_hours() -> Option<Self> {
        Self::open_with(false).await
    }

    async fn open_with(records_the_wire: bool) -> Option<Self> {
        let driver = Driver::start();
        let found = driver.as_ref().map(|_| ()).map_err(Clone::clone);
        if !outside::can_have("chromium", &found) {
            return None;
        }
        let driver = driver.expect("found");
        let profile = format!("--user-data-dir={}", driver.folder.path().join("profile").display());
        let arguments: Vec<&str> = FLAGS.iter().copied().chain([profile.as_str()]).collect();
        let mut logs = json!({"browser": "ALL"});
        if records_the_wire {
            logs["performance"] = "ALL".into();
        }
        let capabilities = json!({"goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": logs});
        let Value::Object(capabilities) = capabilities else { unreachable!("an object") };
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{}", driver.port))
            .await
            .expect("a browser");
        let browser = Self { client, driver };
        browser.show_on(Screen::DESKTOP).await;
        Some(browser)
    }

    /// A command of the browser's own protocol.
    pub async fn devtools(&self, command: &str, parameters: Value) -> Value {
        let body = json!({"cmd": command, "params": parameters});
        self.extension("goog/cdp/execute", body).await
    }

    async fn extension(&self, path: &'static str, body: Value) -> Value {
        self.client.issue_cmd(Extension(path, body)).await.expect("an answer")
    }

    /// Gives the page a screen.
    pub async fn show_on(&self, screen: Screen) {
        let size = json!({"width": screen.width, "height": screen.height,
            "deviceScaleFactor": if screen.phone { 2 } else { 1 }, "mobile": screen.phone});
        self.devtools("Emulation.setDeviceMetricsOverride", size).await;
        self.devtools("Emulation.setTouchEmulationEnabled", json!({"enabled": screen.phone})).await;
        let scheme = if screen.dark { "dark" } else { "light" };
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.devtools("Emulation.setEmulatedMedia", media).await;
    }

    /// Opens an address and waits until the page has loaded.
    pub async fn goto(&self, url: &str) {
        self.client.goto(url).await.expect("a page");
    }

    /// The address that is shown.
    pub async fn address(&self) -> String {
        self.client.current_url().await.expect("an address").to_string()
    }

    /// Loads the page again.
    pub async fn reload(&self) {
        self.client.refresh().await.expect("a page");
    }

    /// Goes one step back in the history.
    pub async fn back(&self) {
        self.client.back().await.expect("a page");
    }

    /// What a function body returns, called in the page with these arguments.
    pub async fn run(&self, body: &str, arguments: &[Value]) -> Value {
        match self.client.execute(body, arguments.to_vec()).await {
            Ok(value) => value,
            Err(error) => panic!("{body}: {error}"),
        }
    }

    /// What a function body hands to its last argument, a function, sooner or later.
    pub async fn run_async(&self, body: &str, arguments: &[Value]) -> Value {
        match self.client.execute_async(body, arguments.to_vec()).await {
            Ok(value) => value,
            Err(error) => panic!("{body}: {error}"),
        }
    }

    /// The value of an expression.
    pub async fn value(&self, expression: &str) -> Value {
        self.run(&format!("return {expression}"), &[]).await
    }

    /// Waits until an expression's value satisfies somebody; returns it.
    pub async fn until(&self, expression: &str, mut is_enough: impl FnMut(&Value) -> bool) -> Value {
        let started = Instant::now();
        loop {
            let value = self.value(expression).await;
            if is_enough(&value) {
                return value;
            }
            if started.elapsed() > LONG {
                let shown = self.value("document.body.innerText").await;
                panic!("never: {expression} is {value}; the page shows {shown}");
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Waits until an expression is true.
    pub async fn until_true(&self, expression: &str) {
        let expression = format!("!!({expression})");
        self.until(&expression, |value| *value == true).await;
    }

    /// Waits until an element has an attribute with this value.
    pub async fn until_attr(&self, selector: &str, name: &str, expected: &str) {
        let expression = format!("document.querySelector({selector:?})?.getAttribute({name:?})");
        self.until(&expression, |value| value == expected).await;
    }

    /// An attribute; `None` if it or the element is not there.
    pub async fn attr(&self, selector: &str, name: &str) -> Option<String> {
        let expression = format!("document.querySelector({selector:?})?.getAttribute({name:?})");
        self.value(&expression).await.as_str().map(str::to_owned)
    }

    /// What a person reads in an element.
    pub async fn text(&self, selector: &str) -> String {
        self.find(selector).await.text().await.expect("a text")
    }

    async fn find(&self, selector: &str) -> fantoccini::elements::Element {
        self.client
            .wait()
            .at_most(LONG)
            .every(LOOK)
            .for_element(Locator::Css(selector))
            .await
            .unwrap_or_else(|error| panic!("{selector}: {error}"))
    }

    /// Clicks on the middle of an element, as a person does: it must be in sight, and on top.
    pub async fn click(&self, selector: &str) {
        let element = self.find(selector).await;
        if let Err(error) = element.click().await {
            panic!("{selector}: {error}");
        }
    }

    /// Replaces what a field holds.
    pub async fn fill(&self, selector: &str, text: &str) {
        let field = self.find(selector).await;
        field.clear().await.expect("a field");
        field.send_keys(text).await.unwrap_or_else(|error| panic!("{selector}: {error}"));
    }

    /// Types keys where the focus is.
    pub async fn keys(&self, keys: &str) {
        self.client.active_element().await.expect("a focus").send_keys(keys).await.expect("typed");
    }

    /// Brings the pointer over the middle of an element.
    pub async fn hover(&self, selector: &str) {
        let body = "const it = document.querySelector(arguments[0]); it.scrollIntoView({block: 'nearest'}); \
                    const box = it.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]";
        let middle = self.run(body, &[selector.into()]).await;
        self.point(middle[0].as_f64().expect("x"), middle[1].as_f64().expect("y")).await;
    }

    /// Brings the pointer to a place of the window.
    pub async fn point(&self, x: f64, y: f64) {
        let event = json!({"type": "mouseMoved", "x": x, "y": y});
        self.devtools("Input.dispatchMouseEvent", event).await;
    }

    /// Opens one more tab, which is in front then; returns the one before.
    pub async fn new_tab(&self) -> fantoccini::wd::WindowHandle {
        let before = self.client.window().await.expect("a tab");
        let tab = self.client.new_window(true).await.expect("a tab");
        self.client.switch_to_window(tab.handle).await.expect("a tab");
        before
    }

    /// Brings a tab to the front; returns the one before.
    pub async fn switch_to(&self, tab: fantoccini::wd::WindowHandle) -> fantoccini::wd::WindowHandle {
        let before = self.client.window().await.expect("a tab");
        self.client.switch_to_window(tab).await.expect("a tab");
        before
    }

    /// What the page and the browser wrote to the console since the last look, but for answers of the server that were errors.
    pub async fn console(&self) -> Vec<String> {
        let entries = self.log("browser").await;
        let messages = entries.iter().map(|entry| entry["message"].as_str().unwrap_or_default().to_owned());
        messages.filter(|message| !message.contains(REFUSED)).collect()
    }

    /// The places outside that were asked for anything since the last look, as scheme, host and port.
    pub async fn asked(&self) -> BTreeSet<String> {
        let requests = self.wire().await.into_iter().filter_map(|event| asked_for(&event));
        let urls = requests.filter_map(|(_, url)| url::Url::parse(&url).ok());
        urls.map(|url| url.origin().ascii_serialization()).collect()
    }

    /// What has arrived in full since the last look: addresses, and bytes over the wire with their headers.
    pub async fn received(&self) -> Vec<(String, u64)> {
        let mut urls = BTreeMap::new();
        let mut received = Vec::new();
        for event in self.wire().await {
            urls.extend(asked_for(&event));
            let parameters = &event["params"];
            if event["method"] == "Network.loadingFinished"
                && let Some(url) = parameters["requestId"].as_str().and_then(|id| urls.get(id))
                && let Some(bytes) = whole(&parameters["encodedDataLength"])
            {
                received.push((url.clone(), bytes));
            }
        }
        received
    }

    /// What the browser told of its network since the last look.
    async fn wire(&self) -> Vec<Value> {
        let entries = self.log("performance").await;
        let parsed = |entry: &Value| -> Option<Value> {
            let mut message: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            Some(message["message"].take())
        };
        entries.iter().filter_map(parsed).collect()
    }

    async fn log(&self, kind: &str) -> Vec<Value> {
        let log = self.extension("se/log", json!({"type": kind})).await;
        log.as_array().cloned().unwrap_or_default()
    }

    /// What the page takes, after everything that nobody holds has been given back.
    pub async fn memory(&self) -> Memory {
        self.devtools("HeapProfiler.enable", json!({})).await;
        self.devtools("HeapProfiler.collectGarbage", json!({})).await;
        let counters = self.devtools("Memory.getDOMCounters", json!({})).await;
        let heap = self.devtools("Runtime.getHeapUsage", json!({})).await;
        Memory {
            heap_bytes: whole(&heap["usedSize"]).expect("a size"),
            nodes: whole(&counters["nodes"]).expect("a count"),
            listeners: whole(&counters["jsEventListeners"]).expect("a count"),
        }
    }

    /// The page as PNG: what fits into the window, or all of it.
    pub async fn screenshot(&self, whole: bool) -> Vec<u8> {
        let picture = self.devtools("Page.captureScreenshot", json!({"captureBeyondViewport": whole})).await;
        STANDARD.decode(picture["data"].as_str().expect("a picture")).expect("base 64")
    }

    /// Writes pictures of the page into a folder: of what fits into the window, and, as `NAME-whole`, of all of it.
    pub async fn picture(&self, folder: &Path, name: &str) {
        std::fs::create_dir_all(folder).expect("a folder");
        for (whole, suffix) in [(false, ""), (true, "-whole")] {
            let picture = self.screenshot(whole).await;
            // Less is an empty page.
            assert!(picture.len() > 10_000, "{name} shows nothing: {} bytes", picture.len());
            std::fs::write(folder.join(format!("{name}{suffix}.png")), picture).expect("a file");
        }
    }

    /// Violations that axe finds on the page: rule and the elements concerned. `None` if axe is not on this machine, which has then been
    /// said.
    pub async fn axe(&self) -> Option<Vec<String>> {
        let source = axe_source();
        let found = source.as_ref().map(|_| ()).map_err(Clone::clone);
        if !outside::can_have("axe", &found) {
            return None;
        }
        let source = source.expect("found");
        self.run(&format!("{source}; window.axe = axe"), &[]).await;
        let body = "const told = arguments[0]; window.axe.run(document, {resultTypes: ['violations']}).then(found => told(\
                    found.violations.map(it => it.id + ': ' + it.nodes.map(node => node.target.join(' ') + ' (' + \
                    (node.failureSummary || '').split('\\n').slice(1, 2).join('').trim() + ')').join('; '))), \
                    error => told(['axe failed: ' + error]))";
        let found = self.run_async(body, &[]).await;
        let violations = found.as_array().expect("a list").iter();
        Some(violations.map(|it| it.as_str().unwrap_or_default().to_owned()).collect())
    }

    /// Ends it.
    pub async fn close(self) {
        let Self { client, driver } = self;
        let _ = client.close().await;
        drop(driver);
    }
}

/// A request's id and its address.
fn asked_for(event: &Value) -> Option<(String, String)> {
    let parameters = &event["params"];
    let is_request = event["method"] == "Network.requestWillBeSent";
    let text = |value: &Value| value.as_str().map(str::to_owned);
    text(&parameters["requestId"]).zip(text(&parameters["request"]["url"])).filter(|_| is_request)
}

/// A number of JavaScript's that means a count.
fn whole(value: &Value) -> Option<u64> {
    value.as_f64().map(|value| format!("{value:.0}")).and_then(|it| it.parse().ok())
}

/// What a page takes.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Of JavaScript, in bytes.
    pub heap_bytes: u64,
    /// Of the document.
    pub nodes: u64,
    /// Functions that wait for events.
    pub listeners: u64,
}

/// The text of axe: `CORRIDOR_AXE` is its file, or Python's package `axe-playwright-python` has it.
fn axe_source() -> Result<String, String> {
    let file = match std::env::var("CORRIDOR_AXE") {
        Ok(file) if !file.is_empty() => file,
        _ => {
            let script = "import importlib.util as u; print(u.find_spec('axe_playwright_python').submodule_search_locations[0])";
            let output =
                Command::new("python3").args(["-c", script]).output().map_err(|error| error.to_string())?;
            if !output.status.success() {
                return Err("neither CORRIDOR_AXE nor Python's axe-playwright-python".to_owned());
            }
            format!("{}/axe.min.js", String::from_utf8_lossy(&output.stdout).trim())
        }
    };
    std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))
}
