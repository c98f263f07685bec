//! Uno: two data centres, UnoCC and the parallel phantom queue. Checked against the round trips
//! that the authors' scripts print (`uno.toml`, [setup]: 14.02752 us inside a data centre,
//! 1792.04128 us between two), the counter's closed-form growth under full load, and the load
//! balancers' rules calculated by hand.

use hull_sim::part::{self, Identity};
use hull_sim::scenario::{self, Resolved, Scenario};
use hull_sim::simulation::{Control, Outcome};
use hull_sim::workload::Acked;

use super::queue_series::folder;
use super::star::run;

/// The authors' set-up: 100 Gbps, 1 us per link, 886.5 us between the border switches.
const BASE: &str = r#"
name = "uno"
[run]
duration = "1ms"
drain = "100ms"
[topology.two_datacentres]
k = 8
border_links = 8
border_delay = "886.5us"
core_links = 8
[host]
queue = "fifo"
rate = "100Gbps"
delay = "1us"
[switch]
rate = "100Gbps"
delay = "1us"
buffer = "1MB"
count_in_service = true
priorities = 2
marking = { threshold = "100KB", max_threshold = "800KB", on = "sent" }
[transport]
congestion_control = "unocc"
ecn = true
mtu = "4160B"
header = "64B"
[transport.message]
paths = 250
load_balancing = "per_packet"
ack_bytes = "1B"
"#;

fn try_scenario(flows: &str, settings: &[&str]) -> Result<Scenario, String> {
    let text = format!("{BASE}[workload.long_lived]\nflows = [{flows}]\n");
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let cells = scenario::expand(&text, "test.toml", &settings).map_err(|e| e.to_string())?;
    Ok(Scenario::clone(&cells[0].scenario))
}

fn scenario(flows: &str, settings: &[&str]) -> Scenario {
    try_scenario(flows, settings).unwrap_or_else(|error| panic!("{error}"))
}

/// Arrival times of each flow's last ACK at its sender, us from the flow's start, ascending.
fn acked_us(outcome: &Outcome) -> Vec<f64> {
    let times = outcome.flows.rows().iter().map(|row| match row.acked {
        Acked::After(ps) => ps as f64 * 1e-6,
        other => panic!("{other:?}"),
    });
    let mut times = Vec::from_iter(times);
    times.sort_by(f64::total_cmp);
    times
}

#[test]
fn one_packet_takes_the_scripts_round_trip() {
    for (dst, us) in [(1, 4.67584), (127, 14.02752), (128, 1792.04128)] {
        let flow = format!("{{ src = 0, dst = {dst}, size = \"4096B\" }}");
        let measured = acked_us(&run(&scenario(&flow, &[]), 1))[0];
        assert!((measured - us).abs() < 1e-4, "{dst}: {measured} {us}");
    }
}

/// The window equals rate times round trip, so packets leave back to back: n of them take n - 1
/// times a packet's 332.8 ns longer than one.
#[test]
fn an_uncontended_flow_has_the_full_rate() {
    for (dst, one_us) in [(127, 14.02752), (128, 1792.04128)] {
        let flow = format!("{{ src = 0, dst = {dst}, size = \"8192000B\" }}");
        let outcome = run(&scenario(&flow, &["transport.message.paths=1"]), 1);
        let (measured, least) = (acked_us(&outcome)[0], one_us + 1999.0 * 0.3328);
        assert_eq!((outcome.marks, outcome.packets.dropped), (0, 0));
        assert!(
            measured >= least - 1e-4 && measured < 1.01 * least,
            "{dst}: {measured} {least}"
        );
    }
}

/// Under full load the counter grows by 1 - 1/(1 + s) of each packet's 4160 bytes, and marking
/// starts above 2% of the size: not before packet 2262 for 5% and 22,400,516 bytes.
#[test]
fn phantom_queue_marks_above_its_threshold() {
    let queue = "switch.uno_phantom_queue={}";
    let marks = |packets: u64, settings: &[&str]| {
        let flow = format!("{{ src = 0, dst = 1, size = \"{}B\" }}", packets * 4096);
        let settings = Vec::from_iter([queue].iter().chain(settings).copied());
        run(&scenario(&flow, &settings), 1).marks
    };
    assert_eq!(marks(2250, &[]), 0);
    let lower = "switch.uno_phantom_queue.low=1%";
    assert_eq!(marks(1120, &[lower]), 0);
    assert!(marks(4000, &[lower]) > 0);
    // With HULL's phantom queue in series as well, marks add up.
    let both = "switch.phantom_queue={drain=\"95%\",threshold=\"6KB\"}";
    assert!(marks(2250, &[both]) > 0);
}

#[test]
fn phantom_queue_is_sized_by_the_longest_round_trip() {
    let size = |settings: &[&str]| {
        let one = scenario("{ src = 0, dst = 1 }", settings);
        one.switch
            .uno_phantom_queue
            .and_then(|queue| queue.size)
            .map(|size| size.0)
    };
    assert_eq!(size(&["switch.uno_phantom_queue={}"]), Some(22_400_516));
    let fast = [
        "switch.uno_phantom_queue={}",
        "host.rate=400Gbps",
        "switch.rate=400Gbps",
    ];
    // Transmission is shorter: 2 x 894.5 us and 9 x 84.48 ns at 400 Gbps.
    assert_eq!(size(&fast), Some(89_488_016));
}

#[test]
fn invalid_settings_are_rejected() {
    let flow = "{ src = 0, dst = 1 }";
    for (setting, told) in [
        (
            "topology.two_datacentres.border_rate=400Gbps",
            "topology.two_datacentres.border_rate: \"400Gbps\" is invalid; expected at most \"100Gbps\"",
        ),
        (
            "topology.two_datacentres.k=7",
            "topology.two_datacentres.k: 7 is invalid; expected an even number",
        ),
        (
            "topology.two_datacentres.border_links=0",
            "topology.two_datacentres.border_links: 0 is invalid; expected 1 to 1024",
        ),
        (
            "switch.uno_phantom_queue={low=\"60%\",high=\"60%\"}",
            "switch.uno_phantom_queue.high: \"60%\" is invalid; expected more than low",
        ),
        (
            "switch.uno_phantom_queue={slowdown=\"2.5%\"}",
            "switch.uno_phantom_queue.slowdown: \"2.5%\" is invalid; expected a whole percentage",
        ),
        (
            "transport.message={load_balancing=\"subflows\",subflows=9,paths=8}",
            "transport.message.subflows: 9 is invalid; expected 1 to 8, as paths",
        ),
        (
            "transport.message.unocc={gain=\"0%\"}",
            "transport.message.unocc.gain: \"0%\" is invalid; expected more than 0%",
        ),
        (
            "transport.message.initial_window=9",
            "no such key with unocc",
        ),
        (
            "transport.ecn=false",
            "true with transport.congestion_control = \"unocc\"",
        ),
    ] {
        let error = try_scenario(flow, &[setting]).expect_err(setting);
        assert!(error.contains(told), "{error}");
    }
    let nscc = [
        "transport.congestion_control=nscc",
        "transport.message.unocc={k=4}",
    ];
    let error = try_scenario(flow, &nscc).expect_err("parameters of another control");
    assert!(error.contains("transport.message.unocc"), "{error}");
}

/// With slow links from one aggregation switch to the cores, a single-path flow across them is
/// slow. Flows of ten subflows, which replace silent ones, avoid this. PLB flows leave after
/// congested round trips.
#[test]
fn subflows_and_plb_leave_a_slow_link() {
    let flows: Vec<String> = (0..4)
        .map(|host| format!("{{ src = {host}, dst = {}, size = \"4MB\" }}", 112 + host))
        .collect();
    let slow: Vec<String> = (0..4)
        .map(|core| format!("{{link=\"agg0_0->core{core}\",rate=\"1Gbps\"}}"))
        .collect();
    let links = format!("topology.links=[{}]", slow.join(","));
    let slowest_us = |balancing: &str, seed| {
        let balancing = format!("transport.message.load_balancing={balancing}");
        let settings = [&links, &balancing, "switch.buffer=200KB", "run.duration=1s"];
        let settings = [
            &settings[..],
            &["switch.marking={threshold=\"20KB\",max_threshold=\"160KB\",on=\"sent\"}"],
        ]
        .concat();
        let outcome = run(&scenario(&flows.join(","), &settings), seed);
        *acked_us(&outcome).last().expect("four flows")
    };
    let of_seeds = |balancing| {
        (1..=4)
            .map(|seed| slowest_us(balancing, seed))
            .fold(0.0, f64::max)
    };
    let (one, subflows, plb) = (of_seeds("ecmp"), of_seeds("subflows"), of_seeds("plb"));
    assert!(subflows < 0.5 * one, "{subflows} {one}");
    assert!(plb < 0.5 * one, "{plb} {one}");
}

/// Any eight packets of a group of ten suffice: under random loss, groups with at most two losses
/// repair themselves, and the receiver requests the others before the sender's timeout. The share
/// of groups with three or more losses is binomial.
#[test]
fn groups_repair_losses() {
    let (groups, loss) = (3000_u64, 0.05_f64);
    let flow = format!("{{ src = 0, dst = 1, size = \"{}B\" }}", groups * 8 * 4096);
    let settings = [
        "switch.loss=5%",
        "transport.message.erasure={wait=\"20us\"}",
        "transport.message.timeout=10ms",
        "run.duration=1s",
    ];
    let outcome = run(&scenario(&flow, &settings), 1);
    let counts = outcome.counts;
    assert_eq!(counts.first_sends, 10 * groups);
    let kept = 1.0 - loss;
    let enough: f64 = [(1.0, 0), (10.0, 1), (45.0, 2)]
        .iter()
        .map(|&(ways, lost)| ways * loss.powi(lost) * kept.powi(10 - lost))
        .sum();
    // A twentieth of the requests is lost too; only then must a timeout repair the group.
    assert!(counts.timeouts < 20, "{}", counts.timeouts);
    let expected = groups as f64 * (1.0 - enough);
    let found = counts.nacks as f64;
    assert!(
        (found - expected).abs() < 4.0 * expected.sqrt(),
        "{found} {expected}"
    );
}

#[test]
fn erasure_groups_cannot_be_empty() {
    for (name, told) in [("data", "1 to 63 packets"), ("parity", "1 to 63 packets")] {
        let setting = format!("transport.message.erasure={{{name}=0}}");
        let error = try_scenario("{ src = 0, dst = 1 }", &[&setting]).expect_err("nothing");
        let key = format!("transport.message.erasure.{name}: 0 is invalid; expected {told}");
        assert!(error.contains(&key), "{error}");
    }
}

#[test]
fn thread_count_changes_no_byte() {
    let flows =
        "{ src = \"1-8\", dst = 240, size = \"4MB\" }, { src = 241, dst = 240, size = \"40KB\" }";
    let bytes = |threads: u32| {
        let threads_key = format!("run.threads={threads}");
        let settings = ["switch.uno_phantom_queue={}", &threads_key];
        let folder = folder(&format!("uno-{threads}"));
        let identity = Identity {
            condition: String::new(),
            scheme: "uno".to_owned(),
            seed: 1,
        };
        let one = scenario(flows, &settings);
        let one = Resolved::new(one).expect("a network");
        part::run(&one, None, identity, Some(&folder), &Control::default()).expect("runs");
        std::fs::read(folder.join("flows.parquet")).expect("written by the run")
    };
    assert!(bytes(1) == bytes(2));
}
