//! Several transports in one run: each behaves as it does alone, a copy of the default changes
//! nothing, and per-transport counts add up to the totals.

use std::path::PathBuf;

use hull_sim::scenario::{Resolved, Scenario, expand};
use hull_sim::simulation::{Outcome, verify};
use hull_sim::transport::ControlName;

use super::star::{BULK, run, scenario};

const TWO: &str = r#"
[[workload.long_lived.flows]]
src = "1-2"
dst = 0
transport = "other"
[workload.flows]
flows_per_second = 3000
sizes.pareto = { shape = 1.2, mean = "30KB", cut = "1MB" }
"#;

const BASE: [&str; 6] = [
    "topology.star.hosts=4",
    "run.duration=50ms",
    "run.warmup=5ms",
    "switch.buffer=30pkts",
    "transport.min_rto=1ms",
    "transport.initial_rto=2ms",
];

const DCTCP: [&str; 3] = [
    "transport.congestion_control=dctcp",
    "transport.ecn=true",
    "switch.marking.threshold=20KB",
];

fn with(settings: &[&str]) -> Scenario {
    scenario(TWO, &[&BASE[..], &DCTCP, settings].concat())
}

/// Results without those keyed by transport.
fn without_names(mut outcome: Outcome) -> String {
    outcome.transports.clear();
    let rows = outcome.flows.rows().to_vec();
    let rows = rows.into_iter().map(|mut row| {
        row.transport = 0;
        row
    });
    let rows = Vec::from_iter(rows);
    format!(
        "{rows:?} {:?} {:?} {:?} {:?}",
        outcome.packets, outcome.links, outcome.throughput, outcome.occupancy
    )
}

#[test]
fn a_copy_of_the_default_changes_nothing() {
    let copied = with(&["transports.other={}"]);
    let named = TWO.replace("transport = \"other\"\n", "");
    let alone = scenario(&named, &[&BASE[..], &DCTCP].concat());
    assert_eq!(copied.transports["other"], copied.transport);
    let (copied, alone) = (run(&copied, 3), run(&alone, 3));
    assert!(alone.transports.is_empty());
    assert_eq!(without_names(copied), without_names(alone));
}

#[test]
fn counts_by_transport_add_up() {
    let outcome = run(
        &with(&["transports.other={congestion_control=\"cubic\",ecn=false}"]),
        1,
    );
    let of = |name: &str| &outcome.transports[name];
    let names: Vec<&String> = outcome.transports.keys().collect();
    assert_eq!(names, ["default", "other"]);
    let both = [of("default"), of("other")];
    let sum = |count: fn(&hull_sim::measure::TransportSummary) -> u64| -> u64 {
        both.iter().map(|of| count(of)).sum()
    };
    assert_eq!(sum(|of| of.timeouts), outcome.counts.timeouts);
    assert_eq!(sum(|of| of.retransmissions), outcome.counts.retransmissions);
    assert_eq!(sum(|of| of.drops), outcome.packets.dropped);
    assert!(of("other").drops > 0 && of("default").drops < of("other").drops);
    let goodput_bps: f64 = both.iter().map(|of| of.goodput_bps).sum();
    let total_bps = outcome.throughput.total_goodput_bps;
    assert!(
        (goodput_bps / total_bps - 1.0).abs() < 1e-12,
        "{goodput_bps} {total_bps}"
    );
    // The switch marks only ECN-capable packets; all completions belong to the default's flows.
    assert_eq!(of("other").marks, 0);
    assert!(of("default").marks > 0);
    let counts = |of: &hull_sim::measure::TransportSummary| -> usize {
        of.fct.iter().map(|class| class.count).sum()
    };
    assert_eq!(counts(of("default")), outcome.flows.rows().len());
    assert_eq!(counts(of("other")), 0);
    assert!(outcome.flows.rows().iter().all(|row| row.transport == 0));
}

/// CUBIC fills the queue that DCTCP keeps short and takes the link; in a lower-priority class than
/// DCTCP, it gets the remainder.
#[test]
fn cubic_starves_dctcp_unless_lower_priority() {
    let sharing = "[[workload.long_lived.flows]]\nsrc = 1\ndst = 0\ntransport = \"other\"\n\
                   [[workload.long_lived.flows]]\nsrc = 2\ndst = 0\n";
    let cubic = "transports.other={congestion_control=\"cubic\",ecn=false}";
    let shares = |settings: &[&str]| {
        let base = [
            "run.duration=300ms",
            "run.warmup=100ms",
            "switch.buffer=200pkts",
            cubic,
        ];
        let scenario = scenario(sharing, &[&BASE[..], &DCTCP, &base, settings].concat());
        let outcome = run(&scenario, 1);
        let of = |name: &str| outcome.transports[name].goodput_bps;
        of("default") / (of("default") + of("other"))
    };
    assert!(shares(&[]) < 0.05);
    let classes = [
        "switch.priorities=2",
        "transport.priority=0",
        "transports.other.priority=1",
    ];
    assert!(shares(&classes) > 0.95);
}

#[test]
fn unpaced_transport_is_not_paced() {
    let paced = ["pacer={}", "transports.other={}"];
    let associations = |settings: &[&str]| run(&with(settings), 1).counts.associations;
    assert!(associations(&paced) > 0);
    let unpaced = [
        &paced[..],
        &["transport.paced=false", "transports.other.paced=false"],
    ]
    .concat();
    assert_eq!(associations(&unpaced), 0);
    let half = associations(
        &[
            &paced[..],
            &["transport.paced=false", "transports.other.paced=true"],
        ]
        .concat(),
    );
    assert!(half > 0 && half < associations(&paced), "{half}");
}

/// Sizes in bytes of the flows that each transport completed.
fn completed(outcome: &Outcome) -> [Vec<u64>; 2] {
    [0, 1].map(|number| {
        let rows = outcome.flows.rows().iter();
        let mut bytes: Vec<u64> = rows
            .filter(|row| row.transport == number)
            .map(|row| row.bytes)
            .collect();
        bytes.sort_unstable();
        bytes
    })
}

#[test]
fn a_class_of_requests_has_its_transport() {
    let requests = |own: &str| {
        format!(
            "[workload.requests]\nload = \"20%\"\nclasses = [{{ size = \"1KB\", share = \"80%\"{own} }}, \
             {{ size = \"20KB\", share = \"20%\" }}]\n"
        )
    };
    let text = requests(", transport = \"other\"");
    let settings = [
        &BASE[..],
        &DCTCP,
        &["transports.other={congestion_control=\"cubic\",ecn=false}"],
    ]
    .concat();
    let outcome = run(&scenario(&text, &settings), 1);
    let [default, other] = completed(&outcome);
    assert!(!other.is_empty() && other.iter().all(|&bytes| bytes == 1000));
    assert!(!default.is_empty() && default.iter().all(|&bytes| bytes == 20_000));
    let counts = |name: &str| -> Vec<usize> {
        let of = &outcome.transports[name].fct;
        of.iter().map(|class| class.count).collect()
    };
    assert_eq!(counts("default"), [0, default.len()]);
    assert_eq!(counts("other"), [other.len(), 0]);
    // Same requests and start times as without the key.
    let alone = run(&scenario(&requests(""), &[&BASE[..], &DCTCP].concat()), 1);
    let starts = |outcome: &Outcome| {
        let rows = outcome.flows.rows().iter();
        let mut starts = Vec::from_iter(rows.map(|row| (row.start_ps, row.bytes)));
        starts.sort_unstable();
        starts
    };
    assert_eq!(starts(&outcome), starts(&alone));
}

/// Writes a flow list with these rows under its own name; returns the key that names it.
fn flow_list(name: &str, rows: &str) -> (PathBuf, String) {
    let path = std::env::temp_dir().join(format!("hull-mixed-{}-{name}.csv", std::process::id()));
    let text = format!("start_ps,src,dst,bytes,transport\n{rows}");
    std::fs::write(&path, text).expect("a temporary file");
    let key = format!("[workload]\nflows = \"{}\"\n", path.display());
    (path, key)
}

#[test]
fn rows_of_a_flow_list_have_their_transports() {
    let (path, key) = flow_list(
        "good",
        "0,1,0,7000,other\n10,2,0,8000,\n20,3,0,9000,default\n",
    );
    let settings = [&BASE[..], &DCTCP, &["transports.other={}", "run.warmup=0s"]].concat();
    let outcome = run(&scenario(&key, &settings), 1);
    std::fs::remove_file(path).expect("file exists");
    assert_eq!(completed(&outcome), [vec![8000, 9000], vec![7000]]);
}

#[test]
fn bad_transports_in_a_flow_list_are_rejected() {
    let other = "transports.other={}";
    for (name, rows, settings, key, parts) in [
        (
            "unknown",
            "0,1,0,7,other\n0,1,0,7,reno\n",
            &[other][..],
            "workload.flows",
            [
                "-unknown.csv: line 3, column transport: \"reno\"",
                "default, other",
            ],
        ),
        (
            "none",
            "0,1,0,7,other\n",
            &[],
            "workload.flows",
            [
                "line 2, column transport: \"other\"",
                "[transports], default,",
            ],
        ),
        (
            "idle",
            "0,1,0,7,other\n",
            &[other, "transports.idle={}"],
            "transports.idle",
            ["a transport without flows", "transport = \"idle\""],
        ),
        (
            "constant-rate",
            "0,1,0,7,other\n",
            &[
                "transports.other={congestion_control=\"constant_rate\",constant_rate.rate=\"1Mbps\"}",
            ],
            "transports.other",
            ["rows of the flow list", "flows of workload.long_lived only"],
        ),
    ] {
        let (path, list) = flow_list(name, rows);
        let scenario = scenario(&list, &[&BASE[..], &DCTCP, settings].concat());
        let problem = Resolved::new(scenario).and_then(|scenario| verify(&scenario));
        std::fs::remove_file(path).expect("file exists");
        let (found, problem): (String, String) = problem.expect_err(name).into();
        assert_eq!(found, key, "{problem}");
        for part in parts {
            assert!(problem.contains(part), "{part}: {problem}");
        }
    }
}

#[test]
fn invalid_transports_are_rejected() {
    let base = [&BASE[..], &DCTCP].concat();
    for (settings, parts) in [
        (
            &[][..],
            [
                "workload.long_lived.flows[0].transport: \"other\"",
                "has no [transports]",
            ],
        ),
        (
            &["transports.another={}"],
            ["[0].transport: \"other\" is invalid", "another"],
        ),
        (
            &["transports.other={}", "transports.idle={}"],
            ["transports.idle: ", "a workload with transport = \"idle\""],
        ),
        (
            &["transports.other.mtu=9000B"],
            ["transports.other.mtu: \"9000B\"", "transport.mtu"],
        ),
        (
            &["transports.other.priority=1"],
            ["transports.other.priority: 1", "priorities = 1"],
        ),
        (
            &["transports.other.ecn=false"],
            ["transports.other.ecn: false", "dctcp"],
        ),
        (
            &["transports.other.min_rto=0us"],
            ["transports.other.min_rto: \"0us\"", "1us"],
        ),
        (
            &["transports.other.nothing=1"],
            ["transports.other.nothing", "no such key"],
        ),
        (
            &["transports.other.congestion_control=rcp"],
            ["switch.rcp: ", "congestion_control = \"rcp\""],
        ),
        (
            &[
                "transports.other={}",
                "workload.requests={load=\"1%\",classes=[{size=\"1KB\",share=\"100%\",transport=\"reno\"}]}",
            ],
            [
                "workload.requests.classes[0].transport: \"reno\" is invalid",
                "one of other",
            ],
        ),
        (
            &[
                "transports.other={}",
                "workload.requests={load=\"1%\",transport=\"other\",classes=[{size=\"1KB\",share=\"100%\",transport=\"other\"}]}",
            ],
            [
                "workload.requests.transport: \"other\" is invalid",
                "no such key",
            ],
        ),
        (
            &["transports.default={}"],
            ["transports: \"default\"", "names"],
        ),
    ] {
        let settings = [&base[..], settings].concat();
        let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
        let text = format!("{}{TWO}", super::star::BASE);
        let message = match expand(&text, "my.toml", &settings) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("accepted, but invalid: {settings:?}"),
        };
        for part in parts {
            assert!(message.contains(part), "{part}: {message}");
        }
    }
}

#[test]
fn a_resolved_file_gives_the_same_transports() {
    let scenario = with(&["transports.other={congestion_control=\"cubic\",ecn=false}"]);
    let text = scenario.to_toml().expect("a scenario");
    let again: &Scenario = &expand(&text, "again.toml", &[]).expect("the same")[0].scenario;
    assert_eq!(again, &scenario);
}

/// Any two of hull's controls, window- or rate-based, share a link of 1 Gbps: both send, the
/// goodputs do not exceed the link's rate, and every packet is accounted for.
#[test]
fn any_two_controls_share_a_network() {
    let names: Vec<String> = ControlName::BUILT_IN
        .iter()
        .map(ToString::to_string)
        .collect();
    for (i, one) in names.iter().enumerate() {
        for other in &names[i + 1..] {
            let (text, switch) = shared(one, other);
            let cells = expand(&text, "two.toml", &switch).unwrap_or_else(|e| panic!("{e}"));
            let outcome = run(&cells[0].scenario, 1);
            let goodputs: Vec<f64> = outcome
                .transports
                .values()
                .map(|of| of.goodput_bps)
                .collect();
            let both = outcome.transports.values().all(|of| of.packets > 0);
            assert!(both, "{one} {other}");
            assert!(
                goodputs.iter().sum::<f64>() < 1e9,
                "{one} {other} {goodputs:?}"
            );
            assert_eq!(outcome.transports.len(), 2);
        }
    }
}

/// The scenario and the switch settings that its controls need.
fn shared(one: &str, other: &str) -> (String, Vec<String>) {
    let ecn = |name: &str| ["dctcp", "prague"].contains(&name);
    let has = |name: &str| one.starts_with(name) || other.starts_with(name);
    let text = format!(
        r#"
name = "two"
run = {{ duration = "30ms", warmup = "10ms" }}
topology.star.hosts = 3
host = {{ queue = "fifo", rate = "1Gbps", delay = "5us" }}
switch = {{ rate = "1Gbps", delay = "5us", buffer = "200KB", marking.threshold = "30KB" }}
transport = {{ congestion_control = "{one}", ecn = {} }}
transports.other = {{ congestion_control = "{other}", ecn = {} }}
workload.long_lived.flows = [{{ src = 1, dst = 0 }}, {{ src = 2, dst = 0, transport = "other" }}]
"#,
        ecn(one),
        ecn(other),
    );
    let mut switch = Vec::new();
    if has("qcn") {
        switch.push("switch.qcn={equilibrium=\"33KB\"}".to_owned());
    }
    for (name, table) in [(one, "transport"), (other, "transports.other")] {
        if name == "constant_rate" {
            switch.push(format!("{table}.constant_rate.rate=300Mbps"));
        }
    }
    if has("rcp") {
        let gains = "alpha=\"40%\",beta=\"20%\",interval=\"50us\",round_trip=\"50us\"";
        switch.push(format!("switch.rcp={{{gains}}}"));
    }
    (text, switch)
}

/// A transport inherits of `[transport]` what applies to its congestion control, in both directions.
#[test]
fn tables_of_other_controls_are_not_inherited() {
    let flows = "[[workload.long_lived.flows]]\nsrc = 1\ndst = 0\n\
                 [[workload.long_lived.flows]]\nsrc = 2\ndst = 0\ntransport = \"other\"\n";
    let message = "transport.message={timeout=\"100us\",initial_window=3,paths=4}";
    let unocc = "transport.message={timeout=\"100us\",unocc={k=7}}";
    let rate = "transport.constant_rate={rate=\"1Mbps\",l4s=true}";
    let qcn = "transport.qcn={timer=\"1ms\",hyper_increase=\"50Mbps\",target_rate_reduction=true}";
    let congestion_point = "switch.qcn={equilibrium=\"33KB\"}";
    for (base, table, other, more) in [
        ("nscc", message, "newreno", ""),
        (
            "nscc",
            message,
            "constant_rate",
            "transports.other.constant_rate.rate=1Mbps",
        ),
        ("rccc", message, "dctcp", ""),
        ("nscc", message, "unocc", ""),
        ("unocc", unocc, "nscc", ""),
        ("unocc", unocc, "cubic", ""),
        ("constant_rate", rate, "newreno", ""),
        ("constant_rate", rate, "nscc", ""),
        ("prague", "transport.prague.rtt_target=5ms", "nscc", ""),
        ("dctcp", "transport.dctcp.g=0.5", "nscc", ""),
        (
            "newreno",
            "transport.ecn=true",
            "nscc",
            "transports.other.message.paths=4",
        ),
        ("qcn", qcn, "qcn-aimd", congestion_point),
        ("qcn", qcn, "newreno", congestion_point),
    ] {
        let base_is = format!("transport.congestion_control={base}");
        let other_is = format!("transports.other.congestion_control={other}");
        let ecn = format!("transport.ecn={}", base != "qcn");
        let mut settings = vec![
            "topology.star.hosts=4",
            &base_is,
            &ecn,
            table,
            &other_is,
            more,
        ];
        settings.retain(|setting| !setting.is_empty());
        let found = scenario(flows, &settings);
        let inherited = &found.transports["other"];
        let is_unocc = inherited.congestion_control == ControlName::UnoCc;
        let keeps = inherited.congestion_control.is_of_messages();
        if base == "nscc" && keeps {
            assert_eq!(inherited.message.timeout, found.transport.message.timeout);
            assert_eq!(inherited.message.initial_window.is_none(), is_unocc);
        }
        if !keeps {
            assert_eq!(inherited.message, Default::default(), "{base} {other}");
        }
    }
}

/// A table that a transport sets itself, and that does not apply, is rejected.
#[test]
fn own_tables_of_other_controls_are_rejected() {
    let text = format!("{}{BULK}transport = \"other\"\n", super::star::BASE);
    let settings = [
        "transport={congestion_control=\"nscc\",ecn=true,message={paths=4}}",
        "transports.other={congestion_control=\"newreno\",message={paths=4}}",
    ];
    let problem = expand(&text, "x.toml", &settings.map(str::to_owned)).expect_err("own table");
    let told = problem.to_string();
    assert!(told.contains("transports.other.message"), "{told}");
}
