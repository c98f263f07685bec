//! Reactions to marks: NewReno's against RFC 3168 (6.1.2: half, once per window of data, CWR on the
//! next new segment; 6.1.3: ECE until CWR arrives), DCTCP's against thesis 2.2.1 (equations 2.1 and
//! 2.2) by hand.

use super::script::{MSS, NOTHING, Script, Setting};
use hull_sim::transport::Dctcp;
use hull_sim::units::Share;

fn newreno() -> Script {
    let mut flow = Script::new(Setting::default());
    flow.write(1000);
    flow
}

/// Segments 0 to 9 are out. Segment 2 is marked after 12 have been sent: the window halves, and
/// does not halve again up to segment 11. Its ACK releases nothing; the first new segment, with
/// CWR, leaves when five are in flight. The receiver echoes the mark until that segment arrives.
#[test]
fn newreno_halves_once_a_window() {
    let mut flow = newreno();
    assert_eq!(flow.deliver_all(0..2), [10, 11]);
    assert_eq!(flow.deliver_marked(2), NOTHING);
    assert_eq!(
        (flow.cwnd(), flow.sender.window().ssthresh()),
        (5 * MSS, 5 * MSS)
    );
    assert_eq!(flow.deliver_all(3..7), NOTHING);
    assert_eq!(flow.deliver(7), [12]);
    assert_eq!(flow.reduced, [12]);
    assert_eq!(flow.deliver_all(8..12), [13, 14, 15, 16]);
    assert_eq!(flow.cwnd(), 5 * MSS, "no growth and no cut while ECE lasts");
    assert_eq!(
        flow.echoes,
        [
            false, false, true, true, true, true, true, true, true, true, true, true
        ]
    );
    assert_eq!(flow.deliver(12), [17]);
    assert_eq!(flow.echoes.last(), Some(&false));
    assert_eq!(flow.reduced, [12]);
}

#[test]
fn newreno_halves_again_in_the_next_window() {
    let mut flow = newreno();
    flow.deliver_all(0..2);
    flow.deliver_marked(2);
    flow.deliver_all(3..13);
    assert_eq!(flow.deliver_marked(13), NOTHING);
    assert_eq!(flow.cwnd(), 2500);
    assert_eq!(flow.deliver_all(14..16), NOTHING);
    assert_eq!(flow.deliver(16), [18]);
    assert_eq!(flow.reduced, [12, 18]);
}

/// The window does not limit the sender: it does not grow, but a mark still counts as congestion.
#[test]
fn application_limited_sender_also_reacts() {
    let mut flow = Script::new(Setting {
        cwnd_validation: true,
        ..Setting::default()
    });
    flow.write(4);
    flow.deliver_marked(0);
    assert_eq!(flow.cwnd(), 5 * MSS);
}

/// A loss and a mark in one window of data cause one reduction (RFC 3168, 6.1.2): the sender
/// ignores ECE during the recovery and on the ACK that ends it. It reports the loss with CWR as
/// well, which ends the echo of the mark.
#[test]
fn loss_and_mark_in_one_window_are_one_reduction() {
    for dctcp in [None, Some(dctcp(Share(Share::ONE)))] {
        let mut flow = Script::new(Setting {
            dctcp,
            ..Setting::default()
        });
        flow.write(1000);
        flow.deliver(0);
        assert_eq!(flow.deliver_all(2..5), [11, 12, 1]);
        flow.deliver_all(5..7);
        flow.deliver_marked(7);
        assert_eq!(flow.deliver_all(8..13), [13, 14, 15, 16]);
        assert_eq!(flow.reduced, [13]);
        assert_eq!(flow.deliver_marked(1), [17]);
        assert_eq!(flow.cwnd(), 5 * MSS);
        assert_eq!(flow.deliver_all(13..18), [18, 19, 20, 21, 22, 23]);
        assert_eq!((flow.cwnd(), flow.reduced), (6 * MSS, vec![13]));
    }
}

/// RFC 3168, 6.1.2, and RFC 8257, 3.4: ECN-Echo counts on any ACK. Segments 2 and 3 are reordered
/// and 3 is marked: its ACK acknowledges no data but reduces the window from 10 to 5, by DCTCP with
/// alpha = 1 as by NewReno. All up to segment 11 is from the same window, so no later echo reduces
/// again. The first new segment carries CWR.
#[test]
fn a_mark_on_a_duplicate_ack_reduces_the_window_once() {
    let fixed = Dctcp {
        g: Share(0),
        ..Dctcp::default()
    };
    for dctcp in [None, Some(fixed)] {
        let mut flow = Script::new(Setting {
            dctcp,
            ..Setting::default()
        });
        flow.write(1000);
        assert_eq!(flow.deliver_all(0..2), [10, 11]);
        assert_eq!(flow.deliver_marked(3), NOTHING);
        assert_eq!(
            (flow.cwnd(), flow.sender.window().ssthresh()),
            (5 * MSS, 5 * MSS)
        );
        assert_eq!(flow.deliver_marked(2), NOTHING);
        assert_eq!(flow.deliver_all(4..7), NOTHING);
        assert_eq!(flow.deliver(7), [12]);
        assert_eq!(flow.deliver_marked(9), [13]); // limited transmit
        assert_eq!(flow.cwnd(), 5 * MSS);
        assert_eq!(flow.reduced, [12]);
        assert_eq!(flow.sender.retransmissions, 0);
    }
}

/// The same with the very first segment missing: no data has been acknowledged yet.
#[test]
fn a_mark_before_the_first_acknowledgment_reduces_the_window() {
    for dctcp in [None, Some(dctcp(Share(Share::ONE)))] {
        let mut flow = Script::new(Setting {
            dctcp,
            ..Setting::default()
        });
        flow.write(1000);
        assert_eq!(flow.deliver_marked(1), NOTHING);
        assert_eq!(flow.cwnd(), 5 * MSS);
        assert_eq!(flow.deliver_marked(0), NOTHING);
        assert_eq!(flow.cwnd(), 5 * MSS);
    }
}

/// Segment 2 is lost and 3, 4, 5 are marked. The third duplicate reveals the loss: the window
/// becomes half of the ten in flight, regardless of the marks' reduction, and is not reduced again
/// in this window of data.
#[test]
fn marks_on_duplicate_acks_of_a_loss_add_nothing() {
    for dctcp in [
        None,
        Some(dctcp(Share(Share::ONE))),
        Some(dctcp(Share(Share::ONE / 8))),
    ] {
        let mut flow = Script::new(Setting {
            dctcp,
            ..Setting::default()
        });
        flow.write(1000);
        flow.deliver_all(0..2);
        flow.deliver_marked(3);
        flow.deliver_marked(4);
        assert_eq!(flow.deliver_marked(5), [2]);
        for segment in 6..12 {
            flow.deliver_marked(segment);
            assert_eq!(flow.cwnd(), 5 * MSS, "segment {segment}");
        }
        assert_eq!(flow.sender.retransmissions, 1);
    }
}

/// Alpha counts acknowledged bytes only (RFC 8257, 3.3: without SACK). g = 1/4, alpha from 0: the
/// first window ends with segment 0, the second with 10. In the second, segment 2 arrives after 3
/// and a duplicate echoes 3's mark, so that none of segments 1 to 10 counts as marked. Alpha stays
/// 0, and segment 11's mark does not reduce the window.
#[test]
fn a_mark_on_a_duplicate_ack_does_not_count_for_alpha() {
    let mut flow = Script::new(Setting {
        dctcp: Some(dctcp(Share(0))),
        ..Setting::default()
    });
    flow.write(1000);
    flow.deliver_all(0..2);
    flow.deliver_marked(3);
    flow.deliver_all([2, 4, 5, 6, 7, 8, 9, 10]);
    flow.deliver_marked(11);
    assert_eq!(flow.cwnd(), 10 * MSS);
}

fn dctcp(initial_alpha: Share) -> Dctcp {
    Dctcp {
        g: Share(Share::ONE / 4),
        initial_alpha,
        ..Dctcp::default()
    }
}

/// g = 1/4, alpha from 0. Segment 0's ACK ends the first window of observation: alpha = 0. The next
/// ends with segment 10 and holds 1 to 10, of which 6 to 10 are marked: F = 1/2, alpha = 1/8. The
/// mark on segment 6 cuts by alpha / 2 = 0, and there is no other cut until everything sent by
/// then, 0 to 15, is acknowledged. Segment 16 is marked: 10000 (1 - 1/16) = 9375.
#[test]
fn dctcp_cuts_once_a_window_by_half_of_alpha() {
    let mut flow = Script::new(Setting {
        dctcp: Some(dctcp(Share(0))),
        ..Setting::default()
    });
    flow.write(1000);
    flow.deliver_all(0..6);
    for segment in 6..11 {
        flow.deliver_marked(segment);
        assert_eq!(flow.cwnd(), 10 * MSS);
    }
    flow.deliver_all(11..16);
    flow.deliver_marked(16);
    assert_eq!(flow.cwnd(), 9375);
    for segment in 17..20 {
        flow.deliver_marked(segment);
        assert_eq!(flow.cwnd(), 9375, "segment {segment}");
    }
}

/// Alpha is above 0 and decays; observation windows without a mark do not reduce cwnd.
#[test]
fn dctcp_does_not_cut_in_unmarked_windows() {
    let mut flow = Script::new(Setting {
        dctcp: Some(dctcp(Share(Share::ONE))),
        ..Setting::default()
    });
    flow.write(1000);
    for segment in 0..60 {
        flow.deliver(segment);
        assert_eq!(flow.cwnd(), 10 * MSS, "segment {segment}");
    }
    // The windows of observation end with segments 0, 10, 20, ...: six so far.
    let alpha = 0.75_f64.powi(6);
    flow.deliver_marked(60); // the seventh, of ten segments with one mark
    let alpha = 0.75 * alpha + 0.25 * 0.1;
    let expected = 10_000.0 * (1.0 - alpha / 2.0);
    assert!(
        (flow.cwnd() as f64 - expected).abs() <= 1.0,
        "{} {expected}",
        flow.cwnd()
    );
}
