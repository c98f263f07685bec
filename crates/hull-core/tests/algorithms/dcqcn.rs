//! DCQCN: both forms by hand, the recovery of a single flow in closed form, equilibrium against the
//! paper's fluid model and against a balance between two notifications, bounds.

use hull_core::dcqcn::{Dcqcn, DcqcnConfig};
use proptest::prelude::*;

const US: u64 = 1_000_000;
const GBPS: u64 = 1_000_000_000;
/// Seconds in a ps.
const SECOND: f64 = 1e-12;
/// Packets of the models.
const BYTES: u64 = 1000;

/// The adapter at 100 Gbps, as in the recorded runs.
fn adapter() -> DcqcnConfig {
    DcqcnConfig {
        line_rate_bps: 100 * GBPS,
        min_rate_bps: GBPS,
        additive_bps: GBPS / 50,
        hyper_bps: GBPS / 5,
        gain: 1.0 / 256.0,
        alpha_ps: US,
        decrease_ps: Some(4 * US),
        increase_ps: 300 * US,
        increase_bytes: None,
        recovery_cycles: 1,
        clamps_target: false,
        mark_interval_ps: 0,
    }
}

/// The paper at 40 Gbps.
fn paper() -> DcqcnConfig {
    DcqcnConfig {
        line_rate_bps: 40 * GBPS,
        min_rate_bps: GBPS / 100,
        additive_bps: 40_000_000,
        hyper_bps: 400_000_000,
        gain: 1.0 / 256.0,
        alpha_ps: 55 * US,
        decrease_ps: None,
        increase_ps: 55 * US,
        increase_bytes: Some(10_000_000),
        recovery_cycles: 5,
        clamps_target: true,
        mark_interval_ps: 50 * US,
    }
}

/// The first mark cuts nothing. Alpha stays 1 until the first step without a mark: three steps by
/// 255/256 to 5 us, a mark at 4.5 us in the fourth. The check at 5.001 us halves nearly.
#[test]
fn first_cut_of_the_adapter_is_a_check_later() {
    let config = adapter();
    let mut flow = Dcqcn::new(&config);
    flow.on_mark(&config, US);
    assert_eq!((flow.rate_bps(), flow.alpha()), (100 * GBPS, 1.0));
    flow.on_mark(&config, 4 * US + US / 2);
    flow.advance(&config, 5 * US + 999);
    let kept = 255.0 / 256.0_f64;
    let alpha = kept.powi(3) * kept + 1.0 / 256.0;
    assert!((flow.alpha() - alpha).abs() < 1e-12);
    assert_eq!(flow.rate_bps(), 100 * GBPS);
    flow.advance(&config, 5 * US + 1000);
    let rate = 100e9 * (1.0 - alpha / 2.0);
    assert!((flow.rate_bps() as f64 - rate).abs() < 2.0);
    assert_eq!(flow.target_bps(), 100 * GBPS);
}

/// One mark: cut at 4.001 us with alpha (255/256)^4, then every 300 us half the way to 100 Gbps, for
/// the target is never lower. Recovery, additive and hyper increase find the target at line rate.
#[test]
fn one_mark_recovers_by_halves() {
    let config = adapter();
    let mut flow = Dcqcn::new(&config);
    flow.on_mark(&config, 0);
    let cut_ps = 4 * US + 1000;
    flow.advance(&config, cut_ps);
    let missing = 100e9 * (255.0 / 256.0_f64).powi(4) / 2.0;
    for cycles in 1..=10 {
        flow.advance(&config, cut_ps + cycles * 300 * US - 1);
        let before = 100e9 - missing / f64::from(1 << (cycles - 1));
        assert!((flow.rate_bps() as f64 - before).abs() < 3.0, "{cycles}");
        flow.advance(&config, cut_ps + cycles * 300 * US);
        let after = 100e9 - missing / f64::from(1 << cycles);
        assert!((flow.rate_bps() as f64 - after).abs() < 3.0, "{cycles}");
    }
    // It reaches line rate exactly, and alpha decays to nothing.
    flow.advance(&config, 1_000_000 * US);
    assert_eq!(flow.rate_bps(), 100 * GBPS);
    assert_eq!(flow.alpha(), 0.0);
}

/// With marks in every period alpha stays 1 and each check halves, to the smallest rate. The target
/// keeps the rate before the first cut, until an increase has come; recovery, then 20 Mbps, then 200.
#[test]
fn target_follows_the_first_cut_after_an_increase() {
    let mut config = adapter();
    config.gain = 0.0;
    let mut flow = Dcqcn::new(&config);
    flow.on_mark(&config, 0);
    flow.on_mark(&config, 5 * US);
    flow.advance(&config, 10 * US);
    assert_eq!(
        (flow.rate_bps(), flow.target_bps()),
        (25 * GBPS, 100 * GBPS)
    );
    // The increase timer restarts at the second cut, at 8.001 us.
    flow.advance(&config, 308 * US);
    assert_eq!(flow.rate_bps(), 25 * GBPS);
    flow.advance(&config, 308 * US + 1000);
    assert_eq!(flow.rate_bps(), 62_500_000_000);
    // The next check after the mark is at 312.001 us.
    flow.on_mark(&config, 309 * US);
    flow.advance(&config, 313 * US);
    assert_eq!(
        (flow.rate_bps(), flow.target_bps()),
        (31_250_000_000, 62_500_000_000)
    );
    let cycles = [
        (46_875_000_000, 62_500_000_000),
        (54_697_500_000, 62_520_000_000),
        (58_708_750_000, 62_720_000_000),
        (60_814_375_000, 62_920_000_000),
    ];
    for (cycle, expected) in (1..).zip(cycles) {
        flow.advance(&config, 312 * US + 1000 + cycle * 300 * US);
        assert_eq!((flow.rate_bps(), flow.target_bps()), expected, "{cycle}");
    }
    for check in 0..10 {
        flow.on_mark(&config, (2000 + 4 * check) * US);
    }
    flow.advance(&config, 2100 * US);
    assert_eq!(flow.rate_bps(), GBPS);
}

/// A check that falls on the end of a cycle cuts the increased rate: the target follows it.
#[test]
fn increase_comes_before_a_cut_at_the_same_time() {
    let mut config = adapter();
    config.gain = 0.0;
    let mut flow = Dcqcn::new(&config);
    flow.on_mark(&config, 0);
    flow.advance(&config, 303 * US);
    flow.on_mark(&config, 303 * US);
    flow.advance(&config, 304 * US + 1000);
    assert_eq!(
        (flow.rate_bps(), flow.target_bps()),
        (37_500_000_000, 75 * GBPS)
    );
}

/// The paper's rules: each mark cuts, but not within 50 us of another; alpha falls after 55 us without
/// a mark. Five cycles of recovery, then additive, and hyper only if both counters are beyond five.
#[test]
fn paper_by_hand() {
    let config = paper();
    let mut flow = Dcqcn::new(&config);
    flow.on_mark(&config, 100 * US);
    assert_eq!((flow.rate_bps(), flow.target_bps()), (20 * GBPS, 40 * GBPS));
    assert_eq!(flow.alpha(), 1.0);
    flow.on_mark(&config, 150 * US - 1);
    assert_eq!(flow.rate_bps(), 20 * GBPS);
    flow.on_mark(&config, 150 * US);
    assert_eq!((flow.rate_bps(), flow.target_bps()), (10 * GBPS, 20 * GBPS));
    flow.advance(&config, 205 * US - 1);
    assert_eq!((flow.rate_bps(), flow.alpha()), (10 * GBPS, 1.0));
    flow.advance(&config, 205 * US);
    assert_eq!((flow.rate_bps(), flow.alpha()), (15 * GBPS, 255.0 / 256.0));
    // Cycle 5 ends at 425 us: 20 - 10 / 32 Gbps. The sixth adds 40 Mbps to the target.
    flow.advance(&config, 425 * US);
    assert_eq!(
        (flow.rate_bps(), flow.target_bps()),
        (19_687_500_000, 20 * GBPS)
    );
    flow.advance(&config, 480 * US);
    assert_eq!(
        (flow.rate_bps(), flow.target_bps()),
        (19_863_750_000, 20_040_000_000)
    );
    // Five cycles of bytes are additive too, the sixth and the seventh hyper: the smaller count is 1.
    for _ in 0..5 {
        flow.on_sent(&config, 481 * US, 10_000_000);
    }
    assert_eq!(flow.target_bps(), 20_240_000_000);
    flow.on_sent(&config, 481 * US, 9_999_999);
    assert_eq!(flow.target_bps(), 20_240_000_000);
    flow.on_sent(&config, 481 * US, 1);
    assert_eq!(flow.target_bps(), 20_640_000_000);
    flow.on_sent(&config, 482 * US, 10_000_000);
    assert_eq!(flow.target_bps(), 21_040_000_000);
    // With seven cycles of time too, the smaller count is 2.
    flow.advance(&config, 535 * US);
    assert_eq!(flow.target_bps(), 21_840_000_000);
}

/// Small reproducible pseudo-random numbers (SplitMix64), uniform in 0 to 1.
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as f64 / 2.0_f64.powi(64)
    }
}

/// A difference that grows with a rate and is zero at equilibrium, under a marking probability p of each
/// packet of [`BYTES`].
type Balance = fn(config: &DcqcnConfig, rate: f64, p: f64) -> f64;

fn unmarked(p: f64, packets: f64) -> f64 {
    (1.0 - p).powf(packets)
}

fn packets_per_second(rate: f64) -> f64 {
    rate / (8.0 * BYTES as f64)
}

/// Alpha at equilibrium: the probability of a mark in its timer's period.
fn resting_alpha(config: &DcqcnConfig, rate: f64, p: f64) -> f64 {
    1.0 - unmarked(
        p,
        config.alpha_ps as f64 * SECOND * packets_per_second(rate),
    )
}

/// Fixed point of the paper's fluid model (its equations 7 to 9, as solved in Y. Zhu et al., "ECN or
/// Delay", CoNEXT'16, section 3), in packets: `alpha a^2 / (tau^2 (b + d) (c + e)) = R_AI R`.
fn fluid(config: &DcqcnConfig, rate: f64, p: f64) -> f64 {
    let packets = packets_per_second(rate);
    let tau = config.mark_interval_ps as f64 * SECOND;
    let timer = config.increase_ps as f64 * SECOND * packets;
    let cycle = config.increase_bytes.expect("a byte counter") as f64 / BYTES as f64;
    let recovery = f64::from(config.recovery_cycles);
    let a = 1.0 - unmarked(p, tau * packets);
    let b = p / (unmarked(p, -cycle) - 1.0);
    let c = unmarked(p, recovery * cycle) * b;
    let d = p / (unmarked(p, -timer) - 1.0);
    let e = unmarked(p, recovery * timer) * d;
    let step = packets_per_second(config.additive_bps as f64);
    let alpha = resting_alpha(config, rate, p);
    alpha * a * a / (tau * tau * (b + d) * (c + e)) - step * packets
}

/// Loss and gain of a rate R between two notifications, without the byte counter. The k-th cycle of
/// length T ends before the next notification with probability `s_k = (1 - p)^(R (k T - tau))`, because
/// none comes within tau. k cycles leave `2^-k` of the cut, and the m-th additive one gains R_AI
/// (1 - 2^-m): the target has grown by m R_AI, and R_C is behind it.
fn between_notifications(config: &DcqcnConfig, rate: f64, p: f64) -> f64 {
    let packets = packets_per_second(rate);
    let period = |cycles: u32| {
        let time_ps = u64::from(cycles) * config.increase_ps - config.mark_interval_ps;
        unmarked(p, packets * time_ps as f64 * SECOND)
    };
    let half = |cycles: u32| 0.5_f64.powi(cycles as i32);
    let kept: f64 = 1.0 - (1..200).map(|k| period(k) * half(k)).sum::<f64>();
    let first = config.recovery_cycles;
    let gained: f64 = (1..2000).map(|m| period(first + m) * (1.0 - half(m))).sum();
    let alpha = resting_alpha(config, rate, p);
    rate * alpha / 2.0 * kept - config.additive_bps as f64 * gained
}

/// Rate at equilibrium.
fn resting_rate(config: &DcqcnConfig, p: f64, balance: Balance) -> f64 {
    let (mut low, mut high) = (config.min_rate_bps as f64, config.line_rate_bps as f64);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        match balance(config, middle, p) > 0.0 {
            true => high = middle,
            false => low = middle,
        }
    }
    low
}

/// Mean rate and mean alpha over time of a flow whose packets are marked independently, after a
/// transient of a tenth.
fn measured(config: &DcqcnConfig, p: f64, packets: u32) -> (f64, f64) {
    let mut flow = Dcqcn::new(config);
    let mut uniform = Uniform(7);
    let (mut now_ps, mut sums) = (0, (0.0, 0.0, 0.0));
    for packet in 0..packets {
        flow.on_sent(config, now_ps, BYTES);
        if uniform.next() < p {
            flow.on_mark(config, now_ps);
        }
        let gap_ps = BYTES * 8 * 1_000_000 * US / flow.rate_bps();
        now_ps += gap_ps;
        if packet > packets / 10 {
            let gap = gap_ps as f64;
            sums.0 += gap;
            sums.1 += gap * flow.rate_bps() as f64;
            sums.2 += gap * flow.alpha();
        }
    }
    (sums.1 / sums.0, sums.2 / sums.0)
}

/// The fluid model counts the time tau after a notification among the times in which one may come: with
/// a short tau, rate and alpha are within 5% of it.
#[test]
fn rate_and_alpha_rest_at_the_fixed_point_of_the_fluid_model() {
    let mut config = paper();
    config.mark_interval_ps = 1000;
    for p in [0.0005, 0.001, 0.002, 0.005, 0.01] {
        let rate = resting_rate(&config, p, fluid);
        let alpha = resting_alpha(&config, rate, p);
        let (found, found_alpha) = measured(&config, p, 8_000_000);
        assert!((found / rate - 1.0).abs() < 0.05, "{p}: {found} {rate}");
        assert!(
            (found_alpha / alpha - 1.0).abs() < 0.05,
            "{p}: {found_alpha} {alpha}"
        );
    }
}

/// With the paper's tau of 50 us a cycle of 55 us ends before most notifications, and rates rest a
/// fifth above the fluid model: where loss and gain between two notifications are equal.
#[test]
fn rate_rests_where_loss_and_gain_between_notifications_are_equal() {
    let config = paper();
    for p in [0.0005, 0.001, 0.002, 0.005, 0.01] {
        let rate = resting_rate(&config, p, between_notifications);
        let above = rate / resting_rate(&config, p, fluid);
        assert!((1.17..1.19).contains(&above), "{p}: {above}");
        let (found, _) = measured(&config, p, 8_000_000);
        assert!((found / rate - 1.0).abs() < 0.04, "{p}: {found} {rate}");
    }
}

proptest! {
    /// Rates stay between their bounds, the target is not below the rate, and the order of calls at one
    /// time or extra calls in between change nothing but rounding.
    #[test]
    fn bounds_and_lazy_timers(
        marks in proptest::collection::vec((1_u64..2_000_000_000, any::<bool>()), 1..60),
        of_paper in any::<bool>(),
    ) {
        let config = if of_paper { paper() } else { adapter() };
        let (mut lazy, mut busy) = (Dcqcn::new(&config), Dcqcn::new(&config));
        let mut now_ps = 0;
        for (gap_ps, is_mark) in marks {
            for part in 1..=4 {
                busy.advance(&config, now_ps + gap_ps * part / 4);
            }
            now_ps += gap_ps;
            for flow in [&mut lazy, &mut busy] {
                match is_mark {
                    true => flow.on_mark(&config, now_ps),
                    false => flow.on_sent(&config, now_ps, 4_000_000),
                }
            }
            prop_assert!(lazy.rate_bps().abs_diff(busy.rate_bps()) <= 4);
            prop_assert!((lazy.alpha() - busy.alpha()).abs() < 1e-12);
            let range = config.min_rate_bps..=config.line_rate_bps;
            prop_assert!(range.contains(&lazy.rate_bps()) && range.contains(&lazy.target_bps()));
            prop_assert!((0.0..=1.0).contains(&lazy.alpha()));
        }
    }
}
