//! Strict priority against the non-preemptive M/G/1 queue with two classes (Cobham 1954): with W0
//! half the sum of lambda E[S^2] over the classes, the mean waits are `W0 / (1 - rho1)` and `W0 /
//! ((1 - rho1) (1 - rho1 - rho2))`. Within 2%. Also per-class buffers, shared memory, and the
//! classifier of paper 6.2.2 end to end.

use hull_sim::network::{BufferLimit, PortConfig, SharedBufferConfig};
use hull_sim::random::{Purpose, Stream};

use super::port_bench::{Bench, Sent, packet, stamp_ps};
use super::star::{BULK, PACKET_PS, assert_near, run, scenario};

const GBPS: u64 = 1_000_000_000;

fn port(buffer: BufferLimit) -> PortConfig {
    PortConfig {
        classes: 2,
        ..PortConfig::plain(GBPS, 0, buffer)
    }
}

/// Offers Poisson arrivals of both classes at loads `rho`: class 0 has packets of 300 bytes, class
/// 1 of 1500 and, one in ten, 9000 bytes. Returns the mean waits, us.
fn waits_us(bench: &mut Bench, rho: [f64; 2]) -> [f64; 2] {
    let mut gaps = [0, 1].map(|class| Stream::new(5, Purpose::Arrivals, class));
    let mut sizes = Stream::new(5, Purpose::FlowSizes, 0);
    let mean_ps = [300.0 * 8e3, (0.9 * 1500.0 + 0.1 * 9000.0) * 8e3];
    let mut next_ps = [0, 0];
    for class in 0..2 {
        next_ps[class] = gaps[class].exponential(mean_ps[class] / rho[class]);
    }
    for _ in 0..2_000_000 {
        let class = usize::from(next_ps[1] < next_ps[0]);
        let now_ps = next_ps[class];
        let bytes = match class {
            0 => 300,
            _ if sizes.below(10) == 0 => 9000,
            _ => 1500,
        };
        assert!(bench.offer(now_ps, 0, packet(bytes, class as u16, now_ps)));
        next_ps[class] += gaps[class].exponential(mean_ps[class] / rho[class]);
    }
    bench.advance(u64::MAX - 1);
    let waited_ps = |sent: &Sent| sent.start_ps - stamp_ps(&sent.packet);
    let network = &mut bench.network;
    let reading = network.ports[0].reading(u64::MAX - 1, &mut network.options);
    assert_eq!(
        reading.waited_ps,
        bench.sent.iter().map(waited_ps).sum::<u64>()
    );
    assert_eq!(reading.waited_packets as usize, bench.sent.len());
    let (mut sum, mut count) = ([0.0; 2], [0.0; 2]);
    for sent in &bench.sent {
        sum[sent.packet.class()] += waited_ps(sent) as f64 * 1e-6;
        count[sent.packet.class()] += 1.0;
    }
    [sum[0] / count[0], sum[1] / count[1]]
}

fn compare(bench: &mut Bench, rho: [f64; 2]) {
    let measured = waits_us(bench, rho);
    // Times in us: 2.4; 12 and 72.
    let lambda = [rho[0] / 2.4, rho[1] / 18.0];
    let w0 = lambda[0] * 2.4 * 2.4 / 2.0 + lambda[1] * (0.9 * 144.0 + 0.1 * 5184.0) / 2.0;
    let high = w0 / (1.0 - rho[0]);
    assert_near("wait of the first class, us", measured[0], high, 0.02);
    let low = high / (1.0 - rho[0] - rho[1]);
    assert_near("wait of the second class, us", measured[1], low, 0.02);
}

#[test]
fn waits_match_cobham() {
    for rho in [[0.3, 0.3], [0.1, 0.5], [0.5, 0.2]] {
        compare(&mut Bench::new(|| port(BufferLimit::Unlimited), 1), rho);
    }
}

/// A shared memory that never fills changes nothing.
#[test]
fn a_shared_memory_keeps_the_order() {
    let mut bench = Bench::new(|| port(BufferLimit::Unlimited), 1);
    let config = SharedBufferConfig::dynamic(1 << 30, 0, 65536);
    bench.network.share(&config, &[0], 2, false);
    compare(&mut bench, [0.3, 0.3]);
    let (memory, _) = bench.network.memory_of(0).expect("it shares");
    memory.advance(u64::MAX);
    assert!(memory.total_bytes() < 1_000_000);
}

/// The second class is offered twice the link rate and fills its ten packets; the first, at a tenth
/// of the link rate, loses nothing and waits for at most the packet on the wire.
#[test]
fn each_class_has_a_buffer_of_its_own() {
    let mut bench = Bench::new(|| port(BufferLimit::Packets(10)), 1);
    let (mut taken, mut lost) = ([0, 0], [0, 0]);
    for n in 0..20_000_u64 {
        let now_ps = n * PACKET_PS / 2;
        for class in 0..2 {
            if class == 0 && n % 20 != 0 {
                continue;
            }
            let offered = packet(1500, class as u16, now_ps);
            if bench.offer(now_ps, 0, offered) {
                taken[class] += 1;
            } else {
                lost[class] += 1;
            }
        }
    }
    assert_eq!(lost[0], 0);
    assert!(lost[1] > 9000, "{lost:?}");
    for sent in &bench.sent {
        let waited_ps = sent.start_ps - stamp_ps(&sent.packet);
        // The second class waits for ten packets and for one of the first class in every ten.
        let most = [1, 12][sent.packet.class()];
        assert!(waited_ps <= most * PACKET_PS, "{waited_ps}");
    }
    bench.advance(u64::MAX - 1);
    assert_eq!(bench.sent.len(), taken[0] + taken[1]);
}

/// Shared memory gives each class its own threshold: the second, busy one settles at alpha B / (1 +
/// alpha), and the first is still admitted.
#[test]
fn each_class_has_a_threshold_of_its_own() {
    let mut bench = Bench::new(|| port(BufferLimit::Unlimited), 1);
    let config = SharedBufferConfig::dynamic(300_000, 0, 65536 / 2);
    bench.network.share(&config, &[0], 2, false);
    let mut now_ps = 0;
    for n in 0..2000 {
        now_ps = n * PACKET_PS / 2;
        bench.offer(now_ps, 0, packet(1500, 1, now_ps));
    }
    let (memory, first) = bench.network.memory_of(0).expect("it shares");
    let low = memory.used_bytes(first + 1);
    assert!((98_500..=101_500).contains(&low), "{low}");
    for _ in 0..20 {
        assert!(bench.offer(now_ps, 0, packet(1500, 0, now_ps)));
    }
}

/// A lasting flow keeps 200 packets waiting at the client's port. Messages of 1000 bytes from
/// another host wait for at most one of them (and occasionally for another message) with priority,
/// and for the whole queue without.
#[test]
fn small_messages_overtake_large_ones() {
    let wait_us = |priorities: &str| {
        let settings = [
            "topology.star.hosts=3",
            "switch.buffer=200pkts",
            "run.warmup=100ms",
            "run.duration=1s",
            "host.delay=2us",
            "switch.delay=2us",
            "workload.flows={flows_per_second=200.0,sizes={fixed=\"1KB\"},sources=2,destinations=0}",
            "workload.high_priority_below=10KB",
            priorities,
        ];
        let outcome = run(&scenario(BULK, &settings), 1);
        let rows = outcome.flows.rows();
        assert!((150..250).contains(&rows.len()));
        // 1040 bytes at 10 Gbps and at 1 Gbps, and two propagations.
        let unloaded_ps = 832_000 + 8_320_000 + 4_000_000;
        let waits = rows
            .iter()
            .map(|row| (row.fct_ps - unloaded_ps) as f64 * 1e-6);
        assert!(outcome.throughput.utilization > 0.99);
        let (mut least, mut most) = (f64::MAX, 0.0_f64);
        for wait in waits {
            least = least.min(wait);
            most = most.max(wait);
        }
        (least, most)
    };
    let (_, most) = wait_us("switch.priorities=2");
    assert!(most <= 12.0 + 8.4, "{most}");
    let (least, _) = wait_us("switch.priorities=1");
    assert!(least > 500.0, "{least}");
}

/// With all packets in one class, priorities change nothing: not arrival times, drops or the waits
/// of probes.
#[test]
fn one_class_alone_is_a_fifo() {
    let outcome = |priorities: &str| {
        let settings = [
            "topology.star.hosts=3",
            "switch.buffer=30pkts",
            "switch.marking.threshold=20KB",
            "host.delay=2us",
            "switch.delay=2us",
            "run.duration=1s",
            "workload.bulk={flows=2,size=\"20MB\"}",
            "workload.high_priority_below=1GB",
            "measure.probe.interval=100us",
            "transport.ecn=true",
            priorities,
        ];
        let outcome = run(&scenario(BULK, &settings), 1);
        let probes = outcome.latency.summary();
        assert!(probes.samples > 1000 && outcome.marks > 100);
        let waits = probes.latency.expect("probes came through");
        assert!(waits.p90_us > 100.0);
        format!(
            "{:?} {:?} {} {waits:?}",
            outcome.flows.rows(),
            outcome.packets,
            outcome.marks
        )
    };
    assert_eq!(
        outcome("switch.priorities=1"),
        outcome("switch.priorities=3")
    );
}

/// Bulk packets of 1500 bytes back to back, 12 us each; the port chooses the next one when 1000
/// bytes, 8 us, are left. A packet that arrives with r us left waits r if r > 8, else r + 12:
/// evenly from 8 to 20 us. The first packet on an idle link starts at once.
#[test]
fn selected_packet_is_not_overtaken() {
    const US_PS: u64 = 1_000_000;
    let config = || PortConfig {
        commit_bytes: 1000,
        ..port(BufferLimit::Unlimited)
    };
    let mut bench = Bench::new(config, 1);
    let mut expected = Vec::new();
    for burst in 0..24_u64 {
        let begin_ps = burst * 100 * US_PS;
        for _ in 0..4 {
            assert!(bench.offer(begin_ps, 0, packet(1500, 1, begin_ps)));
        }
        // In the middle of a half-microsecond, so that no two events coincide.
        let left_ps = (2 * burst + 1) * US_PS / 4;
        let at_ps = begin_ps + 24 * US_PS - left_ps;
        assert!(bench.offer(at_ps, 0, packet(64, 0, at_ps)));
        let chosen_ps = if left_ps < 8 * US_PS { 12 * US_PS } else { 0 };
        expected.push(left_ps + chosen_ps);
    }
    bench.advance(3000 * US_PS);
    let of_class = |class| {
        let sent = bench.sent.iter().filter(move |s| s.packet.class() == class);
        sent.map(|s| s.start_ps - stamp_ps(&s.packet))
    };
    assert_eq!(of_class(0).collect::<Vec<_>>(), expected);
    assert!(expected.iter().all(|&ps| ps > 8 * US_PS && ps < 20 * US_PS));
    assert_eq!(of_class(1).step_by(4).max(), Some(0));
}
