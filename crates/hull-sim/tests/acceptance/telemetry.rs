//! Telemetry in the whole simulator, counted by hand: queue, sent bytes, time and rate of each record on
//! a path of known rates, on both transports and both kinds of port; what a port says it has sent is
//! what its link has carried; bytes on the wire; nothing is left over at the end; bad settings.

use std::sync::{Arc, Mutex};

use hull_sim::memory::Estimate;
use hull_sim::network::{HopRecord, InBand};
use hull_sim::scenario::{self, ExternalControls, Resolved, Scenario};
use hull_sim::simulation::{self, Control, Outcome};
use hull_sim::transport::{CongestionControl, External, Feedback, Window};

/// Two senders, two receivers: 10 Gbps to the left switch, 1 Gbps to the right one, 10 Gbps to the
/// receivers. Links delay nothing but the one in the middle: 10 us.
const BASE: &str = r#"
name = "telemetry"
[run]
duration = "400us"
[topology.dumbbell]
pairs = 2
bottleneck_rate = "1Gbps"
bottleneck_delay = "10us"
[host]
queue = "fifo"
rate = "10Gbps"
delay = "0s"
[switch]
rate = "10Gbps"
delay = "0s"
telemetry = {}
[transport]
congestion_control = "reads"
ack_every = 1
initial_window = 4
max_window = 4
receive_window = 4
"#;
const ENDLESS: &str = "[[workload.long_lived.flows]]\nsrc = 0\ndst = 2\n";
/// 100 packets from each sender.
const FINITE: &str = "[[workload.long_lived.flows]]\nsrc = \"0-1\"\n\
     dst = \"2-3\"\nsize = \"146000B\"\n";

const US_PS: u64 = 1_000_000;

/// What one acknowledgment told.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    now_ps: u64,
    acked: u64,
    hops: Vec<HopRecord>,
}

/// A control with a constant window that keeps what it is told.
#[derive(Debug)]
struct Reads {
    told: Arc<Mutex<Vec<Told>>>,
    asks: bool,
}

impl CongestionControl for Reads {
    fn on_ack(&mut self, _window: &mut Window, ack: &Feedback<'_>) -> bool {
        self.told.lock().expect("whole").push(Told {
            now_ps: ack.now_ps,
            acked: ack.acked,
            hops: ack.telemetry().to_vec(),
        });
        false
    }

    fn ask(&self, _srtt_ps: u64) -> InBand {
        match self.asks {
            true => InBand::Telemetry,
            false => InBand::Nothing,
        }
    }
}

impl External for Reads {
    fn fresh(&self) -> Box<dyn External> {
        Box::new(Reads {
            told: self.told.clone(),
            asks: self.asks,
        })
    }
}

/// The scenario with a workload and settings.
fn expanded(flows: &str, settings: &[&str]) -> Result<Scenario, String> {
    let text = format!("{BASE}{flows}");
    let settings = Vec::from_iter(settings.iter().map(|&setting| setting.to_owned()));
    let own = ExternalControls::from_iter([("reads".to_owned(), "0".repeat(64))]);
    let verify = |_: &Resolved| Ok(Estimate::default());
    match scenario::expand_verified(&text, "test.toml", &settings, &own, &verify) {
        Ok(cells) => Ok(Scenario::clone(&cells[0].scenario)),
        Err(error) => Err(error.to_string()),
    }
}

/// Runs the scenario. Returns the result and what acknowledgments told, or the first mistake.
fn attempt(flows: &str, settings: &[&str], asks: bool) -> Result<(Outcome, Vec<Told>), String> {
    let scenario = expanded(flows, settings)?;
    let reads = Reads {
        told: Arc::default(),
        asks,
    };
    let resolved = Resolved::new(scenario).map_err(|problem| problem.to_string())?;
    let simulation = simulation::build_with_external(&resolved, Some(&reads), 1, None);
    let simulation = simulation.map_err(|problem| problem.to_string())?;
    let outcome = simulation.run(&Control::default());
    let outcome = outcome.unwrap_or_else(|failure| panic!("{failure:?}"));
    let told = reads.told.lock().expect("whole").clone();
    Ok((outcome, told))
}

fn run(flows: &str, settings: &[&str]) -> (Outcome, Vec<Told>) {
    attempt(flows, settings, true).unwrap_or_else(|told| panic!("{told}"))
}

/// Settings of each transport at each kind of port.
fn kinds() -> [Vec<&'static str>; 4] {
    let messages = [
        "transport.messages=true",
        "transport.message.initial_window=4",
        "transport.message.ack_bytes=1B",
        "transport.message.paths=1",
    ];
    let queued = ["switch.priorities=2"];
    [
        Vec::new(),
        queued.to_vec(),
        messages.to_vec(),
        [&messages[..], &queued].concat(),
    ]
}

/// Bytes and packets of a link.
fn carried(outcome: &Outcome, from: &str, to: &str) -> (u64, u64) {
    let mut links = outcome.links.iter();
    let link = links.find(|link| link.from == from && link.to == to);
    let link = link.unwrap_or_else(|| panic!("{:?}", outcome.links));
    (link.bytes, link.packets)
}

/// A window of four packets of 1500 bytes. Packet k leaves the left switch, at 1 Gbps, 12 us after the
/// one before. The first four have arrived within 4.8 us; from then on the acknowledgment of packet
/// k lets packet k + 4 arrive just before the packet ahead of it leaves. The right switch, at 10 Gbps,
/// gets packet k 12 us + 10 us later and has no queue. The acknowledgment comes 1.2 us later, and takes
/// 0.032 us, 10.32 us and 0.032 us. With records of 50 bytes, packets have 1550 bytes on the second
/// link and 1600 on the third, and acknowledgments 140.
#[test]
fn records_are_those_counted_by_hand() {
    let memory = "switch.memory.size=1MB";
    for record in [0, 50] {
        let (second, third, ack) = (1500 + record, 1500 + 2 * record, 40 + 2 * record);
        let us_at_1g = |bytes: u64| bytes * 8 * US_PS / 1000;
        let of_record = format!("switch.telemetry.record={record}B");
        for settings in kinds() {
            for memory in [None, Some(memory)] {
                let settings =
                    [settings.clone(), vec![&*of_record], Vec::from_iter(memory)].concat();
                let (outcome, told) = run(ENDLESS, &settings);
                assert!((25..40).contains(&told.len()), "{}", told.len());
                let start_ps = told[0].hops[0].at_ps;
                for (k, one) in (0..).zip(&told) {
                    let left = HopRecord {
                        queue_bytes: second * [0, 2, 1].get(k as usize).unwrap_or(&1),
                        sent_bytes: second * k,
                        at_ps: start_ps + k * us_at_1g(second),
                        link_bps: 1_000_000_000,
                    };
                    let right = HopRecord {
                        queue_bytes: 0,
                        sent_bytes: third * k,
                        at_ps: left.at_ps + us_at_1g(second) + 10 * US_PS,
                        link_bps: 10_000_000_000,
                    };
                    assert_eq!(one.hops, [left, right], "{settings:?} {k}");
                    let way_ps = us_at_1g(third) / 10 + 10 * US_PS + us_at_1g(ack) * 12 / 10;
                    assert_eq!(one.now_ps, right.at_ps + way_ps, "{settings:?} {k}");
                    let header = if settings.len() > 3 { 0 } else { 40 };
                    assert_eq!(one.acked, 1500 - header, "{settings:?} {k}");
                }
                for (from, to, bytes) in [
                    ("sender0", "left", 1500),
                    ("left", "right", second),
                    ("right", "receiver0", third),
                    ("receiver0", "right", ack),
                    ("right", "left", ack),
                ] {
                    let (all, packets) = carried(&outcome, from, to);
                    assert_eq!(all, bytes * packets, "{settings:?} {from}");
                }
            }
        }
    }
}

/// The flow of the second class gets no turn: its window of four packets waits behind each packet of the
/// first class, and counts in its records beside the packets of its own class.
#[test]
fn all_classes_count_in_the_queue() {
    let two = "[workload]\nhigh_priority_below = \"1MB\"\n[[workload.long_lived.flows]]\nsrc = 0\n\
               dst = 2\nsize = \"146000B\"\n[[workload.long_lived.flows]]\nsrc = 1\ndst = 3\n\
               size = \"5MB\"\n";
    let (_, told) = run(two, &["switch.priorities=2"]);
    assert!(told.len() > 20, "{}", told.len());
    for (k, one) in told.iter().enumerate().take(99).skip(1) {
        let own = if k == 1 { 2 } else { 1 };
        assert_eq!(one.hops[0].queue_bytes, 1500 * (own + 4), "{k}");
    }
}

/// Two flows of full packets share the link between the switches. What its port says before the last
/// packet, and that packet, is what the link has carried. Small packets go the other way only.
#[test]
fn a_port_says_what_its_link_has_carried() {
    for settings in kinds() {
        let others = ["switch.telemetry.record=8B", "run.duration=5ms"];
        let settings = [&settings[..], &others].concat();
        let (outcome, told) = run(FINITE, &settings);
        assert_eq!(outcome.packets.in_flight, 0);
        let sent = told.iter().map(|one| one.hops[0].sent_bytes).max();
        let (bytes, packets) = carried(&outcome, "left", "right");
        assert_eq!((bytes, packets), (2 * 100 * 1508, 2 * 100));
        assert_eq!(sent.expect("acknowledgments") + 1508, bytes);
        assert_eq!(outcome.options_in_flight, 0);
    }
}

/// Packets are lost at random, for lack of room and with a link, and trimmed. All data arrives in spite
/// of it, and no entry of the tables of options is left.
#[test]
fn nothing_is_left_of_lost_packets() {
    let lossy = [
        "switch.telemetry.record=8B",
        "switch.loss=1%",
        "switch.buffer=2pkts",
        "topology.failures=[{link=\"left--right\",at=\"700us\",until=\"900us\"}]",
        "transport.min_rto=1ms",
        "transport.initial_rto=1ms",
        "run.duration=5ms",
        "run.drain=1s",
    ];
    for (i, kind) in kinds().into_iter().enumerate() {
        let trims = (i > 1).then_some("switch.trimming={}");
        let settings = [&kind[..], &lossy, &Vec::from_iter(trims)].concat();
        let (outcome, told) = run(FINITE, &settings);
        assert!(outcome.packets.dropped > 5, "{:?}", outcome.packets);
        assert_eq!(outcome.counts.trims > 0, trims.is_some(), "{settings:?}");
        assert_eq!(outcome.flows.rows().len(), 2, "{settings:?}");
        assert!(told.iter().all(|one| one.hops.len() == 2));
        assert_eq!(
            (outcome.packets.in_flight, outcome.options_in_flight),
            (0, 0)
        );
    }
}

/// The same run with exact fields and with HPCC's. By hand, with hosts at 100 Gbps: units of 4 times 128
/// and 80 bytes, and nanoseconds; the run is too short for a field to wrap around.
#[test]
fn fields_of_hpcc_are_rounded_down() {
    for settings in kinds() {
        let rates = [
            "host.rate=100Gbps",
            "switch.rate=100Gbps",
            "topology.dumbbell.bottleneck_rate=25.1Gbps",
        ];
        let settings = [&settings[..], &rates].concat();
        let (_, exact) = run(ENDLESS, &settings);
        for (setting, factor) in [("", 4), (",unit_factor=1", 1)] {
            let fields = format!("switch.telemetry={{fields=\"hpcc\"{setting}}}");
            let (_, held) = run(ENDLESS, &[&settings[..], &[&fields]].concat());
            assert_eq!(held.len(), exact.len());
            for (held, exact) in held.iter().zip(&exact) {
                assert_eq!(held.now_ps, exact.now_ps);
                let expected = exact
                    .hops
                    .iter()
                    .zip([25, 100])
                    .map(|(hop, gbps)| HopRecord {
                        queue_bytes: hop.queue_bytes / (80 * factor) * 80 * factor,
                        sent_bytes: hop.sent_bytes / (128 * factor) * 128 * factor,
                        at_ps: hop.at_ps / 1000 * 1000,
                        link_bps: gbps * 1_000_000_000,
                    });
                assert_eq!(held.hops, Vec::from_iter(expected), "{settings:?}");
            }
        }
    }
}

/// Telemetry that no control reads, a reader without telemetry, and records that are too large.
#[test]
fn invalid_settings_are_rejected() {
    let told = |settings: &[&str], asks: bool| match attempt(ENDLESS, settings, asks) {
        Ok(_) => "valid".to_owned(),
        Err(told) => told,
    };
    let control = "transport.congestion_control=newreno";
    let unread = told(&[control], true);
    let expected = "switch.telemetry: found a table, and no control that reads telemetry; expected no \
                    such key, or a transport.congestion_control that reads it";
    assert!(unread.contains(expected), "{unread}");
    assert_eq!(unread.lines().count(), 1, "{unread}");
    let of_messages = [
        "transport.congestion_control=nscc",
        "transport.ecn=true",
        "switch.marking.threshold=30KB",
    ];
    assert!(told(&of_messages, true).contains(expected));
    let class = told(&[], false);
    assert!(class.starts_with(expected), "{class}");
    let scenario = expanded(ENDLESS, &[]).expect("valid");
    let without = told_without_table(scenario);
    assert_eq!(
        without,
        "switch.telemetry: missing, transport.congestion_control = \"reads\" requires it: it reads \
         telemetry; expected a table such as {}"
    );
    for (setting, expected) in [
        (
            "switch.telemetry.record=1KB",
            "switch.telemetry.record: \"1KB\" is invalid; expected at most \"187B\" with transport.mtu = \
             \"1.5KB\": 8 records are no larger than the packet and fit into 9KB with it",
        ),
        ("switch.telemetry=true", "switch.telemetry: "),
        ("switch.telemetry.hops=5", "switch.telemetry.hops"),
        (
            "switch.telemetry.fields=hpcc",
            "switch.telemetry.fields: found \"hpcc\" with a link of 1Gbps out of a switch; expected links of \
             25Gbps, 50Gbps, 100Gbps, 200Gbps, 400Gbps, 800Gbps, 1.6Tbps, 10Gbps, within 2%, or fields = \
             \"exact\"",
        ),
        (
            "switch.telemetry.unit_factor=4",
            "switch.telemetry.unit_factor: found 4; expected no such key without switch.telemetry.fields = \
             \"hpcc\"",
        ),
        (
            "switch.telemetry={fields=\"hpcc\",unit_factor=0}",
            "switch.telemetry.unit_factor: 0 is invalid; expected 1 to 1000",
        ),
        (
            "switch.telemetry={fields=\"hpcc\",record=\"1.6KB\"}",
            "switch.telemetry.record: \"1.6KB\" is invalid; expected at most \"300B\" with transport.mtu = \
             \"1.5KB\": 5 records",
        ),
    ] {
        let found = told(&[setting], true);
        assert!(found.contains(expected), "{setting}: {found}");
        assert_eq!(found.lines().count(), 1, "{found}");
    }
}

/// The message about a class that asks for telemetry of switches without it.
fn told_without_table(mut scenario: Scenario) -> String {
    scenario.switch.telemetry = None;
    let reads = Reads {
        told: Arc::default(),
        asks: true,
    };
    let resolved = Resolved::new(scenario).expect("valid");
    match simulation::build_with_external(&resolved, Some(&reads), 1, None) {
        Ok(_) => "valid".to_owned(),
        Err(problem) => problem.to_string(),
    }
}
