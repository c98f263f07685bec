//! BBR on a link of 100 Mbps with a round trip of 20 ms, and HyStart for CUBIC: the rate and queue of a lone
//! flow, the shares of two, the queue while the round trip is measured, and shares beside CUBIC.
//!
//! References: the model of draft-cardwell-iccrg-bbr-congestion-control-00 (a lone flow is paced at 99% of
//! the link, with at most one bandwidth-delay product queued); N. Cardwell et al., "BBR:
//! Congestion-Based Congestion Control" (ACM Queue 2016), and M. Hock, R. Bless, M. Zitterbart, "Experimental
//! evaluation of BBR congestion control" (ICNP 2017): BBR starves loss-based flows in buffers of about one
//! product, and is itself held down by them in deep ones.

use hull_sim::scenario::{Scenario, expand};
use hull_sim::simulation::Outcome;

use super::queue_series::queue_series;
use super::star::run;

const PATH: &str = r#"
name = "bbr"
run = { duration = "40s", warmup = "10s", drain = "0s" }
topology.dumbbell = { pairs = 2, bottleneck_rate = "100Mbps", rtts = ["20ms"] }
host = { rate = "1Gbps", delay = "1us" }
switch = { rate = "1Gbps", delay = "1us", buffer = "10000pkts" }
transport = { congestion_control = "bbr", initial_window = 10, max_window = 10000, receive_window = 10000, min_rto = "200ms", byte_counting = true }
"#;

/// Packets of the product of rate and round trip: 100 Mbps times 20 ms are 250,000 bytes.
const PRODUCT: u32 = 167;
const LONE: &str = "[[workload.long_lived.flows]]\nsrc = 0\ndst = 2\n";
const OTHER: &str = "[[workload.long_lived.flows]]\nsrc = 1\ndst = 3\n";
/// Payload in Mbps that fills the link.
const FULL: f64 = 100.0 * 1460.0 / 1500.0;

fn scenario(workload: &str, settings: &[&str]) -> Scenario {
    let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
    match expand(&format!("{PATH}{workload}"), "bbr.toml", &settings) {
        Ok(cells) => Scenario::clone(&cells[0].scenario),
        Err(error) => panic!("{error}"),
    }
}

fn outcome(workload: &str, settings: &[&str]) -> Outcome {
    run(&scenario(workload, settings), 1)
}

/// Goodput in Mbps of all flows.
fn goodput(outcome: &Outcome) -> f64 {
    outcome.throughput.total_goodput_bps / 1e6
}

/// A lone flow fills the link to 99%, with a mean queue of a tenth of the product and without a drop.
#[test]
fn a_lone_flow_fills_the_link_with_a_short_queue() {
    let outcome = outcome(LONE, &[]);
    let (goodput, queue) = (goodput(&outcome), outcome.occupancy.mean_us / 120.0);
    println!("BBR alone: {goodput:.2} of {FULL:.2} Mbps, {queue:.1} packets wait");
    assert!((0.99 * FULL..=FULL).contains(&goodput), "{goodput}");
    assert!(queue <= f64::from(PRODUCT) / 10.0, "{queue}");
    assert_eq!(outcome.packets.dropped, 0);
}

/// The second of two flows starts 5 s after the first. From 20 to 60 s each has 40 to 60%, and the queue is
/// at most 1.5 products, because both overestimate the bandwidth. Both measure the round trip at the same
/// time, about every 10 s: the queue is then empty for most of 200 ms.
#[test]
fn two_flows_share_and_drain_the_queue() {
    let flows = format!("{LONE}{OTHER}start = \"5s\"\ntransport = \"other\"\n");
    let outcome = outcome(
        &flows,
        &[
            "transports.other={}",
            "run.warmup=20s",
            "measure.sample_interval=1ms",
        ],
    );
    let of = |name: &str| outcome.transports[name].goodput_bps / 1e6;
    let (first, second) = (of("default"), of("other"));
    let queue = outcome.occupancy.mean_us / 120.0;
    println!("two BBR flows: {first:.2} and {second:.2} Mbps, {queue:.1} packets wait");
    let share = first / (first + second);
    assert!((0.4..=0.6).contains(&share), "{first} {second}");
    assert!(first + second > 0.95 * FULL, "{first} {second}");
    assert!(queue <= 1.5 * f64::from(PRODUCT), "{queue}");
    let (mut empty, mut longest, mut times) = (0, 0, 0);
    for (_, bytes) in queue_series(&outcome, "bbr-two") {
        empty = if bytes < 3.0 * 1500.0 { empty + 1 } else { 0 };
        times += u32::from(empty == 150);
        longest = longest.max(empty);
    }
    println!("the queue is empty for at most {longest} ms, for 150 ms {times} times");
    assert!((3..=5).contains(&times), "{times} {longest}");
}

/// Beside CUBIC: in a buffer of one product BBR takes most of the link, in one of eight less than half. The
/// first follows from the rules: BBR keeps up to two products in flight and does not yield to losses.
#[test]
fn cubic_loses_in_a_short_buffer_and_not_in_a_deep_one() {
    let flows = format!("{LONE}{OTHER}transport = \"cubic\"\n");
    let share = |products: u32| {
        let buffer = format!("switch.buffer={}pkts", products * PRODUCT);
        let cubic = "transports.cubic={congestion_control=\"cubic\"}";
        let outcome = outcome(&flows, &[cubic, &buffer, "run.duration=80s"]);
        let of = |name: &str| outcome.transports[name].goodput_bps / 1e6;
        let (bbr, cubic) = (of("default"), of("cubic"));
        let dropped = outcome.packets.dropped;
        println!("{products} products: BBR {bbr:.2}, CUBIC {cubic:.2} Mbps, {dropped} drops");
        assert!(bbr + cubic > 0.9 * FULL, "{products}: {bbr} {cubic}");
        bbr / (bbr + cubic)
    };
    let (shallow, deep) = (share(1), share(8));
    assert!(shallow > 0.8, "{shallow}");
    assert!(deep < 0.5, "{deep}");
}

/// The shares beside CUBIC of Debian's kernel 6.1 (`tests/linux/test_guest_bbr.py`), in Mbps on the wire: in a
/// buffer of 251 KB 83.5 and 11.4 from 5 to 15 s, in one of 2008 KB 4.1 and 92.2 from 8 to 24 s.
#[test]
fn shares_beside_cubic_as_in_linux() {
    let flows = format!("{LONE}{OTHER}transport = \"cubic\"\n");
    let share = |buffer: &str, begin: &str, length: &str| {
        let of_linux = [
            "transport.mtu=1514B",
            "transport.header=66B",
            "transport.ack_every=2",
            "transport.delayed_ack=40ms",
            "transport.quick_acks=16",
            "transports.cubic={congestion_control=\"cubic\",cubic={hystart=true}}",
        ];
        let outcome = outcome(&flows, &[&of_linux[..], &[buffer, begin, length]].concat());
        let wire = |name: &str| outcome.transports[name].goodput_bps / 1e6 * 1514.0 / 1448.0;
        let (bbr, cubic) = (wire("default"), wire("cubic"));
        println!("as in Linux, {buffer}: BBR {bbr:.2}, CUBIC {cubic:.2} Mbps on the wire");
        bbr / (bbr + cubic)
    };
    let shallow = share("switch.buffer=251KB", "run.warmup=5s", "run.duration=10s");
    let deep = share("switch.buffer=2008KB", "run.warmup=8s", "run.duration=16s");
    assert!((shallow - 0.88).abs() < 0.1, "{shallow}");
    // Linux has 4%: a deviation, which the page shows.
    assert!(deep < 0.25, "{deep}");
}

/// CUBIC in a buffer of half a product, one flow for 3 s. Without HyStart slow start overshoots by more than
/// a hundred packets; with it a tenth as many are dropped at most, and the goodput is the same to 1%.
#[test]
fn hystart_avoids_the_overshoot() {
    let outcome_with = |hystart: bool| {
        let hystart = format!("transport.cubic.hystart={hystart}");
        let settings = [
            "transport.congestion_control=cubic",
            &hystart,
            "switch.buffer=84pkts",
            "run.warmup=0s",
            "run.duration=3s",
        ];
        let outcome = outcome(LONE, &settings);
        let goodput = goodput(&outcome);
        let dropped = outcome.packets.dropped;
        println!("CUBIC, {hystart}: {dropped} drops, {goodput:.2} Mbps in 3 s");
        (dropped, goodput)
    };
    let ((without, slower), (with, goodput)) = (outcome_with(false), outcome_with(true));
    assert!(without > 100, "{without}");
    assert!(with * 10 < without, "{with} {without}");
    assert!((goodput / slower - 1.0).abs() < 0.01, "{goodput} {slower}");
}
