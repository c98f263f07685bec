//! The ideal completion time of a flow, the denominator of its slowdown: the flow is alone in the
//! network, and neither window nor pacing limits it. Times are ps, sizes bytes.
//!
//! It includes the links of the flow's route at completion, the hosts' fixed delays, a handshake if the
//! flow opens a connection, and for a response its request and the server. Random times (service, a
//! stack's delay) count with their minimum, and a modelled receive path does not count. Hence no flow
//! whose packets leave in order is faster, and an uncontended flow without random times is exactly as
//! fast.
//!
//! Behind a cut-through switch with faster links the order matters: a short last packet begins there
//! when its head has arrived, and may take longer than its tail needs to arrive. If a packet that the
//! host's NIC dropped is retransmitted behind it, the message ends earlier, at each such link by at
//! most the time of the head.
//!
//! A message over several paths is as fast as its fastest path, and only the first and the last link
//! hold its packets apart. A short last packet may overtake the one before; an uncontended message
//! without windows and pacing whose last packet takes the same path takes longer by at most that
//! packet's time on the last link. It also takes longer if paths have different times, or links between
//! switches are slower than the hosts'.

use super::endpoints::Endpoints;
use super::flow::NONE;
use crate::network::{Network, Segments};
use crate::transport::message::MessageConfig;
use crate::workload::Besides;

impl Endpoints {
    /// Ideal completion time of a flow of `bytes`, ps; `None` if it has no route.
    pub(super) fn ideal_ps(
        &self,
        network: &Network,
        slot: u32,
        bytes: u64,
        besides: Besides,
    ) -> Option<u64> {
        let flow = &self.table.flows[slot as usize];
        let template = self.table.template(slot);
        if let Some(config) = template.messages() {
            return self.message_ideal_ps(network, slot, &config.common, (bytes, besides));
        }
        let stacks_ps = self.hosts.least_stacks_ps();
        let way_ps = |route: u32, bytes: u64| {
            let message = Segments {
                bytes,
                mss: self.mss,
                header_bytes: self.header_bytes,
            };
            Some(stacks_ps + network.alone_ps(route, &message)?)
        };
        let way_ps = |route: u32, bytes: u64| match self.table.sprays(slot) && route == flow.out {
            true => Some(stacks_ps + self.sprayed_ps(network, slot, bytes)?),
            false => way_ps(route, bytes),
        };
        let mut ideal_ps = way_ps(flow.out, bytes)? + besides.application_ps;
        if template.has_handshake && (flow.transient || flow.is_half) {
            // SYN and SYN-ACK are headers without payload.
            ideal_ps += way_ps(flow.out, 0)? + way_ps(flow.back, 0)?;
        }
        if besides.request_bytes > 0 && flow.reverse != NONE {
            let request = self.table.flows[flow.reverse as usize].out;
            ideal_ps += way_ps(request, besides.request_bytes)? + besides.server_ps;
            // A server that answers at once has already sent the acknowledgment of the request.
            let first_port = || network.first_port(flow.out);
            let nic = self.hosts.nic(flow.src as usize, first_port);
            let link = &network.ports[self.hosts.ports[nic] as usize];
            if template.acks_each && link.is_fifo() {
                let ack_ps = link.serialization_ps(self.header_bytes);
                ideal_ps += ack_ps.saturating_sub(besides.server_ps);
            }
        }
        Some(ideal_ps)
    }

    /// Time of a stream's data alone on the paths that it has used, ps.
    fn sprayed_ps(&self, network: &Network, slot: u32, bytes: u64) -> Option<u64> {
        let message = Segments {
            bytes,
            mss: self.mss,
            header_bytes: self.header_bytes,
        };
        let flow = &self.table.flows[slot as usize];
        let shapes = &self.table.spraying[self.table.place(slot)].shapes;
        match (shapes.spread, &shapes.routes[..]) {
            (_, []) => network.alone_ps(flow.out, &message),
            (false, &[route]) => network.alone_ps(route, &message),
            (_, routes) => {
                let nics = [flow.src, flow.dst].map(|host| self.nics_of_message(host));
                network.spread_ps(routes, &message, nics)
            }
        }
    }

    /// Number of NICs of a host over which one message is spread.
    fn nics_of_message(&self, host: u32) -> u64 {
        let first = self.hosts.nics_of(host as usize).start;
        self.hosts.message_nics_with(first).len() as u64
    }

    /// Ideal completion time of a message, ps; it passes no stack and has no handshake. Of its paths
    /// those count that it has used.
    fn message_ideal_ps(
        &self,
        network: &Network,
        slot: u32,
        config: &MessageConfig,
        (bytes, besides): (u64, Besides),
    ) -> Option<u64> {
        let way_ps = |slot: u32, bytes: u64| {
            let message = Segments {
                bytes: config.sufficient_bytes(bytes),
                mss: config.mss() as u16,
                header_bytes: config.header_bytes,
            };
            let connection = self.table.connection_at(slot)?;
            match (connection.shapes.spread, &connection.shapes.routes[..]) {
                (false, &[route]) => network.alone_ps(route, &message),
                (_, routes) => {
                    let flow = &self.table.flows[slot as usize];
                    let nics = [flow.src, flow.dst].map(|host| self.nics_of_message(host));
                    network.spread_ps(routes, &message, nics)
                }
            }
        };
        let mut ideal_ps = way_ps(slot, bytes)? + besides.application_ps;
        let reverse = self.table.flows[slot as usize].reverse;
        if besides.request_bytes > 0 && reverse != NONE {
            ideal_ps += way_ps(reverse, besides.request_bytes)? + besides.server_ps;
        }
        Some(ideal_ps)
    }
}
