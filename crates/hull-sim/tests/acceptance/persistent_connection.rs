//! A connection that persists between messages against RFC 5681, 4.1 (restart after an idle time of
//! more than one timeout) and RFC 2861's reason for it: with restart the next message begins with
//! the initial window, without it with the window that was reached.

use super::script::{MS_PS, MSS, Script, Setting};
use super::star::{BULK, PACKET_PS, US_PS, run, scenario};

/// A window that grew from 2 to 16 segments and a message that has been acknowledged, at 1 ms.
fn grown(idle_restart: bool) -> Script {
    let mut flow = Script::new(Setting {
        window: (2, 16),
        idle_restart,
        ..Setting::default()
    });
    flow.write(30);
    flow.now_ps = MS_PS;
    flow.deliver_all(0..30);
    assert!(flow.sender.is_idle());
    assert_eq!(flow.cwnd(), 16 * MSS);
    flow
}

#[test]
fn keeps_its_window_without_restart() {
    let mut flow = grown(false);
    flow.now_ps += 60_000 * MS_PS;
    assert_eq!(flow.write(100), (30..46).collect::<Vec<_>>());
}

/// The timeout is at its floor of 10 ms.
#[test]
fn restarts_after_more_than_a_timeout() {
    let mut flow = grown(true);
    flow.now_ps += 10 * MS_PS + 1;
    assert_eq!(flow.write(100), [30, 31]);
    // The threshold persists: slow start, not congestion avoidance.
    assert_eq!(flow.deliver(30), [32, 33]);
}

#[test]
fn keeps_its_window_up_to_a_timeout() {
    let mut flow = grown(true);
    flow.now_ps += 10 * MS_PS;
    assert_eq!(flow.write(100).len(), 16);
}

/// RFC 2861: 16 segments, halved for each timeout of 10 ms that passed beyond the first, not below
/// the initial 2; the threshold stays at three quarters of 16.
#[test]
fn decays_with_the_idle_time() {
    for (idle_ms, segments) in [(10, 16), (15, 8), (25, 4), (35, 2), (1000, 2)] {
        let mut flow = Script::new(Setting {
            window: (2, 16),
            idle_restart: true,
            idle_decay: true,
            ..Setting::default()
        });
        flow.write(30);
        flow.now_ps = MS_PS;
        flow.deliver_all(0..30);
        flow.now_ps += idle_ms * MS_PS;
        assert_eq!(flow.write(100).len(), segments, "{idle_ms} ms");
        assert!(flow.sender.window().ssthresh() >= 12 * MSS);
    }
}

/// Three packets, an initial window of one, one ACK for two packets: the first waits 1 ms for the
/// delayed-ACK timer, then two leave together. Both links at 1 Gbps without propagation: a packet
/// takes two times S, its ACK 0.64 us, and the third packet is S behind the second.
#[test]
fn a_first_window_of_one_waits_for_the_delayed_ack() {
    let settings = [
        "host.rate=1Gbps",
        "transport.initial_window=1",
        "transport.ack_every=2",
        "transport.delayed_ack=1ms",
        "workload.bulk.size=4380B",
    ];
    let outcome = run(&scenario(BULK, &settings), 1);
    let fct_ps = outcome.flows.rows()[0].fct_ps;
    assert_eq!(fct_ps, 2 * PACKET_PS + MS_PS + 640_000 + 3 * PACKET_PS);
    assert_eq!(MS_PS, 1000 * US_PS);
}
