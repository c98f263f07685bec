//! Packets on links that are captured, or whose far end cuts through.

use super::Simulation;
use super::flows::NONE;
use crate::measure::Context;
use crate::network::{Packet, flags};

impl Simulation {
    /// Looks at a packet that comes off the link of `port`; returns how long after it its last bit
    /// follows, ps.
    #[inline(never)]
    pub(super) fn observe(&mut self, port: usize, packet: &Packet) -> u64 {
        let link = &self.fabric.network.ports[port];
        let tail_ps = link.tail_ps(packet);
        if link.is_captured() {
            self.capture(port, packet, tail_ps);
        }
        tail_ps
    }

    fn capture(&mut self, port: usize, packet: &Packet, tail_ps: u64) {
        let Some(capture) = &mut self.instruments.logs.capture else {
            return;
        };
        let mut context = Context {
            now_ps: self.clock.now_ps,
            tail_ps,
            hosts: (0, 0),
            connection: 0,
            slot: packet.flow,
            from_opener: true,
            ends_message: false,
            sack: &[],
        };
        if packet.has(flags::PROBE) {
            let (prober, client) = (self.instruments.prober, self.instruments.client);
            let (from, to) = if packet.has(flags::REPLY) {
                (client, prober)
            } else {
                (prober, client)
            };
            context.hosts = (from as u32, to as u32);
            capture.take(port, packet, &context);
            return;
        }
        let flow = &self.endpoints.table.flows[packet.flow as usize];
        // Data and SYN run from the flow's source, acknowledgments and the answer to a SYN back.
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
            let reverse = &self.endpoints.table.flows[flow.reverse as usize];
            if reverse.number < flow.number {
                context.connection = reverse.number;
                context.slot = flow.reverse;
                context.from_opener = !forward;
            }
        }
        if packet.has(flags::DATA) {
            let payload = u32::from(packet.wire_bytes - self.endpoints.header_bytes);
            context.ends_message = flow.ends_message(packet.seq.wrapping_add(payload));
        }
        let options = self.fabric.network.options.get(packet.options);
        context.sack = options.map_or(&[], |options| options.sack.as_slice());
        capture.take(port, packet, &context);
    }
}
