//! Admission by the receiver, against arithmetic: the time of one message to the picosecond, the queue of an incast
//! against the window, goodput against window over round trip, and every message although requests and grants are lost.
//! Reference of the rule: "RDMA over Ethernet for Distributed AI Training at Meta Scale" (SIGCOMM 2024).

use hull_sim::scenario::{self, Scenario};
use hull_sim::simulation::Outcome;

use super::star::run;

/// A star of 100 Gbps and 1 us a link; packets of 1,048 bytes carry 1,000, requests and grants have 48 bytes.
const BASE: &str = r#"
name = "admission"
run = { duration = "5ms", drain = "1s" }
topology.star.hosts = 17
host = { rate = "100Gbps", delay = "1us" }
switch = { rate = "100Gbps", delay = "1us" }
[transport]
congestion_control = "line-rate"
mtu = "1048B"
header = "48B"
framing = "0B"
[transport.message]
ack_bytes = "1B"
timeout = "1ms"
recovery = "selective"
load_balancing = "ecmp"
"#;

/// Transmission times of a packet and of a request at 100 Gbps, and a link's delay, ps.
const PACKET_PS: u64 = 83_840;
const REQUEST_PS: u64 = 3_840;
const DELAY_PS: u64 = 1_000_000;
/// Time from the last packet of a grant to the first one of the next: a grant, and the packet that it admits.
const LOOP_PS: u64 = 2 * (REQUEST_PS + DELAY_PS) + 2 * (PACKET_PS + DELAY_PS);

fn expand(flows: &str, settings: &[String]) -> Result<Scenario, String> {
    let text = format!("{BASE}[workload.long_lived]\nflows = [{flows}]\n");
    match scenario::expand(&text, "test.toml", settings) {
        Ok(cells) => Ok(Scenario::clone(&cells[0].scenario)),
        Err(error) => Err(error.to_string()),
    }
}

/// Run of these flows with settings of `transport.message.admission`, and others.
fn admitted(flows: &str, admission: &str, settings: &[&str]) -> Outcome {
    let mut all = vec![format!("transport.message.admission={{{admission}}}")];
    all.extend(settings.iter().map(|&setting| setting.to_owned()));
    run(&expand(flows, &all).expect("valid"), 1)
}

/// Run of these flows without admission.
fn unasked(flows: &str, settings: &[&str]) -> Outcome {
    let all: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    run(&expand(flows, &all).expect("valid"), 1)
}

/// `senders` to host 0 with this size each.
fn incast(senders: usize, size: &str) -> String {
    let all: Vec<String> = (1..=senders).map(|host| host.to_string()).collect();
    format!(
        "{{ src = [{}], dst = 0, size = \"{size}\" }}",
        all.join(",")
    )
}

/// Switches that pause the senders' class above 100 KB.
const LOSSLESS: [&str; 3] = [
    "switch.priorities=2",
    "switch.memory.size=8MB",
    "switch.pfc={classes=[1],xoff=\"100KB\"}",
];

fn pauses(outcome: &Outcome) -> u64 {
    outcome.pauses.iter().map(|one| one.counts.sent).sum()
}

fn last_ps(outcome: &Outcome) -> u64 {
    let ends = outcome.flows.rows().iter().map(|row| row.fct_ps);
    ends.max().expect("flows")
}

/// A message of ten packets takes a request and a grant more than it would without admission; its packets follow
/// each other without a gap.
#[test]
fn one_message_to_the_picosecond() {
    let alone = incast(1, "10KB");
    let plain_ps = 11 * PACKET_PS + 2 * DELAY_PS;
    assert_eq!(last_ps(&unasked(&alone, &[])), plain_ps);
    let outcome = admitted(&alone, "", &[]);
    let asking_ps = 2 * (REQUEST_PS + DELAY_PS);
    assert_eq!(last_ps(&outcome), plain_ps + 2 * asking_ps);
    // A window of 1.5 times 52.2 KB, and an eighth of it in whole packets: grants of nine packets and of one.
    let summary = outcome.admission.expect("admission");
    assert_eq!(
        (summary.requests, summary.grants, summary.messages),
        (1, 2, 1)
    );
    assert_eq!(summary.max_wait_us, 2.0 * asking_ps as f64 * 1e-6);
}

/// Small messages do not ask; the key's value is the largest one.
#[test]
fn eager_messages_are_as_without_admission() {
    let alone = incast(1, "10KB");
    let outcome = admitted(&alone, "eager=\"10KB\"", &[]);
    assert_eq!(last_ps(&outcome), last_ps(&unasked(&alone, &[])));
    let summary = outcome.admission.expect("admission");
    assert_eq!(
        (summary.requests, summary.grants, summary.messages),
        (0, 0, 0)
    );
    let outcome = admitted(&alone, "eager=\"9999B\"", &[]);
    assert_eq!(outcome.admission.expect("admission").requests, 1);
}

/// A window of m chunks of c packets: c packets arrive behind each other, and their room comes back a loop after the
/// last. m c packets per loop and (c - 1) transmissions, or the link's rate. One sender, exactly; several share it.
#[test]
fn goodput_is_the_window_per_round_trip() {
    for (chunks, chunk) in [(1, 1), (20, 1), (4, 5), (2, 10), (60, 1), (16, 4)] {
        let window = 1048 * chunks * chunk;
        let admission = format!("window=\"{window}B\",chunk=\"{}B\"", 1048 * chunk);
        let packets = 8000;
        let period_ps = LOOP_PS + (chunk - 1) * PACKET_PS;
        let per_packet_ps = (period_ps as f64 / (chunks * chunk) as f64).max(PACKET_PS as f64);
        let expected_ps = packets as f64 * per_packet_ps;
        for senders in [1, 8] {
            let size = format!("{}KB", packets / senders);
            let outcome = admitted(&incast(senders, &size), &admission, &[]);
            let found = last_ps(&outcome) as f64 / expected_ps;
            assert!((found - 1.0).abs() < 0.01, "{admission} {senders}: {found}");
        }
    }
}

/// With the default window an incast fills the link, at rates of 25 to 800 Gbps.
#[test]
fn the_default_window_fills_the_link() {
    for gbps in [25, 100, 400, 800] {
        let rates = ["host", "switch"].map(|of| format!("{of}.rate={gbps}Gbps"));
        let rates = rates.each_ref().map(String::as_str);
        let outcome = admitted(&incast(16, "1MB"), "", &rates);
        let sending_ps = 16_000.0 * 8384.0 / gbps as f64 * 1000.0;
        // Request, grant and first packet: two round trips of 4 us.
        let found_ps = last_ps(&outcome) as f64 - 9e6;
        assert!(
            found_ps < 1.01 * sending_ps,
            "{gbps}: {found_ps} {sending_ps}"
        );
    }
}

/// The queue of the switch's port to the receiver never holds more than the window; without admission it holds nearly
/// all that 15 of 16 senders send. Nothing pauses if XOFF is above the window.
#[test]
fn the_window_bounds_the_queue_and_avoids_pauses() {
    let bytes = |outcome: &Outcome| outcome.occupancy.max_us * 12_500.0;
    for window in [20_000, 50_000, 90_000] {
        let outcome = admitted(
            &incast(16, "500KB"),
            &format!("window=\"{window}B\""),
            &LOSSLESS,
        );
        assert!(
            bytes(&outcome) <= window as f64 + 1.0,
            "{window}: {}",
            bytes(&outcome)
        );
        assert_eq!(pauses(&outcome), 0, "{window}");
        assert_eq!(outcome.packets.dropped, 0);
    }
    let outcome = unasked(&incast(16, "500KB"), &LOSSLESS);
    assert!(bytes(&outcome) > 1_000_000.0 && pauses(&outcome) > 0);
}

/// One packet of fifty is lost on each link, of requests and grants too. All messages arrive; requests are repeated.
#[test]
fn lost_requests_and_grants_are_repeated() {
    for recovery in ["selective", "go_back_n", "timeout"] {
        let recovery = format!("transport.message.recovery={recovery}");
        let settings = [
            "host.loss=2%",
            "switch.loss=2%",
            "transport.message.timeout=50us",
            &recovery,
        ];
        let outcome = admitted(&incast(16, "200KB"), "window=\"30KB\"", &settings);
        assert_eq!(outcome.flows.rows().len(), 16, "{recovery}");
        let summary = outcome.admission.expect("admission");
        assert_eq!(summary.messages, 16, "{recovery}");
        assert!(summary.requests > 16, "{recovery}");
    }
}

/// With erasure coding eight packets complete a group of ten, and the last two need no turn: a message of ten groups
/// takes a loop per three packets, and nothing waits for a timer.
#[test]
fn complete_groups_do_not_wait() {
    let settings = ["transport.message.erasure={}"];
    let outcome = admitted(&incast(1, "80KB"), "window=\"3144B\"", &settings);
    let summary = outcome.admission.expect("admission");
    assert_eq!((summary.requests, outcome.counts.retransmissions), (1, 0));
    assert!(last_ps(&outcome) < 36 * LOOP_PS, "{}", last_ps(&outcome));
}

/// Flows that stop leave their room to others: 15 of 16 endless flows end after 100 us, and the last one has the link.
#[test]
fn stopped_flows_return_their_room() {
    let stopped: Vec<String> = (2..=16).map(|host| host.to_string()).collect();
    let flows = format!(
        "{{ src = [{}], dst = 0, stop = \"100us\" }}, {{ src = 1, dst = 0 }}",
        stopped.join(",")
    );
    let outcome = admitted(
        &flows,
        "",
        &["run.duration=2ms", "run.warmup=200us", "run.drain=0s"],
    );
    let share = outcome.throughput.goodput_bps / (100e9 * 1000.0 / 1048.0);
    assert!(share > 0.99, "{share}");
}

/// Each control of the message transport that grants no credit itself works behind admission, and an incast never
/// pauses.
#[test]
fn every_control_works_behind_admission() {
    let marks = "switch.marking.threshold=60KB";
    for (control, needs) in [
        ("nscc", &["transport.ecn=true", marks][..]),
        ("unocc", &["transport.ecn=true", marks]),
        ("dcqcn", &["transport.ecn=true", marks]),
        ("dctcp-rate", &["transport.ecn=true", marks]),
        ("timely", &[]),
        ("hpcc", &["switch.telemetry={}"]),
        ("powertcp", &["switch.telemetry={}"]),
        ("theta-powertcp", &[]),
        ("swift", &[]),
    ] {
        let control = format!("transport.congestion_control={control}");
        let settings = [&LOSSLESS[..], &[&control], needs].concat();
        let outcome = admitted(&incast(16, "100KB"), "", &settings);
        assert_eq!(outcome.flows.rows().len(), 16, "{control}");
        assert_eq!(outcome.counts.retransmissions, 0, "{control}");
        assert_eq!(pauses(&outcome), 0, "{control}");
    }
}

/// Errors name the key, the value found and the expected form.
#[test]
fn bad_settings_are_rejected() {
    for (settings, told) in [
        (
            &["transport.message.admission.window=1000B"][..],
            [
                "transport.message.admission.window",
                "\"1000B\" is invalid; expected transport.mtu, \"1.048KB\", to 1000GB",
            ],
        ),
        (
            &["transport.message.admission={window=\"10KB\",chunk=\"11KB\"}"],
            [
                "chunk",
                "\"11KB\" is invalid; expected 1B to the window, \"10KB\"",
            ],
        ),
        (
            &[
                "transport.message.admission={}",
                "transport.congestion_control=rccc",
            ],
            ["transport.message.admission", "its receivers grant credit"],
        ),
        (
            &[
                "transport.message.admission={}",
                "transport.congestion_control=cubic",
            ],
            ["transport.message", "require congestion_control = "],
        ),
        (
            &[
                "transport.message.admission={}",
                "transports.other.message.admission.window=20KB",
                "workload.incast={total=\"1KB\",transport=\"other\"}",
            ],
            [
                "transports.other.message.admission.window",
                "\"20KB\" is invalid; expected unset, as transport.message.admission.window",
            ],
        ),
    ] {
        let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        let error = expand(&incast(1, "1KB"), &settings).expect_err("rejected");
        assert!(told.iter().all(|part| error.contains(part)), "{error}");
    }
}
