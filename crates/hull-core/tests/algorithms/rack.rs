//! RACK by hand, and against the loops of RFC 8985 over all segments. Segments have 10 bytes, and the
//! round trip is 400 unless stated otherwise, so the first window is 100.

use hull_core::rack::{Rack, RackConfig};
use proptest::prelude::*;

const CONFIG: RackConfig = RackConfig {
    duplicate_threshold: 3,
    expects_reordering: false,
};

/// Segments 0 to `count` - 1, sent at 0, 10, 20 and so on.
fn sent(config: RackConfig, count: u64) -> Rack {
    let mut rack = Rack::new(&config);
    (0..count).for_each(|n| rack.sent(10 * n, 10 * (n + 1)));
    rack
}

/// Takes the selective acknowledgment of a segment. Returns the time of the timer.
fn takes(rack: &mut Rack, now_ps: u64, number: u64) -> Option<u64> {
    assert!(rack.acknowledge_block(now_ps, 10 * number, 10 * (number + 1)));
    rack.detect(now_ps, false, 400)
}

/// Segment 0 is lost. The first two above it leave it a window of a quarter of the round trip after its own
/// round trip: until 0 + 400 + 100. The third proves the loss.
#[test]
fn three_segments_above_prove_a_loss() {
    let mut rack = sent(CONFIG, 5);
    assert_eq!(takes(&mut rack, 410, 1), Some(500));
    assert_eq!(takes(&mut rack, 420, 2), Some(500));
    assert!(!rack.has_lost());
    assert_eq!(rack.in_flight(), 30);
    assert_eq!(takes(&mut rack, 430, 3), None);
    assert_eq!((rack.has_lost(), rack.in_flight()), (true, 10));
    assert_eq!(rack.resend(430), Some((0, 10)));
    assert_eq!((rack.has_lost(), rack.in_flight()), (false, 20));
    assert_eq!(rack.resend(430), None);
}

/// With fewer segments above it, the loss is found when the window ends, not a moment before.
#[test]
fn a_loss_is_found_when_the_window_ends() {
    let mut rack = sent(CONFIG, 3);
    takes(&mut rack, 410, 1);
    assert_eq!(takes(&mut rack, 420, 2), Some(500));
    assert_eq!(rack.detect(499, false, 400), Some(500));
    assert!(!rack.has_lost());
    assert_eq!(rack.detect(500, false, 400), None);
    assert!(rack.has_lost());
}

/// Once a late segment has arrived, any number of others do not prove a loss, only time does.
#[test]
fn reordering_that_was_seen_is_tolerated() {
    let mut rack = sent(CONFIG, 9);
    takes(&mut rack, 410, 1);
    assert_eq!(takes(&mut rack, 440, 0), None);
    rack.acknowledge(440, 20);
    // The round trip of the segment that has overtaken number 2 counts: 400, then 410.
    for (now_ps, number, until_ps) in [(430, 3, 520), (440, 4, 520), (460, 5, 530), (470, 6, 530)] {
        assert_eq!(takes(&mut rack, now_ps, number), Some(until_ps), "{number}");
    }
    assert!(!rack.has_lost());
    // Number 2 needed 515, more than the 500 of its path's quarter more.
    assert_eq!(takes(&mut rack, 529, 2), None);
    assert!(!rack.has_lost());
}

/// A sender on several paths tolerates reordering before it has seen any.
#[test]
fn several_paths_are_expected_to_reorder() {
    let mut rack = sent(
        RackConfig {
            expects_reordering: true,
            ..CONFIG
        },
        9,
    );
    for number in 1..9 {
        let now_ps = 10 * number + 400;
        assert_eq!(takes(&mut rack, now_ps, number), Some(500), "{number}");
    }
    assert_eq!(rack.detect(500, false, 400), None);
    assert!(rack.has_lost());
}

/// A duplicate widens the window by a quarter once per round, up to the smoothed round trip; sixteen
/// recoveries without one restore it.
#[test]
fn duplicates_widen_the_window() {
    let mut rack = sent(
        RackConfig {
            expects_reordering: true,
            ..CONFIG
        },
        40,
    );
    rack.acknowledge(400, 10);
    rack.detect(400, false, 400);
    assert_eq!(rack.window_ps(), 100);
    for (una, widened) in [(20, 200), (30, 200), (399, 200), (400, 300)] {
        rack.acknowledge(1000, una);
        rack.on_duplicate();
        rack.detect(1000, false, 1000);
        assert_eq!(rack.window_ps(), widened, "{una}");
    }
    rack.detect(1000, false, 250);
    assert_eq!(rack.window_ps(), 250);
    for recoveries in 1..=16 {
        rack.recovered();
        rack.detect(1000, false, 1000);
        let expected = if recoveries < 16 { 300 } else { 100 };
        assert_eq!(rack.window_ps(), expected, "{recoveries}");
    }
}

/// A retransmission whose acknowledgment comes sooner than a round trip was not necessary: its time
/// proves nothing about others. One that comes later does.
#[test]
fn an_early_answer_to_a_retransmission_is_that_of_the_original() {
    for (answered_ps, is_lost) in [(439, false), (830, true)] {
        let mut rack = sent(CONFIG, 6);
        takes(&mut rack, 410, 1);
        takes(&mut rack, 420, 2);
        takes(&mut rack, 430, 3);
        rack.resend(430);
        rack.acknowledge(answered_ps, 40);
        rack.detect(answered_ps, true, 400);
        // Numbers 4 and 5 were sent before the retransmission.
        assert_eq!(rack.has_lost(), is_lost, "{answered_ps}");
    }
}

/// After a timeout the first segment is lost, and of the others those sent a round trip and a window ago.
#[test]
fn a_timeout_loses_what_had_its_time() {
    let mut rack = Rack::new(&CONFIG);
    (1..=4).for_each(|n| rack.sent(0, 10 * n));
    rack.acknowledge(400, 10);
    rack.detect(400, false, 400);
    rack.sent(900, 50);
    rack.on_timeout(1000);
    assert_eq!(rack.in_flight(), 10); // the one sent at 900
    for start in [10, 20, 30] {
        assert_eq!(rack.resend(1000), Some((start, start + 10)));
    }
    assert_eq!(rack.resend(1000), None);
    let mut rack = Rack::new(&CONFIG);
    rack.sent(0, 10);
    rack.on_timeout(1);
    assert_eq!((rack.has_lost(), rack.in_flight()), (true, 0));
}

/// The loops of RFC 8985 (6.2, step 5) over all segments, each by itself.
#[derive(Default)]
struct Loops {
    /// Time of the last transmission, and whether it is in flight; by number.
    segments: Vec<(u64, bool)>,
    newest: (u64, u64),
    rtt_ps: u64,
}

impl Loops {
    fn lost(&self, now_ps: u64, window_ps: u64) -> (Vec<u64>, Option<u64>) {
        let (mut lost, mut timer_ps) = (Vec::new(), None);
        for (number, &(sent_ps, in_flight)) in (0..).zip(&self.segments) {
            let due_ps = sent_ps + self.rtt_ps + window_ps;
            if in_flight && (sent_ps, 10 * (number + 1)) < self.newest {
                match due_ps <= now_ps {
                    true => lost.push(number),
                    false => timer_ps = timer_ps.max(Some(due_ps)),
                }
            }
        }
        (lost, timer_ps)
    }
}

proptest! {
    /// Random arrivals and retransmissions: the same segments are lost, the timer is the same, and every
    /// byte is in one state.
    #[test]
    fn finds_what_the_loops_of_the_rfc_find(
        steps in prop::collection::vec((0_u64..60, 0_u64..4, 0_u64..12), 1..200),
    ) {
        let mut rack = Rack::new(&RackConfig { expects_reordering: true, ..CONFIG });
        let mut loops = Loops::default();
        let (mut now_ps, mut min_rtt_ps) = (0, u64::MAX);
        let mut retransmitted = std::collections::BTreeSet::new();
        for (wait_ps, kind, pick) in steps {
            now_ps += wait_ps;
            let count = loops.segments.len() as u64;
            if kind < 2 {
                rack.sent(now_ps, 10 * (count + 1));
                loops.segments.push((now_ps, true));
            } else if kind == 2 {
                if let Some((start, _)) = rack.resend(now_ps) {
                    loops.segments[start as usize / 10] = (now_ps, true);
                    retransmitted.insert(start / 10);
                }
            } else {
                let in_flight = Vec::from_iter((0..count).filter(|&n| loops.segments[n as usize].1));
                let Some(&number) = in_flight.get(pick as usize) else { continue };
                let (sent_ps, _) = loops.segments[number as usize];
                loops.segments[number as usize].1 = false;
                let again = retransmitted.contains(&number);
                let rtt_ps = now_ps - sent_ps;
                if !again {
                    min_rtt_ps = min_rtt_ps.min(rtt_ps);
                }
                if !again || rtt_ps >= min_rtt_ps {
                    loops.rtt_ps = rtt_ps;
                    loops.newest = loops.newest.max((sent_ps, 10 * (number + 1)));
                }
                prop_assert!(rack.acknowledge_block(now_ps, 10 * number, 10 * (number + 1)));
            }
            let timer_ps = rack.detect(now_ps, false, u64::MAX);
            let window_ps = min_rtt_ps / 4;
            let (lost, expected_ps) = match min_rtt_ps {
                u64::MAX => (Vec::new(), None),
                _ => loops.lost(now_ps, window_ps),
            };
            prop_assert_eq!(timer_ps, expected_ps);
            for &number in &lost {
                loops.segments[number as usize].1 = false;
            }
            let in_flight = loops.segments.iter().filter(|one| one.1).count() as u64;
            prop_assert_eq!(rack.in_flight(), 10 * in_flight);
        }
    }
}
