//! RED and PI at a port and under TCP with ECN.
//!
//! At a port, one arrival per departure holds the queue constant. RED's average is then
//! `q (1 - (1 - w)^n)`, and the share of marks `2 p / (1 + p)` with the probability p of that
//! average (distances uniform on 1 .. 1 / p, Floyd and Jacobson 1993).
//!
//! Under N flows, the square-root law (Mathis et al. 1997) applies. Between two marks a window
//! grows from W / 2 to W by one packet per round trip, so its mean is `sqrt(3 / (2 s))` for a share
//! s of marks; N windows equal the pipe plus the queue. Several marks within a round trip count
//! once, so the comparison uses cases where that is rare, with a tolerance of 10%. PI is checked
//! against its configured queue and thesis figure 2.13.

use hull_sim::network::rules::{
    Arrival, AverageWeight, Decision, Red, RedDraw, RedMarking, Rule, Site,
};
use hull_sim::network::{BufferLimit, OptionTable, PortConfig, flags};
use hull_sim::simulation::Outcome;
use hull_sim::units::{QueueLength, Rate, Share};

use super::port_bench::{Bench, packet};
use super::star::{BULK, PACKET_PS, assert_near, run, scenario};

/// Marks of `packets` arrivals, each of which finds `waiting` packets.
fn marks_of_a_held_queue(max_probability: f64, waiting: u64, packets: u64) -> Vec<bool> {
    let (min, max) = (QueueLength::Packets(50), QueueLength::Packets(150));
    let settings = Red {
        min,
        max,
        max_probability: Share((max_probability * Share::ONE as f64) as u64),
        weight: AverageWeight::Halvings(9),
        gentle: false,
        by_size: false,
        hard_drop: false,
        early_drop: false,
        draw: RedDraw::Spaced,
    };
    let site = Site {
        rate: Rate(1_000_000_000),
        mtu: 1500,
        seed: 1,
        port: 0,
    };
    let port = || PortConfig {
        rules: vec![Box::new(RedMarking::new(&settings, &site))],
        ..PortConfig::plain(1_000_000_000, 0, BufferLimit::Unlimited)
    };
    let mut bench = Bench::new(port, 1);
    // Packets that cannot be marked. The first occupies the wire, the others wait; one leaves just
    // before each arrival.
    let mut filling = packet(1500, 0, 0);
    filling.flags &= !flags::ECT0;
    for _ in 0..=waiting {
        bench.offer(0, 0, filling);
    }
    for n in 1..=packets {
        bench.offer(n * PACKET_PS, 0, packet(1500, 0, 0));
    }
    bench.advance((packets + waiting + 1) * PACKET_PS);
    let filled = 1 + waiting as usize;
    let sent = bench.sent[filled..].iter();
    sent.map(|sent| sent.packet.has(flags::CE)).collect()
}

/// With max_p = 1, RED marks nothing below an average of 50 and everything above 150. From near 0,
/// a queue of 400 takes the average there in `ln(1 - 50 / 400) / ln(1 - w)` = 68 and 240 packets.
#[test]
fn the_average_follows_the_queue_at_its_weight() {
    let waiting = 400_u64;
    let marks = marks_of_a_held_queue(1.0, waiting, 2000);
    // The average includes the packets that filled the queue: arrival k found k - 1 waiting.
    let w = 1.0 / 512.0;
    let mut average = 0.0;
    for found in 0..=waiting {
        average += w * (found.saturating_sub(1) as f64 - average);
    }
    let (mut below, mut above) = (0, 0);
    for (n, &mark) in marks.iter().enumerate() {
        // The packet that departs at this instant no longer counts.
        average += w * ((waiting - 1) as f64 - average);
        match average {
            average if average < 49.9 => {
                below += 1;
                assert!(!mark, "arrival {n}: average {average}");
            }
            average if average > 150.1 => {
                above += 1;
                assert!(mark, "arrival {n}: average {average}");
            }
            _ => {}
        }
    }
    assert!(below + above > 1700, "{below} {above}");
}

#[test]
fn marking_frequency_matches_the_formula() {
    for (max_probability, waiting) in [(0.1, 76), (0.1, 101), (0.05, 141)] {
        let marks = marks_of_a_held_queue(max_probability, waiting, 305_000);
        let settled = &marks[5000..];
        let share = settled.iter().filter(|&&mark| mark).count() as f64 / settled.len() as f64;
        // One of `waiting` packets has left when the next arrives.
        let p = max_probability * (waiting as f64 - 1.0 - 50.0) / 100.0;
        assert_near("share of marks", share, 2.0 * p / (1.0 + p), 0.02);
    }
}

/// Decisions on `packets` arrivals with flags `ecn`, each of which finds a queue of 100 packets.
fn decisions(early_drop: bool, ecn: u16, packets: u64) -> Vec<Decision> {
    let settings = Red {
        min: QueueLength::Packets(50),
        max: QueueLength::Packets(150),
        max_probability: Share(Share::ONE / 10),
        weight: AverageWeight::Share(Share(Share::ONE / 2)),
        gentle: false,
        by_size: false,
        hard_drop: false,
        early_drop,
        draw: RedDraw::Spaced,
    };
    let site = Site {
        rate: Rate(1_000_000_000),
        mtu: 1500,
        seed: 1,
        port: 0,
    };
    let mut rule = RedMarking::new(&settings, &site);
    let mut packet = packet(1500, 0, 0);
    packet.flags = packet.flags & !flags::CE | ecn;
    let arrive = |n: u64| {
        let arrival = Arrival {
            now_ps: n * PACKET_PS,
            queue_bytes: 150_000,
            queue_packets: 100,
            framed_bytes: 1500,
            waits: true,
        };
        rule.on_arrival(&arrival, &packet, &OptionTable::default())
    };
    (1..=packets).map(arrive).collect()
}

/// Early drop drops a packet without ECN exactly where it would mark one with ECN. It does not drop
/// packets that an earlier port marked.
#[test]
fn early_drop_hits_only_non_ecn_packets() {
    let marked = decisions(true, flags::ECT0, 2000);
    let count = |kind| marked.iter().filter(|&&one| one == kind).count();
    // p = 0.05 at 100 packets: 2 p / (1 + p) of 2000.
    assert_near("marks", count(Decision::Mark) as f64, 190.5, 0.1);
    assert_eq!(count(Decision::Drop), 0);
    assert_eq!(decisions(true, flags::CE, 2000), marked);
    assert_eq!(decisions(false, 0, 2000), marked);
    let dropped = decisions(true, 0, 2000);
    for (with, without) in marked.iter().zip(dropped) {
        let expected = match with {
            Decision::Mark => Decision::Drop,
            other => *other,
        };
        assert_eq!(without, expected);
    }
}

const PIPE_US: f64 = 100.0;

/// Runs `flows` long TCP flows with ECN over one link of 10 Gbps and `rtt_us`.
fn long_flows(flows: u32, rtt_us: f64, settings: &[&str]) -> Outcome {
    let count = format!("workload.bulk.flows={flows}");
    let hosts = format!("topology.star.hosts={}", flows + 1);
    let delay = format!("{}us", rtt_us / 4.0);
    let (host, switch) = (
        format!("host.delay={delay}"),
        format!("switch.delay={delay}"),
    );
    let base = [
        count.as_str(),
        &hosts,
        &host,
        &switch,
        "host.rate=10Gbps",
        "switch.rate=10Gbps",
        "workload.bulk.start_interval=100us",
        "transport.ecn=true",
        "run.warmup=300ms",
        "run.duration=500ms",
    ];
    let settings: Vec<&str> = base.iter().chain(settings).copied().collect();
    run(&scenario(BULK, &settings), 1)
}

/// Mean queue in packets of 1.2 us.
fn queue(outcome: &Outcome) -> f64 {
    outcome.occupancy.mean_us / 1.2
}

/// Share of data packets marked; only the client's port marks.
fn share_of_marks(outcome: &Outcome) -> f64 {
    let seconds = outcome.simulated_ps as f64 * 1e-12;
    let packets = outcome.throughput.utilization * 10e9 * seconds / 12_000.0;
    outcome.marks as f64 / packets
}

#[test]
fn red_settles_where_the_square_root_law_crosses_its_line() {
    let flows = 20;
    let red = "switch.red={min=\"50pkts\",max=\"650pkts\",max_probability=\"2%\",weight=9}";
    let outcome = long_flows(flows, PIPE_US, &[red]);
    assert_eq!(outcome.packets.dropped, 0);
    let pipe = (PIPE_US + 2.4 + 0.064) / 1.2;
    // Intersection of the two curves: windows that fill pipe and queue, and marks of that queue.
    let excess = |queue: f64| {
        let p = 0.02 * (queue - 50.0) / 600.0;
        let window = (3.0 / (2.0 * (2.0 * p / (1.0 + p)))).sqrt();
        f64::from(flows) * window - pipe - queue
    };
    let (mut low, mut high) = (50.001, 650.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if excess(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    assert_near("mean queue, packets", queue(&outcome), low, 0.10);
    let p = 0.02 * (queue(&outcome) - 50.0) / 600.0;
    let share = share_of_marks(&outcome);
    assert_near("share of marks", share, 2.0 * p / (1.0 + p), 0.10);
    assert!(outcome.throughput.utilization > 0.999);
}

/// As Linux's harddrop: packets above max_th are dropped, which holds the average at max_th. With
/// marks only, the flows' minimum windows keep the queue higher.
#[test]
fn hard_drop_holds_the_queue_at_max_but_marks_do_not() {
    let with = |drop: bool| {
        let red =
            format!("switch.red={{min=\"5pkts\",max=\"30pkts\",weight=\"50%\",hard_drop={drop}}}");
        long_flows(100, 5.0, &[&red, "transport.min_window=2"])
    };
    let (marks, drops) = (with(false), with(true));
    // 100 windows of 2 packets in a pipe of 6.
    assert_eq!(marks.packets.dropped, 0);
    assert!(queue(&marks) > 150.0, "{}", queue(&marks));
    assert!(drops.packets.dropped > 1000);
    assert!(queue(&drops) < 31.0, "{}", queue(&drops));
}

/// Twenty flows and a buffer that never limits them.
#[test]
fn pi_holds_its_reference_queue() {
    for reference in [100.0, 300.0] {
        let pi = format!(
            "switch.pi={{reference=\"{reference}pkts\",interval=\"20us\",flows=10,round_trip=\"500us\"}}"
        );
        let outcome = long_flows(20, PIPE_US, &[&pi]);
        assert_near("mean queue, packets", queue(&outcome), reference, 0.10);
        // The square-root law gives the share of marks independently of PI.
        let pipe = (PIPE_US + 2.4 + 0.064) / 1.2;
        let window = (pipe + queue(&outcome)) / 20.0;
        let share = share_of_marks(&outcome);
        assert_near("share of marks", share, 1.5 / (window * window), 0.25);
    }
}

/// Thesis figure 2.13: 10 Gbps, 500 us, a buffer of 100 packets, q_ref = K = 40. With two flows
/// "TCP/PI suffers from queue underflows and a loss of utilization"; with twenty "utilization
/// improved for TCP/PI, queue oscillations get worse. DCTCP, however, is able to control the queue
/// occupancy well and sustain high throughput in both".
#[test]
fn pi_loses_throughput_where_dctcp_does_not() {
    let pi = |flows: u32| {
        let pi = format!(
            "switch.pi={{reference=\"40pkts\",interval=\"20us\",flows={flows},round_trip=\"600us\"}}"
        );
        long_flows(flows, 500.0, &["switch.buffer=100pkts", &pi])
    };
    let dctcp = |flows: u32| {
        let settings = [
            "switch.buffer=100pkts",
            "switch.marking.threshold=60KB",
            "transport.congestion_control=dctcp",
        ];
        long_flows(flows, 500.0, &settings)
    };
    let used = |outcome: &Outcome| outcome.throughput.utilization;
    let spread = |outcome: &Outcome| outcome.occupancy.p90_us - outcome.occupancy.p50_us;
    let (pi_2, pi_20) = (pi(2), pi(20));
    for (flows, pi) in [(2, &pi_2), (20, &pi_20)] {
        let dctcp = dctcp(flows);
        println!(
            "{flows} {} {:?} {:?}",
            used(&dctcp),
            dctcp.occupancy,
            pi.occupancy
        );
        assert!(used(&dctcp) > 0.99, "{}", used(&dctcp));
        assert!(used(&dctcp) > used(pi) && spread(&dctcp) < spread(pi));
        assert!(dctcp.packets.dropped < pi.packets.dropped);
    }
    assert!(used(&pi_2) < 0.95 && used(&pi_2) < used(&pi_20));
}
