//! Timers of connections: timeouts, waits for credit, pacing, the receiver's groups and pulls. Times are ps.

use crate::engine::Kind;
use crate::host::HostSide;
use crate::network::Signal;
use crate::simulation::Simulation;
use crate::simulation::clock::Clock;
use crate::simulation::flow::connection::Way;

impl Simulation {
    /// Grants credit when a host's next pull is due.
    pub(in crate::simulation) fn serve_puller(&mut self, host: usize) {
        let now_ps = self.clock.now_ps;
        let puller = &mut self.endpoints.hosts.pullers[host];
        if puller.waits(now_ps) {
            return;
        }
        let (slot, pull) = loop {
            let Some((slot, pull)) = puller.next_pull() else {
                return;
            };
            if self.endpoints.table.is_pulled(slot, pull.sender) {
                break (slot, pull);
            }
            // The slot may already hold another connection.
            puller.remove(pull.sender);
        };
        let (granted, next_ps) = (pull.pulled, puller.sent(now_ps, &pull));
        self.clock.schedule(next_ps, Kind::Pull, host);
        let entropy = self.endpoints.any_entropy(host, slot);
        self.send_signal(
            host,
            slot,
            (entropy, Way::Back),
            Signal::Pull { granted },
            None,
        );
    }

    /// Processes the event of a connection's timer.
    pub(in crate::simulation) fn serve_message_timeout(&mut self, slot: u32) {
        let now_ps = self.clock.now_ps;
        let host = self.endpoints.table.flows[slot as usize].src as usize;
        let nic = self.endpoints.message_queue_of(slot);
        let senders = self.endpoints.hosts.message_nics[nic].senders();
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return;
        };
        let sender = &mut connection.sender;
        if sender.timeout_event_ps != now_ps {
            return; // an earlier event took its place
        }
        sender.timeout_event_ps = u64::MAX;
        if sender.timeout_ps <= now_ps
            && let Some(target) = sender.on_timeout(now_ps, senders)
        {
            self.send_signal(host, slot, (0, Way::Out), Signal::Demand { target }, None);
        }
        self.pump_message(slot);
    }

    /// Processes the event of a connection's wait for credit. Returns true if it was due.
    pub(in crate::simulation) fn serve_credit_wait(&mut self, slot: u32) -> bool {
        let now_ps = self.clock.now_ps;
        let host = self.endpoints.table.flows[slot as usize].src as usize;
        let nic = self.endpoints.message_queue_of(slot);
        let senders = self.endpoints.hosts.message_nics[nic].senders();
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return false;
        };
        let sender = &mut connection.sender;
        if sender.credit_event_ps != now_ps {
            return false; // of the slot's last connection
        }
        sender.credit_event_ps = u64::MAX;
        let is_due = sender.credit_ps <= now_ps;
        if is_due && let Some(target) = sender.on_credit_timeout(now_ps, senders) {
            self.endpoints.tally.admission.requests += u64::from(sender.asks_admission());
            self.send_signal(host, slot, (0, Way::Out), Signal::Demand { target }, None);
        }
        self.watch_message(slot);
        is_due
    }

    /// Processes the event of a connection's pacing.
    pub(in crate::simulation) fn serve_message_pace(&mut self, slot: u32) {
        let now_ps = self.clock.now_ps;
        if let Some(connection) = self.endpoints.table.connection(slot)
            && connection.sender.pace_event_ps == now_ps
        {
            connection.sender.pace_event_ps = u64::MAX;
            self.pump_message(slot);
        }
    }

    /// Schedules the events of a connection's timers.
    pub(in crate::simulation) fn watch_message(&mut self, slot: u32) {
        let now_ps = self.clock.now_ps;
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return;
        };
        let sender = &mut connection.sender;
        if sender.timeout_ps < sender.timeout_event_ps {
            sender.timeout_event_ps = sender.timeout_ps;
            (self.clock).schedule(sender.timeout_ps, Kind::Rto, slot as usize);
        }
        if sender.credit_ps < sender.credit_event_ps {
            sender.credit_event_ps = sender.credit_ps;
            self.clock
                .schedule(sender.credit_ps, Kind::Credit, slot as usize);
        }
        let ready_ps = sender.ready_ps();
        if ready_ps > now_ps
            && ready_ps < sender.pace_event_ps
            && !sender.waits_for_nic
            && sender.may_send()
        {
            sender.pace_event_ps = ready_ps;
            self.clock.schedule(ready_ps, Kind::Pace, slot as usize);
        }
    }

    /// Schedules the event of a receiver that waits for groups of packets. All groups wait equally
    /// long, so the first event is the earliest.
    pub(in crate::simulation) fn watch_groups(&mut self, slot: u32) {
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return;
        };
        let receiver = &mut connection.receiver;
        if receiver.group_event_ps == u64::MAX
            && let Some(at_ps) = receiver.next_wait_ps()
        {
            receiver.group_event_ps = at_ps;
            self.clock.schedule(at_ps, Kind::DelayedAck, slot as usize);
        }
    }

    /// Processes the event of a receiver's group timer.
    pub(in crate::simulation) fn serve_group_wait(&mut self, slot: u32) {
        let now_ps = self.clock.now_ps;
        let host = self.endpoints.table.flows[slot as usize].dst as usize;
        loop {
            let Some(connection) = self.endpoints.table.connection(slot) else {
                return;
            };
            let receiver = &mut connection.receiver;
            if receiver.group_event_ps != now_ps {
                return; // of the slot's last connection
            }
            let Some(signal) = receiver.take_overdue(now_ps) else {
                receiver.group_event_ps = u64::MAX;
                return self.watch_groups(slot);
            };
            let entropy = self.endpoints.any_entropy(host, slot);
            self.send_signal(host, slot, (entropy, Way::Back), signal, None);
        }
    }
}

impl HostSide {
    /// Adapts the rate at which a host grants credit, if it is adaptive.
    pub(in crate::simulation) fn adapt_pulls(&mut self, host: usize, clock: &mut Clock) {
        if let Some(at_ps) = self.pullers[host].adapt(clock.now_ps) {
            clock.schedule(at_ps, Kind::PullRate, host);
        }
    }
}
