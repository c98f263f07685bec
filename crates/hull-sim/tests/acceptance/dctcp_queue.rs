//! DCTCP's queue against the sawtooth model of thesis 2.2.3, for long-lived flows from hosts whose
//! links are ten times as fast as the switch's.
//!
//! Equation 2.10: the largest queue is K + N packets. Tolerance one packet (and the 0.1% of the
//! histogram): the model's queue is continuous and marks at K, packets are marked from K + 1 on.
//! Equation 2.8: the amplitude is sqrt(2 N (C RTT + K)) / 2 packets; equation 2.9: the period is as
//! many round trips. For N = 1 within 25%: the equations assume a small alpha, here sqrt(2 / W),
//! and cuts by a fraction of a packet.
//! Equation 2.12: with K > C RTT / 7 no throughput is lost, to 0.1%.

use hull_sim::simulation::Outcome;

use super::queue_series::{queue_series, sawteeth};
use super::star::{BULK, assert_near, run, scenario};

/// C RTT: 60 packets, as in the sawtooth of drop-tail.
const PIPE: f64 = 60.0;

fn outcome(flows: u32, threshold_packets: u32) -> Outcome {
    let hosts = format!("topology.star.hosts={}", flows + 1);
    let flows = format!("workload.bulk.flows={flows}");
    let threshold = format!("switch.marking.threshold={}B", threshold_packets * 1500);
    let settings = [
        "host.delay=176.6115us",
        "switch.delay=176.6115us",
        "run.warmup=1s",
        "run.duration=2s",
        "measure.sample_interval=20us",
        "transport.congestion_control=dctcp",
        "transport.ecn=true",
        &hosts,
        &flows,
        &threshold,
    ];
    let outcome = run(&scenario(BULK, &settings), 1);
    assert_eq!(outcome.packets.dropped, 0);
    outcome
}

#[test]
fn the_largest_queue_is_k_plus_n() {
    for threshold in [20, 30, 40] {
        for flows in 1..=4 {
            let outcome = outcome(flows, threshold);
            let largest = outcome.occupancy.max_us / 12.0;
            let expected = f64::from(threshold + flows);
            println!("K {threshold} N {flows}: largest {largest:.2}, K + N {expected}");
            assert!(
                (expected - 1.05..=expected + 1.05).contains(&largest),
                "K {threshold}, N {flows}: {largest} packets, K + N = {expected}"
            );
            assert_near("utilization", outcome.throughput.utilization, 1.0, 0.001);
        }
    }
}

#[test]
fn one_flow_oscillates_as_in_the_model() {
    for threshold in [20, 40] {
        let outcome = outcome(1, threshold);
        let (peak, trough, period_s) = sawteeth(
            &queue_series(&outcome, &format!("dctcp-{threshold}")),
            4.0 * 1500.0,
        );
        let k = f64::from(threshold);
        let amplitude = (2.0 * (PIPE + k)).sqrt() / 2.0;
        println!(
            "K {threshold}: amplitude {} model {amplitude} period {period_s}",
            (peak - trough) / 1500.0
        );
        assert_near("amplitude", (peak - trough) / 1500.0, amplitude, 0.25);
        let rtt_s = (PIPE + k - amplitude / 2.0) * 12e-6;
        assert_near("period", period_s / rtt_s, amplitude, 0.25);
    }
}
