//! Where flows wait: the parts of their completion times, by size class, for the mean and for the flows
//! beyond the 99th percentile. Times are ps.
//!
//! The last packet of a message decides, so its time is divided: until the transport sent it, its waits
//! in the sending host and at each tier of ports, the receiving host, and the rest, in which it moves.
//! By construction the parts add up to the completion time; that the rest is transmission and
//! propagation is tested. Flows are collected by completion time, within 0.8%, so memory does not grow
//! with their number.

use indexmap::IndexMap;
use serde::Serialize;

use crate::network::{FIRST_TIER, PACER, PLACES, SENDER, Waits};
use crate::workload::FlowRecord;

/// Number of bits of a completion time that distinguish flows: 2^-7 is 0.8%.
const BITS: u32 = 7;

/// Number of parts of a completion time.
const PARTS: usize = PLACES + 3;
const TRANSPORT: usize = PLACES;
const RECEIVER: usize = PLACES + 1;
const MOVING: usize = PLACES + 2;

/// Waits of a complete message.
#[derive(Clone, Copy, Debug)]
pub struct MessageWaits {
    /// Waits of its last packet until it arrived.
    pub waits: Waits,
    /// Time at which this packet arrived at the host, ps.
    pub arrived_ps: u64,
    /// Time at which the transport received it, ps.
    pub received_ps: u64,
    /// Time at which the message was complete, ps.
    pub complete_ps: u64,
}

impl MessageWaits {
    /// Parts of a flow's completion time, ps; they add up to it.
    fn parts(&self, record: &FlowRecord) -> [u64; PARTS] {
        let waits = &self.waits;
        let end_ps = record.start_ps + record.fct_ps;
        let mut parts = [0; PARTS];
        parts[..PLACES].copy_from_slice(&waits.waited_ps);
        // Until the packet was sent, and while an earlier one was missing.
        parts[TRANSPORT] =
            waits.sent_ps.saturating_sub(record.start_ps) + (self.complete_ps - self.received_ps);
        // Interrupts, stack and application.
        parts[RECEIVER] =
            (self.received_ps - self.arrived_ps) + end_ps.saturating_sub(self.complete_ps);
        parts[MOVING] = record.fct_ps.saturating_sub(parts.iter().sum());
        parts
    }
}

/// Flows with about the same completion time, times in ns: 2^64 ns are 585 years.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    flows: u64,
    parts_ns: [u64; PARTS],
}

/// Waits of the flows of a size class.
#[derive(Clone, Debug, Default)]
struct OfClass {
    flows: u64,
    /// Sums over all flows, ps.
    parts_ps: [u128; PARTS],
    /// Place in `sums`, and one more, by bucket; 0 for none.
    places: Vec<u32>,
    /// Sums of the buckets with flows.
    sums: Vec<Sums>,
    untraced: u64,
}

/// Waits of the measured flows of a run.
#[derive(Debug, Default)]
pub struct WaitLog {
    classes: Vec<OfClass>,
}

/// Means over flows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeanWaits {
    /// Number of flows.
    pub flows: u64,
    /// Parts of the completion time by place, us.
    #[serde(flatten)]
    pub parts_us: IndexMap<String, f64>,
}

/// Where the flows of a size class wait.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitSummary {
    /// Name of the class.
    pub class: String,
    /// Number of flows whose last packet was not the one to record, such as those that parity has
    /// completed.
    pub untraced: u64,
    /// All other flows.
    pub all: Option<MeanWaits>,
    /// Those from the 99th percentile of the completion time on, within 0.8%.
    pub tail: Option<MeanWaits>,
}

impl WaitLog {
    /// Creates the log of this number of size classes.
    pub fn new(classes: usize) -> Self {
        WaitLog {
            classes: vec![OfClass::default(); classes],
        }
    }

    /// Adds a completed flow.
    pub fn add(&mut self, record: &FlowRecord, waits: Option<&MessageWaits>) {
        let of_class = &mut self.classes[usize::from(record.class)];
        let Some(waits) = waits else {
            of_class.untraced += 1;
            return;
        };
        let parts = waits.parts(record);
        of_class.flows += 1;
        for (sum, part) in of_class.parts_ps.iter_mut().zip(parts) {
            *sum += u128::from(part);
        }
        let sums = of_class.sums_of(bucket(record.fct_ps));
        sums.flows += 1;
        for (sum, part) in sums.parts_ns.iter_mut().zip(parts) {
            *sum += part / 1000;
        }
    }

    /// Adds the flows of another part of the run.
    pub fn join(&mut self, other: &WaitLog) {
        for (here, there) in self.classes.iter_mut().zip(&other.classes) {
            here.untraced += there.untraced;
            here.flows += there.flows;
            for (sum, part) in here.parts_ps.iter_mut().zip(there.parts_ps) {
                *sum += part;
            }
            for (bucket, sums) in there.by_bucket() {
                here.sums_of(bucket).add(sums);
            }
        }
    }

    /// Waits by size class; `classes` and `tiers` are the names.
    pub fn summary(&self, classes: &[String], tiers: &[String]) -> Vec<WaitSummary> {
        let named = classes.iter().zip(&self.classes);
        named
            .map(|(name, of_class)| of_class.summary(name, tiers))
            .collect()
    }
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.flows += other.flows;
        for (here, there) in self.parts_ns.iter_mut().zip(&other.parts_ns) {
            *here += there;
        }
    }
}

impl OfClass {
    /// Sums of a bucket.
    fn sums_of(&mut self, bucket: usize) -> &mut Sums {
        if self.places.len() <= bucket {
            self.places.resize(bucket + 1, 0);
        }
        let place = &mut self.places[bucket];
        if *place == 0 {
            self.sums.push(Sums::default());
            *place = self.sums.len() as u32;
        }
        &mut self.sums[*place as usize - 1]
    }

    /// Buckets with flows, from the shortest completion times on.
    fn by_bucket(&self) -> impl DoubleEndedIterator<Item = (usize, &Sums)> {
        let places = self.places.iter().enumerate();
        let with_flows = places.filter(|(_, place)| **place > 0);
        with_flows.map(|(bucket, &place)| (bucket, &self.sums[place as usize - 1]))
    }

    fn summary(&self, class: &str, tiers: &[String]) -> WaitSummary {
        let mut tail = Sums::default();
        for (_, sums) in self.by_bucket().rev() {
            if tail.flows < self.flows.div_ceil(100) {
                tail.add(sums);
            }
        }
        WaitSummary {
            class: class.to_owned(),
            untraced: self.untraced,
            all: means(self.flows, self.parts_ps.map(|ps| ps as f64 * 1e-6), tiers),
            tail: means(tail.flows, tail.parts_ns.map(|ns| ns as f64 * 1e-3), tiers),
        }
    }
}

/// Means of the parts of this number of flows, whose sums are in us; `None` without any.
fn means(flows: u64, sums_us: [f64; PARTS], tiers: &[String]) -> Option<MeanWaits> {
    let mut parts_us = IndexMap::new();
    let mut add = |place: &str, part: usize| {
        parts_us.insert(format!("{place}_us"), sums_us[part] / flows as f64);
    };
    add("transport", TRANSPORT);
    add("sender", SENDER);
    add("pacer", PACER);
    for (at, tier) in tiers.iter().enumerate().take(PLACES - FIRST_TIER) {
        add(tier, FIRST_TIER + at);
    }
    add("receiver", RECEIVER);
    add("moving", MOVING);
    (flows > 0).then_some(MeanWaits { flows, parts_us })
}

/// Number that grows with the completion time, and differs for times that differ by more than 0.8%.
fn bucket(fct_ps: u64) -> usize {
    let exponent = fct_ps.max(1 << BITS).ilog2();
    let mantissa = (fct_ps >> (exponent - BITS)) as usize;
    ((exponent as usize) << (BITS + 1)) + mantissa
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow of class 0 that ends after `fct_us`, `sender_us` of it in the queue of its host.
    fn add(log: &mut WaitLog, fct_us: u64, sender_us: u64) {
        let us = 1_000_000;
        let mut waits = Waits::of_sent(10 * us);
        waits.add(SENDER, sender_us * us);
        let arrived_ps = (8 + fct_us) * us;
        let record = FlowRecord::new(9 * us, (9 + fct_us) * us, (0, 1), 1000, 0);
        let waits = MessageWaits {
            waits,
            arrived_ps,
            received_ps: arrived_ps,
            complete_ps: arrived_ps + us,
        };
        log.add(&record, Some(&waits));
    }

    #[test]
    fn parts_add_up_to_the_completion_time() {
        let mut log = WaitLog::new(1);
        for fct_us in 11..=110 {
            add(&mut log, fct_us, fct_us / 2);
        }
        let found = &log.summary(&["all".to_owned()], &["switch-host".to_owned()])[0];
        let all = found.all.as_ref().expect("flows");
        let whole: f64 = all.parts_us.values().sum();
        assert!((whole - 60.5).abs() < 1e-9, "{all:?}");
        // A microsecond before the packet was sent, and one after it arrived.
        assert!((all.parts_us["transport_us"] - 2.0).abs() < 1e-9);
        let tail = found.tail.as_ref().expect("flows");
        assert_eq!((all.flows, tail.flows), (100, 1));
        assert!((tail.parts_us["sender_us"] - 55.0).abs() < 1e-9);
    }

    #[test]
    fn buckets_ascend() {
        let found = Vec::from_iter((0..100_000).map(bucket));
        assert!(found.is_sorted());
        assert!((0..99_000).all(|fct_ps| bucket(fct_ps + fct_ps / 128 + 1) > bucket(fct_ps)));
        assert!(bucket(1 << 40) > bucket((1 << 40) - 1));
        assert_eq!(bucket(1 << 40), bucket((1 << 40) + 1));
    }
}
