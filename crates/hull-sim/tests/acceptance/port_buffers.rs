//! Buffers and queues of ports with several queues, against a FIFO. A FIFO's drops follow by hand: `buffer`
//! packets wait, one leaves per packet time, the rest is lost. A port whose packets all belong to one
//! class is a FIFO, to the picosecond and the last drop. The bytes in all queues together do not depend
//! on the scheduler as long as it does not idle (work conservation), so they equal the bytes in a FIFO.

use hull_sim::simulation::Outcome;

use super::star::{assert_near, run, scenario};

/// Packets that a buffer holds.
const BUFFER: u64 = 10;

/// Settings of ports with one queue and with several. Their active queue management never acts.
const FIFO: &[&str] = &[];
const OTHERS: [(&str, &[&str]); 4] = [
    ("strict", &["switch.priorities=2"]),
    (
        "dwrr",
        &["switch.priorities=2", "switch.dwrr.weights=[3,1]"],
    ),
    ("fq_codel", &["switch.fq_codel={target=\"10s\"}"]),
    (
        "dualpi2",
        &["switch.dualpi2={target=\"10s\",alpha=0,beta=0}"],
    ),
];

/// Four hosts that each send at the rate of the link to host 0. One's packets arrive as the link
/// becomes free, as do its second one's; the others' 1 ps before and 1 ps after that.
fn overloaded(settings: &[&str]) -> Outcome {
    let flow = |src: u32, start_ps: u64| {
        format!("[[workload.long_lived.flows]]\nsrc = {src}\ndst = 0\nstart = \"{start_ps}ps\"\n")
    };
    let workload =
        flow(1, 12_000_000) + &flow(2, 12_000_000) + &flow(3, 11_999_999) + &flow(4, 12_000_001);
    let mut all = vec![
        "topology.star.hosts=5",
        "host.rate=1Gbps",
        "run.duration=10ms",
        "run.drain=1ms",
        "transport.congestion_control=constant_rate",
        "transport.constant_rate.rate=1Gbps",
        "measure.ports=[\"switch->h0\"]",
    ];
    all.extend(settings);
    run(&scenario(&workload, &all), 1)
}

/// Largest number of waiting packets; each takes 12 us.
fn longest(outcome: &Outcome) -> u64 {
    (outcome.queues["switch->h0"].max_us / 12.0).round() as u64
}

#[test]
fn a_full_port_drops_as_a_fifo_does() {
    for limit in [
        &["switch.buffer=10pkts"][..],
        &["switch.buffer=15000B"],
        &["switch.buffer=11pkts", "switch.count_in_service=true"],
    ] {
        let with = |settings: &[&str]| overloaded(&[limit, settings].concat());
        let fifo = with(FIFO);
        assert_eq!(longest(&fifo), BUFFER, "{limit:?}");
        // Three of four packets find no room; the first ones fill the buffer.
        let sent = fifo.packets.sent as f64;
        assert_near("drops", fifo.packets.dropped as f64, 0.75 * sent, 0.01);
        for (name, settings) in OTHERS {
            let found = with(settings);
            assert_eq!(longest(&found), BUFFER, "{name}, {limit:?}");
            assert_eq!(found.packets, fifo.packets, "{name}, {limit:?}");
            assert_eq!(
                found.queues["switch->h0"].max_us, fifo.queues["switch->h0"].max_us,
                "{name}, {limit:?}"
            );
        }
    }
}

/// With all packets in one class the same packets leave at the same times.
#[test]
fn one_class_is_a_fifo() {
    let with = |settings: &[&str]| {
        let outcome = overloaded(&[&["switch.buffer=10pkts"], settings].concat());
        let queue = outcome.queues["switch->h0"];
        format!("{:?} {queue:?} {:?}", outcome.packets, outcome.throughput)
    };
    let fifo = with(FIFO);
    for (name, settings) in &OTHERS[..2] {
        assert_eq!(with(settings), fifo, "{name}");
    }
}

/// Bursts of two classes: the port's queue is the sum of its classes' queues and equals a FIFO's.
#[test]
fn a_ports_queue_is_the_sum_of_its_classes() {
    let with = |settings: &[&str]| {
        let workload = r#"
[transports.high]
priority = 0
[[workload.long_lived.flows]]
src = "1-2"
dst = 0
[[workload.long_lived.flows]]
src = "3-4"
dst = 0
transport = "high"
"#;
        let mut all = vec![
            "topology.star.hosts=5",
            "host.rate=1Gbps",
            "run.duration=20ms",
            "transport.congestion_control=constant_rate",
            "transport.constant_rate.rate=240Mbps",
            "transport.constant_rate.burst=20",
            "measure.ports=[\"switch->h0\"]",
        ];
        let is_fifo = settings.is_empty();
        if is_fifo {
            all.push("transports.high.priority=1");
        }
        all.extend(settings);
        let scenario = scenario(workload, &all);
        run(&scenario, 1).queues
    };
    let classes: [(&[&str], [&str; 2]); 2] = [
        (
            &["switch.priorities=2", "transport.priority=1"],
            ["switch->h0:class0", "switch->h0:class1"],
        ),
        (
            &[
                "switch.priorities=2",
                "transport.priority=1",
                "switch.dwrr.weights=[3,1]",
            ],
            ["switch->h0:class0", "switch->h0:class1"],
        ),
    ];
    let fq_codel = with(&["switch.fq_codel={target=\"10s\"}"]);
    let whole = fq_codel["switch->h0"].mean_us;
    assert!(whole > 100.0, "{whole}");
    assert_eq!(fq_codel.len(), 1, "flows' queues are not listed");
    for (settings, names) in classes {
        let found = with(settings);
        let of = |name: &str| found[name].mean_us;
        assert_near("queue", of("switch->h0"), whole, 1e-9);
        assert_near("sum", of(names[0]) + of(names[1]), whole, 1e-9);
        assert!(of(names[0]) < of(names[1]), "the first class is preferred");
    }
}

/// Trimming begins when the buffer is full: data holds at most `buffer` packets, headers twice.
#[test]
fn trimming_begins_with_a_full_buffer() {
    let workload = "[workload.bulk]\nflows = 5\nsize = \"140KB\"\n";
    let outcome = run(
        &scenario(
            workload,
            &[
                "topology.star.hosts=6",
                "host.rate=10Gbps",
                "switch.rate=10Gbps",
                "switch.delay=500ns",
                "host.delay=500ns",
                "switch.buffer=10pkts",
                "switch.trimming={}",
                "transport.congestion_control=nscc",
                "transport.ecn=true",
                "measure.ports=[\"switch->h0\"]",
            ],
        ),
        1,
    );
    let full_us = 10.0 * 1.2;
    assert_near(
        "data",
        outcome.queues["switch->h0:data"].max_us,
        full_us,
        0.002,
    );
    assert!(outcome.queues["switch->h0:headers"].max_us < 20.0 * 1.2);
    assert!(outcome.counts.trims > 0);
}
