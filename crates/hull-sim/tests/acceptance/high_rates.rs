//! Links of 800 Gbps to 6.4 Tbps against hand calculations.
//!
//! A byte takes 10, 5, 2.5 and 1.25 ps. A transfer of n packets crosses two equal links without delays
//! in the time of n + 1 packets: the last one waits for the others at the host and crosses the switch
//! alone. A packet's time is rounded down to whole ps.

use super::star::{BULK, assert_near, run, scenario};

/// Rate, and bytes per 10 ps.
const RATES: [(&str, u64); 4] = [
    ("800Gbps", 1),
    ("1.6Tbps", 2),
    ("3.2Tbps", 4),
    ("6.4Tbps", 8),
];
const PACKETS: u64 = 200;

fn links(rate: &str) -> [String; 2] {
    [format!("host.rate={rate}"), format!("switch.rate={rate}")]
}

#[test]
fn transfers_take_the_time_of_their_bytes() {
    for (rate, bytes_in_10_ps) in RATES {
        // The second packet, with framing, takes a half of a picosecond or a quarter too much.
        for (packet, framing) in [(1500, 0), (1500, 38), (9000, 20)] {
            let packet_ps = (packet + framing) * 10 / bytes_in_10_ps;
            let payload = packet - 40;
            let [host, switch] = links(rate);
            let settings = [
                host.as_str(),
                &switch,
                &format!("transport.mtu={packet}B"),
                &format!("transport.framing={framing}B"),
                &format!("workload.bulk.size={}B", PACKETS * payload),
                "transport.initial_window=1000",
            ];
            let outcome = run(&scenario(BULK, &settings), 1);
            let flow = outcome.flows.rows()[0];
            let expected = (PACKETS + 1) * packet_ps;
            assert_eq!(flow.fct_ps, expected, "{rate} {packet} {framing}");
            assert_eq!(outcome.packets.dropped, 0);
        }
    }
}

/// Two senders fill one link: it carries its rate, and every packet is accounted for. Rounding to
/// whole ps adds at most 1 ps to the 1875 of a packet.
#[test]
fn full_links_carry_their_rate() {
    for (rate, _) in RATES {
        let [host, switch] = links(rate);
        let settings = [
            host.as_str(),
            &switch,
            "topology.star.hosts=3",
            "host.delay=100ns",
            "switch.delay=100ns",
            "switch.buffer=1MB",
            "switch.marking.threshold=200KB",
            "transport.congestion_control=dctcp",
            "transport.ecn=true",
            "workload.bulk.flows=2",
            "run.warmup=100us",
            "run.duration=400us",
        ];
        let outcome = run(&scenario(BULK, &settings), 1);
        assert_near("utilization", outcome.throughput.utilization, 1.0, 0.0006);
        assert!(outcome.marks > 0, "{rate}");
        let packets = outcome.packets;
        let counted = packets.delivered + packets.dropped + packets.in_flight;
        assert_eq!(packets.sent, counted, "{rate}");
    }
}

/// Utilization of a link of 6.4 Tbps divided by `slower`, which two flows share; all times are
/// multiplied by `slower`. `settings` may contain times in ns, `{n}ns`, and rates in Mbps, `{n}Mbps`.
fn used(slower: u64, settings: &[&str]) -> f64 {
    let common = [
        "host.rate={6400000}Mbps",
        "switch.rate={6400000}Mbps",
        "host.delay={500}ns",
        "switch.delay={500}ns",
        "topology.star.hosts=3",
        "switch.buffer=4MB",
        "workload.bulk.flows=2",
        "run.warmup={200000}ns",
        "run.duration={400000}ns",
        "transport.min_rto={50000}ns",
        "transport.initial_rto={50000}ns",
        "transport.ack_every=1",
    ];
    let scaled = common.iter().chain(settings).map(|setting| {
        let of = |number: &str, unit: &str| {
            let number: u64 = number.parse().ok()?;
            match unit {
                "ns" => Some(number * slower),
                "Mbps" => Some(number / slower),
                other => panic!("{other}: not a unit of these settings"),
            }
        };
        let parts = setting.split_once("={").and_then(|(before, rest)| {
            let (number, unit) = rest.split_once('}')?;
            Some(format!("{before}={}{unit}", of(number, unit)?))
        });
        parts.unwrap_or_else(|| (*setting).to_owned())
    });
    let settings = Vec::from_iter(scaled);
    let settings = Vec::from_iter(settings.iter().map(String::as_str));
    run(&scenario(BULK, &settings), 1).throughput.utilization
}

/// Controls and rules that depend on a rate: a fourth of the rate with four times all delays gives the
/// same utilization.
#[test]
fn results_scale_with_the_rate() {
    let rcp = [
        "transport.congestion_control=rcp",
        "switch.rcp.alpha=0.4",
        "switch.rcp.beta=0.2",
        "switch.rcp.interval={2000}ns",
        "switch.rcp.round_trip={2000}ns",
        "transport.receive_window=10000",
    ];
    let dctcp = [
        "transport.congestion_control=dctcp",
        "transport.ecn=true",
        "switch.phantom_queue={drain=\"95%\",threshold=\"200KB\"}",
    ];
    // A pacer's derived settings have a gain per second and random draws in time.
    let paced = [&dctcp[..], &["pacer={}"]].concat();
    let prague = [
        "switch.dualpi2={}",
        "transport.congestion_control=prague",
        "transport.ecn=true",
    ];
    let qcn = [
        "switch.qcn={equilibrium=\"300KB\"}",
        "transport.congestion_control=qcn",
    ];
    let red = [
        "transport.ecn=true",
        "switch.red={min=\"200KB\",max=\"600KB\"}",
    ];
    for (tolerance, settings) in [
        (0.01, &["transport.congestion_control=cubic"][..]),
        (0.01, &["transport.congestion_control=bbr"]),
        (0.01, &dctcp),
        (0.15, &paced),
        (0.01, &rcp),
        (0.01, &red),
        (0.01, &["switch.fq_codel={}"]),
        (0.01, &prague),
        (0.01, &qcn),
        (0.01, &["transport.message={}"]),
    ] {
        let (fast, slow) = (used(1, settings), used(4, settings));
        assert_near(&format!("{settings:?}"), fast, slow, tolerance);
    }
}
