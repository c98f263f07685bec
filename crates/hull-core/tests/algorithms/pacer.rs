//! The pacer driven as a NIC drives it: arrivals, a FIFO and polls.

use std::collections::VecDeque;

use hull_core::pacer::{Admission, Pacer, PacerConfig, WhenFifoFull};
use proptest::prelude::*;

/// The testbed's pacer.
pub fn testbed() -> PacerConfig {
    PacerConfig {
        max_rate_bps: 1_000_000_000,
        min_rate_bps: 500_000,
        initial_rate_bps: 1_000_000_000,
        bucket_bytes: 3000,
        fifo_bytes: 128_000,
        update_interval_ps: 64_000_000,
        eta: 8192,
        beta: 16 * 256,
        rate_step_bps: 0,
        token_tick_ps: 0,
        when_full: WhenFifoFull::Drop,
    }
}

/// Settings around the testbed's; a tick divides T_r, as in the hardware.
fn configs() -> impl Strategy<Value = PacerConfig> {
    (
        (
            500_000_u64..=1_000_000_000,
            1_500_u32..6_000,
            1_500_u32..40_000,
        ),
        (0_u32..=65_536, 0_u32..400_000),
        prop_oneof![Just(0), Just(500_000_u64), 1_u64..3_000_000],
        prop_oneof![Just(0), Just(16_000_000_u64), Just(1_000_000)],
        any::<bool>(),
    )
        .prop_map(
            |(sizes, filter, rate_step_bps, token_tick_ps, drop)| PacerConfig {
                initial_rate_bps: sizes.0,
                bucket_bytes: sizes.1,
                fifo_bytes: sizes.2,
                eta: filter.0,
                beta: filter.1,
                rate_step_bps,
                token_tick_ps,
                when_full: if drop {
                    WhenFifoFull::Drop
                } else {
                    WhenFifoFull::Bypass
                },
                ..testbed()
            },
        )
}

/// Packets as (time since the one before in ps, bytes, paced).
fn arrivals() -> impl Strategy<Value = Vec<(u64, u32, bool)>> {
    let gap_ps = prop_oneof![
        3 => Just(0_u64),
        5 => 0_u64..20_000_000,
        1 => 0_u64..2_000_000_000,
    ];
    prop::collection::vec((gap_ps, 1_u32..=1500, prop::bool::weighted(0.8)), 1..150)
}

/// A NIC's view of a pacer: the FIFO, and the departures that took tokens.
struct Nic {
    pacer: Pacer,
    config: PacerConfig,
    now_ps: u64,
    /// Numbers and sizes of the waiting packets.
    fifo: VecDeque<(usize, u32)>,
    /// Departures that took tokens: bytes, and the integral of the rate (1e-12 bit) until then.
    paid: Vec<(u32, u128)>,
    /// Numbers of the packets that left through the FIFO.
    order: Vec<usize>,
    rate_integral: u128,
    highest_rate_bps: u64,
    bypassed_bytes: u64,
    dropped_bytes: u64,
}

impl Nic {
    fn new(config: PacerConfig) -> Self {
        let pacer = Pacer::new(&config, 0);
        Self {
            highest_rate_bps: pacer.rate_bps(),
            pacer,
            config,
            now_ps: 0,
            fifo: VecDeque::new(),
            paid: Vec::new(),
            order: Vec::new(),
            rate_integral: 0,
            bypassed_bytes: 0,
            dropped_bytes: 0,
        }
    }

    /// Integrates the rate up to `until_ps`, stopping at each rate update.
    fn pass_time(&mut self, until_ps: u64) {
        let interval_ps = self.config.update_interval_ps;
        while self.now_ps < until_ps {
            let next_ps = (self.now_ps / interval_ps + 1) * interval_ps;
            let to_ps = next_ps.min(until_ps);
            self.rate_integral +=
                u128::from(self.pacer.rate_bps()) * u128::from(to_ps - self.now_ps);
            self.pacer.advance(to_ps);
            self.now_ps = to_ps;
            self.highest_rate_bps = self.highest_rate_bps.max(self.pacer.rate_bps());
        }
    }

    /// Polls until `until_ps`, or until the FIFO is empty.
    fn drain(&mut self, until_ps: u64) {
        while let Some(&(number, head_bytes)) = self.fifo.front() {
            let wake_ps = self.pacer.next_wake_ps(head_bytes);
            assert!(wake_ps >= self.now_ps, "a wake-up in the past");
            if wake_ps > until_ps {
                break;
            }
            if wake_ps > self.now_ps {
                let mut early = self.pacer.clone();
                assert!(
                    !early.poll(wake_ps - 1, head_bytes),
                    "the head could leave earlier"
                );
            }
            self.pass_time(wake_ps);
            if self.pacer.poll(wake_ps, head_bytes) {
                self.fifo.pop_front();
                self.order.push(number);
                self.paid.push((head_bytes, self.rate_integral));
            } else {
                let interval_ps = self.config.update_interval_ps;
                assert!(
                    wake_ps.is_multiple_of(interval_ps),
                    "a wake-up without cause"
                );
            }
        }
        if until_ps < u64::MAX {
            self.pass_time(until_ps);
        }
    }

    fn admit(&mut self, number: usize, bytes: u32, paced: bool) {
        // Time has been advanced to now, so a wake-up now means that tokens are available.
        let has_tokens = self.pacer.next_wake_ps(bytes) == self.now_ps;
        let takes_tokens = paced && self.fifo.is_empty() && has_tokens;
        match self.pacer.admit(self.now_ps, bytes, paced) {
            Admission::Pass if takes_tokens => {
                self.paid.push((bytes, self.rate_integral));
            }
            Admission::Pass => {
                let waiting: u32 = self.fifo.iter().map(|packet| packet.1).sum();
                let full = waiting + bytes > self.config.fifo_bytes;
                let bypasses = full && self.config.when_full == WhenFifoFull::Bypass;
                assert!(!paced || bypasses, "a packet overtook the FIFO");
                self.bypassed_bytes += u64::from(bytes);
            }
            Admission::Queued => {
                assert!(paced);
                self.fifo.push_back((number, bytes));
            }
            Admission::Dropped => {
                assert!(paced && self.config.when_full == WhenFifoFull::Drop);
                self.dropped_bytes += u64::from(bytes);
            }
        }
    }
}

proptest! {
    #[test]
    fn keeps_rate_order_and_bytes(config in configs(), arrivals in arrivals()) {
        let mut nic = Nic::new(config);
        let mut handed_bytes = 0;
        let mut at_ps = 0;
        for (number, &(gap_ps, bytes, paced)) in arrivals.iter().enumerate() {
            at_ps += gap_ps;
            nic.drain(at_ps);
            nic.admit(number, bytes, paced);
            handed_bytes += u64::from(bytes);

            let waiting: u32 = nic.fifo.iter().map(|packet| packet.1).sum();
            prop_assert_eq!(nic.pacer.backlog_bytes(), waiting);
            prop_assert!(waiting <= config.fifo_bytes);
            let rate_bps = nic.pacer.rate_bps();
            prop_assert!((config.min_rate_bps..=config.max_rate_bps).contains(&rate_bps));
            if config.rate_step_bps > 0 && rate_bps > config.min_rate_bps && rate_bps < config.max_rate_bps {
                prop_assert_eq!(rate_bps % config.rate_step_bps, 0);
            }
        }
        nic.drain(u64::MAX);
        prop_assert_eq!(nic.pacer.backlog_bytes(), 0);

        let paid_bytes: u64 = nic.paid.iter().map(|packet| u64::from(packet.0)).sum();
        prop_assert_eq!(handed_bytes, paid_bytes + nic.bypassed_bytes + nic.dropped_bytes);
        prop_assert!(nic.order.is_sorted(), "the FIFO keeps the order");

        // Over any interval, at most the bucket and the integral of the rate leave; with ticks,
        // also one tick that began before the interval.
        let allowed = u128::from(config.bucket_bytes) * 8_000_000_000_000
            + u128::from(nic.highest_rate_bps) * u128::from(config.token_tick_ps);
        for first in 0..nic.paid.len() {
            let mut left = 0;
            for last in first..nic.paid.len() {
                left += u128::from(nic.paid[last].0) * 8_000_000_000_000;
                let made = nic.paid[last].1 - nic.paid[first].1;
                prop_assert!(left <= allowed + made, "{} of {}", left, allowed + made);
            }
        }
    }

    /// Advancing time in any number of steps leads to the same state.
    #[test]
    fn time_may_be_advanced_in_parts(
        config in configs(),
        start_ps in 0_u64..200_000_000,
        first_bytes in 1_u32..9_000,
        mut stops_ps in prop::collection::vec(0_u64..20_000_000_000, 0..50),
    ) {
        let mut whole = Pacer::new(&config, start_ps);
        whole.admit(start_ps, first_bytes, false);
        let mut parts = whole.clone();
        stops_ps.sort_unstable();
        for stop_ps in stops_ps {
            parts.advance(start_ps + stop_ps);
        }
        whole.advance(start_ps + 20_000_000_000);
        parts.advance(start_ps + 20_000_000_000);
        prop_assert_eq!(whole, parts);
    }

    /// Equation 4 has one fixed point for a constant input: R is the input rate and Q is empty.
    /// Inputs end at 750 Mbps: above, a tick of 16 us adds more than 1500 bytes, a bucket of 3 KB
    /// that holds almost a packet overflows, and R must stay above the input.
    #[test]
    fn a_constant_input_settles(
        packets in 1_u64..=4,
        initial_rate_bps in 500_000_u64..1_000_000_000,
        steps: bool,
    ) {
        let config = PacerConfig {
            initial_rate_bps,
            fifo_bytes: 1_000_000,
            rate_step_bps: if steps { 500_000 } else { 0 },
            token_tick_ps: if steps { 16_000_000 } else { 0 },
            ..testbed()
        };
        let mut nic = Nic::new(config);
        let gap_ps = config.update_interval_ps / packets;
        for number in 0..packets * 4_000 {
            let interval = number / packets * config.update_interval_ps;
            nic.drain(interval + number % packets * gap_ps);
            nic.admit(number as usize, 1500, true);
        }
        let input_bps = packets * 1500 * 8 * 1_000_000 / 64;
        let off_bps = nic.pacer.rate_bps().abs_diff(input_bps);
        // A packet that waits between two updates adds 8 beta Q / eta: 1.5 Mbps for 1500 bytes.
        prop_assert!(off_bps <= 2_000_000, "{} of {}", nic.pacer.rate_bps(), input_bps);
        prop_assert!(nic.pacer.backlog_bytes() <= 1500, "{}", nic.pacer.backlog_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// An on-off host that sends at most its rate C never has a backlog of more than C T_r/eta,
    /// plus the arrivals until the next update and two packets (packets arrive and leave whole): by
    /// equation 4, while packets wait, dR = eta/T_r (M - R) + beta/T_r Q is at least eta/T_r of dQ
    /// = M - R, so that R is C by then.
    #[test]
    fn the_backlog_stays_below_the_rate_times_the_filters_time(
        trains in prop::collection::vec((1_u32..400, 0_u64..3_000_000_000), 1..30),
        eighths in 1_u32..=8,
        beta in 0_u32..400,
        gbps in prop_oneof![Just(1_u64), Just(10), Just(100)],
    ) {
        let config = PacerConfig {
            max_rate_bps: gbps * 1_000_000_000,
            initial_rate_bps: 500_000,
            fifo_bytes: 100_000_000,
            eta: eighths * 8192,
            beta: beta * 256,
            update_interval_ps: 72_000_000 / gbps,
            ..testbed()
        };
        let mut nic = Nic::new(config);
        // T_r is six packet times. With a fractional number R, clamped at line rate, would be below
        // M/T on average, and beta would have to compensate.
        let most_bytes = 9000 * 8 / eighths + 9000 + 2 * 1500;
        let (packet_ps, mut at_ps, mut number) = (12_000_000 / gbps, 0, 0);
        for (packets, pause_ps) in trains {
            for _ in 0..packets {
                nic.drain(at_ps);
                nic.admit(number, 1500, true);
                let backlog = nic.pacer.backlog_bytes();
                prop_assert!(backlog <= most_bytes, "{backlog} of {most_bytes}");
                number += 1;
                at_ps += packet_ps;
            }
            at_ps += pause_ps / gbps;
        }
    }
}

/// Two months without packets cost no more than the decay to the minimum rate.
#[test]
fn a_long_idle_time_is_cheap() {
    let mut pacer = Pacer::new(&testbed(), 0);
    pacer.admit(0, 3000, true);
    pacer.advance(5_000_000_000_000_000_000);
    assert_eq!(pacer.rate_bps(), 500_000);
    let now_ps = 5_000_000_000_000_000_000;
    assert_eq!(
        pacer.admit(now_ps, 3000, true),
        Admission::Pass,
        "the bucket is full again"
    );
    assert_eq!(pacer.admit(now_ps, 1, true), Admission::Queued);
}

/// A packet larger than the bucket leaves, and the average rate holds.
#[test]
fn packets_above_the_bucket_keep_the_rate() {
    let config = PacerConfig {
        bucket_bytes: 1000,
        initial_rate_bps: 100_000_000,
        eta: 0,
        beta: 0,
        ..testbed()
    };
    let mut nic = Nic::new(config);
    for number in 0..80 {
        nic.admit(number, 1500, true);
    }
    nic.drain(u64::MAX);
    // The first leaves at once and each later one pays for 1500 bytes: 79 times 120 us.
    assert_eq!(nic.now_ps, 79 * 120_000_000);
}
