//! QCN with few rate limiters that flows share: who waits for whom by hand, the common rate and feedback
//! of a limiter, and as many limiters as flows against a limiter of each flow's own.

use hull_sim::scenario::{Scenario, expand};
use hull_sim::simulation::{self, Control, Outcome};

use super::queue_series::{folder, table};
use super::star::{assert_near, run};

/// Host 0 sends to host 1, where host 3 sends too, and to host 2, which is otherwise idle.
const BASE: &str = r#"
name = "qcn-limiters"
[run]
duration = "60ms"
warmup = "0s"
[topology.star]
hosts = 4
[host]
queue = "fifo"
rate = "10Gbps"
delay = "5us"
[switch]
rate = "10Gbps"
delay = "5us"
qcn.equilibrium = "33KB"
[transport]
congestion_control = "qcn"
ack_every = 1
max_window = 2000
receive_window = 2000
[measure.flows]
count = 3
interval = "1ms"
"#;

const LASTING: &str = "[workload.long_lived]\n\
    flows = [{ src = 0, dst = 1 }, { src = 0, dst = 2 }, { src = 3, dst = 1 }]\n";

fn scenario(workload: &str, settings: &[&str]) -> Scenario {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    match expand(&format!("{BASE}{workload}"), "test.toml", &settings) {
        Ok(cells) => Scenario::clone(&cells[0].scenario),
        Err(error) => panic!("{error}"),
    }
}

/// Time (ps), number of the flow, rate (bit/s) and delivered bytes, of each flow and ms.
fn readings(settings: &[&str], name: &str) -> Vec<[f64; 4]> {
    let folder = folder(name);
    let simulation = match simulation::build(&scenario(LASTING, settings), 1, Some(&folder)) {
        Ok(simulation) => simulation,
        Err(problem) => panic!("{problem:?}"),
    };
    let mut outcome = match simulation.run(&Control::default()) {
        Ok(outcome) => outcome,
        Err(failure) => panic!("{failure:?}"),
    };
    outcome.logs.close().expect("written");
    let columns = ["time_ps", "flow", "rate_bps", "delivered_bytes"];
    table(&folder.join("series.parquet"), columns)
}

/// The readings of one flow.
fn of_flow(readings: &[[f64; 4]], flow: f64) -> Vec<[f64; 4]> {
    let rows = readings.iter().filter(|row| row[1] == flow);
    rows.copied().collect()
}

/// With one limiter the flow to the idle host has the rate of the flow to the congested one: both read
/// the same rate, each sends half of it, and what its own port would carry is left. By hand, the
/// congested port carries 10 Gbps of both hosts, 1460 of each 1500 bytes payload; at most its queue and
/// a few packets lie between the deliveries of the two flows.
#[test]
fn flows_of_a_limiter_share_its_rate_and_feedback() {
    let readings = readings(&["transport.qcn.rate_limiters=1"], "qcn-shared");
    let [congested, other, rival] = [0.0, 1.0, 2.0].map(|flow| of_flow(&readings, flow));
    let rates = |rows: &[[f64; 4]]| rows.iter().map(|row| row[2]).collect::<Vec<f64>>();
    assert_eq!(rates(&congested), rates(&other));
    assert_ne!(rates(&congested), rates(&rival));
    let last = |rows: &[[f64; 4]]| rows[rows.len() - 1][3] - rows[rows.len() / 3][3];
    let behind = last(&other) - last(&congested);
    assert!(behind.abs() < 100_000.0, "{behind}");
    let span_s = (congested[congested.len() - 1][0] - congested[congested.len() / 3][0]) * 1e-12;
    let port_bytes = 10e9 / 8.0 * span_s * 1460.0 / 1500.0;
    assert_near("port", last(&congested) + last(&rival), port_bytes, 0.01);
    let common = &rates(&congested)[congested.len() / 3..];
    let mean_bps = common.iter().sum::<f64>() / common.len() as f64;
    let sent_bytes = mean_bps / 8.0 * span_s * 1460.0 / 1500.0;
    assert_near("limiter", last(&congested) + last(&other), sent_bytes, 0.05);
    assert!(mean_bps < 9.5e9, "{mean_bps}");
}

/// The flow to the idle host alone keeps the rate of its link, with any number of limiters.
#[test]
fn a_limiter_without_congestion_keeps_the_line_rate() {
    let alone = "workload.long_lived.flows=[{src=0,dst=2}]";
    for limiters in ["1", "16"] {
        let limiters = format!("transport.qcn.rate_limiters={limiters}");
        let readings = readings(&[alone, &limiters], "qcn-alone");
        assert!(readings.len() > 50);
        assert!(readings.iter().all(|row| row[2] == 10e9));
    }
}

const FINITE: &str = "[workload.flows]\nflows_per_second = 20000.0\ncount = 300\n\
    sizes = { csv = \"websearch\" }\n";

/// Flows of all sizes over a buffer that loses packets.
fn finite(limiters: Option<u32>) -> Outcome {
    let mut settings = vec![
        "run.duration=20ms".to_owned(),
        "run.drain=5s".to_owned(),
        "switch.buffer=50pkts".to_owned(),
        "transport.qcn.timer=1ms".to_owned(),
        "transport.initial_rto=10ms".to_owned(),
        "transport.min_rto=1ms".to_owned(),
        "transport.handshake=true".to_owned(),
    ];
    settings.extend(limiters.map(|number| format!("transport.qcn.rate_limiters={number}")));
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    run(&scenario(FINITE, &settings), 1)
}

/// With more limiters than any two flows at a time collide on, each flow has one: the same packets, and
/// the same ends of flows, as with a limiter of its own.
#[test]
fn many_limiters_are_one_for_each_flow() {
    let [own, many] = [None, Some(4096)].map(finite);
    assert_eq!(many.flows.rows(), own.flows.rows());
    assert_eq!(many.packets, own.packets);
    assert_eq!(many.counts.retransmissions, own.counts.retransmissions);
    assert_eq!(many.simulated_ps, own.simulated_ps);
}

/// Every flow completes with few limiters, which change the ends of some; the run fails by itself if
/// packets are not conserved.
#[test]
fn flows_complete_with_few_limiters() {
    let own = finite(None);
    for limiters in [1, 2, 8] {
        let outcome = finite(Some(limiters));
        assert_eq!(outcome.flows.rows().len(), 300);
        assert!(outcome.packets.in_flight < 5);
        assert_ne!(outcome.flows.rows(), own.flows.rows());
    }
}

#[test]
fn the_number_of_limiters_has_bounds() {
    for limiters in ["0", "4097"] {
        let setting = format!("transport.qcn.rate_limiters={limiters}");
        let message = match expand(&format!("{BASE}{LASTING}"), "my.toml", &[setting]) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("accepted: {limiters}"),
        };
        for word in ["transport.qcn.rate_limiters", limiters, "1 to 4096"] {
            assert!(message.contains(word), "{word} is missing: {message}");
        }
    }
}
