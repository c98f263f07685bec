//! Forgiving input: common spellings of units, thresholds in packets, and all errors of a scenario
//! at once, each with its position in the file.

use hull_sim::scenario::{Scenario, expand};
use serde_json::Value;

use super::scenario_errors::GOOD;

/// The error messages for a file with overrides.
fn told(text: &str, settings: &[&str]) -> Vec<String> {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let error = expand(text, "my.toml", &settings).expect_err("wrong");
    error.to_string().lines().map(ToOwned::to_owned).collect()
}

/// The only cell of the good file with overrides.
fn cell(settings: &[&str]) -> Scenario {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let cells = expand(GOOD, "my.toml", &settings).expect("right");
    Scenario::clone(&cells[0].scenario)
}

/// Asserts that each line begins with its expected start.
fn begin(lines: &[String], starts: &[&str]) {
    println!("{}", lines.join("\n"));
    assert_eq!(lines.len(), starts.len());
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{line}\n{start}");
    }
}

#[test]
fn other_notations_give_the_same_scenario() {
    let plain = cell(&[]);
    for (key, forms) in [
        (
            "host.rate",
            &[
                "1G",
                "1Gbit",
                "\"1 gbit/s\"",
                "1gbps",
                "1Gb/s",
                "1000000000",
                "1e9",
            ][..],
        ),
        (
            "switch.delay",
            &["1\u{b5}s", "1\u{3bc}s", "1e-6", "0.000001", "1000ns"],
        ),
        ("switch.buffer", &["100kB", "100000", "1e5", "0.1MB"]),
        ("transport.mtu", &["1500", "1.5kB", "1500.0"]),
        ("workload.requests.load", &["0.4", "\"0.4\"", "40%"]),
    ] {
        for form in forms {
            assert_eq!(cell(&[&format!("{key}={form}")]), plain, "{key}={form}");
        }
    }
    let mebi = cell(&["switch.buffer=1MiB"]);
    assert_eq!(mebi, cell(&["switch.buffer=1048576B"]));
}

#[test]
fn resolved_scenarios_use_the_papers_units() {
    let scenario = cell(&["host.rate=100G", "host.delay=5e-6", "switch.buffer=64KiB"]);
    let json = serde_json::to_value(&scenario).expect("JSON");
    assert_eq!(json["host"]["rate"], "100Gbps");
    assert_eq!(json["host"]["delay"], "5us");
    assert_eq!(json["switch"]["buffer"], "65.536KB");
}

#[test]
fn packets_are_mtu_sized() {
    let settings = [
        "transport.mtu=9000",
        "switch.buffer=500pkts",
        "switch.marking.threshold=65pkts",
        "switch.phantom_queue={drain=\"95%\",threshold=\"2pkts\"}",
        "switch.ports=[{tier=\"switch-host\",marking={threshold=\"10 packets\"},phantom_queue={drain=\"90%\",threshold=\"1pkt\"}}]",
        "switch.memory={size=\"400pkts\",reserved=\"0.5pkts\"}",
        "pacer={bucket=\"2pkts\",fifo=\"100pkts\"}",
    ];
    let json = serde_json::to_value(cell(&settings)).expect("JSON");
    for (place, bytes) in [
        ("/switch/buffer", "500pkts"),
        ("/switch/marking/threshold", "585KB"),
        ("/switch/phantom_queue/threshold", "18KB"),
        ("/switch/ports/0/marking/threshold", "90KB"),
        ("/switch/ports/0/phantom_queue/threshold", "9KB"),
        ("/switch/memory/size", "3.6MB"),
        ("/switch/memory/reserved", "4.5KB"),
        ("/pacer/bucket", "18KB"),
        ("/pacer/fifo", "900KB"),
    ] {
        assert_eq!(json.pointer(place), Some(&Value::from(bytes)), "{place}");
    }
    let qcn = cell(&[
        "transport.congestion_control=qcn",
        "switch.qcn.equilibrium=22pkts",
    ]);
    let json = serde_json::to_value(qcn).expect("JSON");
    assert_eq!(
        json.pointer("/switch/qcn/equilibrium"),
        Some(&Value::from("33KB"))
    );
}

#[test]
fn packets_use_the_cells_mtu() {
    let text = format!(
        "{GOOD}[switch.marking]\nthreshold = \"65pkts\"\n[schemes.small]\n[schemes.jumbo]\ntransport.mtu = \
         \"9000B\"\nswitch.buffer = \"1MB\"\n[sweep]\n\"switch.marking.threshold\" = \"20pkts:60pkts:40pkts\"\n"
    );
    let cells = expand(&text, "my.toml", &[]).expect("right");
    let found = cells.iter().map(|cell| {
        let marking = cell.scenario.switch.marking.as_ref().expect("marking");
        format!("{} {} {}", cell.condition, cell.scheme, marking.threshold)
    });
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            "threshold=20pkts small 30KB",
            "threshold=20pkts jumbo 180KB",
            "threshold=60pkts small 90KB",
            "threshold=60pkts jumbo 540KB",
        ]
    );
}

#[test]
fn packets_are_rejected_for_non_queue_keys() {
    for setting in [
        "transport.mtu=1pkts",
        "host.offload=40pkts",
        "switch.cut_through=1pkts",
    ] {
        assert!(
            told(GOOD, &[setting])[0].contains("pkts\" is invalid"),
            "{setting}"
        );
    }
    for value in ["-1pkts", "pkts", "1e3pkts", "9999999999pkts"] {
        let lines = told(GOOD, &[&format!("switch.marking.threshold={value}")]);
        assert!(
            lines[0].contains(&format!("\"{value}\" is invalid")),
            "{lines:?}"
        );
        assert!(
            lines[0].ends_with("or packets of transport.mtu, such as \"65pkts\""),
            "{lines:?}"
        );
    }
    let lines = told(GOOD, &["switch.marking.threshold=67pkts"]);
    let message =
        "my.toml: --set switch.marking.threshold: \"67pkts\" is invalid; expected less than";
    begin(&lines, &[message]);
}

const WRONG: &str = r#"name = "wrong"
[run]
duratoin = "1s"
duration = "10 ms"
[topology.star]
hosts = "4"
[host]
rate = "1GBps"
latncy = "1us"
[switch]
rate = "1Gbps"
delay = 1e-6
buffer = "3 apples"
min_rto = "5ms"
[switch.marking]
[workload.requests]
load = "40%"
classes = [{ size = "1KB", share = "100%" },
  { size = "x", part = 1 }]
[schemes.hull]
pacer.fifo = -1
[schemes.tcp]
transport.ecm = true
[sweep]
"workload.requests.load" = ["10%", "lots"]
"#;

#[test]
fn all_errors_are_reported_at_once_with_places() {
    let lines = told(WRONG, &["host.stack_delay=soon", "pacers=1"]);
    begin(
        &lines,
        &[
            "my.toml:3:1: run.duratoin: there is no such key; did you mean run.duration?",
            "my.toml:6:9: topology.star.hosts: \"4\" is invalid; expected a whole number",
            "my.toml:7:2: host.delay: missing, [host] requires it; expected a number with",
            "my.toml:8:8: host.rate: \"1GBps\" is invalid; expected bits per second",
            "my.toml:9:1: host.latncy: there is no such key; did you mean switch.latency or workload.job.servers.latency? Keys of host: ",
            "my.toml:13:10: switch.buffer: \"3 apples\" is invalid; expected \"unlimited\", a size",
            "my.toml:14:1: switch.min_rto: there is no such key; did you mean transport.min_rto? Keys",
            "my.toml:15:9: switch.marking.threshold: missing, [switch.marking] requires it; expected",
            "my.toml:19:3: workload.requests.classes[1].share: missing, workload.requests.classes[1] requires",
            "my.toml:19:12: workload.requests.classes[1].size: \"x\" is invalid; expected",
            "my.toml:19:17: workload.requests.classes[1].part: there is no such key; expected",
            "my.toml:21:14: pacer.fifo: -1 is invalid; expected a number with one of the units GB",
            "my.toml:23:11: transport.ecm: there is no such key; did you mean transport.ecn? (scheme tcp)",
            "my.toml:25:36: workload.requests.load: \"lots\" is invalid; expected a share",
            "my.toml: --set host.stack_delay: \"soon\" is invalid; expected a number with",
            "my.toml: --set pacers: there is no such key; did you mean pacer?",
        ],
    );
    assert!(lines[11].ends_with("(scheme hull)"), "{}", lines[11]);
    assert!(
        !lines[13].contains("scheme"),
        "of all schemes: {}",
        lines[13]
    );
}

#[test]
fn every_out_of_range_key_of_a_section_is_reported() {
    begin(
        &told(
            GOOD,
            &[
                "switch.priorities=9",
                "switch.loss=100%",
                "transport.header=10B",
                "transport.ack_every=0",
                "transport.min_window=0",
                "measure.sample_interval=1ns",
                "measure.flows={interval=\"1ns\",count=0}",
            ],
        ),
        &[
            "my.toml: --set switch.priorities: 9 is invalid; expected 1 to 8",
            "my.toml: --set switch.loss: \"100%\" is invalid; expected 0 to less than 100%",
            "my.toml: --set transport.header: \"10B\" is invalid; expected 20B to 120B",
            "my.toml: --set transport.ack_every: 0 is invalid; expected 1 to 64",
            "my.toml: --set transport.min_window: 0 is invalid; expected 1 to",
            "my.toml: --set measure.sample_interval: \"1ns\" is invalid; expected at least 1us",
            "my.toml: --set measure.flows.interval: \"1ns\" is invalid; expected at least 1us",
            "my.toml: --set measure.flows.count: 0 is invalid; expected at least 1",
        ],
    );
}

#[test]
fn range_errors_follow_once_the_form_is_valid() {
    let text = GOOD
        .replace("duration = \"1s\"", "duration = 0")
        .replace("\"40%\"", "\"140%\"")
        .replace("hosts = 3", "hosts = 1")
        .replace("\"100KB\"", "10");
    begin(
        &told(
            &text,
            &["transport.mtu=1500B", "measure.sample_interval=1ns"],
        ),
        &[
            "my.toml:4:12: run.duration: 0 is invalid; expected a time above 0",
            "my.toml:6:9: topology.star.hosts: 1 is invalid; expected",
            "my.toml:13:10: switch.buffer: 10 is invalid; expected room for at least one packet",
            "my.toml:15:8: workload.requests.load: \"140%\" is invalid; expected",
            "my.toml: --set measure.sample_interval: \"1ns\" is invalid; expected at least 1us",
        ],
    );
    begin(
        &told(
            GOOD,
            &[
                "run.seeds=0",
                "run.threads=65",
                "host.nic_queues=0",
                "host.stack_delay=2s",
                "pacer={eta=2,buckets=0}",
            ],
        ),
        &[
            "my.toml: --set run.seeds: 0 is invalid; expected 1 to ",
            "my.toml: --set run.threads: 65 is invalid; expected 1 to 64",
            "my.toml: --set host.nic_queues: 0 is invalid; expected 1 to 65536",
            "my.toml: --set host.stack_delay: \"2s\" is invalid; expected at most 1s",
            "my.toml: --set pacer.eta: 2 is invalid; expected 0 to 1",
            "my.toml: --set pacer.buckets: 0 is invalid; expected 1 to 4096",
        ],
    );
    // An error of form is reported alone.
    begin(
        &told(&format!("{text}colour = 1\n"), &[]),
        &["my.toml:17:1: workload.requests.colour: "],
    );
    // An error in one key causes no errors in others.
    begin(
        &told(GOOD, &["transport.mtu=1MB", "pacer={}"]),
        &["my.toml: --set transport.mtu: \"1MB\" is invalid; expected 300B to 9000B"],
    );
    begin(
        &told(GOOD, &["host.rate=1", "pacer={}"]),
        &["my.toml: --set host.rate: 1 is invalid"],
    );
}

#[test]
fn delayed_ack_is_derived_only_where_its_default_does_not_fit() {
    let derived = |settings: &[&str], text: &str| {
        let settings = Vec::from_iter(settings.iter().map(|&setting| setting.to_owned()));
        let cell = expand(text, "my.toml", &settings).expect("right").remove(0);
        let found = cell
            .derived
            .into_iter()
            .filter(|key| key.ends_with("delayed_ack"));
        let others = cell.scenario.transports.values().map(|own| own.delayed_ack);
        let values = [vec![cell.scenario.transport.delayed_ack], others.collect()].concat();
        (
            Vec::from_iter(found),
            Vec::from_iter(values.iter().map(ToString::to_string)),
        )
    };
    let one = |settings: &[&str]| derived(settings, GOOD);
    let unset = (vec![], vec!["1ms".to_owned()]);
    assert_eq!(one(&[]), unset);
    assert_eq!(one(&["transport.min_rto=1.001ms"]), unset);
    assert_eq!(
        one(&["transport.min_rto=1ms", "transport.ack_every=1"]),
        unset
    );
    let of = |value: &str| {
        (
            vec!["transport.delayed_ack".to_owned()],
            vec![value.to_owned()],
        )
    };
    assert_eq!(one(&["transport.min_rto=1ms"]), of("100us"));
    assert_eq!(one(&["transport.min_rto=1us"]), of("100ns"));
    let set = ["transport.min_rto=1ms", "transport.delayed_ack=0.9ms"];
    assert_eq!(one(&set), (vec![], vec!["900us".to_owned()]));
    // A transport of its own inherits the minimum RTO or has one; it is not given the derived value.
    let others = "[transports.a]\n[transports.b]\nmin_rto = \"5ms\"\n[workload.bulk]\nflows = 1\ntransport = \"a\"\n";
    let settings = ["transport.min_rto=1ms", "workload.requests.transport=b"];
    let (keys, values) = derived(&settings, &format!("{GOOD}{others}"));
    assert_eq!(keys, ["transport.delayed_ack", "transports.a.delayed_ack"]);
    assert_eq!(values, ["100us", "100us", "1ms"]);
}

#[test]
fn conflicting_default_points_at_the_other_key() {
    let text = format!("{GOOD}[transport]\nmin_rto = \"61s\"\n");
    let message = "transport.max_rto: not given, and its default, \"60s\", does not fit transport.min_rto = \
                   \"61s\"; expected from transport.min_rto to 3600s";
    begin(&told(&text, &[]), &[&format!("my.toml:18:11: {message}")]);
    begin(
        &told(GOOD, &["transport.min_rto=61s"]),
        &[&format!("my.toml: --set transport.min_rto: {message}")],
    );
    let text = format!("{GOOD}[transport]\ncongestion_control = \"rcp\"\n");
    begin(
        &told(&text, &[]),
        &[
            "my.toml:18:22: switch.rcp: missing, transport.congestion_control = \"rcp\" requires it: ",
        ],
    );
    let text = format!("{GOOD}[transport]\ncongestion_control = \"dctcp\"\n");
    begin(
        &told(&text, &[]),
        &["my.toml:18:22: transport.ecn: not given, and its default, false, "],
    );
}

#[test]
fn known_controls_that_hull_lacks_have_a_nearest_one() {
    let set = |key: &str, name: &str| {
        told(GOOD, &[&format!("{key}.congestion_control={name}")]).join("\n")
    };
    let homa = set("transport", "homa");
    assert!(homa.starts_with(
        "my.toml: --set transport.congestion_control: \"homa\" is invalid; expected newreno, "
    ));
    assert!(homa.contains("; hull has no Homa or another transport of this kind yet, nearest: "));
    let text = format!("{GOOD}transport = \"b\"\n[transports.b]\ncongestion_control = \"ndp\"\n");
    let other = told(&text, &[]).join("\n");
    assert!(
        other.contains("transports.b.congestion_control: \"ndp\" is invalid; expected newreno, "),
        "{other}"
    );
    assert!(
        other.contains("; hull has no NDP or EQDS yet, nearest: "),
        "{other}"
    );
}

#[test]
fn streams_have_one_path() {
    let settings = [
        "transport.congestion_control=dctcp",
        "transport.ecn=true",
        "transport.message.load_balancing=per_packet",
    ];
    begin(
        &told(GOOD, &settings),
        &[
            "my.toml: --set transport.message: \"dctcp\" sends a flow on one path, which the switches choose by its \
           hash (ECMP), or on several with spray; load_balancing and the other keys of message require congestion_control = \"nscc\", ",
        ],
    );
}

#[test]
fn error_in_all_schemes_is_reported_once() {
    let schemes = "[schemes.a]\nrun.seeds = 3\n[schemes.b]\n[schemes.c]\nswitch.buffer = \"1KB\"\n";
    let text = format!("{GOOD}{schemes}").replace("hosts = 3", "hosts = 1");
    begin(
        &told(&text, &[]),
        &[
            "my.toml:6:9: topology.star.hosts: 1 is invalid; expected 2 ",
            "my.toml:21:17: switch.buffer: \"1KB\" is invalid; expected room for at least one packet of \
             transport.mtu (scheme c)",
        ],
    );
    let some =
        format!("{GOOD}[schemes.a.pacer]\neta = 2\n[schemes.b.pacer]\neta = 2\n[schemes.c]\n");
    let lines = told(&some, &["pacer.buckets=0"]);
    begin(
        &lines,
        &[
            "my.toml:18:7: pacer.eta: 2 is invalid; expected 0 to 1 (scheme a)",
            "my.toml:20:7: pacer.eta: 2 is invalid; expected 0 to 1 (scheme b)",
            "my.toml: --set pacer.buckets: 0 is invalid; expected 1 to 4096 (schemes a, b)",
        ],
    );
}

/// If the base scenario's table is wrong, keys that each scheme would miss in it are not reported.
#[test]
fn no_missing_keys_reported_if_the_base_is_invalid() {
    let schemes = "[schemes.a]\nswitch.rcp.alpha = 0.1\n[schemes.b]\nswitch.loss = \"x\"\n";
    let text = format!("{GOOD}{schemes}").replace("[switch]", "[switches]");
    begin(
        &told(&text, &[]),
        &[
            "my.toml:10:2: switches: there is no such key; did you mean switch?",
            "my.toml:20:15: switch.loss: \"x\" is invalid; expected a share such as \"20%\" or 0.2",
            "my.toml: switch: missing, every scenario requires it; expected a table with the keys",
        ],
    );
    let text = format!("{GOOD}{schemes}").replace("\"x\"", "\"1%\"");
    begin(
        &told(&text, &[]),
        &[
            "my.toml:18:8: switch.rcp.beta: missing, [switch.rcp] requires it; expected a share",
            "my.toml:18:8: switch.rcp.interval: missing, [switch.rcp] requires it; expected a number",
            "my.toml:18:8: switch.rcp.round_trip: missing, [switch.rcp] requires it; expected a number",
        ],
    );
}

#[test]
fn toml_syntax_error_has_a_location() {
    begin(
        &told("name = \"\u{b5}\" x\n", &[]),
        &["my.toml:1:12: is not TOML: "],
    );
    begin(
        &told("name = \"a\"\nname = \"b\"\n", &[]),
        &["my.toml:2:1: is not TOML: duplicate key"],
    );
    begin(
        &told(
            "a = 99999999999999999999\nb = [1, 99999999999999999999]\n",
            &[],
        ),
        &[
            "my.toml:1:5: a: 99999999999999999999 is invalid",
            "my.toml:2:9: b[1]: 99999999999999999999 is",
        ],
    );
}

#[test]
fn error_list_is_truncated() {
    let many: String = (0..5000).map(|i| format!("k{i} = 1\n")).collect();
    let lines = told(&format!("{many}{GOOD}"), &[]);
    assert_eq!(lines.len(), 21);
    assert!(lines[20].ends_with(" more"), "{}", lines[20]);
}
