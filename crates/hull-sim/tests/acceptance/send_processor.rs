//! The processor of a sending host (paper 4.1, remark 3) and the ring of a receiving one (paper 6.1,
//! remark 5): the processor by hand and end to end, where a piece of k packets takes `P + k F`; a ring
//! that is full drops all packets beyond the receiver's rate.

use hull_sim::host::{SendConfig, SendProcessor};
use hull_sim::measure::drops_by_place;

use super::port_bench::packet;
use super::star::{BULK, US_PS, assert_near, run, scenario};

const FLOW: &str = "[[workload.long_lived.flows]]\nsrc = 1\ndst = 0\n";

/// 2 us per piece and 1 us per packet: three packets are done at 5 us, all at the same time, and a
/// single one 3 us later. One that arrives at 20 us finds the processor idle.
#[test]
fn pieces_leave_when_all_of_them_is_done() {
    let mut processor = SendProcessor::new(SendConfig {
        packet_ps: 2 * US_PS,
        frame_ps: US_PS,
    });
    for (number, behind) in [(0, false), (1, true), (2, true), (3, false)] {
        processor.add(0, packet(1500, 0, number), behind);
    }
    assert_eq!(processor.next_ps(), Some(5 * US_PS));
    assert_eq!(processor.take(5 * US_PS - 1), None);
    assert_eq!(processor.busy_ps(4 * US_PS), 4 * US_PS);
    for number in 0..3 {
        assert_eq!(processor.take(5 * US_PS), Some(packet(1500, 0, number)));
    }
    assert_eq!(processor.take(5 * US_PS), None);
    assert_eq!(processor.next_ps(), Some(8 * US_PS));
    assert_eq!(processor.take(8 * US_PS), Some(packet(1500, 0, 3)));
    processor.add(20 * US_PS, packet(1500, 0, 4), false);
    assert_eq!(processor.next_ps(), Some(23 * US_PS));
    assert_eq!(processor.busy_ps(21 * US_PS), 9 * US_PS);
    assert_eq!((processor.len(), processor.is_empty()), (1, false));
}

/// A message of 4400 packets in one window, over links of 10 Gbps: 1.2 us per packet. Without offload
/// the throughput is one packet per cost of a packet; a piece of k packets costs `P + k F`. The last
/// piece then takes `(k + 1) 1.2` us on both links. If the cost is below the time on the link, the link
/// decides.
#[test]
fn the_sending_processor_limits_throughput() {
    let (packets, packet_us, frame_us) = (4400.0, 20.0, 1.0);
    for (pieces_of, work_us) in [
        (1.0, packets * (packet_us + frame_us)),
        (4.0, packets / 4.0 * (packet_us + 4.0 * frame_us)),
        (44.0, packets / 44.0 * (packet_us + 44.0 * frame_us)),
        (0.0, packets * 1.1),
    ] {
        let offload = format!("host.offload={}B", f64::max(pieces_of * 1460.0, 1500.0));
        let costs = match pieces_of > 0.0 {
            true => {
                format!(
                    "host.transmit={{packet_cost=\"{packet_us}us\",frame_cost=\"{frame_us}us\"}}"
                )
            }
            false => "host.transmit={packet_cost=\"100ns\",frame_cost=\"1us\"}".to_owned(),
        };
        let settings = [
            "workload.bulk.size=6424000B",
            "switch.rate=10Gbps",
            "transport.initial_window=5000",
            "transport.ack_every=40", // so that the receiver's ACKs take less of its processor
            "run.duration=1s",
            &offload,
            &costs,
        ];
        let outcome = run(&scenario(BULK, &settings), 1);
        let rows = outcome.flows.rows();
        assert_eq!(rows.len(), 1);
        let expected_us = match pieces_of > 0.0 {
            true => work_us + (pieces_of + 1.0) * 1.2,
            false => 1.1 + (packets + 1.0) * 1.2,
        };
        assert_near("time, us", rows[0].fct_ps as f64 * 1e-6, expected_us, 1e-6);
        let processor = outcome.sending_processor.expect("host.transmit is set");
        let busy = outcome.simulated_ps as f64 * 1e-6 * processor.utilization;
        assert_near("processor, us", busy, work_us, 1e-6);
    }
}

/// Packets of 300 bytes at 1 Gbps arrive every 2.4 us. A receiver that takes 3 us for each passes on
/// one per 3 us and drops the others; packets of 1500 bytes, every 12 us, and a receiver that takes 2
/// us lose none.
#[test]
fn a_full_ring_drops_what_the_receiver_cannot_take() {
    for (mtu, cost_us, delivered) in [(300, 3.0, 0.8), (1500, 3.0, 1.0), (300, 2.0, 1.0)] {
        let settings = [
            "transport.congestion_control=constant_rate",
            "transport.constant_rate.rate=1Gbps",
            &format!("transport.mtu={mtu}B"),
            &format!("host.receive={{ring=20,packet_cost=\"{cost_us}us\"}}"),
            "host.rate=1Gbps",
            "run.duration=100ms",
        ];
        let outcome = run(&scenario(FLOW, &settings), 1);
        let sent = 1e9 * 0.1 / (8.0 * f64::from(mtu));
        assert_near("sent", outcome.packets.sent as f64, sent, 0.001);
        let arrived = outcome.packets.delivered as f64 / sent;
        assert_near("delivered", arrived, delivered, 0.002);
        let places = drops_by_place(&outcome.links, None, outcome.ring_drops);
        assert_eq!(places["receive_ring"], outcome.packets.dropped);
        assert_eq!(outcome.packets.dropped > 0, delivered < 1.0);
    }
}
