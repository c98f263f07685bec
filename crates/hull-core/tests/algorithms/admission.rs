//! Admission: turns and chunks by hand; the window against a plain count of what is on its way, with random requests,
//! losses and repetitions; waits between requests by hand.

use hull_core::admission::{Admission, Admitted, Grant, Settled, Waited};
use proptest::prelude::*;

const NEVER: u64 = u64::MAX;

fn grant(owner: u32, granted: u64) -> Option<Grant> {
    Some(Grant { owner, granted })
}

/// A window of ten packets, chunks of four: 4 + 4 packets go, and a third chunk waits until two have arrived. The
/// rest of a request is less than a chunk.
#[test]
fn connections_take_turns() {
    let mut admission = Admission::new(10_000);
    let [a, b] = [7, 8].map(|owner| admission.open(owner, 1000, 4, 0));
    assert_eq!(admission.on_request(a, 9), None);
    assert_eq!(admission.on_request(b, 5), None);
    assert_eq!(admission.next_grant(), grant(7, 4));
    assert_eq!(admission.next_grant(), grant(8, 4));
    assert_eq!(admission.next_grant(), None);
    assert!(!admission.on_arrival(b, 1).is_done);
    assert_eq!(admission.next_grant(), None);
    assert!(!admission.on_arrival(a, 1).is_done);
    assert_eq!(admission.next_grant(), grant(7, 8));
    assert_eq!(admission.outstanding_bytes(), 10_000);
    assert!(!admission.on_arrival(b, 2).is_done);
    assert_eq!(admission.next_grant(), grant(8, 5));
    assert!(admission.on_arrival(b, 5).is_done);
    assert_eq!(admission.next_grant(), grant(7, 9));
    assert_eq!(admission.next_grant(), None);
    assert!(admission.on_arrival(a, 9).is_done);
    assert_eq!(admission.outstanding_bytes(), 0);
}

/// A repeated request is answered with what has been granted, and takes no further turn.
#[test]
fn repeated_requests_are_answered() {
    let mut admission = Admission::new(4000);
    let number = admission.open(3, 1000, 2, 5);
    assert_eq!(admission.on_request(number, 11), None);
    assert_eq!(admission.on_request(number, 11), Some(5));
    assert_eq!(admission.next_grant(), grant(3, 7));
    assert_eq!(admission.on_request(number, 9), Some(7));
    assert_eq!(admission.next_grant(), grant(3, 9));
    assert_eq!(admission.next_grant(), None);
}

/// Two packets of a group of ten are not needed when the eight granted ones have arrived: the sender is told.
#[test]
fn needless_packets_need_no_turn() {
    let mut admission = Admission::new(8000);
    let number = admission.open(5, 1000, 8, 0);
    admission.on_request(number, 10);
    assert_eq!(admission.next_grant(), grant(5, 8));
    let still = Settled {
        is_done: false,
        granted: None,
    };
    assert_eq!(admission.on_arrival(number, 1), still);
    let all = Settled {
        is_done: true,
        granted: Some(10),
    };
    assert_eq!(admission.on_arrival(number, 10), all);
    assert_eq!(admission.next_grant(), None);
    assert_eq!(admission.outstanding_bytes(), 0);
}

/// What a sender has not sent when it stops gives its room to the others.
#[test]
fn a_stop_returns_what_was_granted() {
    let mut admission = Admission::new(4000);
    let [a, b] = [1, 2].map(|owner| admission.open(owner, 1000, 4, 0));
    admission.on_request(a, 100);
    admission.on_request(b, 4);
    assert_eq!(admission.next_grant(), grant(1, 4));
    assert_eq!(admission.next_grant(), None);
    assert!(!admission.on_stop(a, 1).is_done);
    assert_eq!(admission.outstanding_bytes(), 1000);
    assert!(admission.on_arrival(a, 1).is_done);
    assert_eq!(admission.next_grant(), grant(2, 4));
}

/// Wait of 100: requests at 0, at 20 for a second message, and 200 later; after a grant at 350, which would be followed
/// by a request at 620, 100 and then 200 later. All is granted at 700. The messages wait 350 and 700 - 20.
#[test]
fn requests_are_repeated_with_growing_waits() {
    let mut sender = Admitted::new(0);
    let mut sent = Vec::new();
    sender.write(0, 5000, 5);
    for now_ps in (0..1000).step_by(10) {
        match now_ps {
            20 => sender.write(20, 2000, 7),
            350 => sender.on_grant(350, 4, 100),
            360 => sender.on_grant(360, 3, 100), // overtaken by the later one
            700 => sender.on_grant(700, 7, 100),
            _ => {}
        }
        if let Some(target) = sender.take_request(now_ps, 100) {
            sent.push((now_ps, target));
        }
    }
    let expected = [(0, 5), (20, 7), (220, 7), (450, 7), (650, 7)];
    assert_eq!(sent, expected);
    assert!(sender.allows(6) && !sender.allows(7));
    assert_eq!(sender.request_ps(), NEVER);
    let waited = Waited {
        messages: 2,
        total_ps: 350 + 680,
        longest_ps: 680,
    };
    assert_eq!(sender.take_waited(), waited);
    assert_eq!(sender.take_waited(), Waited::default());
}

/// A small message goes at once, unless an earlier one waits.
#[test]
fn eager_messages_need_no_request() {
    let mut sender = Admitted::new(1000);
    sender.write(0, 1000, 1);
    assert!(sender.allows(0) && sender.request_ps() == NEVER);
    sender.write(0, 1001, 3);
    sender.write(0, 10, 4);
    assert!(!sender.allows(1));
    assert_eq!(sender.take_request(0, 100), Some(4));
    sender.on_grant(1, 3, 100);
    assert!(sender.allows(2) && !sender.allows(3));
    sender.on_grant(2, 4, 100);
    sender.write(3, 10, 5);
    assert!(sender.allows(4) && sender.request_ps() == NEVER);
}

/// One sender of the model: its real state, and what is on the way.
struct Model {
    sender: Admitted,
    number: Option<u32>,
    packet_bytes: u64,
    packets: u64,
    sent: u64,
    /// Sent packets that have not arrived; a lost one stays until it is sent again.
    missing: Vec<u64>,
    grants: Vec<u64>,
}

proptest! {
    /// Granted and sent bytes that have not arrived never exceed the window, and every message is admitted at last,
    /// although a third of all requests and grants are lost.
    #[test]
    fn the_window_is_kept(
        window in 3000_u64..40_000,
        sizes in prop::collection::vec((1_u64..60, 500_u64..3000, 1_u64..9), 1..9),
        draws in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..9), 2000),
    ) {
        let mut admission = Admission::new(window);
        let mut models: Vec<Model> = sizes.iter().map(|&(packets, packet_bytes, _)| {
            let mut sender = Admitted::new(0);
            sender.write(0, packets, packets);
            Model { sender, number: None, packet_bytes, packets, sent: 0, missing: Vec::new(), grants: Vec::new() }
        }).collect();
        let mut now_ps = 0;
        let mut step = |at: usize, lost: bool, admission: &mut Admission, models: &mut Vec<Model>| {
            now_ps += 1;
            let (model, chunk) = (&mut models[at], sizes[at].2);
            if let Some(target) = model.sender.take_request(now_ps, 2) && !lost && target > model.sent - model.missing.len() as u64 {
                let arrived = model.sent - model.missing.len() as u64;
                let number = *model.number.get_or_insert_with(|| admission.open(at as u32, model.packet_bytes, chunk, arrived));
                model.grants.extend(admission.on_request(number, target));
            }
            if let Some(granted) = model.grants.pop() && !lost {
                model.sender.on_grant(now_ps, granted, 2);
            }
            if model.sent < model.packets && model.sender.allows(model.sent) {
                model.missing.push(model.sent);
                model.sent += 1;
            } else if !model.missing.is_empty() && !lost {
                model.missing.remove(now_ps as usize % model.missing.len());
                let arrived = model.sent - model.missing.len() as u64;
                if admission.on_arrival(model.number.unwrap(), arrived).is_done {
                    model.number = None;
                }
            }
            while let Some(grant) = admission.next_grant() {
                models[grant.owner as usize].grants.push(grant.granted);
            }
        };
        for (index, lost) in &draws {
            step(index.index(sizes.len()), *lost < 3, &mut admission, &mut models);
            let on_way: u64 = models.iter().map(|one| one.missing.len() as u64 * one.packet_bytes).sum();
            prop_assert!(on_way <= admission.outstanding_bytes());
            prop_assert!(admission.outstanding_bytes() <= window);
        }
        for at in (0..sizes.len()).cycle().take(200_000) {
            step(at, false, &mut admission, &mut models);
        }
        for model in &models {
            prop_assert!(model.sent == model.packets && model.missing.is_empty() && model.number.is_none());
        }
        prop_assert_eq!(admission.outstanding_bytes(), 0);
    }
}
