//! A host whose processor is slower than its link pauses its switch, and the pause spreads: times by hand, and
//! no lossless packet is lost with the ring's headroom.

use hull_sim::host::{ReceiveConfig, ReceivePath, RingLimits};
use hull_sim::network::ClassPauses;
use hull_sim::scenario::{self, ExternalControls, Resolved, Scenario};
use hull_sim::simulation::{self, Outcome};

use super::port_bench::packet;
use super::star::run;

/// At 8 Gbps a byte takes 1 ns. Host 0 sends a packet of 1 us each us, which is at host 1 4 us after its start;
/// host 1 takes one in 2.7 us.
///
/// The ring's headroom: 1 us for a packet of host 1, 64 ns for the frame, 1 us, 500 ns of reaction, 1 us for a
/// packet of the switch and 1 us are 4,564 bytes, one more for what whole ps cut off: 115 packets of 40 bytes. A
/// ring of 120 packets has 4 below them and the one that crosses the threshold.
const STAR: &str = r#"
name = "slow"
[run]
duration = "29us"
drain = "0s"
[topology.star]
hosts = 3
[host]
rate = "8Gbps"
delay = "1us"
queue = "fifo"
receive = { ring = 120, packet_cost = "2700ns" }
[switch]
rate = "8Gbps"
delay = "1us"
pfc = { reaction = "500ns" }
[transport]
congestion_control = "constant_rate"
mtu = "1000B"
header = "40B"
framing = "0B"
constant_rate = { rate = "8Gbps" }
[workload.long_lived]
flows = [{ src = 0, dst = 1 }]
"#;

fn expanded(settings: &[&str]) -> Result<Scenario, String> {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let verify = |scenario: &Resolved| simulation::verify(scenario);
    let own = ExternalControls::new();
    match scenario::expand_verified(STAR, "test.toml", &settings, &own, &verify) {
        Ok(cells) => Ok(Scenario::clone(&cells[0].scenario)),
        Err(error) => Err(error.to_string()),
    }
}

fn outcome(settings: &[&str]) -> Outcome {
    run(&expanded(settings).expect("valid"), 1)
}

fn pauses(outcome: &Outcome, from: &str, to: &str) -> ClassPauses {
    let is_its = |row: &&_| {
        let row: &hull_sim::measure::PauseCount = row;
        row.from == from && row.to == to && row.class == 0
    };
    outcome.pauses.iter().find(is_its).expect("the link").counts
}

/// Packets come at 4, 5, 6, ... us, and the processor takes one at 4, 6.7, 9.4, 12.1, ... us. The fifth waits at
/// 11 us: XOFF. The switch pauses 1,564 ns later, after the packet that it began at 12 us; the ring has 7 packets
/// then, and 2 at 25.6 us: XON, and 1,564 ns later the switch sends again.
///
/// It holds packets from 13 us on. Its threshold is 7,565 bytes, the eighth packet, at 20 us, is above, and host
/// 0 pauses at 21.564 us until the end of the run.
#[test]
fn a_slow_host_pauses_its_switch_and_the_pause_spreads() {
    let outcome = outcome(&[]);
    let of_switch = pauses(&outcome, "switch", "h1");
    let frames = |of: &ClassPauses| (of.sent, of.received, of.resumes);
    assert_eq!(frames(&of_switch), (1, 1, 1));
    assert_eq!(of_switch.paused_ps, 27_164_000 - 12_564_000);
    let of_sender = pauses(&outcome, "h0", "switch");
    assert_eq!(frames(&of_sender), (1, 1, 0));
    assert_eq!(of_sender.paused_ps, 29_000_000 - 21_564_000);
    assert_eq!(of_sender.headroom_bytes, 5_565);
    assert_eq!(outcome.packets.dropped, 0);
    // The host's own port is the root of both.
    let host = ["h1".to_owned(), "switch".to_owned()];
    let tree = Vec::from_iter((outcome.pause_causes.iter()).map(|row| {
        assert_eq!(row.root, host);
        (row.cause.join("->"), row.paused.join("->"), row.depth)
    }));
    assert_eq!(
        tree,
        [
            ("h1->switch", "switch->h1", 0),
            ("switch->h1", "h0->switch", 1)
        ]
        .map(|(cause, paused, depth)| (cause.to_owned(), paused.to_owned(), depth))
    );
}

/// Packets of 300 bytes, back to back from two hosts. In 300 + 64 + 300 ns and 2.5 us 10 or 11 arrive after the
/// one that crosses the threshold; the headroom is 27, of the smallest packets, 120 bytes. The computed threshold
/// loses none, one that leaves room for two does.
#[test]
fn the_ring_has_room_for_what_arrives_until_the_pause_acts() {
    let smallest = [
        "transport.mtu=300B",
        "transport.header=120B",
        "workload.long_lived.flows=[{src=[0,2],dst=1}]",
        "host.receive={ring=40,packet_cost=\"1us\"}",
        "run.duration=1ms",
    ];
    let with = |more: &[&str]| outcome(&[&smallest[..], more].concat());
    let computed = with(&[]);
    assert!(pauses(&computed, "switch", "h1").sent > 3);
    assert_eq!(computed.packets.dropped, 0);
    assert!(with(&["host.receive.xoff=38"]).packets.dropped > 0);
    // Each renewal of a pause that is still needed keeps the ring from its end, too.
    for renewal in ["never", "half_time"] {
        let renewal = format!("switch.pfc.renewal={renewal}");
        let short = ["switch.pfc.quanta=50", renewal.as_str()];
        assert_eq!(with(&short).packets.dropped, 0, "{renewal}");
    }
}

/// Without pauses the ring drops what it cannot hold, and a lossy class does so from the threshold on.
#[test]
fn lossy_packets_leave_the_headroom_to_others() {
    let config = ReceiveConfig {
        frames: 4,
        ring: 10,
        limits: Some(RingLimits {
            xoff: 3,
            xon: 1,
            lossless: 0b10,
        }),
        wait_ps: 1_000_000_000,
        adaptive: false,
        join_bytes: 0,
        header_bytes: 40,
        interrupt_ps: 0,
        packet_ps: 1_000,
        frame_ps: 0,
        unmasked: false,
    };
    let mut path = ReceivePath::new(config);
    for n in 0..10 {
        assert_eq!((path.is_full(0), path.is_full(1)), (n >= 3, false), "{n}");
        path.arrive(n, packet(1_500, 0, n));
        assert_eq!(path.must_pause(), n >= 3, "{n}");
        assert!(!path.may_resume());
    }
    assert!(path.is_full(1));
    // The first interrupt takes all ten in turn; the switch resumes once.
    let mut resumed = Vec::new();
    for n in 0..=10 {
        path.serve(2_000_000_000 + n * 1_000);
        resumed.extend(path.may_resume().then_some(n));
    }
    assert_eq!(resumed, [8]);
}

/// Messages name the key, the value and the expected form.
#[test]
fn rings_that_cannot_pause_in_time_are_refused() {
    for (settings, parts) in [
        (
            &["host.receive.ring=116"][..],
            &["host.receive.ring: 116", "more than 116", "115 packets"][..],
        ),
        (
            &["host.receive.xoff=120"],
            &["host.receive.xoff: 120", "1 to 119"],
        ),
        (
            &["host.receive={ring=120,xoff=5,xon=5}"],
            &["host.receive.xon: 5", "0 to 4"],
        ),
        (
            &["host.receive={ring=120,xon=4,packet_cost=\"1us\"}"],
            &["host.receive.xon: 4", "4 packets"],
        ),
        (
            &["host.receive={xoff=5}"],
            &["host.receive.xoff", "host.receive.ring"],
        ),
    ] {
        let told = expanded(settings).expect_err("refused");
        for part in parts {
            assert!(told.contains(part), "{settings:?}: {told}");
        }
    }
}
