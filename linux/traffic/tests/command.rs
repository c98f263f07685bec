//! The command as a user calls it: exit status, messages, the folder that it leaves.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// `hull-traffic serve`, which ends with it.
struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    fn start() -> Self {
        let mut child = hull_traffic(&["serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("piped");
        let mut lines = BufReader::new(stdout);
        lines.read_line(&mut line).expect("one line");
        let address = line
            .split_whitespace()
            .nth(2)
            .expect("an address")
            .to_owned();
        Serving { child, address }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn hull_traffic(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hull-traffic"));
    command.args(arguments);
    command
}

fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = hull_traffic(arguments).output().expect("runs");
    (status.code(), String::from_utf8_lossy(&stderr).into_owned())
}

fn summary(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("summary.json")).expect("there");
    serde_json::from_str(&text).expect("JSON")
}

const DYNAMIC: [&str; 14] = [
    "dynamic",
    "--load=10%",
    "--rate=100Mbps",
    "--class=1KB:90%",
    "--class=20KB:10%",
    "--connections=2",
    "--duration=400ms",
    "--warmup=100ms",
    "--drain=2s",
    "--seed=7",
    "--scheme=dctcp",
    "--condition=load=10%",
    "--name=small",
    "--connect-timeout=2s",
];

/// The keys that hull's Python code takes from a part (python/hull/results/summary.py, report/seed_means.py).
const KEYS: [&str; 27] = [
    "hull_version",
    "name",
    "condition",
    "scheme",
    "seed",
    "packet_hops",
    "events",
    "simulated_seconds",
    "cpu_seconds",
    "wall_seconds",
    "peak_rss_bytes",
    "switch_latency",
    "queues",
    "fct",
    "slowdown",
    "queries",
    "fairness",
    "processor",
    "throughput",
    "links",
    "marks",
    "drops",
    "timeouts",
    "retransmissions",
    "paced",
    "associations",
    "flow_slots",
];

#[test]
fn run_writes_one_part_of_a_result() {
    let serving = Serving::start();
    let place = TempDir::new().expect("a folder");
    let out = place.path().join("part");
    let mut arguments = DYNAMIC.to_vec();
    arguments.extend(["--server", &serving.address, "--out"]);
    arguments.push(out.to_str().expect("UTF-8"));
    assert_eq!(run(&arguments), (Some(0), String::new()));
    let summary = summary(&out);
    for key in KEYS {
        assert!(summary.get(key).is_some(), "{key}");
    }
    assert_eq!(summary["condition"], "load=10%");
    assert_eq!(
        (&summary["seed"], &summary["interrupted"]),
        (&7.into(), &false.into())
    );
    let small = &summary["fct"][0];
    assert_eq!(small["class"], "1KB");
    let count = small["count"].as_u64().expect("a number");
    assert!(count > 50, "{count}");
    assert_eq!(small["bytes"], count * 1000);
    assert!(small["p999_us"].as_f64() >= small["p50_us"].as_f64());
    for file in ["flows", "latency", "links", "histograms"] {
        let path = out.join(format!("{file}.parquet"));
        let bytes = std::fs::read(&path).expect("there");
        assert_eq!(&bytes[..4], b"PAR1", "{file}");
    }
    assert!(!place.path().join("part.partial").exists());
    // The same again: refused, nothing is overwritten; with --force it is.
    let (status, message) = run(&arguments);
    assert_eq!(status, Some(2));
    assert!(
        message.contains("--out: found") && message.contains("--force"),
        "{message}"
    );
    arguments.push("--force");
    assert_eq!(run(&arguments).0, Some(0));
    // What it ran is the [workload.requests] of a scenario.
    let inputs = std::fs::read_to_string(out.join("scenario.toml")).expect("there");
    assert!(
        inputs.contains("[workload.requests]\nload = \"10%\""),
        "{inputs}"
    );
    assert!(
        inputs.contains("[[workload.requests.classes]]\nsize = \"1KB\""),
        "{inputs}"
    );
}

#[test]
fn scenario_defines_the_requests() {
    let serving = Serving::start();
    let place = TempDir::new().expect("a folder");
    let out = place.path().join("out");
    let table4 = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/table4.toml");
    let mut arguments = vec!["dynamic", "--scenario", table4.to_str().expect("UTF-8")];
    arguments.extend([
        "--server",
        &serving.address,
        "--out",
        out.to_str().expect("UTF-8"),
    ]);
    arguments.extend(["--warmup=0s", "--duration=100ms", "--rate=10Mbps"]);
    let (status, message) = run(&arguments);
    assert_eq!(status, Some(2));
    assert!(
        message.contains("load=20%") && message.contains("load=40%"),
        "{message}"
    );
    assert!(
        !place.path().join("out.partial").exists(),
        "nothing was written"
    );
    arguments.extend(["--set", "workload.requests.load=20%"]);
    assert_eq!(run(&arguments), (Some(0), String::new()));
    let summary = summary(&out);
    assert_eq!(summary["flow_slots"], 16);
    assert_eq!(summary["fct"][1]["class"], "10MB");
}

#[test]
fn ctrl_c_keeps_measurements() {
    let serving = Serving::start();
    let place = TempDir::new().expect("a folder");
    let out = place.path().join("out");
    let mut child = hull_traffic(&[
        "ping",
        "--server",
        &serving.address,
        "--duration=60s",
        "--out",
    ])
    .arg(&out)
    .spawn()
    .expect("starts");
    std::thread::sleep(Duration::from_millis(500));
    let pid = child.id().to_string();
    let killed = Command::new("kill")
        .args(["-INT", &pid])
        .status()
        .expect("kill");
    assert!(killed.success());
    assert_eq!(child.wait().expect("ends").code(), Some(130));
    let summary = summary(&out);
    assert_eq!(summary["interrupted"], true);
    let count = summary["fct"][0]["count"].as_u64().expect("a number");
    assert!((1..600).contains(&count), "{count}");
}

#[test]
fn unreachable_server_is_named() {
    let place = TempDir::new().expect("a folder");
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = free.local_addr().expect("bound").to_string();
    drop(free);
    let out = place.path().join("out");
    let start = Instant::now();
    let mut arguments = vec!["ping", "--server", &address, "--connect-timeout=500ms"];
    arguments.extend(["--out", out.to_str().expect("UTF-8")]);
    let (status, message) = run(&arguments);
    assert_eq!(status, Some(1));
    assert!(start.elapsed() < Duration::from_secs(5));
    for part in [
        address.as_str(),
        "no connection in 0.",
        "refused",
        "hull-traffic serve",
    ] {
        assert!(
            message.contains(part),
            "\"{part}\" is missing from: {message}"
        );
    }
    assert_eq!(std::fs::read_dir(place.path()).expect("there").count(), 0);
}

#[test]
fn bad_input_is_rejected_with_the_allowed_values() {
    let place = TempDir::new().expect("a folder");
    let out = place.path().join("out");
    let out = out.to_str().expect("UTF-8");
    let to = ["--server=127.0.0.1:9", "--out", out];
    let mut dynamic = DYNAMIC.to_vec();
    dynamic.extend(to);
    let with = |more: &[&'static str]| {
        let mut arguments = dynamic.clone();
        for argument in more {
            let option = argument.split('=').next().unwrap_or_default();
            if option != "--class" {
                arguments.retain(|old| !old.starts_with(option));
            }
            arguments.push(argument);
        }
        arguments
    };
    let incast = |more: &'static str| {
        let mut arguments = vec!["incast", more];
        arguments.extend(to);
        arguments
    };
    for (arguments, parts) in [
        (with(&["--load=120%"]), ["--load", "120%", "below 100%"]),
        (
            with(&["--load=fast"]),
            ["--load", "fast", "such as \"20%\""],
        ),
        (
            with(&["--class=1MB:5%"]),
            ["--class", "105%", "add up to 100%"],
        ),
        (with(&["--class=1MB"]), ["--class", "1MB", "1KB:80%"]),
        (
            with(&["--connections=0"]),
            ["--connections", "0 is invalid", "1 to 10000"],
        ),
        (
            with(&["--request-size=10B"]),
            ["--request-size", "10 bytes", "36 to 1000000"],
        ),
        (
            with(&["--duration=0s"]),
            ["--duration", "0 is invalid", "more"],
        ),
        (with(&["--pick=best"]), ["--pick", "best", "round_robin"]),
        (
            with(&["--server=nowhere"]),
            ["--server", "nowhere", "10.0.0.2:9000"],
        ),
        (
            with(&["--congestion-control=nonesuch"]),
            ["--congestion-control", "nonesuch", "modprobe"],
        ),
        (
            with(&["--scenario=x.toml"]),
            ["--scenario", "--load", "cannot be used with"],
        ),
        (incast("--total=0B"), ["--total", "0B", "1TB"]),
        (incast("--queries=0"), ["--queries", "0 is invalid", "more"]),
    ] {
        let (status, message) = run(&arguments);
        assert_eq!(status, Some(2), "{arguments:?}: {message}");
        for part in parts {
            assert!(
                message.contains(part),
                "\"{part}\" is missing from: {message}"
            );
        }
    }
    let left = std::fs::read_dir(place.path()).expect("there").count();
    assert_eq!(left, 0, "nothing was written");
}

#[test]
fn server_stops_on_request() {
    let mut serving = Serving::start();
    let pid = serving.child.id().to_string();
    let killed = Command::new("kill")
        .args(["-TERM", &pid])
        .status()
        .expect("kill");
    assert!(killed.success());
    assert_eq!(serving.child.wait().expect("ends").code(), Some(0));
    let (status, message) = run(&["serve", "--listen=127.0.0.1:0", "--congestion-control=x"]);
    assert_eq!(status, Some(2));
    assert!(
        message.contains("found \"x\"") && message.contains("reno"),
        "{message}"
    );
}
