//! The house's rules about who knows whom, read from the manifests and the sources themselves.
//!
//! `shared <- proto <- {coordinator, worker} <- cli <- tests`; the engine knows no runtime, file, net or clock; the cluster's
//! state machine knows no runtime, wire, clock or random source; generated types stop at the edges.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use toml::Table;

/// Each member and which of the others it may use.
const ARROWS: [(&str, &[&str]); 6] = [
    ("shared", &[]),
    ("proto", &["shared"]),
    ("coordinator", &["shared", "proto"]),
    ("worker", &["shared", "proto"]),
    ("cli", &["shared", "proto", "coordinator", "worker"]),
    ("tests", &["shared", "proto", "coordinator", "worker", "cli"]),
];

/// What the engine must not reach for, in its library.
const OUTSIDE_OF_THE_ENGINE: [&str; 12] = [
    "tokio",
    "tonic",
    "prost",
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::io",
    "Instant::now",
    "SystemTime",
    "rand::",
    "println!",
];

/// What the cluster's state machine must not reach for.
const OUTSIDE_OF_THE_CLUSTER: [&str; 11] = [
    "tokio",
    "tonic",
    "prost",
    "corridor_proto",
    "Instant",
    "SystemTime",
    "std::thread",
    "std::fs",
    "std::net",
    "rand::",
    "rand_",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// All Rust files below a folder, by their path from the workspace's root.
fn sources(folder: &str) -> BTreeMap<String, String> {
    fn collect(path: &Path, into: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, into);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                into.push(path);
            }
        }
    }
    let mut files = Vec::new();
    collect(&root().join(folder), &mut files);
    assert!(!files.is_empty(), "{folder} has sources");
    let name = |path: &Path| path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
    files.iter().map(|path| (name(path), code_of(&std::fs::read_to_string(path).unwrap()))).collect()
}

/// The text without comments: what a module says about others is no use of them.
fn code_of(source: &str) -> String {
    let without_comment = |line: &str| match line.find("//") {
        // An address in a string is no comment.
        Some(at) if !line[..at].ends_with(':') => line[..at].to_owned(),
        _ => line.to_owned(),
    };
    source.lines().map(without_comment).collect::<Vec<_>>().join("\n")
}

fn manifest(member: &str) -> Table {
    let path = root().join(member).join("Cargo.toml");
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

/// The names of a manifest's dependencies of every kind, those for single targets included.
fn dependencies(manifest: &Table, kinds: &[&str]) -> BTreeSet<String> {
    let targets = manifest.get("target").and_then(|targets| targets.as_table());
    let tables = std::iter::once(manifest).chain(
        targets.into_iter().flat_map(|targets| targets.values().filter_map(|target| target.as_table())),
    );
    let mut names = BTreeSet::new();
    for table in tables {
        for kind in kinds {
            let found = table.get(*kind).and_then(|kind| kind.as_table());
            names.extend(found.into_iter().flat_map(|found| found.keys().cloned()));
        }
    }
    names
}

#[track_caller]
fn nowhere(files: &BTreeMap<String, String>, forbidden: &[&str]) {
    for (file, code) in files {
        for word in forbidden {
            assert!(!code.contains(word), "{file} uses {word}");
        }
    }
}

#[test]
fn every_member_has_its_place() {
    let workspace: Table = std::fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let members: BTreeSet<&str> = workspace["workspace"]["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    assert_eq!(members, ARROWS.iter().map(|(name, _)| *name).collect());
    for member in members {
        let lints = &manifest(member)["lints"];
        assert_eq!(lints["workspace"].as_bool(), Some(true), "{member} obeys the workspace's lints");
    }
}

#[test]
fn crates_depend_along_the_arrows() {
    for (member, allowed) in ARROWS {
        let own =
            dependencies(&manifest(member), &["dependencies", "dev-dependencies", "build-dependencies"]);
        for other in own.iter().filter_map(|name| name.strip_prefix("corridor-")) {
            assert!(allowed.contains(&other), "{member} must not depend on {other}");
        }
    }
}

#[test]
fn coordinator_and_worker_never_meet() {
    // As a path: names of metrics begin with the same words.
    nowhere(&sources("coordinator"), &["corridor_worker::", "corridor_worker as", "corridor_worker;"]);
    nowhere(
        &sources("worker"),
        &["corridor_coordinator::", "corridor_coordinator as", "corridor_coordinator;"],
    );
}

#[test]
fn the_engine_is_pure() {
    nowhere(&sources("shared/src"), &OUTSIDE_OF_THE_ENGINE);
    let own = dependencies(&manifest("shared"), &["dependencies", "build-dependencies"]);
    for name in ["tokio", "tonic", "prost", "rand", "sysinfo", "clap"] {
        assert!(!own.contains(name), "shared depends on {name}");
    }
}

#[test]
fn the_cluster_is_pure() {
    nowhere(&sources("coordinator/src/cluster"), &OUTSIDE_OF_THE_CLUSTER);
}

#[test]
fn generated_types_stop_at_the_edges() {
    let may_know = |file: &str| {
        let edge = |name: &str| file.ends_with(&format!("/{name}.rs"));
        // `server.rs` registers the services, `client.rs` is the other end of one.
        file.starts_with("coordinator/src/service/")
            || [
                "coordinator/src/server.rs",
                "worker/src/session.rs",
                "worker/src/session_tests.rs",
                "worker/src/exchange.rs",
            ]
            .contains(&file)
            || (file.starts_with("cli/src/") && edge("client"))
            || file.starts_with("cli/src/client/")
            // A line of an export is a message's fields, and the server is the one who says what is wrong with them.
            || file.starts_with("cli/src/book/")
            || file.starts_with("cli/src/client/")
    };
    for folder in ["coordinator/src", "worker/src", "cli/src"] {
        for (file, code) in sources(folder) {
            let knows =
                code.contains("corridor_proto::v1") || code.contains("v1::") || code.contains("prost::");
            assert!(!knows || may_know(&file), "{file} knows generated types");
        }
    }
}

#[test]
fn the_check_itself_sees_what_it_should() {
    assert_eq!(code_of("use a; // tokio\nlet u = \"http://b\";"), "use a; \nlet u = \"http://b\";");
    let edges = sources("coordinator/src/service");
    assert!(edges.values().any(|code| code.contains("corridor_proto::v1")));
    let own = dependencies(&manifest("cli"), &["dependencies"]);
    assert!(own.contains("corridor-coordinator") && own.contains("clap"));
}

/// Every named limit stands in the table of ARCHITECTURE.md.
#[test]
fn every_limit_is_in_the_table() {
    let table = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut names = BTreeSet::new();
    for file in ["coordinator/src/limits.rs", "worker/src/limits.rs"] {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        for comment in text.lines().filter_map(|line| line.strip_prefix("///")) {
            let quoted = comment.split("(`").skip(1).filter_map(|rest| rest.split_once("`)"));
            names.extend(quoted.map(|(name, _)| name.to_owned()));
        }
    }
    assert!(names.len() > 20, "the limits name themselves: {names:?}");
    for name in names {
        assert!(table.contains(&format!("`{name}`")), "{name} is not in the table");
    }
}

// ---- what else is in the tree -------------------------------------------------------------------------------------

/// What must not come in through anybody's default features: a second TLS stack beside rustls, a second HTTP client beside
/// hyper, a second database client.
const NEVER: [&str; 14] = [
    "openssl",
    "openssl-sys",
    "native-tls",
    "tokio-native-tls",
    "hyper-tls",
    "schannel",
    "security-framework",
    "aws-lc-sys",
    "reqwest",
    "ureq",
    "curl",
    "isahc",
    "surf",
    "rusqlite",
];

/// Crates by whose name a system's library or one of our own C builds is linked: one copy each, or they cannot be linked.
const LINKS: [&str; 5] = ["libsqlite3-sys", "ring", "zstd-sys", "libz-sys", "protobuf-src"];

/// Every package of the lock file that the binary may be built of, on any platform, as name and version. What tests alone
/// need is not the product's.
fn product() -> BTreeSet<(String, String)> {
    let lock: Table = std::fs::read_to_string(root().join("Cargo.lock")).unwrap().parse().unwrap();
    let packages = lock["package"].as_array().unwrap();
    let text = |package: &toml::Value, key: &str| package[key].as_str().unwrap().to_owned();
    let (mut found, mut left) = (BTreeSet::new(), vec!["corridor-cli".to_owned()]);
    while let Some(wanted) = left.pop() {
        // `name`, or `name version` where there are several.
        let (name, version) =
            wanted.split_once(' ').map_or((&wanted[..], None), |(name, it)| (name, Some(it)));
        let fits = |package: &&toml::Value| {
            text(package, "name") == name && version.is_none_or(|version| text(package, "version") == version)
        };
        let package = packages.iter().find(fits).unwrap();
        if found.insert((text(package, "name"), text(package, "version"))) {
            let needs = package.get("dependencies").and_then(toml::Value::as_array);
            let needs = needs.into_iter().flatten().map(|need| need.as_str().unwrap().to_owned());
            // The lock file has what tests need among a member's other needs.
            let member = name.strip_prefix("corridor-");
            let built_of =
                member.map(|it| dependencies(&manifest(it), &["dependencies", "build-dependencies"]));
            let is_built = |need: &String| {
                let name = need.split(' ').next().unwrap();
                built_of.as_ref().is_none_or(|names| names.contains(name))
            };
            left.extend(needs.filter(is_built));
        }
    }
    found
}

#[test]
fn there_is_one_tls_stack_one_http_client_and_one_copy_of_each_native_library() {
    let locked = product();
    let versions = |wanted: &str| locked.iter().filter(|(name, _)| name == wanted).count();
    assert!(locked.len() > 100 && versions("tonic") == 1, "the lock file is read");
    for name in NEVER {
        assert_eq!(versions(name), 0, "{name} is in the tree");
    }
    // One of each: the runtime, the wire, its transport, and TLS if there is any.
    for name in ["tokio", "hyper", "h2", "http", "prost", "sqlx", "axum", "libsqlite3-sys"] {
        assert_eq!(versions(name), 1, "copies of {name}");
    }
    let natives = locked.iter().filter(|(name, _)| name.ends_with("-sys") || LINKS.contains(&name.as_str()));
    for name in natives.map(|(name, _)| name).chain(std::iter::once(&"rustls".to_owned())) {
        // The bindings to Windows are no libraries, and come in as many versions as crates want.
        if !name.starts_with("windows") {
            assert!(versions(name) <= 1, "{} copies of {name}", versions(name));
        }
    }
}

// ---- the map of faults --------------------------------------------------------------------------------------------

/// The names of all tests in a file: what follows an attribute that ends in `test`, or stands within `proptest!`.
fn tests_in(source: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut marked = false;
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            marked = true;
        } else if let Some((_, rest)) = line.split_once("fn ").filter(|_| marked) {
            names.extend(rest.split(|c: char| !c.is_alphanumeric() && c != '_').next());
            marked = false;
        }
    }
    let within = source.split("proptest! {").skip(1).flat_map(|block| block.split("\n    fn ").skip(1));
    names.extend(within.filter_map(|rest| rest.split('(').next()));
    names
}

/// Every test that docs/faults.md names exists where it says, and every row names one or says why there is none.
#[test]
fn the_map_of_faults_names_tests_that_exist() {
    let map = std::fs::read_to_string(root().join("docs/faults.md")).unwrap();
    let mut named = 0;
    let rows = map.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
    let (mut events, mut lessons) = (0, BTreeSet::new());
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        if cells.iter().any(|cell| ["event", "lesson", "input"].contains(cell)) {
            continue;
        }
        let proof = cells.last().unwrap();
        let mut tests = 0;
        for reference in proof.split('`').skip(1).step_by(2) {
            let Some((file, test)) = reference.split_once("::") else { continue };
            let source = std::fs::read_to_string(root().join(file))
                .unwrap_or_else(|error| panic!("docs/faults.md names {file}: {error}"));
            assert!(tests_in(&source).contains(test), "docs/faults.md names {test}, which is not in {file}");
            tests += 1;
        }
        assert!(tests > 0 || proof.contains("nothing yet"), "no test and no reason: {row}");
        named += tests;
        match cells[0].split('.').next().and_then(|number| number.parse::<u8>().ok()) {
            Some(lesson) => drop(lessons.insert(lesson)),
            None => events += 1,
        }
    }
    assert_eq!(lessons, (1..=20).collect(), "every lesson has its row");
    assert!(events >= 9 && named > 60, "{events} events, {named} tests");
}
