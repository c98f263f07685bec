//! Streams that detect losses by time (RACK, RFC 8985): the sequence of segments and the times by hand, as
//! `loss_recovery.rs` has them for duplicates, and random loss against the square-root law.
//!
//! By hand: a window of ten segments. 0 to 9 go out at 0; 0, 1, 2 arrive at 1 ms and release 10, 11, 12, so
//! that 3 to 12 are in flight when 3 is missing. The round trip is 1 ms, so the window of reordering is
//! 0.25 ms.

use hull_core::rack::RackConfig;

use super::random_loss::follows_the_square_root_law;
use super::script::{MS_PS, MSS, NOTHING, Script, Setting};

/// A hundredth of a millisecond.
const TICK_PS: u64 = MS_PS / 100;

fn until_three() -> Script {
    let mut flow = Script::new(Setting {
        rack: Some(RackConfig {
            duplicate_threshold: 3,
            expects_reordering: false,
        }),
        ..Setting::default()
    });
    assert_eq!(flow.write(1000), (0..10).collect::<Vec<_>>());
    flow.now_ps = MS_PS;
    assert_eq!(flow.deliver_all(0..3), [10, 11, 12]);
    flow
}

/// Delivers a segment a tick later; returns the segments sent.
fn next(flow: &mut Script, number: u64) -> Vec<u64> {
    flow.now_ps += TICK_PS;
    flow.deliver(number)
}

/// As long as no reordering has been seen, three segments above a hole prove the loss. The recovery is
/// the same as with duplicates, segment by segment.
#[test]
fn one_loss() {
    let mut flow = until_three();
    assert_eq!(next(&mut flow, 4), [13]);
    assert_eq!(next(&mut flow, 5), [14]);
    assert_eq!(next(&mut flow, 6), [3]);
    assert_eq!(flow.cwnd(), 5 * MSS);
    for number in 7..10 {
        assert_eq!(next(&mut flow, number), NOTHING);
    }
    flow.now_ps = 2 * MS_PS;
    assert_eq!(next(&mut flow, 10), NOTHING);
    for number in 11..15 {
        assert_eq!(next(&mut flow, number), [number + 4]);
    }
    assert_eq!(next(&mut flow, 3), [19]);
    assert_eq!(flow.cwnd(), 5 * MSS);
    assert_eq!((flow.sender.retransmissions, flow.sender.timeouts), (1, 0));
}

/// Only two segments above the hole arrive, the last at 1.02 ms. The loss is found at 0 + 1.02 + 0.25 ms
/// (RFC 8985, 6.2, step 5), long before the timeout.
#[test]
fn a_loss_is_found_when_the_window_ends() {
    let mut flow = until_three();
    let timeout_ps = flow.sender.rto_deadline_ps;
    assert_eq!(timeout_ps, 11 * MS_PS);
    assert_eq!(next(&mut flow, 4), [13]);
    assert_eq!(next(&mut flow, 5), [14]);
    assert_eq!(flow.time_out(), [3]);
    assert_eq!(flow.now_ps, MS_PS + 27 * TICK_PS);
    assert_eq!(flow.sender.rto_deadline_ps, timeout_ps);
    assert_eq!((flow.sender.retransmissions, flow.sender.timeouts), (1, 0));
    assert_eq!(flow.cwnd(), 5 * MSS);
}

/// 3 arrives after 4, so reordering has been seen. Then 5 is overtaken by eight others, one after the
/// other, and arrives within a quarter of a round trip: nothing is sent again, and the window stays.
#[test]
fn late_segments_are_not_sent_again() {
    let mut flow = until_three();
    assert_eq!(next(&mut flow, 4), [13]);
    assert_eq!(next(&mut flow, 3), [14]);
    for (number, sent) in (6..10).zip(15..) {
        assert_eq!(next(&mut flow, number), [sent]);
    }
    flow.now_ps = MS_PS + 24 * TICK_PS;
    assert_eq!(next(&mut flow, 5), [19]);
    assert_eq!((flow.sender.retransmissions, flow.sender.timeouts), (0, 0));
    assert_eq!(flow.cwnd(), 10 * MSS);
}

/// 3 to 12 are lost. The timeout sends 3 alone, and slow start the others: two for each that arrives.
#[test]
fn a_timeout_sends_what_is_lost_again() {
    let mut flow = until_three();
    assert_eq!(flow.time_out(), [3]);
    assert_eq!((flow.now_ps, flow.sender.timeouts), (11 * MS_PS, 1));
    flow.now_ps += MS_PS;
    assert_eq!(next(&mut flow, 3), [4, 5]);
    assert_eq!(next(&mut flow, 4), [6, 7]);
    assert_eq!(next(&mut flow, 5), [8, 9]);
    assert_eq!(next(&mut flow, 6), [10, 11]);
    // The window is five, half of ten: congestion avoidance.
    assert_eq!(next(&mut flow, 7), [12]);
    assert_eq!(next(&mut flow, 8), [13]);
}

/// NewReno's goodput follows from the share of lost packets, however losses are detected (`random_loss.rs`).
#[test]
fn newreno_follows_the_square_root_law() {
    follows_the_square_root_law("transport.loss_detection=rack");
}
