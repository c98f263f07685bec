//! A source that sends at a rate of its own: when its next packet may leave, and the feedback on its way
//! to it. Times are ps.

use hull_core::qcn_reaction_point::{ReactionPoint, ReactionPointConfig};

/// No time.
const NEVER: u64 = u64::MAX;

/// The rate limiter of one flow.
#[derive(Clone, Debug)]
pub struct RateSource {
    point: ReactionPoint,
    /// When the next packet may be sent.
    next_send_ps: u64,
    /// The event that will look at it; [`NEVER`] when there is none.
    event_ps: u64,
    /// Feedback under way: when it arrives, and its steps; the next one last.
    feedback: Vec<(u64, u8)>,
}

impl RateSource {
    /// A source that starts at `now_ps`.
    pub fn new(config: &ReactionPointConfig, now_ps: u64) -> Self {
        RateSource {
            point: ReactionPoint::new(config, now_ps),
            next_send_ps: now_ps,
            event_ps: NEVER,
            feedback: Vec::new(),
        }
    }

    /// Its rate, bit/s.
    pub fn rate_bps(&self) -> u64 {
        self.point.rate_bps()
    }

    /// Whether it may send now.
    #[inline]
    pub fn may_send(&self, now_ps: u64) -> bool {
        self.next_send_ps <= now_ps
    }

    /// A packet of `bytes` leaves now: the next may follow when the rate has had time for this one.
    #[inline]
    pub fn sent(&mut self, now_ps: u64, bytes: u16) {
        self.point.on_timer(now_ps);
        let bits_ps = u64::from(bytes) * 8_000_000_000_000;
        self.next_send_ps = now_ps + bits_ps / self.point.rate_bps();
        self.point.on_sent(u32::from(bytes));
    }

    /// The time of the event that it needs, when it has none yet.
    #[inline]
    pub fn arm(&mut self) -> Option<u64> {
        (self.event_ps == NEVER).then(|| {
            self.event_ps = self.next_send_ps;
            self.event_ps
        })
    }

    /// An event comes at `now_ps`; true when it is the one that lets the source send.
    pub fn on_event(&mut self, now_ps: u64) -> bool {
        while let Some(&(at_ps, steps)) = self.feedback.last()
            && at_ps <= now_ps
        {
            self.feedback.pop();
            self.point.on_feedback(now_ps, steps);
        }
        let due = self.event_ps == now_ps;
        if due {
            self.event_ps = NEVER;
        }
        due
    }

    /// Feedback will arrive.
    pub fn await_feedback(&mut self, at_ps: u64, steps: u8) {
        let place = self.feedback.partition_point(|&(other, _)| other > at_ps);
        self.feedback.insert(place, (at_ps, steps));
    }
}

#[cfg(test)]
mod tests {
    use hull_core::qcn_reaction_point::Increase;

    use super::*;

    fn config() -> ReactionPointConfig {
        ReactionPointConfig {
            line_rate_bps: 10_000_000_000,
            initial_rate_bps: 10_000_000_000,
            min_rate_bps: 10_000_000,
            decrease: 1 << 25,
            increase_bps: 5_000_000,
            cycle_bytes: 150_000,
            recovery_cycles: 5,
            timer_ps: None,
            extra_fast_recovery: false,
            target_rate_reduction: false,
            hyper_increase_bps: None,
            increase: Increase::Averaging,
        }
    }

    /// 1500 bytes at 10 Gbps take 1.2 us; after 64 steps, half the rate, twice as long.
    #[test]
    fn packets_keep_the_rate() {
        let mut source = RateSource::new(&config(), 1_000_000);
        assert!(source.may_send(1_000_000));
        source.sent(1_000_000, 1500);
        assert_eq!(source.arm(), Some(2_200_000));
        assert_eq!(source.arm(), None);
        assert!(!source.may_send(2_199_999));
        source.await_feedback(1_500_000, 64);
        assert!(!source.on_event(1_500_000));
        assert_eq!(source.rate_bps(), 5_000_000_000);
        assert!(source.on_event(2_200_000));
        source.sent(2_200_000, 1500);
        assert_eq!(source.arm(), Some(4_600_000));
    }

    /// Feedback of two switches may overtake.
    #[test]
    fn feedback_is_taken_in_the_order_of_its_arrival() {
        let mut source = RateSource::new(&config(), 0);
        for (at_ps, steps) in [(30, 32), (10, 64), (20, 0)] {
            source.await_feedback(at_ps, steps);
        }
        source.on_event(10);
        assert_eq!(source.rate_bps(), 5_000_000_000);
        source.on_event(30);
        assert_eq!(source.rate_bps(), 3_750_000_000);
    }
}
