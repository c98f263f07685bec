//! Notices of dropped packets to their flows. Times are ps.
//!
//! No sender sees a drop. A flow learns of it only so that its slot can be reused when none of its
//! packets is left in the network. The notice takes at least the smallest packet's time from a port
//! between switches to the edge ([`Notice`](crate::topology::Notice)).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::clock::Clock;
use super::{Endpoints, Fabric, Tally};
use crate::engine::Kind;
use crate::network::{OptionTable, Packet, flags};

/// A loss that its flow does not know of yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// When it is to know, ps.
    pub at_ps: u64,
    /// The flow's slot.
    pub flow: u32,
    /// The entry of the packet's options.
    pub options: u32,
}

/// Losses by the time when they become known.
pub type Losses = BinaryHeap<Reverse<Loss>>;

impl Endpoints {
    /// A packet is dropped in a host or with its link, and its flow knows at once.
    pub(super) fn drop_packet(
        &mut self,
        packet: Packet,
        options: &mut OptionTable,
        tally: &mut Tally,
    ) {
        tally.packets_dropped += 1;
        if packet.flags & flags::PROBE == 0 {
            self.forget_packet(packet.flow, packet.options, options, tally);
        }
    }

    /// A packet is dropped by a port.
    #[cold]
    #[inline(never)]
    pub(super) fn lose_packet(
        &mut self,
        packet: &Packet,
        clock: &mut Clock,
        fabric: &mut Fabric,
        tally: &mut Tally,
    ) {
        let later_ps = fabric.notice.to_edge_ps;
        if later_ps == 0 || packet.flags & flags::PROBE != 0 {
            self.drop_packet(*packet, &mut fabric.network.options, tally);
            return;
        }
        tally.packets_dropped += 1;
        let loss = Loss {
            at_ps: clock.now_ps + later_ps,
            flow: packet.flow,
            options: packet.options,
        };
        self.await_loss(loss, clock);
    }

    /// A loss will become known. Where the flows are elsewhere, someone has to
    /// [take it there](Endpoints::take_losses).
    pub(super) fn await_loss(&mut self, loss: Loss, clock: &mut Clock) {
        self.losses.push(Reverse(loss));
        if self.keeps_flows {
            clock.schedule(loss.at_ps, Kind::Loss, 0);
        }
    }

    /// Takes all losses that are not known yet, and calls `carry` with each.
    pub(super) fn take_losses(&mut self, mut carry: impl FnMut(Loss)) {
        while let Some(Reverse(loss)) = self.losses.pop() {
            carry(loss);
        }
    }

    /// A flow gets to know of a loss.
    pub(super) fn learn_of_loss(&mut self, options: &mut OptionTable, tally: &mut Tally) {
        if let Some(Reverse(loss)) = self.losses.pop() {
            self.forget_packet(loss.flow, loss.options, options, tally);
        }
    }

    /// The run is over before some flows know of their losses.
    pub(super) fn forget_losses(&mut self, options: &mut OptionTable, tally: &mut Tally) {
        while !self.losses.is_empty() {
            self.learn_of_loss(options, tally);
        }
    }

    fn forget_packet(
        &mut self,
        flow: u32,
        entry: u32,
        options: &mut OptionTable,
        tally: &mut Tally,
    ) {
        options.take(entry);
        let of_flow = &mut self.table.flows[flow as usize];
        of_flow.in_flight -= 1;
        let transport = usize::from(of_flow.transport);
        if let Some(count) = tally.of_transports.get_mut(transport) {
            count.drops += 1;
        }
        self.table.release_if_done(flow);
    }
}
