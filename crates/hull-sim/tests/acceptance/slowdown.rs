//! The closed-form ideal completion time against runs of otherwise empty networks, to the
//! picosecond: one message at a time, of sizes around whole packets, over every kind of network,
//! with every feature that treats all packets alike. Under load, no slowdown is below 1.

use hull_sim::simulation::Outcome;
use hull_sim::workload::FlowRecord;
use proptest::prelude::*;
use proptest::sample::select;

use super::star::{run, scenario};

/// Flow sizes, bytes; a packet carries 1460 bytes of payload.
const SIZES: [u64; 9] = [1, 20, 1459, 1460, 1461, 2919, 2921, 14_600, 100_000];

const NETWORKS: [&[&str]; 8] = [
    &["topology={star={hosts=4}}"],
    // No rate gives whole picoseconds.
    &[
        "topology={star={hosts=4}}",
        "host.rate=970Mbps",
        "switch.rate=7Gbps",
    ],
    &["topology={dumbbell={pairs=2,rtts=[\"90us\"]}}"],
    &[
        "topology={leaf_spine={leaves=2,spines=3,hosts_per_leaf=2,uplink_rate=\"40Gbps\",uplink_delay=\"700ns\"}}",
    ],
    &["topology={leaf_spine={leaves=2,spines=3,hosts_per_leaf=2,uplink_rate=\"3Gbps\"}}"],
    &["topology={tree={}}"],
    &["topology={tree={uplink_rate=\"2.5Gbps\",core_rate=\"40Gbps\"}}"],
    &["topology={tree={uplink_rate=\"100Gbps\",core_rate=\"4Gbps\"}}"],
];

const FEATURES: [&[&str]; 12] = [
    &[],
    &["transport.framing=38B", "transport.header=52B"],
    &["switch.cut_through=64B"],
    &["switch.cut_through=14B", "transport.framing=24B"],
    &["switch.cut_through=1000B", "switch.priorities=3"],
    &["host.stack_delay=1300ns", "switch.latency=450ns"],
    &["transport.handshake=true"],
    &[
        "transport.handshake=true",
        "switch.cut_through=64B",
        "host.stack_delay=1us",
    ],
    &[
        "host.stack_jitter={offset=\"2us\"}",
        "transport.handshake=true",
    ],
    &["host.offload=64KB", "host.stack_jitter={offset=\"2us\"}"],
    &[
        "host.nic_queues=4",
        "host.application_delay=7us",
        "switch.count_in_service=true",
    ],
    &["pacer={}", "switch.memory={size=\"4MB\",alpha=\"100%\"}"],
];

const COMMON: [&str; 7] = [
    "run.duration=40ms",
    "host.rate=10Gbps",
    "switch.rate=10Gbps",
    "host.delay=200ns",
    "switch.delay=300ns",
    "transport.initial_window=1000",
    "switch.buffer=unlimited",
];

fn with(workload: &str, settings: &[&[&str]]) -> Outcome {
    let all: Vec<&str> = COMMON
        .iter()
        .chain(settings.iter().copied().flatten())
        .copied()
        .collect();
    let outcome = run(&scenario(workload, &all), 7);
    assert_eq!(outcome.packets.dropped, 0, "{all:?}");
    outcome
}

/// Flows of all sizes, well separated in time, between the two hosts farthest apart.
fn one_at_a_time(last: u32) -> String {
    let flow = |(n, size): (usize, &u64)| {
        format!(
            "{{src=0,dst={last},size=\"{size}B\",start=\"{}ms\"}}",
            4 * n
        )
    };
    let flows: Vec<String> = SIZES.iter().enumerate().map(flow).collect();
    format!("[workload.long_lived]\nflows=[{}]\n", flows.join(","))
}

fn assert_alone(rows: &[FlowRecord], told: &str) {
    for row in rows {
        assert_eq!(row.ideal_ps, Some(row.fct_ps), "{} B: {told}", row.bytes);
        assert_eq!(row.slowdown(), Some(1.0));
    }
}

#[test]
fn a_flow_alone_takes_its_ideal_time() {
    for network in NETWORKS {
        let last = if network[0].contains("tree") { 191 } else { 3 };
        for features in FEATURES {
            let outcome = with(&one_at_a_time(last), &[network, features]);
            let rows = outcome.flows.rows();
            assert_eq!(rows.len(), SIZES.len());
            assert_alone(rows, &format!("{network:?} {features:?}"));
        }
    }
}

/// A message alone on 16 paths: no faster than its ideal time, and slower by at most its last packet's
/// time on the link to the receiver, if links between switches are not slower than the hosts' and the
/// control does not limit it (NSCC's window is 1.5 bandwidth-delay products, which must hold two
/// packets). Without a short last packet behind a full one, and if all paths are the same, both times
/// are equal.
#[test]
fn a_message_alone_on_many_paths_takes_its_ideal_time() {
    let (mut equal, mut above) = (0, 0);
    for control in ["nscc", "rccc"] {
        let control_is = format!("transport.congestion_control={control}");
        let messages = [
            &control_is,
            "transport.ecn=true",
            "transport.message={paths=16,round_trip=\"1ms\",ack_bytes=\"1B\",timeout=\"3ms\"}",
        ];
        for network in NETWORKS {
            let last = if network[0].contains("tree") { 191 } else { 3 };
            let outcome = with(&one_at_a_time(last), &[network, &messages]);
            let rows = outcome.flows.rows();
            assert_eq!(rows.len(), SIZES.len(), "{network:?}");
            let has_one_path = network[0].contains("star") || network[0].contains("dumbbell");
            let slow = ["=\"3Gbps", "2.5Gbps", "=\"4Gbps", "970Mbps"];
            let is_limited = control == "rccc"
                || network
                    .iter()
                    .any(|text| slow.iter().any(|rate| text.contains(rate)));
            for row in rows {
                let told = format!("{} B: {network:?} {control}", row.bytes);
                let ideal_ps = row.ideal_ps.expect("has a route");
                assert!(row.fct_ps >= ideal_ps, "{told}");
                if is_limited {
                    continue;
                }
                let payload = row.bytes % 1460;
                let may_overtake = !has_one_path && row.bytes > 1460 && payload > 0;
                let short_ps = if may_overtake {
                    (payload + 40) * 800
                } else {
                    0
                };
                let off_ps = row.fct_ps - ideal_ps;
                assert!(off_ps <= short_ps, "{told}: {off_ps}");
                equal += u32::from(off_ps == 0);
                above += u32::from(off_ps > 0);
            }
        }
    }
    assert!(equal > 8 * above, "{equal} equal, {above} above");
}

/// Lowest slowdown of requests, one per millisecond on average, so that most are uncontended.
fn least_of_requests(settings: &[&str]) -> f64 {
    let settings: Vec<&str> = settings
        .iter()
        .copied()
        .chain(["run.duration=400ms"])
        .collect();
    let outcome = with("[workload]\n", &[&settings]);
    let rows = outcome.flows.rows();
    assert!(rows.len() > 20, "{}", rows.len());
    let slowdowns = rows.iter().map(|row| row.slowdown().expect("has a route"));
    slowdowns.fold(f64::INFINITY, f64::min)
}

const ANSWERED: [&str; 3] = [
    "workload.requests={load=\"0.056%\",client=0,servers=3,classes=[{size=\"700B\",share=\"100%\"}]}",
    "workload.requests={load=\"1.6%\",client=0,servers=3,classes=[{size=\"20KB\",share=\"100%\"}]}",
    "workload.requests={load=\"0.00008%\",client=0,servers=3,classes=[{size=\"1B\",share=\"100%\"}]}",
];

/// The request's transfer and the server's time; a server that answers at once sends the response
/// behind the request's ACK.
#[test]
fn a_response_alone_takes_its_ideal_time() {
    for network in NETWORKS {
        for class in ANSWERED {
            for request in [
                "workload.requests.request_size=100B",
                "workload.requests.request_size=4KB",
            ] {
                for features in [
                    &[][..],
                    &["host.application_delay=9us"],
                    &["host.application_delay=10ns"],
                    &[
                        "workload.requests.service={offset=\"3us\"}",
                        "transport.handshake=true",
                    ],
                    &["host.stack_jitter={offset=\"2us\"}", "host.stack_delay=1us"],
                    &["switch.cut_through=64B", "host.application_delay=1us"],
                    &["transport.framing=38B", "transport.ack_every=64"],
                ] {
                    let settings: Vec<&str> = network
                        .iter()
                        .chain(&[class, request])
                        .chain(features)
                        .copied()
                        .collect();
                    assert_eq!(least_of_requests(&settings), 1.0, "{settings:?}");
                }
            }
        }
    }
}

/// Each message on a persistent connection starts with its own packet.
#[test]
fn a_message_alone_on_a_connection_takes_its_ideal_time() {
    let workload = "[workload.flows]\nflows_per_second=1000.0\nconnections=\"persistent\"\nsizes={fixed=\"3KB\"}\n";
    for network in NETWORKS {
        let outcome = with(workload, &[network]);
        let rows = outcome.flows.rows();
        let slowdowns = rows.iter().map(|row| row.slowdown().expect("has a route"));
        assert_eq!(slowdowns.fold(f64::INFINITY, f64::min), 1.0, "{network:?}");
    }
}

/// The ideal counts random times (service, jitter) at their minimum, so it is a lower bound.
#[test]
fn variable_delays_leave_a_lower_bound() {
    let star = NETWORKS[0][0];
    for varying in [
        "workload.requests.service={offset=\"3us\",exponential=\"5us\"}",
        "host.stack_jitter={offset=\"3us\",exponential=\"1us\"}",
        "host.receive={frames=1,interrupt_cost=\"1us\",packet_cost=\"500ns\"}",
    ] {
        let least = least_of_requests(&[star, ANSWERED[0], varying]);
        assert!(least > 1.0 && least < 2.0, "{least}: {varying}");
    }
}

/// A window too small for a flow adds to its slowdown, even uncontended: 10 packets of 1460 bytes
/// take 4 rounds of 1, 2, 4 and 3 packets, each a round trip.
#[test]
fn the_window_is_part_of_the_slowdown() {
    let workload = "[workload.long_lived]\nflows=[{src=1,dst=0,size=\"14600B\"}]\n";
    let slow = [
        "transport.initial_window=1",
        "host.delay=100us",
        "switch.delay=100us",
    ];
    let outcome = with(workload, &[&["topology={star={hosts=2}}"], &slow]);
    let row = outcome.flows.rows()[0];
    // 1500 bytes take 1.2 us at 10 Gbps, an ACK 32 ns.
    let one_way_ps = 200_000_000 + 2 * 1_200_000;
    let round_trip_ps = one_way_ps + 200_000_000 + 2 * 32_000;
    assert_eq!(row.ideal_ps, Some(one_way_ps + 9 * 1_200_000));
    assert_eq!(row.fct_ps, 3 * round_trip_ps + one_way_ps + 2 * 1_200_000);
}

/// The summary's slowdowns match the rows.
#[test]
fn percentiles_match_the_rows() {
    let workload = "[workload.flows]\nload=\"50%\"\nsizes={csv=\"websearch\"}\n";
    let outcome = with(workload, &[NETWORKS[3], &["run.duration=20ms"]]);
    for (number, class) in outcome.flows.slowdowns().into_iter().enumerate() {
        let of_class = |row: &&FlowRecord| usize::from(row.class) == number;
        let rows = outcome.flows.rows().iter().filter(of_class);
        let mut found: Vec<f64> = rows.filter_map(FlowRecord::slowdown).collect();
        found.sort_by(f64::total_cmp);
        assert_eq!(class.count, found.len());
        let Some(slowdown) = class.slowdown else {
            continue;
        };
        let at = |share: f64| found[(found.len() as f64 * share).ceil() as usize - 1];
        for (told, expected) in [
            (slowdown.p50, at(0.5)),
            (slowdown.p95, at(0.95)),
            (slowdown.p99, at(0.99)),
            (slowdown.p999, at(0.999)),
            (
                slowdown.mean,
                found.iter().sum::<f64>() / found.len() as f64,
            ),
        ] {
            assert!((told - expected).abs() < 1e-6, "{told} {expected}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Under load, no flow beats its uncontended time.
    #[test]
    fn no_flow_is_faster_than_alone(
        network in 0..NETWORKS.len(),
        features in 0..FEATURES.len(),
        load in 1_u32..70,
        connections in select(vec!["per_flow", "persistent"]),
        window in 1_u32..40,
        control in select(vec!["newreno", "dctcp"]),
        seed in 1_u64..1000,
    ) {
        let shape = NETWORKS[network][0].replace("tree={", "tree={pods=2,tors_per_pod=2,hosts_per_tor=2,");
        let shape = shape.replace("2,}", "2}");
        let settings = [
            shape,
            format!("workload.flows={{load=\"{load}%\",connections=\"{connections}\",sizes={{csv=\"hadoop\"}}}}"),
            "workload.requests={load=\"5%\",classes=[{size=\"2KB\",share=\"100%\"}]}".to_owned(),
            "run.duration=2ms".to_owned(),
            format!("transport.initial_window={window}"),
            format!("transport.congestion_control={control}"),
            "transport.ecn=true".to_owned(),
            "switch.buffer=150KB".to_owned(),
            "switch.marking.threshold=30KB".to_owned(),
        ];
        let settings: Vec<&str> = COMMON
            .iter()
            .chain(&NETWORKS[network][1..])
            .chain(FEATURES[features])
            .copied()
            .chain(settings.iter().map(String::as_str))
            .collect();
        let outcome = run(&scenario("[workload]\n", &settings), seed);
        for row in outcome.flows.rows() {
            prop_assert!(row.slowdown() >= Some(1.0), "{row:?}");
        }
    }
}
