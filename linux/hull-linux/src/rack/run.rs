//! Traffic on a rack: `hull-traffic` sends real TCP, and the meter measures the switch's latency.
//!
//! Host 0 is the client, like S5 in the paper; the others serve, and answer its pings. As in the paper, these
//! answers are the probes of the switch's latency, from egress of the client's switch port to the far side.
//! It includes the wait in the port and HTB's time per packet. The latency without other traffic is measured
//! first and subtracted.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use super::scheme::Scheme;
use super::{Rack, SWITCH, address, bump, host};
use crate::meter::{self, Latency};
use crate::problem::{Problem, input};

/// Load on a rack.
#[derive(Clone, Debug)]
pub enum Load {
    /// Long-lived flows, one from each server (paper 6.1).
    Static {
        /// Number of servers.
        flows: u32,
    },
    /// Poisson requests for 1 KB and 10 MB (paper 6.2).
    Dynamic {
        /// Response bytes as a share of the link's rate.
        load: f64,
    },
    /// Queries that all servers answer at once (thesis 2.3.2).
    Incast {
        /// Number of servers.
        servers: u32,
        /// Number of queries.
        queries: u32,
    },
}

/// Results of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the scheme.
    pub scheme: &'static str,
    /// Congestion control of all hosts.
    pub congestion_control: &'static str,
    /// Number of the repetition.
    pub seed: u32,
    /// Latency of the client's switch port under load.
    pub switch: Latency,
    /// Latency of the client's switch port with pings only.
    pub idle: Latency,
    /// Round trips of pings during the load (`hull-traffic ping`), with statistics.
    pub ping: Value,
    /// Round trips of pings before the load.
    pub idle_ping: Value,
    /// Payload that the client received, bit/s.
    pub goodput_bps: f64,
    /// Completion times by class, for `dynamic`.
    pub fct: Value,
    /// Query times, for `incast`.
    pub queries: Value,
    /// TCP_INFO of both ends.
    pub tcp: Value,
}

/// Child processes that end with their owner.
struct Servers(Vec<Child>);

impl Drop for Servers {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn traffic() -> Result<PathBuf, Problem> {
    let beside = std::env::current_exe()?.with_file_name("hull-traffic");
    match beside.is_file() {
        true => Ok(beside),
        false => input(format!(
            "{}: no hull-traffic found; build it with make linux",
            beside.display()
        )),
    }
}

/// Builds a command of the traffic generator in a namespace.
fn inside(namespace: &str, arguments: &[String]) -> Result<Command, Problem> {
    let mut command = Command::new("ip");
    command
        .args(["netns", "exec", namespace])
        .arg(traffic()?)
        .args(arguments);
    Ok(command)
}

/// Port of the load's servers.
const PORT: u16 = 7700;
/// Port of the ping servers, by which the meter recognizes pings.
const PING_PORT: u16 = 7701;

fn serve(rack: &Rack, congestion: &str) -> Result<Servers, Problem> {
    let mut servers = Servers(Vec::new());
    let hosts = 1..rack.hosts;
    for (number, port) in hosts.flat_map(|number| [(number, PORT), (number, PING_PORT)]) {
        let listen = format!("{}:{port}", address(number));
        let arguments = [
            "serve",
            "--listen",
            &listen,
            "--congestion-control",
            congestion,
        ]
        .map(str::to_owned);
        let mut command = inside(&host(number), &arguments)?;
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        servers.0.push(command.spawn()?);
    }
    Ok(servers)
}

fn read_summary(folder: &Path) -> Result<Value, Problem> {
    let path = folder.join("summary.json");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Problem::Failed(format!("{}: {error}", path.display())))?;
    serde_json::from_str(&text)
        .map_err(|error| Problem::Failed(format!("{}: {error}", path.display())))
}

/// Starts a client on host 0, which writes its summary to `out`.
fn client(
    mode: &str,
    servers: &[u32],
    congestion: &str,
    more: &[String],
    out: &Path,
) -> Result<Child, Problem> {
    let mut arguments = vec![mode.to_owned()];
    let port = if mode == "ping" { PING_PORT } else { PORT };
    for &server in servers {
        arguments.extend(["--server".into(), format!("{}:{port}", address(server))]);
    }
    arguments.extend(["--congestion-control".into(), congestion.into()]);
    arguments.extend(["--out".into(), out.display().to_string()]);
    arguments.extend_from_slice(more);
    let mut command = inside(&host(0), &arguments)?;
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    Ok(command.spawn()?)
}

fn finish(child: Child) -> Result<(), Problem> {
    let output = child.wait_with_output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(Problem::Failed(
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        )),
    }
}

/// Ends a client early.
fn stop(child: Child) -> Result<(), Problem> {
    // SAFETY: sends a signal to a child that has not been waited for.
    #[allow(unsafe_code)]
    unsafe {
        libc::kill(child.id() as i32, libc::SIGTERM)
    };
    child.wait_with_output()?;
    Ok(())
}

fn seconds(seconds: f64) -> String {
    format!("{}ms", (seconds * 1e3).round() as u64)
}

/// Time between pings, s: longer than a round trip through a full buffer, because there is one
/// connection.
fn ping_interval_s(rack: &Rack) -> f64 {
    let full_s = 8.0 * f64::from(rack.buffer_bytes) / rack.rate_bps as f64;
    2e-3 + 4.0 * rack.delay_ns as f64 / 1e9 + full_s
}

/// Runs one load under one scheme. The traffic generator writes its results below `out`.
pub fn run(
    rack: &Rack,
    load: &Load,
    scheme: Scheme,
    time_s: f64,
    seed: u32,
    out: &Path,
) -> Result<Row, Problem> {
    let congestion = scheme.put_on(rack)?;
    let found = measure(rack, load, scheme, congestion, time_s, seed, out);
    let cleared = Scheme::take_off(rack);
    let row = found?;
    cleared.map(|()| row)
}

fn measure(
    rack: &Rack,
    load: &Load,
    scheme: Scheme,
    congestion: &'static str,
    time_s: f64,
    seed: u32,
    out: &Path,
) -> Result<Row, Problem> {
    let folder = out.join(format!("{}-{seed}", scheme.name()));
    std::fs::create_dir_all(&folder)?;
    let servers = serve(rack, congestion)?;
    let (from, to) = spots(rack);
    let port = PING_PORT.to_string();
    meter_process(&["start", &from, &to, "--source-port", &port])?;
    let result = (|| {
        let everybody: Vec<u32> = (1..rack.hosts).collect();
        let ping = |time_s: f64, name: &str| {
            let more = [
                "--duration".to_owned(),
                seconds(time_s),
                "--warmup".into(),
                "0ms".into(),
                "--interval".into(),
                seconds(ping_interval_s(rack)),
            ];
            client("ping", &everybody, congestion, &more, &folder.join(name))
        };
        let begin = meter::counts()?;
        finish(ping(1.0, "idle")?)?;
        let idle = meter::latency(&begin, &meter::counts()?);

        let warmup_s = if matches!(load, Load::Static { .. }) {
            1.0
        } else {
            0.0
        };
        let (mode, from, more) = arguments(rack, load, time_s, warmup_s, seed);
        let child = client(mode, &from, congestion, &more, &folder.join("load"))?;
        std::thread::sleep(Duration::from_secs_f64(warmup_s + 0.2));
        let begin = meter::counts()?;
        let pings = ping(time_s, "ping")?;
        if matches!(load, Load::Incast { .. }) {
            // Pings last as long as the queries; measurements until then are kept.
            finish(child)?;
            stop(pings)?;
        } else {
            finish(pings)?;
            finish(child)?;
        }
        let under_load = meter::latency(&begin, &meter::counts()?);
        let summary = read_summary(&folder.join("load"))?;
        let pings = |name: &str| -> Result<Value, Problem> {
            Ok(read_summary(&folder.join(name))?["fct"][0].take())
        };
        Ok(Row {
            scheme: scheme.name(),
            congestion_control: congestion,
            seed,
            switch: under_load,
            idle,
            ping: pings("ping")?,
            idle_ping: pings("idle")?,
            goodput_bps: summary["throughput"]["goodput_bps"]
                .as_f64()
                .unwrap_or_default(),
            fct: summary["fct"].clone(),
            queries: summary["queries"].clone(),
            tcp: json!({"load": summary["tcp"], "retransmissions": summary["retransmissions"], "timeouts": summary["timeouts"]}),
        })
    })();
    let _ = meter_process(&["stop", &from, &to]);
    drop(servers);
    result
}

/// Client's switch port, and its far side.
fn spots(rack: &Rack) -> (String, String) {
    let far = match rack.has_boxes() {
        true => format!("{}/toswitch", bump(0)),
        false => format!("{}/eth0", host(0)),
    };
    (format!("{SWITCH}/p0"), far)
}

/// Runs the meter in a separate process, because it changes the process's namespace.
fn meter_process(arguments: &[&str]) -> Result<(), Problem> {
    let output = Command::new(std::env::current_exe()?)
        .arg("meter")
        .args(arguments)
        .output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(Problem::Failed(
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        )),
    }
}

fn arguments(
    rack: &Rack,
    load: &Load,
    time_s: f64,
    warmup_s: f64,
    seed: u32,
) -> (&'static str, Vec<u32>, Vec<String>) {
    let common = [
        "--seed".to_owned(),
        seed.to_string(),
        "--duration".into(),
        seconds(time_s),
    ];
    match load {
        Load::Static { flows } => {
            let more = [&common[..], &["--warmup".to_owned(), seconds(warmup_s)]].concat();
            ("long", (1..=*flows).collect(), more)
        }
        Load::Dynamic { load } => {
            let rate = format!("{}bps", rack.rate_bps);
            let share = format!("{:.3}%", load * 100.0);
            let more = [
                "--load", &share, "--rate", &rate, "--class", "1KB:80%", "--class", "10MB:20%",
                "--warmup", "1s",
            ];
            (
                "dynamic",
                (1..rack.hosts).collect(),
                [&common[..], &more.map(str::to_owned)].concat(),
            )
        }
        Load::Incast { servers, queries } => {
            let more = ["--queries".to_owned(), queries.to_string()];
            (
                "incast",
                (1..=*servers).collect(),
                [&common[..], &more].concat(),
            )
        }
    }
}

/// Median, smallest and largest of the repetitions.
pub fn spread(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let median = if values.len() % 2 == 1 {
        values[middle]
    } else {
        (values[middle - 1] + values[middle]) / 2.0
    };
    (median, values[0], values[values.len() - 1])
}

/// Table of all repetitions with one line per scheme: median, smallest and largest value. The idle
/// rack's latency is subtracted. Completion times as in table 4 and query times follow.
pub fn table(rows: &[Row]) -> String {
    let mut out = format!(
        "{:<16} {:>24} {:>28} {:>28} {:>28}\n",
        "scheme", "goodput (Mbps)", "switch mean (us)", "switch p99 (us)", "ping mean (us)"
    );
    let schemes = schemes(rows);
    for scheme in &schemes {
        let of = |value: &dyn Fn(&Row) -> Option<f64>| shown(rows, scheme, value);
        out += &format!(
            "{scheme:<16} {:>24} {:>28} {:>28} {:>28}\n",
            of(&|row| Some(row.goodput_bps / 1e6)),
            of(&|row| Some(row.switch.mean_us - row.idle.p50_us)),
            of(&|row| Some(row.switch.p99_us - row.idle.p50_us)),
            of(&|row| Some(row.ping["mean_us"].as_f64()? - row.idle_ping["p50_us"].as_f64()?)),
        );
    }
    let classes = rows[0].fct.as_array().map_or(&[][..], Vec::as_slice);
    for (at, class) in classes.iter().enumerate() {
        let name = class["class"].as_str().unwrap_or_default();
        out += &times(rows, &schemes, name, &|row| row.fct[at].clone());
    }
    if rows[0].queries.is_object() {
        out += &times(rows, &schemes, "query", &|row| row.queries.clone());
        for scheme in &schemes {
            let again = shown(rows, scheme, &|row| row.tcp["retransmissions"].as_f64());
            out += &format!("{scheme:<16} {again} retransmissions\n");
        }
    }
    out
}

/// Schemes in the order of their first rows.
pub fn schemes(rows: &[Row]) -> Vec<&'static str> {
    let mut schemes: Vec<&str> = rows.iter().map(|row| row.scheme).collect();
    schemes.dedup();
    schemes
}

/// Median of a value over a scheme's rows, and the text of median and range; `None` if no row has
/// it.
pub fn show(
    rows: &[Row],
    scheme: &str,
    value: &dyn Fn(&Row) -> Option<f64>,
) -> Option<(f64, String)> {
    let of_scheme = rows.iter().filter(|row| row.scheme == scheme);
    let values: Vec<f64> = of_scheme.filter_map(value).collect();
    if values.is_empty() {
        return None;
    }
    let (median, least, most) = spread(values);
    Some((median, format!("{median:.1} ({least:.1} to {most:.1})")))
}

/// Text of `show`, or a dash if no row has the value.
fn shown(rows: &[Row], scheme: &str, value: &dyn Fn(&Row) -> Option<f64>) -> String {
    show(rows, scheme, value).map_or("-".to_owned(), |(_, text)| text)
}

/// Table of the completion times of one kind, us.
fn times(rows: &[Row], schemes: &[&str], name: &str, read: &dyn Fn(&Row) -> Value) -> String {
    let mut out = format!(
        "\n{:<16} {:>30} {:>30} {:>30}\n",
        format!("{name} (us)"),
        "mean",
        "p90",
        "p99"
    );
    for scheme in schemes {
        let of = |key: &str| shown(rows, scheme, &|row| read(row)[key].as_f64());
        out += &format!(
            "{scheme:<16} {:>30} {:>30} {:>30}\n",
            of("mean_us"),
            of("p90_us"),
            of("p99_us")
        );
    }
    out
}
