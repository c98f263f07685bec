//! Admission at receivers: requests and arrivals become grants, which are pulls to the senders.

use crate::network::Signal;
use crate::simulation::Simulation;
use crate::simulation::flow::connection::Way;

impl Simulation {
    /// Processes a request for the packets of a connection below `target`.
    pub(super) fn receive_request(&mut self, host: usize, slot: u32, target: u64) {
        let Some(admission) = self.endpoints.hosts.admissions.get_mut(host) else {
            return;
        };
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return;
        };
        let receiver = &connection.receiver;
        let (arrived, config) = (receiver.arrived_packets(), receiver.config());
        let Some(own) = config.admission else {
            return;
        };
        if connection.at_puller.is_none() && target <= arrived {
            return self.send_grant(host, slot, target); // all of it is there, or not needed
        }
        let packet_bytes = u64::from(config.mtu_bytes);
        let open = || admission.open(slot, packet_bytes, own.chunk, arrived);
        let number = *connection.at_puller.get_or_insert_with(open);
        match admission.on_request(number, target) {
            Some(granted) => self.send_grant(host, slot, granted),
            None => self.serve_admission(host),
        }
    }

    /// Returns the room of a connection's arrived packets to the receiver's window.
    pub(super) fn admit_after_data(&mut self, host: usize, slot: u32) {
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return;
        };
        let receiver = &connection.receiver;
        if let Some(number) = connection.at_puller
            && receiver.config().admission.is_some()
        {
            let admission = &mut self.endpoints.hosts.admissions[host];
            let settled = admission.on_arrival(number, receiver.arrived_packets());
            if settled.is_done {
                connection.at_puller = None;
            }
            if let Some(granted) = settled.granted {
                self.send_grant(host, slot, granted);
            }
            self.serve_admission(host);
        }
    }

    /// Returns the room of what a connection that was stopped does not send any more.
    pub(in crate::simulation) fn admit_after_stop(&mut self, slot: u32) {
        let host = self.endpoints.table.flows[slot as usize].dst as usize;
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return;
        };
        let (sender, receiver) = (&connection.sender, &connection.receiver);
        if let Some(number) = connection.at_puller
            && receiver.config().admission.is_some()
        {
            let admission = &mut self.endpoints.hosts.admissions[host];
            if admission.on_stop(number, sender.packets()).is_done {
                connection.at_puller = None;
            }
            self.serve_admission(host);
        }
    }

    /// Sends the grants that a receiver's window has room for.
    fn serve_admission(&mut self, host: usize) {
        while let Some(grant) = self.endpoints.hosts.admissions[host].next_grant() {
            self.send_grant(host, grant.owner, grant.granted);
        }
    }

    fn send_grant(&mut self, host: usize, slot: u32, granted: u64) {
        self.endpoints.tally.admission.grants += 1;
        let entropy = self.endpoints.any_entropy(host, slot);
        let signal = Signal::Pull { granted };
        self.send_signal(host, slot, (entropy, Way::Back), signal, None);
    }
}
