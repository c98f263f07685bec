//! The departure-time pacer against the FIFO pacer and closed forms, and its invariants.

use std::collections::VecDeque;

use hull_core::departure_pacer::{
    Departure, DeparturePacer, DeparturePacerConfig, MIN_RATE_BPS, WhenFifoFull,
};
use hull_core::pacer::{Admission, Pacer, PacerConfig};
use proptest::prelude::*;

fn testbed() -> DeparturePacerConfig {
    DeparturePacerConfig {
        max_rate_bps: 1_000_000_000,
        min_rate_bps: 500_000,
        initial_rate_bps: 1_000_000_000,
        bucket_bytes: 3000,
        fifo_bytes: 128_000,
        update_interval_ns: 64_000,
        eta: 8192,
        beta: 16 * 256,
        when_full: WhenFifoFull::Drop,
    }
}

/// The FIFO pacer with the settings that correspond to `config`.
fn with_fifo(config: &DeparturePacerConfig) -> Pacer {
    let config = PacerConfig {
        max_rate_bps: config.max_rate_bps,
        min_rate_bps: config.min_rate_bps,
        initial_rate_bps: config.initial_rate_bps,
        bucket_bytes: config.bucket_bytes,
        fifo_bytes: config.fifo_bytes,
        update_interval_ps: config.update_interval_ns * 1000,
        eta: config.eta,
        beta: config.beta,
        rate_step_bps: 0,
        token_tick_ps: 0,
        when_full: config.when_full,
    };
    Pacer::new(&config, 0)
}

/// Departures (ns) of paced packets (time in ns, bytes) from a FIFO pacer, in order.
fn fifo_departures(mut pacer: Pacer, arrivals: &[(u64, u32)]) -> Vec<f64> {
    let mut waiting = VecDeque::new();
    let mut departures = Vec::new();
    let mut drain = |pacer: &mut Pacer, waiting: &mut VecDeque<u32>, until_ps: u64| {
        while let Some(&head_bytes) = waiting.front() {
            let wake_ps = pacer.next_wake_ps(head_bytes);
            if wake_ps > until_ps {
                break;
            }
            if pacer.poll(wake_ps, head_bytes) {
                waiting.pop_front();
                departures.push(wake_ps as f64 / 1e3);
            }
        }
        departures.len()
    };
    let mut at_once = Vec::new();
    for &(t_ns, bytes) in arrivals {
        let left = drain(&mut pacer, &mut waiting, t_ns * 1000);
        match pacer.admit(t_ns * 1000, bytes, true) {
            Admission::Pass => at_once.push((left + at_once.len(), t_ns as f64)),
            Admission::Queued => waiting.push_back(bytes),
            Admission::Dropped => {}
        }
    }
    drain(&mut pacer, &mut waiting, u64::MAX);
    for (at, t_ns) in at_once {
        departures.insert(at, t_ns);
    }
    departures
}

fn departures(mut pacer: DeparturePacer, arrivals: &[(u64, u32)]) -> Vec<f64> {
    let leave = |&(t_ns, bytes): &(u64, u32)| match pacer.on_packet(t_ns, bytes, true) {
        Departure::Now => Some(t_ns as f64),
        Departure::At(departure_ns) => Some(departure_ns as f64),
        Departure::Dropped => None,
    };
    arrivals.iter().filter_map(leave).collect()
}

/// Bursts of `packets` at 1 Gbps, one every `period_ns`.
fn bursts(count: u64, packets: u64, period_ns: u64) -> Vec<(u64, u32)> {
    let burst = |n: u64| (0..packets).map(move |i| (n * period_ns + i * 12_000, 1500));
    (0..count).flat_map(burst).collect()
}

#[test]
fn a_steady_sender_is_paced_at_its_own_rate() {
    // 1500 bytes every 30 us are 400 Mbps, the fixed point of R (equation 4 with Q = 0).
    let mut pacer = DeparturePacer::new(&testbed());
    for n in 0..64_000 {
        pacer.on_packet(n * 30_000, 1500, false);
    }
    let rates: Vec<f64> = (64_000..65_024_u64)
        .map(|n| {
            pacer.on_packet(n * 30_000, 1500, false);
            pacer.rate_bps() as f64 / 1e6
        })
        .collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    assert!((mean - 400.0).abs() < 4.0, "{mean}");
}

#[test]
fn silence_decays_by_one_minus_eta_for_each_interval() {
    for intervals in [1_u64, 5, 20, 63, 64, 65, 80, 200] {
        let config = DeparturePacerConfig {
            eta: 1024,
            ..testbed()
        };
        let mut pacer = DeparturePacer::new(&config);
        pacer.on_packet(intervals * 64_000, 0, false);
        let expected = (1e9 * (1.0 - 1024.0 / 65536.0_f64).powf(intervals as f64)).max(500_000.0);
        let found = pacer.rate_bps() as f64;
        assert!(
            (found / expected - 1.0).abs() < 0.01,
            "{intervals}: {found} for {expected}"
        );
    }
}

#[test]
fn bursts_wait_little_longer_than_in_a_fifo() {
    // Mean wait of a packet with both pacers. Final departures increase it by up to half: only a
    // FIFO benefits from a rate that rises while a burst waits.
    for (packets, period_ns) in [
        (4, 400_000),
        (10, 400_000),
        (20, 1_000_000),
        (10, 5_000_000),
    ] {
        let arrivals = bursts(400, packets, period_ns);
        let waits = |departures: &[f64]| {
            assert_eq!(departures.len(), arrivals.len());
            let waits = departures.iter().zip(&arrivals);
            waits.map(|(d, a)| d - a.0 as f64).sum::<f64>() / arrivals.len() as f64
        };
        let by_fifo = waits(&fifo_departures(with_fifo(&testbed()), &arrivals));
        let by_departure = waits(&departures(DeparturePacer::new(&testbed()), &arrivals));
        let ratio = by_departure / by_fifo;
        println!("{packets} each {period_ns} ns: {by_departure:.0} and {by_fifo:.0} ns");
        assert!(
            (0.8..1.5).contains(&ratio),
            "{packets} each {period_ns} ns: {by_departure} and {by_fifo} ns"
        );
    }
}

#[test]
fn a_constant_rate_gives_the_departures_of_a_fifo() {
    let config = DeparturePacerConfig {
        eta: 0,
        beta: 0,
        initial_rate_bps: 100_000_000,
        fifo_bytes: 1 << 26,
        ..testbed()
    };
    let arrivals: Vec<(u64, u32)> = (0..500_u64)
        .map(|n| (n * 70_000 + n * n % 977 * 400, 64 + (n * 389 % 1437) as u32))
        .scan(0, |latest, (t_ns, bytes)| {
            *latest = t_ns.max(*latest);
            Some((*latest, bytes))
        })
        .collect();
    let by_fifo = fifo_departures(with_fifo(&config), &arrivals);
    let by_departure = departures(DeparturePacer::new(&config), &arrivals);
    for (at, (a, b)) in by_fifo.iter().zip(&by_departure).enumerate() {
        // Rounded up to a nanosecond, and 2^-8 ns for each packet before it.
        assert!((b - a).abs() < 4.0, "packet {at}: {b} and {a} ns");
    }
}

fn configs() -> impl Strategy<Value = DeparturePacerConfig> {
    (
        (MIN_RATE_BPS..(1 << 40), 1_u32..=1_000_000, 0_u32..=1 << 26),
        (0_u32..=65_536, any::<u32>(), 1_u64..=1_000_000_000),
        any::<bool>(),
    )
        .prop_map(|(sizes, filter, drop)| DeparturePacerConfig {
            max_rate_bps: (1 << 40) - 1,
            min_rate_bps: MIN_RATE_BPS,
            initial_rate_bps: sizes.0,
            bucket_bytes: sizes.1,
            fifo_bytes: sizes.2,
            eta: filter.0,
            beta: filter.1,
            update_interval_ns: filter.2,
            when_full: if drop {
                WhenFifoFull::Drop
            } else {
                WhenFifoFull::Bypass
            },
        })
}

fn arrivals() -> impl Strategy<Value = Vec<(u64, u32, bool)>> {
    let gap_ns = prop_oneof![
        3 => Just(0_u64),
        5 => 0_u64..200_000,
        1 => 0_u64..10_000_000_000,
    ];
    let bytes = prop_oneof![4 => 1_u32..=1514, 1 => 0_u32..=524_288];
    prop::collection::vec((gap_ns, bytes, prop::bool::weighted(0.8)), 1..120)
}

proptest! {
    /// For any settings, arithmetic does not overflow (tests check for it), no departure precedes
    /// its packet or an earlier departure, and R stays within its bounds.
    #[test]
    fn departures_are_in_order(config in configs(), arrivals in arrivals()) {
        let mut pacer = DeparturePacer::new(&config);
        let (mut now_ns, mut last_ns) = (0, 0);
        for (gap_ns, bytes, paced) in arrivals {
            now_ns += gap_ns;
            if let Departure::At(departure_ns) = pacer.on_packet(now_ns, bytes, paced) {
                prop_assert!(paced);
                prop_assert!(departure_ns > now_ns);
                prop_assert!(departure_ns >= last_ns);
                last_ns = departure_ns;
            }
            let rate = pacer.rate_bps();
            prop_assert!((config.min_rate_bps..=config.max_rate_bps).contains(&rate));
        }
    }

    /// Between two paced departures, the bucket and the maximum rate bound the bytes that leave.
    #[test]
    fn the_bucket_bounds_what_leaves(
        bucket_bytes in 1500_u32..20_000,
        arrivals in prop::collection::vec((0_u64..100_000, 64_u32..=1500), 2..120),
    ) {
        let config = DeparturePacerConfig {
            bucket_bytes,
            max_rate_bps: 200_000_000,
            initial_rate_bps: 200_000_000,
            fifo_bytes: 1 << 26,
            ..testbed()
        };
        let mut pacer = DeparturePacer::new(&config);
        let mut now_ns = 0;
        let left: Vec<(u64, u32)> = arrivals
            .iter()
            .map(|&(gap_ns, bytes)| {
                now_ns += gap_ns;
                match pacer.on_packet(now_ns, bytes, true) {
                    Departure::At(departure_ns) => (departure_ns, bytes),
                    _ => (now_ns, bytes),
                }
            })
            .collect();
        for first in 0..left.len() {
            let mut bytes = 0;
            for &(t_ns, size) in &left[first..] {
                bytes += size;
                let allowed = f64::from(bucket_bytes) + (t_ns - left[first].0 + 2) as f64 * 0.025;
                prop_assert!(f64::from(bytes) <= allowed + 2.0, "{bytes} for {allowed}");
            }
        }
    }
}
