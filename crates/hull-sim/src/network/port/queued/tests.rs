//! Tests of pauses, for each order of service: closed forms, and laws that hold for any traffic.

use crate::network::rules::Site;
use crate::network::test_switch::{Offer, Sent, TestSwitch};
use crate::network::{BufferLimit, DualPi2, FqCodel, Order, PortConfig};
use crate::random::{Purpose, Stream};
use crate::units::Rate;

const RATE_BPS: u64 = 10_000_000_000;
const US: u64 = 1_000_000;

/// Each order of service with its number of queues and of classes. A class has one flow.
fn orders() -> Vec<(Order, usize, u32)> {
    let site = Site {
        rate: Rate(RATE_BPS),
        mtu: 1500,
        seed: 1,
        port: 0,
    };
    let mut dualpi2: DualPi2 = toml::from_str("").expect("has defaults");
    dualpi2.resolve();
    vec![
        (Order::Strict, 4, 4),
        (Order::Turns, 4, 4),
        (Order::Dwrr(vec![1500, 3000, 1500, 6000]), 4, 4),
        (Order::DualPi2(dualpi2, site), 2, 2),
        (Order::FqCodel(FqCodel::default(), site), 1024, 4),
        (Order::Fair(1500), 0, 4),
        (Order::Fq(1500), 0, 4),
        (Order::HostFqCodel(FqCodel::default(), site), 0, 4),
    ]
}

fn switch(order: &Order, queues: usize) -> TestSwitch {
    TestSwitch::new(1, || PortConfig {
        classes: queues,
        order: order.clone(),
        ..PortConfig::plain(RATE_BPS, 0, BufferLimit::Unlimited)
    })
}

/// Ten packets of 1,000 bytes of each of two classes arrive at time 0. Class 0 pauses at 1 us, during a
/// transmission, and resumes at 20 us, when class 1 has sent everything: the packets before leave back
/// to back, those after begin at 20 us.
#[test]
fn a_paused_class_waits_and_the_other_goes_on() {
    for (order, queues, _) in orders() {
        let mut switch = switch(&order, queues);
        for seq in 0..10 {
            for flow in [0, 1] {
                let bytes = 1000;
                assert!(switch.offer(0, (0, 0), Offer { flow, seq, bytes }));
            }
        }
        switch.pause(US, 0, 0);
        switch.resume(20 * US, 0, 0);
        switch.serve(u64::MAX);
        let before = switch.sent.iter().filter(|sent| sent.start_ps < 20 * US);
        let before: Vec<Sent> = before.copied().collect();
        let of_first: Vec<u64> = before
            .iter()
            .filter(|sent| sent.flow == 0)
            .map(|sent| sent.start_ps)
            .collect();
        assert!(of_first.iter().all(|&start_ps| start_ps < US), "{order:?}");
        assert_eq!(before.len() - of_first.len(), 10, "{order:?}");
        let left = 10 - of_first.len() as u64;
        let starts = (0..before.len() as u64).map(|n| n * 800_000);
        let starts = starts.chain((0..left).map(|n| 20 * US + n * 800_000));
        let found: Vec<u64> = switch.sent.iter().map(|sent| sent.start_ps).collect();
        assert_eq!(found, starts.collect::<Vec<_>>(), "{order:?}");
    }
}

/// A class that resumes before it would have been served again has lost nothing: the port sends what one
/// without the pause sends.
#[test]
fn a_pause_within_a_transmission_changes_nothing() {
    for (order, queues, classes) in orders() {
        let run = |pauses: bool| {
            let mut switch = switch(&order, queues);
            for seq in 0..10 {
                for flow in 0..classes {
                    assert!(switch.offer(
                        0,
                        (0, 0),
                        Offer {
                            flow,
                            seq,
                            bytes: 1000
                        }
                    ));
                }
            }
            if pauses {
                (0..classes as usize).for_each(|class| switch.pause(US, 0, class));
                (0..classes as usize).for_each(|class| switch.resume(US + 1000, 0, class));
            }
            switch.serve(u64::MAX);
            switch.sent
        };
        assert_eq!(run(true), run(false), "{order:?}");
    }
}

/// Times in which a class was paused, ps; the last one may last.
#[derive(Default)]
struct Pauses(Vec<(u64, u64)>);

impl Pauses {
    fn is_on(&self) -> bool {
        self.0.last().is_some_and(|last| last.1 == u64::MAX)
    }

    /// Pauses, or resumes, at `now_ps`.
    fn toggle(&mut self, now_ps: u64) {
        match self.0.last_mut() {
            Some(last) if last.1 == u64::MAX => last.1 = now_ps,
            _ => self.0.push((now_ps, u64::MAX)),
        }
    }

    /// Whether a time lies within a pause, and not at its ends.
    fn contain(&self, at_ps: u64) -> bool {
        self.0
            .iter()
            .any(|&(from_ps, to_ps)| from_ps < at_ps && at_ps < to_ps)
    }

    fn cover(&self, from_ps: u64, to_ps: u64) -> bool {
        self.0
            .iter()
            .any(|pause| pause.0 <= from_ps && to_ps <= pause.1)
    }
}

/// With random traffic and pauses: no class sends while it is paused, no packet is lost, none overtakes
/// another of its class, and the link is idle only while all that wait are paused.
#[test]
fn pauses_keep_order_packets_and_work() {
    for (order, queues, classes) in orders() {
        let mut random = Stream::new(23, Purpose::Arrivals, 0);
        let mut switch = switch(&order, queues);
        let mut pauses: [Pauses; 4] = Default::default();
        let (mut now_ps, mut came_ps) = (0, Vec::new());
        for seq in 0..4000 {
            // Bursts of 4 packets on average, a load of about 60%.
            let is_later = random.below(4) == 0;
            if is_later {
                now_ps += 1 + random.below(8_000_000) as u64;
            }
            if is_later && random.below(2) == 0 {
                let class = random.below(classes as usize);
                if pauses[class].is_on() {
                    switch.resume(now_ps, 0, class);
                } else {
                    switch.pause(now_ps, 0, class);
                }
                pauses[class].toggle(now_ps);
            }
            let flow = random.below(classes as usize) as u32;
            let bytes = 64 + random.below(1437) as u16;
            assert!(switch.offer(now_ps, (0, 0), Offer { flow, seq, bytes }));
            came_ps.push(now_ps);
        }
        for (class, pauses) in pauses
            .iter_mut()
            .enumerate()
            .filter(|(_, pauses)| pauses.is_on())
        {
            switch.resume(now_ps, 0, class);
            pauses.toggle(now_ps);
        }
        switch.serve(u64::MAX);
        assert_eq!(switch.sent.len() + switch.lost, came_ps.len(), "{order:?}");
        assert_eq!(switch.network.packets(), 0, "{order:?}");
        let mut last = [None; 4];
        for sent in &switch.sent {
            let flow = sent.flow as usize;
            assert!(last[flow] < Some(sent.seq), "{order:?}: {sent:?}");
            assert!(!pauses[flow].contain(sent.start_ps), "{order:?}: {sent:?}");
            last[flow] = Some(sent.seq);
        }
        let mut idle = 0;
        for (at, pair) in switch.sent.windows(2).enumerate() {
            let (end_ps, to_ps) = (pair[0].end_ps, pair[1].start_ps);
            assert!(end_ps <= to_ps, "{order:?}: {pair:?}");
            // The link is idle from `end_ps` to `to_ps`.
            for sent in &switch.sent[at + 1..] {
                let from_ps = end_ps.max(came_ps[sent.seq as usize]);
                if from_ps < to_ps {
                    let is_paused = pauses[sent.flow as usize].cover(from_ps, to_ps);
                    assert!(is_paused, "{order:?}: {sent:?}");
                    idle += 1;
                }
            }
        }
        assert!(idle > 100, "{order:?}: {idle}");
    }
}

/// A failure of the link ends the pauses, and the packets that wait are lost with it.
#[test]
fn a_failure_ends_pauses() {
    for (order, queues, _) in orders() {
        let mut switch = switch(&order, queues);
        switch.pause(0, 0, 0);
        for seq in 0..3 {
            assert!(switch.offer(
                0,
                (0, 0),
                Offer {
                    flow: 0,
                    seq,
                    bytes: 1000
                }
            ));
        }
        assert_eq!(switch.sent, []);
        assert_eq!(switch.network.fail(US, 0, &[]).len(), 3, "{order:?}");
        switch.network.ports[0].repair();
        assert!(switch.offer(
            2 * US,
            (0, 0),
            Offer {
                flow: 0,
                seq: 3,
                bytes: 1000
            }
        ));
        let starts: Vec<u64> = switch.sent.iter().map(|sent| sent.start_ps).collect();
        assert_eq!(starts, [2 * US], "{order:?}");
    }
}
