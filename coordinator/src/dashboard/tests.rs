//! The page and its interface, in front of a driver without workers.

use axum::body::Body;
use axum::http::{Request, Response, StatusCode};
use corridor_shared::job::JobId;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::*;
use crate::Config;
use crate::cluster::Question;
use crate::driver;

/// A router with a driver behind it.
struct Site {
    router: Router,
    handle: Handle,
    stop: CancellationToken,
}

impl Site {
    fn new() -> Self {
        let (driver, handle) = driver::new(Config::default());
        let stop = CancellationToken::new();
        tokio::spawn(driver.run(stop.clone()));
        let analysis = AnalysisService::new(handle.clone(), None);
        let books = BookService::new(handle.clone(), None);
        Self { router: router(&handle, analysis, books, stop.clone()), handle, stop }
    }

    async fn send(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.expect("a router always answers")
    }

    async fn get(&self, path: &str) -> Response<Body> {
        self.send(Request::get(path).body(Body::empty()).expect("a request")).await
    }

    async fn post(&self, path: &str, body: &str) -> Response<Body> {
        let request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(Body::from(body.to_owned())).expect("a request")).await
    }

    /// Hands a job in.
    async fn job(&self) -> JobId {
        let answer = self.post("/api/v1/jobs", r#"{"moves":"e2 e8","depth":4}"#).await;
        assert_eq!(answer.status(), StatusCode::CREATED);
        JobId(body(answer).await["job"].as_u64().expect("a number"))
    }

    /// Two events.
    async fn pause_and_resume(&self, job: JobId) {
        for question in [Question::Pause(job), Question::Resume(job)] {
            self.handle.ask(question).await.expect("done");
        }
    }

    async fn events(&self, path: &str, last: Option<u64>) -> Sse {
        let mut request = Request::get(path);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let answer = self.send(request.body(Body::empty()).expect("a request")).await;
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(answer.headers()[header::CONTENT_TYPE], "text/event-stream");
        Sse { body: answer.into_body() }
    }
}

async fn body(answer: Response<Body>) -> Value {
    let bytes = answer.into_body().collect().await.expect("a body").to_bytes();
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{error}: {bytes:?}"))
}

/// What a browser gets.
struct Sse {
    body: Body,
}

impl Sse {
    /// The next piece; `None` at the end.
    async fn piece(&mut self) -> Option<String> {
        let frame = self.body.frame().await?.expect("a frame");
        let bytes = frame.into_data().expect("data");
        Some(String::from_utf8(bytes.to_vec()).expect("text"))
    }

    /// The next message: its number and its events.
    async fn message(&mut self) -> (u64, Vec<Value>) {
        loop {
            let piece = self.piece().await.expect("a message");
            if let Some(rest) = piece.strip_prefix("id: ") {
                let (id, data) = rest.split_once("\ndata: ").expect("data");
                let events: Vec<Value> = serde_json::from_str(data).expect("JSON");
                assert_eq!(
                    events.last().expect("events")["seq"],
                    json!(id.parse::<u64>().expect("a number"))
                );
                return (id.parse().expect("a number"), events);
            }
            assert!(piece.starts_with("retry:") || piece.starts_with(": alive"), "{piece}");
        }
    }
}

fn numbers(events: &[Value]) -> Vec<u64> {
    events.iter().map(|event| event["seq"].as_u64().expect("a number")).collect()
}

#[tokio::test]
async fn what_is_wrong_is_said_with_its_field() {
    let site = Site::new();
    let cases: &[(&str, StatusCode, Option<&str>, &str)] = &[
        ("/api/v1/position?moves=e2+e2", StatusCode::BAD_REQUEST, Some("moves"), "ply 2 (e2): "),
        ("/api/v1/position?position=x", StatusCode::BAD_REQUEST, Some("position"), ""),
        ("/api/v1/position?notation=x", StatusCode::BAD_REQUEST, Some("notation"), "'x' is not a notation"),
        ("/api/v1/position?move=e2", StatusCode::BAD_REQUEST, None, "Failed to deserialize query string: "),
        ("/api/v1/convert?moves=e2&to=x", StatusCode::BAD_REQUEST, Some("to"), "'x' is not a notation"),
        ("/api/v1/jobs/7", StatusCode::NOT_FOUND, None, "there is no job 7"),
        ("/api/v1/jobs/x", StatusCode::BAD_REQUEST, None, "Invalid URL: "),
        ("/api/v1/jobs/7/events", StatusCode::NOT_FOUND, None, "there is no job 7"),
        ("/api/v1/jobs?limit=x", StatusCode::BAD_REQUEST, None, "Failed to deserialize query string: limit"),
        ("/api/v1/jobs?limit=0", StatusCode::BAD_REQUEST, Some("limit"), "must be 1 to "),
        ("/api/v1/books/main/node", StatusCode::CONFLICT, None, "this coordinator keeps no books"),
        ("/api/v1/nothing", StatusCode::NOT_FOUND, None, "there is no such call"),
        ("/assets/x/app.js", StatusCode::NOT_FOUND, None, "there is no file 'app.js'"),
    ];
    for &(path, status, field, message) in cases {
        let answer = site.get(path).await;
        assert_eq!(answer.status(), status, "{path}");
        let error = &body(answer).await["error"];
        assert_eq!(error["field"].as_str(), field, "{path}: {error}");
        assert!(error["message"].as_str().expect("a text").starts_with(message), "{path}: {error}");
    }
    for (text, field) in [
        (r#"{"depth":0}"#, Some("depth")),
        (r#"{"depth":"7"}"#, Some("depth")),
        (r#"{"dept":7}"#, Some("dept")),
        (r#"{"multipv":0}"#, Some("multipv")),
        (r#"{"multipv":1000}"#, Some("multipv")),
        (r#"{"moves":"e2 e8 e9"}"#, Some("moves")),
        ("{", None),
    ] {
        let answer = site.post("/api/v1/jobs", text).await;
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{text}");
        assert_eq!(body(answer).await["error"]["field"].as_str(), field, "{text}");
    }
    let long = format!(r#"{{"moves":"{}"}}"#, " ".repeat(MAX_PAGE_REQUEST_BYTES));
    assert_eq!(site.post("/api/v1/jobs", &long).await.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(site.post("/api/v1/jobs/7/pause", "").await.status(), StatusCode::NOT_FOUND);
    assert_eq!(site.post("/api/v1/jobs/7/sing", "").await.status(), StatusCode::NOT_FOUND);
    assert_eq!(site.post("/api/v1/position", "").await.status(), StatusCode::METHOD_NOT_ALLOWED);
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS"] {
        let request = Request::builder().method(method).uri("/api/v1/jobs").body(Body::empty());
        let answer = site.send(request.expect("a request")).await;
        assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED, "{method}");
    }
    // Nothing of all that is a job.
    assert_eq!(body(site.get("/api/v1/jobs").await).await, json!({"jobs": []}));
}

#[tokio::test]
async fn pages_of_other_sites_change_nothing() {
    let site = Site::new();
    let post = |origin: Option<&str>, kind: Option<&str>| {
        let mut request = Request::post("/api/v1/jobs").header(header::HOST, "board:4243");
        if let Some(origin) = origin {
            request = request.header(header::ORIGIN, origin);
        }
        if let Some(kind) = kind {
            request = request.header(header::CONTENT_TYPE, kind);
        }
        request.body(Body::from("{}")).expect("a request")
    };
    let json = Some("application/json");
    for (origin, kind, status) in [
        (Some("http://elsewhere"), json, StatusCode::FORBIDDEN),
        (Some("null"), json, StatusCode::FORBIDDEN),
        (Some("http://board:4243"), Some("text/plain"), StatusCode::UNSUPPORTED_MEDIA_TYPE),
        (None, None, StatusCode::UNSUPPORTED_MEDIA_TYPE),
        (Some("http://board:4243"), Some("application/json; charset=utf-8"), StatusCode::CREATED),
        (None, json, StatusCode::CREATED),
    ] {
        assert_eq!(site.send(post(origin, kind)).await.status(), status, "{origin:?} {kind:?}");
    }
    // Browsers say by themselves whose page it is.
    for (from, status) in [
        ("cross-site", StatusCode::FORBIDDEN),
        ("same-site", StatusCode::FORBIDDEN),
        ("same-origin", StatusCode::CREATED),
    ] {
        let mut request = post(None, json);
        request.headers_mut().insert("sec-fetch-site", HeaderValue::from_static(from));
        assert_eq!(site.send(request).await.status(), status, "{from}");
    }
    assert_eq!(body(site.get("/api/v1/jobs").await).await["jobs"].as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn the_page_is_strict_and_fetched_once() {
    let site = Site::new();
    let page = site.get("/").await;
    assert_eq!(page.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8");
    assert_eq!(page.headers()[header::CONTENT_SECURITY_POLICY], POLICY);
    let tag = page.headers()[header::ETAG].clone();
    let text = String::from_utf8(page.into_body().collect().await.expect("a body").to_bytes().to_vec());
    let text = text.expect("text");
    // What the policy would not let through.
    for inline in ["<style", " style=", " onclick=", " onload=", "javascript:", "http://", "https://"] {
        assert!(!text.contains(inline) || inline.starts_with("http"), "{inline}");
    }
    let mut weight = 0;
    for file in text.split('"').filter_map(|it| it.strip_prefix("/assets/")).chain([""]) {
        let path = if file.is_empty() { "/".to_owned() } else { format!("/assets/{file}") };
        let request = Request::get(&path).header(header::ACCEPT_ENCODING, "br, gzip;q=0.8");
        let answer = site.send(request.body(Body::empty()).expect("a request")).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        assert_eq!(answer.headers()[header::CONTENT_ENCODING], "gzip");
        let keeping = answer.headers()[header::CACHE_CONTROL].to_str().expect("text");
        assert_eq!(keeping.contains("immutable"), !file.is_empty(), "{path}: {keeping}");
        weight += answer.into_body().collect().await.expect("a body").to_bytes().len();
    }
    assert!(weight > 1_000 && weight < 150_000, "{weight} bytes");
    let request = Request::get("/").header(header::IF_NONE_MATCH, tag);
    let again = site.send(request.body(Body::empty()).expect("a request")).await;
    assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(again.into_body().collect().await.expect("a body").to_bytes().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn events_come_in_order_at_most_ten_times_a_second() {
    let site = Site::new();
    let job = site.job().await;
    let mut sse = site.events(&format!("/api/v1/jobs/{job}/events"), None).await;
    let (mut last, history) = sse.message().await;
    assert_eq!(numbers(&history), (1..=last).collect::<Vec<_>>());
    assert_eq!(history[0]["event"], "accepted");
    let started = tokio::time::Instant::now();
    let mut messages = 0;
    for _ in 0..40 {
        site.pause_and_resume(job).await;
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let until = last + 80;
    while last < until {
        let (id, events) = sse.message().await;
        assert_eq!(numbers(&events), (last + 1..=id).collect::<Vec<_>>(), "no gap, no repeat");
        (last, messages) = (id, messages + 1);
    }
    let most = started.elapsed().as_millis() / 100 + 2;
    assert!((4..=most).contains(&messages), "{messages} messages in {:?}", started.elapsed());
    // Nothing happens: the line says that it lives.
    assert_eq!(sse.piece().await.as_deref(), Some(": alive\n\n"));
    // A browser that comes back has missed nothing.
    site.pause_and_resume(job).await;
    let mut again = site.events(&format!("/api/v1/jobs/{job}/events?after=1"), Some(last - 2)).await;
    assert_eq!(numbers(&again.message().await.1)[..2], [last - 1, last]);
}

#[tokio::test(start_paused = true)]
async fn a_viewer_that_sleeps_misses_nothing() {
    let site = Site::new();
    let job = site.job().await;
    let path = format!("/api/v1/jobs/{job}/events");
    let (mut awake, mut asleep) = (site.events(&path, None).await, site.events(&path, None).await);
    let (first, _) = asleep.message().await;
    let _ = awake.message().await;
    // More messages than wait for anybody.
    let mut last = first;
    for _ in 0..2 * crate::limits::VIEWER_BACKLOG {
        site.pause_and_resume(job).await;
        last = awake.message().await.0;
    }
    let mut seen = first;
    while seen < last {
        let (id, events) = asleep.message().await;
        assert_eq!(numbers(&events), (seen + 1..=id).collect::<Vec<_>>());
        seen = id;
    }
    // The picture is the same without all that has passed.
    let mut picture = site.events(&format!("{path}?picture=true"), None).await;
    let (id, events) = picture.message().await;
    assert!(id >= last && events.iter().filter(|it| it["event"] == "state").count() == 1);
    assert_eq!(events[0]["event"], "accepted");
    assert!(events.iter().any(|it| it["event"] == "heat" && it["move"] == "e3"));
}

#[tokio::test(start_paused = true)]
async fn after_the_last_event_a_line_stays_open_until_the_coordinator_stops() {
    let site = Site::new();
    let job = site.job().await;
    let path = format!("/api/v1/jobs/{job}/events");
    let mut live = site.events(&path, None).await;
    let _ = live.message().await;
    let cancelled = site.post(&format!("/api/v1/jobs/{job}/cancel"), "{}").await;
    assert_eq!(body(cancelled).await["reason"], "cancelled");
    let (last, events) = live.message().await;
    assert_eq!(events.last().expect("events")["event"], "done");
    let mut late = site.events(&path, None).await;
    assert_eq!(late.message().await.0, last);
    for sse in [&mut live, &mut late] {
        assert_eq!(sse.piece().await.as_deref(), Some(": alive\n\n"));
    }
    // A number that this job does not have is another job's.
    let beyond = site.get(&format!("{path}?after={}", last + 1)).await;
    assert_eq!(beyond.status(), StatusCode::BAD_REQUEST);
    site.stop.cancel();
    for mut sse in [live, late] {
        assert_eq!(sse.piece().await, None);
    }
}

/// A job that ends when nobody watches it does so when the browser has gone, also while it is busy.
#[tokio::test(start_paused = true)]
async fn a_browser_that_has_gone_watches_nothing() {
    let site = Site::new();
    let answer = site.post("/api/v1/jobs", r#"{"depth":4,"detach":false}"#).await;
    let job = JobId(body(answer).await["job"].as_u64().expect("a number"));
    let mut sse = site.events(&format!("/api/v1/jobs/{job}/events"), None).await;
    let _ = sse.message().await;
    drop(sse);
    let until = tokio::time::Instant::now() + 3 * crate::limits::UNWATCHED_TIME;
    while tokio::time::Instant::now() < until {
        // Refused once it has ended.
        for question in [Question::Pause(job), Question::Resume(job)] {
            let _ = site.handle.ask(question).await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
    let summary = body(site.get(&format!("/api/v1/jobs/{job}")).await).await;
    assert_eq!((&summary["state"], &summary["reason"]), (&json!("done"), &json!("cancelled")));
}

#[tokio::test(start_paused = true)]
async fn the_cluster_is_looked_at_once_a_second_for_everybody() {
    let site = Site::new();
    let job = site.job().await;
    let mut viewers = Vec::new();
    for _ in 0..3 {
        viewers.push(site.events("/api/v1/cluster/events", None).await);
    }
    let picture = |piece: Option<String>| -> (u64, Value) {
        let piece = piece.expect("a picture");
        let (id, data) = piece.split_once("\nretry: 1000\ndata: ").expect("data");
        (
            id.strip_prefix("id: ").expect("a number").parse().expect("a number"),
            serde_json::from_str(data).expect("JSON"),
        )
    };
    let started = tokio::time::Instant::now();
    let (mut ids, mut instances) = (Vec::new(), std::collections::BTreeSet::new());
    for _ in 0..5 {
        let mut now = std::collections::BTreeSet::new();
        for viewer in &mut viewers {
            let (id, value) = picture(viewer.piece().await);
            assert_eq!(value["jobs"][0]["job"], json!(job.0));
            instances.insert(value["instance"].as_str().expect("a text").to_owned());
            now.insert(id);
        }
        ids.extend(now);
    }
    assert!(started.elapsed() >= std::time::Duration::from_secs(4));
    assert_eq!((ids.len(), instances.len()), (5, 1), "{ids:?}");
    let one = body(site.get("/api/v1/cluster").await).await;
    assert_eq!(one["workers"], json!([]));
}
