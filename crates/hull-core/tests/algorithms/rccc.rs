//! RCCC: pull rate in closed form, fairness of the turns, advance credit and targets by hand,
//! adaptation to oversubscription by hand and its bounds.

use hull_core::rccc::{Credit, Demand, Oversubscription, Pull, PullConfig, PullPacer};
use proptest::prelude::*;

const MAX_WINDOW: u64 = 262_926;

fn pacer(link_bps: u64) -> PullPacer {
    PullPacer::new(&PullConfig {
        link_bps,
        max_window_bytes: MAX_WINDOW,
    })
}

fn demand(backlog_bytes: u64) -> Demand {
    Demand {
        backlog_bytes,
        window_bytes: None,
        active_connections: 1,
    }
}

/// The pull number of a new connection.
fn start() -> u64 {
    let mut pacer = pacer(1_000_000_000);
    let sender = pacer.add_sender();
    pacer.request(sender);
    pacer.next_pull().unwrap().pulled
}

/// With constant demand the credit per second is 0.99 of the link's rate, up to the rounding of a
/// quantum to a picosecond.
#[test]
fn pulls_at_99_percent_of_the_rate() {
    for gbps in [100, 400, 800] {
        let mut pacer = pacer(gbps * 1_000_000_000);
        let sender = pacer.add_sender();
        pacer.on_target(sender, start() + 100_000);
        let (mut time_ps, mut last) = (0, start());
        for _ in 0..1000 {
            let pull = pacer.next_pull().unwrap();
            assert_eq!(pull.pulled - last, 64);
            last = pull.pulled;
            time_ps += pull.gap_ps;
        }
        let rate = (last - start()) as f64 * 2048.0 / time_ps as f64 * 1000.0;
        let exact = gbps as f64 * 0.99;
        assert!(
            rate >= exact && rate < exact * (1.0 + 1.0 / 2500.0),
            "{rate}"
        );
    }
}

/// A quantum takes 20,686 ps at 100 Gbps. A turn takes as long as the credit that it grants; a turn
/// without demand takes four quanta.
#[test]
fn pull_order_by_hand() {
    let mut pacer = pacer(100_000_000_000);
    assert_eq!(pacer.next_pull(), None);
    let (one, two) = (pacer.add_sender(), pacer.add_sender());
    pacer.on_target(one, start() + 100);
    pacer.on_target(two, start() + 5);
    let mut next = || pacer.next_pull().unwrap();
    let pull = |sender, credit: u64, quanta: u64| Pull {
        sender,
        pulled: start() + credit,
        gap_ps: 20_686 * quanta,
    };
    assert_eq!(next(), pull(one, 64, 64));
    assert_eq!(next(), pull(two, 5, 5));
    assert_eq!(next(), pull(one, 100, 36));
    // Advance credit: in turn, 64 at a time, until 1027 quanta (262,926 bytes) ahead: 17 turns
    // each.
    for turn in 1..=17 {
        assert_eq!(next(), pull(two, 5 + 64 * turn, 64));
        assert_eq!(next(), pull(one, 100 + 64 * turn, 64));
    }
    assert_eq!(pacer.next_pull(), None);
    // A trimmed packet gets its turn even with the target below the pull number.
    pacer.request(one);
    pacer.request(one);
    let credit = 100 + 64 * 17;
    assert_eq!(pacer.next_pull(), Some(pull(one, credit, 4)));
    assert_eq!(pacer.next_pull(), Some(pull(one, credit + 64, 64)));
    assert_eq!(pacer.next_pull(), None);
    // A stale target is no demand.
    pacer.on_target(one, start() + 100);
    assert_eq!(pacer.next_pull(), None);
}

/// A finished connection gets no pulls, and a new connection reuses its number from the start.
#[test]
fn finished_sender_is_removed() {
    let mut pacer = pacer(100_000_000_000);
    let (one, two) = (pacer.add_sender(), pacer.add_sender());
    pacer.on_target(one, start() + 100);
    pacer.on_target(two, start() + 5);
    pacer.remove_sender(one);
    assert_eq!(pacer.next_pull().map(|pull| pull.sender), Some(two));
    pacer.remove_sender(two);
    assert_eq!(pacer.next_pull(), None);
    let again = pacer.add_sender();
    assert!(again == one || again == two);
    pacer.on_target(again, start() + 7);
    assert_eq!(pacer.next_pull().map(|pull| pull.pulled), Some(start() + 7));
}

proptest! {
    /// If all senders have demand, none is ever more than one turn ahead of another, and none is
    /// pulled beyond its target before all are satisfied.
    #[test]
    fn pulls_are_fair(targets in prop::collection::vec(1_u64..5000, 2..20)) {
        let mut pacer = pacer(100_000_000_000);
        for &wanted in &targets {
            let sender = pacer.add_sender();
            pacer.on_target(sender, start() + wanted);
        }
        let mut pulled = vec![0; targets.len()];
        let total: u64 = targets.iter().sum();
        while pulled.iter().sum::<u64>() < total {
            let pull = pacer.next_pull().unwrap();
            pulled[pull.sender as usize] = pull.pulled - start();
            let open = (0..targets.len()).filter(|&at| pulled[at] < targets[at]);
            let counts: Vec<u64> = open.map(|at| pulled[at]).collect();
            let spread = counts.iter().max().unwrap_or(&0) - counts.iter().min().unwrap_or(&0);
            prop_assert!(spread <= 64);
            prop_assert!(pulled.iter().zip(&targets).all(|(pulled, target)| pulled <= target));
        }
    }

    /// A slower rate stretches the gaps by its inverse.
    #[test]
    fn slower_rate_stretches_gaps(share in 0.01_f64..1.0) {
        let mut pacer = pacer(100_000_000_000);
        let sender = pacer.add_sender();
        pacer.on_target(sender, start() + 64);
        pacer.set_rate(share);
        let gap_ps = pacer.next_pull().unwrap().gap_ps as f64;
        prop_assert!((gap_ps - 20_686.0 * 64.0 / share).abs() <= 64.0);
    }

    /// Sender and receiver together: for any backlog, a transfer that requests with each packet is
    /// pulled to its end and never has more than a maximum window of credit.
    #[test]
    fn a_transfer_is_pulled_to_its_end(packets in 1_u64..300) {
        let mut pacer = pacer(100_000_000_000);
        let sender = pacer.add_sender();
        let mut credit = Credit::new(MAX_WINDOW, 4150);
        let mut backlog = packets * 4150;
        let mut pulls = 0;
        while backlog > 0 {
            while backlog > 0 && credit.allows() {
                credit.spend(4150);
                backlog -= 4150;
                pacer.on_target(sender, credit.target(&demand(backlog)));
            }
            credit.on_answer();
            if let Some(pull) = pacer.next_pull() {
                credit.on_pull(pull.pulled);
                pulls += 1;
            }
            prop_assert!(credit.bytes() <= MAX_WINDOW as i64);
            prop_assert!(pulls < 2 * packets + 20, "stuck");
        }
    }
}

/// The first window of 262,926 bytes allows 64 packets, the last on 1476 bytes of credit. An answer
/// cancels the rest of the window, but not a debt.
#[test]
fn the_first_window_is_unsolicited() {
    let mut credit = Credit::new(MAX_WINDOW, 4150);
    let mut packets = 0;
    while credit.allows() {
        credit.spend(4150);
        packets += 1;
    }
    assert_eq!((packets, credit.bytes()), (64, 262_926 - 64 * 4150));
    credit.on_answer();
    assert_eq!(credit.bytes(), -2674);
    credit.on_pull(start() + 63);
    assert_eq!(credit.bytes(), -2674 + 16_128);
    let mut credit = Credit::new(MAX_WINDOW, 4150);
    credit.spend(4150);
    credit.on_answer();
    assert_eq!(credit.bytes(), 0);
    credit.on_pull(start() + 2000);
    assert_eq!(credit.bytes(), MAX_WINDOW as i64);
}

/// With 20,000 bytes of backlog and no credit, the target is ceil(20,000 / 256) = 79 quanta above
/// the pull number. The window plus a packet bounds it, and other connections share it. While
/// unsolicited credit is left, the sender requests a packet.
#[test]
fn targets_by_hand() {
    let mut credit = Credit::new(MAX_WINDOW, 4150);
    assert_eq!(credit.target(&demand(20_000)), start() + 17);
    assert_eq!(credit.target(&demand(0)), start() - 1027);
    credit.on_answer();
    assert_eq!(credit.target(&demand(20_000)), start() + 79);
    let windowed = Demand {
        backlog_bytes: 1_000_000,
        window_bytes: Some(10_000),
        active_connections: 2,
    };
    // (10,000 + 4150) / 2 = 7075 bytes.
    assert_eq!(credit.target(&windowed), start() + 28);
    assert_eq!(credit.target(&demand(1_000_000)), start() + 1028);
}

/// Marks: an interval with all packets marked gives g = 0.5, r = 1 - 0.2 * 0.5 = 0.9. Then 10 of
/// 100 trimmed before the last hop and the other 90 unmarked: g = 0.25, r = 0.8. Quiet intervals: +
/// 0.01, 0.02, 0.04, 0.08, ..
#[test]
fn oversubscription_by_hand() {
    let mut fabric = Oversubscription::new(4.0);
    assert_eq!(fabric.end_interval(), 1.0);
    for _ in 0..100 {
        fabric.on_packet(true);
    }
    let ends_at = |fabric: &mut Oversubscription, rate: f64| {
        let found = fabric.end_interval();
        assert!((found - rate).abs() < 1e-12, "{found} {rate}");
    };
    ends_at(&mut fabric, 0.9);
    for number in 0..100 {
        if number < 10 {
            fabric.on_trimmed(false);
        } else {
            fabric.on_packet(false);
        }
    }
    ends_at(&mut fabric, 0.8);
    ends_at(&mut fabric, 0.81);
    ends_at(&mut fabric, 0.83);
    // Incast causes trims at the last hop; a mark below the target stops the doubling.
    fabric.on_trimmed(true);
    for number in 0..10 {
        fabric.on_packet(number == 0);
    }
    ends_at(&mut fabric, 0.84);
    ends_at(&mut fabric, 0.92);
    ends_at(&mut fabric, 1.0);
    // Everything trimmed: the minimum rate, 0.9 / 4.
    for _ in 0..3 {
        fabric.on_trimmed(false);
        fabric.end_interval();
    }
    ends_at(&mut fabric, 0.235);
    let mut wide = Oversubscription::new(1000.0);
    wide.on_trimmed(false);
    assert_eq!(wide.end_interval(), 0.01);
}

#[test]
fn intervals_spread() {
    assert_eq!(Oversubscription::interval_ps(8_000_000, 0), 9_000_000);
    assert_eq!(
        Oversubscription::interval_ps(8_000_000, 1 << 31),
        12_000_000
    );
    assert_eq!(
        Oversubscription::interval_ps(8_000_000, u32::MAX),
        14_999_999
    );
}
