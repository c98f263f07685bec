//! One invalid key gives one message: no section reports what follows from another section's mistake.

use hull_sim::scenario;

const VALID: &str = r#"
name = "mini"
run.duration = "10ms"
topology.star.hosts = 3
host = { rate = "10Gbps", delay = "1us", offload = "64KB", nic_buffer = "200pkts" }
transport = { congestion_control = "dctcp", ecn = true, initial_window = 10 }
workload.long_lived.flows = [{ src = [1, 2], dst = 0 }]
pacer = { fifo = "100pkts" }
[switch]
rate = "10Gbps"
delay = "1us"
buffer = "500pkts"
marking.threshold = "65pkts"
phantom_queue = { drain = "95%", threshold = "4pkts" }
memory = { size = "1000pkts" }
ports = [{ tier = "switch-host", buffer = "400pkts", marking.threshold = "300pkts" }]
"#;

fn mistakes(settings: &[&str]) -> Vec<String> {
    let settings = Vec::from_iter(settings.iter().map(|&setting| setting.to_owned()));
    match scenario::expand(VALID, "mini.toml", &settings) {
        Ok(_) => Vec::new(),
        Err(error) => error.to_string().lines().map(str::to_owned).collect(),
    }
}

#[test]
fn valid_without_changes() {
    assert_eq!(mistakes(&[]), Vec::<String>::new());
    for mtu in ["300B", "9000B"] {
        let setting = format!("transport.mtu={mtu}");
        let fifo = "pacer.fifo=1MB";
        assert_eq!(mistakes(&[&setting, fifo]), Vec::<String>::new(), "{mtu}");
    }
}

#[test]
fn one_mistake_gives_one_message() {
    for (setting, key) in [
        ("transport.ecn=false", "transport.ecn"),
        ("transport.mtu=100B", "transport.mtu"),
        ("transport.mtu=20KB", "transport.mtu"),
        ("transport.header=1KB", "transport.header"),
        ("transport.framing=101B", "transport.framing"),
        ("transport.initial_window=0", "transport.initial_window"),
        ("transport.min_window=0", "transport.min_window"),
        ("transport.min_rto=100s", "transport.min_rto"),
        ("transport.dctcp.g=2", "transport.dctcp.g"),
        (
            "transport.congestion_control=dcqnc",
            "transport.congestion_control",
        ),
        ("host.rate=10kbps", "host.rate"),
        ("host.rate=7Tbps", "host.rate"),
        ("host.offload=1MB", "host.offload"),
        ("host.nic_buffer=100B", "host.nic_buffer"),
        ("switch.rate=10kbps", "switch.rate"),
        ("switch.rate=7Tbps", "switch.rate"),
        ("switch.delay=2s", "switch.delay"),
        ("switch.buffer=0pkts", "switch.buffer"),
        (
            "switch.marking.threshold=500pkts",
            "switch.marking.threshold",
        ),
        (
            "switch.phantom_queue.drain=101%",
            "switch.phantom_queue.drain",
        ),
        ("switch.memory.size=100B", "switch.memory.size"),
        ("pacer.fifo=100B", "pacer.fifo"),
        ("topology.star.hosts=1", "topology.star.hosts"),
        ("run.duration=0s", "run.duration"),
    ] {
        let found = mistakes(&[setting]);
        assert_eq!(found.len(), 1, "{setting}: {found:#?}");
        assert!(found[0].contains(key), "{setting}: {found:?}");
    }
}

/// Each with the value as written and the range.
#[test]
fn value_outside_its_range_is_shown_with_the_range() {
    let tree = |keys: &str, level: &str| {
        format!("workload.aggregation_tree={{ interval = \"1ms\"{keys}, levels = [{level}] }}")
    };
    let level = |keys: &str| tree("", &format!("{{ hosts = 1, {keys} }}"));
    let of_level = |key: &str| format!("workload.aggregation_tree.levels[0].{key}");
    let memory = "switch.memory";
    let avq = |keys: &str| format!("switch.avq={{ {keys} }}");
    for (setting, told) in [
        (
            "host.transmit.packet_cost=2s".to_owned(),
            "host.transmit.packet_cost: \"2s\" is invalid; expected at most 1s".to_owned(),
        ),
        (
            "host.transmit.frame_cost=2s".to_owned(),
            "host.transmit.frame_cost: \"2s\" is invalid; expected at most 1s".to_owned(),
        ),
        (
            "host.receive.ring=0".to_owned(),
            "host.receive.ring: 0 is invalid; expected 1 to 65536".to_owned(),
        ),
        (
            "host.receive.ring=65537".to_owned(),
            "host.receive.ring: 65537 is invalid; expected 1 to 65536".to_owned(),
        ),
        (
            format!("{memory}.queues=65"),
            format!("{memory}.queues: 65 is invalid; expected switch.priorities to 64"),
        ),
        (
            format!("{memory}.limit=1KB"),
            format!(
                "{memory}.limit: \"1KB\" is invalid; expected transport.mtu to switch.memory.size"
            ),
        ),
        (
            format!("{memory}.cell=0B"),
            format!("{memory}.cell: \"0B\" is invalid; expected 1B to 16384B"),
        ),
        (
            avq("time_constant = \"20s\", buffer = \"15KB\""),
            "switch.avq.time_constant: \"20s\" is invalid; expected 1us to 10s".to_owned(),
        ),
        (
            avq("time_constant = \"1s\", buffer = \"2GB\""),
            "switch.avq.buffer: \"2GB\" is invalid; expected at most 1GB".to_owned(),
        ),
        (
            "pacer.association_end=ack".to_owned(),
            "pacer.association_end: \"ack\" is invalid; expected \"draw\", \"packet\"".to_owned(),
        ),
        (
            "pacer={ place = \"before_segmentation\", overtaking = \"held\" }".to_owned(),
            "pacer.place: \"before_segmentation\" is invalid; expected \"after_segmentation\" with \
             pacer.overtaking = \"held\", which stops the NIC's queue"
                .to_owned(),
        ),
        (
            "workload.incast.batch=0".to_owned(),
            "workload.incast.batch: 0 is invalid; expected at least 1".to_owned(),
        ),
        (
            "workload.production.batch=0".to_owned(),
            "workload.production.batch: 0 is invalid; expected at least 1".to_owned(),
        ),
        (
            tree(", queries = 0", "{ hosts = 1 }"),
            "workload.aggregation_tree.queries: 0 is invalid; expected at least 1".to_owned(),
        ),
        (
            tree(", jitter = \"2s\"", "{ hosts = 1 }"),
            "workload.aggregation_tree.jitter: \"2s\" is invalid; expected at most 1s".to_owned(),
        ),
        (
            tree("", ""),
            "workload.aggregation_tree.levels: found 0 levels; expected 1 to 8".to_owned(),
        ),
        (
            level("iterations = 21"),
            of_level("iterations: 21 is invalid; expected 1 to 20"),
        ),
        (
            level("deadline = \"0s\""),
            of_level("deadline: \"0s\" is invalid; expected a time above 0"),
        ),
    ] {
        let found = mistakes(&[&setting]);
        assert_eq!(found.len(), 1, "{setting}: {found:#?}");
        assert!(found[0].ends_with(&told), "{setting}: {found:?}");
    }
}

/// Mistakes of two sections are both reported.
#[test]
fn independent_mistakes_are_all_reported() {
    let found = mistakes(&["transport.ecn=false", "switch.marking.threshold=500pkts"]);
    assert_eq!(found.len(), 2, "{found:#?}");
    let found = mistakes(&["transport.mtu=20KB", "switch.rate=10kbps", "host.delay=2s"]);
    assert_eq!(found.len(), 3, "{found:#?}");
}
