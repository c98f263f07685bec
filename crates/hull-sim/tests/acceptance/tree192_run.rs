//! Simulates the network of paper 6.3 and checks the paper's numbers: the round trip of 11.8 us,
//! the loads of 15%, 43.8% and 39.6%, and the sizes of thesis table 4.6.

use hull_sim::measure::by_tier;
use hull_sim::workload::Acked;

use super::star::{assert_near, run, scenario};

const TREE: [&str; 8] = [
    "topology={tree={}}",
    "host.rate=10Gbps",
    "switch.rate=10Gbps",
    "host.delay=200ns",
    "switch.delay=200ns",
    "host.stack_delay=500ns",
    "transport.initial_window=1",
    "transport.min_window=1",
];

fn with<'t>(settings: &[&'t str]) -> Vec<&'t str> {
    TREE.iter().chain(settings).copied().collect()
}

/// One way takes six links of 1.2 + 0.2 us and the two stacks; with a window of one packet the
/// second waits a round trip of 11.792 us for the first one's ACK.
#[test]
fn the_round_trip_takes_11_8_us() {
    let fct_ps = |packets: u64| {
        let flow = format!(
            "workload.long_lived={{flows=[{{src=0,dst=191,size=\"{}B\"}}]}}",
            packets * 1460
        );
        let outcome = run(&scenario("[workload]\n", &with(&[&flow])), 1);
        outcome.flows.rows()[0].fct_ps
    };
    assert_eq!(fct_ps(1), 6 * 1_400_000 + 1_000_000);
    assert_eq!(fct_ps(2) - fct_ps(1), 11_792_000);
}

/// Paper 6.3: a flow of 6.8 KB takes at least 16.2 us. Its five packets follow one another over six
/// links up to the last ACK: 7000 bytes at 10 Gbps, 1500 of them within the round trip (11.792 us).
/// The last byte alone arrives after 13.80 us.
#[test]
fn a_flow_of_6_8_kb_takes_16_2_us_to_its_last_ack() {
    let flow = "workload.long_lived={flows=[{src=0,dst=191,size=\"6800B\"}]}";
    let settings = with(&[flow, "transport.initial_window=5"]);
    let outcome = run(&scenario("[workload]\n", &settings), 1);
    let row = outcome.flows.rows()[0];
    assert_eq!(row.acked, Acked::After(11_792_000 + (7000 - 1500) * 800));
    assert_eq!(row.fct_ps, 16_192_000 - 6 * (200_000 + 32_000) - 1_000_000);
}

/// Flows of ten packets at 15%. The wire carries 1500 bytes per 1460, and a 40-byte ACK for each in
/// reverse: 15.8% at the servers. Flows that leave the rack (186 of 191 destinations) and the pod
/// (168) meet 3:1 oversubscription: 2.92 and 2.64 times the load, 43.8% and 39.6% of payload.
#[test]
fn loads_match_the_paper() {
    let settings = with(&[
        "workload.flows={load=\"15%\",sizes={fixed=\"14600B\"}}",
        "transport.initial_window=10",
        "run.warmup=200us",
        "run.duration=20ms",
        "switch.buffer=250pkts",
    ]);
    let outcome = run(&scenario("[workload]\n", &settings), 1);
    let flows = outcome.flows.rows().len() as f64;
    let rate = 192.0 * 10e9 * 0.15 / (14_600.0 * 8.0);
    // Four standard deviations of a Poisson count.
    assert!(
        (flows - rate * 0.02).abs() < 4.0 * (rate * 0.02).sqrt(),
        "{flows}"
    );
    let tiers = by_tier(&outcome.links);
    let on_wire = (1500.0 + 40.0) / 1460.0;
    for (tier, percent) in [
        ("host-tor", 15.0),
        ("tor-host", 15.0),
        ("tor-agg", 43.8),
        ("agg-tor", 43.8),
        ("agg-core", 39.6),
        ("core-agg", 39.6),
    ] {
        let payload = 100.0 * tiers[tier].mean_utilization / on_wire;
        println!("{tier} {payload}");
        assert_near(tier, payload, percent, 0.015);
    }
}

/// Thesis table 4.6 with 20,000 flows of a Pareto distribution of shape 1.05 and mean 100 KB.
/// Shares of flows: within four standard deviations of the distribution function
/// `1 - (b / x)^1.05`, b = 100 KB 0.05 / 1.05, which itself is within 1.1 percentage points of the
/// table; so within 2 points of it. Byte shares up to 10 MB: within 10% (too few larger flows in a
/// run of this length).
#[test]
fn sizes_match_the_table() {
    let settings = with(&[
        "workload.flows={load=\"15%\",count=20000,sizes={pareto={shape=1.05,mean=\"100KB\"}}}",
        "transport.initial_window=10",
        "run.duration=100s",
        "switch.buffer=250pkts",
    ]);
    let outcome = run(&scenario("[workload]\n", &settings), 1);
    let classes = outcome.flows.summary();
    let flows: usize = classes.iter().map(|class| class.count).sum();
    assert_eq!((flows, classes.len()), (20_000, 4));
    let above = |bytes: f64| (100e3 * 0.05 / 1.05 / bytes).powf(1.05);
    let bounds = [1.0, above(10e3), above(100e3), above(10e6), 0.0];
    for (i, percent) in [53.04, 42.78, 4.14, 0.04].into_iter().enumerate() {
        let (found, share) = (classes[i].count as f64, bounds[i] - bounds[i + 1]);
        let deviation = (20_000.0 * share * (1.0 - share)).sqrt();
        let name = &classes[i].class;
        let off = (found - 20_000.0 * share).abs();
        assert!(off < 4.0 * deviation, "{name}: {found}");
        assert!((found / 200.0 - percent).abs() < 2.0, "{name}: {found}");
    }
    let bytes: Vec<f64> = classes[..3]
        .iter()
        .map(|class| class.bytes as f64)
        .collect();
    let all: f64 = bytes.iter().sum();
    for (bytes, percent) in bytes.iter().zip([6.51, 19.25, 32.46]) {
        let expected = percent / (6.51 + 19.25 + 32.46);
        assert_near("share of bytes up to 10 MB", bytes / all, expected, 0.10);
    }
}
