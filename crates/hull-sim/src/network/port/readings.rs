//! What samples and live runs read at a FIFO port: the phantom queue and what the link has carried.
//! Reading changes nothing.

use super::super::options::OptionTable;
use super::Port;

impl Port {
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
        let framing_bytes = u64::from(self.waiting) * u64::from(self.framing_bytes);
        let waiting_ps = self.bytes_ps(self.waiting_bytes + framing_bytes);
        // Where what waits has to wait for something else too, the packet may be over: at most one.
        let to_come_ps = self.busy_until_ps.saturating_sub(now_ps + waiting_ps);
        let in_service = self.in_service_bytes as u16;
        let whole_ps = self.serialization_ps(in_service).max(1);
        let share = (to_come_ps as f64 / whole_ps as f64).min(1.0);
        begun_bytes as f64 - share * f64::from(in_service)
    }
}
