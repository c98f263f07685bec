//! HyStart: the end of slow start before it fills the buffer, as CUBIC in Linux has it.
//!
//! Source: the rules and constants of Linux (`net/ipv4/tcp_cubic.c`, 6.1); S. Ha, I. Rhee, "Taming the
//! elephants: New TCP slow start" (Computer Networks 55, 2011). With a window of at least 16 segments slow
//! start ends at the window that one of two rules finds, each within a round:
//!
//! - ACK train: ACKs at most 2 ms apart arrive for longer than half of the shortest round trip plus the time
//!   for which hosts bundle data.
//! - Delay: the shortest of at least nine round trips exceeds the shortest of the flow by an eighth of it,
//!   within 4 and 16 ms.
//!
//! A round begins with the first ACK of data that was sent in the last one. Linux adds to the shortest round
//! trip, before halving it, the time of four pieces of 64 KB at twice the window per round trip, at most 1
//! ms. In the second after congestion avoidance began round trips do not count. A timeout resets all.
//!
//! Units: bytes, ps.

use super::Feedback;
use crate::transport::send_times::SendTimes;
use crate::transport::sender::NEVER;
use crate::transport::window::Window;

/// Smallest window at which slow start may end, segments.
const LOW_WINDOW: u64 = 16;
/// Largest distance of the ACKs of a train: 2 ms.
const TRAIN_GAP_PS: u64 = 2_000_000_000;
/// Round trips of a round that are only collected.
const MIN_SAMPLES: u8 = 8;
/// Bounds of the increase of the round trip: 4 and 16 ms.
const MIN_INCREASE_PS: u64 = 4_000_000_000;
const MAX_INCREASE_PS: u64 = 16_000_000_000;
/// Bytes that hosts bundle: four pieces of 64 KB.
const BUNDLED_BYTES: u64 = 4 * 65_536;
/// Longest time allowed for bundling: 1 ms.
const MAX_BUNDLING_PS: u64 = 1_000_000_000;
/// Time after the start of congestion avoidance in which round trips do not count: 1 s.
const UNSETTLED_PS: u64 = 1_000_000_000_000;

/// HyStart state of one flow.
#[derive(Clone, Debug)]
pub(super) struct HyStart {
    times: SendTimes,
    /// Shortest round trip; [`NEVER`] before the first.
    min_rtt_ps: u64,
    /// Position whose acknowledgment ends the round.
    round_end: u64,
    round_start_ps: u64,
    /// Last ACK of the train.
    last_ack_ps: u64,
    /// Shortest round trip of the round, and number of those that are only collected.
    round_rtt_ps: u64,
    samples: u8,
    has_ended: bool,
}

impl Default for HyStart {
    fn default() -> Self {
        HyStart {
            times: SendTimes::default(),
            min_rtt_ps: NEVER,
            round_end: 0,
            round_start_ps: 0,
            last_ack_ps: 0,
            round_rtt_ps: NEVER,
            samples: 0,
            has_ended: false,
        }
    }
}

impl HyStart {
    /// Send times of outstanding segments.
    pub fn send_times(&mut self) -> &mut SendTimes {
        &mut self.times
    }

    /// Forgets all but the send times, after a timeout.
    pub fn restart(&mut self) {
        let times = std::mem::take(&mut self.times);
        *self = HyStart {
            times,
            ..HyStart::default()
        };
    }

    /// Processes an acknowledgment; ends slow start by setting the threshold to the window.
    /// `epoch_start_ps` is the start of congestion avoidance, if it has begun.
    pub fn on_ack(&mut self, window: &mut Window, ack: &Feedback, epoch_start_ps: Option<u64>) {
        let Some(rtt_ps) = ack.rtt_ps else {
            return;
        };
        let settles = |start_ps: u64| ack.now_ps < start_ps.saturating_add(UNSETTLED_PS);
        if epoch_start_ps.is_some_and(settles) {
            return;
        }
        self.min_rtt_ps = self.min_rtt_ps.min(rtt_ps);
        let is_large = window.cwnd() >= LOW_WINDOW * window.mss();
        if self.has_ended || !window.in_slow_start() || !is_large {
            return;
        }
        if ack.una > self.round_end {
            self.round_end = ack.nxt;
            self.round_start_ps = ack.now_ps;
            self.last_ack_ps = ack.now_ps;
            self.round_rtt_ps = NEVER;
            self.samples = 0;
        }
        if self.is_train_long(window, ack) || self.is_delayed(rtt_ps) {
            self.has_ended = true;
            window.set_ssthresh(window.cwnd());
        }
    }

    fn is_train_long(&mut self, window: &Window, ack: &Feedback) -> bool {
        if ack.now_ps - self.last_ack_ps > TRAIN_GAP_PS {
            return false;
        }
        self.last_ack_ps = ack.now_ps;
        let paced = u128::from(2 * window.cwnd());
        let bundling_ps = (u128::from(BUNDLED_BYTES) * u128::from(ack.srtt_ps) / paced) as u64;
        let allowed_ps = (self.min_rtt_ps + bundling_ps.min(MAX_BUNDLING_PS)) / 2;
        ack.now_ps - self.round_start_ps > allowed_ps
    }

    fn is_delayed(&mut self, rtt_ps: u64) -> bool {
        self.round_rtt_ps = self.round_rtt_ps.min(rtt_ps);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        let increase_ps = (self.min_rtt_ps / 8).clamp(MIN_INCREASE_PS, MAX_INCREASE_PS);
        self.round_rtt_ps > self.min_rtt_ps + increase_ps
    }
}

#[cfg(test)]
mod tests {
    use super::super::Echo;
    use super::*;

    const MSS: u64 = 1000;
    const MS: u64 = 1_000_000_000;

    /// A flow in slow start with a window of `segments`, whose ACKs come by a script.
    struct Flow {
        hystart: HyStart,
        window: Window,
        una: u64,
    }

    impl Flow {
        fn new(segments: u64) -> Self {
            Flow {
                hystart: HyStart::default(),
                window: Window::new(segments * MSS, MSS as u32, MSS, 10_000 * MSS, true),
                una: 0,
            }
        }

        /// Acknowledges a segment at `now` with this round trip, both in ps. Returns whether slow start is over.
        fn ack(&mut self, now_ps: u64, rtt_ps: u64) -> bool {
            self.una += MSS;
            let ack = Feedback {
                now_ps,
                una: self.una,
                nxt: self.una + self.window.cwnd(),
                acked: MSS,
                echo: Echo::default(),
                after_loss: false,
                may_grow: true,
                rtt_ps: Some(rtt_ps),
                srtt_ps: rtt_ps,
                sent_ps: None,
            };
            self.hystart.on_ack(&mut self.window, &ack, None);
            !self.window.in_slow_start()
        }
    }

    /// Round trip of 100 ms, window of 1000 segments: 64 KB four times at 20 MB/s take 13 ms, of which 1 ms
    /// counts. A train of ACKs 1 ms apart ends slow start after more than (100 + 1) / 2 = 50.5 ms: the first
    /// comes at 100 ms, that at 151 ms is the first above.
    #[test]
    fn a_train_of_half_a_round_trip_ends_slow_start() {
        let mut flow = Flow::new(1000);
        for ms in 100..=150 {
            assert!(!flow.ack(ms * MS, 100 * MS), "{ms}");
        }
        assert!(flow.ack(151 * MS, 100 * MS));
        assert_eq!(flow.window.ssthresh(), 1000 * MSS);
    }

    /// A gap of 2.1 ms ends the train, whose last ACK stays where it was: none of the later ones belongs to it.
    /// A window of 15 segments is too small for either rule.
    #[test]
    fn a_gap_ends_the_train_and_a_small_window_is_left_alone() {
        let mut flow = Flow::new(1000);
        assert!(!flow.ack(100 * MS, 100 * MS));
        for ms in 0..200 {
            assert!(!flow.ack(102_100_000_000 + ms * MS, 100 * MS), "{ms}");
        }
        let mut small = Flow::new(15);
        for ms in 100..300 {
            assert!(!small.ack(ms * MS, 2 * ms * MS), "{ms}");
        }
    }

    /// The shortest round trip is 80 ms: an eighth, 10 ms, may be added. In the next round, which begins
    /// beyond 40 segments, ACKs 3 ms apart have round trips of 90 ms, which is not above, then of 91 ms:
    /// eight are collected, the ninth decides. At 8 ms the increase is 4 ms instead of 1, and at 400 ms it
    /// is 16 ms instead of 50.
    #[test]
    fn longer_round_trips_end_slow_start() {
        for (shortest_us, increase_us) in [(80_000, 10_000), (8000, 4000), (400_000, 16_000)] {
            let us = |us: u64| us * MS / 1000;
            let mut same = Flow::new(40);
            let mut more = Flow::new(40);
            let mut now = us(shortest_us);
            let mut both = |rtt_us: u64, more_us: u64| {
                now += 3 * MS;
                (same.ack(now, us(rtt_us)), more.ack(now, us(more_us)))
            };
            for n in 0..41 {
                assert_eq!(both(shortest_us, shortest_us), (false, false), "{n}");
            }
            let longer_us = shortest_us + increase_us;
            for n in 0..8 {
                assert_eq!(both(longer_us, longer_us + 1), (false, false), "{n}");
            }
            assert_eq!(both(longer_us, longer_us + 1), (false, true));
        }
    }

    /// After the end nothing is found again, until a timeout. In the second after congestion avoidance began
    /// round trips do not count.
    #[test]
    fn a_timeout_begins_again() {
        let mut flow = Flow::new(1000);
        assert!((100..=151).any(|ms| flow.ack(ms * MS, 100 * MS)));
        flow.window.set_ssthresh(u64::MAX);
        assert!((300..500).all(|ms| !flow.ack(ms * MS, 100 * MS)));
        flow.hystart.restart();
        assert!((600..=652).any(|ms| flow.ack(ms * MS, 100 * MS)));
        let mut flow = Flow::new(1000);
        let ack = Feedback {
            now_ps: 1500 * MS,
            una: MSS,
            nxt: 2 * MSS,
            acked: MSS,
            echo: Echo::default(),
            after_loss: false,
            may_grow: true,
            rtt_ps: Some(MS),
            srtt_ps: MS,
            sent_ps: None,
        };
        flow.hystart.on_ack(&mut flow.window, &ack, Some(501 * MS));
        assert_eq!(flow.hystart.min_rtt_ps, NEVER);
        flow.hystart.on_ack(&mut flow.window, &ack, Some(500 * MS));
        assert_eq!(flow.hystart.min_rtt_ps, MS);
    }
}
