//! Traffic without congestion control against closed forms: trains at a D/D/1 port wait on average
//! (n - 1) / 2 times the difference of the two links' packet times (exact to 0.1 ns); an overloaded
//! port delivers its own rate and drops the rest; marks have no effect; each packet is sent once.

use hull_sim::scenario;
use hull_sim::simulation::Outcome;

use super::star::{BASE, assert_near, run, scenario};

const FLOW: &str = "[[workload.long_lived.flows]]\nsrc = 1\ndst = 0\n";

fn outcome(settings: &[&str]) -> Outcome {
    let control = "transport.congestion_control=constant_rate";
    let all: Vec<&str> = [control].iter().chain(settings).copied().collect();
    run(&scenario(FLOW, &all), 1)
}

/// 10 Gbps into 1 Gbps: packet k of a train arrives 1.2 us after its predecessor and waits 10.8 k
/// us.
#[test]
fn trains_wait_as_in_a_d_d_1_queue() {
    for (burst, mean_us) in [(1, 0.0), (2, 5.4), (10, 48.6)] {
        let found = outcome(&[
            "transport.constant_rate.rate=240Mbps",
            &format!("transport.constant_rate.burst={burst}"),
        ]);
        let port = found.links.iter().find(|link| link.to == "h0");
        let wait_us = port.and_then(|port| port.mean_wait_us).expect("packets");
        assert!((wait_us - mean_us).abs() < 1e-4, "{burst}: {wait_us}");
        // 240 Mbps are 20,000 packets of 1500 bytes in the second; nothing else is sent.
        let sent = found.packets.sent;
        assert_eq!((sent, found.packets.dropped), (20_000, 0));
        assert_near("use", found.throughput.utilization, 0.24, 1e-3);
    }
}

/// At twice its rate, a port delivers its own rate and the excess is lost for good.
#[test]
fn an_overloaded_port_delivers_its_rate() {
    let found = outcome(&[
        "transport.constant_rate.rate=2Gbps",
        "switch.buffer=100pkts",
    ]);
    let packets = found.packets;
    assert_near("sent", packets.sent as f64, 2e9 / 12e3, 1e-4);
    assert_near("delivered", packets.delivered as f64, 1e9 / 12e3, 1e-3);
    assert_eq!(
        packets.sent,
        packets.delivered + packets.dropped + packets.in_flight
    );
    assert_near(
        "goodput",
        found.throughput.goodput_bps,
        1e9 * 1460.0 / 1500.0,
        1e-3,
    );
}

#[test]
fn marks_change_nothing() {
    let ecn = ["transport.ecn=true", "switch.marking={threshold=\"0B\"}"];
    let rate = "transport.constant_rate={rate=\"240Mbps\",burst=10}";
    let (plain, marked) = (outcome(&[rate]), outcome(&[rate, ecn[0], ecn[1]]));
    assert!(marked.marks > 10_000 && plain.marks == 0);
    assert_eq!(plain.packets, marked.packets);
}

/// A stopped flow releases its slot even if some of its packets were lost.
#[test]
fn a_flow_ends_when_it_is_stopped() {
    let flow = |start, stop| {
        format!(
            "[[workload.long_lived.flows]]\nsrc = 1\ndst = 0\nstart = \"{start}ms\"\nstop = \"{stop}ms\"\n"
        )
    };
    let settings = [
        "transport.congestion_control=constant_rate",
        "transport.constant_rate.rate=2Gbps",
        "switch.buffer=10pkts",
    ];
    let found = run(&scenario(&(flow(0, 10) + &flow(50, 60)), &settings), 1);
    assert!(found.packets.dropped > 100);
    assert_eq!((found.flow_slots, found.packets.in_flight), (1, 0));
}

#[test]
fn only_flows_that_are_stopped_can_use_it() {
    let flow = |rest: &str| format!("workload.long_lived.flows=[{{src=1,dst=0{rest}}}]");
    let control = "transport.congestion_control=constant_rate";
    let rate = "transport.constant_rate.rate=1Mbps";
    let other =
        "transports.udp={congestion_control=\"constant_rate\",constant_rate.rate=\"1Mbps\"}";
    let bulk = "workload.bulk={flows=1}";
    let cases = [
        (
            vec![control, bulk],
            "transport.constant_rate.rate: found no rate",
        ),
        (
            vec![control, rate, bulk],
            "transport.congestion_control: \"constant_rate\" is invalid",
        ),
        (
            vec![other, "workload.bulk={flows=1,transport=\"udp\"}"],
            "workload.bulk.transport: \"udp\" is invalid",
        ),
    ];
    let mut cases: Vec<(Vec<String>, &str)> = cases
        .map(|(settings, told)| (settings.iter().map(ToString::to_string).collect(), told))
        .to_vec();
    cases.push((
        vec![control.to_owned(), rate.to_owned(), flow(",size=\"1MB\"")],
        "workload.long_lived.flows[0].size: \"1MB\" is invalid; expected no size",
    ));
    for (settings, told) in cases {
        let error = scenario::expand(BASE, "test.toml", &settings).expect_err(told);
        assert!(error.to_string().contains(told), "{told}: {error}");
    }
}
