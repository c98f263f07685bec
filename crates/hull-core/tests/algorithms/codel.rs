//! CoDel and FQ-CoDel: drop times in closed form, start, end and resumption of dropping, marks;
//! shares and precedence of the flow lists.

use hull_core::codel::{Codel, CodelConfig};
use hull_core::fq_codel::FlowQueues;
use hull_core::signal::Signal;
use proptest::prelude::*;

const MS: u64 = 1_000_000_000;

fn codel() -> Codel {
    Codel::new(&CodelConfig::published(1500))
}

/// Times (us) at which CoDel drops or marks packets that leave every 10 us with a delay of 10 ms.
fn signals(codel: &mut Codel, from_us: u64, to_us: u64, ect: bool) -> Vec<u64> {
    let mut times = Vec::new();
    for at_us in (from_us..to_us).step_by(10) {
        while codel.on_departure(at_us * 1_000_000, 10 * MS, 100_000, ect) != Signal::Pass {
            times.push(at_us);
            if ect {
                break;
            }
        }
    }
    times
}

/// The first drop is the first packet more than 100 ms after the delay rose; the n-th gap after it
/// is 100 ms / sqrt(n), rounded up to the next packet. Marks occur at the same times.
#[test]
fn drop_times_in_closed_form() {
    for ect in [false, true] {
        let found = signals(&mut codel(), 0, 2_000_000, ect);
        let mut due_us = 100_010.0_f64;
        let mut expected = Vec::new();
        for count in 1.. {
            let packet = ((due_us - 1e-3) / 10.0).ceil() * 10.0;
            if packet >= 2e6 {
                break;
            }
            expected.push(packet as u64);
            due_us += 1e5 / f64::from(count).sqrt();
        }
        assert!(found.len() > 80);
        assert_eq!(found, expected, "{ect}");
    }
}

/// A delay below the target, a backlog of one packet or an empty queue ends dropping; the delay
/// must then be high for another 100 ms.
#[test]
fn short_delay_ends_dropping() {
    for end in 0..3 {
        let mut codel = codel();
        assert_eq!(signals(&mut codel, 0, 150_000, false), [100_010]);
        let now_ps = 150_000 * 1_000_000;
        match end {
            0 => assert_eq!(
                codel.on_departure(now_ps, 5 * MS - 1, 100_000, false),
                Signal::Pass
            ),
            1 => assert_eq!(
                codel.on_departure(now_ps, 10 * MS, 1500, false),
                Signal::Pass
            ),
            _ => codel.on_empty(),
        }
        assert_eq!(signals(&mut codel, 150_010, 300_000, false), [250_020]);
    }
}

/// Dropping that resumes within 16 intervals starts at the previous run's count of drops after its
/// first; later, at one.
#[test]
fn the_count_is_remembered_for_a_while() {
    for (pause_us, resumes) in [(50_000, true), (1_700_000, false)] {
        let mut codel = codel();
        let first = signals(&mut codel, 0, 1_000_000, false).len() as u64;
        assert_eq!(codel.count(), first);
        codel.on_departure(1_000_000 * 1_000_000, 0, 100_000, false);
        let from_us = 1_000_000 + pause_us;
        let again = signals(&mut codel, from_us, from_us + 101_000, false);
        assert_eq!(again[0], from_us + 100_010);
        assert_eq!(codel.count(), if resumes { first - 1 } else { 1 });
    }
}

/// After a long stall, overdue drops take consecutive packets at the same instant.
#[test]
fn overdue_drops_come_at_once() {
    let mut codel = codel();
    assert_eq!(signals(&mut codel, 0, 110_000, false), [100_010]);
    // Drops by 500 ms: at 200.01, then 70.7, 57.7, 50.0, 44.7, 40.8 and 37.8 ms later: six of them.
    let mut drops = 0;
    while codel.on_departure(500 * MS, 10 * MS, 100_000, false) == Signal::Drop {
        drops += 1;
    }
    assert_eq!(drops, 6);
    // Marking signals only one packet at a time.
    let mut codel = begun();
    assert_eq!(
        codel.on_departure(500 * MS, 10 * MS, 100_000, true),
        Signal::Mark
    );
    assert_eq!(codel.count(), 2);
}

/// A queue that started dropping at 100.01 ms.
fn begun() -> Codel {
    let mut codel = codel();
    signals(&mut codel, 0, 110_000, true);
    codel
}

/// Serves backlogged flows, each with its packet size; returns the bytes sent per flow.
fn send(queues: &mut FlowQueues, sizes: &[u32], packets: usize) -> Vec<u64> {
    let mut bytes = vec![0; sizes.len()];
    for _ in 0..packets {
        let flow = queues.next(|_| true, |_| {}).unwrap();
        queues.on_sent(flow, sizes[flow as usize]);
        bytes[flow as usize] += u64::from(sizes[flow as usize]);
    }
    bytes
}

proptest! {
    /// The bytes sent by two backlogged flows differ by at most a quantum and a packet of each.
    #[test]
    fn shares_are_equal(sizes in prop::collection::vec(64_u32..9000, 2..12), quantum in 300_u32..10_000) {
        let mut queues = FlowQueues::new(sizes.len() as u32, quantum);
        for flow in 0..sizes.len() as u32 {
            queues.on_arrival(flow);
        }
        let bytes = send(&mut queues, &sizes, 20_000);
        let spread = bytes.iter().max().unwrap() - bytes.iter().min().unwrap();
        prop_assert!(spread <= u64::from(quantum) + 2 * 9000, "{:?}", bytes);
    }
}

/// A sparse flow is served before backlogged flows; an empty flow leaves the lists.
#[test]
fn new_flows_first() {
    let mut queues = FlowQueues::new(3, 1500);
    queues.on_arrival(0);
    queues.on_arrival(1);
    send(&mut queues, &[1500, 1500, 100], 10);
    queues.on_arrival(2);
    assert_eq!(queues.next(|_| true, |_| {}), Some(2));
    queues.on_sent(2, 100);
    // Its queue is empty: it waits behind the old flows and leaves at its turn.
    let waits = |flow| flow != 2;
    let mut turns: Vec<u32> = Vec::new();
    for _ in 0..6 {
        let flow = queues.next(waits, |_| {}).unwrap();
        queues.on_sent(flow, 1500);
        turns.push(flow);
    }
    assert!(turns.windows(2).all(|pair| pair[0] != pair[1]));
    assert_eq!(queues.next(|_| false, |_| {}), None);
    // All flows have left: a flow that gets a packet is new again.
    queues.on_arrival(1);
    assert_eq!(queues.next(|flow| flow == 1, |_| {}), Some(1));
}

/// A flow that leaves and returns immediately with each packet cannot starve the others: its next
/// packet waits for a pass through the old flows.
#[test]
fn a_thin_flow_does_not_starve_others() {
    let mut queues = FlowQueues::new(2, 1500);
    queues.on_arrival(0);
    send(&mut queues, &[1500, 1500], 3);
    let (mut thin, mut thick) = (0, 0);
    for _ in 0..1000 {
        queues.on_arrival(1);
        match queues.next(|_| true, |_| {}).unwrap() {
            0 => {
                queues.on_sent(0, 1500);
                thick += 1;
            }
            _ => {
                queues.on_sent(1, 1500);
                thin += 1;
                // Its queue is empty at its next turn.
                if queues.next(|flow| flow == 0, |_| {}) == Some(0) {
                    queues.on_sent(0, 1500);
                    thick += 1;
                }
            }
        }
    }
    assert!(thick >= thin, "{thick} {thin}");
}
