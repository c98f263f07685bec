//! NIC queue, pacer and flow association of a host, by hand.

use hull_core::flow_association::WhenFull;
use hull_core::pacer::WhenFifoFull;

use super::*;
use crate::network::{BufferLimit, NO_OPTIONS, PortConfig};
use crate::random::Purpose;

const US: u64 = 1_000_000;

/// 1 Gbps, with a bucket of 1500 bytes filled at 100 Mbps; an ECN-Echo associates for 100 us.
fn stage(overtaking: Overtaking) -> PacerStage {
    let pacer = PacerConfig {
        max_rate_bps: 100_000_000,
        min_rate_bps: 100_000_000,
        initial_rate_bps: 100_000_000,
        bucket_bytes: 1500,
        fifo_bytes: 100_000,
        update_interval_ps: 64 * US,
        eta: 0,
        beta: 0,
        rate_step_bps: 0,
        token_tick_ps: 0,
        when_full: WhenFifoFull::Drop,
    };
    let association = FlowAssociationConfig {
        entries: 4,
        probability: u32::MAX,
        timeout_ps: 100 * US,
        when_full: WhenFull::Ignore,
    };
    let port = PortConfig::plain(1_000_000_000, 0, BufferLimit::Unlimited);
    let nic = Nic::new(&port);
    let random = Stream::new(1, Purpose::Association, 0);
    PacerStage::new(nic, &pacer, &association, random, overtaking, 0, 1)
}

fn packet(flow: u32) -> Packet {
    Packet {
        seq: 0,
        ack: 0,
        flow,
        options: NO_OPTIONS,
        hop: 0,
        wire_bytes: 1000,
        flags: flags::DATA,
    }
}

#[test]
fn association_starts_renews_and_expires() {
    let mut stage = stage(Overtaking::Any);
    assert_eq!(stage.on_ece(0, 7), Echo::Begun);
    assert_eq!(stage.on_ece(50 * US, 7), Echo::Renewed);
    assert_eq!(stage.on_ece(149 * US, 7), Echo::Renewed);
    assert_eq!(stage.on_ece(249 * US, 7), Echo::Begun);
    assert_eq!(stage.associations, 4);
}

/// An ECN-Echo associates for 100 us. Where packets restart the timer, those at 80 and 160 us keep the
/// flow paced; the one at 260 us, T_i later, ends it.
#[test]
fn packets_may_restart_the_timer() {
    for restart in [false, true] {
        let mut stage = stage(Overtaking::Any).with_packets_restarting(restart);
        stage.on_ece(0, 7);
        for at_us in [0, 80, 160, 260] {
            let associated = stage.association.len(at_us * US) > 0;
            stage.admit(at_us * US, &packet(7));
            let expected = at_us < 100 || restart && at_us < 260;
            assert_eq!(associated, expected, "{restart} {at_us}");
        }
        assert_eq!(stage.associations, 1);
    }
}

/// Report II-C: the packet that signals the ECN-Echo is the first to be paced.
#[test]
fn echo_packet_is_the_first_to_be_paced() {
    let mut stage = stage(Overtaking::Any);
    let (told, plain) = (
        Packet {
            flags: flags::DATA | flags::ECHOED,
            ..packet(7)
        },
        packet(7),
    );
    assert_eq!(stage.admit(0, &plain), Release::Now);
    assert_eq!((stage.take_drawn(), stage.paced), (None, 0));
    assert_eq!(stage.admit(8 * US, &told), Release::Now);
    assert_eq!(stage.take_drawn(), Some((7, Echo::Begun)));
    assert_eq!(stage.admit(16 * US, &told), Release::Later);
    assert_eq!(stage.take_drawn(), Some((7, Echo::Renewed)));
    assert_eq!((stage.take_drawn(), stage.paced), (None, 1));
}

/// A flow that is no longer associated waits behind its own packets; one that shares its bit
/// does not.
#[test]
fn only_flows_with_waiting_packets_wait() {
    let mut stage = stage(Overtaking::OtherFlows);
    let [a, same_bit] = [1, 65].map(packet);
    assert_eq!(bit_of(a.flow), bit_of(same_bit.flow));
    stage.on_ece(0, a.flow);
    assert_eq!(stage.admit(0, &a), Release::Now);
    for at_us in [8, 16, 24] {
        assert_eq!(stage.admit(at_us * US, &a), Release::Later);
    }
    // The association has ended.
    assert_eq!(stage.admit(101 * US, &a), Release::Later);
    assert_eq!(stage.admit(101 * US, &same_bit), Release::Now);
    let mut at_us = 101;
    while stage.backlog() > 0 {
        at_us += 1;
        assert!(
            stage
                .release(at_us * US)
                .is_none_or(|released| released == a)
        );
    }
    assert_eq!(stage.admit(at_us * US, &a), Release::Now);
}

#[test]
fn waiting_packet_may_block_the_nic() {
    let (paced, other) = (packet(1), packet(2));
    let mut any = stage(Overtaking::Any);
    let mut held = stage(Overtaking::Held);
    for stage in [&mut any, &mut held] {
        stage.on_ece(0, 1);
        // 500 bytes of tokens are left; those for the next packet are complete at 40 us.
        assert_eq!(stage.admit(0, &paced), Release::Now);
        assert_eq!(stage.admit(8 * US, &paced), Release::Later);
        assert_eq!(stage.next_wake_ps(), Some(40 * US));
    }
    assert_eq!(any.admit(16 * US, &other), Release::Now);
    for at_us in [16, 24] {
        assert_eq!(held.admit(at_us * US, &other), Release::Later);
    }
    assert_eq!(held.backlog(), 3);
    assert_eq!(held.release(40 * US), Some(paced));
    // Each packet behind it waits until the previous one is sent.
    for (at_us, next_us) in [(48, Some(56 * US)), (56, None)] {
        assert_eq!(held.release((at_us - 1) * US), None);
        assert_eq!(held.release(at_us * US), Some(other));
        assert_eq!(held.next_wake_ps(), next_us);
    }
    assert_eq!(held.admit(60 * US, &other), Release::Later);
    assert_eq!(held.release(64 * US), Some(other));
    assert_eq!(held.backlog(), 0);
}
