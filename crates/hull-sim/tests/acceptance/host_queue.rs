//! Queues of a host against a fluid of equal weights, the longest wait of a small flow, and the bound of
//! small queues; with a pacer, offload and a divided run.

use super::star::{PACKET_PS, US_PS, assert_near, run, scenario};

/// Flows of host 0 to three others, each with its own size, and room for all of them.
const THREE: &str = r#"
[[workload.long_lived.flows]]
src = 0
dst = 1
size = "4MB"
[[workload.long_lived.flows]]
src = 0
dst = 2
size = "8MB"
[[workload.long_lived.flows]]
src = 0
dst = 3
size = "12MB"
"#;

/// A host at 1 Gbps in a network that is faster.
const SLOW_HOST: [&str; 6] = [
    "topology.star.hosts=6",
    "host.rate=1Gbps",
    "host.delay=1us",
    "switch.rate=10Gbps",
    "switch.delay=1us",
    "run.drain=5s",
];

fn of_host<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SLOW_HOST[..], more].concat()
}

/// Completion times of flows of the same host, s, by their size.
fn times(settings: &[&str]) -> Vec<f64> {
    let outcome = run(&scenario(THREE, &of_host(settings)), 1);
    let mut rows: Vec<_> = outcome.flows.rows().to_vec();
    rows.sort_by_key(|row| row.bytes);
    rows.iter().map(|row| row.fct_ps as f64 * 1e-12).collect()
}

/// By hand: of 4, 8 and 12 MB served in equal shares, the first ends when 12 MB have left, the second
/// when 4 + 2 * 8 + 4 = 20 MB have, the last with all 24 MB.
#[test]
fn flows_share_the_link_as_a_fluid_does() {
    for queue in ["fair", "fq", "fq_codel"] {
        let setting = format!("host.queue={queue}");
        for more in [&[][..], &["host.offload=64KB"]] {
            let found = times(&[&[setting.as_str()], more].concat());
            let wire = 1500.0 / 1460.0;
            for (found, megabytes) in found.iter().zip([12.0, 20.0, 24.0]) {
                let what = format!("{queue} {more:?}, {megabytes} MB");
                assert_near(&what, *found, megabytes * 8e-3 * wire, 0.01);
            }
        }
    }
}

/// Small flows of one packet beside four endless ones of the same host. `piece` is the largest number
/// of packets that leave without another between them.
fn longest_wait_packets(settings: &[&str]) -> f64 {
    let workload = r#"
[[workload.long_lived.flows]]
src = 0
dst = "1-4"
[[workload.long_lived.flows]]
src = 0
dst = 5
start = "100ms"
size = "1460B"
[[workload.long_lived.flows]]
src = 0
dst = 5
start = "200.005ms"
size = "1460B"
[[workload.long_lived.flows]]
src = 0
dst = 5
start = "300.011ms"
size = "1460B"
"#;
    let workload = workload.replace(
        "src = 0\ndst = \"1-4\"",
        "src = [0, 0, 0, 0]\ndst = \"1-4\"",
    );
    let outcome = run(&scenario(&workload, &of_host(settings)), 1);
    let rows = outcome.flows.rows();
    assert_eq!(rows.len(), 3, "{rows:?}");
    let longest_ps = rows.iter().map(|row| row.fct_ps).max().expect("three");
    // Both links and delays: 12 us at the host, 1.2 at the switch, 1 each.
    let alone_ps = PACKET_PS + PACKET_PS / 10 + 2 * US_PS;
    (longest_ps as f64 - alone_ps as f64) / PACKET_PS as f64
}

/// A small flow waits for at most one packet of each competing flow, and for that on the link; with
/// offload for a piece of each, 45 packets.
#[test]
fn a_small_flow_waits_for_one_packet_of_each_other() {
    for queue in ["fair", "fq", "fq_codel"] {
        let setting = format!("host.queue={queue}");
        let wait = longest_wait_packets(&[&setting]);
        assert!(wait <= 5.0, "{queue}: {wait} packets");
        let wait = longest_wait_packets(&[&setting, "host.offload=64KB"]);
        assert!(wait <= 5.0 * 45.0, "{queue} with offload: {wait} packets");
    }
    let fifo = longest_wait_packets(&["host.queue=fifo"]);
    assert!(fifo > 1000.0, "{fifo} packets");
}

/// Largest queue of a host with one endless flow, packets.
fn queue_of_a_lone_flow(settings: &[&str]) -> f64 {
    let workload = "[[workload.long_lived.flows]]\nsrc = 1\ndst = 0\n";
    let own = [
        "measure.ports=[\"h1->switch\"]",
        "measure.queue_changes=true",
    ];
    let outcome = run(&scenario(workload, &of_host(&[&own, settings].concat())), 1);
    let goodput = outcome.throughput.goodput_bps / 1e9;
    assert_near("goodput, Gbps", goodput, 1460.0 / 1500.0, 0.01);
    outcome.queues["h1->switch"].max_us / 12.0
}

/// A lone flow's window climbs to 10,000 packets, of which the round trip holds two. Small queues keep a
/// millisecond of the pacing rate, which is at least the link's: 83.3 packets. A shorter time, two
/// segments or a number of bytes limit it too.
#[test]
fn small_queues_bound_the_bytes_of_a_lone_flow() {
    let without = ["host.queue=fair", "transport.small_queues.on=false"];
    assert!(queue_of_a_lone_flow(&without) > 9_900.0);
    let on = "transport.small_queues.on=true";
    for queue in ["fifo", "fair", "fq_codel"] {
        let queue = format!("host.queue={queue}");
        assert_near(&queue, queue_of_a_lone_flow(&[&queue, on]), 84.0, 0.01);
    }
    let several = ["host.queue=fifo", "host.nic_queues=4", on];
    assert_near("nic_queues", queue_of_a_lone_flow(&several), 84.0, 0.01);
    for (limit, packets) in [
        ("transport.small_queues={time=\"1ns\"}", 2.0),
        ("transport.small_queues={time=\"1ns\",segments=7}", 7.0),
        ("transport.small_queues={time=\"1s\",bytes=\"30KB\"}", 20.0),
    ] {
        let found = queue_of_a_lone_flow(&["host.queue=fair", limit]);
        assert_near(limit, found, packets, 0.01);
    }
}

/// With a pacer the queue is before it: a small flow is sent past a large one, as without.
#[test]
fn queues_are_before_a_pacer() {
    let pacer = "pacer={}";
    for queue in ["fair", "fq", "fq_codel"] {
        let setting = format!("host.queue={queue}");
        let wait = longest_wait_packets(&[&setting, pacer]);
        assert!(wait <= 5.0, "{queue}: {wait} packets");
    }
    assert!(longest_wait_packets(&["host.queue=fifo", pacer]) > 1000.0);
}

/// CoDel of a host marks the flow whose peer has ECN, and drops packets of the flow whose peer has not.
#[test]
fn fq_codel_drops_what_it_cannot_mark() {
    let workload = r#"
[[workload.long_lived.flows]]
src = 0
dst = 1
[[workload.long_lived.flows]]
src = 0
dst = 2
transport = "old"
[transports.old]
congestion_control = "cubic"
ecn = false
"#;
    let settings = [
        "host.queue=fq_codel",
        "transport.ecn=true",
        "transport.small_queues.on=false",
    ];
    let outcome = run(&scenario(workload, &of_host(&settings)), 1);
    let of = |name: &str| &outcome.transports[name];
    let (new, old) = (of("default"), of("old"));
    assert!(new.marks > 0 && new.drops == 0, "{new:?}");
    assert!(old.marks == 0 && old.drops > 0, "{old:?}");
    // Each flow has a queue, so both have their share.
    assert_near("goodput", new.goodput_bps / old.goodput_bps, 1.0, 0.15);
}

#[test]
fn settings_that_contradict_each_other_are_rejected() {
    for (settings, told) in [
        (
            &["host.queue=fair", "host.nic_queues=4"][..],
            "host.nic_queues: 4 is invalid; expected 1 unless host.queue = \"fifo\": each flow has a queue",
        ),
        (
            &["transport.small_queues.segments=0"],
            "transport.small_queues.segments: 0 is invalid; expected 1 to 1000",
        ),
        (
            &["transport.small_queues.time=0s"],
            "transport.small_queues.time: \"0s\" is invalid; expected a time above 0, at most 10s",
        ),
        (
            &["transport.small_queues.bytes=1499B"],
            "transport.small_queues.bytes: \"1499B\" is invalid; expected transport.mtu to 1GiB",
        ),
        (&["host.queue=pfifo"], "host.queue: \"pfifo\" is invalid"),
    ] {
        let settings: Vec<String> = settings.iter().map(|&one| one.to_owned()).collect();
        let text = format!("{}{THREE}", super::star::BASE);
        let error =
            hull_sim::scenario::expand(&text, "test.toml", &settings).expect_err("rejected");
        assert!(error.to_string().contains(told), "{error}");
    }
}
