//! The same rack and load in the simulator, beside what was measured.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::Rack;
use super::run::{Load, Row, spread};
use crate::problem::{Problem, input};

/// The scenario of a rack and a load.
pub fn scenario(rack: &Rack, load: &Load) -> String {
    // A rack's host has no line rate of its own: ten times the port's stands for it.
    let host_rate = rack.rate_bps.saturating_mul(10);
    let traffic = match load {
        Load::Static { flows } => {
            format!("[[workload.long_lived.flows]]\nsrc = \"1-{flows}\"\ndst = 0\n")
        }
        Load::Dynamic { load } => format!(
            "[workload.requests]\nload = \"{:.3}%\"\nconnections_per_server = 16\npick = \"random_idle\"\nrequest_size = \
             \"100B\"\nclasses = [{{ size = \"1KB\", share = \"80%\" }}, {{ size = \"10MB\", share = \"20%\" }}]\n",
            // The simulator's share is that of the host's link.
            load * 10.0
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
duration = "10s"
warmup = "1s"

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
min_rto = "10ms"
ack_every = 2
delayed_ack = "5ms"

{traffic}
[measure.probe]

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
pacer = {{ }}
"#,
        hosts = rack.hosts,
        rate = rack.rate_bps,
        delay = rack.delay_ns,
        buffer = rack.buffer_bytes,
        drain = rack.rate_bps / 100 * 95,
    )
}

/// Runs the simulator (`hull` beside this program) and prints both.
pub fn compare(rack: &Rack, load: &Load, rows: &[Row], out: &Path) -> Result<(), Problem> {
    let hull = std::env::current_exe()?.with_file_name("hull");
    if !hull.is_file() {
        return input(format!(
            "--against-simulation: {}: found no hull, allowed is after make build",
            hull.display()
        ));
    }
    let file = out.join("scenario.toml");
    std::fs::write(&file, scenario(rack, load))?;
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
    let mut table = format!(
        "\n{:<16} {:>10} {:>10} {:>7} {:>12} {:>12} {:>7}\n",
        "scheme", "goodput", "simulated", "ratio", "switch mean", "simulated", "ratio"
    );
    for part in summary["parts"].as_array().into_iter().flatten() {
        let of_scheme = |value: &dyn Fn(&Row) -> f64| {
            let values: Vec<f64> = rows
                .iter()
                .filter(|row| part["scheme"] == row.scheme)
                .map(value)
                .collect();
            (!values.is_empty()).then(|| spread(values).0)
        };
        let (Some(goodput), Some(mean_us)) = (
            of_scheme(&|row| row.goodput_bps / 1e6),
            of_scheme(&|row| row.switch.mean_us - row.idle.p50_us),
        ) else {
            continue;
        };
        let simulated = part["throughput"]["goodput_bps"]
            .as_f64()
            .unwrap_or(f64::NAN)
            / 1e6;
        let simulated_us = part["switch_latency"]["probe"]["mean_us"]
            .as_f64()
            .unwrap_or(f64::NAN);
        let _ = writeln!(
            table,
            "{:<16} {goodput:>10.1} {simulated:>10.1} {:>7.2} {mean_us:>12.1} {simulated_us:>12.1} {:>7.2}",
            part["scheme"].as_str().unwrap_or_default(),
            goodput / simulated,
            mean_us / simulated_us
        );
    }
    print!("{table}");
    std::fs::write(out.join("against_simulation.txt"), table)?;
    Ok(())
}
