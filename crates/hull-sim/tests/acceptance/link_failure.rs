//! Links that fail during a run: flows continue over other paths, or time out and resume when the
//! link is restored; a lost SYN and lost segments end to end, with exact times. In every run
//! packets sent = delivered + dropped + in flight.

use hull_sim::engine::PacketRef;
use hull_sim::measure::{drops_by_place, failure_drops};
use hull_sim::network::{
    BufferLimit, NO_OPTIONS, Network, OptionTable, Packet, Port, PortConfig, flags,
};
use hull_sim::simulation::Outcome;

use super::star::{BULK, PAYLOAD, US_PS, run, scenario};

const MS_PS: u64 = 1000 * US_PS;
/// 1500 bytes and 40 bytes at 1 Gbps.
const S: u64 = 12 * US_PS;
const A: u64 = 320_000;

/// One flow from h1 to h0, both at 1 Gbps without delay, whose link fails.
fn one_flow(packets: u64, failure: &str, settings: &[&str]) -> Outcome {
    let size = format!("workload.bulk.size={}B", packets * PAYLOAD);
    let failures = format!("topology.failures=[{failure}]");
    let base = [
        "host.rate=1Gbps",
        "transport.initial_window=10",
        "transport.min_rto=10ms",
        "transport.initial_rto=10ms",
        "run.duration=1s",
        size.as_str(),
        &failures,
    ];
    let settings: Vec<&str> = base.iter().chain(settings).copied().collect();
    let outcome = run(&scenario(BULK, &settings), 1);
    assert_eq!(outcome.flows.rows().len(), 1);
    outcome
}

/// The first of three packets is on the wire and two wait when the link fails. Waits counted before
/// the failure stay counted, so that the difference of two readings is never negative.
#[test]
fn packets_lost_with_a_link_stay_in_its_wait_count() {
    let config = PortConfig::plain(1_000_000_000, 0, BufferLimit::Unlimited);
    let mut network = Network::new(vec![Port::new(config)]);
    let mut options = OptionTable::default();
    let packet = Packet {
        seq: 0,
        ack: 0,
        flow: 0,
        options: NO_OPTIONS,
        wire_bytes: 1500,
        hop: 0,
        flags: flags::DATA,
    };
    let on_link = [0; 3].map(|next| {
        let place = network.in_flight.insert(packet);
        network.enqueue(0, 0, (0, 0), place);
        PacketRef {
            packet: place,
            next,
        }
    });
    let before = network.ports[0].reading(S / 2, &mut options);
    assert_eq!(
        (before.sent_packets, before.waited_packets, before.waited_ps),
        (1, 3, S + 2 * S)
    );
    assert_eq!(network.fail(S / 2, 0, &on_link).len(), 3);
    let after = network.ports[0].reading(S, &mut options);
    assert_eq!(
        (after.sent_packets, after.waited_packets, after.waited_ps),
        (1, 3, S + 2 * S)
    );
    // Half of the first packet was sent.
    assert_eq!((after.sent_bytes, after.carried_bytes), (1500, 750.0));
}

/// The SYN is lost at 0 and at 10 ms and passes at 30 ms. The handshake crosses four links, the
/// data two. A connection whose SYN was lost begins with one segment (RFC 5681, 3.1).
#[test]
fn lost_syn_is_retransmitted() {
    let outcome = one_flow(
        1,
        "{link=\"h1--switch\",at=\"0s\",until=\"15ms\"}",
        &["transport.handshake=true"],
    );
    assert_eq!(outcome.flows.rows()[0].fct_ps, 30 * MS_PS + 4 * A + 2 * S);
    assert_eq!(
        (outcome.counts.timeouts, outcome.counts.retransmissions),
        (2, 2)
    );
    let two = one_flow(
        2,
        "{link=\"h1--switch\",at=\"0s\",until=\"5ms\"}",
        &["transport.handshake=true"],
    );
    // The second segment waits for the first one's ACK.
    let expected = 10 * MS_PS + 4 * A + 2 * S + 2 * A + 2 * S;
    assert_eq!(two.flows.rows()[0].fct_ps, expected);
}

/// Ten segments leave back to back; the link fails after three, with the fourth on the wire. Two
/// ACKs arrive, and the third is lost on the same link. The timer, restarted by the second ACK,
/// resends segment 2 after 10 ms; its ACK is for three, and slow start sends the seven that are
/// missing: two for that ACK, two for each later one.
#[test]
fn packets_lost_on_a_failed_link_are_retransmitted() {
    let failure = format!(
        "{{link=\"h1--switch\",at=\"{}us\",until=\"1ms\"}}",
        (3 * S + S / 2) / US_PS
    );
    // The first ACK reaches the switch at 2 S + A and the sender at 2 S + 2 A = 24.64 us.
    let outcome = one_flow(10, &failure, &["host.application_delay=0s"]);
    // The first and second ACK arrived (24.64 and 36.64 us); the second restarted the timer and the
    // third was lost with segments 3 to 9.
    let second_ack_ps = 3 * S + 2 * A;
    let resent_ps = second_ack_ps + 10 * MS_PS;
    // Segment 2 arrives again, and its ACK is for 3. This and each later ACK release two segments:
    // 3 4, 5 6, 7 8, 9: three rounds after it, the last of which begins with 7.
    let round_ps = 2 * S + 2 * A;
    let expected = resent_ps + round_ps + finish_ps(7);
    assert_eq!(outcome.flows.rows()[0].fct_ps, expected);
    assert_eq!(
        (outcome.counts.timeouts, outcome.counts.retransmissions),
        (1, 8)
    );
    // Seven segments and the third ACK.
    assert_eq!(outcome.packets.dropped, 8);
}

/// Time until `packets` more are delivered when the window is two and doubles each round trip.
fn finish_ps(packets: u64) -> u64 {
    let round_ps = 2 * S + 2 * A;
    let (mut left, mut window, mut start_ps) = (packets, 2, 0);
    while left > window && window * S < round_ps {
        left -= window;
        window *= 2;
        start_ps += round_ps;
    }
    start_ps + (left - 1) * S + 2 * S
}

const LEAVES: &str =
    r#"topology={leaf_spine={leaves=2,spines=2,hosts_per_leaf=4},failures=[FAILURES]}"#;

/// Runs eight flows of 2 MB between the leaves with these link failures.
fn across(failures: &str, settings: &[&str]) -> Outcome {
    let topology = LEAVES.replace("FAILURES", failures);
    let base = [
        topology.as_str(),
        "host.rate=1Gbps",
        "switch.rate=1Gbps",
        "host.delay=1us",
        "switch.delay=1us",
        "switch.buffer=200pkts",
        "workload.long_lived={flows=[{src=\"0-3\",dst=[\"4-7\"],size=\"2MB\"},{src=\"4-7\",dst=[\"0-3\"],size=\"2MB\"}]}",
        "run.duration=1s",
        "transport.min_rto=5ms",
        "transport.max_rto=10ms",
    ];
    let settings: Vec<&str> = base.iter().chain(settings).copied().collect();
    run(&scenario("[workload]\n", &settings), 1)
}

/// Each of the eight flows needs at least 16.4 ms; one spine of 2 Gbps for 4 Gbps of hosts at least 33.
#[test]
fn flows_go_on_over_other_paths() {
    let whole = across("", &[]);
    let outcome = across("{link=\"leaf0--spine0\",at=\"5ms\"}", &[]);
    for (outcome, name) in [(&whole, "whole"), (&outcome, "failed")] {
        assert_eq!(outcome.flows.rows().len(), 8, "{name}");
    }
    let latest = |outcome: &Outcome| outcome.flows.rows().iter().map(|row| row.fct_ps).max();
    assert!(latest(&outcome) > latest(&whole));
    // 8 MB each way over one link of 1 Gbps: 64 ms of payload; far from the end of the run.
    assert!(
        latest(&outcome) < Some(150 * MS_PS),
        "{:?}",
        latest(&outcome)
    );
    let carried = |name: (&str, &str)| {
        let link = outcome
            .links
            .iter()
            .find(|l| (l.from.as_str(), l.to.as_str()) == name);
        link.expect("a link of that name").bytes
    };
    assert!(carried(("leaf0", "spine1")) > carried(("leaf0", "spine0")));
    assert!(outcome.packets.dropped > whole.packets.dropped);
}

/// Both spines are cut off from leaf 0 for 30 ms: no packet may cross while there is no path, the
/// timers keep running, and all flows complete after the links are restored.
#[test]
fn without_a_path_flows_wait_for_the_repair() {
    let failures = "{link=\"leaf0--spine0\",at=\"5ms\",until=\"35ms\"},{link=\"leaf0--spine1\",at=\"5ms\",until=\"35ms\"}";
    for more in [
        &[][..],
        &["switch.priorities=2", "workload.high_priority_below=1MB"],
        &["switch.memory={size=\"1MB\"}"],
        &[
            "pacer={}",
            "transport.congestion_control=dctcp",
            "transport.ecn=true",
            "switch.phantom_queue={drain=\"90%\",threshold=\"3KB\"}",
        ],
        &[
            "host.receive={frames=8,wait=\"20us\"}",
            "host.stack_jitter={exponential=\"1us\"}",
        ],
        &[
            "transport.handshake=true",
            "switch.cut_through=64B",
            "switch.pi={reference=\"20pkts\",interval=\"10us\",flows=2,round_trip=\"500us\"}",
            "transport.ecn=true",
        ],
    ] {
        let outcome = across(failures, more);
        let rows = outcome.flows.rows();
        assert_eq!(rows.len(), 8, "{more:?}");
        // At most 5 ms of data came before the failure, and the rest after it.
        let least = rows.iter().map(|row| row.fct_ps).min();
        assert!(least > Some((35 + 11) * MS_PS), "{more:?}: {least:?}");
        let most = rows.iter().map(|row| row.fct_ps).max();
        assert!(most < Some(200 * MS_PS), "{more:?}: {most:?}");
        assert!(rows.iter().all(|row| row.timeouts >= 2), "{more:?}");
        // The run ends with the last byte: only ACKs are left.
        assert!(outcome.packets.in_flight < 10, "{more:?}");
    }
}

/// The failure of a host's own link stops only that host's flows.
#[test]
fn the_only_link_of_a_host_may_fail() {
    for link in ["h1--leaf0", "h4--leaf1"] {
        let failure = format!("{{link=\"{link}\",at=\"2ms\",until=\"20ms\"}}");
        let outcome = across(&failure, &[]);
        assert_eq!(outcome.flows.rows().len(), 8);
        let stopped = outcome.flows.rows().iter().filter(|row| row.timeouts > 0);
        let hosts: Vec<(u32, u32)> = stopped.map(|row| (row.src, row.dst)).collect();
        let host = if link == "h1--leaf0" { 1 } else { 4 };
        assert!(
            hosts
                .iter()
                .filter(|ends| ends.0 == host || ends.1 == host)
                .count()
                == 2,
            "{hosts:?}"
        );
    }
}

/// A link that stays down does not prolong the run: it ends on time, with the flow incomplete.
#[test]
fn permanent_failure_does_not_prolong_the_run() {
    let failure = "{link=\"h1--switch\",at=\"1us\"}";
    let failures = format!("topology.failures=[{failure}]");
    let settings = [
        "workload.bulk.size=1MB",
        "run.duration=100ms",
        "run.drain=200ms",
        &failures,
    ];
    let outcome = run(&scenario(BULK, &settings), 1);
    assert_eq!(outcome.flows.rows().len(), 0);
    assert_eq!(outcome.packets.delivered, 0);
    assert!(outcome.counts.timeouts > 3);
    assert!(outcome.simulated_ps <= 300 * MS_PS);
}

/// A port with priorities that was to send its next packet at 37.2 us fails at 30 us and is
/// restored at 31 us. Three packets that arrive at 32.7, 33.9 and 35.1 us leave one after the
/// other, 12 us each, as if no transmission had been pending.
#[test]
fn restored_port_starts_idle() {
    let settings = [
        "topology={star={hosts=3},failures=[{link=\"h0--switch\",at=\"30us\",until=\"31us\"}]}",
        "switch.priorities=2",
        "transport.initial_window=10",
        "workload.long_lived={flows=[{src=1,dst=0,size=\"14600B\"},{src=2,dst=0,size=\"4380B\",start=\"31.5us\"}]}",
    ];
    let outcome = run(&scenario("[workload]\n", &settings), 1);
    let second = outcome.flows.rows().iter().find(|row| row.src == 2);
    assert_eq!(second.map(|row| row.fct_ps), Some(1_200_000 + 3 * S));
}

/// All drops have a place, and a host's failed link is not its NIC: what is on the link or waits for
/// it when it fails is lost with it, and what the flow sends again meanwhile has no route.
#[test]
fn losses_of_a_failure_have_a_place() {
    let failure = "{link=\"h1--switch\",at=\"5ms\",until=\"60ms\"}";
    let outcome = one_flow(2000, failure, &["transport.max_window=100"]);
    let places = drops_by_place(&outcome.links, Some(outcome.drops_without_route), None);
    assert_eq!(places.values().sum::<u64>(), outcome.packets.dropped);
    assert_eq!(places["nic"], 0);
    assert_eq!(places["no_route"], outcome.drops_without_route);
    assert!(places["no_route"] > 0, "{places:?}");
    let lost = failure_drops(&outcome.links);
    assert_eq!(lost.values().sum::<u64>(), places["failed_links"]);
    assert_eq!(lost.len(), 1, "{lost:?}");
    assert!(lost.keys().all(|link| link.contains("h1")), "{lost:?}");
    assert!(places["failed_links"] > 1, "{places:?}");
}

/// A stream's retransmission timer has an event at 10 ms, after the flow has ended. A message flow lasts
/// from 2 to more than 10 ms. The next stream loses its only packet at 30 ms and sends it again at 40 ms.
#[test]
fn a_stream_after_a_message_flow_has_its_timer() {
    let flows = "[workload.long_lived]\nflows = [
        { src = 0, dst = 1, size = \"1460B\" },
        { src = 2, dst = 1, size = \"2MB\", start = \"2ms\", transport = \"other\" },
        { src = 0, dst = 1, size = \"1460B\", start = \"30ms\" },
    ]\n";
    let settings = [
        "topology.star.hosts=3",
        "transports.other.congestion_control=nscc",
        "transports.other.ecn=true",
        "transport.min_rto=10ms",
        "topology.failures=[{link=\"h1--switch\",at=\"29ms\",until=\"31ms\"}]",
    ];
    let outcome = run(&scenario(flows, &settings), 1);
    let ends = outcome.flows.rows().iter();
    let ends = Vec::from_iter(ends.map(|row| (row.start_ps + row.fct_ps) / MS_PS));
    assert_eq!((ends.len(), ends[0], ends[2]), (3, 0, 40), "{ends:?}");
    assert!(ends[1] > 10, "{ends:?}");
}
