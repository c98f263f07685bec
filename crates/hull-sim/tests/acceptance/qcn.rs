//! QCN against the thesis's chapter 5: the delay of feedback (to the ps of the links), the rates on
//! the wire against the reaction point's rate, the queue near Q_eq with ten sources and a short
//! delay (the thesis's figure 5.6 (a), to 20%) and full throughput, averaging against no averaging
//! at a longer delay; and flows of all sizes complete over buffers that lose packets.

use std::fs::File;

use hull_sim::scenario::{Scenario, expand};
use hull_sim::simulation::{self, Control, Outcome};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use super::queue_series::{folder, queue_series};
use super::star::{assert_near, run};

const BASE: &str = r#"
name = "qcn"
[run]
duration = "60ms"
warmup = "20ms"
[topology.dumbbell]
pairs = 10
bottleneck_rate = "10Gbps"
bottleneck_delay = "0s"
rtts = ["50us"]
[host]
rate = "10Gbps"
delay = "0s"
[switch]
rate = "40Gbps"
delay = "0s"
qcn.equilibrium = "33KB"
[transport]
congestion_control = "qcn"
ack_every = 1
max_window = 5000
receive_window = 5000
qcn.initial_rate = "1Gbps"
[measure]
sample_interval = "10us"
"#;

const LASTING: &str = "[[workload.long_lived.flows]]\nsrc = \"0-9\"\ndst = 10\n";

fn scenario(workload: &str, settings: &[&str]) -> Scenario {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    match expand(&format!("{BASE}{workload}"), "test.toml", &settings) {
        Ok(cells) => Scenario::clone(&cells[0].scenario),
        Err(error) => panic!("{error}"),
    }
}

fn outcome(settings: &[&str]) -> Outcome {
    run(&scenario(LASTING, settings), 1)
}

/// Time (ps), rate (bit/s) and delivered bytes of flow 0.
fn rates(settings: &[&str], name: &str) -> Vec<(i64, i64, i64)> {
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
    let path = folder.join("series.parquet");
    let file = File::open(path).expect("just written");
    let reader = SerializedFileReader::new(file).expect("a Parquet file");
    let mut found = Vec::new();
    for row in reader.get_row_iter(None).expect("rows") {
        let row = row.expect("a row");
        let value = |name: &str| match row.get_column_iter().find(|column| column.0 == name) {
            Some((_, &Field::Long(value))) => value,
            other => panic!("{name}: {other:?}"),
        };
        if value("flow") == 0 {
            found.push((
                value("time_ps"),
                value("rate_bps"),
                value("delivered_bytes"),
            ));
        }
    }
    found
}

/// One source at 10 Gbps into 1 Gbps, each packet sampled, Q_eq = 0. Packet n leaves at 1.2 n us
/// and is at the switch 1.2 + 20 us later. Packets 0 and 1 find none waiting, packet 2 finds packet
/// 1 and its change: 1 + 2 packets, three steps. They are back after 64 bytes at 40 Gbps and 20 us.
#[test]
fn feedback_travels_the_reverse_path() {
    let settings = [
        "topology.dumbbell={pairs=10,bottleneck_rate=\"1Gbps\",bottleneck_delay=\"0s\",rtts=[\"40us\"]}",
        "workload.long_lived.flows=[{src=0,dst=10}]",
        "run.duration=100us",
        "run.warmup=0s",
        "transport.qcn.initial_rate=10Gbps",
        "switch.qcn={equilibrium=\"0B\",sampling=\"100%\"}",
        "measure.flows={count=1,interval=\"1us\"}",
    ];
    let back_ps = 2 * 1_200_000 + 1_200_000 + 20_000_000 + 12_800 + 20_000_000;
    let series = rates(&settings, "qcn-feedback");
    let first = series.iter().find(|row| row.1 != 10_000_000_000);
    let &(at_ps, rate_bps, _) = first.expect("feedback comes");
    assert!(
        (0..=1_000_000).contains(&(at_ps - back_ps)),
        "{at_ps} {back_ps}"
    );
    assert_eq!(rate_bps, 10_000_000_000 * 125 / 128);
}

/// Alone on an underused link, a flow's rate grows by 5 Mbps in each cycle of 150 KB, and its
/// packets arrive at that rate.
#[test]
fn packet_count_matches_the_rate() {
    let settings = [
        "workload.long_lived.flows=[{src=0,dst=10}]",
        "transport.congestion_control=qcn-aimd",
        "measure.flows={count=1,interval=\"1ms\"}",
    ];
    let series = rates(&settings, "qcn-rate");
    for rows in series[1..].windows(2) {
        let wire_bits = (rows[1].2 - rows[0].2) as f64 / 1460.0 * 1500.0 * 8.0;
        let rate = (rows[0].1 + rows[1].1) as f64 / 2.0;
        assert!(
            (wire_bits / 1e-3 / rate - 1.0).abs() < 0.02,
            "{wire_bits} {rate}"
        );
        let cycles = wire_bits / 8.0 / 150e3;
        let growth = (rows[1].1 - rows[0].1) as f64;
        assert!((growth / 5e6 - cycles).abs() < 1.1, "{growth} {cycles}");
    }
}

/// Mean queue, packets, and the share of samples that find it empty.
fn queue(outcome: &Outcome, name: &str) -> (f64, f64) {
    let series = queue_series(outcome, name);
    let count = series.len() as f64;
    let mean = series.iter().map(|sample| sample.1).sum::<f64>() / count;
    let empty = series.iter().filter(|sample| sample.1 == 0.0).count() as f64;
    (mean / 1500.0, empty / count)
}

#[test]
fn the_queue_stays_near_its_equilibrium() {
    for control in ["qcn", "qcn-aimd"] {
        let control = format!("transport.congestion_control={control}");
        for sampling in ["sampling=\"1%\"", "interval=\"150KB\""] {
            let outcome = outcome(&[&control, &format!("switch.qcn={{{sampling}}}")]);
            let (mean, empty) = queue(&outcome, "qcn-queue");
            assert_near("queue, packets", mean, 22.0, 0.2);
            assert!(empty < 0.001, "{empty}");
            assert_near("throughput", outcome.throughput.utilization, 1.0, 0.001);
        }
    }
}

/// Theorem 5.3 and the opposite case of theorem 5.1: at 250 us QCN's queue is empty less often than
/// QCN-AIMD's, at 50 us never, at 700 us often.
#[test]
fn averaging_and_short_delays_stabilise() {
    let empty = |control: &str, rtt: &str| {
        let control = format!("transport.congestion_control={control}");
        let rtts = format!("topology.dumbbell.rtts=[\"{rtt}\"]");
        let settings = [control.as_str(), &rtts, "switch.qcn.interval=150KB"];
        queue(&outcome(&settings), "qcn-stability").1
    };
    assert!(empty("qcn", "250us") < 0.5 * empty("qcn-aimd", "250us"));
    assert!(empty("qcn", "50us") == 0.0);
    assert!(empty("qcn", "700us") > 0.05);
}

/// Sources that start at the line rate overrun small buffers; lost packets are retransmitted, and
/// all flows complete. Two runs with the same seed agree.
#[test]
fn finite_flows_complete() {
    let settings = [
        "run.duration=20ms",
        "run.warmup=0s",
        "run.drain=2s",
        "switch.buffer=50pkts",
        "transport.qcn={timer=\"1ms\",extra_fast_recovery=true}",
        "transport.initial_rto=10ms",
        "transport.min_rto=1ms",
        "transport.handshake=true",
    ];
    let workload = "[workload.flows]\nflows_per_second = 20000.0\ncount = 300\nsizes = { csv = \"websearch\" }\n";
    let outcomes = [1, 1].map(|seed| run(&scenario(workload, &settings), seed));
    let [first, second] = &outcomes;
    assert_eq!(first.flows.rows().len(), 300);
    // The last acknowledgments are still in flight.
    assert!(first.packets.in_flight < 5);
    assert!(first.packets.dropped > 0);
    assert!(first.counts.retransmissions > 0);
    assert_eq!(
        (first.events, first.simulated_ps),
        (second.events, second.simulated_ps)
    );
    assert_eq!(first.packets.sent, second.packets.sent);
}

#[test]
fn impossible_combinations_name_their_key() {
    for (settings, words) in [
        (
            &["transport.congestion_control=dctcp", "transport.ecn=true"][..],
            &["switch.qcn", "\"dctcp\"", "\"qcn\" or \"qcn-aimd\""][..],
        ),
        (&["transport.ecn=true"], &["transport.ecn", "\"qcn\""]),
        (&["pacer.token_tick=\"16us\""], &["pacer", "\"qcn\""]),
        (&["host.offload=64KB"], &["host.offload", "\"qcn\""]),
        (
            &["topology.failures=[{link=\"left--right\",at=\"1ms\"}]"],
            &["topology.failures", "\"qcn\""],
        ),
        (
            &["transport.qcn.initial_rate=20Gbps"],
            &[
                "transport.qcn.initial_rate",
                "\"20Gbps\"",
                "host.rate, \"10Gbps\"",
            ],
        ),
        (
            &["transport.qcn.min_rate=10kbps"],
            &["transport.qcn.min_rate", "1Mbps to host.rate"],
        ),
        (
            &["switch.qcn.sampling=0%"],
            &["switch.qcn.sampling", "above 0 and at most 1"],
        ),
        (&["switch.qcn.step=0B"], &["switch.qcn.step", "1B to 1GB"]),
        (
            &["transport.qcn.timer=1ns"],
            &["transport.qcn.timer", "1us to 1s"],
        ),
        (
            &["transport.qcn.cycle=0B"],
            &["transport.qcn.cycle", "1B to 1GB"],
        ),
        (
            &["transport.qcn.decrease=200%"],
            &["transport.qcn.decrease", "at most 1"],
        ),
        (
            &["switch.qcn.gain=2"],
            &["switch.qcn.gain", "no such key", "weight"],
        ),
    ] {
        let settings: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
        let message = match expand(&format!("{BASE}{LASTING}"), "my.toml", &settings) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("accepted, but invalid: {settings:?}"),
        };
        for word in words {
            assert!(
                message.contains(word),
                "\"{word}\" is missing from: {message}"
            );
        }
    }
    let without = BASE.replace("qcn.equilibrium = \"33KB\"\n", "");
    let message = match expand(&format!("{without}{LASTING}"), "my.toml", &[]) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("accepted without a congestion point"),
    };
    assert!(
        message.contains(
            "18:22: switch.qcn: missing, transport.congestion_control = \"qcn\" requires it"
        ),
        "{message}"
    );
}
