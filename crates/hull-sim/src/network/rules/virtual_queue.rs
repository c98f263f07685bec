//! A phantom queue in parallel with the port's own queue (paper, remark 1: the virtual queue of earlier
//! schemes). It counts arriving packets; the phantom queue in series counts departing ones. Bytes.

use hull_core::phantom_queue::PhantomQueue;

use super::{Arrival, Decision, Rule};
use crate::network::{OptionTable, Packet};

/// Virtual queue of one port.
#[derive(Debug)]
pub struct VirtualQueue(pub PhantomQueue);

impl Rule for VirtualQueue {
    fn decides_on_arrival(&self) -> bool {
        true
    }

    fn on_arrival(
        &mut self,
        arrival: &Arrival,
        packet: &Packet,
        _options: &OptionTable,
    ) -> Decision {
        let VirtualQueue(queue) = self;
        Decision::mark_if(queue.on_packet(arrival.now_ps, u32::from(packet.wire_bytes)))
    }

    fn on_failure(&mut self, now_ps: u64) {
        self.0.clear(now_ps);
    }

    fn virtual_bytes(&self, now_ps: u64) -> Option<u64> {
        Some(self.0.backlog_bytes(now_ps))
    }
}
