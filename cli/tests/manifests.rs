//! The manifests in `deploy/k8s`: every kustomization builds, is valid, and asks for what there is: flags that the binary has,
//! ports that somebody listens at, labels that somebody has, files that are mounted.
//!
//! Needs `kubectl` and `kubernetes-validate` (PyPI).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

mod common;
#[path = "../../tests/src/outside.rs"]
pub mod outside;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use common::{Ran, finish, json, run};
use serde_json::{Value, json};

/// The user of the image.
const USER: u64 = 65_532;
/// After so many seconds a server is gone, whatever hangs (`EXIT_TIME` in `cli/src/signals.rs`).
const EXIT_SECONDS: u64 = 15;
/// Bad usage or bad input.
const BAD_INPUT: u64 = 2;
/// Claims that whoever deploys brings along.
const YOURS: [&str; 1] = ["corridor-book"];

/// Runs a test with all that is rendered, or says that it is skipped.
fn with_manifests(test: impl FnOnce(&[Rendered])) {
    static ALL: LazyLock<Vec<Rendered>> =
        LazyLock::new(|| kustomizations().iter().map(|folder| Rendered::of(folder)).collect());
    if outside::can_have("kubernetes", &tools()) {
        assert!(ALL.len() >= 5, "a cluster and four batches");
        test(&ALL);
    }
}

fn tools() -> Result<(), String> {
    let answers = |program: &str, arguments: &[&str]| match Command::new(program).args(arguments).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(format!("{program}: {error}")),
    };
    answers("kubectl", &["version", "--client"])?;
    answers("kubernetes-validate", &["--version"])
}

fn deployed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("deploy/k8s")
}

/// The folders of all kustomizations. Components are built by those that use them.
fn kustomizations() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![deployed()];
    while let Some(folder) = open.pop() {
        let file = folder.join("kustomization.yaml");
        if file.exists() && !fs::read_to_string(file).unwrap().contains("kind: Component") {
            found.push(folder.clone());
        }
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        open.extend(entries.filter(|path| path.is_dir()));
    }
    found.sort();
    found
}

/// Runs a program with something on its standard input; it must end well.
#[track_caller]
fn ok(program: &str, arguments: &[&str], input: &str) -> String {
    let mut command = Command::new(program);
    command.args(arguments);
    let ran = finish(command, input.as_bytes().to_vec());
    assert_eq!(ran.code, 0, "{program} {arguments:?}: {}{}", ran.stdout, ran.stderr);
    ran.stdout
}

/// What a kustomization comes to.
struct Rendered {
    folder: PathBuf,
    yaml: String,
    objects: Vec<Value>,
}

impl Rendered {
    fn of(folder: &Path) -> Self {
        let yaml = ok("kubectl", &["kustomize", folder.to_str().unwrap()], "");
        // A patch that changes nothing, which writes JSON and needs no server.
        let patch = ["patch", "--local", "-f", "-", "--type", "merge", "-p", "{}", "-o", "json"];
        let json = ok("kubectl", &patch, &yaml);
        let objects =
            serde_json::Deserializer::from_str(&json).into_iter().collect::<Result<_, _>>().unwrap();
        Self { folder: folder.to_owned(), yaml, objects }
    }

    fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.objects.iter().filter(move |object| object["kind"] == kind)
    }

    fn pods(&self) -> impl Iterator<Item = Pod<'_>> {
        self.objects.iter().filter_map(Pod::of)
    }
}

/// A template of pods, and whose it is.
struct Pod<'a> {
    owner: &'a Value,
    /// The job's, if it is one's.
    job: Option<&'a Value>,
    labels: &'a Value,
    spec: &'a Value,
}

impl<'a> Pod<'a> {
    fn of(owner: &'a Value) -> Option<Self> {
        let (template, job) = match owner["kind"].as_str().unwrap() {
            "StatefulSet" | "Deployment" => (&owner["spec"]["template"], None),
            "Job" => (&owner["spec"]["template"], Some(&owner["spec"])),
            "CronJob" => {
                let job = &owner["spec"]["jobTemplate"]["spec"];
                (&job["template"], Some(job))
            }
            _ => return None,
        };
        Some(Self { owner, job, labels: &template["metadata"]["labels"], spec: &template["spec"] })
    }

    fn name(&self) -> String {
        format!("{} {}", text(&self.owner["kind"]), text(&self.owner["metadata"]["name"]))
    }

    /// All containers, those that come first before the others.
    fn containers(&self) -> impl Iterator<Item = &'a Value> {
        ["initContainers", "containers"].into_iter().flat_map(|field| list(&self.spec[field]))
    }

    fn container(&self, name: &str) -> &'a Value {
        self.containers().find(|container| container["name"] == name).unwrap()
    }

    /// How many indexed pods there are.
    fn completions(&self) -> Option<u64> {
        self.job
            .filter(|job| job["completionMode"] == "Indexed")
            .map(|job| job["completions"].as_u64().unwrap())
    }

    /// The arguments of a container in the pod of an index.
    fn arguments(&self, container: &'a Value, index: u64) -> Vec<String> {
        let known = |argument: &str| match self.completions() {
            Some(_) => argument.replace("$(JOB_COMPLETION_INDEX)", &index.to_string()),
            None => argument.to_owned(),
        };
        let arguments: Vec<String> = list(&container["args"]).iter().map(|it| known(text(it))).collect();
        assert!(!arguments.iter().any(|it| it.contains("$(")), "{}: {arguments:?}", self.name());
        arguments
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

/// A list, or none.
fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn named<'a>(values: &'a Value, name: &Value) -> Option<&'a Value> {
    list(values).iter().find(|value| value["name"] == *name)
}

/// What stands behind a flag.
fn value_of<'a>(arguments: &'a [String], flag: &str) -> Option<&'a str> {
    let at = arguments.iter().position(|argument| argument == flag)?;
    Some(&arguments[at + 1])
}

fn port(address: &str) -> u64 {
    address.rsplit_once(':').unwrap().1.parse().unwrap()
}

/// The two newest versions that the validator knows.
fn newest_versions() -> [String; 2] {
    let help = ok("kubernetes-validate", &["--help"], "").split_whitespace().collect::<Vec<_>>().join(" ");
    let newest = help.split_once("Defaults to ").unwrap().1;
    let mut parts = newest.split('.').map(|part| part.parse::<u32>().unwrap_or_default());
    let (major, minor) = (parts.next().unwrap(), parts.next().unwrap());
    assert!(minor > 1, "{newest}");
    [minor, minor - 1].map(|minor| format!("{major}.{minor}"))
}

fn validate(yaml: &str, version: &str) -> Ran {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), yaml).unwrap();
    let mut command = Command::new("kubernetes-validate");
    command.args(["--strict", "--kubernetes-version", version]).arg(file.path());
    finish(command, Vec::new())
}

#[test]
fn manifests_are_valid_for_the_two_newest_versions() {
    with_manifests(|all| {
        for version in newest_versions() {
            for Rendered { folder, yaml, objects } in all {
                let ran = validate(yaml, &version);
                assert_eq!(ran.code, 0, "{}: {}", folder.display(), ran.stdout);
                // For a version that it does not know it would take another one.
                let passed = ran.stdout.matches(&format!("against version {version}\n")).count();
                assert_eq!(passed, objects.len(), "{}: {}", folder.display(), ran.stdout);
            }
            let wrong =
                validate("{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {prots: []}}", &version);
            assert!(wrong.code == 1 && wrong.stdout.contains("'prots' was unexpected"), "{wrong:?}");
        }
    });
}

#[test]
fn containers_are_told_what_the_binary_understands() {
    with_manifests(|all| {
        for pod in all.iter().flat_map(Rendered::pods) {
            for container in pod.containers() {
                for index in 0..pod.completions().unwrap_or(1) {
                    let mut arguments = pod.arguments(container, index);
                    // Everything before it is read and checked, nothing is done.
                    arguments.push("--help".to_owned());
                    let ran = run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
                    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{} {arguments:?}", pod.name());
                }
            }
        }
        let unknown = run(&["worker", "--coordinators", "http://corridor-coordinator:4242", "--help"]);
        assert_eq!(unknown.code, 2, "{unknown:?}");
    });
}

#[test]
fn ports_labels_and_names_fit() {
    with_manifests(|all| {
        let services: Vec<&Value> = all.iter().flat_map(|rendered| rendered.of_kind("Service")).collect();
        for rendered in all {
            for pod in rendered.pods() {
                ports_fit(&pod, &services);
                let selector = &pod.owner["spec"]["selector"];
                if pod.job.is_none() {
                    assert_eq!(selector["matchLabels"], *pod.labels, "{}", pod.name());
                }
                mounts_fit(&pod, rendered);
                if let Some(service) = pod.owner["spec"].get("serviceName") {
                    assert!(services.iter().any(|it| it["metadata"]["name"] == *service), "{}", pod.name());
                }
            }
            for service in rendered.of_kind("Service") {
                let selects = |pod: &Pod<'_>| {
                    let wanted = service["spec"]["selector"].as_object().unwrap();
                    wanted.iter().all(|(label, value)| pod.labels[label] == *value)
                };
                let pods: Vec<Pod<'_>> = rendered.pods().filter(selects).collect();
                assert_eq!(pods.len(), 1, "{service}");
                for it in list(&service["spec"]["ports"]) {
                    let found = pods[0].containers().find_map(|at| named(&at["ports"], &it["targetPort"]));
                    // A headless service maps nothing.
                    assert_eq!(found.unwrap()["containerPort"], it["port"], "{it}");
                }
            }
        }
    });
}

/// Whoever listens says where, is asked there, and is found by others there.
#[track_caller]
fn ports_fit(pod: &Pod<'_>, services: &[&Value]) {
    for container in pod.containers() {
        let arguments = pod.arguments(container, 0);
        for (flag, name) in [("--listen", "grpc"), ("--http", "http")] {
            let declared =
                named(&container["ports"], &name.into()).map(|it| it["containerPort"].as_u64().unwrap());
            assert_eq!(value_of(&arguments, flag).map(port), declared, "{} {flag}", pod.name());
        }
        for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
            let Some(probe) = container.get(probe) else { continue };
            assert!(
                named(&container["ports"], &probe["httpGet"]["port"]).is_some(),
                "{} {probe}",
                pod.name()
            );
        }
        if let Some(url) = value_of(&arguments, "--coordinator") {
            let (host, wanted) = url.strip_prefix("http://").unwrap().rsplit_once(':').unwrap();
            let service = services.iter().find(|service| service["metadata"]["name"] == host).unwrap();
            let served =
                list(&service["spec"]["ports"]).iter().any(|it| it["port"].as_u64() == wanted.parse().ok());
            assert!(served, "{}: {url}", pod.name());
        }
    }
}

/// What is mounted is there, and so are the files that containers are told of.
#[track_caller]
fn mounts_fit(pod: &Pod<'_>, rendered: &Rendered) {
    let volumes = list(&pod.spec["volumes"]);
    let claims = list(&pod.owner["spec"]["volumeClaimTemplates"]);
    let mut mounted = Vec::new();
    for container in pod.containers() {
        let arguments = pod.arguments(container, 0);
        let files = arguments.iter().filter(|argument| argument.starts_with('/'));
        let mounts = list(&container["volumeMounts"]);
        for file in files {
            let (folder, file_name) = file.rsplit_once('/').unwrap();
            let mount = mounts.iter().find(|mount| mount["mountPath"] == folder);
            let name = &mount.unwrap_or_else(|| panic!("{}: {file} is not mounted", pod.name()))["name"];
            let map = named(&pod.spec["volumes"], name).and_then(|volume| volume.get("configMap"));
            if let Some(map) = map {
                let map = rendered.of_kind("ConfigMap").find(|it| it["metadata"]["name"] == map["name"]);
                assert!(map.unwrap()["data"][file_name].is_string(), "{}: {file}", pod.name());
            }
        }
        mounted.extend(mounts.iter().map(|mount| &mount["name"]));
    }
    let there: Vec<&Value> =
        volumes.iter().map(|it| &it["name"]).chain(claims.iter().map(|it| &it["metadata"]["name"])).collect();
    assert!(mounted.iter().all(|name| there.contains(name)), "{}: {mounted:?}", pod.name());
    assert!(there.iter().all(|name| mounted.contains(name)), "{}: {there:?}", pod.name());
    for volume in volumes {
        if let Some(claim) = volume.get("persistentVolumeClaim") {
            let name = &claim["claimName"];
            let is_there =
                rendered.of_kind("PersistentVolumeClaim").any(|it| it["metadata"]["name"] == *name);
            assert!(is_there || YOURS.contains(&text(name)), "{}: {claim}", pod.name());
        }
    }
}

#[test]
fn pods_may_do_no_more_than_they_need() {
    with_manifests(|all| {
        for pod in all.iter().flat_map(Rendered::pods) {
            let (name, spec) = (pod.name(), pod.spec);
            let security = &spec["securityContext"];
            assert_eq!(security["runAsNonRoot"], true, "{name}");
            assert_eq!(
                (&security["runAsUser"], &security["runAsGroup"]),
                (&json!(USER), &json!(USER)),
                "{name}"
            );
            assert_eq!(security["seccompProfile"]["type"], "RuntimeDefault", "{name}");
            assert_eq!(
                (&spec["automountServiceAccountToken"], &spec["enableServiceLinks"]),
                (&json!(false), &json!(false))
            );
            assert!(spec["terminationGracePeriodSeconds"].as_u64() > Some(EXIT_SECONDS), "{name}");
            for container in pod.containers() {
                let security = json!({
                    "allowPrivilegeEscalation": false,
                    "readOnlyRootFilesystem": true,
                    "capabilities": { "drop": ["ALL"] },
                });
                assert_eq!(container["securityContext"], security, "{name}");
                assert_eq!(
                    (text(&container["image"]), text(&container["imagePullPolicy"])),
                    ("corridor:latest", "IfNotPresent")
                );
                let resources = &container["resources"];
                for wanted in ["/requests/cpu", "/requests/memory", "/limits/memory"] {
                    assert!(resources.pointer(wanted).is_some(), "{name} {wanted}");
                }
                let is_server = value_of(&pod.arguments(container, 0), "--http").is_some();
                for (probe, path) in [
                    ("startupProbe", "/healthz"),
                    ("readinessProbe", "/readyz"),
                    ("livenessProbe", "/healthz"),
                ] {
                    let asked = container.get(probe).map(|probe| text(&probe["httpGet"]["path"]));
                    assert_eq!(asked, is_server.then_some(path), "{name} {probe}");
                }
            }
        }
    });
}

#[test]
fn batches_try_again_what_may_get_better() {
    with_manifests(|all| {
        let mut seen = Vec::new();
        for pod in all.iter().flat_map(Rendered::pods) {
            let Some(job) = pod.job else { continue };
            seen.push(pod.name());
            assert_eq!(pod.spec["restartPolicy"], "Never", "as a policy for failures wants");
            let rules = &job["podFailurePolicy"]["rules"];
            assert_eq!(rules[0]["action"], "Ignore");
            assert_eq!(
                rules[0]["onPodConditions"],
                json!([{ "type": "DisruptionTarget", "status": "True" }])
            );
            assert_eq!(rules[1]["action"], "FailJob");
            assert_eq!(rules[1]["onExitCodes"], json!({ "operator": "In", "values": [BAD_INPUT] }));
            let retries = if pod.completions().is_some() { "backoffLimitPerIndex" } else { "backoffLimit" };
            assert!(job[retries].as_u64() >= Some(6), "{}", pod.name());

            // The last container is the one that waits; its job must outlive it.
            let arguments = pod.arguments(pod.container("analyze"), 0);
            assert_eq!(arguments[..2], ["book", "analyze"]);
            for flag in ["--detach", "--wait"] {
                assert!(arguments.iter().any(|it| it == flag), "{} {flag}", pod.name());
            }
            let of_book =
                |name: &str| value_of(&pod.arguments(pod.container(name), 0), "--book").map(str::to_owned);
            match pod.owner["kind"].as_str() {
                Some("CronJob") => {
                    assert!(arguments.iter().any(|it| it == "--stale"));
                    assert_eq!(pod.owner["spec"]["concurrencyPolicy"], "Forbid");
                }
                _ => assert_eq!(of_book("import"), of_book("analyze"), "{}", pod.name()),
            }
            if let Some(completions) = pod.completions() {
                assert_eq!(job["parallelism"], completions, "they wait for each other");
                let shards: Vec<String> = (0..completions)
                    .map(|index| {
                        value_of(&pod.arguments(pod.container("import"), index), "--shard")
                            .unwrap()
                            .to_owned()
                    })
                    .collect();
                let wanted: Vec<String> =
                    (0..completions).map(|index| format!("{index}/{completions}")).collect();
                assert_eq!(shards, wanted);
            }
        }
        let wanted = [
            "Job corridor-book",
            "Job corridor-book-shards",
            "CronJob corridor-book-stale",
            "Job corridor-book",
        ];
        assert_eq!(seen, wanted);
    });
}

#[test]
fn the_book_that_comes_along_is_imported_as_the_job_says() {
    with_manifests(|all| {
        let rendered = all.iter().find(|rendered| rendered.folder.ends_with("configmap")).unwrap();
        let games = text(&rendered.of_kind("ConfigMap").next().unwrap()["data"]["book.txt"]);
        let pod = rendered.pods().next().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (file, store) = (folder.path().join("book.txt"), folder.path().join("corridor.db"));
        fs::write(&file, games).unwrap();
        let here = |argument: String| match argument.as_str() {
            "/book/book.txt" => file.to_str().unwrap().to_owned(),
            "--coordinator" => "--store".to_owned(),
            "http://corridor-coordinator:4242" => store.to_str().unwrap().to_owned(),
            _ => argument,
        };
        let arguments: Vec<String> =
            pod.arguments(pod.container("import"), 0).into_iter().map(here).collect();
        let imported = json(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let (new, all, faults) = (&imported["new_positions"], &imported["positions"], &imported["faults"]);
        assert_eq!((new, all, faults), (&json!(10), &json!(10), &json!(0)), "{imported}");
    });
}
