//! Counters of a device's programs, as text, JSON and for Prometheus.

use std::fmt::Write as _;

use serde::Serialize;

use crate::attachment;
use crate::machine;
use crate::maps;
use crate::problem::Problem;
use crate::record::Record;
use crate::settings::{Phantom, bps};

/// State of a device's phantom queue.
#[derive(Clone, Debug, Serialize)]
pub struct PhantomReading {
    /// Number of packets that passed.
    pub packets: u64,
    /// Bytes on the wire of these packets.
    pub bytes: u64,
    /// Number of packets that the queue marked CE.
    pub marked: u64,
    /// Number of packets above the threshold that already carried CE.
    pub already_marked: u64,
    /// Number of packets above the threshold that are not ECN-capable.
    pub not_capable: u64,
    /// Current virtual backlog, bytes.
    pub backlog_bytes: u64,
    /// Largest virtual backlog since the device was attached, bytes.
    pub largest_backlog_bytes: u64,
}

/// State of a device's pacer.
#[derive(Clone, Debug, Serialize)]
pub struct PacerReading {
    /// Number of packets that the host sent.
    pub packets: u64,
    /// Number of packets of associated flows.
    pub associated_packets: u64,
    /// Number of packets that had to wait.
    pub paced: u64,
    /// Number of packets dropped because the FIFO was full.
    pub dropped: u64,
    /// R at the last packet, bit/s.
    pub rate_bps: u64,
    /// Q, the current backlog, bytes.
    pub backlog_bytes: u64,
    /// Longest wait, us.
    pub longest_wait_us: f64,
    /// Number of ACKs with ECN-Echo that arrived.
    pub echoes: u64,
    /// Number of associations made or renewed.
    pub associations: u64,
    /// Number of currently associated flows, on all devices of this network namespace.
    pub associated_flows: usize,
}

/// State of a device.
#[derive(Clone, Debug, Serialize)]
pub struct Reading {
    /// Attachment of the device.
    #[serde(flatten)]
    pub record: Record,
    /// Whether the device still exists.
    pub present: bool,
    /// Phantom queue of the device.
    pub phantom_queue: Option<PhantomReading>,
    /// Pacer of the device.
    pub pacer_state: Option<PacerReading>,
}

/// Reads a device's maps.
pub fn read(record: Record) -> Result<Reading, Problem> {
    let key = record.slot.to_ne_bytes();
    let present = machine::ifindex(&record.device).ok() == Some(record.ifindex);
    let phantom_queue = match record.settings.phantom {
        Phantom::Off => None,
        _ => attachment::read::<maps::PhantomQueue>("phantom_queues", &key)?.map(phantom_reading),
    };
    let pacer_state = match record.settings.pacer {
        false => None,
        true => {
            let pacer = attachment::read::<maps::Pacer>("pacers", &key)?;
            let counts = attachment::read::<maps::AssociationCounts>("association_counts", &key)?;
            match (pacer, counts) {
                (Some(pacer), Some(counts)) => Some(pacer_reading(&record, &pacer, &counts)?),
                _ => None,
            }
        }
    };
    Ok(Reading {
        record,
        present,
        phantom_queue,
        pacer_state,
    })
}

fn phantom_reading(queue: maps::PhantomQueue) -> PhantomReading {
    let byte_units = queue.byte_units.max(1);
    let now_ps = machine::monotonic_ns().wrapping_mul(1000);
    let drained_ps = now_ps.wrapping_sub(queue.drained_to_ps).min(1 << 47);
    PhantomReading {
        packets: queue.packets,
        bytes: queue.bytes,
        marked: queue.marked,
        already_marked: queue.already_marked,
        not_capable: queue.not_capable,
        backlog_bytes: queue.backlog_units.saturating_sub(drained_ps << 16) / byte_units,
        largest_backlog_bytes: queue.most_backlog_units / byte_units,
    }
}

fn pacer_reading(
    record: &Record,
    pacer: &maps::Pacer,
    counts: &maps::AssociationCounts,
) -> Result<PacerReading, Problem> {
    let now_ns = machine::monotonic_ns().saturating_sub(record.began_ns);
    Ok(PacerReading {
        packets: pacer.packets,
        associated_packets: pacer.associated,
        paced: pacer.paced,
        dropped: pacer.full,
        rate_bps: pacer.rate_bps(),
        backlog_bytes: pacer.backlog_bytes(now_ns),
        longest_wait_us: pacer.longest_wait_ns as f64 / 1e3,
        echoes: counts.echoes,
        associations: counts.associations,
        associated_flows: attachment::associated_flows()?.len(),
    })
}

/// Formats the counters as text.
pub fn text(readings: &[Reading]) -> String {
    if readings.is_empty() {
        return "nothing is attached in this network namespace\n".to_owned();
    }
    let mut out = String::new();
    for reading in readings {
        let settings = &reading.record.settings;
        let gone = if reading.present {
            ""
        } else {
            " (the device no longer exists; hull linux detach removes its record)"
        };
        let _ = writeln!(out, "{}{gone}", reading.record.device);
        if let Some(queue) = &reading.phantom_queue {
            let _ = writeln!(
                out,
                "  phantom queue  {:?}, drain {}, threshold {} B: {} packets, {} marked, {} marked before, {} not \
                 ECN-capable, backlog {} B (largest {} B)",
                settings.phantom,
                bps(settings.drain_bps),
                settings.threshold_bytes,
                queue.packets,
                queue.marked,
                queue.already_marked,
                queue.not_capable,
                queue.backlog_bytes,
                queue.largest_backlog_bytes
            );
        }
        if let Some(pacer) = &reading.pacer_state {
            let _ = writeln!(
                out,
                "  pacer          {} packets, {} of associated flows, {} waited (up to {:.0} us), {} dropped; rate {}, \
                 backlog {} B; {} flows associated, {} echoes",
                pacer.packets,
                pacer.associated_packets,
                pacer.paced,
                pacer.longest_wait_us,
                pacer.dropped,
                bps(pacer.rate_bps),
                pacer.backlog_bytes,
                pacer.associated_flows,
                pacer.echoes
            );
        }
    }
    out
}

/// Formats the counters as text that Prometheus scrapes (for example from a textfile collector).
pub fn prometheus(readings: &[Reading]) -> String {
    type Value = fn(&Reading) -> Option<f64>;
    let metrics: [(&str, &str, &str, Value); 12] = [
        (
            "hull_phantom_packets_total",
            "counter",
            "Packets that passed the phantom queue.",
            |r| Some(r.phantom_queue.as_ref()?.packets as f64),
        ),
        (
            "hull_phantom_bytes_total",
            "counter",
            "Bytes that passed the phantom queue.",
            |r| Some(r.phantom_queue.as_ref()?.bytes as f64),
        ),
        (
            "hull_phantom_marked_total",
            "counter",
            "Packets marked CE.",
            |r| Some(r.phantom_queue.as_ref()?.marked as f64),
        ),
        (
            "hull_phantom_not_capable_total",
            "counter",
            "Packets above the threshold that are not ECN-capable.",
            |r| Some(r.phantom_queue.as_ref()?.not_capable as f64),
        ),
        (
            "hull_phantom_backlog_bytes",
            "gauge",
            "Virtual backlog.",
            |r| Some(r.phantom_queue.as_ref()?.backlog_bytes as f64),
        ),
        (
            "hull_pacer_packets_total",
            "counter",
            "Packets that the host sent.",
            |r| Some(r.pacer_state.as_ref()?.packets as f64),
        ),
        (
            "hull_pacer_paced_total",
            "counter",
            "Packets that had to wait.",
            |r| Some(r.pacer_state.as_ref()?.paced as f64),
        ),
        (
            "hull_pacer_dropped_total",
            "counter",
            "Packets dropped because the FIFO was full.",
            |r| Some(r.pacer_state.as_ref()?.dropped as f64),
        ),
        ("hull_pacer_rate_bps", "gauge", "The pacer's rate.", |r| {
            Some(r.pacer_state.as_ref()?.rate_bps as f64)
        }),
        (
            "hull_pacer_backlog_bytes",
            "gauge",
            "Bytes waiting in the pacer.",
            |r| Some(r.pacer_state.as_ref()?.backlog_bytes as f64),
        ),
        (
            "hull_association_echoes_total",
            "counter",
            "ACKs with ECN-Echo.",
            |r| Some(r.pacer_state.as_ref()?.echoes as f64),
        ),
        (
            "hull_associations_total",
            "counter",
            "Associations made or renewed.",
            |r| Some(r.pacer_state.as_ref()?.associations as f64),
        ),
    ];
    let mut out = String::new();
    for (name, kind, help, value) in metrics {
        let lines: Vec<String> = readings
            .iter()
            .filter_map(|reading| {
                Some(format!(
                    "{name}{{device=\"{}\"}} {}\n",
                    reading.record.device,
                    value(reading)?
                ))
            })
            .collect();
        if !lines.is_empty() {
            let _ = write!(
                out,
                "# HELP {name} {help}\n# TYPE {name} {kind}\n{}",
                lines.concat()
            );
        }
    }
    out
}
