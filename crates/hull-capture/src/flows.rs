//! Groups packets into flows.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;

use crate::packet::Ends;
use crate::{Capture, Limits};

/// One flow of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Time of the first packet with data, ns since 1970.
    pub start_ns: i64,
    /// Time of the last packet with data, ns since 1970.
    pub end_ns: i64,
    /// Bytes of data.
    pub bytes: u64,
    /// Of these, bytes of packets that repeat an earlier one.
    pub(crate) repeated: u64,
    /// Number of the sender's address.
    pub src: u32,
    /// Number of the receiver's address.
    pub dst: u32,
    /// Port of the sender.
    pub src_port: u16,
    /// Port of the receiver.
    pub dst_port: u16,
}

/// Flows that may still receive packets, and ended flows.
pub(crate) struct Table {
    limits: Limits,
    open: HashMap<Ends, Flow>,
    numbers: HashMap<IpAddr, u32>,
    capture: Capture,
}

impl Table {
    pub fn new(limits: Limits) -> Self {
        Table {
            limits,
            open: HashMap::new(),
            numbers: HashMap::new(),
            capture: Capture::default(),
        }
    }

    /// Adds a packet with data at `time`, ns; `repeats` if it looks like an earlier one. Returns
    /// false if the number of flows exceeds the limit.
    pub fn add(&mut self, ends: Ends, time: i64, bytes: u64, repeats: bool) -> bool {
        let mut number = |address: IpAddr| {
            let next = self.capture.addresses.len() as u32;
            *self.numbers.entry(address).or_insert_with(|| {
                self.capture.addresses.push(address.to_string());
                next
            })
        };
        let fresh = Flow {
            start_ns: time,
            end_ns: time,
            bytes,
            repeated: if repeats { bytes } else { 0 },
            src: number(ends.src),
            dst: number(ends.dst),
            src_port: ends.src_port,
            dst_port: ends.dst_port,
        };
        match self.open.entry(ends) {
            Entry::Vacant(place) => {
                place.insert(fresh);
            }
            Entry::Occupied(mut place) => {
                let flow = place.get_mut();
                if time.saturating_sub(flow.end_ns) > self.limits.idle_ns {
                    self.capture.flows.push(std::mem::replace(flow, fresh));
                } else {
                    // Packets from different interfaces of one capture may be slightly out of
                    // order.
                    flow.start_ns = flow.start_ns.min(time);
                    flow.end_ns = flow.end_ns.max(time);
                    flow.bytes += bytes;
                    flow.repeated += fresh.repeated;
                }
            }
        }
        self.capture.flows.len() + self.open.len() <= self.limits.flows
    }

    /// Processes the opening of a connection: an earlier flow with these ends is over.
    pub fn open(&mut self, ends: &Ends) {
        self.capture.flows.extend(self.open.remove(ends));
    }

    /// Ends all flows and returns the capture, `once` without the bytes of repeated packets.
    pub fn end(mut self, once: bool) -> Capture {
        self.capture.flows.extend(self.open.into_values());
        if once {
            for flow in &mut self.capture.flows {
                flow.bytes -= flow.repeated;
            }
            self.capture.flows.retain(|flow| flow.bytes > 0);
        }
        self.capture
            .flows
            .sort_unstable_by_key(|f| (f.start_ns, f.src, f.dst, f.src_port, f.dst_port, f.end_ns));
        self.capture
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(src_port: u16) -> Ends {
        Ends {
            src: IpAddr::from([10, 0, 0, 1]),
            dst: IpAddr::from([10, 0, 0, 2]),
            src_port,
            dst_port: 80,
            protocol: 6,
        }
    }

    fn table(flows: usize) -> Table {
        Table::new(Limits {
            idle_ns: 100,
            flows,
        })
    }

    #[test]
    fn gap_or_syn_ends_a_flow() {
        let mut table = table(10);
        for (port, time, bytes) in [(1, 0, 5), (1, 100, 6), (2, 150, 9), (1, 201, 7)] {
            assert!(table.add(ends(port), time, bytes, false));
        }
        table.open(&ends(2));
        assert!(table.add(ends(2), 160, 1, false));
        let capture = table.end(false);
        let found = capture
            .flows
            .iter()
            .map(|f| (f.src_port, f.start_ns, f.end_ns, f.bytes));
        assert_eq!(
            Vec::from_iter(found),
            [
                (1, 0, 100, 11),
                (2, 150, 150, 9),
                (2, 160, 160, 1),
                (1, 201, 201, 7)
            ]
        );
        assert_eq!(capture.addresses, ["10.0.0.1", "10.0.0.2"]);
    }

    #[test]
    fn more_flows_than_the_limit() {
        let mut table = table(1);
        assert!(table.add(ends(1), 0, 5, false));
        assert!(table.add(ends(1), 1, 5, false));
        assert!(!table.add(ends(2), 2, 5, false));
    }
}
