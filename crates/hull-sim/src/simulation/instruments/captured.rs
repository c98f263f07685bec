//! Packets on captured links.

use super::Instruments;
use crate::measure::Context;
use crate::network::{Network, Packet, flags};
use crate::simulation::endpoints::Endpoints;
use crate::simulation::flow::NONE;

impl Instruments {
    /// Captures a packet that leaves the link of `port`.
    #[inline(never)]
    pub fn capture(
        &mut self,
        now_ps: u64,
        network: &Network,
        endpoints: &Endpoints,
        port: usize,
        packet: &Packet,
    ) {
        let Some(capture) = &mut self.logs.capture else {
            return;
        };
        let mut context = Context {
            now_ps,
            tail_ps: network.ports[port].tail_ps(packet),
            hosts: (0, 0),
            connection: 0,
            slot: packet.flow,
            from_opener: true,
            ends_message: false,
            payload_bytes: 0,
            sack: &[],
        };
        if packet.is_probe() {
            let (prober, client) = (self.prober, self.client);
            let (from, to) = if packet.has(flags::REPLY) {
                (client, prober)
            } else {
                (prober, client)
            };
            context.hosts = (from as u32, to as u32);
            capture.take(port, packet, &context);
            return;
        }
        let flow = &endpoints.table.flows[packet.flow as usize];
        // Data and SYN travel from the flow's source; acknowledgments and the answer to a SYN
        // travel back.
        let forward =
            packet.has(flags::DATA) || packet.flags & (flags::SYN | flags::ACK) == flags::SYN;
        context.hosts = if forward {
            (flow.src, flow.dst)
        } else {
            (flow.dst, flow.src)
        };
        context.connection = flow.number;
        context.from_opener = forward;
        if flow.reverse != NONE {
            let reverse = &endpoints.table.flows[flow.reverse as usize];
            if reverse.number < flow.number {
                context.connection = reverse.number;
                context.slot = flow.reverse;
                context.from_opener = !forward;
            }
        }
        if packet.has(flags::DATA) {
            let records_bytes = network.options.collected_bytes(packet);
            context.payload_bytes = packet.wire_bytes - endpoints.header_bytes - records_bytes;
            let end = (packet.seq).wrapping_add(u32::from(context.payload_bytes));
            context.ends_message = flow.ends_message(end);
        }
        let options = network.options.get(packet.options);
        context.sack = options.map_or(&[], |options| options.sack());
        capture.take(port, packet, &context);
    }
}
