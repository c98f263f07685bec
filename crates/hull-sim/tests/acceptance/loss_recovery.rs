//! Loss recovery against RFC 5681, 6582, 6675 (SACK) and 3042 (limited transmit): the exact sequence
//! of segments, derived by hand with the pipe of RFC 6675, and the window after.
//!
//! Unless stated otherwise the window is ten segments and does not grow: segments 0 to 9 go out,
//! and 0, 1, 2 arrive and release 10, 11, 12, so that 3 to 12 are in flight when 3 is missing.

use super::script::{MS_PS, MSS, NOTHING, Script, Setting};

fn until_three() -> Script {
    let mut flow = Script::new(Setting::default());
    assert_eq!(flow.write(1000), (0..10).collect::<Vec<_>>());
    flow.now_ps = MS_PS;
    assert_eq!(flow.deliver_all(0..3), [10, 11, 12]);
    flow
}

/// The first two duplicates each release a new segment (limited transmit), the third the lost one.
/// The window is then half of the ten in flight, without the two of limited transmit (RFC 5681,
/// 3.2). The pipe is 9 (the lost one again, 7 to 14) and releases nothing until it is below 5.
#[test]
fn one_loss() {
    let mut flow = until_three();
    assert_eq!(flow.deliver(4), [13]);
    assert_eq!(flow.deliver(5), [14]);
    assert_eq!(flow.deliver(6), [3]);
    assert_eq!(
        (flow.cwnd(), flow.sender.window().ssthresh()),
        (5 * MSS, 5 * MSS)
    );
    assert_eq!(flow.deliver_all(7..11), NOTHING);
    assert_eq!(flow.deliver_all(11..15), [15, 16, 17, 18]);
    // The full acknowledgment ends the recovery and does not open the window (RFC 5681, 3.2 step 6).
    assert_eq!(flow.deliver(3), [19]);
    assert_eq!(flow.cwnd(), 5 * MSS);
    // Congestion avoidance: the fifth segment acknowledged makes it six.
    assert_eq!(flow.deliver_all(15..19), [20, 21, 22, 23]);
    assert_eq!(flow.cwnd(), 5 * MSS);
    assert_eq!(flow.deliver(19), [24, 25]);
    assert_eq!(flow.cwnd(), 6 * MSS);
    assert_eq!((flow.sender.retransmissions, flow.sender.timeouts), (1, 0));
}

/// 3 and 5 are lost. 5 counts as lost after three segments above it have arrived, and is sent when
/// the pipe has room: after 11. The partial acknowledgment continues the recovery; one reduction.
#[test]
fn two_holes_cause_one_reduction() {
    let mut flow = until_three();
    assert_eq!(flow.deliver_all([4, 6]), [13, 14]);
    assert_eq!(flow.deliver(7), [3]);
    assert_eq!(flow.deliver_all(8..11), NOTHING);
    assert_eq!(flow.deliver(11), [5]);
    assert_eq!(flow.deliver_all(12..15), [15, 16, 17]);
    assert_eq!(flow.deliver(3), [18]);
    assert_eq!(flow.cwnd(), 5 * MSS);
    assert_eq!(flow.deliver(5), [19]);
    assert_eq!(flow.cwnd(), 5 * MSS);
    assert_eq!((flow.sender.retransmissions, flow.sender.timeouts), (2, 0));
}

/// 3, 5 to 10, 13 and 14 are lost. 4, 11 and 12 are three duplicates, but only two segments arrive
/// above 5, so RFC 6675 counts the segments after it as in flight: a pipe of 8 (5 to 10, 13, 14) in
/// a window of 5, and the timer would be next. Each partial acknowledgment sends the next hole (RFC
/// 6582, 3.2, step 3). The acknowledgment after 8 leaves 9, 10, 13 and 14, and room for a new
/// segment.
#[test]
fn a_partial_acknowledgment_sends_the_next_hole() {
    let mut flow = until_three();
    assert_eq!(flow.deliver_all([4, 11]), [13, 14]);
    assert_eq!(flow.deliver(12), [3]);
    for (number, sent) in [(3, 5), (5, 6), (6, 7), (7, 8)] {
        assert_eq!(flow.deliver(number), [sent]);
    }
    assert_eq!(flow.deliver(8), [9, 15]);
    assert_eq!(flow.deliver(9), [10, 16]);
    assert_eq!(flow.cwnd(), 5 * MSS);
    assert_eq!((flow.sender.retransmissions, flow.sender.timeouts), (7, 0));
}

/// The retransmission of segment 3 is lost too: RFC 6675 does not send it a third time, only the
/// timer does. Then one segment, and slow start up to half the window: 2500 bytes.
#[test]
fn a_lost_retransmission_needs_the_timer() {
    let mut flow = until_three();
    let deadline_ps = flow.sender.rto_deadline_ps;
    assert_eq!(flow.deliver_all(4..15), [13, 14, 3, 15, 16, 17, 18]);
    assert_eq!(flow.deliver_all(15..18), [19, 20, 21]);
    assert_eq!(
        flow.sender.rto_deadline_ps, deadline_ps,
        "duplicates do not put the timer off"
    );
    assert_eq!(flow.time_out(), [3]);
    assert_eq!((flow.cwnd(), flow.sender.window().ssthresh()), (MSS, 2500));
    // 18 to 21 are neither acknowledged nor known to be lost; after the timeout they are sent again.
    assert_eq!(flow.deliver(3), [18, 19]);
    assert_eq!(flow.cwnd(), 2 * MSS);
    assert_eq!((flow.sender.retransmissions, flow.sender.timeouts), (4, 1));
}

/// No later segment reveals the loss of the last one: the timer retransmits it, with twice the wait
/// each time, until it is acknowledged.
#[test]
fn a_lost_tail_needs_the_timer() {
    let mut flow = Script::new(Setting::default());
    assert_eq!(flow.write(3), [0, 1, 2]);
    flow.now_ps = MS_PS;
    assert_eq!(flow.deliver_all(0..2), NOTHING);
    let mut waits = Vec::new();
    for _ in 0..4 {
        let before_ps = flow.now_ps;
        assert_eq!(flow.time_out(), [2]);
        waits.push((flow.now_ps - before_ps) / MS_PS);
        assert_eq!(flow.cwnd(), MSS);
    }
    assert_eq!(waits, [10, 20, 40, 80]);
    assert_eq!(flow.deliver(2), NOTHING);
    assert!(flow.sender.is_idle());
    assert_eq!(flow.sender.rto_deadline_ps, u64::MAX, "the timer is off");
    // A retransmission gives no sample (Karn): the timeout stays backed off until new data does.
    let timeout_ms = |flow: &Script| (flow.sender.rto_deadline_ps - flow.now_ps) / MS_PS;
    assert_eq!(flow.write(1), [3]);
    assert_eq!(timeout_ms(&flow), 160);
    assert_eq!(flow.deliver(3), NOTHING);
    assert_eq!(flow.write(1), [4]);
    assert_eq!(timeout_ms(&flow), 10);
}

/// A whole window is lost: the timer resends its first segment, then slow start resends the rest,
/// each once. The threshold is half of the ten in flight: 2, 4, then 5 and one more a round trip.
#[test]
fn a_lost_window_is_sent_again_in_slow_start() {
    let mut flow = Script::new(Setting::default());
    flow.write(12);
    assert_eq!(flow.time_out(), [0]);
    assert_eq!(flow.sender.window().ssthresh(), 5 * MSS);
    assert_eq!(flow.deliver(0), [1, 2]);
    assert_eq!(flow.deliver_all(1..3), [3, 4, 5, 6]);
    assert_eq!(flow.cwnd(), 4 * MSS);
    assert_eq!(flow.deliver(3), [7, 8]);
    assert_eq!(flow.cwnd(), 5 * MSS);
    assert_eq!(flow.deliver_all(4..7), [9, 10, 11]);
    assert_eq!(flow.deliver_all(7..12), NOTHING);
    assert!(flow.sender.is_idle());
    assert_eq!((flow.sender.retransmissions, flow.sender.timeouts), (10, 1));
}

/// One or two segments overtake another: limited transmit, no retransmission, the same window.
#[test]
fn reordering_below_three_segments_is_not_loss() {
    for overtaking in [1, 2] {
        let mut flow = until_three();
        let early = flow.deliver_all(4..4 + overtaking);
        assert_eq!(early, (13..13 + overtaking).collect::<Vec<_>>());
        let released = flow.deliver(3);
        assert!(
            released.iter().all(|&segment| segment >= 13 + overtaking),
            "{released:?}"
        );
        assert_eq!(flow.cwnd(), 10 * MSS);
        assert_eq!(flow.sender.retransmissions, 0);
    }
    let mut flow = until_three();
    assert_eq!(flow.deliver_all(4..7), [13, 14, 3]);
}

/// After a spurious retransmission the segment arrives twice: no harm and no second reduction.
#[test]
fn spurious_retransmission_reduces_once() {
    let mut flow = until_three();
    flow.deliver_all(4..7);
    flow.deliver(3);
    let cwnd = flow.cwnd();
    assert_eq!(flow.deliver(3), NOTHING);
    assert_eq!((flow.cwnd(), flow.sender.retransmissions), (cwnd, 1));
}

/// Without limited transmit the first two duplicates release nothing, the third the lost segment.
/// The pipe is then 7 (3 again, 7 to 12): 7 and 8 reduce it to 5, and 9 releases a segment.
#[test]
fn without_limited_transmit_duplicates_release_nothing() {
    let mut flow = Script::new(Setting {
        limited_transmit: false,
        ..Setting::default()
    });
    flow.write(1000);
    flow.now_ps = MS_PS;
    assert_eq!(flow.deliver_all(0..3), [10, 11, 12]);
    assert_eq!(flow.deliver_all(4..6), NOTHING);
    assert_eq!(flow.deliver(6), [3]);
    assert_eq!(flow.cwnd(), 5 * MSS);
    assert_eq!(flow.deliver_all(7..9), NOTHING);
    assert_eq!(flow.deliver_all(9..13), [13, 14, 15, 16]);
    assert_eq!(flow.deliver(3), [17]);
    assert_eq!((flow.sender.retransmissions, flow.sender.timeouts), (1, 0));
}

/// Four segments in flight, the first two lost: two duplicates are not enough. With limited
/// transmit each releases a new segment, whose ACKs reveal the loss; without it the timer must
/// expire.
#[test]
fn limited_transmit_saves_small_windows_from_the_timer() {
    for limited_transmit in [true, false] {
        let mut flow = Script::new(Setting {
            window: (4, 4),
            limited_transmit,
            ..Setting::default()
        });
        assert_eq!(flow.write(100), [0, 1, 2, 3]);
        let released = flow.deliver_all(2..4);
        if limited_transmit {
            assert_eq!(released, [4, 5]);
            assert_eq!(flow.deliver(4), [0]);
            // The pipe is 2 (0 again, 5; 1 counts as lost too) with a window of 2, then 1.
            assert_eq!(flow.deliver(5), [1]);
        } else {
            assert_eq!(released, NOTHING);
            assert_eq!(flow.time_out(), [0]);
            assert_eq!(flow.deliver(0), [1]);
        }
        let timeouts = u32::from(!limited_transmit);
        assert_eq!(
            (flow.sender.retransmissions, flow.sender.timeouts),
            (2, timeouts)
        );
    }
}
