//! Deadlocks of pauses. In a ring of five switches each host sends two switches further: each link of the
//! ring carries the full rates of two senders, so its port pauses the port before it. Once each switch
//! holds, from the ring, only packets for the next switch, nothing moves any more.

use hull_sim::scenario;
use hull_sim::simulation::{self, Control, Failure};

/// The ring, with a deadlock.
pub const RING: &str = r#"
name = "ring"
run = { duration = "20ms", drain = "0s" }
host = { rate = "10Gbps", delay = "1us" }
switch = { rate = "10Gbps", delay = "1us", pfc = {} }
topology.graph.text = '''{
  "nodes": [
    {"id": "h0", "kind": "host"}, {"id": "h1", "kind": "host"}, {"id": "h2", "kind": "host"},
    {"id": "h3", "kind": "host"}, {"id": "h4", "kind": "host"},
    {"id": "s0", "kind": "switch"}, {"id": "s1", "kind": "switch"}, {"id": "s2", "kind": "switch"},
    {"id": "s3", "kind": "switch"}, {"id": "s4", "kind": "switch"}
  ],
  "edges": [
    {"source": "h0", "target": "s0"}, {"source": "h1", "target": "s1"}, {"source": "h2", "target": "s2"},
    {"source": "h3", "target": "s3"}, {"source": "h4", "target": "s4"},
    {"source": "s0", "target": "s1"}, {"source": "s1", "target": "s2"}, {"source": "s2", "target": "s3"},
    {"source": "s3", "target": "s4"}, {"source": "s4", "target": "s0"}
  ]
}'''
[transport]
congestion_control = "constant_rate"
constant_rate = { rate = "10Gbps" }
[workload.long_lived]
flows = [
  { src = 0, dst = 2 }, { src = 1, dst = 3 }, { src = 2, dst = 4 }, { src = 3, dst = 0 }, { src = 4, dst = 1 },
]
"#;

fn failure(text: &str, settings: &[&str]) -> Option<Failure> {
    let settings = Vec::from_iter(settings.iter().map(|&setting| setting.to_owned()));
    let cells = match scenario::expand(text, "test.toml", &settings) {
        Ok(cells) => cells,
        Err(error) => panic!("{error}"),
    };
    let simulation = match simulation::build(&cells[0].scenario, 1, None) {
        Ok(simulation) => simulation,
        Err(problem) => panic!("{problem:?}"),
    };
    simulation.run(&Control::default()).err()
}

#[test]
fn a_ring_at_full_rate_locks_and_is_named() {
    let Some(Failure::Deadlock(locked)) = failure(RING, &[]) else {
        panic!("no deadlock");
    };
    let mut cycle = locked.cycle.clone();
    cycle.sort();
    assert_eq!(
        cycle,
        ["s0->s1", "s1->s2", "s2->s3", "s3->s4", "s4->s0"],
        "{locked:?}"
    );
    // Each port waits for the next one of the ring.
    for (own, next) in locked.cycle.iter().zip(locked.cycle.iter().cycle().skip(1)) {
        assert_eq!(
            own.split("->").last(),
            next.split("->").next(),
            "{locked:?}"
        );
    }
    assert!(locked.bytes > 0 && locked.since_ps < 20_000_000_000);
}

/// Less traffic, pauses that expire, no pauses, the same traffic in a star, and an overloaded fat tree.
#[test]
fn other_runs_do_not_lock() {
    let light = "transport.constant_rate.rate=4Gbps";
    for settings in [&[light][..], &["switch.pfc.renewal=expiry"]] {
        assert_eq!(failure(RING, settings), None, "{settings:?}");
    }
    let lossy = RING.replace(", pfc = {}", "");
    assert_eq!(failure(&lossy, &[]), None);
    let start = RING.find("topology.graph").expect("the graph");
    let end = RING.find("[transport]").expect("the transport");
    let star = RING.replace(&RING[start..end], "topology.star.hosts = 5\n");
    assert_eq!(failure(&star, &[]), None);
    let tree = RING.replace(&RING[start..end], "topology.fat_tree.k = 4\n");
    let incast = "workload.long_lived.flows=[{src=\"1-15\",dst=0},{src=0,dst=15}]";
    assert_eq!(failure(&tree, &[incast, "run.duration=5ms"]), None);
}
