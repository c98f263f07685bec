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

/// Mistakes of two sections are both reported.
#[test]
fn independent_mistakes_are_all_reported() {
    let found = mistakes(&["transport.ecn=false", "switch.marking.threshold=500pkts"]);
    assert_eq!(found.len(), 2, "{found:#?}");
    let found = mistakes(&["transport.mtu=20KB", "switch.rate=10kbps", "host.delay=2s"]);
    assert_eq!(found.len(), 3, "{found:#?}");
}
