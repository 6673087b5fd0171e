//! The live board's interface in front of real searches: every answer is as `openapi.json` describes it.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeSet;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use corridor_proto::convert::notation_to_wire;
use corridor_proto::v1;
use corridor_proto::v1::book_client::BookClient;
use corridor_shared::notation::Notation;
use corridor_tests::{ANY_PORT, file, serve, store, url, worker};
use futures_util::stream;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

/// A description of an interface, and which of its answers were seen.
struct Described {
    document: Value,
    seen: BTreeSet<(String, String, String)>,
}

/// A call: its path in the description, and what is sent.
struct Call<'a> {
    method: &'a str,
    described: &'a str,
    path: &'a str,
    body: Option<Value>,
}

fn get<'a>(described: &'a str, path: &'a str) -> Call<'a> {
    Call { method: "get", described, path, body: None }
}

fn post<'a>(described: &'a str, path: &'a str, body: Value) -> Call<'a> {
    Call { method: "post", described, path, body: Some(body) }
}

impl Described {
    async fn of(page: &Router) -> Self {
        let request = Request::get("/api/v1/openapi.json").body(Body::empty()).expect("a request");
        let answer = page.clone().oneshot(request).await.expect("an answer");
        let text = answer.into_body().collect().await.expect("a body").to_bytes();
        Self { document: serde_json::from_slice(&text).expect("JSON"), seen: BTreeSet::new() }
    }

    fn check(&self, pointer: &str, value: &Value) {
        let described =
            self.document.pointer(&pointer[1..]).unwrap_or_else(|| panic!("{pointer} is not described"));
        let schema = json!({"allOf": [described], "components": self.document["components"]});
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let faults: Vec<String> =
            validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path)).collect();
        assert!(faults.is_empty(), "{pointer}: {faults:?}\n{value}");
    }

    /// Calls, and compares the answer with its description. Returns it; of a stream the first message.
    async fn call(&mut self, page: &Router, call: Call<'_>, status: u16) -> Value {
        let mut request =
            Request::builder().method(&*call.method.to_uppercase()).uri(format!("/api/v1{}", call.path));
        if call.body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let body = call.body.as_ref().map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let answer = page.clone().oneshot(request.body(body).expect("a request")).await.expect("an answer");
        assert_eq!(answer.status(), status, "{}", call.path);
        let escaped = call.described.replace('/', "~1");
        let mut pointer = format!("#/paths/{escaped}/{}/responses/{status}", call.method);
        let said =
            self.document.pointer(&pointer[1..]).unwrap_or_else(|| panic!("{pointer} is not described"));
        if let Some(other) = said["$ref"].as_str() {
            other.clone_into(&mut pointer);
        }
        let kind = answer.headers()[header::CONTENT_TYPE].to_str().expect("text").to_owned();
        let value = if kind == "text/event-stream" {
            message(answer.into_body()).await
        } else {
            whole(answer.into_body()).await
        };
        self.check(&format!("{pointer}/content/{}/schema", kind.replace('/', "~1")), &value);
        self.seen.insert((call.method.to_owned(), call.described.to_owned(), status.to_string()));
        value
    }

    /// The good answers that nobody has asked for.
    fn unseen(&self) -> Vec<(String, String, String)> {
        let mut all = Vec::new();
        for (path, calls) in self.document["paths"].as_object().expect("paths") {
            for (method, call) in calls.as_object().expect("calls") {
                let statuses = call["responses"].as_object().expect("answers").keys();
                let good = statuses.filter(|status| status.starts_with('2'));
                all.extend(good.map(|status| (method.clone(), path.clone(), status.clone())));
            }
        }
        all.retain(|call| !self.seen.contains(call));
        all
    }
}

async fn whole(body: Body) -> Value {
    serde_json::from_slice(&body.collect().await.expect("a body").to_bytes()).expect("JSON")
}

/// The data of the first message of a stream.
async fn message(mut body: Body) -> Value {
    loop {
        let piece = body.frame().await.expect("a message").expect("a frame").into_data().expect("data");
        let text = String::from_utf8(piece.to_vec()).expect("text");
        if let Some(data) = text.lines().find_map(|line| line.strip_prefix("data: ")) {
            return serde_json::from_str(data).expect("JSON");
        }
    }
}

/// Waits until a job has ended.
async fn done(described: &mut Described, page: &Router, job: u64) -> Value {
    loop {
        let path = format!("/jobs/{job}");
        let summary = described.call(page, get("/jobs/{job}", &path), 200).await;
        if summary["state"] == "done" {
            return summary;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn every_answer_is_as_it_is_described() {
    let ground = file();
    let coordinator = serve(ANY_PORT, store(&ground.place).await).await;
    let _worker = worker(&coordinator, "anna").await;
    let page = coordinator.page();
    let described = &mut Described::of(&page).await;
    let object = described.call(&page, get("/openapi.json", "/openapi.json"), 200).await;
    assert_eq!(object["openapi"], "3.1.0");

    let start = described.call(&page, get("/position", "/position?moves=e2+e8+e3h"), 200).await;
    assert_eq!(
        (&start["turn"], &start["ply"], &start["white"]["walls_left"]),
        (&json!("black"), &json!(3), &json!(9))
    );
    described.call(&page, get("/position", "/position?moves=e9"), 400).await;
    described.call(&page, get("/notations", "/notations"), 200).await;
    let code = described.call(&page, get("/convert", "/convert?to=prefix&moves=e2+e8+e3h"), 200).await;
    assert_eq!(code["moves"], "e2 e8 he3");
    described.call(&page, get("/convert", "/convert?to=x"), 400).await;

    let job = described
        .call(&page, post("/jobs", "/jobs", json!({"moves": "e2 e8", "depth": 4, "prune": "audit"})), 201)
        .await;
    let job = job["job"].as_u64().expect("a number");
    let summary = done(described, &page, job).await;
    assert_eq!((&summary["depth"], &summary["reason"]), (&json!(4), &json!("")));
    let path = format!("/jobs/{job}/events");
    let events = described.call(&page, get("/jobs/{job}/events", &path), 200).await;
    let kinds: BTreeSet<&str> =
        events.as_array().expect("events").iter().map(|it| it["event"].as_str().expect("text")).collect();
    assert_eq!(kinds, BTreeSet::from(["accepted", "heat", "state", "move", "iteration", "audit", "done"]));
    described.call(&page, get("/jobs/{job}/events", "/jobs/99/events"), 404).await;
    described.call(&page, get("/jobs", "/jobs?limit=1"), 200).await;
    described.call(&page, post("/jobs", "/jobs", json!({"depth": 0})), 400).await;

    let long = described.call(&page, post("/jobs", "/jobs", json!({"depth": 40, "priority": 3})), 201).await;
    let long = long["job"].as_u64().expect("a number");
    for (order, state) in [("pause", "paused"), ("resume", "running"), ("cancel", "done")] {
        let path = format!("/jobs/{long}/{order}");
        let summary = described.call(&page, post("/jobs/{job}/{order}", &path, json!({})), 200).await;
        assert_eq!(summary["state"], state, "{order}");
    }
    let path = format!("/jobs/{long}/pause");
    described.call(&page, post("/jobs/{job}/{order}", &path, json!({})), 409).await;

    let cluster = described.call(&page, get("/cluster", "/cluster"), 200).await;
    assert_eq!(cluster["workers"][0]["name"], "anna");
    described.call(&page, get("/cluster/events", "/cluster/events"), 200).await;

    described
        .call(&page, post("/books/{book}/analyze", "/books/main/analyze", json!({"depth": 2})), 404)
        .await;
    let mut client = BookClient::connect(url(coordinator.address())).await.expect("a client");
    let part = v1::ImportRequest {
        book: "main".to_owned(),
        notation: notation_to_wire(Notation::Man).into(),
        games: vec!["e2 e8 e3 e7".to_owned()],
        ..v1::ImportRequest::default()
    };
    client.import(stream::iter([part])).await.expect("imported");
    let job = described
        .call(&page, post("/books/{book}/analyze", "/books/main/analyze", json!({"depth": 3})), 201)
        .await;
    done(described, &page, job["job"].as_u64().expect("a number")).await;
    let grow = json!({"positions": 3, "depth": 3, "side": "white"});
    let job = described.call(&page, post("/books/{book}/expand", "/books/main/expand", grow), 201).await;
    let job = job["job"].as_u64().expect("a number");
    let summary = done(described, &page, job).await;
    assert_eq!(summary["book"], json!({"book": "main", "task": "expand", "done": 3, "total": 3}));
    let path = format!("/jobs/{job}/events");
    described.call(&page, get("/jobs/{job}/events", &path), 200).await;
    let books = described.call(&page, get("/books", "/books"), 200).await;
    assert_eq!(books["books"], json!([{"book": "main", "positions": 8, "analysed": 8, "stale": 0}]));
    let node = described.call(&page, get("/books/{book}/node", "/books/main/node?moves=e2"), 200).await;
    assert_eq!((&node["depth"], &node["rows"][0]["move"]), (&json!(3), &json!("e8")));
    let outside = described.call(&page, get("/books/{book}/node", "/books/main/node?moves=a1h"), 200).await;
    assert_eq!(outside, json!({"in_book": false}));
    described.call(&page, get("/books/{book}/node", "/books/other/node"), 404).await;

    assert_eq!(described.unseen(), [], "described, and never asked for");
    coordinator.stop().await;
}

/// A mirror image is the same position, told as it was asked for.
#[tokio::test]
async fn a_book_answers_in_the_orientation_of_the_question() {
    let ground = file();
    let coordinator = serve(ANY_PORT, store(&ground.place).await).await;
    let _worker = worker(&coordinator, "anna").await;
    let page = coordinator.page();
    let described = &mut Described::of(&page).await;
    let mut client = BookClient::connect(url(coordinator.address())).await.expect("a client");
    let part = v1::ImportRequest {
        book: "main".to_owned(),
        notation: notation_to_wire(Notation::Man).into(),
        games: vec!["d1 e8 d2 e7".to_owned()],
        ..v1::ImportRequest::default()
    };
    client.import(stream::iter([part])).await.expect("imported");
    let job = described
        .call(&page, post("/books/{book}/analyze", "/books/main/analyze", json!({"depth": 2})), 201)
        .await;
    done(described, &page, job["job"].as_u64().expect("a number")).await;
    let left = described.call(&page, get("/books/{book}/node", "/books/main/node?moves=d1+e8"), 200).await;
    let right = described.call(&page, get("/books/{book}/node", "/books/main/node?moves=f1+e8"), 200).await;
    assert_eq!((&left["rows"][0]["move"], &right["rows"][0]["move"]), (&json!("d2"), &json!("f2")));
    assert_eq!(left["rows"][0]["score_white"], right["rows"][0]["score_white"]);
    assert_eq!(left["key"], right["key"]);
    assert_ne!(left["position"], right["position"]);
    coordinator.stop().await;
}

/// What is not an asset or a call is said to be missing, and the status of each is what a browser expects.
#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let ground = file();
    let coordinator = serve(ANY_PORT, store(&ground.place).await).await;
    let page = coordinator.page();
    for path in ["/nothing", "/assets/", "/assets/../index.html", "/api/v2/jobs"] {
        let request = Request::get(path).body(Body::empty()).expect("a request");
        let answer = page.clone().oneshot(request).await.expect("an answer");
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
    }
    coordinator.stop().await;
}
