//! Active queue management that draws lots: RED and PI, with the random numbers of the port.

use hull_core::pi::Pi;
use hull_core::queue_estimate::QueueUnit;
use hull_core::red::Red;

use crate::random::Stream;

/// RED or PI.
#[derive(Clone, Debug)]
pub enum Rule {
    /// RED on the average queue.
    Red(Red),
    /// PI towards a reference queue.
    Pi(Pi),
}

/// A rule, what it counts the queue in, and its random numbers.
#[derive(Clone, Debug)]
pub struct Aqm {
    rule: Rule,
    unit: QueueUnit,
    random: Stream,
}

impl Aqm {
    /// With the random numbers of one port.
    pub fn new(rule: Rule, unit: QueueUnit, random: Stream) -> Self {
        Aqm { rule, unit, random }
    }

    /// Whether an arriving packet of `bytes` that finds this queue is to be marked; then ask
    /// [`refuses`](Self::refuses).
    pub fn on_arrival(&mut self, now_ps: u64, queue: (u64, u64), bytes: u32) -> bool {
        let (queue_bytes, queue_packets) = queue;
        let queue = match self.unit {
            QueueUnit::Bytes => queue_bytes,
            QueueUnit::Packets => queue_packets,
        };
        let random = self.random.bits();
        match &mut self.rule {
            Rule::Red(red) => red.on_arrival(now_ps, queue, bytes, random),
            Rule::Pi(pi) => pi.on_arrival(now_ps, queue, bytes, random),
        }
    }

    /// Whether the packet that has just arrived is to be dropped.
    pub fn refuses(&self) -> bool {
        match &self.rule {
            Rule::Red(red) => red.refuses(),
            Rule::Pi(_) => false,
        }
    }
}
