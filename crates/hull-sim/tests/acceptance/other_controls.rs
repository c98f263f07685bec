//! CUBIC, BIC, Vegas and the RTT-fair DCTCP on one bottleneck with a pipe C RTT of 60 packets,
//! against the queue that their rules predict.
//!
//! CUBIC with marks above K packets: a reduction by 0.3 of a window of C RTT + K + 1 packets, so
//! that the queue swings by 0.3 (C RTT + K + 1) and the link stays busy where 0.7 (C RTT + K) > C
//! RTT; halving does not achieve this. BIC: the same with an eighth. Amplitude within 2 packets,
//! throughput to 0.1%. Vegas: alpha to beta segments of each flow wait, to one packet for all flows
//! together. RTT-fair DCTCP: the largest queue of the thesis's fluid model, from which the rule is
//! derived, to 2 packets (the model is continuous and marks at K, packets are marked from K + 1
//! on), and full throughput.

use hull_sim::simulation::Outcome;

use super::queue_series::{queue_series, sawteeth};
use super::star::{BULK, assert_near, run, scenario};

const PIPE: f64 = 60.0;

fn outcome(flows: u32, settings: &[&str]) -> Outcome {
    let hosts = format!("topology.star.hosts={}", flows + 1);
    let flows = format!("workload.bulk.flows={flows}");
    let base = [
        "host.delay=176.6115us",
        "switch.delay=176.6115us",
        "run.warmup=2s",
        "run.duration=2s",
        "measure.sample_interval=20us",
        &hosts,
        &flows,
    ];
    let settings: Vec<&str> = base.iter().chain(settings).copied().collect();
    let outcome = run(&scenario(BULK, &settings), 1);
    assert_eq!(outcome.packets.dropped, 0);
    outcome
}

#[test]
fn cubic_swings_by_three_tenths_and_keeps_the_link_busy() {
    let marks = ["transport.ecn=true", "switch.marking.threshold=60000B"];
    let run = |control| outcome(1, &[marks[0], marks[1], control]);
    let cubic = run("transport.congestion_control=cubic");
    let series = queue_series(&cubic, "cubic-40");
    let (peak, trough, _) = sawteeth(&series, 4.0 * 1500.0);
    let amplitude = (peak - trough) / 1500.0;
    let expected = 0.3 * (PIPE + 41.0);
    assert!((amplitude - expected).abs() < 2.0, "{amplitude} {expected}");
    assert_near("CUBIC", cubic.throughput.utilization, 1.0, 0.001);
    let newreno = run("transport.congestion_control=newreno");
    assert!(newreno.throughput.utilization < 0.99);
}

#[test]
fn bic_swings_by_an_eighth_and_keeps_the_link_busy() {
    let marks = ["transport.ecn=true", "switch.marking.threshold=60000B"];
    let bic = outcome(1, &[marks[0], marks[1], "transport.congestion_control=bic"]);
    let series = queue_series(&bic, "bic-40");
    let (peak, trough, _) = sawteeth(&series, 4.0 * 1500.0);
    let amplitude = (peak - trough) / 1500.0;
    let expected = (PIPE + 41.0) / 8.0;
    assert!((amplitude - expected).abs() < 2.0, "{amplitude} {expected}");
    assert_near("BIC", bic.throughput.utilization, 1.0, 0.001);
}

#[test]
fn vegas_keeps_a_few_segments_of_each_flow_waiting() {
    for flows in 1..=3 {
        let vegas = outcome(flows, &["transport.congestion_control=vegas"]);
        let queue = vegas.occupancy.mean_us / 12.0;
        let (least, most) = (2.0 * f64::from(flows) - 1.0, 4.0 * f64::from(flows) + 1.0);
        assert!((least..=most).contains(&queue), "{flows}: {queue} packets");
        assert_near("Vegas", vegas.throughput.utilization, 1.0, 0.001);
    }
}

/// Largest queue of `flows` flows in the fluid model of thesis equations 3.3 to 3.6, in packets:
///
/// ```text
/// dW/dt = 1 / R - W alpha p(t - R*) / (2 R),   R = d + q / C,   R* = d + K / C
/// dalpha/dt = g (p(t - R*) - alpha) / R,       p = 1 where q > K
/// dq/dt = N W / R - C
/// ```
///
/// Steps of 1 us; the first half is discarded as settling time.
fn fluid_peak(flows: f64, threshold: f64) -> f64 {
    let capacity = 1.0 / 12.0; // packets in a microsecond
    let delay_us = PIPE / capacity + threshold / capacity;
    let delay = delay_us as usize;
    let mut marks = vec![0.0; delay];
    let (mut window, mut alpha, mut queue) = ((PIPE + threshold) / flows, 0.5_f64, threshold);
    let mut peak = 0.0_f64;
    for step in 0..2_000_000_usize {
        let round_trip = (PIPE + queue) / capacity;
        let mark = std::mem::replace(&mut marks[step % delay], f64::from(queue > threshold));
        queue = (queue + flows * window / round_trip - capacity).max(0.0);
        window += (1.0 - window * alpha / 2.0 * mark) / round_trip;
        alpha += (mark - alpha) / 16.0 / round_trip;
        if step > 1_000_000 {
            peak = peak.max(queue);
        }
    }
    peak
}

#[test]
fn rtt_fair_dctcp_follows_the_fluid_model() {
    for flows in 1..=4 {
        let settings = [
            "transport.congestion_control=dctcp",
            "transport.dctcp.rtt_fair=true",
            "transport.ecn=true",
            "switch.marking.threshold=30000B",
        ];
        let dctcp = outcome(flows, &settings);
        let largest = dctcp.occupancy.max_us / 12.0;
        let expected = fluid_peak(f64::from(flows), 20.0);
        println!("N {flows}: largest {largest:.2}, fluid model {expected:.2}");
        assert!(
            (largest - expected).abs() < 2.0,
            "{flows}: {largest} {expected}"
        );
        assert_near("DCTCP", dctcp.throughput.utilization, 1.0, 0.001);
    }
}
