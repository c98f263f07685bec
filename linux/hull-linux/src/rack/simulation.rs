//! Simulation of the same rack and load, and its comparison with the measurements.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::Rack;
use super::run::{Load, Row, schemes, show, spread};
use crate::problem::{Problem, input};
use crate::settings::Settings;

/// Name of the scenario file among the results of a run.
pub const SCENARIO: &str = "scenario.toml";

/// Scenario of a rack and a load with this duration.
pub fn scenario(rack: &Rack, load: &Load, duration_s: f64) -> String {
    // A rack's host has no line rate of its own; ten times the port's rate replaces it.
    let host_rate = rack.rate_bps.saturating_mul(10);
    let pacer = Settings::for_rate(rack.rate_bps);
    let traffic = match load {
        Load::Static { flows } => {
            format!("[[workload.long_lived.flows]]\nsrc = \"1-{flows}\"\ndst = 0\n")
        }
        Load::Dynamic { load } => format!(
            "[workload.requests]\nload = \"{:.3}%\"\nconnections_per_server = 16\npick = \"random_idle\"\nrequest_size = \
             \"100B\"\nclasses = [{{ size = \"1KB\", share = \"80%\" }}, {{ size = \"10MB\", share = \"20%\" }}]\n",
            100.0 * load
        ),
        Load::Incast { servers, queries } => {
            let servers: Vec<String> = (1..=*servers).map(|server| server.to_string()).collect();
            format!(
                "[workload.incast]\nclient = 0\nservers = [{}]\nqueries = {queries}\ntotal = \"1MB\"\nrequest_size = \"100B\"\n",
                servers.join(", ")
            )
        }
    };
    format!(
        r#"name = "rack"
title = "The rack of network namespaces"
source = "hull linux rack"

[run]
duration = "{duration}s"
warmup = "{warmup}s"
seeds = 4

[topology.star]
hosts = {hosts}

[host]
rate = "{host_rate}bps"
delay = "{delay}ns"
stack_delay = "10us"

[switch]
rate = "{rate}bps"
delay = "{delay}ns"
buffer = "{buffer}B"

[transport]
mtu = "1514B"
header = "66B"
initial_window = 10
min_window = 2
max_window = 3000
receive_window = 3000
initial_rto = "1s"
min_rto = "{min_rto}ns"
ack_every = 2
delayed_ack = "5ms"

{traffic}
[measure.probe]
interval = "2ms"
size = "100B"

[schemes.tcp_droptail]
transport = {{ congestion_control = "cubic" }}

[schemes.dctcp_30k]
transport = {{ congestion_control = "dctcp", ecn = true }}
switch.marking.threshold = "30KB"

[schemes.dctcp_pq]
transport = {{ congestion_control = "dctcp", ecn = true }}
switch.phantom_queue = {{ drain = "{drain}bps", threshold = "1KB" }}

[schemes.dctcp_pq_pacer]
transport = {{ congestion_control = "dctcp", ecn = true }}
switch.phantom_queue = {{ drain = "{drain}bps", threshold = "1KB" }}
pacer = {{ update_interval = "{update}ns", beta = {beta}, association_timeout = "{timeout}ns" }}
"#,
        hosts = rack.hosts,
        rate = rack.rate_bps,
        delay = rack.delay_ns,
        buffer = rack.buffer_bytes,
        min_rto = rack.min_rto_ns,
        drain = rack.rate_bps / 100 * 95,
        duration = duration_s,
        // Queries begin at once, as on the rack.
        warmup = u8::from(!matches!(load, Load::Incast { .. })),
        update = pacer.update_interval_ns,
        // The simulator accepts only integers for beta.
        beta = pacer.beta.round().max(1.0),
        timeout = pacer.association_timeout_ns,
    )
}

/// Runs the simulator (`hull` in the folder of this program) and prints the comparison.
pub fn compare(load: &Load, rows: &[Row], out: &Path) -> Result<(), Problem> {
    let hull = std::env::current_exe()?.with_file_name("hull");
    if !hull.is_file() {
        return input(format!(
            "--against-simulation: {}: there is no hull; build it with make build",
            hull.display()
        ));
    }
    let file = out.join(SCENARIO);
    let folder = out.join("simulation");
    let output = Command::new(&hull)
        .arg("run")
        .arg(&file)
        .arg("--out")
        .arg(&folder)
        .output()?;
    if !output.status.success() {
        return Err(Problem::Failed(
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        ));
    }
    let text = std::fs::read_to_string(folder.join("summary.json"))?;
    let summary: Value =
        serde_json::from_str(&text).map_err(|error| Problem::Failed(error.to_string()))?;
    let table = beside(load, rows, &summary);
    print!("\n{table}");
    std::fs::write(out.join("against_simulation.txt"), table)?;
    Ok(())
}

/// Function that reads a quantity from a row of the rack or a part of the simulation.
type Read<T> = Box<dyn Fn(&T) -> Option<f64>>;

/// Quantity of both rack and simulation.
struct Quantity {
    name: String,
    rack: Read<Row>,
    simulation: Read<Value>,
}

fn quantity(
    name: impl Into<String>,
    rack: impl Fn(&Row) -> Option<f64> + 'static,
    simulation: impl Fn(&Value) -> Option<f64> + 'static,
) -> Quantity {
    Quantity {
        name: name.into(),
        rack: Box::new(rack),
        simulation: Box::new(simulation),
    }
}

fn quantities(load: &Load, rows: &[Row]) -> Vec<Quantity> {
    let mut all = Vec::new();
    // The simulator's probes continue after the end of the queries.
    if !matches!(load, Load::Incast { .. }) {
        all.push(quantity(
            "goodput (Mbps)",
            |row| Some(row.goodput_bps / 1e6),
            |part| Some(part["throughput"]["goodput_bps"].as_f64()? / 1e6),
        ));
        all.push(quantity(
            "switch mean (us)",
            |row| Some(row.switch.mean_us - row.idle.p50_us),
            |part| part["switch_latency"]["probe"]["mean_us"].as_f64(),
        ));
        all.push(quantity(
            "switch p99 (us)",
            |row| Some(row.switch.p99_us - row.idle.p50_us),
            |part| part["switch_latency"]["probe"]["p99_us"].as_f64(),
        ));
    }
    let classes = rows[0].fct.as_array().map_or(0, Vec::len);
    for at in 0..classes {
        let class = rows[0].fct[at]["class"].as_str().unwrap_or_default();
        for key in ["mean", "p90", "p99"] {
            let field = format!("{key}_us");
            let same = field.clone();
            all.push(quantity(
                format!("{class} {key} (us)"),
                move |row| row.fct[at][&field].as_f64(),
                move |part| part["fct"][at][&same].as_f64(),
            ));
        }
    }
    if rows[0].queries.is_object() {
        for key in ["mean_us", "p90_us", "p99_us"] {
            let name = key.trim_end_matches("_us");
            all.push(quantity(
                format!("query {name} (us)"),
                move |row| row.queries[key].as_f64(),
                move |part| part["queries"][key].as_f64(),
            ));
        }
    }
    all
}

/// One line per scheme and quantity: median (and range) of the rack, median of the simulator's
/// seeds, and their ratio.
fn beside(load: &Load, rows: &[Row], summary: &Value) -> String {
    let mut table = format!(
        "{:<16} {:<20} {:>32} {:>12} {:>7}\n",
        "scheme", "", "rack", "simulator", "ratio"
    );
    let parts: Vec<&Value> = summary["parts"].as_array().into_iter().flatten().collect();
    for scheme in schemes(rows) {
        for quantity in quantities(load, rows) {
            let Some((median, text)) = show(rows, scheme, &quantity.rack) else {
                continue;
            };
            let of_scheme = parts.iter().filter(|part| part["scheme"] == scheme);
            let seeds: Vec<f64> = of_scheme
                .filter_map(|part| (quantity.simulation)(part))
                .collect();
            let simulated = (!seeds.is_empty()).then(|| spread(seeds).0);
            let _ = writeln!(
                table,
                "{scheme:<16} {:<20} {text:>32} {:>12} {:>7}",
                quantity.name,
                simulated.map_or("-".to_owned(), |value| format!("{value:.1}")),
                simulated.map_or("-".to_owned(), |value| format!("{:.2}", median / value)),
            );
        }
    }
    table
}
