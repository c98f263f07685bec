//! The time of a paced flow's next segment; the [`Sender`](super::Sender) selects the segment,
//! including retransmissions.
//!
//! After a segment of s bytes at the rate R the next one waits for 8 s / R. If R changes meanwhile, a
//! control may rescale the rest of the gap to the new rate. Before R is known, one segment is in the
//! network.
//!
//! Units: bit/s, bytes on the wire, ps.

use super::control::Pace;
use super::sender::NEVER;

/// Pacing state of a flow: the gap after its last segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pacing {
    pace: Pace,
    /// Earliest time of the next segment, ps.
    next_ps: u64,
    /// Time of the flow's event in the event queue, ps; maintained by the simulation.
    pub event_ps: u64,
}

impl Pacing {
    /// Creates the state of a flow without a gap.
    pub fn new() -> Self {
        Pacing {
            pace: Pace::Window,
            next_ps: 0,
            event_ps: NEVER,
        }
    }

    /// Resets the state for a new flow. `event_ps` is kept, because the event stays in the queue.
    pub fn reset(&mut self, pace: Pace) {
        self.pace = pace;
        self.next_ps = 0;
    }

    /// Applies a changed pace to the rest of the gap.
    #[inline]
    pub fn adjust(&mut self, now_ps: u64, pace: Pace) {
        if pace == self.pace {
            return;
        }
        let left_ps = self.next_ps.saturating_sub(now_ps);
        let left_ps = match (self.pace, pace) {
            (Pace::Bps(old), Pace::Bps(new)) if new > 0 => {
                (u128::from(left_ps) * u128::from(old) / u128::from(new)) as u64
            }
            (Pace::Bps(_), Pace::Bps(_)) => left_ps,
            (Pace::Gap(old_ps), Pace::Gap(new_ps)) => (left_ps + new_ps).saturating_sub(old_ps),
            _ => 0,
        };
        self.next_ps = now_ps.saturating_add(left_ps);
        self.pace = pace;
    }

    /// Earliest time of the next segment, ps; `outstanding` returns the bytes in the network.
    /// [`NEVER`] if the next segment has to wait for an acknowledgment.
    #[inline]
    pub fn next_ps(&self, outstanding: impl FnOnce() -> u64) -> u64 {
        if self.pace == Pace::OneByOne && outstanding() > 0 {
            return NEVER;
        }
        self.next_ps
    }

    /// Records a segment of `wire_bytes` sent at `now_ps`; the next one follows at `pace`.
    #[inline]
    pub fn sent(&mut self, now_ps: u64, wire_bytes: u16, pace: Pace) {
        self.pace = pace;
        if let Some(gap_ps) = pace.gap_ps(wire_bytes) {
            self.next_ps = now_ps.saturating_add(gap_ps);
        }
    }
}

impl Pacing {
    /// Records a piece of `wire_bytes` of a window that is sent at this rate, as Linux does
    /// (net/ipv4/tcp_output.c, `tcp_update_skb_after_send`): half the gap at most makes up for a piece
    /// that was sent late.
    pub fn sent_of_window(&mut self, now_ps: u64, wire_bytes: u32, rate_bps: u64) {
        let late_ps = now_ps.saturating_sub(self.next_ps);
        let bits_ps = u128::from(wire_bytes) * 8_000_000_000_000;
        let gap_ps = (bits_ps / u128::from(rate_bps.max(1))) as u64;
        self.next_ps = now_ps.saturating_add(gap_ps - late_ps.min(gap_ps / 2));
    }
}

impl Default for Pacing {
    fn default() -> Self {
        Pacing::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1250 bytes at 1 Gbps take 10 us.
    const GBPS: Pace = Pace::Bps(1_000_000_000);
    const US: u64 = 1_000_000;

    #[test]
    fn sends_one_segment_before_the_rate_is_known() {
        let mut pacing = Pacing::new();
        pacing.reset(Pace::OneByOne);
        assert_eq!(pacing.next_ps(|| 0), 0);
        pacing.sent(5, 1250, Pace::OneByOne);
        assert_eq!((pacing.next_ps(|| 1210), pacing.next_ps(|| 0)), (NEVER, 0));
        pacing.adjust(70 * US, GBPS);
        assert_eq!(pacing.next_ps(|| 1210), 70 * US);
    }

    /// By hand: 1250 bytes at 1 Gbps are a gap of 10 us. A piece that is 3 us late has a gap of 7 us, and
    /// one that is 60 us late has half the gap.
    #[test]
    fn a_late_piece_makes_up_to_half_of_its_gap_good() {
        let mut pacing = Pacing::new();
        for (sent_us, next_us) in [(0, 10), (10, 20), (23, 30), (90, 95)] {
            pacing.sent_of_window(sent_us * US, 1250, 1_000_000_000);
            assert_eq!(pacing.next_ps(|| 0), next_us * US);
        }
    }

    #[test]
    fn sends_at_its_rate() {
        let mut pacing = Pacing::new();
        pacing.adjust(0, GBPS);
        let mut now_ps = 0;
        for _ in 0..1000 {
            now_ps = pacing.next_ps(|| 1210);
            pacing.sent(now_ps, 1250, GBPS);
        }
        assert_eq!(now_ps, 999 * 10 * US);
    }

    /// After 4 of 10 us, the remaining 6 take 12 us at half the rate and 3 us at twice the rate.
    #[test]
    fn rate_change_rescales_the_remaining_gap() {
        for (percent, next_us) in [(50, 16), (200, 7), (100, 10)] {
            let mut pacing = Pacing::new();
            pacing.adjust(0, GBPS);
            pacing.sent(0, 1250, GBPS);
            pacing.adjust(4 * US, Pace::Bps(10_000_000 * percent));
            assert_eq!(pacing.next_ps(|| 1210), next_us * US);
            pacing.adjust(20 * US, Pace::Bps(3_000_000_000));
            assert_eq!(pacing.next_ps(|| 1210), 20 * US);
        }
    }

    /// A control that does not adjust the gap sets it only when it sends.
    #[test]
    fn gap_may_be_left_unchanged() {
        let mut pacing = Pacing::new();
        pacing.sent(0, 1250, GBPS);
        assert_eq!(pacing.next_ps(|| 1210), 10 * US);
        pacing.sent(10 * US, 1250, Pace::Bps(500_000_000));
        assert_eq!(pacing.next_ps(|| 1210), 30 * US);
    }

    #[test]
    fn reset_pacing_equals_a_new_one() {
        let mut pacing = Pacing::new();
        pacing.sent(0, 1250, GBPS);
        pacing.event_ps = 7;
        pacing.reset(Pace::OneByOne);
        assert_eq!(pacing.next_ps(|| 0), 0);
        assert_eq!(pacing.event_ps, 7);
    }
}
