//! The retransmission timer against RFC 6298 by hand: the floor, equations 2.2 and 2.3, Karn's rule
//! (3: no samples from retransmitted data), 5.2 and 5.3 (off when all data is acknowledged,
//! restarted by progress), 5.5 (doubling). And the delayed ACK's timer (RFC 1122, 4.2.3.2).

use hull_sim::transport::{EchoKind, Receiver, ReceiverConfig};

use super::script::{MS_PS, MSS, Script, Setting};

fn without_floor() -> Script {
    Script::new(Setting {
        min_rto_ps: 1,
        ..Setting::default()
    })
}

/// Time left on the timer, ps.
fn timeout_ps(flow: &Script) -> u64 {
    flow.sender.rto_deadline_ps - flow.now_ps
}

#[test]
fn waits_for_the_initial_timeout_before_a_sample() {
    let mut flow = Script::new(Setting::default());
    flow.write(1);
    assert_eq!(timeout_ps(&flow), 100 * MS_PS);
}

/// R = 8 ms: srtt = 8, rttvar = 4, timeout 24 ms. Then R = 16 ms: rttvar = 3/4 4 + 1/4 8 = 5, srtt
/// = 7/8 8 + 1/8 16 = 9, timeout 29 ms.
#[test]
fn follows_the_round_trip() {
    let mut flow = without_floor();
    flow.write(1);
    flow.now_ps = 8 * MS_PS;
    flow.deliver(0);
    flow.write(1);
    assert_eq!(timeout_ps(&flow), 24 * MS_PS);
    flow.now_ps += 16 * MS_PS;
    flow.deliver(1);
    assert_eq!(flow.sender.rto_deadline_ps, u64::MAX);
    flow.write(1);
    assert_eq!(timeout_ps(&flow), 29 * MS_PS);
}

#[test]
fn stays_at_its_floor() {
    let mut flow = Script::new(Setting::default());
    flow.write(20);
    flow.now_ps = MS_PS / 10;
    flow.deliver(0);
    assert_eq!(timeout_ps(&flow), 10 * MS_PS);
    flow.now_ps += MS_PS;
    flow.deliver(1);
    assert_eq!(timeout_ps(&flow), 10 * MS_PS, "progress starts it again");
}

/// The ACK after a timeout may be for either copy. The estimate keeps the first sample and the
/// timeout stays doubled until new data gives one: R = 8 ms again, srtt = 8, rttvar = 3, 20 ms.
#[test]
fn takes_no_sample_from_retransmissions() {
    let mut flow = without_floor();
    flow.write(1);
    flow.now_ps = 8 * MS_PS;
    flow.deliver(0);
    flow.write(1);
    assert_eq!(flow.time_out(), [1]);
    assert_eq!(timeout_ps(&flow), 48 * MS_PS);
    flow.now_ps += 40 * MS_PS;
    flow.deliver(1);
    flow.write(1);
    assert_eq!(timeout_ps(&flow), 48 * MS_PS);
    flow.now_ps += 8 * MS_PS;
    flow.deliver(2);
    flow.write(1);
    assert_eq!(timeout_ps(&flow), 20 * MS_PS);
}

/// A clock of 10 ms: the timeout of 24 ms after 8 ms is due at 32 ms and fires at 40; the doubled
/// one of 48 ms at 90.
#[test]
fn fires_at_ticks_of_its_clock() {
    let mut flow = Script::new(Setting {
        min_rto_ps: 1,
        rto_granularity_ps: 10 * MS_PS,
        ..Setting::default()
    });
    flow.write(1);
    flow.now_ps = 8 * MS_PS;
    flow.deliver(0);
    flow.write(1);
    assert_eq!(flow.sender.rto_deadline_ps, 40 * MS_PS);
    assert_eq!(flow.time_out(), [1]);
    assert_eq!(flow.sender.rto_deadline_ps, 90 * MS_PS);
}

/// A segment whose ACK was delayed by a hole below it gives no sample either.
#[test]
fn takes_no_sample_from_behind_a_hole() {
    let mut flow = without_floor();
    flow.write(100);
    flow.now_ps = 8 * MS_PS;
    flow.deliver(0); // sample; 10 is sent and timed
    flow.deliver_all(2..5);
    flow.now_ps += 20 * MS_PS;
    flow.deliver_all(5..11);
    flow.deliver(1);
    assert_eq!(timeout_ps(&flow), 24 * MS_PS);
}

fn receiver(ack_every: u32) -> Receiver {
    Receiver::new(&ReceiverConfig {
        ack_every,
        delayed_ack_ps: MS_PS,
        quick_acks: 0,
        echo: EchoKind::Classic,
        reports_duplicates: false,
    })
}

/// A lone segment waits for the timer, started at its own arrival; the second of a pair does not.
#[test]
fn an_ack_is_delayed_by_its_timer_at_most() {
    let mut receiver = receiver(2);
    let start_ps = 5 * MS_PS;
    assert_eq!(
        receiver.on_data(start_ps, 0, MSS, false, false),
        [None, None]
    );
    assert_eq!(receiver.ack_deadline_ps, start_ps + MS_PS);
    assert_eq!(receiver.take_pending().map(|ack| ack.ack), Some(MSS));
    assert_eq!(receiver.take_pending(), None);
    receiver.on_data(7 * MS_PS, MSS, MSS, false, false);
    assert_eq!(receiver.ack_deadline_ps, 8 * MS_PS);
    let [_, ack] = receiver.on_data(7 * MS_PS, 2 * MSS, MSS, false, false);
    assert_eq!(ack.map(|ack| ack.ack), Some(3 * MSS));
    assert_eq!(receiver.ack_deadline_ps, u64::MAX);
}

/// RFC 5681, 4.2: out-of-order data and data that fills a hole are acknowledged at once.
#[test]
fn an_ack_for_data_out_of_order_is_not_delayed() {
    let mut receiver = receiver(4);
    for (start, expected) in [(2, 0), (1, 0), (0, 3)] {
        let [_, ack] = receiver.on_data(0, start * MSS, MSS, false, false);
        assert_eq!(
            ack.map(|ack| ack.ack),
            Some(expected * MSS),
            "segment {start}"
        );
    }
}
