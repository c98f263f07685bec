//! Readings of a port for samples, probes and live runs: what waits, the phantom queue and the bytes that
//! the link has carried. They do not change the port.

use super::super::options::OptionTable;
use super::super::queues::Queues;
use super::Port;
use super::queued::Queued;

/// Counters of a port at one time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// Bytes that the link has carried, including the sent part of a packet in transmission.
    pub carried_bytes: f64,
    /// Bytes of the packets whose transmission has started.
    pub sent_bytes: u64,
    /// Number of these packets, modulo 2^32.
    pub sent_packets: u32,
    /// Sum of the packets' waiting times from arrival to start of transmission, ps.
    pub waited_ps: u64,
    /// Number of these packets, modulo 2^32: arrived ones of a FIFO, selected ones of several
    /// queues. A packet lost with a failed link counts with the time that it would have waited.
    pub waited_packets: u32,
}

impl Port {
    /// Whether packets that find no room are trimmed.
    pub fn can_trim(&self) -> bool {
        self.queued().is_some_and(Queued::can_trim)
    }

    /// Number of packets that the port has trimmed.
    pub fn trims(&self) -> u64 {
        self.queued().map_or(0, |queued| queued.trims)
    }

    /// Names of the queues in results; empty for a FIFO, or if each flow has a queue.
    pub(super) fn queue_names(&self) -> Vec<String> {
        self.queued()
            .map_or_else(Vec::new, |queued| queued.queues.names(queued.can_trim()))
    }

    /// Number of packets in the queues of a port that is not a FIFO.
    pub fn queued_packets(&self) -> usize {
        self.queues().map_or(0, Queues::packets)
    }

    /// Waiting time of a packet of the first class that arrives at `now_ps`, ps; no packet
    /// overtakes it.
    pub fn first_class_wait_ps(&self, now_ps: u64) -> u64 {
        let (bytes, packets) = self.queues().map_or((0, 0), |queues| queues.queue(0));
        let ahead_bytes = bytes + packets * u64::from(self.framing_bytes);
        let ahead_ps = (u128::from(ahead_bytes) * u128::from(self.ps_per_byte_q16)) >> 16;
        self.busy_until_ps.saturating_sub(now_ps) + ahead_ps as u64
    }

    /// Counters at `now_ps`.
    pub fn reading(&mut self, now_ps: u64, options: &mut OptionTable) -> Reading {
        let carried_bytes = self.carried_bytes(now_ps, options);
        let (sent_bytes, sent_packets) = self.sent();
        Reading {
            carried_bytes,
            sent_bytes,
            sent_packets,
            waited_ps: self.waited_ps,
            waited_packets: sent_packets
                .wrapping_add(self.waiting_packets())
                .wrapping_add(self.lost_waiting),
        }
    }

    /// Bytes and packets (modulo 2^32) whose transmission had started at the last
    /// [`Port::advance`].
    fn sent(&self) -> (u64, u32) {
        (
            self.sent_bytes - self.waiting_bytes,
            self.sent_packets.wrapping_sub(self.waiting_packets()),
        )
    }

    /// Bytes of the phantom queue at `now_ps`, if there is one. A phantom queue in series also
    /// counts packets that still wait; these are subtracted.
    pub fn phantom_bytes(&mut self, now_ps: u64, options: &mut OptionTable) -> Option<u64> {
        self.advance(now_ps, options);
        let mut rules = self.extras.iter().flat_map(|extras| &extras.rules);
        let of_records = || {
            self.extras
                .as_ref()?
                .records
                .as_ref()?
                .virtual_bytes(now_ps)
        };
        let of_rules = rules.find_map(|rule| rule.virtual_bytes(now_ps));
        if let Some(bytes) = of_rules.or_else(of_records) {
            return Some(bytes);
        }
        let phantom_queue = self.phantom_queue.as_ref()?;
        Some(phantom_queue.backlog_bytes_before(now_ps, self.waiting_bytes))
    }

    /// Number of packets that the link has lost at random, if it loses any; [`Port::drops`] includes
    /// them.
    pub fn lost(&self) -> Option<u64> {
        let mut rules = self.extras.iter().flat_map(|extras| &extras.rules);
        rules.find_map(|rule| rule.lost())
    }

    /// Bytes that the link has carried until `now_ps`, without framing; of the packet in
    /// transmission, the sent part.
    pub fn carried_bytes(&mut self, now_ps: u64, options: &mut OptionTable) -> f64 {
        self.advance(now_ps, options);
        let (begun_bytes, _) = self.sent();
        let framing_bytes = u64::from(self.waiting_packets()) * u64::from(self.framing_bytes);
        let waiting_ps = self.bytes_ps(self.waiting_bytes + framing_bytes);
        // If waiting packets are delayed by more than the link, the packet in transmission may have
        // ended: at most one.
        let to_come_ps = self.busy_until_ps.saturating_sub(now_ps + waiting_ps);
        let in_service = self.in_service_bytes;
        let whole_ps = self.serialization_ps(in_service).max(1);
        let share = (to_come_ps as f64 / whole_ps as f64).min(1.0);
        (begun_bytes - self.uncarried_bytes) as f64 - share * f64::from(in_service)
    }
}
