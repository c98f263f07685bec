//! Streams whose packets take several paths, by hand: two leaves with a host each and two switches between
//! them, all links 100 Gbps and 1 us, but the last link of one path longer by a given time.
//!
//! A packet of 1500 bytes takes 0.12 us on a link, an acknowledgment of 40 bytes 3.2 ns: on four links each
//! way the round trip is 4 (0.12 + 1) + 4 (0.0032 + 1) = 8.49 us over the shorter path, and RACK's first
//! window a quarter of it, 2.12 us.

use hull_sim::scenario::{self, Scenario};
use hull_sim::simulation::Outcome;

use super::star::run;

const FABRIC: &str = r#"
name = "sprayed"
[run]
duration = "100ms"
drain = "20ms"
[topology.graph]
text = '''{
  "nodes": [
    {"id": "h0", "kind": "host"}, {"id": "h1", "kind": "host"},
    {"id": "s0", "kind": "switch"}, {"id": "s1", "kind": "switch"},
    {"id": "a", "kind": "switch"}, {"id": "b", "kind": "switch"}
  ],
  "edges": [
    {"source": "h0", "target": "s0"}, {"source": "h1", "target": "s1"},
    {"source": "a", "target": "s0"}, {"source": "a", "target": "s1"},
    {"source": "b", "target": "s0"}, {"source": "b", "target": "s1"}
  ]
}'''
[host]
queue = "fifo"
rate = "100Gbps"
delay = "1us"
[switch]
rate = "100Gbps"
delay = "1us"
[transport]
ack_every = 1
max_window = 100
min_rto = "1ms"
initial_rto = "1ms"
spray = { paths = 64 }
"#;

/// Packets of the flow.
const PACKETS: u64 = 10_000;
/// Largest window, packets; more than a round trip carries.
const WINDOW: u64 = 100;

fn scenario(longer_ns: u64, settings: &[&str]) -> Scenario {
    let bytes = 1460 * PACKETS;
    let flow = format!("[workload.long_lived]\nflows = [{{src=0,dst=1,size=\"{bytes}B\"}}]\n");
    let longer = format!(
        "topology.links=[{{link=\"a->s1\",delay=\"{}ns\"}}]",
        1000 + longer_ns
    );
    let settings: Vec<String> = [longer.as_str()]
        .iter()
        .chain(settings)
        .map(|&setting| setting.to_owned())
        .collect();
    match scenario::expand(&format!("{FABRIC}{flow}"), "test.toml", &settings) {
        Ok(cells) => Scenario::clone(&cells[0].scenario),
        Err(error) => panic!("{error}"),
    }
}

/// The run of a flow, which arrives whole, and its retransmissions.
fn sprayed(longer_ns: u64, settings: &[&str]) -> (Outcome, u64) {
    let outcome = run(&scenario(longer_ns, settings), 1);
    assert_eq!(outcome.flows.rows().len(), 1, "{settings:?}");
    assert!(
        outcome.flows.rows()[0].slowdown() >= Some(1.0),
        "{settings:?}"
    );
    let again = outcome.counts.retransmissions;
    assert_eq!(
        data_packets(&outcome, "h0", "s0"),
        PACKETS + again,
        "{settings:?}"
    );
    (outcome, again)
}

/// Packets of data that began transmission on the links from a node to another.
fn data_packets(outcome: &Outcome, from: &str, to: &str) -> u64 {
    let links = outcome.links.iter();
    let named = links.filter(|link| (link.from.as_str(), link.to.as_str()) == (from, to));
    named.map(|link| link.bytes).sum::<u64>() / 1500
}

const RACK: &str = "transport.loss_detection=rack";
/// The phantom queue drains at 20 Gbps, slower than 16 packets in a round trip arrive.
const CONTROLS: [&[&str]; 3] = [
    &["transport.congestion_control=newreno"],
    &[
        "transport.congestion_control=dctcp",
        "transport.ecn=true",
        "switch.marking.threshold=3KB",
    ],
    &[
        "transport.congestion_control=dctcp",
        "transport.ecn=true",
        "switch.phantom_queue={drain=\"20%\",threshold=\"3KB\"}",
    ],
];

/// Time by which the longer path is longer, ns, and a window that leaves queues few packets: by RACK nothing
/// is sent twice. A packet is later than one that overtakes it by
/// - 0.5 us of its path,
/// - 4 x 0.12 us in the queue of the last link, where the packets of the other path of 0.5 us go before it,
/// - 8 x 0.12 us in the queue of its host: slow start at most doubles the window in a round trip, to 16,
///
/// in all 1.94 us, less than 2.12 us.
const WITHIN: (u64, &str) = (500, "transport.max_window=16");

/// By time nothing is lost: no packet is sent twice, and each path carries about half of them.
#[test]
fn time_tolerates_late_packets() {
    let (longer_ns, window) = WITHIN;
    for control in CONTROLS {
        let (outcome, again) = sprayed(longer_ns, &[control, &[window, RACK]].concat());
        assert_eq!((again, outcome.packets.dropped), (0, 0), "{control:?}");
        let has_phantom_queue = control.iter().any(|one| one.contains("phantom"));
        assert!(outcome.marks > 0 || !has_phantom_queue, "{control:?}");
        let on_a = data_packets(&outcome, "a", "s1");
        assert_eq!(on_a + data_packets(&outcome, "b", "s1"), PACKETS);
        assert!((PACKETS / 4..3 * PACKETS / 4).contains(&on_a), "{on_a}");
    }
}

/// By three duplicates late packets are lost: up to twelve overtake one that is late by 1.5 us.
#[test]
fn three_duplicates_do_not_tolerate_late_packets() {
    let (outcome, again) = sprayed(1500, &[]);
    assert_eq!(outcome.packets.dropped, 0);
    assert!(again > PACKETS / 100, "{again}");
}

/// Reordering costs no time: 10,000 packets take 625 round trips of 16, each between 8.49 us and, over the
/// longer path and behind the queues, 8.49 + 1.94 us. Slow start takes three more.
#[test]
fn late_packets_cost_no_time() {
    let (longer_ns, window) = WITHIN;
    let (outcome, _) = sprayed(longer_ns, &[window, RACK]);
    let round_trips = outcome.flows.rows()[0].fct_ps as f64 / 8.4928e6;
    assert!(
        (625.0..628.0 * 10.43 / 8.49).contains(&round_trips),
        "{round_trips}"
    );
}

/// A threshold above the packets that overtake another tolerates them too.
#[test]
fn a_larger_threshold_tolerates_more() {
    for (threshold, tolerates) in [(8, false), (20, true)] {
        let threshold = format!("transport.duplicate_threshold={threshold}");
        let (_, again) = sprayed(1500, &[&threshold]);
        assert_eq!(again == 0, tolerates, "{threshold} {again}");
    }
}

/// A path longer by 3 us exceeds the first window of 2.12 us. The first duplicate at the receiver
/// doubles it (RFC 8985, 6.2, step 4), which suffices: only packets of about one window are sent twice.
#[test]
fn duplicates_widen_the_window() {
    let (outcome, again) = sprayed(3000, &[RACK]);
    assert_eq!(outcome.packets.dropped, 0);
    assert!((1..=WINDOW).contains(&again), "{again}");
    let (_, again) = sprayed(3000, &[]);
    assert!(again > PACKETS / 100, "{again}");
}

/// Lost packets are sent again, others are not: as many as were dropped, some of them more than once.
#[test]
fn losses_are_repaired_among_reordered_packets() {
    for balancing in ["per_packet", "oblivious", "flowlet"] {
        let spray = format!("transport.spray={{paths=64,load_balancing=\"{balancing}\"}}");
        let lossy = "switch.loss=0.2%";
        let (outcome, again) = sprayed(1500, &[RACK, &spray, lossy]);
        let dropped = outcome.packets.dropped;
        assert!(dropped > 0 && again > 0, "{balancing}");
        // Acknowledgments are dropped too.
        assert!(again <= dropped, "{balancing}: {again} of {dropped}");
    }
}

/// Only data is lost, on the last link. All that is lost is sent again, and nothing else is.
#[test]
fn what_is_lost_and_nothing_else_is_sent_again() {
    let (longer_ns, window) = WITHIN;
    for balancing in ["per_packet", "oblivious"] {
        let spray = format!("transport.spray={{paths=64,load_balancing=\"{balancing}\"}}");
        let links = format!(
            "topology.links=[{{link=\"a->s1\",delay=\"{}ns\"}},{{link=\"s1->h1\",loss=\"0.2%\"}}]",
            1000 + longer_ns
        );
        let (outcome, again) = sprayed(longer_ns, &[RACK, window, &spray, &links]);
        assert!(again > 0, "{balancing}");
        assert_eq!(again, outcome.packets.dropped, "{balancing}");
    }
}

/// Threads change nothing; the run says why it is not divided.
#[test]
fn threads_change_nothing() {
    let one = run(&scenario(1500, &[RACK]), 3);
    let two = run(&scenario(1500, &[RACK, "run.threads=2"]), 3);
    assert_eq!(one.flows.rows(), two.flows.rows());
    assert_eq!((one.events, one.packet_hops), (two.events, two.packet_hops));
    let because = two.divided.because.expect("says why");
    assert!(because.contains("transport.spray"), "{because}");
}

/// Flows after each other take the slots, and the places of routes, of earlier ones; a failure changes the
/// routes of all.
#[test]
fn many_flows_are_conserved() {
    let text = format!("{FABRIC}[workload.flows]\nload = \"40%\"\nsizes.fixed = \"30KB\"\n");
    let failures = "topology.failures=[{switch=\"b\",at=\"1ms\",until=\"2ms\"}]";
    for more in [None, Some(failures)] {
        let settings = [RACK].into_iter().chain(more).map(str::to_owned);
        let cells = scenario::expand(&text, "test.toml", &Vec::from_iter(settings));
        let outcome = run(&cells.expect("a scenario")[0].scenario, 2);
        assert!(outcome.flows.rows().len() > 100);
    }
}

#[test]
fn bad_tables_are_rejected() {
    let cases = [
        ("transport.spray={paths=0}", "transport.spray.paths"),
        ("transport.spray={paths=48}", "a power of two"),
        (
            "transport.spray={load_balancing=\"flowlet\",flowlet_gap=\"1ns\"}",
            "transport.spray.flowlet_gap",
        ),
        ("transport.congestion_control=nscc", "load_balancing"),
        ("transport.duplicate_threshold=0", "1 to 100000 packets"),
    ];
    for (setting, part) in cases {
        let text = format!("{FABRIC}[workload.bulk]\nflows = 1\n");
        let told = scenario::expand(&text, "test.toml", &[setting.to_owned()]).map(|_| ());
        let told = told.expect_err(setting).to_string();
        assert!(told.contains(part), "{told}");
    }
    let text = format!("{FABRIC}[workload.bulk]\nflows = 1\n");
    for control in ["bbr", "constant_rate"] {
        let settings = [
            RACK.to_owned(),
            format!("transport.congestion_control={control}"),
        ];
        let told = scenario::expand(&text, "test.toml", &settings).map(|_| ());
        let told = told.expect_err(control).to_string();
        assert!(told.contains("transport.loss_detection"), "{told}");
    }
}
