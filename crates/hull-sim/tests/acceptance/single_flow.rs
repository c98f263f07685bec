//! One flow in an empty network against hand calculations, to the picosecond.
//!
//! With both links at 1 Gbps a packet of 1500 bytes (1460 of payload) takes S = 12 us on each, an
//! ACK of 40 bytes 0.32 us. With 100 us of propagation on each link a packet's round trip is R = 2
//! S + 2 * 0.32 us + 4 * 100 us = 424.64 us.
//!
//! Slow start (RFC 5681), every packet acknowledged, initial window w: each ACK releases two
//! packets, which take 2 S on the wire while ACKs come S apart, so a round's packets leave back to
//! back from its first ACK on. Round r begins at r R and has w 2^r packets. Once a round takes as
//! long as R (w 2^r S >= R), the link never idles again. Packet p (from 0), the m-th (from 0) of
//! round r, arrives at r R + m S + 2 S + 200 us.

use hull_sim::workload::Acked;

use super::star::{
    BULK, PACKET_PS, PAYLOAD, REQUESTS, SECOND_PS, US_PS, assert_near, run, scenario,
};

const LINKS: [&str; 4] = [
    "host.rate=1Gbps",
    "switch.rate=1Gbps",
    "host.delay=100us",
    "switch.delay=100us",
];
const ACK_PS: u64 = 320_000;
const RTT_PS: u64 = 2 * PACKET_PS + 2 * ACK_PS + 400 * US_PS;

fn with<'t>(settings: &[&'t str]) -> Vec<&'t str> {
    LINKS.iter().chain(settings).copied().collect()
}

fn fct_ps(settings: &[&str]) -> u64 {
    let outcome = run(&scenario(BULK, settings), 1);
    let records = outcome.flows.rows();
    assert_eq!((records.len(), outcome.packets.dropped), (1, 0));
    records[0].fct_ps
}

/// Arrival of packet `p`, from 0, by the arithmetic above.
fn arrival_ps(p: u64, first_window: u64) -> u64 {
    let (mut round, mut in_round, mut window) = (0, p, first_window);
    while in_round >= window && window * PACKET_PS < RTT_PS {
        in_round -= window;
        window *= 2;
        round += 1;
    }
    round * RTT_PS + in_round * PACKET_PS + 2 * PACKET_PS + 200 * US_PS
}

#[test]
fn slow_start_completes_when_the_closed_form_says() {
    for first_window in [1, 2, 3, 10] {
        for packets in [1, 2, 3, 7, 20, 63, 64, 500, 3000] {
            let size = format!("workload.bulk.size={}B", packets * PAYLOAD);
            let window = format!("transport.initial_window={first_window}");
            let measured = fct_ps(&with(&[&size, &window]));
            let expected = arrival_ps(packets - 1, first_window);
            assert_eq!(
                measured, expected,
                "{packets} packets, first window {first_window}"
            );
        }
    }
}

/// A short last packet waits at the switch for its predecessor, which takes S, and then takes its
/// own (100 + 40) * 8 ns.
#[test]
fn a_short_last_packet_waits_for_the_one_before() {
    let measured = fct_ps(&with(&[
        "workload.bulk.size=3020B",
        "transport.initial_window=3",
    ]));
    assert_eq!(measured, 3 * PACKET_PS + 140 * 8000 + 200 * US_PS);
}

/// When the sender of the only flow received the ACK of its last byte, and when that byte arrived.
fn acked_and_fct_ps(settings: &[&str]) -> (Acked, u64) {
    let outcome = run(&scenario(BULK, settings), 1);
    let record = outcome.flows.rows()[0];
    let summary = outcome.flows.summary()[0].acked.expect("a simulation");
    assert_eq!(summary.count, outcome.flows.rows().len());
    (record.acked, record.fct_ps)
}

/// The last ACK takes 40 bytes over each link and both propagation delays, for any number of
/// packets; a run lasts until it arrives.
#[test]
fn last_ack_arrives_one_path_delay_later() {
    for packets in [1, 5, 64] {
        let size = format!("workload.bulk.size={}B", packets * PAYLOAD);
        let (acked, fct_ps) = acked_and_fct_ps(&with(&[&size]));
        assert_eq!(acked, Acked::After(fct_ps + 2 * ACK_PS + 200 * US_PS));
    }
}

/// The receiver delays the ACK of a lone packet for the maximum time.
#[test]
fn delayed_ack_delays_only_the_sender() {
    let held = [
        "workload.bulk.size=1000B",
        "transport.ack_every=2",
        "transport.delayed_ack=1ms",
    ];
    let (acked, fct_ps) = acked_and_fct_ps(&with(&held));
    assert_eq!(
        acked,
        Acked::After(fct_ps + 1000 * US_PS + 2 * ACK_PS + 200 * US_PS)
    );
}

/// An unset delayed ACK is a tenth of a short minimum RTO, so that a lone packet is no timeout.
#[test]
fn delayed_ack_follows_a_short_minimum_rto() {
    let held = [
        "workload.bulk.size=1000B",
        "transport.ack_every=2",
        "transport.min_rto=1ms",
    ];
    let (acked, fct_ps) = acked_and_fct_ps(&with(&held));
    assert_eq!(
        acked,
        Acked::After(fct_ps + 100 * US_PS + 2 * ACK_PS + 200 * US_PS)
    );
}

/// 1000-byte response over a persistent connection: its server has the ACK 40 bytes over two links
/// later, counted from the client's request, without the client's application.
#[test]
fn a_response_is_acknowledged_to_its_server() {
    let settings = with(&[
        "workload.requests.load=0.01%",
        "host.application_delay=30us",
    ]);
    let outcome = run(&scenario(REQUESTS, &settings), 3);
    let rows = outcome.flows.rows();
    assert!(rows.len() > 10);
    for row in rows {
        let expected = row.fct_ps - 30 * US_PS + 2 * ACK_PS + 200 * US_PS;
        assert_eq!(row.acked, Acked::After(expected));
    }
}

/// One packet, one way: bytes over each rate, both propagation delays, a stack delay at each end.
/// 1040 bytes take 0.208 us at 40 Gbps and 0.832 us at 10 Gbps.
#[test]
fn a_single_packet_takes_the_sum_of_its_delays() {
    let settings = [
        "host.rate=40Gbps",
        "switch.rate=10Gbps",
        "host.delay=1.5us",
        "switch.delay=700ns",
        "host.stack_delay=2us",
        "workload.bulk.size=1000B",
    ];
    assert_eq!(
        fct_ps(&settings),
        208_000 + 832_000 + 1_500_000 + 700_000 + 4_000_000
    );
}

/// 8000 / 0.95 ps are 8421 and 1/19 ps a byte: 1040 bytes take 8757894.7 ps. hull keeps whole
/// picoseconds, at most one less.
#[test]
fn non_dividing_rate_is_exact_to_the_picosecond() {
    let settings = [
        "host.rate=950Mbps",
        "switch.rate=950Mbps",
        "workload.bulk.size=1000B",
    ];
    assert!((2 * 8_757_893..=2 * 8_757_895).contains(&fct_ps(&settings)));
}

/// A request of 100 bytes and its response of 1000, with application delay at server and client:
/// (140 + 1040) * 8 ns on each of two links, four propagation delays, two application delays.
#[test]
fn a_request_and_its_response_take_the_sum_of_their_delays() {
    let settings = with(&[
        "workload.requests.load=0.01%",
        "host.application_delay=30us",
    ]);
    let outcome = run(&scenario(REQUESTS, &settings), 3);
    let fastest = outcome
        .flows
        .rows()
        .iter()
        .map(|record| record.fct_ps)
        .min();
    assert_eq!(
        fastest,
        Some(2 * (140 + 1040) * 8000 + 400 * US_PS + 60 * US_PS)
    );
}

/// A maximum window W below the pipe (R / S = 35.4 packets) delivers W packets per round trip,
/// exactly so over a whole number of round trips.
#[test]
fn a_small_window_is_delivered_once_a_round_trip() {
    let (rounds, window) = (1000, 20);
    let settings = with(&[
        "transport.max_window=20",
        "run.warmup=42614us",    // 100 R and 150 us: nothing is arriving
        "run.duration=424640us", // 1000 R
    ]);
    let outcome = run(&scenario(BULK, &settings), 1);
    let expected_bps = (rounds * window * PAYLOAD * 8) as f64 / 0.42464;
    assert_near(
        "goodput",
        outcome.throughput.goodput_bps,
        expected_bps,
        1e-12,
    );
}

/// The receive window limits in the same way.
#[test]
fn receive_window_limits_like_the_senders() {
    let settings = with(&["run.warmup=42464us", "run.duration=424640us"]);
    let limited = |key: &str| {
        let setting = format!("transport.{key}=20");
        let settings: Vec<&str> = settings.iter().copied().chain([setting.as_str()]).collect();
        run(&scenario(BULK, &settings), 1).throughput.goodput_bps
    };
    assert_eq!(limited("receive_window"), limited("max_window"));
}

/// A full link delivers a packet every S: 1460 / 1500 of the rate as payload, to within one packet.
/// With a buffer that keeps filling, packets left at the end do not count as use of the link.
#[test]
fn a_full_link_delivers_its_rate() {
    for buffer in ["unlimited", "200pkts"] {
        let buffer = format!("switch.buffer={buffer}");
        let settings = [
            "run.warmup=100ms",
            "run.duration=1s",
            "switch.delay=100us",
            &buffer,
        ];
        let outcome = run(&scenario(BULK, &settings), 1);
        let one_packet = PACKET_PS as f64 / SECOND_PS as f64;
        assert_near(
            "utilization",
            outcome.throughput.utilization,
            1.0,
            1.01 * one_packet,
        );
        if outcome.packets.dropped == 0 {
            let expected_bps = 1e9 * PAYLOAD as f64 / 1500.0;
            let goodput_bps = outcome.throughput.goodput_bps;
            assert_near("goodput", goodput_bps, expected_bps, 1.01 * one_packet);
        }
    }
}

/// A stopped flow has no completion time, with or without a size; one that completes earlier has.
#[test]
fn a_stopped_flow_has_no_completion_time() {
    let flows = "workload.long_lived={flows=[{src=1,dst=0,stop=\"5ms\"},{src=1,dst=0,size=\"1GB\",stop=\"6ms\"},{src=1,dst=0,size=\"5KB\",stop=\"9ms\"}]}";
    let outcome = run(&scenario("[workload]\n", &with(&[flows])), 1);
    let rows = outcome.flows.rows();
    assert_eq!((rows.len(), rows[0].bytes), (1, 5000));
    assert!(outcome.packets.delivered > 500);
}

/// A run never outlasts its drain, even if the last ACK arrives in its final nanoseconds and the
/// end is detected afterwards.
#[test]
fn a_run_ends_with_its_drain_at_the_latest() {
    let settings = with(&[
        "topology={leaf_spine={leaves=2,spines=1,hosts_per_leaf=1}}",
        "workload.bulk.size=5KB",
        "run.duration=100us",
    ]);
    let drained = |drain_ps: u64| {
        let drain = format!("run.drain={drain_ps}ps");
        let settings = Vec::from_iter(settings.iter().copied().chain([drain.as_str()]));
        run(&scenario(BULK, &settings), 1)
    };
    let duration_ps = 100 * US_PS;
    let free_ps = drained(SECOND_PS).simulated_ps;
    assert!(free_ps > 3 * duration_ps, "{free_ps}");
    for earlier_ps in (0..1_000_000).step_by(20_000) {
        let last_ps = free_ps - earlier_ps;
        let outcome = drained(last_ps - duration_ps);
        assert_eq!(outcome.simulated_ps, last_ps, "{earlier_ps}");
    }
}

/// Ethernet adds 38 bytes to 1500: 1 Gbps carries 1448 payload bytes in each 1538, the well-known
/// 941 Mbps. The time of one packet is exact to the picosecond.
#[test]
fn framing_takes_its_time_on_the_wire() {
    let framed = ["transport.header=52B", "transport.framing=38B"];
    let size = format!("workload.bulk.size={}B", 100_000 * 1448);
    let many: Vec<_> = framed.into_iter().chain([size.as_str()]).collect();
    let seconds = fct_ps(&with(&many)) as f64 / SECOND_PS as f64;
    let mbps = 100_000.0 * 1448.0 * 8e-6 / seconds;
    assert_near("payload, Mbps", mbps, 1000.0 * 1448.0 / 1538.0, 0.002);
    let one: Vec<_> = framed
        .into_iter()
        .chain(["workload.bulk.size=1448B"])
        .collect();
    assert_eq!(fct_ps(&with(&one)), 2 * 1538 * 8000 + 200 * US_PS);
}
