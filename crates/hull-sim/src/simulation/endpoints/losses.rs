//! Notices of dropped packets to their flows. Times are ps.
//!
//! No sender sees a drop. A flow learns of it only so that its slot can be reused when none of its
//! packets is left in the network. The notice takes at least the smallest packet's time from a port
//! between switches to the edge ([`Notice`](crate::topology::Notice)).

use std::cmp::Reverse;

use super::Endpoints;
use crate::engine::Kind;
use crate::network::{OptionTable, Packet};
use crate::simulation::clock::Clock;
use crate::simulation::losses::Loss;

impl Endpoints {
    /// Drops a packet in a host or with its link; its flow knows at once.
    pub fn drop_packet(&mut self, packet: Packet, now_ps: u64, options: &mut OptionTable) {
        self.tally.dropped += 1;
        if !packet.is_probe() {
            let loss = Loss {
                at_ps: now_ps,
                flow: packet.flow,
                options: packet.options,
            };
            self.forget_packet(loss, options);
        }
    }

    /// Processes a packet that a port drops.
    #[cold]
    #[inline(never)]
    pub fn lose_packet(&mut self, packet: &Packet, clock: &mut Clock, options: &mut OptionTable) {
        if self.notice_ps == 0 || packet.is_probe() {
            self.drop_packet(*packet, clock.now_ps, options);
            return;
        }
        self.tally.dropped += 1;
        let loss = Loss {
            at_ps: clock.now_ps + self.notice_ps,
            flow: packet.flow,
            options: packet.options,
        };
        clock.schedule(loss.at_ps, Kind::Loss, 0);
        self.losses.push(Reverse(loss));
    }

    /// Reports the next loss to its flow.
    pub fn learn_of_loss(&mut self, options: &mut OptionTable) {
        if let Some(Reverse(mut loss)) = self.losses.pop() {
            // A flow that begins at the same time does so first: a slot is free after that.
            loss.at_ps += 1;
            self.forget_packet(loss, options);
        }
    }

    /// Reports the remaining losses at the end of the run.
    pub fn forget_losses(&mut self, options: &mut OptionTable) {
        while !self.losses.is_empty() {
            self.learn_of_loss(options);
        }
    }

    fn forget_packet(&mut self, loss: Loss, options: &mut OptionTable) {
        options.take(loss.options);
        let of_flow = &mut self.table.flows[loss.flow as usize];
        of_flow.in_flight = of_flow.in_flight.wrapping_sub(1);
        let transport = usize::from(of_flow.transport);
        if let Some(count) = self.tally.of_transports.get_mut(transport) {
            count.drops += 1;
        }
        self.table.release_if_done(loss.flow, loss.at_ps);
    }
}
