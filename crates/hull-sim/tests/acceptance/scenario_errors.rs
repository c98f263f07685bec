//! Bad input against the issue's rule: one message that names the file, the key, the value found
//! and the expected form.

use hull_sim::scenario::expand;

/// A full scenario and a short one.
pub const GOOD: &str = r#"
name = "good"
[run]
duration = "1s"
[topology.star]
hosts = 3
[host]
rate = "1Gbps"
delay = "1us"
[switch]
rate = "1Gbps"
delay = "1us"
buffer = "100KB"
[workload.requests]
load = "40%"
classes = [{ size = "1KB", share = "100%" }]
"#;

#[test]
fn valid_scenario_is_accepted() {
    assert_eq!(
        expand(GOOD, "good.toml", &[]).map(|cells| cells.len()),
        Ok(1)
    );
}

/// Replaces `old` by `new` in the good file and checks the parts of the message.
fn refuse(old: &str, new: &str, parts: &[&str]) {
    assert!(GOOD.contains(old), "{old}");
    check(&GOOD.replacen(old, new, 1), &[], parts);
}

fn check(text: &str, settings: &[&str], parts: &[&str]) {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let message = match expand(text, "dir/my.toml", &settings) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("accepted, but invalid: {parts:?}"),
    };
    println!("{message}");
    assert!(message.starts_with("dir/my.toml:"), "{message}");
    for part in parts {
        assert!(
            message.contains(part),
            "\"{part}\" is missing from: {message}"
        );
    }
}

#[test]
fn unknown_keys() {
    refuse(
        "delay = \"1us\"\n[switch]",
        "latency = \"1us\"\n[switch]",
        &["host.latency: there is no such key", "delay"],
    );
    refuse(
        "[run]",
        "[running]",
        &["running: there is no such key", "run"],
    );
    refuse(
        "share = ",
        "part = ",
        &["workload.requests.classes[0].part", "no such key", "share"],
    );
    check(
        &format!("{GOOD}[transport.dctcp]\ngain = 1\n"),
        &[],
        &["transport.dctcp.gain", "no such key", "g, "],
    );
}

#[test]
fn wrong_units() {
    refuse(
        "duration = \"1s\"",
        "duration = \"1sec\"",
        &["run.duration", "\"1sec\"", "s, ms, us, ns, ps"],
    );
    refuse(
        "rate = \"1Gbps\"",
        "rate = \"1GBps\"",
        &["host.rate", "\"1GBps\"", "a capital B stands for bytes"],
    );
    refuse(
        "buffer = \"100KB\"",
        "buffer = \"100Kib\"",
        &["switch.buffer", "\"100Kib\"", "700KB", "500pkts", "bytes"],
    );
    for (found, allowed) in [
        ("1.5", "at most 1s"),
        ("-1", "without a unit: seconds"),
        ("true", "one of the units s"),
    ] {
        let parts = ["host.delay", &format!("{found} is invalid"), allowed];
        refuse("delay = \"1us\"", &format!("delay = {found}"), &parts);
    }
    refuse(
        "\"40%\"",
        "\"40Mbps\"",
        &["workload.requests.load", "\"40Mbps\"", "20%"],
    );
    refuse(
        "hosts = 3",
        "hosts = \"3\"",
        &[
            "topology.star.hosts",
            "\"3\"",
            "a whole number from 0 to 65535",
        ],
    );
}

#[test]
fn rates_of_zero_and_below() {
    for found in ["0Gbps", "0bps"] {
        refuse(
            "rate = \"1Gbps\"",
            &format!("rate = \"{found}\""),
            &["host.rate", &format!("\"{found}\""), "from 1Mbps"],
        );
    }
    refuse(
        "rate = \"1Gbps\"",
        "rate = \"-1Gbps\"",
        &["host.rate", "\"-1Gbps\"", "a number with one of the units"],
    );
    refuse(
        "duration = \"1s\"",
        "duration = \"0s\"",
        &["run.duration", "\"0s\"", "above 0"],
    );
}

#[test]
fn thresholds_above_the_buffer() {
    let marking = format!("{GOOD}[switch.marking]\nthreshold = \"200KB\"\n");
    check(
        &marking,
        &[],
        &[
            "switch.marking.threshold",
            "\"200KB\"",
            "less than switch.buffer",
            "100KB",
        ],
    );
    let setting = "switch.marking={threshold=\"150KB\"}";
    check(
        GOOD,
        &[setting],
        &["switch.marking.threshold", "\"150KB\"", "100KB"],
    );
    refuse(
        "\"100KB\"",
        "\"1KB\"",
        &["switch.buffer", "\"1KB\"", "one packet of transport.mtu"],
    );
}

#[test]
fn loads_of_one_and_more() {
    for (found, shown) in [
        ("\"100%\"", "\"100%\""),
        ("1", "1 is invalid"),
        ("1.2", "1.2 is invalid"),
    ] {
        refuse(
            "\"40%\"",
            found,
            &["workload.requests.load", shown, "below 100%"],
        );
    }
    refuse(
        "\"40%\"",
        "\"-40%\"",
        &["workload.requests.load", "\"-40%\"", "20%"],
    );
}

#[test]
fn missing_keys() {
    refuse(
        "rate = \"1Gbps\"\ndelay = \"1us\"\n[switch]",
        "delay = \"1us\"\n[switch]",
        &["host.rate: missing", "950Mbps"],
    );
    refuse("duration = \"1s\"", "", &["run.duration: missing", "64us"]);
    refuse("name = \"good\"", "", &["name: missing", "a text"]);
    let without = GOOD.split("[workload").next().unwrap_or_default();
    check(
        without,
        &[],
        &["workload: missing", "a table with the keys"],
    );
}

#[test]
fn invalid_sweeps() {
    let sweep = |line: &str| format!("{GOOD}[sweep]\n{line}\n");
    check(
        &sweep("\"workload.requests.load\" = []"),
        &[],
        &[
            "sweep.\"workload.requests.load\"",
            "empty list",
            "list of values",
        ],
    );
    check(
        &sweep("\"workload.requests.load\" = \"40%\""),
        &[],
        &["sweep", "40%", "list of values or a range"],
    );
    check(
        &sweep("\"workload.requests.load\" = 40"),
        &[],
        &["sweep.workload.requests.load", "list of values or a range"],
    );
    check(
        &sweep("\"workload.requests.load\" = \"60%:40%:10%\""),
        &[],
        &[
            "sweep.\"workload.requests.load\"",
            "empty",
            "start:stop:step",
        ],
    );
    check(
        &sweep("\"workload.requests.load\" = [\"40%\", \"140%\"]"),
        &[],
        &["workload.requests.load", "\"140%\"", "below 100%"],
    );
    check(
        &sweep("\"workload.requests.lod\" = [\"40%\"]"),
        &[],
        &["workload.requests.lod", "no such key", "load"],
    );
}

#[test]
fn invalid_settings() {
    check(
        GOOD,
        &["workload.requests.load"],
        &["--set", "\"workload.requests.load\"", "key=value"],
    );
    check(
        GOOD,
        &["host.rate=fast"],
        &["host.rate", "\"fast\"", "Gbps"],
    );
    check(
        GOOD,
        &["host.speed=1Gbps"],
        &["host.speed", "no such key", "rate"],
    );
    check(
        GOOD,
        &["hosts.rate=1Gbps"],
        &["hosts: there is no such key", "host"],
    );
    check(
        GOOD,
        &["transport.ack_every=0"],
        &["transport.ack_every", "0", "1 to 64"],
    );
    check(
        GOOD,
        &["transport.max_window=800000"],
        &["transport.max_window", "800000", "1 to 735439 segments"],
    );
    check(
        GOOD,
        &["transport.idle_decay=true"],
        &["transport.idle_decay", "true", "transport.idle_restart"],
    );
    check(
        GOOD,
        &["transport.framing=101B"],
        &["transport.framing", "\"101B\"", "at most 100B"],
    );
    check(
        GOOD,
        &["transport.tso_win_divisor=3"],
        &["transport.tso_win_divisor", "3", "host.offload"],
    );
    check(
        GOOD,
        &["switch.commit=1000B"],
        &["switch.commit", "\"1000B\"", "switch.priorities = 1"],
    );
    check(
        GOOD,
        &["switch.priorities=2", "switch.commit=10KB"],
        &["switch.commit", "\"10KB\"", "at most 9000B"],
    );
    check(
        GOOD,
        &["transport.vegas.alpha=9"],
        &["transport.vegas.alpha", "9", "1 to transport.vegas.beta"],
    );
    check(
        GOOD,
        &["transport.bic.decrease=0.6"],
        &["transport.bic.decrease", "0.6 is invalid", "at most 0.5"],
    );
    let qcn = [
        "transport.congestion_control=qcn",
        "switch.qcn.equilibrium=33KB",
        "transport.qcn.hyper_increase=50Mbps",
    ];
    check(
        GOOD,
        &qcn,
        &[
            "transport.qcn.hyper_increase",
            "50Mbps",
            "transport.qcn.timer",
        ],
    );
    check(
        GOOD,
        &[
            "transport.congestion_control=qcn-aimd",
            "switch.qcn.equilibrium=33KB",
            "transport.qcn.target_rate_reduction=true",
        ],
        &[
            "transport.qcn.target_rate_reduction",
            "QCN-AIMD",
            "no target",
        ],
    );
}

#[test]
fn invalid_schemes() {
    let schemes = |line: &str| format!("{GOOD}[schemes.fine]\n[schemes.odd]\n{line}\n");
    check(
        &schemes("transport.ecm = true"),
        &[],
        &["transport.ecm", "no such key", "ecn", "scheme odd"],
    );
    check(
        &schemes("transport.congestion_control = \"dctcp\""),
        &[],
        &[
            "transport.ecn",
            "not given",
            "its default, false",
            "true",
            "scheme odd",
        ],
    );
    check(
        &schemes("transport.congestion_control = \"hybla\""),
        &[],
        &[
            "transport.congestion_control",
            "\"hybla\" is invalid",
            "newreno, ",
            "dctcp, ",
            "scheme odd",
        ],
    );
    check(
        &schemes("switch.marking.threshold = \"1MB\""),
        &[],
        &["switch.marking.threshold", "\"1MB\"", "100KB", "scheme odd"],
    );
}

#[test]
fn rcp_needs_compatible_sources_and_ports() {
    const RCP: &str = "switch.rcp={alpha=0.1,beta=1,interval=\"1ms\",round_trip=\"1ms\"}";
    const SOURCE: &str = "transport.congestion_control=rcp";
    check(GOOD, &[SOURCE], &["switch.rcp: missing", "the rate"]);
    check(GOOD, &[RCP], &["transport.congestion_control", "\"rcp\""]);
    for (setting, parts) in [
        (
            "switch.priorities=2",
            ["switch.priorities", "2 is invalid", "1 with"],
        ),
        (
            "host.offload=\"64KB\"",
            ["host.offload", "\"64KB\" is invalid", "none with"],
        ),
        (
            "switch.rcp.alpha=101",
            ["switch.rcp.alpha", "101 is invalid", "0 to 100"],
        ),
        (
            "switch.rcp.interval=\"2s\"",
            ["switch.rcp.interval", "2s", "1us to 1s"],
        ),
        (
            "switch.rcp.round_trip=\"0s\"",
            ["switch.rcp.round_trip", "\"0s\"", "1us"],
        ),
        (
            "switch.rcp.initial=0",
            ["switch.rcp.initial", "0 is invalid", "above 0"],
        ),
        (
            "switch.rcp.algorithm=ap3-rcp",
            ["switch.rcp.algorithm", "ap3-rcp", "\"ap2-rcp\""],
        ),
    ] {
        check(GOOD, &[RCP, SOURCE, setting], &parts);
    }
}

/// Issue 17, items 1, 2, 3, 10: previously accepted silently, or a panic.
#[test]
fn values_once_accepted_silently() {
    let phantom = "switch.phantom_queue={drain=\"95%\",threshold=\"1KB\",tick=\"0ps\"}";
    check(
        GOOD,
        &[phantom],
        &["switch.phantom_queue.tick", "\"0ps\"", "above 0"],
    );
    let ports = "switch.ports=[{phantom_queue={drain=\"95%\",threshold=\"1KB\",tick=\"0s\"}}]";
    check(
        GOOD,
        &[ports],
        &["switch.ports[0].phantom_queue.tick", "\"0s\"", "above 0"],
    );
    let scheme = "schemes.nosuch.pacer.beta=3";
    check(
        GOOD,
        &[scheme],
        &["schemes.nosuch", "the file has no schemes"],
    );
    check(
        &format!("{GOOD}[schemes.fine]\n"),
        &[scheme],
        &["schemes.nosuch", "no such scheme", "fine"],
    );
    for selector in ["tier=\"nosuch\"", "node=\"nosuch\"", "rate=\"7Gbps\""] {
        let ports = format!("switch.ports=[{{{selector},buffer=\"40KB\"}}]");
        check(
            GOOD,
            &[&ports],
            &["switch.ports[0]", "no port", "switch-host"],
        );
    }
    check(
        GOOD,
        &["switch.ports=[{}]"],
        &[
            "switch.ports[0]",
            "nothing",
            "buffer, marking, phantom_queue",
        ],
    );
    check(
        GOOD,
        &["workload.bulk=[1]"],
        &["workload.bulk", "[1]", "a table"],
    );
    check(
        GOOD,
        &["measure.flows=[]"],
        &["measure.flows", "[]", "a table"],
    );
}

/// Issue 17, wording: messages quote the value as written, no control characters, bounded length.
#[test]
fn errors_show_the_value_as_written() {
    check(
        GOOD,
        &["switch.cut_through=9001B"],
        &["switch.cut_through", "\"9001B\""],
    );
    check(
        GOOD,
        &["host.rate=\u{1b}[31mred\nred"],
        &["host.rate", "\"\\u{1b}[31mred\\nred\""],
    );
    let long = format!("host.rate={}", "9".repeat(1_000_000));
    let settings = [long];
    let message = expand(GOOD, "x.toml", &settings)
        .expect_err("too long")
        .to_string();
    assert!(message.len() < 400, "{}", message.len());
}
