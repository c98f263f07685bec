//! The rate controls of RoCE NICs on a network: an uncontended flow against the closed form, two flows on
//! a dumbbell and an incast against runs of the simulator of HPCC, which were recorded by executing it
//! (`rdma-runs.toml`, scenarios `dumbbell2` and `incast16`; H is alibaba-edu/High-Precision-Congestion-Control at
//! 9f4be2a, P inet-tub/ns3-datacenter at 6ddb4a4). That simulator cuts serialization to whole ns, so its
//! links are up to 1% faster, and it does not count the packet on the wire.

use hull_sim::scenario::{self, Scenario};
use hull_sim::simulation::Outcome;
use hull_sim::workload::Acked;

use super::star::{assert_near, run};

const BASE: &str = r#"
name = "rate-controls"
[run]
duration = "4ms"
[host]
queue = "fifo"
rate = "100Gbps"
delay = "1us"
[switch]
rate = "100Gbps"
delay = "1us"
buffer = "32MB"
[switch.marking]
threshold = "100KB"
max_threshold = "400KB"
max_probability = "20%"
at_rate = "25Gbps"
on = "dequeue"
[transport]
ecn = true
mtu = "1048B"
header = "48B"
[transport.message]
paths = 1
load_balancing = "ecmp"
ack_bytes = "1B"
timeout = "10ms"
"#;

/// Two flows that never end, the second 200 us later; the round trip of the recorded runs.
const TWO: &str = r#"
[topology.dumbbell]
pairs = 2
[[workload.long_lived.flows]]
src = 0
dst = 2
[[workload.long_lived.flows]]
src = 1
dst = 3
start = "200us"
"#;

/// 500 KB from each of 16 hosts to one, at the same time.
const INCAST: &str = r#"
[topology.star]
hosts = 17
[[workload.long_lived.flows]]
src = "1-16"
dst = 0
size = "500KB"
"#;

const ONE: &str = r#"
[topology.star]
hosts = 2
[[workload.long_lived.flows]]
src = 0
dst = 1
size = "10MB"
"#;

/// DCQCN with the recorded runs' g.
const DCQCN: &[&str] = &[
    "transport.congestion_control=dcqcn",
    "transport.dcqcn.gain=0.0039",
];
const DCTCP: &[&str] = &[
    "transport.congestion_control=dctcp-rate",
    "transport.dctcp_rate.additive=615Mbps",
];
const TIMELY: &[&str] = &[
    "transport.congestion_control=timely",
    "transport.mtu=1056B",
    "transport.header=56B",
];
/// Packets of the first two on the wire and of TIMELY's, KB.
const PACKET_KB: f64 = 1.048;
const TIMED_KB: f64 = 1.056;

fn expand(base: &str, settings: &[&[&str]]) -> Result<Scenario, String> {
    let settings = Vec::from_iter(settings.concat().iter().map(|&one| one.to_owned()));
    let cells = scenario::expand(base, "test.toml", &settings);
    let cells = cells.map_err(|error| error.to_string())?;
    Ok(Scenario::clone(&cells[0].scenario))
}

fn outcome(flows: &str, settings: &[&[&str]], seed: u64) -> Outcome {
    let scenario = expand(&format!("{BASE}{flows}"), settings);
    run(&scenario.unwrap_or_else(|error| panic!("{error}")), seed)
}

/// Mean and largest queue of the shared link, KB; 100 Gbps are 12.5 KB per us.
fn queue_kb(settings: &[&[&str]], seed: u64) -> (f64, f64) {
    let round_trip: &[&str] = &["transport.message.round_trip=6240ns"];
    let queue = outcome(TWO, &[settings, &[round_trip]].concat(), seed).occupancy;
    (12.5 * queue.mean_us, 12.5 * queue.max_us)
}

/// All start at line rate: 10,000 packets of 1048 bytes and an ACK of 48, two links of 1 us each.
#[test]
fn an_uncontended_flow_has_the_full_rate() {
    let packet_ps = 83_840;
    let expected_ps = 10_001 * packet_ps + 4_000_000 + 2 * 3840;
    for settings in [
        DCQCN,
        &[
            "transport.congestion_control=dcqcn",
            "transport.dcqcn.window=true",
        ],
        &[
            "transport.congestion_control=dcqcn",
            "transport.dcqcn.variant=paper",
        ],
        DCTCP,
        &["transport.congestion_control=timely"],
        &[
            "transport.congestion_control=timely",
            "transport.timely.window=true",
        ],
        &["transport.congestion_control=line-rate"],
    ] {
        let outcome = outcome(ONE, &[settings], 1);
        assert_eq!(outcome.flows.rows().len(), 1);
        let Acked::After(found_ps) = outcome.flows.rows()[0].acked else {
            panic!("{settings:?}: the flow has not ended");
        };
        assert_eq!(found_ps, expected_ps, "{settings:?}");
    }
}

/// Two windows of rate times round trip fill the queue; no mark comes, and rates stay at line rate.
#[test]
fn windows_hold_the_queue_as_recorded() {
    let dcqcn_window: &[&str] = &["transport.dcqcn.window=true"];
    let timely_window: &[&str] = &["transport.timely.window=true"];
    for (settings, mean_kb, max_kb) in [
        (&[DCQCN, dcqcn_window][..], 80.119, 84.888),
        (&[DCTCP], 80.119, 84.888),
        (&[TIMELY, timely_window], 81.593, 86.592),
    ] {
        let (mean, max) = queue_kb(settings, 1);
        assert!((mean - mean_kb).abs() < 2.0 * PACKET_KB, "{mean} {mean_kb}");
        assert!((max - max_kb).abs() < 2.0 * PACKET_KB, "{max} {max_kb}");
    }
}

/// Recorded `H/dumbbell2.dctcp.k65`: mean and largest queue with a threshold of 65 KB.
#[test]
fn dctcp_holds_the_queue_at_its_threshold_as_recorded() {
    let k65: &[&str] = &["switch.marking={threshold=\"65KB\",on=\"dequeue\"}"];
    let (mean, max) = queue_kb(&[DCTCP, k65], 1);
    assert_near("mean queue", mean, 59.208, 0.02);
    assert!((max - 84.888).abs() < 2.0 * PACKET_KB, "{max}");
}

/// Recorded `P/` and `H/dumbbell2.timely.ackprio`: 184.2 and 184.4 KB, largest 1209.1 KB of packets of
/// 1056 bytes. The second flow's start makes the peak, before T_low stops the increase.
#[test]
fn timely_oscillates_as_recorded() {
    let (mean, max) = queue_kb(&[TIMELY], 1);
    assert_near("mean queue", mean, 184.3, 0.05);
    assert!((max - 1209.12).abs() < 0.02 * 1209.12 + TIMED_KB, "{max}");
}

/// Recorded `P/` and `H/dumbbell2.dcqcn` and `.exact`: means 140.3 to 143.8 KB, largest 747.6 to 761.9
/// KB. Marks are random, so the mean of eight seeds is compared.
#[test]
fn dcqcn_oscillates_as_recorded() {
    let runs = (1..=8).map(|seed| queue_kb(&[DCQCN], seed));
    let (mean, max) = runs.fold((0.0, 0.0), |(mean, max), of| {
        (mean + of.0 / 8.0, max + of.1 / 8.0)
    });
    assert_near("mean queue", mean, 142.0, 0.1);
    assert_near("largest queue", max, 755.0, 0.1);
}

/// Recorded `incast16` of H and P: marks, mean and largest queue in KB; DCTCP with a threshold of 300 KB.
/// The first windows and line rate make the queue.
#[test]
fn incasts_are_as_recorded() {
    let line_rate: &[&str] = &[
        "transport.congestion_control=line-rate",
        "transport.ecn=false",
    ];
    let window: &[&str] = &["transport.message.round_trip=4160ns"];
    let k300: &[&str] = &["switch.marking={threshold=\"300KB\",on=\"dequeue\"}"];
    for (settings, marks, mean_kb, max_kb) in [
        (&[line_rate][..], 0.0, 3905.935, 7861.048),
        (&[DCTCP, k300, window], 961.0, 262.831, 819.536),
        (&[TIMELY], 6505.0, 3936.032, 7921.056),
    ] {
        let found = outcome(INCAST, settings, 1);
        let queue = &found.occupancy;
        assert!(
            (found.marks as f64 - marks).abs() <= 0.005 * marks,
            "{}",
            found.marks
        );
        assert_near("mean queue", 12.5 * queue.mean_us, mean_kb, 0.005);
        let max = 12.5 * queue.max_us;
        assert!((max - max_kb).abs() < 2.0 * TIMED_KB, "{max} {max_kb}");
    }
}

/// Recorded seeds of `P/incast16.dcqcn`: the mean time to the last ACK is 778.8 us with a standard
/// deviation of 26.4, the largest queue 3596 KB with 82. Flows that are cut to the smallest rate leave the
/// link idle, so the order of marks decides much.
#[test]
fn incast_of_dcqcn_is_within_two_deviations() {
    let (mut mean_us, mut max_kb) = (0.0, 0.0);
    for seed in 1..=8 {
        let found = outcome(INCAST, &[DCQCN], seed);
        for row in found.flows.rows() {
            let Acked::After(ps) = row.acked else {
                panic!("a flow has not ended");
            };
            mean_us += ps as f64 / 1e6 / 128.0;
        }
        max_kb += 12.5 * found.occupancy.max_us / 8.0;
    }
    assert!((mean_us - 778.8).abs() < 2.0 * 26.4, "{mean_us}");
    assert!((max_kb - 3596.0).abs() < 2.0 * 82.0, "{max_kb}");
}

/// Thresholds of 25 Gbps are four times as high at 100 Gbps.
#[test]
fn thresholds_follow_the_rate_of_the_port() {
    let text = |settings: &[&[&str]]| format!("{:?}", queue_kb(settings, 3));
    let same: &[&str] = &[
        "switch.marking={threshold=\"400KB\",max_threshold=\"1600KB\",max_probability=\"20%\",on=\"dequeue\"}",
    ];
    let other: &[&str] = &[
        "switch.marking={threshold=\"100KB\",max_threshold=\"400KB\",max_probability=\"20%\",on=\"dequeue\"}",
    ];
    assert_eq!(text(&[DCQCN, same]), text(&[DCQCN]));
    assert_ne!(text(&[DCQCN, other]), text(&[DCQCN]));
}

#[test]
fn invalid_settings_are_rejected() {
    for (setting, told) in [
        (
            "transport.dcqcn.gain=0%",
            "transport.dcqcn.gain: \"0%\" is invalid; expected more than 0% to 100%",
        ),
        (
            "transport.dcqcn.variant=nic",
            "transport.dcqcn.variant: \"nic\" is invalid; expected ",
        ),
        (
            "transport.dcqcn.min_rate=101%",
            "transport.dcqcn.min_rate: \"101%\" is invalid; expected a rate such as \"1Gbps\"",
        ),
        (
            "transport.timely.low=600us",
            "transport.timely.low: \"600us\" is invalid; expected at most transport.timely.high",
        ),
        (
            "transport.dctcp_rate.gain=2",
            "transport.dctcp_rate.gain: 2 is invalid; expected more than 0% to 100%",
        ),
        (
            "transport.ecn=false",
            "transport.ecn: false is invalid; expected true with transport.congestion_control = \"dcqcn\"",
        ),
        (
            "switch.marking.at_rate=0",
            "switch.marking.at_rate: 0 is invalid; expected a rate from 1Mbps",
        ),
        (
            "switch.marking.max_probability=0%",
            "switch.marking.max_probability: \"0%\" is invalid; expected more than 0% to 100%, and 100%",
        ),
        (
            "switch.marking={threshold=\"1KB\",max_probability=\"20%\"}",
            "switch.marking.max_probability: \"20%\" is invalid; expected more than 0% to 100%, and 100%",
        ),
        (
            "switch.buffer=300KB",
            "switch.marking.threshold: \"100KB\" is invalid; expected less than switch.buffer, \"300KB\"",
        ),
    ] {
        let told_of = expand(&format!("{BASE}{TWO}"), &[DCQCN, &[setting]]);
        let error = told_of.expect_err(setting);
        assert!(error.contains(told), "{setting}: {error}");
    }
}
