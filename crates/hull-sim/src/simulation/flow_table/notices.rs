//! Notices of switches to the senders of flows (QCN). A notice travels by itself from the switch to the
//! sender. It is of the first class and small, so it encounters no queue: it takes the time of a 64-byte
//! frame back over the links that the packet came by. It is not a packet of the run: it uses no capacity
//! and is never lost. Times are ps.

use super::FlowTable;
use crate::engine::Kind;
use crate::network::rules::Notice;
use crate::network::{Hop, Network};
use crate::simulation::clock::Clock;

/// Size of a notice on the wire, bytes: Ethernet's smallest frame.
const NOTICE_BYTES: u16 = 64;

impl FlowTable {
    /// Sends the notice of a port's rules after a packet of `flow` was offered to the port. `hop`
    /// is the place after the port in the packet's route.
    #[inline(never)]
    pub fn send_notice(
        &mut self,
        flow: u32,
        hop: u32,
        notice: Notice,
        clock: &mut Clock,
        network: &Network,
    ) {
        if !self.has_pace(flow) {
            return; // It is not read there.
        }
        let mut at_ps = clock.now_ps;
        for passed in self.flows[flow as usize].out..hop - 1 {
            if let Hop::Port(port) = network.hop(passed) {
                // The two directions of a link are neighbours.
                at_ps += network.ports[port ^ 1].transit_ps(NOTICE_BYTES);
            }
        }
        let at = self.place(flow);
        let notices = &mut self.paced[at].notices;
        let place = notices.partition_point(|&(other, _)| other > at_ps);
        notices.insert(place, (at_ps, notice));
        clock.schedule(at_ps, Kind::Notice, flow as usize);
    }

    /// Processes the notices that have arrived at a sender.
    pub fn take_notices(&mut self, slot: u32, now_ps: u64) {
        let at = self.place(slot);
        while let Some(&(at_ps, notice)) = self.paced[at].notices.last()
            && at_ps <= now_ps
        {
            self.paced[at].notices.pop();
            if !self.limit(slot, now_ps, notice) {
                self.senders[at].on_notice(now_ps, notice);
            }
        }
        self.adjust_pace(slot, now_ps);
    }
}
