//! Tests of the order of service.

use super::*;

fn packet(flow: u32) -> Packet {
    Packet {
        flow,
        ..Packet::with_flags(0)
    }
}

/// A packet that arrives at `arrived_ps` and may be sent at once.
fn at(arrived_ps: u64, packet: Packet) -> Waiting {
    Waiting {
        arrived_ps,
        earliest_ps: arrived_ps,
        packet,
    }
}

fn served(queues: &mut Queues) -> Vec<u32> {
    std::iter::from_fn(|| queues.pop(0).map(|(waiting, _)| waiting.packet.flow)).collect()
}

/// Queues five packets of flow 0, two of flow 1 and one of flow 6 (in the third queue of four).
fn fill(queues: &mut Queues) {
    for flow in [0, 0, 0, 0, 0, 1, 1, 6] {
        queues.push(queues.queue_of(&packet(flow)), at(0, packet(flow)), 0);
    }
}

#[test]
fn round_robin_shares_the_link() {
    let mut queues = Queues::new(4, &Order::Turns, 0);
    fill(&mut queues);
    assert_eq!(served(&mut queues), [0, 1, 6, 0, 1, 0, 0, 0]);
    assert_eq!((queues.bytes(), queues.packets()), (0, 0));
}

/// A flow that comes behind 30 packets of another waits for a turn of that one, at most. With sch_fq
/// the other has spent its first ten packets.
#[test]
fn a_flow_with_a_queue_of_its_own_is_served_next() {
    let site = crate::network::rules::Site {
        rate: crate::units::Rate(1_000_000_000),
        mtu: 1500,
        seed: 0,
        port: 0,
    };
    for order in [
        Order::Fair(1500),
        Order::Fq(1500),
        Order::HostFqCodel(crate::network::FqCodel::default(), site),
    ] {
        let mut queues = Queues::new(0, &order, 0);
        let push = |queues: &mut Queues, flow: u32| {
            let packet = Packet {
                wire_bytes: 1500,
                ..packet(flow)
            };
            queues.push(queues.queue_of(&packet), at(0, packet), 0);
        };
        if queues.manages() {
            for flow in [3, 900, 4, 900] {
                let packet = packet(flow);
                queues.pass_through(at(0, packet));
            }
        }
        (0..30).for_each(|_| push(&mut queues, 900));
        let first: Vec<u32> = (0..11)
            .filter_map(|_| queues.pop(0))
            .map(|(waiting, _)| waiting.packet.flow)
            .collect();
        assert_eq!(first, [900; 11]);
        for flow in [3, 4, 3] {
            push(&mut queues, flow);
        }
        let found = served(&mut queues);
        let place = |flow: u32| found.iter().position(|&one| one == flow);
        assert!(
            place(3) <= Some(2) && place(4) <= Some(4),
            "{order:?}: {found:?}"
        );
    }
}

/// Packets without a class all belong to the first one and leave in order of arrival.
#[test]
fn one_class_is_a_fifo() {
    for order in [Order::Strict, Order::Dwrr(vec![1500, 4500])] {
        let mut queues = Queues::new(2, &order, 0);
        fill(&mut queues);
        assert_eq!(served(&mut queues), [0, 0, 0, 0, 0, 1, 1, 6]);
    }
}

/// Backlogged queues share bytes in proportion to their quanta, for any packet sizes. By hand,
/// with quanta of 1500 and 3000 bytes and packets of 1500 and 1000 bytes: the first queue sends
/// one packet for three of the second.
#[test]
fn deficits_share_bytes_by_weight() {
    let mut queues = Queues::new(2, &Order::Dwrr(vec![1500, 3000]), 0);
    let sized = |flow: u32, wire_bytes: u16| Packet {
        wire_bytes,
        ..packet(flow)
    };
    for _ in 0..6000 {
        queues.push(0, at(0, sized(0, 1500)), 0);
        queues.push(1, at(0, sized(1, 1000)), 0);
    }
    let order: Vec<u32> = (0..8)
        .filter_map(|_| queues.pop(0))
        .map(|(waiting, _)| waiting.packet.flow)
        .collect();
    assert_eq!(order, [0, 1, 1, 1, 0, 1, 1, 1]);
    // Random sizes: over many turns the shares match the quanta to within a turn.
    let mut random = crate::random::Stream::new(3, crate::random::Purpose::Arrivals, 0);
    let quanta = [1500, 3000, 7000];
    let mut queues = Queues::new(3, &Order::Dwrr(quanta.to_vec()), 0);
    let mut sent = [0_u64; 3];
    for step in 0..60_000 {
        for queue in 0..3 {
            let bytes = 64 + random.below(1437) as u16;
            queues.push(queue, at(step, sized(queue as u32, bytes)), 0);
        }
        let packet = queues.pop(step).expect("never empty").0.packet;
        sent[packet.flow as usize] += u64::from(packet.wire_bytes);
    }
    let turns = sent[0] as f64 / f64::from(quanta[0]);
    for (bytes, quantum) in sent.into_iter().zip(quanta) {
        assert!(
            (bytes as f64 / f64::from(quantum) - turns).abs() < 2.0,
            "{sent:?}"
        );
    }
}

/// A queue that is emptied leaves its turn; the bytes of the others and what comes later are served as before.
#[test]
fn an_emptied_queue_leaves_the_round() {
    for (at_front, first) in [(true, 0), (false, 1)] {
        let mut queues = Queues::new(3, &Order::Dwrr(vec![1, 1, 1]), 0);
        let push = |queues: &mut Queues, queue: u32| {
            let packet = Packet {
                wire_bytes: 1,
                ..packet(queue)
            };
            queues.push(queue as usize, at(u64::from(queue), packet), 0);
        };
        for queue in [0, 1, 2, 0, 1, 2] {
            push(&mut queues, queue);
        }
        assert_eq!(queues.first_came_ps(first..3), Some(first as u64));
        let gone = if at_front { 0 } else { 1 };
        assert_eq!(queues.discard(gone).len(), 2);
        assert_eq!(queues.first_came_ps(gone..gone + 1), None);
        assert_eq!((queues.bytes(), queues.packets()), (4, 4));
        push(&mut queues, gone as u32);
        let others = [0, 1, 2].into_iter().filter(|&one| one != gone as u32);
        let others = Vec::from_iter(others);
        let expected = [&others[..], &[gone as u32], &others].concat();
        assert_eq!(served(&mut queues), expected);
    }
}
