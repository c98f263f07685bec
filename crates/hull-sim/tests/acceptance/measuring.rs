//! Measurement does not perturb the simulation: with and without ports, captures, series and other
//! intervals, with tables or without, a run leaves the same files, byte for byte, and the same counts. Trees and leaf-spines with drops, timeouts and short flows: there a
//! flow's slot is released after a drop, and a run ends, as late as the network's
//! `topology::Notice` says.
//!
//! The latency probe is not a measurement in this sense: it sends packets.

use std::collections::BTreeMap;
use std::fs;

use hull_sim::part::{self, Identity};
use hull_sim::scenario::{self, Resolved, Scenario};
use hull_sim::simulation::{Control, Live};
use serde_json::{Map, Value};

use super::queue_series::folder;

/// Results that describe the machine rather than the run.
const OF_THE_MACHINE: [&str; 3] = ["cpu_seconds", "wall_seconds", "peak_rss_bytes"];

/// Results of a part.
pub struct Left {
    files: BTreeMap<String, Vec<u8>>,
    pub summary: Map<String, Value>,
}

/// Runs a part; given a name, writes its files to a folder.
pub fn left(scenario: &Scenario, seed: u64, name: Option<&str>) -> Result<Left, String> {
    let identity = Identity {
        condition: String::new(),
        scheme: String::new(),
        seed,
    };
    let path = name.map(folder);
    let control = Control::default();
    let scenario = Resolved::new(scenario.clone()).expect("a network");
    let summary = part::run(&scenario, None, identity, path.as_deref(), &control)
        .map_err(|error| format!("{error:?}"))?;
    let mut files = BTreeMap::new();
    for entry in path
        .iter()
        .flat_map(|path| fs::read_dir(path).expect("made"))
    {
        let path = entry.expect("a file").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        files.insert(name.into_owned(), fs::read(&path).expect("written"));
    }
    let Ok(Value::Object(summary)) = serde_json::to_value(summary) else {
        return Err("a summary is a table".to_owned());
    };
    Ok(Left { files, summary })
}

impl Left {
    /// The first difference from a run with additional measurement, if any; `except` lists what
    /// that measurement is documented to change.
    pub fn difference(&self, measured: &Left, except: &[&str]) -> Option<String> {
        let left_out = |key: &str| OF_THE_MACHINE.contains(&key) || except.contains(&key);
        for (key, value) in self.summary.iter().filter(|(key, _)| !left_out(key)) {
            let other = &measured.summary[key];
            let equal = match key.as_str() {
                // Named ports replace the port that is measured by default.
                "queues" => value.as_object().is_none_or(|ports| {
                    let both = ports
                        .iter()
                        .filter_map(|(port, q)| Some((q, other.get(port)?)));
                    both.into_iter().all(|(here, there)| here == there)
                }),
                "fairness" => value.is_null() || value == other,
                _ => value == other,
            };
            if !equal {
                return Some(format!("{key}: {value}, measured {other}"));
            }
        }
        let files = self.files.iter().filter(|(name, _)| !left_out(name));
        for (name, bytes) in files {
            if measured.files.get(name) != Some(bytes) {
                return Some(format!("{name} is another"));
            }
        }
        None
    }
}

const BASE: &str = r#"
name = "measuring"
[run]
duration = "1s" # flows end within 7 ms, `Live` goes on to the end
warmup = "100us"
[topology]
[host]
queue = "fifo"
rate = "10Gbps"
delay = "200ns"
stack_delay = "500ns"
[switch]
rate = "10Gbps"
delay = "200ns"
buffer = "6pkts"
[transport]
initial_window = 10
ack_every = 1
initial_rto = "2ms"
min_rto = "1ms"
max_rto = "2ms"
[workload.flows]
load = "60%"
count = 400
connections = "per_flow"
sizes.pareto = { shape = 1.2, mean = "20KB" }
"#;

struct Network {
    name: &'static str,
    shape: &'static str,
    /// A port between switches; `tiers` names all ports.
    port: &'static str,
    tiers: &'static str,
    link: &'static str,
}

const TREE: Network = Network {
    name: "tree",
    shape: "topology.tree={pods=2,tors_per_pod=2,hosts_per_tor=4,aggs_per_pod=2,cores=4}",
    port: "tor0_0->agg0_0",
    tiers: r#""host-tor","tor-host","tor-agg","agg-tor","agg-core","core-agg""#,
    link: "tor0_0--agg0_0",
};

const LEAVES: Network = Network {
    name: "leaves",
    shape: "topology.leaf_spine={leaves=3,spines=2,hosts_per_leaf=4}",
    port: "spine1->leaf0",
    tiers: r#""host-leaf","leaf-host","leaf-spine","spine-leaf""#,
    link: "leaf0--spine0",
};

const DCTCP: [&str; 3] = [
    "transport.congestion_control=dctcp",
    "transport.ecn=true",
    "switch.marking.threshold=4KB",
];

const HULL: [&str; 4] = [
    "transport.congestion_control=dctcp",
    "transport.ecn=true",
    "switch.phantom_queue={drain=\"95%\",threshold=\"3KB\"}",
    "pacer={update_interval=\"7.2us\",beta=375,association_timeout=\"1ms\"}",
];

fn read(network: &Network, settings: &[&str], more: &[String]) -> Scenario {
    let own = std::iter::once(network.shape).chain(settings.iter().copied());
    let all: Vec<String> = own.map(str::to_owned).chain(more.iter().cloned()).collect();
    match scenario::expand(BASE, "measuring.toml", &all) {
        Ok(cells) => Scenario::clone(&cells[0].scenario),
        Err(error) => panic!("{error}"),
    }
}

/// Compares a run with itself under each measurement; returns its summary and notes differences.
fn compare(
    network: &Network,
    name: &str,
    settings: &[&str],
    found: &mut Vec<String>,
) -> Map<String, Value> {
    let Network { port, tiers, .. } = network;
    let run = |what: &str, more: &[String]| {
        let scenario = read(network, settings, more);
        let folder = format!("measuring-{}-{name}-{what}", network.name);
        left(&scenario, 3, Some(&folder)).unwrap_or_else(|error| panic!("{what}: {error}"))
    };
    let bare = run("bare", &[]);
    let one = format!("measure.ports=[\"{port}\"]");
    let all = format!("measure.ports=[{tiers}]");
    let changes = "measure.queue_changes=true".to_owned();
    let capture = format!("measure.capture={{ports=[{tiers}]}}");
    let flows = "measure.flows={count=300,interval=\"20us\"}".to_owned();
    let pacers = "measure.pacers={interval=\"30us\"}".to_owned();
    let sampled = "measure.sample_interval=7us".to_owned();
    let series = [flows, pacers, sampled];
    let mut note = |what: &str, difference: Option<String>| {
        let name = format!("{} {name} {what}", network.name);
        found.extend(difference.map(|difference| format!("{name}: {difference}\n")));
    };
    let everything = [
        &[all.clone(), changes.clone(), capture.clone()],
        &series[..],
    ]
    .concat();
    for (what, more) in [
        ("port", vec![one.clone()]),
        ("ports", vec![all]),
        ("changes", vec![one, changes]),
        ("capture", vec![capture]),
        ("series", series.to_vec()),
        ("everything", everything),
    ] {
        let resampled = more.iter().any(|key| key.contains("sample_interval"));
        let except: &[&str] = if resampled { &["latency.parquet"] } else { &[] };
        note(what, bare.difference(&run(what, &more), except));
    }
    // Without tables, and as a live run that is advanced in two steps.
    let scenario = read(network, settings, &[]);
    let untold = left(&scenario, 3, None).unwrap_or_else(|error| panic!("{error}"));
    let no_files = Left {
        files: BTreeMap::new(),
        ..bare
    };
    note("without tables", no_files.difference(&untold, &[]));
    let scenario = Resolved::new(scenario).expect("a network");
    let mut live = Live::new(&scenario, 3, 0..1, 0..1, 1_000_000, Vec::new()).expect("builds");
    live.advance(2_000_000_000, u64::MAX).expect("advances");
    live.advance(u64::MAX, u64::MAX).expect("advances");
    let hops = no_files.summary["packet_hops"].as_u64();
    let other = (hops != Some(live.packet_hops())).then(|| format!("{hops:?}"));
    note("live", other);
    no_files.summary
}

#[test]
fn drops_timeouts_and_short_flows() {
    let mut found = Vec::new();
    for network in [TREE, LEAVES] {
        for (name, scheme) in [("tcp", &[][..]), ("dctcp", &DCTCP), ("hull", &HULL)] {
            let summary = compare(&network, name, scheme, &mut found);
            let (drops, timeouts) = (&summary["drops"], &summary["timeouts"]);
            println!(
                "{} {name}: {drops} drops, {timeouts} timeouts",
                network.name
            );
            assert!(drops.as_u64() > Some(300), "{drops}");
            assert!(timeouts.as_u64() > Some(10), "{timeouts}");
        }
    }
    assert!(found.is_empty(), "{}", found.concat());
}

/// Switches that know more of their packets, and links that fail.
#[test]
fn more_of_switches() {
    let mut found = Vec::new();
    for network in [TREE, LEAVES] {
        let failed = network.link;
        let failure =
            format!("topology.failures=[{{link=\"{failed}\",at=\"400us\",until=\"900us\"}}]");
        let late = [&DCTCP[..], &["switch.marking.on=dequeue"]].concat();
        let classes = ["switch.priorities=2", "workload.high_priority_below=5KB"];
        let times = "interval=\"10us\",round_trip=\"12us\"";
        let rcp = format!("switch.rcp={{algorithm=\"rcp\",alpha=\"40%\",beta=\"20%\",{times}}}");
        let rcp = ["transport.congestion_control=rcp", &rcp];
        let qcn = [
            "transport.congestion_control=qcn",
            "transport.qcn.initial_rate=1Gbps",
            "switch.qcn.equilibrium=4KB",
        ];
        for (name, settings) in [
            ("classes", &classes[..]),
            ("memory", &["switch.memory={size=\"60KB\",alpha=\"100%\"}"]),
            ("late", &late),
            ("failure", &[&failure]),
            ("rcp", &rcp),
            ("qcn", &qcn),
        ] {
            compare(&network, name, settings, &mut found);
        }
    }
    assert!(found.is_empty(), "{}", found.concat());
}

/// Runs that end in the middle of their traffic.
#[test]
fn a_run_that_ends_in_the_middle() {
    for (network, drain) in [(TREE, "0s"), (LEAVES, "300us")] {
        let drain = format!("run.drain={drain}");
        let settings = ["run.duration=1500us", &drain, "workload.flows.count=100000"];
        let bare = left(&read(&network, &settings, &[]), 3, Some("measuring-middle"));
        let bare = bare.expect("runs");
        assert!(bare.summary["packets"]["in_flight"].as_u64() > Some(0));
        let ports = format!("measure.ports=[\"{}\"]", network.port);
        let more = ["measure.flows={count=99}".to_owned(), ports];
        let measured = read(&network, &settings, &more);
        let measured = left(&measured, 3, Some("measuring-middle-too")).expect("runs");
        assert_eq!(bare.difference(&measured, &[]), None);
    }
}
