//! A source that sends one segment after the other at a rate that somebody else sets, as those of RCP do
//! (thesis 5.5.3).
//!
//! Here is when the next segment may go; what it is, and whether it has to be sent again, is the
//! [`Sender`](super::Sender)'s, whose window stands still ([`RateBased`](super::RateBased)). After a segment of s bytes at
//! the rate R the next waits for 8 s / R; when R changes meanwhile, for the part that is left of it at
//! the new rate. Before R is known, there is one segment in the network.
//!
//! Units: bit/s, bytes on the wire, ps.

use super::sender::NEVER;

/// When a flow may send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacedSource {
    /// 0: not known.
    rate_bps: u64,
    /// When the next segment may be sent.
    next_ps: u64,
    /// When the event queue will look at the flow; kept by the simulation.
    pub event_ps: u64,
}

impl PacedSource {
    /// A source that does not know its rate.
    pub fn new() -> Self {
        PacedSource {
            rate_bps: 0,
            next_ps: 0,
            event_ps: NEVER,
        }
    }

    /// Makes it a new flow. `event_ps` stays, because so does the event in the queue.
    pub fn reset(&mut self) {
        let event_ps = self.event_ps;
        *self = PacedSource {
            event_ps,
            ..PacedSource::new()
        };
    }

    /// The rate, once it is known.
    pub fn rate_bps(&self) -> Option<u64> {
        (self.rate_bps > 0).then_some(self.rate_bps)
    }

    /// The rate is `rate_bps`, above zero, from `now_ps` on.
    #[inline]
    pub fn set_rate(&mut self, now_ps: u64, rate_bps: u64) {
        if rate_bps == self.rate_bps {
            return;
        }
        let left_ps = u128::from(self.next_ps.saturating_sub(now_ps));
        let left_ps = left_ps * u128::from(self.rate_bps) / u128::from(rate_bps);
        self.next_ps = now_ps.saturating_add(left_ps as u64);
        self.rate_bps = rate_bps;
    }

    /// From when on the next segment may be sent, with `outstanding` bytes in the network: [`NEVER`]
    /// when that is for an acknowledgment to say.
    #[inline]
    pub fn next_ps(&self, outstanding: u64) -> u64 {
        if self.rate_bps == 0 && outstanding > 0 {
            return NEVER;
        }
        self.next_ps
    }

    /// A segment of `wire_bytes` is sent at `now_ps`.
    #[inline]
    pub fn sent(&mut self, now_ps: u64, wire_bytes: u64) {
        if self.rate_bps > 0 {
            let gap_ps = wire_bytes as u128 * 8_000_000_000_000 / u128::from(self.rate_bps);
            self.next_ps = now_ps.saturating_add(gap_ps as u64);
        }
    }
}

impl Default for PacedSource {
    fn default() -> Self {
        PacedSource::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1250 bytes at 1 Gbps take 10 us.
    const GBPS: u64 = 1_000_000_000;
    const US: u64 = 1_000_000;

    #[test]
    fn has_one_segment_out_before_the_rate_is_known() {
        let mut source = PacedSource::new();
        assert_eq!((source.next_ps(0), source.rate_bps()), (0, None));
        source.sent(5, 1250);
        assert_eq!((source.next_ps(1210), source.next_ps(0)), (NEVER, 0));
        source.set_rate(70 * US, GBPS);
        assert_eq!(source.next_ps(1210), 70 * US);
    }

    #[test]
    fn sends_at_its_rate() {
        let mut source = PacedSource::new();
        source.set_rate(0, GBPS);
        let mut now_ps = 0;
        for _ in 0..1000 {
            now_ps = source.next_ps(1210);
            source.sent(now_ps, 1250);
        }
        assert_eq!(now_ps, 999 * 10 * US);
    }

    /// 4 of 10 us have passed: the other 6 take 12 at half the rate, and 3 at twice.
    #[test]
    fn a_change_holds_for_what_is_left() {
        for (rate_bps, next_us) in [(GBPS / 2, 16), (2 * GBPS, 7), (GBPS, 10)] {
            let mut source = PacedSource::new();
            source.set_rate(0, GBPS);
            source.sent(0, 1250);
            source.set_rate(4 * US, rate_bps);
            assert_eq!(source.next_ps(1210), next_us * US);
            source.set_rate(20 * US, 3 * GBPS);
            assert_eq!(source.next_ps(1210), 20 * US);
        }
    }

    #[test]
    fn a_reset_source_is_a_new_one() {
        let mut source = PacedSource::new();
        source.set_rate(0, GBPS);
        source.sent(0, 1250);
        source.event_ps = 7;
        source.reset();
        assert_eq!((source.next_ps(0), source.rate_bps()), (0, None));
        assert_eq!(source.event_ps, 7);
    }
}
