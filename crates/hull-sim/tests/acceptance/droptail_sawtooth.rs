//! A single NewReno flow through a drop-tail port against its sawtooth.
//!
//! The pipe holds P packets (bandwidth times the round trip without queue), the buffer b P. In
//! congestion avoidance the window grows by one packet a round trip up to W = (1 + b) P, where one
//! packet is dropped, and is halved. A round trip with window w delivers w packets and takes
//! max(P, w) packet times. A cycle, w from W / 2 to W, therefore delivers 3/8 W^2 packets, one of
//! which is lost, and with b <= 1 takes `P^2 (1 + b + b^2) / 2` packet times:
//!
//! utilization = 3/4 (1 + b)^2 / (1 + b + b^2): 75% with no buffer, 100% with b = 1.
//!
//! With b >= 1 the link never idles, and a cycle takes 3/8 W^2 packet times; the queue swings
//! between b P and W / 2 - P. The "zero" buffer holds one packet: a switch without any could not
//! take the two packets that a growing window releases at once.
//!
//! Tolerances: utilization 2 percentage points, peak and mean queue 5%, drops, period and amplitude
//! 10% (the model leaves out the round trip of the recovery itself).

use super::queue_series::{queue_series, sawteeth};
use super::star::{BULK, PACKET_PS, assert_near, run, scenario};

/// P: 60 packets of 12 us. An unloaded round trip is 1.2 us (host) + 12 us (switch) + 0.32 us and
/// 0.032 us (ACK) + twice both delays.
const PIPE: f64 = 60.0;
const DELAYS: [&str; 2] = ["host.delay=176.6115us", "switch.delay=176.6115us"];
const SECONDS: f64 = 20.0;

fn settings<'t>(buffer: &'t str, more: &[&'t str]) -> Vec<&'t str> {
    let run = [
        "run.warmup=1s",
        "run.duration=20s",
        "measure.sample_interval=100us",
        buffer,
    ];
    DELAYS.iter().chain(&run).chain(more).copied().collect()
}

fn utilization(buffer: &str, more: &[&str]) -> f64 {
    let outcome = run(&scenario(BULK, &settings(buffer, more)), 1);
    assert_eq!(
        outcome.counts.timeouts, 0,
        "the recovery of a sawtooth needs no timeout"
    );
    outcome.throughput.utilization
}

fn model(b: f64) -> f64 {
    0.75 * (1.0 + b).powi(2) / (1.0 + b + b * b)
}

fn assert_utilization(measured: f64, expected: f64) {
    assert!(
        (measured - expected).abs() <= 0.02,
        "{measured} used, the model has {expected}"
    );
}

#[test]
fn no_buffer_gives_three_quarters_of_the_link() {
    assert_utilization(utilization("switch.buffer=1pkts", &[]), 0.75);
}

#[test]
fn half_a_bdp_of_buffer_is_in_between() {
    assert_utilization(utilization("switch.buffer=30pkts", &[]), model(0.5));
}

#[test]
fn one_bdp_of_buffer_fills_the_link() {
    assert_utilization(utilization("switch.buffer=60pkts", &[]), 1.0);
}

/// With every second packet acknowledged and growth per ACK, the window grows half as fast, which
/// stretches the cycle but leaves its shares unchanged.
#[test]
fn delayed_acks_change_the_cycle_and_not_the_utilization() {
    let more = ["transport.ack_every=2", "transport.byte_counting=false"];
    assert_utilization(utilization("switch.buffer=30pkts", &more), model(0.5));
    assert_utilization(utilization("switch.buffer=60pkts", &more), 1.0);
}

fn assert_sawtooth(buffer: &str, b: f64, name: &str) {
    let outcome = run(&scenario(BULK, &settings(buffer, &[])), 1);
    let packet_s = PACKET_PS as f64 * 1e-12;
    let top = (1.0 + b) * PIPE;
    let cycle_packets = 3.0 / 8.0 * top * top;
    let cycle_s = cycle_packets * packet_s;
    assert_eq!(outcome.counts.timeouts, 0);
    assert_eq!(outcome.counts.retransmissions, outcome.packets.dropped);
    // The initial slow start drops packets too, before the warm-up ends.
    let (peak, trough, period_s) = sawteeth(&queue_series(&outcome, name), 1500.0 * PIPE / 3.0);
    assert_near("period", period_s, cycle_s, 0.10);
    assert_near("peak queue", peak / 1500.0, b * PIPE, 0.05);
    let buffer_us = b * PIPE * 12.0;
    assert_near("largest queue", outcome.occupancy.max_us, buffer_us, 0.01);
    assert_near("amplitude", (peak - trough) / 1500.0, top / 2.0, 0.10);
    // The time average of w - P; a window lasts in proportion to its size.
    let mean_window = top * (7.0 / 12.0) / (3.0 / 4.0);
    let mean_us = (mean_window - PIPE) * 12.0;
    assert_near("mean queue", outcome.occupancy.mean_us, mean_us, 0.05);
}

#[test]
fn one_bdp_of_buffer_goes_from_full_to_empty() {
    assert_sawtooth("switch.buffer=60pkts", 1.0, "sawtooth-1");
}

#[test]
fn two_bdps_of_buffer_never_run_empty() {
    assert_sawtooth("switch.buffer=120pkts", 2.0, "sawtooth-2");
}

/// One drop a cycle: the drops of 20 s minus the drops of a run that ends with the warm-up.
#[test]
fn one_packet_is_lost_each_cycle() {
    for (buffer, b) in [
        ("switch.buffer=60pkts", 1.0),
        ("switch.buffer=120pkts", 2.0),
    ] {
        let dropped = |more: &[&str]| {
            let outcome = run(&scenario(BULK, &settings(buffer, more)), 1);
            outcome.packets.dropped as f64
        };
        let drops = dropped(&[]) - dropped(&["run.duration=1us"]);
        let cycle_packets = 3.0 / 8.0 * ((1.0 + b) * PIPE).powi(2);
        let expected = SECONDS * 1e12 / PACKET_PS as f64 / cycle_packets;
        assert_near("drops", drops, expected, 0.10);
    }
}
