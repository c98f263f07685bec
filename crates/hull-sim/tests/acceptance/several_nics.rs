//! Hosts with several links, against counts by hand: throughput, the bytes of each link, the spread of
//! flows (binomial bounds), conservation, and ideal times.

use std::collections::BTreeSet;

use hull_sim::scenario::{self, Scenario};
use hull_sim::simulation::Outcome;

use super::star::{assert_near, run};

/// Two hosts with a link to each of two switches, 10 Gbps and 1 us each.
const PLANES: &str = r#"
name = "several"
[run]
duration = "10ms"
drain = "20ms"
[topology.graph]
text = '''{
  "nodes": [
    {"id": "h0", "kind": "host"}, {"id": "h1", "kind": "host"},
    {"id": "s0", "kind": "switch"}, {"id": "s1", "kind": "switch"}
  ],
  "edges": [
    {"source": "h0", "target": "s0"}, {"source": "h1", "target": "s0"},
    {"source": "h0", "target": "s1"}, {"source": "h1", "target": "s1"}
  ]
}'''
[host]
queue = "fifo"
rate = "10Gbps"
delay = "1us"
[switch]
rate = "10Gbps"
delay = "1us"
"#;

const DCTCP: &str = r#"
[transport]
congestion_control = "dctcp"
ecn = true
[switch.marking]
threshold = "30KB"
"#;

/// Continues the table of switches.
const NSCC: &str = r#"
buffer = "43pkts"
count_in_service = true
trimming = {}
marking = { threshold = "37350B", max_threshold = "145250B", on = "sent" }
[transport]
congestion_control = "nscc"
ecn = true
mtu = "4150B"
header = "64B"
"#;

/// The scenario of these flows, `{src=...,dst=...,...}`, on a network with this transport.
fn scenario(network: &str, transport: &str, flows: &[String], settings: &[&str]) -> Scenario {
    let flows = flows.join(",");
    let text = format!("{network}{transport}[workload.long_lived]\nflows = [{flows}]\n");
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    match scenario::expand(&text, "test.toml", &settings) {
        Ok(cells) => Scenario::clone(&cells[0].scenario),
        Err(error) => panic!("{error}"),
    }
}

/// Bytes that began transmission on the links from a node to another.
fn bytes(outcome: &Outcome, from: &str, to: &str) -> u64 {
    let links = outcome.links.iter();
    let named = links.filter(|link| (link.from.as_str(), link.to.as_str()) == (from, to));
    named.map(|link| link.bytes).sum()
}

/// Bytes on the links out of host 0, and on the links into host 1.
fn by_plane(outcome: &Outcome) -> ([u64; 2], [u64; 2]) {
    let out = ["s0", "s1"].map(|switch| bytes(outcome, "h0", switch));
    (out, ["s0", "s1"].map(|switch| bytes(outcome, switch, "h1")))
}

fn flows(count: usize, rest: &str) -> Vec<String> {
    vec![format!("{{src=0,dst=1{rest}}}"); count]
}

/// Two endless flows get the rate of one link if they share a NIC, and of both if they do not.
#[test]
fn two_nics_carry_twice_as_much_as_one() {
    let payload_bps = 10e9 * 1460.0 / 1500.0;
    let (mut shared, mut apart) = (0, 0);
    for seed in 1..=8 {
        let outcome = run(
            &scenario(PLANES, DCTCP, &flows(2, ""), &["run.warmup=2ms"]),
            seed,
        );
        let (out, _) = by_plane(&outcome);
        let used = out.iter().filter(|&&bytes| bytes > 1_000_000).count();
        let expected_bps = used as f64 * payload_bps;
        assert_near(
            "goodput",
            outcome.throughput.total_goodput_bps,
            expected_bps,
            0.01,
        );
        shared += usize::from(used == 1);
        apart += usize::from(used == 2);
    }
    assert!(shared > 0 && apart > 0, "{shared} {apart}");
}

/// All bytes of a flow leave on one NIC's link and arrive over the same switch, as many as by hand.
#[test]
fn the_bytes_of_a_flow_are_on_one_link() {
    let size = ",size=\"1MB\"";
    for (transport, mss, header) in [(DCTCP, 1460, 40), (NSCC, 4086, 64)] {
        let expected = 1_000_000 + 1_000_000_u64.div_ceil(mss) * header;
        let mut used = [0; 2];
        for seed in 1..=8 {
            let outcome = run(&scenario(PLANES, transport, &flows(1, size), &[]), seed);
            assert_eq!(outcome.packets.dropped, 0);
            let (out, into) = by_plane(&outcome);
            assert_eq!(out, into);
            let plane = usize::from(out[1] > 0);
            assert_eq!((out[plane], out[1 - plane]), (expected, 0), "{seed}");
            used[plane] += 1;
        }
        assert!(used[0] > 0 && used[1] > 0, "{used:?}");
    }
}

/// 1000 flows of one packet each: the number on a NIC is within four standard deviations of half.
#[test]
fn flows_spread_over_nics() {
    let flow = |n: u64| format!("{{src=0,dst=1,size=\"1000B\",start=\"{}us\"}}", 5 * n);
    let flows: Vec<String> = (0..1000).map(flow).collect();
    let outcome = run(&scenario(PLANES, DCTCP, &flows, &[]), 3);
    let (out, into) = by_plane(&outcome);
    assert_eq!(out, into);
    assert_eq!(out[0] + out[1], 1000 * 1040);
    let share = out[0] as f64 / 1040.0;
    assert!((share - 500.0).abs() < 4.0 * 250_f64.sqrt(), "{share}");
}

/// What leaves a host's NICs reaches the other host's, for hosts with all features: packets are
/// conserved (`run` checks it), and without losses so are bytes.
#[test]
fn bytes_are_conserved_over_nics() {
    let flow = |n: u64| {
        let (src, dst) = (n % 2, 1 - n % 2);
        format!(
            "{{src={src},dst={dst},size=\"{}B\",start=\"{n}us\"}}",
            777 * n + 1
        )
    };
    let flows: Vec<String> = (0..100).map(flow).collect();
    for settings in [
        &[][..],
        &["host.queue=fair", "host.offload=9KB"],
        &["host.queue=fq"],
        &["host.queue=fq_codel"],
        &["host.nic_queues=4"],
        &["pacer={}", "host.offload=9KB"],
        &["pacer={place=\"before_segmentation\"}", "host.offload=9KB"],
        &[
            "host.receive={frames=4,wait=\"5us\"}",
            "host.stack_jitter={exponential=\"1us\"}",
        ],
        &[
            "host.transmit={packet_cost=\"200ns\"}",
            "transport.handshake=true",
        ],
    ] {
        let outcome = run(&scenario(PLANES, DCTCP, &flows, settings), 5);
        assert_eq!(outcome.flows.rows().len(), 100, "{settings:?}");
        assert_eq!(outcome.packets.dropped, 0, "{settings:?}");
        if outcome.packets.in_flight == 0 {
            let (out, into) = by_plane(&outcome);
            assert_eq!(out, into, "{settings:?}");
            assert!(out[0] > 0 && out[1] > 0, "{settings:?}");
        }
    }
}

/// A flow alone takes its ideal time on a link of another rate, too. A message is no longer than its window.
#[test]
fn a_flow_alone_takes_its_ideal_time() {
    let links = "topology.links=[{link=\"h0--s1\",rate=\"3Gbps\"},{link=\"s0->h1\",delay=\"7us\"}]";
    let windows = "transport={initial_window=1000,max_window=1000,receive_window=1000}";
    for (transport, more, sizes) in [
        (DCTCP, windows, [1, 1460, 100_000]),
        (NSCC, "transport.message.paths=1", [1, 4086, 12_000]),
    ] {
        let mut times = BTreeSet::new();
        for (seed, size) in (1..=8).flat_map(|seed| sizes.map(|size| (seed, size))) {
            let flow = flows(1, &format!(",size=\"{size}B\""));
            let outcome = run(&scenario(PLANES, transport, &flow, &[links, more]), seed);
            let row = &outcome.flows.rows()[0];
            assert_eq!(row.ideal_ps, Some(row.fct_ps), "{size} B, seed {seed}");
            times.insert((size, row.fct_ps));
        }
        assert_eq!(times.len(), 6, "each size on both NICs: {times:?}");
    }
}

/// The run takes one thread, and says why.
#[test]
fn the_run_is_not_divided() {
    let asked = scenario(
        PLANES,
        DCTCP,
        &flows(2, ",size=\"1MB\""),
        &["run.threads=2"],
    );
    let because = run(&asked, 1).divided.because;
    assert!(because.is_some(), "{because:?}");
}

const RAILS: &str = r#"
name = "rails"
[run]
duration = "10ms"
drain = "20ms"
[topology.rail_optimized]
groups = 2
hosts_per_group = 2
rails = 2
spines = 2
[host]
queue = "fifo"
nic_choice = "rail"
rate = "10Gbps"
delay = "1us"
[switch]
rate = "10Gbps"
delay = "1us"
"#;

/// Each flow's data and acknowledgments use the leaf of the receiver's rail only, and within a group no
/// spine. Counted by hand: 1000 packets of 1500 bytes from h0 to h1 (rail 1), to h2 (rail 0) and back.
#[test]
fn the_rail_rule_uses_the_leaf_of_the_rail() {
    let flow = |src: u32, dst: u32| format!("{{src={src},dst={dst},size=\"1460KB\"}}");
    let flows = [flow(0, 1), flow(0, 2)];
    let outcome = run(
        &scenario(RAILS, DCTCP, &flows, &["transport.ack_every=1"]),
        1,
    );
    let of = |from: &str, to: &str| bytes(&outcome, from, to);
    let (data, acks) = (1000 * 1500, 1000 * 40);
    for (from, to, expected) in [
        ("h0", "leaf0_1", data),
        ("leaf0_1", "h1", data),
        ("h1", "leaf0_1", acks),
        ("h0", "leaf0_0", data),
        ("leaf1_0", "h2", data),
        ("h2", "leaf1_0", acks),
        ("leaf1_1", "h2", 0),
        ("leaf0_0", "h1", 0),
    ] {
        assert_eq!(of(from, to), expected, "{from}->{to}");
    }
    let spines = ["spine0", "spine1"];
    assert_eq!(
        spines.map(|spine| of("leaf0_0", spine)).iter().sum::<u64>(),
        data
    );
    assert_eq!(spines.map(|spine| of("leaf0_1", spine)), [0, 0]);
}

/// One message uses both NICs of sender and receiver, half of its packets each but for a round of its
/// paths, and takes little more than half of the time of one NIC; never less than its ideal time.
#[test]
fn packets_of_a_message_use_all_nics() {
    let size = 4086 * 2000;
    let flow = flows(1, &format!(",size=\"{size}B\""));
    let by = |rule: &str| {
        let rule = format!("host.nic_choice={rule}");
        let settings = [
            rule.as_str(),
            "host.rate=100Gbps",
            "switch.rate=100Gbps",
            "transport.message={paths=64,load_balancing=\"oblivious\"}",
        ];
        run(&scenario(PLANES, NSCC, &flow, &settings), 1)
    };
    let (one, all) = (by("hash"), by("per_packet"));
    let (out, into) = by_plane(&all);
    assert_eq!((out, all.packets.dropped), (into, 0));
    assert_eq!(out[0] + out[1], 2000 * 4150);
    let packets = out[0] as f64 / 4150.0;
    assert!((packets - 1000.0).abs() <= 64.0, "{packets}");
    let fct_ps = |outcome: &Outcome| outcome.flows.rows()[0].fct_ps;
    let ratio = fct_ps(&one) as f64 / fct_ps(&all) as f64;
    assert!((1.8..2.0).contains(&ratio), "{ratio}");
    let slowdown = all.flows.rows()[0].slowdown().expect("a route");
    assert!((1.0..1.1).contains(&slowdown), "{slowdown}");
}

/// Entropy values choose NICs: without several of them, a message stays on one.
#[test]
fn a_message_on_one_path_uses_one_nic() {
    for seed in 1..=4 {
        let flow = flows(1, ",size=\"100KB\"");
        let settings = ["host.nic_choice=per_packet", "transport.message.paths=1"];
        let (out, into) = by_plane(&run(&scenario(PLANES, NSCC, &flow, &settings), seed));
        assert_eq!(out, into);
        assert_eq!(out.iter().filter(|&&bytes| bytes > 0).count(), 1);
    }
}

/// Many messages both ways on all kinds of paths: packets are conserved and no slowdown is below 1.
#[test]
fn messages_over_several_nics_are_conserved() {
    let flow = |n: u64| {
        let (src, dst) = (n % 2, 1 - n % 2);
        format!(
            "{{src={src},dst={dst},size=\"{}B\",start=\"{n}us\"}}",
            7777 * n + 1
        )
    };
    let flows: Vec<String> = (0..60).map(flow).collect();
    for rule in ["hash", "rail", "per_packet"] {
        for control in ["nscc", "rccc", "nscc+rccc"] {
            for balancing in ["oblivious", "reps", "ecmp"] {
                let settings = [
                    format!("host.nic_choice={rule}"),
                    format!("transport.congestion_control={control}"),
                    format!("transport.message.load_balancing={balancing}"),
                ];
                let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
                let outcome = run(&scenario(PLANES, NSCC, &flows, &settings), 2);
                assert_eq!(outcome.flows.rows().len(), 60, "{settings:?}");
                for row in outcome.flows.rows() {
                    assert!(row.slowdown() >= Some(1.0), "{settings:?} {row:?}");
                }
            }
        }
    }
}

/// The paths of a stream use the NICs in turn, too: one link of each plane carries half of its packets.
/// Links of 10 us make a round trip of 2 (1.2 + 10) + 2 (0.032 + 10) = 42.5 us, and RACK's window 10.6 us. In
/// one NIC, a window of eight packets waits up to 7 x 1.2 = 8.4 us longer than in the other: nothing is lost.
#[test]
fn a_sprayed_stream_uses_all_nics() {
    let flow = flows(1, ",size=\"2920000B\"");
    let settings = [
        "host.nic_choice=per_packet",
        "host.delay=10us",
        "switch.delay=10us",
        "run.duration=30ms",
        "transport.max_window=8",
        "transport.spray={paths=64}",
        "transport.loss_detection=rack",
    ];
    let outcome = run(&scenario(PLANES, DCTCP, &flow, &settings), 1);
    let (out, into) = by_plane(&outcome);
    assert_eq!((out, outcome.packets.dropped), (into, 0));
    assert_eq!(out[0] + out[1], 2000 * 1500);
    let packets = out[0] as f64 / 1500.0;
    assert!((packets - 1000.0).abs() <= 64.0, "{packets}");
    assert!(outcome.flows.rows()[0].slowdown() >= Some(1.0));
}

#[test]
fn streams_do_not_choose_nics_per_packet() {
    let text = format!("{PLANES}{DCTCP}[workload.bulk]\nflows = 1\n");
    let settings = ["host.nic_choice=per_packet".to_owned()];
    let told = scenario::expand(&text, "test.toml", &settings).map(|_| ());
    let told = told.expect_err("streams").to_string();
    for part in ["host.nic_choice", "\"per_packet\" is invalid", "messages"] {
        assert!(told.contains(part), "{told}");
    }
}

/// Flows of 2 MB, half of them each way, on two planes, with a failure.
fn with_failure(rule: &str, transport: &str, failure: &str) -> Outcome {
    let ends = |n| {
        if n % 2 == 0 {
            "src=0,dst=1"
        } else {
            "src=1,dst=0"
        }
    };
    let flow = |n| format!("{{{},size=\"2MB\"}}", ends(n));
    let flows: Vec<String> = (0..12).map(flow).collect();
    let failures = format!("topology.failures=[{failure}]");
    let rule = format!("host.nic_choice={rule}");
    let settings = [
        failures.as_str(),
        rule.as_str(),
        "run.duration=60ms",
        "transport.min_rto=1ms",
        "transport.initial_rto=1ms",
    ];
    run(&scenario(PLANES, transport, &flows, &settings), 1)
}

/// The bytes that begin transmission on a link until it fails at 1 ms, at most.
const BYTES_OF_1_MS: u64 = 1_250_000 + 5_000;

/// A NIC fails for good: flows that use it go on over the other one, and nothing more is sent on its
/// link. Only what was on the link or in its queue then is lost.
#[test]
fn flows_leave_a_nic_that_fails() {
    let failure = "{nic=\"h0:0\",at=\"1ms\"}";
    for (rule, transport) in [("hash", DCTCP), ("hash", NSCC), ("per_packet", NSCC)] {
        let whole = with_failure(rule, transport, "");
        let outcome = with_failure(rule, transport, failure);
        assert_eq!(whole.flows.rows().len(), 12, "{rule}");
        assert_eq!(outcome.flows.rows().len(), 12, "{rule}");
        let (sent, left) = (bytes(&whole, "h0", "s0"), bytes(&outcome, "h0", "s0"));
        assert!(
            sent > BYTES_OF_1_MS && left <= BYTES_OF_1_MS,
            "{sent} {left}"
        );
        let lost: u64 = outcome.links.iter().map(|link| link.failure_drops).sum();
        let of_nic = outcome.links.iter().filter(|link| link.failure_drops > 0);
        for link in of_nic {
            let ends = [link.from.as_str(), link.to.as_str()];
            assert!(ends == ["h0", "s0"] || ends == ["s0", "h0"], "{ends:?}");
        }
        assert!(lost > 0);
    }
}

/// The same failure takes the rail's flows with it: exactly the flows on the rail do not end, until
/// it is repaired. Their packets are counted at the dead link.
#[test]
fn a_rail_that_fails_stops_its_flows() {
    // Host 0 is on rail 0, so the flows to it, and their acknowledgments, are.
    let failure = |until: &str| format!("{{nic=\"h0:0\",at=\"1ms\"{until}}}");
    for transport in [DCTCP, NSCC] {
        let outcome = with_failure("rail", transport, &failure(""));
        let ended = outcome.flows.rows().iter().map(|row| row.dst);
        assert_eq!(Vec::from_iter(ended), [1; 6]);
        let dead = |link: &&hull_sim::measure::LinkCount| link.failure_drops > 0;
        assert!(outcome.links.iter().any(|link| dead(&link)));
        let outcome = with_failure("rail", transport, &failure(",until=\"3ms\""));
        assert_eq!(outcome.flows.rows().len(), 12);
        assert_eq!(with_failure("rail", transport, "").flows.rows().len(), 12);
    }
}

/// With a switch or a host a whole plane or all flows stop.
#[test]
fn switches_and_hosts_fail() {
    for transport in [DCTCP, NSCC] {
        let outcome = with_failure("hash", transport, "{switch=\"s1\",at=\"1ms\"}");
        assert_eq!(outcome.flows.rows().len(), 12);
        for host in ["h0", "h1"] {
            assert!(bytes(&outcome, host, "s1") <= BYTES_OF_1_MS);
            assert!(bytes(&outcome, "s1", host) <= BYTES_OF_1_MS);
        }
        let outcome = with_failure("hash", transport, "{host=\"h1\",at=\"100us\"}");
        assert_eq!(outcome.flows.rows().len(), 0);
        let failure = "{host=\"h1\",at=\"100us\",until=\"2ms\"}";
        assert_eq!(
            with_failure("hash", transport, failure).flows.rows().len(),
            12
        );
    }
}
