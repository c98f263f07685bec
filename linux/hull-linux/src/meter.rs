//! The latency meter between two devices of this machine, and its histogram.

use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::path::Path;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, MapHandle, TC_EGRESS, TC_INGRESS, TcHookBuilder};
use serde::Serialize;

use crate::machine;
use crate::problem::{Problem, input};
use crate::programs::latency_meter::LatencyMeterSkelBuilder;

/// Fraction bits of a bucket, as in `latency_meter.bpf.c`.
const SUB_BITS: u32 = 5;
const HISTOGRAM: &str = "/run/hull/bpf/latency_histogram";
const PRIORITY: u32 = 2;
const HANDLE: u32 = 0x4853;

/// Device in a network namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Name of the namespace in `ip netns`; `None` for the current one.
    pub namespace: Option<String>,
    /// The device.
    pub device: String,
}

impl std::str::FromStr for Spot {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (namespace, device) = match text.split_once('/') {
            Some((namespace, device)) => (Some(namespace.to_owned()), device),
            None => (None, text),
        };
        if device.is_empty() || namespace.as_deref() == Some("") {
            return Err(format!("\"{text}\" is invalid; expected DEV or NETNS/DEV"));
        }
        Ok(Spot {
            namespace,
            device: device.to_owned(),
        })
    }
}

impl Spot {
    fn enter(&self) -> Result<u32, Problem> {
        if let Some(name) = &self.namespace {
            machine::enter(name)?;
        }
        machine::ifindex(&self.device)
    }

    fn call(&self, arguments: &[&str]) -> Result<String, Problem> {
        match &self.namespace {
            Some(name) => machine::call("tc", &[&["-n", name], arguments].concat()),
            None => machine::call("tc", arguments),
        }
    }
}

/// Starts measuring from egress of `from` to ingress of `to`. Changes the process's namespace.
pub fn start(from: &Spot, to: &Spot, source_port: u16) -> Result<(), Problem> {
    let histogram = Path::new(HISTOGRAM);
    if histogram.exists() {
        return input("a meter is running; stop it with hull linux meter stop");
    }
    let mut storage = MaybeUninit::uninit();
    let mut open = LatencyMeterSkelBuilder::default().open(&mut storage)?;
    let constants = open.maps.rodata_data.as_deref_mut();
    constants.expect("the program has constants").source_port = source_port.to_be();
    let mut skel = open.load()?;
    skel.maps.histogram.pin(histogram)?;
    let ends = [
        (from, skel.progs.meter_enter.as_fd(), TC_EGRESS),
        (to, skel.progs.meter_leave.as_fd(), TC_INGRESS),
    ];
    for (spot, program, point) in ends {
        let attached = spot.enter().and_then(|ifindex| {
            let mut builder = TcHookBuilder::new(program);
            builder
                .ifindex(ifindex as i32)
                .handle(HANDLE)
                .priority(PRIORITY);
            let mut hook = builder.hook(point);
            hook.create()?;
            hook.attach()?;
            Ok(())
        });
        if let Err(problem) = attached {
            let _ = std::fs::remove_file(histogram);
            let _ = stop(from, to);
            return Err(problem);
        }
    }
    Ok(())
}

/// Removes the meter.
pub fn stop(from: &Spot, to: &Spot) -> Result<(), Problem> {
    let (handle, priority) = (format!("{HANDLE:#x}"), PRIORITY.to_string());
    for (spot, direction) in [(from, "egress"), (to, "ingress")] {
        let _ = spot.call(&[
            "filter",
            "del",
            "dev",
            &spot.device,
            direction,
            "handle",
            &handle,
            "prio",
            &priority,
            "bpf",
        ]);
    }
    let _ = std::fs::remove_file(HISTOGRAM);
    Ok(())
}

/// Statistics of a histogram, us.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Latency {
    /// Number of packets measured.
    pub count: u64,
    /// Mean, us.
    pub mean_us: f64,
    /// Median, us.
    pub p50_us: f64,
    /// 90th percentile, us.
    pub p90_us: f64,
    /// 99th percentile, us.
    pub p99_us: f64,
    /// 99.9th percentile, us.
    pub p999_us: f64,
}

/// Counts of the histogram, summed over processors.
pub fn counts() -> Result<Vec<u64>, Problem> {
    if !Path::new(HISTOGRAM).exists() {
        return input("no meter is running; start one with hull linux meter start");
    }
    let map = MapHandle::from_pinned_path(HISTOGRAM)?;
    (0..map.max_entries())
        .map(|at| {
            let values = map
                .lookup_percpu(&at.to_ne_bytes(), MapFlags::ANY)?
                .unwrap_or_default();
            Ok(values
                .iter()
                .map(|value| bytemuck::pod_read_unaligned::<u64>(value))
                .sum())
        })
        .collect()
}

/// Lower bound and width of a bucket, ns.
fn bounds(bucket: usize) -> (u64, u64) {
    let bucket = bucket as u64;
    if bucket < 2 << SUB_BITS {
        return (bucket, 1);
    }
    let shift = (bucket >> SUB_BITS) - 1;
    (
        ((bucket & ((1 << SUB_BITS) - 1)) + (1 << SUB_BITS)) << shift,
        1 << shift,
    )
}

/// Mean and percentiles of the difference of two histograms; each packet counts as the middle of
/// its bucket.
pub fn latency(before: &[u64], after: &[u64]) -> Latency {
    let counts: Vec<u64> = after
        .iter()
        .zip(before)
        .map(|(after, before)| after - before)
        .collect();
    let count: u64 = counts.iter().sum();
    if count == 0 {
        return Latency::default();
    }
    let middle = |bucket: usize| {
        let (from, wide) = bounds(bucket);
        (from as f64 + wide as f64 / 2.0) / 1e3
    };
    let total: f64 = counts
        .iter()
        .enumerate()
        .map(|(at, &n)| middle(at) * n as f64)
        .sum();
    let percentile = |share: f64| {
        let rank = (share * count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let at = counts.iter().position(|&n| {
            seen += n;
            seen >= rank
        });
        middle(at.unwrap_or_default())
    };
    Latency {
        count,
        mean_us: total / count as f64,
        p50_us: percentile(0.5),
        p90_us: percentile(0.9),
        p99_us: percentile(0.99),
        p999_us: percentile(0.999),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other() {
        let mut next = 0;
        for bucket in 0..(30 << SUB_BITS) {
            let (from, wide) = bounds(bucket);
            assert_eq!(from, next, "{bucket}");
            assert!(wide as f64 <= 1.0_f64.max(from as f64 / 32.0));
            next = from + wide;
        }
    }

    #[test]
    fn percentiles_match_the_counts() {
        let mut after = vec![0; 400];
        after[100] = 90;
        after[300] = 10;
        let found = latency(&vec![0; 400], &after);
        assert_eq!(found.count, 100);
        let (a, b) = (bounds(100), bounds(300));
        let middle = |(from, wide): (u64, u64)| (from as f64 + wide as f64 / 2.0) / 1e3;
        assert_eq!(
            (found.p50_us, found.p90_us, found.p99_us),
            (middle(a), middle(a), middle(b))
        );
        assert!((found.mean_us - (0.9 * middle(a) + 0.1 * middle(b))).abs() < 1e-9);
    }
}
