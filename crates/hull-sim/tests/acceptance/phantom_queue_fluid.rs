//! The phantom queue of a port against a fluid integration of it (paper 2.1): the backlog of a
//! fluid that flows in as packets leave the port (in parallel, remark 1: as they arrive at it) and
//! out at the drain rate, in floating point, with departures from Lindley's recursion. Every mark
//! agrees, except where the fluid is within a thousandth of a byte of the threshold. The time of
//! the first mark under constant overload is also compared with its closed form.

use hull_core::phantom_queue::{Drain, PhantomQueue, PhantomQueueConfig};
use hull_sim::network::rules::VirtualQueue;
use hull_sim::network::{BufferLimit, NO_OPTIONS, OptionTable, Packet, Port, PortConfig, flags};
use hull_sim::random::{Purpose, Stream};

const RATE_BPS: u64 = 1_000_000_000;
/// Time of a byte on the link, ps.
const BYTE_PS: f64 = 8000.0;

struct Setting {
    drain_bps: u64,
    threshold_bytes: u32,
    count_arriving: bool,
    drain: Drain,
    /// In parallel with the port's queue instead of behind it.
    parallel: bool,
}

fn port(setting: &Setting) -> Port {
    let queue = PhantomQueue::new(&PhantomQueueConfig {
        drain_bps: setting.drain_bps,
        threshold_bytes: setting.threshold_bytes,
        count_arriving: setting.count_arriving,
        drain: setting.drain,
    });
    Port::new(PortConfig {
        phantom_queue: (!setting.parallel).then(|| queue.clone()),
        rules: if setting.parallel {
            vec![Box::new(VirtualQueue(queue))]
        } else {
            Vec::new()
        },
        ..PortConfig::plain(RATE_BPS, 0, BufferLimit::Unlimited)
    })
}

fn packet(wire_bytes: u16, ect: bool) -> Packet {
    Packet {
        seq: 0,
        ack: 0,
        flow: 0,
        options: NO_OPTIONS,
        wire_bytes,
        hop: 0,
        flags: flags::DATA | if ect { flags::ECT0 } else { 0 },
    }
}

/// Poisson arrivals of random sizes at 92% of the link, one in eight not ECN-capable: these fill
/// the phantom queue and are not marked. Returns the marked share.
fn compare(setting: &Setting) -> f64 {
    let mut port = port(setting);
    let mut options = OptionTable::default();
    let mut random = Stream::new(11, Purpose::Arrivals, 0);
    let packets = 300_000;
    let (mut now_ps, mut free_ps, mut backlog, mut drained_to_ps) = (0_u64, 0.0, 0.0_f64, 0.0);
    let (mut marks, mut close_calls) = (0_u64, 0);
    for i in 0..packets {
        let bytes = 64 + random.below(1437) as u16;
        now_ps += random.exponential(782.0 * BYTE_PS / 0.92);
        let ect = random.below(8) > 0;
        let before = port.marks;
        port.enqueue(now_ps, now_ps, &mut packet(bytes, ect), &mut options);
        let marked = port.marks > before;
        marks += u64::from(marked);

        let leaves_ps: f64 = f64::max(now_ps as f64, free_ps);
        free_ps = leaves_ps + f64::from(bytes) * BYTE_PS;
        let counted_ps = if setting.parallel {
            now_ps as f64
        } else {
            leaves_ps
        };
        let drains_to_ps = match setting.drain {
            Drain::Continuous => counted_ps,
            Drain::Ticks { tick_ps } => (counted_ps / tick_ps as f64).floor() * tick_ps as f64,
        };
        let outflow = (drains_to_ps - drained_to_ps) * 1e-12 * setting.drain_bps as f64 / 8.0;
        drained_to_ps = drains_to_ps;
        backlog = (backlog - outflow).max(0.0);
        let found = backlog;
        backlog += f64::from(bytes);
        let compared = if setting.count_arriving {
            backlog
        } else {
            found
        };
        let distance = compared - f64::from(setting.threshold_bytes);
        if distance.abs() < 1e-3 {
            close_calls += 1;
        } else {
            assert_eq!(
                marked,
                ect && distance > 0.0,
                "packet {i}, {distance} B above threshold"
            );
        }
    }
    assert!(
        close_calls < packets / 1000,
        "{close_calls} packets were at the threshold"
    );
    marks as f64 / f64::from(packets)
}

#[test]
fn continuous_drain_marks_where_the_fluid_is_above_the_threshold() {
    for (drain_bps, threshold_bytes, count_arriving, parallel) in [
        (950_000_000, 1000, false, false),
        (950_000_000, 6000, true, false),
        (800_000_000, 30_000, false, false),
        (950_000_000, 1000, false, true),
        (950_000_000, 6000, true, true),
        (800_000_000, 30_000, false, true),
    ] {
        let share = compare(&Setting {
            drain_bps,
            threshold_bytes,
            count_arriving,
            drain: Drain::Continuous,
            parallel,
        });
        assert!(
            (0.05..0.95).contains(&share),
            "the test must see both: {share} marked"
        );
    }
}

#[test]
fn ticks_drain_the_fluid_in_steps() {
    for parallel in [false, true] {
        compare(&Setting {
            drain_bps: 950_000_000,
            threshold_bytes: 1000,
            count_arriving: false,
            drain: Drain::Ticks { tick_ps: 800_000 },
            parallel,
        });
    }
}

/// Packets of 1500 bytes back to back on a full link: the packet that leaves at n S finds n (1 -
/// gamma) 1500 bytes more than the first found. With gamma = 0.95 that is 75 n bytes, so packet n =
/// 81 (6075 bytes) is the first to exceed 6000 bytes. In parallel all arrive at once, and packet n
/// finds 1500 n bytes: the first above 6000 is n = 5.
#[test]
fn constant_overload_reaches_the_threshold_when_the_closed_form_says() {
    for (parallel, last_unmarked) in [(false, 80), (true, 4)] {
        let mut options = OptionTable::default();
        let mut port = port(&Setting {
            drain_bps: 950_000_000,
            threshold_bytes: 6000,
            count_arriving: false,
            drain: Drain::Continuous,
            parallel,
        });
        for n in 0..200 {
            let before = port.marks;
            port.enqueue(0, 0, &mut packet(1500, true), &mut options);
            assert_eq!(port.marks > before, n > last_unmarked, "packet {n}");
        }
    }
}

/// In parallel only accepted packets count. Of ten packets at once the port takes one into service
/// and two into its buffer; three packets of 1500 bytes are 4500 bytes, 12 us later 1425 fewer.
#[test]
fn parallel_queue_ignores_dropped_packets() {
    let mut options = OptionTable::default();
    let mut port = Port::new(PortConfig {
        rules: vec![Box::new(VirtualQueue(PhantomQueue::new(
            &PhantomQueueConfig {
                drain_bps: 950_000_000,
                threshold_bytes: 6000,
                count_arriving: false,
                drain: Drain::Continuous,
            },
        )))],
        ..PortConfig::plain(RATE_BPS, 0, BufferLimit::Packets(2))
    });
    for _ in 0..10 {
        port.enqueue(0, 0, &mut packet(1500, true), &mut options);
    }
    assert_eq!((port.drops, port.marks), (7, 0));
    assert_eq!(port.phantom_bytes(0, &mut options), Some(4500));
    assert_eq!(port.phantom_bytes(12_000_000, &mut options), Some(3075));
    port.fail(12_000_000, &mut options);
    assert_eq!(port.phantom_bytes(12_000_000, &mut options), Some(0));
}

/// A reading at any time, before or after departures that are counted already, is the fluid's
/// backlog at that time.
#[test]
fn read_at_any_time() {
    let drain_bps = 900_000_000;
    let mut options = OptionTable::default();
    let mut port = port(&Setting {
        drain_bps,
        threshold_bytes: 1000,
        count_arriving: false,
        drain: Drain::Continuous,
        parallel: false,
    });
    let mut random = Stream::new(12, Purpose::Arrivals, 0);
    let (mut now_ps, mut free_ps) = (0_u64, 0_u64);
    let mut departures: Vec<(u64, u16)> = Vec::new();
    let (mut backlog, mut counted_to_ps, mut next, mut waited) = (0.0_f64, 0_u64, 0, 0);
    for _ in 0..100_000 {
        now_ps += random.exponential(782.0 * BYTE_PS / 0.92);
        let bytes = 64 + random.below(1437) as u16;
        port.enqueue(now_ps, now_ps, &mut packet(bytes, true), &mut options);
        let leaves_ps = free_ps.max(now_ps);
        free_ps = leaves_ps + u64::from(bytes) * BYTE_PS as u64;
        departures.push((leaves_ps, bytes));
        now_ps += random.exponential(300.0 * BYTE_PS);
        let drained =
            |from_ps: u64, to_ps: u64| (to_ps - from_ps) as f64 * 1e-12 * drain_bps as f64 / 8.0;
        while let Some(&(at_ps, bytes)) = departures.get(next).filter(|next| next.0 <= now_ps) {
            backlog = (backlog - drained(counted_to_ps, at_ps)).max(0.0) + f64::from(bytes);
            (counted_to_ps, next) = (at_ps, next + 1);
        }
        waited += usize::from(next < departures.len());
        let fluid = (backlog - drained(counted_to_ps, now_ps)).max(0.0);
        let found = port
            .phantom_bytes(now_ps, &mut options)
            .expect("a phantom queue") as f64;
        assert!(
            (found - fluid).abs() <= 0.6,
            "{found} for {fluid} at {now_ps} ps"
        );
    }
    assert!(waited > 20_000, "{waited}");
}
