//! FQ-CoDel at a port: a queue with CoDel per flow, served by deficit round robin, new flows first (RFC
//! 8290; [`hull_core::fq_codel`] and [`hull_core::codel`] have the sources).
//!
//! At a switch a flow's number selects its queue, so flows share a queue only if they outnumber the
//! queues; Linux hashes addresses and ports. At a host each flow has its own, for as long as it is in a
//! list. A packet that finds the port's buffer full is dropped; Linux drops from the longest queue.
//! Times are ps, sizes bytes.

use hull_core::codel::{Codel, CodelConfig};
use hull_core::fq_codel::{Flow, FlowQueues};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow_numbers::FlowNumbers;
use super::{Leaving, Scheduler};
use crate::memory::block_of;
use crate::network::packet::Packet;
use crate::network::queue::Heads;
use crate::network::rules::{Decision, Site};
use crate::problem::{Problem, quoted, require};
use crate::units::Time;

/// FQ-CoDel: a queue with CoDel for each flow, served by deficit round robin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FqCodel {
    /// Target delay.
    #[serde(default = "target")]
    pub target: Time,
    /// Time above the target after which the first packet is marked or dropped: a large round trip.
    #[serde(default = "interval")]
    pub interval: Time,
    /// Number of queues; 1 is CoDel.
    #[serde(default = "flows")]
    pub flows: u32,
}

const fn target() -> Time {
    Time(5_000_000_000)
}
const fn interval() -> Time {
    Time(100_000_000_000)
}
const fn flows() -> u32 {
    1024
}

impl Default for FqCodel {
    fn default() -> Self {
        FqCodel {
            target: target(),
            interval: interval(),
            flows: flows(),
        }
    }
}

impl FqCodel {
    /// Checks the settings.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        for (key, time) in [("target", self.target), ("interval", self.interval)] {
            require(
                (1..=10_000_000_000_000).contains(&time.0),
                &format!("switch.fq_codel.{key}"),
                quoted(time),
                "a time above 0, at most 10s",
            )?;
        }
        require(
            (1..=65536).contains(&self.flows),
            "switch.fq_codel.flows",
            self.flows,
            "1 to 65536",
        )
    }
}

/// FQ-CoDel at one port.
#[derive(Debug)]
pub struct FlowCodels {
    flows: FlowQueues,
    codels: Vec<Codel>,
    /// Of a host, where each flow has a queue.
    numbers: Option<FlowNumbers>,
    /// State of a new queue.
    unused: Codel,
}

impl FlowCodels {
    /// Creates FQ-CoDel with these settings. The quantum is the largest packet.
    pub fn new(settings: &FqCodel, site: &Site) -> Self {
        let codel = Codel::new(&CodelConfig {
            target_ps: settings.target.0,
            interval_ps: settings.interval.0,
            mtu_bytes: site.mtu,
        });
        FlowCodels {
            flows: FlowQueues::new(settings.flows, site.mtu),
            codels: vec![codel.clone(); settings.flows as usize],
            numbers: None,
            unused: codel,
        }
    }

    /// Creates FQ-CoDel of a host with these settings, whose number of queues does not count.
    pub fn of_host(settings: &FqCodel, site: &Site) -> Self {
        let none = FqCodel {
            flows: 0,
            ..settings.clone()
        };
        FlowCodels {
            numbers: Some(FlowNumbers::default()),
            ..FlowCodels::new(&none, site)
        }
    }
}

impl Scheduler for FlowCodels {
    fn queue_of(&self, packet: &Packet, count: usize) -> usize {
        match &self.numbers {
            Some(numbers) => numbers.of(packet.flow),
            None => packet.flow as usize % count,
        }
    }

    fn queue_name(&self, _queue: usize) -> Option<String> {
        None
    }

    fn on_filled(&mut self, queue: usize, packet: &Packet) {
        if let Some(numbers) = &mut self.numbers
            && numbers.take(packet.flow, queue)
        {
            self.flows.add();
            self.codels.push(self.unused.clone());
        }
        self.flows.on_arrival(queue as u32);
    }

    fn next(&mut self, heads: &Heads<'_>) -> Option<usize> {
        let waits = |queue: u32| heads.holds(queue as usize);
        loop {
            let left = |queue: u32| {
                if let Some(numbers) = &mut self.numbers {
                    numbers.give_back(queue as usize);
                    self.codels[queue as usize] = self.unused.clone();
                }
            };
            let chosen = self.flows.next(waits, left)?;
            if heads.bytes(chosen as usize).is_some() {
                return Some(chosen as usize);
            }
            self.flows.defer(chosen);
        }
    }

    fn on_leaving(&mut self, leaving: &Leaving, packet: &Packet) -> Decision {
        let signal = self.codels[leaving.queue].on_departure(
            leaving.now_ps,
            leaving.waited_ps,
            leaving.queue_bytes,
            packet.is_ecn_capable(),
        );
        let decision = Decision::from(signal);
        if decision != Decision::Drop {
            let bytes = u32::from(packet.wire_bytes);
            self.flows.on_sent(leaving.queue as u32, bytes);
        }
        decision
    }

    fn forget(&mut self, flow: u32) {
        if let Some(numbers) = &mut self.numbers {
            numbers.forget(flow);
        }
    }

    fn heap_bytes(&self) -> u64 {
        let queues = self.codels.len();
        block_of::<Codel>(queues) + block_of::<Flow>(queues)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::flags;
    use crate::units::Rate;

    /// Decisions on packets with these ECN bits, of which one leaves per ms after a wait of 20 ms.
    fn decisions(ecn: u16) -> Vec<Decision> {
        let site = Site {
            rate: Rate(50_000_000),
            mtu: 1500,
            seed: 1,
            port: 0,
        };
        let settings: FqCodel = toml::from_str("flows = 1").expect("has defaults");
        let mut port = FlowCodels::new(&settings, &site);
        let packet = Packet::with_flags(flags::DATA | ecn);
        let mut decide = |ms: u64| {
            let leaving = Leaving {
                now_ps: ms * 1_000_000_000,
                waited_ps: 20_000_000_000,
                queue: 0,
                queue_bytes: 150_000,
                all_bytes: 150_000,
                others_wait: false,
            };
            port.on_leaving(&leaving, &packet)
        };
        (1..1000).map(&mut decide).collect()
    }

    /// A packet marked by an earlier port is ECN-capable: it is marked like ECT(0), not dropped.
    #[test]
    fn packets_with_ce_are_not_dropped() {
        let marked = decisions(flags::ECT0);
        assert!(marked.contains(&Decision::Mark) && !marked.contains(&Decision::Drop));
        assert_eq!(decisions(flags::CE), marked);
        assert!(decisions(0).contains(&Decision::Drop));
    }
}
