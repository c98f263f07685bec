//! DualPI2: constants against iproute2, recursion in floating point, coupling law and operating
//! point of the fluid model, overload, scheduler shares.

use hull_core::dualpi2::{DualPi2, DualPi2Config, DualPi2Credit, HERTZ, ONE, Queue};
use hull_core::phantom_queue::{Drain, PhantomQueue, PhantomQueueConfig};
use hull_core::signal::Signal;
use proptest::prelude::*;

const MS: u64 = 1_000_000_000;
const US: u64 = 1_000_000;

fn hertz(gain: u64) -> f64 {
    gain as f64 / HERTZ as f64
}

/// Uniform bits from a fixed generator (SplitMix64).
struct Bits(u64);

impl Bits {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// A controller whose p is `probability`: alpha = 1/s and beta = 0 bring it there in one update.
fn at(probability: f64, coupling: u32, drop_on_overload: bool) -> DualPi2 {
    let mut pi2 = DualPi2::new(&DualPi2Config {
        target_ps: 0,
        alpha: HERTZ,
        beta: 0,
        coupling,
        drop_on_overload,
        ..DualPi2Config::linux(1500)
    });
    pi2.update((probability * 1e12) as u64, 0);
    let found = pi2.probability() as f64 / ONE as f64;
    assert!((found - probability).abs() < 1e-9 || !drop_on_overload);
    pi2
}

#[test]
fn constants_are_the_published_ones() {
    let linux = DualPi2Config::linux(1500);
    assert_eq!(hertz(linux.alpha), 0.16015625);
    assert_eq!(hertz(linux.beta), 3.19921875);
    let default = DualPi2Config::from_rtt(15 * MS, 100 * MS, 1500);
    assert_eq!(default.interval_ps, 15 * MS);
    assert!((hertz(default.alpha) - 0.15).abs() < 1e-6);
    assert!((hertz(default.beta) - 3.0).abs() < 1e-6);
    let datacentre = DualPi2Config::from_rtt(50 * US, 300 * US, 1500);
    assert_eq!(
        (datacentre.target_ps, datacentre.interval_ps),
        (50 * US, 50 * US)
    );
    assert!((hertz(datacentre.alpha) - 55.5556).abs() < 5e-5);
    assert!((hertz(datacentre.beta) - 1000.0).abs() < 1e-6);
    // A third of the largest round trip bounds the interval.
    assert_eq!(
        DualPi2Config::from_rtt(50 * US, 60 * US, 1500).interval_ps,
        20 * US
    );
}

proptest! {
    /// Matches the recursion in floating point, with Linux's gains and those for a data centre.
    #[test]
    fn follows_its_recursion(
        delays in prop::collection::vec((0_u64..60_000, 0_u64..60_000), 1..200),
        datacentre in any::<bool>(),
        drop_on_overload in any::<bool>(),
    ) {
        let config = if datacentre {
            DualPi2Config::from_rtt(50 * US, 300 * US, 1500)
        } else {
            DualPi2Config::linux(1500)
        };
        let config = DualPi2Config { drop_on_overload, ..config };
        let unit_ps = config.target_ps / 15_000;
        let mut pi2 = DualPi2::new(&config);
        let (mut p, mut before) = (0.0_f64, 0.0);
        for (l4s, classic) in delays {
            pi2.update(l4s * unit_ps, classic * unit_ps);
            let delay = (l4s.max(classic) * unit_ps) as f64 / 1e12;
            let target = config.target_ps as f64 / 1e12;
            p += hertz(config.alpha) * (delay - target) + hertz(config.beta) * (delay - before);
            p = p.clamp(0.0, if drop_on_overload { 1.0 } else { 0.5 });
            before = delay;
            let found = pi2.probability() as f64 / ONE as f64;
            prop_assert!((found - p).abs() < 200.0 / ONE as f64, "{} {}", found, p);
        }
    }

    /// With both queues backlogged, the classic queue gets its share of bytes for any packet sizes.
    #[test]
    fn shares_of_the_scheduler(
        classic_pct in 1_u32..100,
        l4s_bytes in 64_u32..9000,
        classic_bytes in 64_u32..9000,
    ) {
        let mut credit = DualPi2Credit::new(classic_pct, 9000);
        let (mut sent, mut of_classic) = (0_u64, 0_u64);
        for _ in 0..20_000 {
            let queue = credit.next(true, true).unwrap();
            let bytes = if queue == Queue::Classic { classic_bytes } else { l4s_bytes };
            credit.on_sent(queue, bytes, true);
            sent += u64::from(bytes);
            of_classic += if queue == Queue::Classic { u64::from(bytes) } else { 0 };
        }
        // The credit stays within a packet of each queue and its initial value.
        let expected = sent as f64 * f64::from(classic_pct) / 100.0;
        prop_assert!((of_classic as f64 - expected).abs() <= 3.0 * 9000.0);
    }
}

/// Measured mark rates are p_C = p^2, p_L = k p = 2 sqrt(p_C), to within four standard deviations
/// of 400,000 draws.
#[test]
fn coupling_law() {
    let mut bits = Bits(1);
    for probability in [0.01, 0.05, 0.2, 0.45] {
        let pi2 = at(probability, 2, true);
        let draws = 400_000;
        let (mut classic, mut l4s) = (0, 0);
        for _ in 0..draws {
            classic += u32::from(pi2.classic(1 << 20, true, bits.next()) == Signal::Mark);
            l4s += u32::from(pi2.l4s(1 << 20, 0, bits.next()) == Signal::Mark);
        }
        let near = |marks: u32, expected: f64| {
            let deviation = (expected * (1.0 - expected) / f64::from(draws)).sqrt();
            (f64::from(marks) / f64::from(draws) - expected).abs() < 4.0 * deviation
        };
        let squared = probability * probability;
        assert!(near(classic, squared), "{probability} {classic}");
        assert!(near(l4s, 2.0 * squared.sqrt()), "{probability} {l4s}");
    }
}

/// Overload, p above 1/2: both queues drop with p^2 for any codepoint, and the L queue marks the
/// rest. Without drops on overload p is capped at 1/2, which is no overload, and the L queue marks
/// all.
#[test]
fn overload() {
    let mut bits = Bits(2);
    let pi2 = at(0.6, 2, true);
    let draws = 100_000;
    let (mut classic, mut l4s) = (0, 0);
    for _ in 0..draws {
        let signal = pi2.classic(1 << 20, true, bits.next());
        assert_ne!(signal, Signal::Mark);
        classic += u32::from(signal == Signal::Drop);
        let signal = pi2.l4s(1 << 20, 0, bits.next());
        assert_ne!(signal, Signal::Pass);
        l4s += u32::from(signal == Signal::Drop);
    }
    for drops in [classic, l4s] {
        assert!((f64::from(drops) / f64::from(draws) - 0.36).abs() < 4.0 * 0.0016);
    }
    let pi2 = at(0.6, 2, false);
    assert_eq!(pi2.l4s_probability(), ONE);
    assert_eq!(pi2.l4s(1 << 20, 0, u64::MAX), Signal::Mark);
    assert_eq!(pi2.classic(1 << 20, true, 0), Signal::Mark);
}

/// Below two packets p has no effect; the step marks, strictly above its threshold. Classic packets
/// without ECT are dropped.
#[test]
fn step_and_small_queue() {
    let pi2 = at(0.4, 2, true);
    assert_eq!(pi2.classic(2999, true, 0), Signal::Pass);
    assert_eq!(pi2.classic(3000, true, 0), Signal::Mark);
    assert_eq!(pi2.classic(3000, false, 0), Signal::Drop);
    assert_eq!(pi2.l4s(2999, MS, 0), Signal::Pass);
    assert_eq!(pi2.l4s(3000, 0, 0), Signal::Mark);
    assert_eq!(pi2.l4s(0, MS + 1, u64::MAX), Signal::Mark);
}

/// The L queue comes first, then gets 90 bytes per 10 classic bytes: nine to one with packets of
/// 1500 bytes. The initial credit of -80 packets' worth lets eight pass first.
#[test]
fn scheduler_order_by_hand() {
    let mut credit = DualPi2Credit::new(10, 1500);
    let mut turns = Vec::new();
    for _ in 0..29 {
        let queue = credit.next(true, true).unwrap();
        credit.on_sent(queue, 1500, true);
        turns.push(queue);
    }
    // -80 + 10 n is above zero after nine.
    let expected: Vec<Queue> = (0..29)
        .map(|turn| {
            if turn % 10 == 9 {
                Queue::Classic
            } else {
                Queue::L4s
            }
        })
        .collect();
    assert_eq!(turns, expected);
    // A queue served alone leaves the credit unchanged; empty queues reset it.
    let before = credit.clone();
    credit.on_sent(Queue::L4s, 1500, false);
    assert_eq!(credit, before);
    assert_eq!(credit.next(false, true), Some(Queue::Classic));
    assert_eq!(credit.next(false, false), None);
    assert_eq!(credit, DualPi2Credit::new(10, 1500));
}

/// Fluid model: N classic flows with windows W, dW/dt = 1/R - W^2 p^2 / 2R, settle at the target
/// delay with p^2 = 2 / W^2. 100 Mbit/s, 1500-byte packets, 20 ms round trip without the queue.
#[test]
fn settles_at_the_target() {
    let config = DualPi2Config::linux(1500);
    let mut pi2 = DualPi2::new(&config);
    let (capacity, propagation, flows) = (100e6 / 12_000.0, 0.02, 4.0);
    let step = 1e-4;
    let (mut window, mut queue) = (10.0_f64, 0.0_f64);
    let (mut delay_sum, mut p_sum, mut samples) = (0.0, 0.0, 0.0);
    for n in 0..1_000_000 {
        let delay = queue / capacity;
        if n % 160 == 0 {
            pi2.update(0, (delay * 1e12) as u64);
        }
        let p = pi2.probability() as f64 / ONE as f64;
        let round_trip = propagation + delay;
        window += step * (1.0 - window * window * p * p / 2.0) / round_trip;
        queue = (queue + step * (flows * window / round_trip - capacity)).max(0.0);
        if n > 500_000 {
            delay_sum += delay;
            p_sum += p;
            samples += 1.0;
        }
    }
    let delay: f64 = delay_sum / samples;
    assert!((delay - 0.015).abs() < 0.015 * 0.01, "{delay}");
    let expected = 2.0_f64.sqrt() / (capacity * 0.035 / flows);
    let p: f64 = p_sum / samples;
    assert!((p / expected - 1.0).abs() < 0.01, "{p} {expected}");
}

/// The virtual queue: at 97% of 10 Gbps no packet waits, but a phantom queue of 95% exceeds the
/// step of 5 us, after which every packet is marked; at a load of 90% none is.
#[test]
fn the_virtual_queue_marks_before_packets_wait() {
    for (load, marked_late) in [(0.97, true), (0.90, false)] {
        let pi2 = DualPi2::new(&DualPi2Config {
            step_ps: 5 * US,
            ..DualPi2Config::from_rtt(50 * US, 300 * US, 1500)
        });
        let drain_bps = 9_500_000_000;
        let mut phantom = PhantomQueue::new(&PhantomQueueConfig {
            drain_bps,
            threshold_bytes: u32::MAX,
            count_arriving: false,
            drain: Drain::Continuous,
        });
        let gap_ps = (1_200_000.0 / load) as u64;
        let marks: Vec<bool> = (0..2000_u64)
            .map(|number| {
                let now_ps = number * gap_ps;
                let virtual_ps = phantom.backlog_bytes(now_ps) * 8_000_000_000_000 / drain_bps;
                phantom.on_packet(now_ps, 1500);
                pi2.l4s(1500, virtual_ps, u64::MAX) == Signal::Mark
            })
            .collect();
        assert!(!marks[0]);
        assert!(marks[1000..].iter().all(|&mark| mark == marked_late));
    }
}
