//! Random loss. NewReno against the square-root law (Mathis et al. 1997): with a loss probability p
//! and one ACK per packet, goodput is `MSS / R sqrt(3 / (2 p))`; within 15% (the law leaves out
//! timeouts, the round trip of the recovery and the variance of the gaps). And a seeded grid of
//! loss rate by buffer by scheme as a snapshot: it shows that a change moved results, not whether
//! they are right.

use std::fmt::Write;

use hull_sim::measure::{LinkCount, drops_by_place};
use hull_sim::simulation::Outcome;

use super::star::{BULK, assert_near, run, scenario};

/// One flow over 10 Gbps and a round trip of 1 ms: the link is never full.
pub fn follows_the_square_root_law(setting: &str) {
    for (loss, p) in [("0.02%", 0.0002), ("0.1%", 0.001), ("0.5%", 0.005)] {
        let loss = format!("switch.loss={loss}");
        let settings = [
            "host.delay=250us",
            "switch.delay=250us",
            "switch.rate=10Gbps",
            "run.warmup=1s",
            "run.duration=20s",
            "transport.min_rto=10ms",
            setting,
            &loss,
        ];
        let outcome = run(&scenario(BULK, &settings), 1);
        let round_trip_s = 1e-3 + 2.4e-6 + 0.064e-6;
        let law = 1460.0 * 8.0 / round_trip_s * (1.5_f64 / p).sqrt();
        println!("{p} {} {law}", outcome.throughput.goodput_bps);
        assert_near("goodput", outcome.throughput.goodput_bps, law, 0.15);
        assert!(outcome.throughput.utilization < 0.2);
    }
}

#[test]
fn newreno_follows_the_square_root_law() {
    follows_the_square_root_law("transport.congestion_control=newreno");
}

/// The share of lost packets is the configured one, within four standard deviations; no port loses
/// more than another.
#[test]
fn loss_matches_the_configured_share() {
    let settings = [
        "switch.loss=2%",
        "topology.star.hosts=5",
        "workload.bulk.flows=4",
        "run.duration=5s",
    ];
    let outcome = run(&scenario(BULK, &settings), 1);
    for link in outcome.links.iter().filter(|link| link.from == "switch") {
        // Bytes of data to the client, of ACKs to the others: SACK makes them longer.
        let size = if link.to == "h0" { 1500.0 } else { 44.0 };
        let sent = link.bytes as f64 / size;
        let lost = link.drops as f64;
        let expected = sent / 0.98 * 0.02;
        assert!(
            (lost - expected).abs() < 4.0 * expected.sqrt() + 0.1 * expected,
            "{}: {lost} of {sent}, {expected} expected",
            link.to
        );
    }
    assert!(outcome.packets.dropped > 1000);
}

/// Fails unless each link lost its share of the packets that were offered to it, within four standard
/// deviations, and the others none; and unless the places of drops add up, with none in a NIC.
fn assert_shares(outcome: &Outcome, share: impl Fn(&LinkCount) -> f64) {
    for link in &outcome.links {
        let (p, offered) = (share(link), (link.packets + link.drops) as f64);
        let (expected, deviation) = (p * offered, (p * (1.0 - p) * offered).sqrt());
        let lost = link.drops as f64;
        assert!(
            (lost - expected).abs() <= 4.0 * deviation && (p == 0.0 || lost > 0.0),
            "{}->{}: {lost} of {offered}, {expected} expected",
            link.from,
            link.to
        );
    }
    let places = drops_by_place(&outcome.links, None, None);
    assert_eq!(places.values().sum::<u64>(), outcome.packets.dropped);
    assert_eq!(places["nic"] + places["pacer"], 0, "{places:?}");
}

/// Four flows to host 0, measured from the start, without another cause of drops.
const OF_FOUR: [&str; 6] = [
    "topology.star.hosts=5",
    "workload.bulk.flows=4",
    "run.warmup=0s",
    "run.duration=4s",
    "transport.max_window=20",
    "transport.min_rto=10ms",
];

#[test]
fn single_links_lose_their_share_and_others_nothing() {
    let links =
        "topology.links=[{link=\"h1->switch\",loss=\"2%\"},{link=\"h3--switch\",loss=\"1%\"}]";
    let outcome = run(&scenario(BULK, &[&OF_FOUR[..], &[links]].concat()), 1);
    assert_shares(&outcome, |link| match (&*link.from, &*link.to) {
        ("h1", _) => 0.02,
        ("h3", _) | (_, "h3") => 0.01,
        _ => 0.0,
    });
    let tier = |from: &str| {
        outcome
            .links
            .iter()
            .find(|link| link.from == from)
            .map(|link| &link.tier)
    };
    let places = drops_by_place(&outcome.links, None, None);
    let of_hosts = outcome.links.iter().filter(|link| link.from != "switch");
    let of_hosts: u64 = of_hosts.map(|link| link.drops).sum();
    assert!(of_hosts > 200, "{of_hosts}");
    assert_eq!(tier("h1").map(|tier| places[tier]), Some(of_hosts));
}

/// The loss of a link takes precedence over `switch.ports`, and `switch.ports` over `switch.loss`.
#[test]
fn the_loss_of_a_single_link_takes_precedence() {
    let more = [
        "host.loss=2%",
        "switch.loss=5%",
        "switch.ports=[{node=\"switch\",loss=\"1%\"}]",
        "topology.links=[{link=\"h1--switch\",loss=\"3%\"},{link=\"h2--switch\",loss=\"0%\"}]",
    ];
    let outcome = run(&scenario(BULK, &[&OF_FOUR[..], &more].concat()), 1);
    assert_shares(&outcome, |link| match (&*link.from, &*link.to) {
        ("h1", _) | (_, "h1") => 0.03,
        ("h2", _) | (_, "h2") => 0.0,
        (_, "switch") => 0.02,
        _ => 0.01,
    });
}

/// A packet that is lost on a host's link has left the host: its flow goes on with every host queue,
/// pacer and transport.
#[test]
fn hosts_of_all_kinds_lose_packets_on_their_links() {
    let pacer = "pacer={}";
    for kind in [
        &["host.queue=fair"][..],
        &["host.queue=fq"],
        &["host.queue=fq_codel"],
        &["host.offload=60KB", "transport.small_queues.on=true"],
        &["host.stack_delay=5us", pacer],
        &["host.queue=fair", pacer],
    ] {
        let flows = ["run.duration=2s", "workload.bulk.size=20MB", "host.loss=1%"];
        let outcome = run(&scenario(BULK, &[&OF_FOUR[..], &flows, kind].concat()), 1);
        assert_shares(&outcome, |link| match &*link.to {
            "switch" => 0.01,
            _ => 0.0,
        });
        assert_eq!(outcome.flows.rows().len(), 4, "{kind:?}");
    }
}

/// At a loss of 0% the key draws no random number and changes nothing.
#[test]
fn zero_loss_changes_nothing() {
    let outcome = |settings: &[&str]| {
        let outcome = run(&scenario(BULK, settings), 1);
        (outcome.packet_hops, outcome.events, outcome.packets.dropped)
    };
    assert_eq!(outcome(&["switch.loss=0%"]), outcome(&[]));
}

const SCHEMES: [(&str, &[&str]); 3] = [
    ("newreno", &[]),
    ("cubic", &["transport.congestion_control=cubic"]),
    (
        "dctcp",
        &[
            "transport.congestion_control=dctcp",
            "transport.ecn=true",
            "switch.marking.threshold=30KB",
        ],
    ),
];

/// Two flows from hosts with 10 Gbps to one with 1 Gbps, a round trip of 90 us and a pipe of 7 packets.
#[test]
fn loss_grid_is_unchanged() {
    let mut table =
        String::from("scheme   buffer    loss goodput_mbps    drops retransmitted timeouts\n");
    for (scheme, keys) in SCHEMES {
        for buffer in ["25pkts", "100pkts"] {
            for loss in ["0%", "0.01%", "0.1%", "1%", "5%"] {
                let own = [
                    format!("switch.buffer={buffer}"),
                    format!("switch.loss={loss}"),
                ];
                let base = [
                    "topology.star.hosts=3",
                    "workload.bulk.flows=2",
                    "host.delay=19us",
                    "switch.delay=19us",
                    "run.warmup=100ms",
                    "run.duration=1s",
                    "transport.ack_every=2",
                    "transport.min_rto=10ms",
                ];
                let own = own.iter().map(String::as_str);
                let settings: Vec<&str> = base.iter().chain(keys).copied().chain(own).collect();
                let outcome = run(&scenario(BULK, &settings), 1);
                writeln!(
                    table,
                    "{scheme:8} {buffer:8} {loss:>5} {:12.1} {:8} {:13} {:8}",
                    outcome.throughput.goodput_bps * 1e-6,
                    outcome.packets.dropped,
                    outcome.counts.retransmissions,
                    outcome.counts.timeouts,
                )
                .expect("writes to a String");
            }
        }
    }
    insta::assert_snapshot!("loss_grid", table);
}
