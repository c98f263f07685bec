//! When the queue is compared with the marking threshold (thesis 2.2.1: on arrival), by a hand-made
//! sequence: six packets of 1500 bytes arrive at once at an idle port with a threshold of 3000
//! bytes. Packet 0 goes straight to the wire; packet i finds i - 1 waiting, and leaves 5 - i behind
//! when it is sent.

use hull_core::marking::ThresholdMarker;
use hull_core::ramp::{self, RampMarker};
use hull_sim::network::rules::{DequeueThreshold, RampMarking, Rule, Site, When};
use hull_sim::network::{BufferLimit, PortConfig, flags};
use hull_sim::scenario::MarkOn;
use hull_sim::units::Rate;

use super::port_bench::{Bench, packet};
use super::star::PACKET_PS;

fn at_dequeue(on: MarkOn, marker: ThresholdMarker) -> Vec<Box<dyn Rule>> {
    match on {
        MarkOn::Enqueue => Vec::new(),
        MarkOn::Sent => {
            let bytes = u64::from(marker.threshold_bytes);
            let site = Site {
                rate: Rate(1_000_000_000),
                mtu: 1500,
                seed: 1,
                port: 0,
            };
            let marker = RampMarker {
                low_bytes: bytes,
                high_bytes: bytes,
                max_probability: ramp::ONE,
            };
            vec![Box::new(RampMarking::new(marker, When::Sent, &site))]
        }
        MarkOn::Dequeue => vec![Box::new(DequeueThreshold(marker))],
    }
}

/// Propagation delay: a packet is still on the link when its transmission has ended.
const DELAY_PS: u64 = 1_000_000;

/// The packets that are marked.
fn marked(on: MarkOn, count_arriving: bool, in_service: bool, classes: usize) -> Vec<usize> {
    let marker = ThresholdMarker {
        threshold_bytes: 3000,
        count_arriving,
    };
    let config = || PortConfig {
        marker: (on == MarkOn::Enqueue).then_some(marker),
        rules: at_dequeue(on, marker),
        count_in_service: in_service,
        classes,
        ..PortConfig::plain(1_000_000_000, DELAY_PS, BufferLimit::Unlimited)
    };
    let mut bench = Bench::new(config, 1);
    for _ in 0..6 {
        assert!(bench.offer(0, 0, packet(1500, 0, 0)));
    }
    bench.advance(6 * PACKET_PS + DELAY_PS);
    let sent = bench.sent.iter().enumerate();
    let marked = sent.filter(|(_, sent)| sent.packet.has(flags::CE));
    let marked: Vec<usize> = marked.map(|(i, _)| i).collect();
    assert_eq!(bench.network.ports[0].marks, marked.len() as u64);
    marked
}

/// Bytes found: 0, 0, 1500, 3000, 4500, 6000.
#[test]
fn on_arrival_by_queue_found() {
    for classes in [1, 2] {
        assert_eq!(marked(MarkOn::Enqueue, false, false, classes), [4, 5]);
        assert_eq!(marked(MarkOn::Enqueue, true, false, classes), [3, 4, 5]);
    }
}

/// The packet on the wire counts: 0, 1500, 3000, 4500, 6000, 7500.
#[test]
fn on_arrival_with_the_packet_in_service() {
    for classes in [1, 2] {
        assert_eq!(marked(MarkOn::Enqueue, false, true, classes), [3, 4, 5]);
        assert_eq!(marked(MarkOn::Enqueue, true, true, classes), [2, 3, 4, 5]);
    }
}

/// Bytes left behind: none by packet 0, which was sent before the others arrived; then 6000, 4500,
/// 3000, 1500, 0. The marks fall early in the queue, not late. Counting the packet in service
/// changes nothing: on departure it is the packet itself.
#[test]
fn on_departure_by_queue_left_behind() {
    for classes in [1, 2] {
        for in_service in [false, true] {
            assert_eq!(marked(MarkOn::Dequeue, false, in_service, classes), [1, 2]);
            assert_eq!(
                marked(MarkOn::Dequeue, true, in_service, classes),
                [1, 2, 3]
            );
        }
    }
}

/// Bytes waiting when the transmission has ended: 7500, 6000, 4500, 3000, 1500, 0.
#[test]
fn at_end_of_transmission_by_queue_length() {
    assert_eq!(marked(MarkOn::Sent, false, true, 2), [0, 1, 2]);
}

/// Packets that arrive while another waits count on its departure, not on its arrival: packets 1
/// and 2 find an empty queue and one packet, and three more arrive while they wait.
#[test]
fn departure_counts_later_arrivals() {
    let marked = |on: MarkOn| {
        let marker = ThresholdMarker {
            threshold_bytes: 3000,
            count_arriving: false,
        };
        let config = || PortConfig {
            marker: (on == MarkOn::Enqueue).then_some(marker),
            rules: at_dequeue(on, marker),
            ..PortConfig::plain(1_000_000_000, 0, BufferLimit::Unlimited)
        };
        let mut bench = Bench::new(config, 1);
        for at_ps in [0, 1, 2, PACKET_PS - 3, PACKET_PS - 2, PACKET_PS + 1] {
            bench.offer(at_ps, 0, packet(1500, 0, 0));
        }
        bench.advance(6 * PACKET_PS);
        let marks = bench.sent.iter().map(|sent| sent.packet.has(flags::CE));
        marks.collect::<Vec<bool>>()
    };
    // Bytes found: 0, 0, 1500, 3000, 4500, 4500 (packet 1 has left).
    assert_eq!(
        marked(MarkOn::Enqueue),
        [false, false, false, false, true, true]
    );
    // Left behind: -, 4500, then 2 leaves 3, 4 and 5, and 3 leaves 4 and 5.
    assert_eq!(
        marked(MarkOn::Dequeue),
        [false, true, true, false, false, false]
    );
}
