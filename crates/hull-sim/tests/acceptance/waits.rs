//! Where flows wait, by hand at each place. The places add up to the completion time by construction; what
//! no place has, `moving`, is compared with the transmissions by hand.

use std::collections::BTreeMap;

use hull_sim::simulation::Outcome;
use hull_sim::workload::FlowRecord;

use super::star::{PACKET_PS, PAYLOAD, assert_near, run, scenario};

/// Time of a full packet at 1 Gbps, us.
const PACKET_US: f64 = PACKET_PS as f64 * 1e-6;

/// Mean time at each place of the flows of the first size class that has any, us.
fn places(workload: &str, settings: &[&str]) -> BTreeMap<String, f64> {
    let all = places_of_classes(workload, settings);
    all.into_iter().next().expect("flows")
}

/// Mean time at each place of the flows of each size class that has any, us; fails if the places do not
/// add up to the mean completion time.
fn places_of_classes(workload: &str, settings: &[&str]) -> Vec<BTreeMap<String, f64>> {
    let outcome = run(&scenario(workload, settings), 3);
    let classes = 0..outcome.waits.len();
    let with_flows = classes.filter(|&class| outcome.waits[class].all.is_some());
    with_flows.map(|class| places_of(&outcome, class)).collect()
}

fn places_of(outcome: &Outcome, class: usize) -> BTreeMap<String, f64> {
    let rows = outcome.flows.rows();
    let of_class = rows.iter().filter(|row| usize::from(row.class) == class);
    let times = Vec::from_iter(of_class.map(|row| row.fct_ps as f64 * 1e-6));
    let found = outcome.waits[class].all.as_ref().expect("flows");
    assert_eq!(found.flows, times.len() as u64);
    let mean_us = times.iter().sum::<f64>() / times.len() as f64;
    let sum_us: f64 = found.parts_us.values().sum();
    assert_near("sum of the places", sum_us, mean_us, 1e-9);
    let places = found.parts_us.iter();
    places.map(|(name, us)| (name.clone(), *us)).collect()
}

/// Flows of a list, whose rows are source, target and packets.
fn flows(rows: &[(u32, u32, u64)]) -> String {
    let row = |&(src, dst, packets): &(u32, u32, u64)| {
        let bytes = packets * PAYLOAD;
        format!("{{ src = {src}, dst = {dst}, size = \"{bytes}B\" }},")
    };
    let rows: String = rows.iter().map(row).collect();
    format!("[workload.long_lived]\nflows = [{rows}]\n")
}

fn assert_us(found: &BTreeMap<String, f64>, place: &str, expected_us: f64) {
    let us = found[place];
    assert!(
        (us - expected_us).abs() < 1e-6,
        "{place}: {us}, expected {expected_us}; {found:?}"
    );
}

const SLOW_HOSTS: [&str; 3] = [
    "topology.star.hosts=5",
    "host.rate=1Gbps",
    "transport.initial_window=10",
];

/// One packet behind nine of another flow of its host waits nine packets' times in a FIFO; with a
/// queue per flow two: of the packet in transmission and of the next turn.
#[test]
fn waits_in_the_queue_of_the_host() {
    let rows = flows(&[(0, 1, 9), (0, 2, 1)]);
    for (queue, packets, of_long) in [("fifo", 9.0, 8.0), ("fair", 2.0, 9.0)] {
        let setting = format!("host.queue={queue}");
        let settings = [&SLOW_HOSTS[..], &[setting.as_str()]].concat();
        let found = places_of_classes(&rows, &settings);
        let [long, short] = &found[..] else {
            panic!("{found:?}")
        };
        // The last packet of the long flow waits for all others, its own among them.
        assert_us(long, "sender_us", of_long * PACKET_US);
        assert_us(short, "sender_us", packets * PACKET_US);
        for found in [long, short] {
            assert_us(found, "switch-host_us", 0.0);
            assert_us(found, "moving_us", 2.0 * PACKET_US);
        }
    }
}

/// Four hosts send a packet to the fifth at once: the packets wait 0, 1, 2 and 3 packets' times at the
/// switch, with one queue and with several.
#[test]
fn waits_at_the_switch() {
    let rows = flows(&[(0, 4, 1), (1, 4, 1), (2, 4, 1), (3, 4, 1)]);
    for more in [
        &[][..],
        &["switch.priorities=2"],
        &["switch.fq_codel={}"],
        &["switch.dwrr={weights=[1,1]}", "switch.priorities=2"],
    ] {
        let found = places(&rows, &[&SLOW_HOSTS[..], more].concat());
        assert_us(&found, "switch-host_us", 1.5 * PACKET_US);
        assert_us(&found, "sender_us", 0.0);
        assert_us(&found, "transport_us", 0.0);
    }
}

/// A window of one packet sends the second a round trip later: two packets and two acknowledgments.
#[test]
fn waits_for_the_window() {
    let settings = [&SLOW_HOSTS[..2], &["transport.initial_window=1"]].concat();
    let found = places(&flows(&[(0, 1, 2)]), &settings);
    let ack_us = PACKET_US * 40.0 / 1500.0;
    assert_us(&found, "transport_us", 2.0 * PACKET_US + 2.0 * ack_us);
    assert_us(&found, "moving_us", 2.0 * PACKET_US);
}

/// An interrupt 20 us after a packet, and an application that takes 30 us.
#[test]
fn waits_at_the_receiver() {
    let receive = "host.receive={frames=8,wait=\"20us\"}";
    let more = [receive, "host.application_delay=30us"];
    let found = places(&flows(&[(0, 1, 1)]), &[&SLOW_HOSTS[..], &more].concat());
    assert_us(&found, "receiver_us", 50.0);
    let delay = ["host.stack_delay=7us"];
    let found = places(&flows(&[(0, 1, 1)]), &[&SLOW_HOSTS[..], &delay].concat());
    assert_us(&found, "sender_us", 0.0);
}

/// Only a flow whose packets are marked waits in the pacer, and only if there is one.
#[test]
fn waits_in_the_pacer() {
    let more = [
        "transport.congestion_control=dctcp",
        "transport.ecn=true",
        "switch.marking.threshold=1B",
        "topology.star.hosts=5",
        "host.rate=1Gbps",
    ];
    let rows = flows(&[(0, 4, 2000), (1, 4, 2000)]);
    let without = places(&rows, &more);
    assert_us(&without, "pacer_us", 0.0);
    let pacer = "pacer={association_probability=\"100%\"}";
    let found = places(&rows, &[&more[..], &[pacer]].concat());
    assert!(found["pacer_us"] > 0.0, "{found:?}");
}

/// What no place has is the transmission of the last packet over two or four links of 1 Gbps, for every
/// transport, with losses, several tiers and all stages of hosts: a wait that is forgotten or counted
/// twice would be found.
#[test]
fn the_rest_is_transmission() {
    let tree = "topology={leaf_spine={leaves=2,spines=2,hosts_per_leaf=4}}";
    let flows = "[workload.flows]\nload = \"60%\"\nsizes = { fixed = \"30KB\" }\n";
    let common = [
        tree,
        "host.rate=1Gbps",
        "run.duration=2ms",
        "run.drain=1s",
        "switch.buffer=20pkts",
    ];
    let message = "transport={congestion_control=\"nscc\",ecn=true,message={}}";
    for more in [
        &[][..],
        &[
            "transport.congestion_control=dctcp",
            "transport.ecn=true",
            "pacer={}",
        ],
        &["host.queue=fq"],
        &["host.queue=fq_codel", "host.offload=64KB"],
        &[
            "host.stack_jitter={exponential=\"1us\"}",
            "host.receive={frames=8,wait=\"10us\",join=\"64KB\"}",
        ],
        &["switch.loss=1%"],
        &["switch.cut_through=64B"],
        &[
            "transport.congestion_control=rcp",
            "switch.rcp={alpha=0.4,beta=0.226,interval=\"20us\",round_trip=\"40us\"}",
        ],
        &[message, "switch.buffer=20pkts"],
    ] {
        let scenario = scenario(flows, &[&common[..], more].concat());
        let outcome = run(&scenario, 3);
        let class = outcome.waits.iter().position(|class| class.all.is_some());
        let found = places_of(&outcome, class.expect("flows"));
        let transport = &scenario.transport;
        let (mtu, header) = (transport.mtu.0, transport.header.0);
        let last = header + (30_000 - 1) % (mtu - header) + 1;
        let first = scenario.switch.cut_through.map_or(last, |bytes| bytes.0);
        let us = |row: &FlowRecord| {
            let links = if row.src / 4 == row.dst / 4 { 2 } else { 4 };
            8e-3 * ((links - 1) * first + last) as f64
        };
        let rows = outcome.flows.rows();
        let moving = rows.iter().map(us).sum::<f64>() / rows.len() as f64;
        assert!(rows.len() > 50);
        assert_near(
            &format!("moving, {more:?}"),
            found["moving_us"],
            moving,
            1e-6,
        );
        let tiers = ["leaf-spine_us", "spine-leaf_us", "leaf-host_us"];
        assert!(
            tiers.iter().any(|tier| found[*tier] > 0.0),
            "{more:?}: {found:?}"
        );
    }
}
