//! Linux's sch_fq without its pacing, which the sender does: a queue for each flow, served in turn by
//! bytes, flows that were empty first. Sizes are bytes.
//!
//! Source: net/sched/sch_fq.c of Linux 6.1: a turn of two full packets, and ten for a flow that comes
//! into being. Linux keeps a flow's deficit for 40 ms after its last packet; here a flow that has left
//! the lists starts again.

use hull_core::fq_codel::FlowQueues;

use super::Scheduler;
use super::flow_numbers::FlowNumbers;
use crate::network::Packet;
use crate::network::queue::Heads;

/// Full packets of a turn, and of a flow's first turns.
const QUANTUM: u32 = 2;
const INITIAL: u32 = 10;

/// Lists of new and old flows.
#[derive(Debug)]
pub struct Fq {
    lists: FlowQueues,
    numbers: FlowNumbers,
}

impl Fq {
    /// Creates the lists; `mtu` is the largest packet.
    pub fn new(mtu: u32) -> Self {
        Fq {
            lists: FlowQueues::new(0, QUANTUM * mtu).with_initial(INITIAL * mtu),
            numbers: FlowNumbers::default(),
        }
    }
}

impl Scheduler for Fq {
    fn queue_of(&self, packet: &Packet, _count: usize) -> usize {
        self.numbers.of(packet.flow)
    }

    fn queue_name(&self, _queue: usize) -> Option<String> {
        None
    }

    fn on_filled(&mut self, queue: usize, packet: &Packet) {
        if self.numbers.take(packet.flow, queue) {
            self.lists.add();
        }
        self.lists.on_arrival(queue as u32);
    }

    fn next(&mut self, heads: &Heads<'_>) -> Option<usize> {
        let numbers = &mut self.numbers;
        let waits = |queue: u32| heads.holds(queue as usize);
        loop {
            let left = |queue: u32| numbers.give_back(queue as usize);
            let chosen = self.lists.next(waits, left)?;
            if let Some(bytes) = heads.bytes(chosen as usize) {
                self.lists.on_sent(chosen, u32::from(bytes));
                return Some(chosen as usize);
            }
            self.lists.defer(chosen);
        }
    }

    fn on_continued(&mut self, queue: usize, bytes: u16) {
        self.lists.on_sent(queue as u32, u32::from(bytes));
    }

    fn forget(&mut self, flow: u32) {
        self.numbers.forget(flow);
    }
}
