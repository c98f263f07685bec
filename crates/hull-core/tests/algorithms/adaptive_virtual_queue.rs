//! AVQ: against the published recursion in floating point for random arrivals; under constant overload and
//! underload against the closed form of its fluid model.

use hull_core::adaptive_virtual_queue::{AdaptiveVirtualQueue, AdaptiveVirtualQueueConfig};
use proptest::prelude::*;

const LINK_BPS: u64 = 10_000_000_000;

fn config(target_bps: u64, time_constant_ps: u64) -> AdaptiveVirtualQueueConfig {
    AdaptiveVirtualQueueConfig {
        link_bps: LINK_BPS,
        target_bps,
        time_constant_ps,
        buffer_bytes: 15_000,
    }
}

proptest! {
    /// The listing of the paper in bytes and seconds: every mark agrees, except where the virtual
    /// queue is within a hundredth of a byte of its size. Each packet's fill is rounded down by less than
    /// 2^-16 bit, so after n packets the capacity is lower by less than n 2^-16 bit per time constant.
    #[test]
    fn follows_the_published_recursion(
        packets in prop::collection::vec((0_u64..3_000_000, 40_u32..1501), 1..400),
        percent in 50_u64..101,
        time_constant_us in 10_u64..10_000,
    ) {
        let target_bps = LINK_BPS / 100 * percent;
        let mut queue = AdaptiveVirtualQueue::new(&config(target_bps, time_constant_us * 1_000_000));
        let (link, target) = (LINK_BPS as f64 / 8.0, target_bps as f64 / 8.0);
        let alpha = 1e6 / time_constant_us as f64;
        let (mut capacity, mut backlog, mut now_ps) = (target, 0.0_f64, 0);
        for (n, (gap_ps, bytes)) in (1..).zip(packets) {
            now_ps += gap_ps;
            let (gap, size) = (gap_ps as f64 * 1e-12, f64::from(bytes));
            backlog = (backlog - capacity * gap).max(0.0);
            let room = 15_000.0 - backlog - size;
            let marked = queue.on_packet(now_ps, bytes);
            prop_assert!(marked == (room < 0.0) || room.abs() < 0.01, "{}", room);
            backlog += if marked { 0.0 } else { size };
            capacity = ((capacity + alpha * target * gap).min(link) - alpha * size).max(0.0);
            let bps = queue.capacity_bps() as f64;
            let rounded = f64::from(n) * alpha / 65_536.0;
            let low = 8.0 * capacity - bps;
            prop_assert!((-1.0..1.0 + rounded + 1e-9 * bps).contains(&low), "{} {}", bps, capacity);
            prop_assert!((queue.backlog_bytes(now_ps) as f64 - backlog).abs() < 1.01);
        }
    }
}

/// Packets of 1250 bytes at 9.5 Gbps with a target of 9 Gbps and 1 / alpha = 100 us. The capacity falls
/// by (9.5 - 9) Gbps per 100 us, from 9 to 0 Gbps in 1.8 ms. Until then the marked bytes are the integral
/// of 9.5 Gbps less the capacity, less the 15 KB that fill the virtual queue; after it, with the queue
/// full and nothing drained, every packet is marked.
#[test]
fn overload_is_marked_as_the_fluid_says() {
    let mut queue = AdaptiveVirtualQueue::new(&config(9_000_000_000, 100_000_000));
    let gap_ps = 1_052_632; // 1250 bytes at 9.5 Gbps
    let mut marked_bytes = 0.0_f64;
    for n in 1..=5000_u64 {
        let now_ps = n * gap_ps;
        let marked = queue.on_packet(now_ps, 1250);
        let seconds = now_ps as f64 * 1e-12;
        let capacity = (9e9 - 0.5e9 * seconds / 100e-6).max(0.0);
        let found = queue.capacity_bps() as f64;
        assert!((found - capacity).abs() < 0.11e9, "{found} {capacity}"); // a packet's alpha b
        if seconds < 1.8e-3 {
            marked_bytes += if marked { 1250.0 } else { 0.0 };
        } else if seconds > 1.9e-3 {
            assert!(marked, "packet {n}");
        }
    }
    let excess = (9.5e9 * 1.8e-3 - 9e9 * 1.8e-3 / 2.0) / 8.0 - 15_000.0;
    assert!(
        (marked_bytes - excess).abs() < 0.01 * excess,
        "{marked_bytes} {excess}"
    );
}

/// Below the target the capacity rises to the link's rate, less what the last packet took, and nothing
/// is marked.
#[test]
fn underload_is_not_marked() {
    let mut queue = AdaptiveVirtualQueue::new(&config(9_000_000_000, 100_000_000));
    for n in 1..=5000_u64 {
        assert!(!queue.on_packet(n * 1_250_000, 1250), "packet {n}"); // 8 Gbps
    }
    assert_eq!(queue.capacity_bps(), LINK_BPS - 100_000_000);
}

#[test]
fn a_failed_link_empties_it() {
    let mut queue = AdaptiveVirtualQueue::new(&config(9_000_000_000, 100_000_000));
    for _ in 0..4 {
        queue.on_packet(0, 1500);
    }
    assert_eq!(queue.backlog_bytes(0), 6000);
    queue.clear(1000);
    assert_eq!(queue.backlog_bytes(1000), 0);
}

/// The fastest link with the longest time constant, 6.4 Tbps and 10 s, stays within the arithmetic: the
/// capacity starts at the target, and after an hour without packets it is the link's rate.
#[test]
fn fastest_link_is_in_range() {
    let (link_bps, target_bps) = (6_400_000_000_000, 6_272_000_000_000);
    let mut queue = AdaptiveVirtualQueue::new(&AdaptiveVirtualQueueConfig {
        link_bps,
        target_bps,
        time_constant_ps: 10_000_000_000_000,
        buffer_bytes: 1_000_000_000,
    });
    assert_eq!(queue.capacity_bps(), target_bps);
    assert!(!queue.on_packet(3_600_000_000_000_000, 1));
    // One byte of the depth of 8 TB is 0.8 bit/s.
    assert_eq!(queue.capacity_bps(), link_bps - 1);
    assert_eq!(queue.backlog_bytes(3_600_000_000_000_000), 1);
}
