//! Readings of a FIFO port for samples and live runs: the phantom queue and the bytes that the link has
//! carried. They do not change the port.

use super::super::options::OptionTable;
use super::Port;

/// What a port had done at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// Bytes that the link has carried, of a packet in transmission the part sent.
    pub carried_bytes: f64,
    /// Bytes of the packets whose transmission has started.
    pub sent_bytes: u64,
    /// These packets, modulo 2^32.
    pub sent_packets: u32,
    /// How long packets waited from their arrival to the start of their transmission, all together, ps.
    pub waited_ps: u64,
    /// These packets, modulo 2^32: of a FIFO those that have come, of several queues those that were
    /// chosen. What a failed link lost counts as long as it would have waited.
    pub waited_packets: u32,
}

impl Port {
    /// Packets that the port has trimmed.
    pub fn trims(&self) -> u64 {
        self.extras.as_ref().map_or(0, |extras| extras.trims)
    }

    /// What the port has done until `now_ps`.
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

    /// Bytes and packets whose transmission had started when the port was last looked at; packets
    /// modulo 2^32.
    fn sent(&self) -> (u64, u32) {
        (
            self.sent_bytes - self.waiting_bytes,
            self.sent_packets.wrapping_sub(self.waiting_packets()),
        )
    }

    /// The phantom queue's bytes at `now_ps`, where there is one. In series it counts packets that
    /// wait already, which are taken back.
    pub fn phantom_bytes(&mut self, now_ps: u64, options: &mut OptionTable) -> Option<u64> {
        self.advance(now_ps, options);
        let mut rules = self.extras.iter().flat_map(|extras| &extras.rules);
        if let Some(bytes) = rules.find_map(|rule| rule.virtual_bytes(now_ps)) {
            return Some(bytes);
        }
        let phantom_queue = self.phantom_queue.as_ref()?;
        Some(phantom_queue.backlog_bytes_before(now_ps, self.waiting_bytes))
    }

    /// Bytes that the link has carried until `now_ps`, framing left out; of the packet in transmission
    /// the part that has been sent.
    pub fn carried_bytes(&mut self, now_ps: u64, options: &mut OptionTable) -> f64 {
        self.advance(now_ps, options);
        let (begun_bytes, _) = self.sent();
        let framing_bytes = u64::from(self.waiting_packets()) * u64::from(self.framing_bytes);
        let waiting_ps = self.bytes_ps(self.waiting_bytes + framing_bytes);
        // Where what waits has to wait for something else too, the packet may be over: at most one.
        let to_come_ps = self.busy_until_ps.saturating_sub(now_ps + waiting_ps);
        let in_service = self.in_service_bytes;
        let whole_ps = self.serialization_ps(in_service).max(1);
        let share = (to_come_ps as f64 / whole_ps as f64).min(1.0);
        (begun_bytes - self.uncarried_bytes) as f64 - share * f64::from(in_service)
    }
}
