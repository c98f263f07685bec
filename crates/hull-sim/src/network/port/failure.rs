//! A failed link: packets in the port's queue and on the wire are lost. Times are ps.

use super::{Port, feature};
use crate::network::options::OptionTable;
use crate::network::packet::Packet;

impl Port {
    /// Fails the link: packets in the queue and on the wire are lost. Returns those from several
    /// queues; a FIFO keeps none.
    pub fn fail(&mut self, now_ps: u64, options: &mut OptionTable) -> Vec<Packet> {
        // This also advances the port.
        let carried_bytes = self.carried_bytes(now_ps, options);
        let mut lost = Vec::new();
        // Waiting packets were never sent.
        let waiting = self.waiting_packets();
        self.sent_packets = self.sent_packets.wrapping_sub(waiting);
        self.lost_waiting = self.lost_waiting.wrapping_add(waiting);
        self.sent_bytes -= self.waiting_bytes;
        // The rest of the packet in transmission will never be sent.
        self.uncarried_bytes = self.sent_bytes - carried_bytes as u64;
        self.waiting.clear();
        self.waiting_bytes = 0;
        if let Some(extras) = &mut self.extras {
            extras.departures.clear();
            if let Some(queued) = &mut extras.queued {
                lost = queued.fail(now_ps);
            }
            for rule in &mut extras.rules {
                rule.on_failure(now_ps);
            }
            if let Some(records) = &mut extras.records {
                records.on_failure(now_ps);
            }
        }
        self.busy_until_ps = now_ps;
        if let Some(phantom_queue) = &mut self.phantom_queue {
            phantom_queue.clear(now_ps);
        }
        self.features |= feature::DOWN;
        self.note_queue(now_ps);
        lost
    }

    /// Whether the link has failed.
    pub fn is_down(&self) -> bool {
        self.has(feature::DOWN)
    }

    /// Restores the link.
    pub fn repair(&mut self) {
        self.features &= !feature::DOWN;
    }
}
