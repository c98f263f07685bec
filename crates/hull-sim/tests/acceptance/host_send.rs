//! The sending host: bursts of segmentation offload (thesis 2.2.4: 30 to 40 packets at 10 Gbps), the
//! stack's varying delay against its mean, and the order of packets.

use hull_sim::host::{DelayLine, Received};
use hull_sim::random::{Purpose, Stream};
use hull_sim::scenario::Service;
use hull_sim::service_time::ServiceTime;
use hull_sim::units::Time;

use super::port_bench::{packet, stamp_ps};
use super::star::{BULK, PAYLOAD, US_PS, assert_near, run, scenario};

fn line(mean_us: u64, offset_us: u64) -> DelayLine {
    let service = Service {
        offset: Time(offset_us * US_PS),
        exponential: Some(Time(mean_us * US_PS)),
        gamma: None,
    };
    let delay = ServiceTime::new("host.stack_jitter", &service).expect("valid");
    DelayLine::new(delay, Stream::new(1, Purpose::StackJitter, 0))
}

/// Sends packets at `gap_ps` through a stack; returns their delays, after checking their order.
fn delays_us(mut line: DelayLine, gap_ps: u64, packets: u64) -> Vec<f64> {
    let (mut due_ps, mut delays, mut last) = (None, Vec::new(), 0);
    let mut leave = |line: &mut DelayLine, due_ps: &mut Option<u64>| {
        let Some(now_ps) = *due_ps else { return };
        let (received, next_ps) = line.pop();
        let stamp_ps = stamp_ps(&received.expect("due").packet);
        assert!(stamp_ps > last || last == 0, "overtaken");
        last = stamp_ps;
        delays.push((now_ps - stamp_ps) as f64 * 1e-6);
        *due_ps = next_ps;
    };
    for n in 1..=packets {
        let now_ps = n * gap_ps;
        while due_ps.is_some_and(|at_ps| at_ps <= now_ps) {
            leave(&mut line, &mut due_ps);
        }
        let one = Received {
            packet: packet(1500, 0, now_ps),
            count: 1,
        };
        due_ps = due_ps.or(line.push(now_ps, one));
    }
    while due_ps.is_some() {
        leave(&mut line, &mut due_ps);
    }
    assert!(line.is_empty());
    delays
}

/// Packets far apart have independent delays.
#[test]
fn the_delay_of_a_stack_has_its_mean() {
    let delays = delays_us(line(10, 3), 1000 * US_PS, 400_000);
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    assert_near("mean delay, us", mean, 13.0, 0.01);
    let above = delays.iter().filter(|&&delay| delay > 3.0 + 20.0).count();
    let share = above as f64 / delays.len() as f64;
    assert_near("beyond twice the mean", share, (-2.0_f64).exp(), 0.02);
}

/// Packets g apart wait for the slowest before them: a delay is the maximum of the packet's draw
/// and, for each k, the draw of the k-th packet before it less k g, so that `P(delay <= x)` is the
/// product over k of `1 - exp(-(x + k g) / m)`. Its mean is the integral of 1 - P; within 2%.
#[test]
fn packets_keep_their_order() {
    let (mean, gap) = (10.0, 2.0);
    let below = |x: f64| {
        let k = (0..200).map(|k| 1.0 - (-(x + f64::from(k) * gap) / mean).exp());
        k.product::<f64>()
    };
    let step = 0.01;
    let expected: f64 = (0..20_000)
        .map(|n| (1.0 - below((f64::from(n) + 0.5) * step)) * step)
        .sum();
    let delays = delays_us(line(10, 0), 2 * US_PS, 400_000);
    let measured = delays.iter().sum::<f64>() / delays.len() as f64;
    assert_near("mean delay, us", measured, expected, 0.02);
}

/// One packet each way through the stacks of two hosts takes the base and twice the mean delay.
#[test]
fn stacks_delay_messages_by_their_mean() {
    let settings = [
        "workload.bulk.flows=1",
        "workload.bulk.size=1KB",
        "workload.flows={flows_per_second=20000.0,sizes={fixed=\"1KB\"},sources=1,destinations=0}",
        "host.stack_jitter={offset=\"1us\",exponential=\"10us\"}",
        "topology.star.hosts=3",
    ];
    let outcome = run(&scenario(BULK, &settings), 1);
    let rows = outcome.flows.rows();
    assert!(rows.len() > 19_000);
    let mean = rows.iter().map(|row| row.fct_ps as f64 * 1e-6).sum::<f64>() / rows.len() as f64;
    // 1040 bytes at 10 Gbps and 1 Gbps; occasionally a packet waits for its predecessor.
    let base = 0.832 + 8.32;
    assert!(
        (base + 22.0 - 0.5..base + 22.0 + 8.0).contains(&mean),
        "{mean}"
    );
}

/// The largest queue, in packets, that a message of `packets` builds at the client's port: hosts
/// send at 10 Gbps, the port at 1 Gbps.
fn largest_queue(packets: u64, settings: &[&str]) -> f64 {
    let size = format!("workload.bulk.size={}B", packets * PAYLOAD);
    let window = format!("transport.initial_window={packets}");
    let base = [
        size.as_str(),
        &window,
        "host.delay=1us",
        "switch.delay=1us",
        "measure.sample_interval=1us",
        "run.duration=20ms",
    ];
    let settings: Vec<&str> = base.iter().chain(settings).copied().collect();
    run(&scenario(BULK, &settings), 1).occupancy.max_us / 12.0
}

/// A window of w packets leaves back to back: they arrive 1.2 us apart and leave the port 12 us
/// apart, the first at once. When the last arrives, `w - 1 - floor((w - 1) / 10)` wait.
#[test]
fn a_window_leaves_back_to_back() {
    for packets in [2, 10, 30, 40, 44] {
        let expected = (packets - 1 - (packets - 1) / 10) as f64;
        for offload in ["host.offload=65535B", "host.offload=9KB"] {
            let measured = largest_queue(packets, &[offload]);
            assert_near("largest queue, packets", measured, expected, 0.005);
        }
        let measured = largest_queue(packets, &[]);
        assert_near("without offload", measured, expected, 0.005);
    }
}

/// Through a stack whose delay varies by 100 us, a segment of 44 packets passes as one unit and the
/// NIC splits it; single packets are spread out.
#[test]
fn large_segment_passes_the_stack_as_a_unit() {
    let jitter = "host.stack_jitter={exponential=\"100us\"}";
    let whole = largest_queue(44, &[jitter, "host.offload=65535B"]);
    assert_near("largest queue, packets", whole, 39.0, 0.005);
    let torn = largest_queue(44, &[jitter]);
    assert!(torn < 38.0, "{torn}");
    // Segments of six packets stay together; successive segments do not.
    let pieces = largest_queue(44, &[jitter, "host.offload=9KB"]);
    assert!(torn <= pieces && pieces <= whole, "{torn} {pieces} {whole}");
}
