//! The message transport: uncontended transfers match the closed form of the reference and its
//! recorded times to the printed digit; trimmed packets arrive nevertheless; entropy values spread
//! packets over all paths. Recorded numbers and the closed form: `uet-htsim.toml`, [current] and
//! [closed_form] (Ultra Ethernet's simulator, commit 40ccb05).

use hull_sim::scenario::{self, Scenario};
use hull_sim::simulation::Outcome;
use hull_sim::workload::Acked;

use super::star::{self, run};

/// The reference's set-up: 100 Gbps, 1 us a link, packets of 4150 bytes, queues of 43 packets.
const BASE: &str = r#"
name = "messages"
[run]
duration = "1ms"
drain = "100ms"
[topology.fat_tree]
k = 4
[host]
queue = "fifo"
rate = "100Gbps"
delay = "1us"
[switch]
rate = "100Gbps"
delay = "1us"
buffer = "43pkts"
count_in_service = true
trimming = {}
marking = { threshold = "37350B", max_threshold = "145250B", on = "sent" }
[transport]
congestion_control = "nscc"
ecn = true
mtu = "4150B"
header = "64B"
"#;

fn scenario(flows: &str, settings: &[&str]) -> Scenario {
    let text = format!("{BASE}[workload.long_lived]\nflows = [{flows}]\n");
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    match scenario::expand(&text, "test.toml", &settings) {
        Ok(cells) => Scenario::clone(&cells[0].scenario),
        Err(error) => panic!("{error}"),
    }
}

/// Times at which the sender of each flow received the last acknowledgment, us, ascending.
fn finished_us(outcome: &Outcome) -> Vec<f64> {
    let times = outcome.flows.rows().iter().map(|row| match row.acked {
        Acked::After(ps) => (row.start_ps + ps) as f64 * 1e-6,
        other => panic!("{other:?}"),
    });
    let mut times = Vec::from_iter(times);
    times.sort_by(f64::total_cmp);
    times
}

/// Time of an uncontended transfer of `size` bytes from host 0 to host 15, six links away.
fn alone_us(size: u64, control: &str, paths: u32) -> f64 {
    let flow = format!("{{ src = 0, dst = 15, size = \"{size}B\" }}");
    let control = format!("transport.congestion_control={control}");
    let paths = format!("transport.message.paths={paths}");
    let outcome = run(&scenario(&flow, &[&control, &paths]), 13);
    assert_eq!(outcome.marks, 0);
    finished_us(&outcome)[0]
}

/// n packets, the last one of r bytes of payload, over 6 links of 100 Gbps and 1 us, and the last ACK back.
fn closed_form_us(size: u64) -> f64 {
    let (mss, sending_us) = (4086, |bytes: u64| bytes as f64 * 8.0 / 100_000.0);
    let last = (size - 1) % mss + 1;
    let full = (size - last) / mss;
    let data_us = full as f64 * sending_us(4150) + 6.0 * sending_us(last + 64);
    // Behind full packets, a smaller last packet waits at each link for its predecessor.
    let waits_us = if full > 0 {
        5.0 * (sending_us(4150) - sending_us(last + 64))
    } else {
        0.0
    };
    data_us + waits_us + 6.0 * sending_us(64) + 12.0
}

/// On one path: on several, a short last packet may overtake its predecessor.
#[test]
fn uncontended_transfer_matches_the_closed_form() {
    for size in [1000, 4086, 4087, 40_860, 408_600, 2_000_000] {
        let (measured, expected) = (alone_us(size, "nscc", 1), closed_form_us(size));
        assert!(
            (measured - expected).abs() < 1e-4,
            "{size}: {measured} {expected}"
        );
    }
}

#[test]
fn recorded_times_match_to_the_printed_digit() {
    for (size, control, recorded) in [
        (2_000_000, "nscc", "176.200"),
        (40_860, "nscc", "17.0107"),
        (408_600, "nscc", "46.8907"),
        (40_860, "rccc", "17.0107"),
        (408_600, "rccc", "46.8907"),
        (2_000_000, "nscc+rccc", "177.368"),
    ] {
        let digits = recorded.len() - recorded.find('.').unwrap_or(0) - 1;
        let measured = format!("{:.digits$}", alone_us(size, control, 64));
        assert_eq!(measured, recorded, "{size} bytes, {control}");
    }
}

/// Three senders to one receiver: the switch trims, no packet is lost, at nearly full rate.
#[test]
fn trimmed_packets_are_retransmitted() {
    let flow = |src| format!("{{ src = {src}, dst = 15, size = \"1MB\" }}");
    let flows: Vec<String> = [0, 4, 8].map(flow).to_vec();
    for control in ["nscc", "rccc", "nscc+rccc"] {
        let setting = format!("transport.congestion_control={control}");
        let outcome = run(&scenario(&flows.join(","), &[&setting]), 1);
        let finished = finished_us(&outcome);
        assert_eq!(
            (finished.len(), outcome.packets.dropped),
            (3, 0),
            "{control}"
        );
        assert!(outcome.counts.retransmissions > 0, "{control}");
        // 3 MB and headers take 243.8 us on the last link.
        assert!(
            finished[2] > 243.8 && finished[2] < 310.0,
            "{control}: {finished:?}"
        );
    }
}

/// The measured latency of a trimming port is its data queue's latency, not its header queue's:
/// three senders fill it.
#[test]
fn trimming_port_latency_is_that_of_data() {
    let flows = "{ src = [4, 8, 12], dst = 0, size = \"1MB\" }";
    let longest_us = run(&scenario(flows, &[]), 1).occupancy.max_us;
    // 42 packets wait, one is in service, and headers go first.
    let full_us = 43.0 * 0.332;
    assert!(
        longest_us > 0.9 * full_us && longest_us < 1.05 * full_us,
        "{longest_us} of {full_us}"
    );
}

/// Runs a flow list in this network.
fn listed(base: &str, control: &str, rows: &str) -> Outcome {
    let name = format!("hull-{}-{control}-{}.csv", std::process::id(), rows.len());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, rows).expect("a temporary file");
    let text = format!("{base}[workload]\nflows = \"{}\"\n", path.display());
    let setting = format!("transport.congestion_control={control}");
    let cells = scenario::expand(&text, "test.toml", &[setting]).expect("a good scenario");
    let outcome = run(&cells[0].scenario, 13);
    std::fs::remove_file(&path).expect("file exists");
    outcome
}

/// Ten one-packet messages on one connection take as long as one message of ten packets, with as
/// many acknowledgments and pulls (recorded: 17.0107 us, 4 ACKs, 10 packets).
#[test]
fn messages_share_a_connection() {
    let rows: String = (0..10).map(|_| "0,0,15,4086,a\n").collect();
    let rows = format!("start_ps,src,dst,bytes,reuse\n{rows}");
    let outcome = listed(BASE, "rccc", &rows);
    let finished = finished_us(&outcome);
    assert_eq!(finished.len(), 10);
    assert_eq!(format!("{:.4}", finished[9]), "17.0107");
    assert_eq!((outcome.counts.first_sends, outcome.counts.acks), (10, 4));
}

/// A flow starts when the senders of the rows that it names are done; its start counts from then,
/// with the message transport as with TCP.
#[test]
fn a_flow_starts_after_others() {
    let rows = "start_ps,src,dst,bytes,after\n3000000,0,15,40860,3 2\n0,0,15,40860,\n\
                0,1,14,408600,\n0,15,0,40860,1\n";
    let without_trimming = BASE
        .replace("trimming = {}\n", "")
        .replace("\"sent\"", "\"dequeue\"");
    for (control, base) in [("nscc", BASE), ("dctcp", &without_trimming)] {
        let outcome = listed(base, control, rows);
        let mut flows = Vec::from_iter(outcome.flows.rows());
        flows.sort_by_key(|row| row.start_ps);
        let acked_ps = |row: &hull_sim::workload::FlowRecord| match row.acked {
            Acked::After(ps) => row.start_ps + ps,
            other => panic!("{other:?}"),
        };
        let (first, second) = (acked_ps(flows[0]), acked_ps(flows[1]));
        assert_eq!(
            flows[2].start_ps,
            first.max(second) + 3_000_000,
            "{control}"
        );
        assert_eq!(flows[3].start_ps, acked_ps(flows[2]), "{control}");
        assert_eq!((flows[2].src, flows[3].src), (0, 15), "{control}");
    }
}

/// Sequential flows to one host: a reused slot inherits no credit from the previous flow.
#[test]
fn new_connection_starts_with_its_own_credit() {
    let rows: String = (0..12)
        .map(|row| match row {
            0 => "0,0,15,408600,\n".to_owned(),
            _ => format!("30000000,{},15,408600,{row}\n", row % 4),
        })
        .collect();
    let rows = format!("start_ps,src,dst,bytes,after\n{rows}");
    let outcome = listed(BASE, "rccc", &rows);
    for row in outcome.flows.rows() {
        let Acked::After(ps) = row.acked else {
            panic!("{row:?}");
        };
        assert_eq!(format!("{:.4}", ps as f64 * 1e-6), "46.8907", "{row:?}");
    }
    assert_eq!(outcome.flows.rows().len(), 12);
}

/// Invalid settings are rejected with the key, the value and the expected form.
#[test]
fn invalid_settings_are_rejected() {
    let with = |setting: &str| format!("transport.message={{{setting}}}");
    for (settings, parts) in [
        (
            vec![with("paths=100")],
            ["transport.message.paths", "100", "a power of two"],
        ),
        (
            vec![with("paths=0,load_balancing=\"reps\"")],
            ["transport.message.paths", "0", "1 to 4096"],
        ),
        (
            vec![with("round_trip=\"1ns\"")],
            ["transport.message.round_trip", "\"1ns\"", "100ns to 10s"],
        ),
        (
            vec![with("timeout=\"20s\"")],
            ["transport.message.timeout", "\"20s\"", "100ns to 10s"],
        ),
        (
            vec!["transport.congestion_control=dctcp".to_owned()],
            [
                "switch.trimming",
                "a table",
                "no transport of the scenario understands",
            ],
        ),
        (
            vec!["transport.ecn=false".to_owned()],
            [
                "transport.ecn",
                "false",
                "true with transport.congestion_control",
            ],
        ),
        (
            vec!["switch.buffer=unlimited".to_owned()],
            [
                "switch.buffer",
                "\"unlimited\"",
                "a limit with switch.trimming",
            ],
        ),
        (
            vec!["switch.marking.max_threshold=10KB".to_owned()],
            [
                "switch.marking.max_threshold",
                "\"10KB\"",
                "more than threshold",
            ],
        ),
    ] {
        let text = format!("{BASE}[workload.long_lived]\nflows = [{{ src = 0, dst = 1 }}]\n");
        let error = scenario::expand(&text, "test.toml", &settings)
            .expect_err("bad")
            .to_string();
        for part in parts {
            assert!(error.contains(part), "{settings:?}: {error}");
        }
    }
}

/// A connection whose turn at its NIC is pending keeps its slot, even with nothing left to send:
/// the next connection there, of another host, would send from the first's NIC. So no flow is
/// faster than its link.
#[test]
fn each_host_sends_its_own_packets() {
    let settings = [
        "workload={flows={flows_per_second=8000.0,sizes={pareto={shape=1.3,mean=\"112KB\",cut=\"1MB\"}}}}",
        "run={duration=\"3ms\",drain=\"20ms\"}",
        "host={queue=\"fifo\",rate=\"300Mbps\",delay=\"38us\"}",
        "switch={rate=\"1Gbps\",delay=\"1us\",buffer=\"164KB\"}",
        "transport={congestion_control=\"nscc\",ecn=true,mtu=\"9000B\"}",
        "transport.message={paths=1,load_balancing=\"oblivious\",initial_window=21,timeout=\"1ms\"}",
    ];
    let scenario = scenario("", &settings);
    let mut flows = 0;
    for seed in 0..10 {
        let outcome = run(&scenario, seed);
        for row in outcome.flows.rows() {
            assert!(row.slowdown() >= Some(1.0), "seed {seed}: {row:?}");
            flows += 1;
        }
    }
    assert!(flows > 100, "{flows}");
}

/// Receivers pull at the rate of their own link, and timeouts suit it: four senders at 100 Gbps need at
/// least the time of their packets on the receiver's link, and little more.
#[test]
fn a_slow_receiver_pulls_at_the_rate_of_its_own_link() {
    let flows = r#"{ src = "1-4", dst = 0, size = "1MB" }"#;
    // With a window of its own a sender may leave credit unused.
    for (rate_bps, control, share) in [
        (10_000_000_000_u64, "rccc", 1.1),
        (10_000_000_000, "nscc+rccc", 1.3),
        (1_000_000_000, "rccc", 1.1),
        (1_000_000_000, "nscc+rccc", 1.3),
    ] {
        let settings = [
            format!(
                "topology={{star={{hosts=5}},links=[{{link=\"h0--switch\",rate=\"{rate_bps}bps\"}}]}}"
            ),
            "host.delay=500ns".to_owned(),
            "switch.delay=500ns".to_owned(),
            "switch.buffer=100pkts".to_owned(),
            format!("transport.congestion_control={control}"),
            "transport.mtu=1500B".to_owned(),
            "run.drain=400ms".to_owned(),
        ];
        let settings = settings.each_ref().map(String::as_str);
        let outcome = run(&scenario(flows, &settings), 1);
        let times = finished_us(&outcome);
        let least_us = 4.0 * (1e6 + 697.0 * 64.0) * 8e6 / rate_bps as f64;
        assert_eq!(times.len(), 4, "{rate_bps} {control}");
        let told = format!("{rate_bps} {control}: {times:?} {least_us}");
        assert!((least_us..share * least_us).contains(&times[3]), "{told}");
        assert!(
            outcome.counts.retransmissions < 4 * 697 / 3,
            "{told} {:?}",
            outcome.counts
        );
    }
}

/// A sender whose link is a tenth of the others' has a tenth of their window: with windows of 1.5
/// bandwidth-delay products its packets wait for its own link for half a round trip at most.
#[test]
fn windows_suit_the_own_link_of_the_sender() {
    let flows = r#"{ src = 0, dst = 1, size = "1MB" }"#;
    let waits = |links: &str, rate: &str| {
        let settings = [
            &format!("topology={{star={{hosts=2}}{links}}}"),
            &format!("host.rate={rate}"),
            &format!("switch.rate={rate}"),
            "transport.congestion_control=rccc",
            "transport.message.round_trip=20us",
        ];
        let outcome = run(&scenario(flows, &settings), 1);
        (finished_us(&outcome), outcome.counts)
    };
    let own = waits(
        ",links=[{link=\"h0--switch\",rate=\"10Gbps\"},{link=\"h1--switch\",rate=\"10Gbps\"}]",
        "100Gbps",
    );
    assert_eq!(own, waits("", "10Gbps"));
}

/// Links between switches are slower than host links: the default timeout lasts as long as a packet
/// may wait there, so each timeout stands for a packet that was dropped.
#[test]
fn timeouts_suit_slow_links_between_switches() {
    let settings = [
        "topology={leaf_spine={leaves=2,spines=1,hosts_per_leaf=4,uplink_rate=\"300Mbps\"}}",
        "host={queue=\"fifo\",rate=\"10Gbps\",delay=\"1us\"}",
        "switch={rate=\"10Gbps\",delay=\"1us\",buffer=\"20pkts\",trimming={}}",
        "transport={congestion_control=\"rccc\",ecn=true,mtu=\"1500B\"}",
        "run={duration=\"1ms\",warmup=\"0s\",drain=\"10s\"}",
    ];
    let outcome = star::run(
        &star::scenario("[workload.all_to_all]\nsize = \"16KB\"\n", &settings),
        1,
    );
    let (timeouts, drops) = (outcome.counts.timeouts, outcome.packets.dropped);
    assert!(drops > 100, "{drops}");
    assert!(timeouts <= drops, "{timeouts} timeouts, {drops} drops");
}
