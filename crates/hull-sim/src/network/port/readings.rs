//! What samples and live runs read at a FIFO port: the phantom queue and what the link has carried.
//! Reading changes nothing.

use super::Port;

impl Port {
    /// The phantom queue's bytes at `now_ps`, where there is one. In series it counts packets that
    /// wait already, which are taken back.
    pub fn phantom_bytes(&mut self, now_ps: u64) -> Option<u64> {
        self.advance(now_ps);
        let extras = self.extras.as_ref();
        if let Some(beside) = extras.and_then(|extras| extras.virtual_queue.as_ref()) {
            return Some(beside.backlog_bytes(now_ps));
        }
        let phantom_queue = self.phantom_queue.as_ref()?;
        Some(phantom_queue.backlog_bytes_before(now_ps, self.waiting_bytes))
    }

    /// Bytes that the link has carried until `now_ps`, the sent part of a packet in transmission
    /// counted in.
    pub fn carried_bytes(&self, now_ps: u64) -> f64 {
        let to_come_ps = self.busy_until_ps.saturating_sub(now_ps);
        let per_byte_ps = self.ps_per_byte_q16 as f64 / 65536.0;
        self.sent_bytes as f64 - to_come_ps as f64 / per_byte_ps
    }
}
