//! A pacer before and behind segmentation (thesis 4.3.2 and 4.6), by hand: behind it packets leave one
//! packet's tokens apart; before it pieces leave at once, one piece's tokens apart. End to end: the
//! queue that a piece builds at a slower port.

use hull_core::flow_association::{FlowAssociationConfig, WhenFull};
use hull_core::pacer::{PacerConfig, WhenFifoFull};
use hull_sim::host::{Nic, Overtaking, PacerStage, Release};
use hull_sim::network::{BufferLimit, Packet, PortConfig, flags};
use hull_sim::random::{Purpose, Stream};

use super::port_bench::packet;
use super::star::{PAYLOAD, REQUESTS, US_PS, run, scenario};

/// A bucket of 1500 bytes that fills at 100 Mbps, which is 80 us for a packet of 1000 bytes.
fn stage(fifo_bytes: u32) -> PacerStage {
    let pacer = PacerConfig {
        max_rate_bps: 100_000_000,
        min_rate_bps: 100_000_000,
        initial_rate_bps: 100_000_000,
        bucket_bytes: 1500,
        fifo_bytes,
        update_interval_ps: 64 * US_PS,
        eta: 0,
        beta: 0,
        rate_step_bps: 0,
        token_tick_ps: 0,
        when_full: WhenFifoFull::Drop,
    };
    let association = FlowAssociationConfig {
        entries: 4,
        probability: u32::MAX,
        timeout_ps: 100_000 * US_PS,
        when_full: WhenFull::Ignore,
    };
    let nic = Nic::new(&PortConfig::plain(1_000_000_000, 0, BufferLimit::Unlimited));
    let random = Stream::new(1, Purpose::Association, 0);
    let mut stage = PacerStage::new(nic, &pacer, &association, random, Overtaking::Any, 0, 1);
    stage.on_ece(0, 0);
    stage
}

/// `pieces` pieces of three packets.
fn packets(pieces: u64) -> impl Iterator<Item = Packet> {
    (0..3 * pieces).map(|number| {
        let mut packet = packet(1000, 0, number);
        if number % 3 > 0 {
            packet.flags |= flags::BEHIND;
        }
        packet
    })
}

/// Times at which nine packets leave that reach the pacer together, us.
fn departures_us(mut stage: PacerStage) -> Vec<u64> {
    let mut left = Vec::new();
    for packet in packets(3) {
        if stage.admit(0, &packet) == Release::Now {
            left.push(0);
        }
    }
    while let Some(now_ps) = stage.next_wake_ps() {
        while stage.release(now_ps).is_some() {
            left.push(now_ps / US_PS);
        }
    }
    assert_eq!((stage.backlog(), stage.drops), (0, 0));
    left
}

/// The bucket holds 500 bytes when the first packet has left: the second leaves after 500 more. Before
/// segmentation the first piece takes 1500 bytes more than the bucket held, and each later one waits
/// for 3000.
#[test]
fn packets_or_pieces_are_apart() {
    let behind = departures_us(stage(100_000));
    assert_eq!(behind, [0, 40, 120, 200, 280, 360, 440, 520, 600]);
    let before = departures_us(stage(100_000).before_segmentation());
    assert_eq!(before, [0, 0, 0, 200, 200, 200, 440, 440, 440]);
}

/// The first packet decides whether a piece has room: the FIFO of 2000 bytes takes one piece of 3000
/// and drops the next.
#[test]
fn a_piece_is_dropped_as_a_unit() {
    let mut stage = stage(2000).before_segmentation();
    let found = Vec::from_iter(packets(3).map(|packet| stage.admit(0, &packet)));
    let expected = [Release::Now, Release::Later, Release::Dropped].map(|one| [one; 3]);
    assert_eq!(found, expected.concat());
    assert_eq!((stage.drops, stage.paced, stage.backlog()), (3, 3, 3));
}

/// Largest queue at the port, packets of 12 us, of responses of 40 packets: 10 Gbps into 1 Gbps, with
/// a pacer of 1 Gbps. The flow is associated by the marks of its first response, before the measured
/// time, and marks hardly reduce its window.
fn largest_queue(place: &str, offload: u64) -> f64 {
    let settings = [
        &format!(
            "workload.requests={{load=\"5%\",connections_per_server=1,classes=[{{size=\"{}B\",share=\"100%\"}}]}}",
            40 * PAYLOAD
        ),
        "switch.marking={threshold=\"0B\"}",
        "transport.congestion_control=dctcp",
        "transport.ecn=true",
        "transport.dctcp={g=\"0.001%\",initial_alpha=\"0%\"}",
        "transport.initial_window=40",
        "transport.max_window=40",
        &format!("host.offload={}B", offload * PAYLOAD),
        &format!(
            "pacer={{place=\"{place}\",association_probability=\"100%\",association_timeout=\"100s\",\
             eta=\"0%\",beta=0,bucket=\"1500B\",rate_step=\"1Gbps\",fifo=\"10MB\"}}"
        ),
        "run.warmup=100ms",
        "measure.sample_interval=1us",
    ];
    run(&scenario(REQUESTS, &settings), 1).occupancy.max_us / 12.0
}

/// Ten packets arrive 1.2 us apart at a port that sends each in 12 us: nine wait. The next piece comes
/// 120 us later, when they have left. Behind segmentation packets are 12 us apart.
#[test]
fn pieces_queue_at_a_port_and_packets_do_not() {
    let before = largest_queue("before_segmentation", 10);
    assert!((9.0..9.2).contains(&before), "{before}");
    let behind = largest_queue("after_segmentation", 10);
    assert!(behind <= 1.1, "{behind}");
}
