//! The receiving host: interrupts, joined packets and the processor with hand-made arrivals and
//! exact times (ethtool's rx-frames and rx-usecs; NAPI: no interrupt while the processor works),
//! and end to end: the number of ACKs, the processor's utilization (paper 4.2 and table 2:
//! interrupts and packets times their cost), and the behaviour of a saturated processor.

use hull_sim::host::{ReceiveConfig, ReceivePath};
use hull_sim::network::{Packet, flags};

use super::port_bench::packet;
use super::star::{BULK, US_PS, assert_near, run, scenario};

const CONFIG: ReceiveConfig = ReceiveConfig {
    frames: 4,
    ring: usize::MAX,
    limits: None,
    wait_ps: 50 * US_PS,
    adaptive: false,
    join_bytes: 0,
    header_bytes: 40,
    interrupt_ps: 2 * US_PS,
    packet_ps: US_PS,
    frame_ps: 0,
    unmasked: false,
};

/// Packets passed to the stack: time in us, packets, bytes.
type Handed = Vec<(u64, u32, u16)>;

/// Offers packets at times in us and serves the path at the times it requests.
fn receive(path: &mut ReceivePath, arrivals: &[(u64, Packet)]) -> Handed {
    let (mut call_ps, mut handed) = (u64::MAX, Vec::new());
    let mut serve = |path: &mut ReceivePath, until_ps: u64, call_ps: &mut u64| {
        while *call_ps < until_ps {
            let now_ps = *call_ps;
            let (received, next_ps) = path.serve(now_ps);
            if let Some(received) = received {
                let bytes = received.packet.wire_bytes;
                handed.push((now_ps / US_PS, received.count, bytes));
            }
            *call_ps = next_ps.unwrap_or(u64::MAX);
            path.event_ps = *call_ps;
        }
    };
    for &(at_us, packet) in arrivals {
        let now_ps = at_us * US_PS;
        serve(path, now_ps, &mut call_ps);
        if let Some(at_ps) = path.arrive(now_ps, packet) {
            path.event_ps = at_ps;
            call_ps = at_ps;
        }
    }
    serve(path, u64::MAX, &mut call_ps);
    assert_eq!(path.backlog(), 0);
    handed
}

/// Consecutive packets of 1500 bytes.
fn stream(times_us: &[u64]) -> Vec<(u64, Packet)> {
    let numbered = times_us.iter().zip(0..);
    numbered
        .map(|(&at_us, n)| {
            (
                at_us,
                Packet {
                    ack: 0,
                    ..packet(1500, 0, n * 1460)
                },
            )
        })
        .collect()
}

/// The fourth packet interrupts at 30: 2 us for the interrupt, 1 us for each packet.
#[test]
fn frame_count_triggers_an_interrupt() {
    let mut path = ReceivePath::new(CONFIG);
    let handed = receive(&mut path, &stream(&[0, 10, 20, 30]));
    assert_eq!(
        handed,
        [(33, 1, 1500), (34, 1, 1500), (35, 1, 1500), (36, 1, 1500)]
    );
    assert_eq!((path.interrupts, path.busy_ps), (1, 6 * US_PS));
}

/// Two packets wait for the timer, which runs from the first: 50. The third waits until 120 + 50.
#[test]
fn timer_bounds_the_first_packets_wait() {
    let mut path = ReceivePath::new(CONFIG);
    let handed = receive(&mut path, &stream(&[0, 45, 120]));
    assert_eq!(handed, [(53, 1, 1500), (54, 1, 1500), (173, 1, 1500)]);
    assert_eq!((path.interrupts, path.busy_ps), (2, 7 * US_PS));
}

/// A busy processor takes newly arrived packets without another interrupt; later packets wait
/// again.
#[test]
fn a_busy_processor_is_not_interrupted() {
    let mut path = ReceivePath::new(CONFIG);
    let handed = receive(&mut path, &stream(&[0, 1, 2, 3, 7, 8, 11]));
    let times: Vec<u64> = handed.iter().map(|&(at_us, _, _)| at_us).collect();
    // Interrupt at 3; done at 6, 7, 8, 9; the fifth and sixth at 10 and 11. The seventh arrives at
    // 11, before the processor finds its queue empty, and is done at 12.
    assert_eq!(times, [6, 7, 8, 9, 10, 11, 12]);
    assert_eq!(path.interrupts, 1);
    let mut path = ReceivePath::new(CONFIG);
    let handed = receive(&mut path, &stream(&[0, 1, 2, 3, 20]));
    assert_eq!(handed[4], (73, 1, 1500));
    assert_eq!(path.interrupts, 2);
}

/// Three packets at once: 2 us for the interrupt, 1 us for the joined packet and 3 us per frame.
#[test]
fn each_frame_adds_its_own_cost() {
    let config = ReceiveConfig {
        frames: 3,
        join_bytes: 65_535,
        frame_ps: 3 * US_PS,
        ..CONFIG
    };
    let mut path = ReceivePath::new(config);
    let handed = receive(&mut path, &stream(&[0, 0, 0]));
    assert_eq!(handed, [(12, 3, 4420)]);
    assert_eq!((path.interrupts, path.busy_ps), (1, 12 * US_PS));
}

/// One interrupt for every two packets, also while the processor works: the interrupt for the third
/// and fourth arrives while it is busy with the first, and costs 2 us before the second. The fifth
/// is alone and waits for its timer, although the processor is still busy when it arrives.
#[test]
fn unmasked_interrupts_take_time_from_packets() {
    let config = ReceiveConfig {
        frames: 2,
        unmasked: true,
        ..CONFIG
    };
    let mut path = ReceivePath::new(config);
    let handed = receive(&mut path, &stream(&[0, 0, 1, 2, 7]));
    let times: Vec<u64> = handed.iter().map(|&(at_us, _, _)| at_us).collect();
    // Interrupt at 0 until 2, the first packet at 3; interrupt until 5, the others at 6, 7 and 8.
    assert_eq!(times, [3, 6, 7, 8, 60]);
    assert_eq!((path.interrupts, path.busy_ps), (3, 11 * US_PS));
}

/// With an adaptive wait, packets 5 us apart wait and a lone packet does not.
#[test]
fn adaptive_moderation_does_not_delay_a_lone_packet() {
    let config = ReceiveConfig {
        frames: 64,
        adaptive: true,
        ..CONFIG
    };
    let mut path = ReceivePath::new(config);
    let handed = receive(&mut path, &stream(&[0, 1000]));
    let times: Vec<u64> = handed.iter().map(|&(at_us, _, _)| at_us).collect();
    assert_eq!((times, path.interrupts), (vec![3, 1003], 2));
    // 1000 packets 5 us apart: each interrupt delivers the arrivals of 50 us and those during its
    // service, so that most packets share one with ten others.
    let dense: Vec<u64> = (0..1000).map(|n| 2000 + 5 * n).collect();
    let before = path.interrupts;
    receive(&mut path, &stream(&dense));
    let interrupts = path.interrupts - before;
    assert!((80..300).contains(&interrupts), "{interrupts}");
    // The pause of 100 ms makes the mean gap 12.5 ms: no wait.
    let handed = receive(&mut path, &stream(&[107_000]));
    assert_eq!(handed, [(107_003, 1, 1500)]);
}

/// Ten packets of a flow at one interrupt: one of 14640 bytes, for one packet's time. A mark,
/// another flow, a gap and the largest size end the joining; a packet with an ACK passes alone.
#[test]
fn packets_are_coalesced() {
    let config = ReceiveConfig {
        frames: 10,
        join_bytes: 65_535,
        ..CONFIG
    };
    let joined = |changed: usize, change: fn(&mut Packet), join_bytes: u32| {
        let mut arrivals = stream(&[0; 10]);
        change(&mut arrivals[changed].1);
        let mut path = ReceivePath::new(ReceiveConfig {
            join_bytes,
            ..config
        });
        receive(&mut path, &arrivals)
    };
    let as_it_is = |_: &mut Packet| {};
    assert_eq!(joined(0, as_it_is, 65_535), [(3, 10, 14_640)]);
    assert_eq!(
        joined(0, as_it_is, 6000),
        [(3, 4, 5880), (4, 4, 5880), (5, 2, 2960)]
    );
    let marked = joined(4, |packet| packet.flags |= flags::CE, 65_535);
    assert_eq!(marked, [(3, 4, 5880), (4, 1, 1500), (5, 5, 7340)]);
    let other_flow = joined(9, |packet| packet.flow = 7, 65_535);
    assert_eq!(other_flow, [(3, 9, 13_180), (4, 1, 1500)]);
    let ahead = joined(2, |packet| packet.seq += 1, 65_535);
    assert_eq!(ahead, [(3, 2, 2960), (4, 1, 1500), (5, 7, 10_260)]);
    let with_ack = joined(0, |packet| packet.flags |= flags::ACK, 65_535);
    assert_eq!(with_ack, [(3, 1, 1500), (4, 9, 13_180)]);
}

/// Runs a flow of 4000 packets at 1 Gbps whose window keeps the link busy; returns its ACK count.
fn bulk(receive: &str, more: &[&str]) -> (u64, hull_sim::simulation::Outcome) {
    let base = [
        "workload.bulk.size=5840KB",
        "host.rate=1Gbps",
        "host.delay=5us",
        "switch.delay=5us",
        "transport.initial_window=200",
        "transport.max_window=200",
        "run.duration=1s",
        receive,
    ];
    let settings: Vec<&str> = base.iter().chain(more).copied().collect();
    let outcome = run(&scenario(BULK, &settings), 1);
    assert_eq!(outcome.flows.rows().len(), 1);
    let acks = outcome.links.iter().find(|link| link.from == "h0");
    (acks.expect("a link of each host").bytes / 40, outcome)
}

/// 4000 packets in groups of 8, 12 us apart: if joined, each group gets one ACK; if not, each
/// packet or every second packet gets one.
#[test]
fn coalesced_packets_have_one_ack() {
    let joined = "host.receive={frames=8,wait=\"1ms\",join=\"64KB\"}";
    let apart = "host.receive={frames=8,wait=\"1ms\"}";
    for (receive, ack_every, expected) in [
        (apart, 1, 4000),
        (apart, 2, 2000),
        (joined, 1, 500),
        (joined, 2, 500),
        (joined, 16, 500),
    ] {
        let setting = format!("transport.ack_every={ack_every}");
        let (acks, outcome) = bulk(receive, &[&setting]);
        // The run ends with the last byte, possibly before the ACKs of its group are on the wire.
        let missing = expected - acks;
        assert!(missing <= 8, "{setting}: {acks} of {expected}");
        let processor = outcome.processor.expect("hosts that receive");
        let seconds = outcome.simulated_ps as f64 * 1e-12;
        let interrupts = processor.interrupts_per_second * seconds;
        assert_eq!(interrupts.round(), 500.0);
    }
}

/// Table 2 of the paper: interrupts and packets times their cost, over the time. A group takes 10
/// us at most, less than the gap to the next packet, so that each group has its interrupt.
#[test]
fn the_processor_pays_for_interrupts_and_packets() {
    for (join, pieces) in [("0B", 4000.0), ("64KB", 500.0)] {
        let receive = format!(
            "host.receive={{frames=8,wait=\"1ms\",join=\"{join}\",interrupt_cost=\"2us\",packet_cost=\"1us\"}}"
        );
        let (_, outcome) = bulk(&receive, &[]);
        let seconds = outcome.simulated_ps as f64 * 1e-12;
        let busy = (500.0 * 2e-6 + pieces * 1e-6) / seconds;
        let processor = outcome.processor.expect("hosts that receive");
        assert_near("processor", processor.utilization, busy, 1e-9);
    }
}

/// A processor that needs 24 us per packet of 12 us halves the throughput and is always busy.
#[test]
fn slow_processor_limits_throughput() {
    let receive = "host.receive={packet_cost=\"24us\"}";
    let (_, outcome) = bulk(receive, &["workload.bulk.size=58400KB"]);
    let seconds = outcome.flows.rows()[0].fct_ps as f64 * 1e-12;
    assert_near("time", seconds, 40_000.0 * 24e-6, 0.001);
    let processor = outcome.processor.expect("hosts that receive");
    assert_near("processor", processor.utilization, 1.0, 0.001);
}
