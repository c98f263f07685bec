//! Measurements of a scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::default;
use crate::limits::CAPTURED_HEADERS_BYTES as HEADERS_BYTES;
use crate::problem::{Problem, need, quoted, require};
use crate::topology::{Graph, ports_named};
use crate::units::{Size, Time};

/// Measurements; flow completion times and the queue of the client's port are always recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Time between two samples of the queues in `latency.parquet` and `queues.parquet`.
    #[serde(default = "default::sample_interval")]
    pub sample_interval: Time,
    /// Ports whose queues are in `queues.parquet` and in `queues` of the summary: `"tor0->h3"` is the port of
    /// tor0 to h3, `"tor0--h3"` both directions, `"tor-host"` all ports of that tier. Without it, the port to
    /// host 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// Whether `queues.parquet` has a row for every change of these queues instead of samples.
    #[serde(default)]
    pub queue_changes: bool,
    /// Whether `pause_events.parquet` has a row for every pause that begins, is renewed or ends; needs
    /// `switch.pfc`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pauses: bool,
    /// The latency probe of paper 5.2; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
    /// Flows over time in `series.parquet`; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<FlowSeries>,
    /// Pacers over time in `pacers.parquet`; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacers: Option<PacerSeries>,
    /// Packets of chosen ports in a pcapng file; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<Capture>,
}

/// A ping from host 1 to the client, timed across the switch (paper 5.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Time between two probes.
    #[serde(default = "default::sample_interval")]
    pub interval: Time,
    /// Bytes on the wire.
    #[serde(default = "default::mtu")]
    pub size: Size,
}

/// Flows over time: delivered bytes, window, alpha, round trip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSeries {
    /// Number of sampled flows, in the order of their opening; a persistent connection counts as two, one per
    /// direction.
    #[serde(default = "default::followed_flows")]
    pub count: u64,
    /// Time between two samples, from time 0 on.
    #[serde(default = "default::sample_interval")]
    pub interval: Time,
}

/// Pacers over time: rate and backlog.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacerSeries {
    /// Time between two samples, from time 0 on.
    #[serde(default = "default::sample_interval")]
    pub interval: Time,
}

/// A pcapng file of the packets that leave some ports, for Wireshark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// The ports, written as in `measure.ports`.
    pub ports: Vec<String>,
    /// Name of the file in the folder of each part.
    #[serde(default = "default::capture_file")]
    pub file: String,
    /// Simulated time of the first packet.
    #[serde(default)]
    pub start: Time,
    /// Simulated time of the end (default: the end of the run).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
    /// Maximum number of packets; unset: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_packets: Option<u64>,
    /// Bytes kept of each frame (default: its headers). Payload is zeros.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snap_length: Option<Size>,
}

/// Shortest time between two samples.
const STEP: Time = Time(1_000_000);

fn interval(key: &str, interval: Time) -> Result<(), Problem> {
    require(interval >= STEP, key, quoted(interval), "at least 1us")
}

/// Checks the measurements.
pub(super) fn check(measure: &Measure) -> Vec<Result<(), Problem>> {
    let mut found = vec![interval("measure.sample_interval", measure.sample_interval)];
    if let Some(probe) = &measure.probe {
        found.push(interval("measure.probe.interval", probe.interval));
        let size = probe.size.0;
        found.push(require(
            (40..=9000).contains(&size),
            "measure.probe.size",
            quoted(probe.size),
            "40B to 9000B",
        ));
    }
    if let Some(flows) = &measure.flows {
        found.push(interval("measure.flows.interval", flows.interval));
        let key = "measure.flows.count";
        found.push(require(flows.count >= 1, key, flows.count, "at least 1"));
    }
    if let Some(pacers) = &measure.pacers {
        found.push(interval("measure.pacers.interval", pacers.interval));
    }
    found.extend(measure.capture.iter().flat_map(check_capture));
    found
}

fn check_capture(capture: &Capture) -> Vec<Result<(), Problem>> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let stem = capture.file.strip_suffix(".pcapng");
    let mut found = vec![require(
        stem.is_some_and(|stem| !stem.is_empty() && stem.chars().all(plain)),
        "measure.capture.file",
        quoted(&capture.file),
        "letters, digits, - _ and . with \".pcapng\" at the end",
    )];
    found.push(need(
        !capture.ports.is_empty(),
        "measure.capture.ports",
        "none",
        "at least one port",
    ));
    if let Some(stop) = capture.stop {
        found.push(require(
            stop > capture.start,
            "measure.capture.stop",
            quoted(stop),
            "a time after measure.capture.start",
        ));
    }
    if let Some(packets) = capture.max_packets {
        let key = "measure.capture.max_packets";
        found.push(require(packets >= 1, key, packets, "at least 1"));
    }
    if let Some(size) = capture.snap_length {
        found.push(require(
            (HEADERS_BYTES..=65535).contains(&size.0),
            "measure.capture.snap_length",
            quoted(size),
            &format!("{HEADERS_BYTES}B to 65535B"),
        ));
    }
    found
}

/// Checks that the named ports exist.
pub(super) fn check_ports(measure: &Measure, graph: &Graph) -> Result<(), Problem> {
    ports_named(graph, "measure.ports", &measure.ports)?;
    if let Some(capture) = &measure.capture {
        ports_named(graph, "measure.capture.ports", &capture.ports)?;
    }
    Ok(())
}
