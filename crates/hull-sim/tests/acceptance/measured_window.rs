//! Counts cover exactly the measured time, however short it is: no link is used for more than 100%
//! of the time, no host receives more than its link carries, and the usage of two windows adds up
//! to the usage of both together.

use hull_sim::scenario::Scenario;
use hull_sim::simulation::Outcome;

use super::star::{run, scenario};

/// Two transfers that overflow a buffer of 10 packets: retransmissions fill holes.
const FLOWS: &str = "[[workload.long_lived.flows]]\nsrc = 1\ndst = 0\n\
                     [[workload.long_lived.flows]]\nsrc = 2\ndst = 0\n";

fn window(start_us: u64, length_us: u64, more: &[&str]) -> Scenario {
    let (start, length) = (
        format!("run.warmup={start_us}us"),
        format!("run.duration={length_us}us"),
    );
    let base = [
        "topology.star.hosts=3",
        "switch.buffer=10pkts",
        "transport.min_rto=1ms",
        "transport.initial_rto=1ms",
        &start,
        &length,
    ];
    scenario(FLOWS, &[&base, more].concat())
}

fn measured(start_us: u64, length_us: u64, more: &[&str]) -> Outcome {
    run(&window(start_us, length_us, more), 1)
}

const TWO_THREADS: &str = "run.threads=2";

#[test]
fn no_link_carries_more_than_its_rate() {
    for more in [
        &[][..],
        &["switch.cut_through=64B"],
        &["switch.priorities=2"],
        &[TWO_THREADS],
    ] {
        let mut dropped = 0;
        for start_us in (0..3000).step_by(173) {
            for length_us in [1, 7, 30, 200] {
                let outcome = measured(start_us, length_us, more);
                let at = format!("{more:?}: {length_us} us from {start_us} us on");
                for link in &outcome.links {
                    let share = link.utilization;
                    assert!((0.0..=1.000_001).contains(&share), "{at}: {share}");
                }
                let goodput_bps = outcome.throughput.goodput_bps;
                // 1460 of 1500 bytes are payload; what arrives is counted in whole bytes.
                let most_bps = 1e9 * 1460.0 / 1500.0 + 8.0 / (length_us as f64 * 1e-6);
                assert!(goodput_bps <= most_bps, "{at}: {goodput_bps}");
                dropped += outcome.packets.dropped;
            }
        }
        assert!(dropped > 0, "{more:?}: holes are filled");
    }
}

#[test]
fn adjacent_windows_add_up() {
    let bits = |start_us: u64, length_us: u64| {
        let outcome = measured(start_us, length_us, &[]);
        let carried = outcome.links.iter().map(|link| link.utilization);
        Vec::from_iter(carried.map(|share| share * length_us as f64 * 1e3))
    };
    for (start_us, first_us, second_us) in [(0, 3, 1), (5, 40, 2), (411, 1, 1), (900, 333, 77)] {
        let first = bits(start_us, first_us);
        let second = bits(start_us + first_us, second_us);
        let both = bits(start_us, first_us + second_us);
        for ((first, second), both) in first.iter().zip(second).zip(both) {
            assert!(
                (first + second - both).abs() < 0.01,
                "{first} {second} {both}"
            );
        }
    }
}
