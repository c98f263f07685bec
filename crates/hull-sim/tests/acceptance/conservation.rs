//! Packet conservation in random scenarios: at the end of every run, packets sent = delivered +
//! dropped + queued or in flight, nothing panics, and no selective acknowledgment leaks (its side
//! table holds at most the packets in flight, and none if none are).

use hull_sim::simulation::{self, Control};
use proptest::prelude::*;

use super::star::{BULK, REQUESTS, scenario};

fn workload() -> impl Strategy<Value = (&'static str, Vec<String>)> {
    let pick = prop::sample::select(vec!["random", "random_idle", "round_robin"]);
    let requests = (1_u32..99, 1_u32..5, any::<bool>(), pick, 1_u32..9000).prop_map(
        |(load, connections, separate, pick, request)| {
            let classes =
                "[{size=\"1B\",share=\"30%\"},{size=\"20KB\",share=\"65%\"},{size=\"700KB\",share=\"5%\"}]";
            let settings = vec![
                format!("workload.requests.load={load}%"),
                format!("workload.requests.connections_per_server={connections}"),
                format!("workload.requests.separate_classes={separate}"),
                format!("workload.requests.pick={pick}"),
                format!("workload.requests.request_size={request}B"),
                format!("workload.requests.classes={classes}"),
            ];
            (REQUESTS, settings)
        },
    );
    let size = prop::option::of(1_u32..400_000);
    let bulk = (1_u32..12, size, 0_u32..3000).prop_map(|(flows, size, interval)| {
        let mut settings = vec![
            format!("workload.bulk.flows={flows}"),
            format!("workload.bulk.start_interval={interval}us"),
        ];
        settings.extend(size.map(|size| format!("workload.bulk.size={size}B")));
        (BULK, settings)
    });
    prop_oneof![requests, bulk]
}

fn scheme() -> impl Strategy<Value = Vec<String>> {
    let drop_tail = Just(Vec::new());
    let marking = (any::<bool>(), any::<bool>()).prop_map(|(ecn, count)| {
        vec![
            format!("transport.ecn={ecn}"),
            format!("switch.marking={{threshold=\"200B\",count_arriving={count}}}"),
        ]
    });
    let dctcp = (0_u32..20_000, any::<bool>()).prop_map(|(threshold, ticks)| {
        let tick = if ticks { "800ns" } else { "continuous" };
        let queue = format!("{{drain=\"90%\",threshold=\"{threshold}B\",tick=\"{tick}\"}}");
        vec![
            "transport.congestion_control=dctcp".to_owned(),
            "transport.ecn=true".to_owned(),
            format!("switch.phantom_queue={queue}"),
        ]
    });
    prop_oneof![drop_tail, marking, dctcp]
}

fn pacer() -> impl Strategy<Value = Vec<String>> {
    let full = prop::sample::select(vec!["drop", "bypass"]);
    let overtaking = prop::sample::select(vec!["any", "other_flows", "none", "held"]);
    let pacer = (overtaking, full, 1_u32..5, 1_u32..10, 1_u32..40).prop_map(
        |(overtaking, full, fifo_packets, bucket, entries)| {
            vec![format!(
                "pacer={{fifo=\"{}B\",bucket=\"{bucket}KB\",overtaking=\"{overtaking}\",\
                 when_fifo_full=\"{full}\",table_entries={entries},rate_step=\"5Mbps\",\
                 association_timeout=\"300us\",association_probability=\"70%\"}}",
                9000 * fifo_packets
            )]
        },
    );
    prop_oneof![Just(Vec::new()), pacer]
}

fn network() -> impl Strategy<Value = Vec<String>> {
    let buffer = prop_oneof![
        Just("unlimited".to_owned()),
        (1_u32..60).prop_map(|packets| format!("{packets}pkts")),
        (9_000_u32..100_000).prop_map(|bytes| format!("{bytes}B")),
    ];
    let rate = prop::sample::select(vec!["100Mbps", "1Gbps", "950Mbps", "10Gbps"]);
    let links = (
        2_u16..7,
        rate.clone(),
        rate,
        0_u32..100,
        buffer.clone(),
        buffer,
        any::<bool>(),
    );
    let mtu = prop_oneof![Just(1500), Just(9000), 300_u32..9000];
    let tcp = (
        mtu,
        1_u32..5,
        1_u32..40,
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    );
    (links, tcp).prop_map(|(links, tcp)| {
        let (hosts, host_rate, switch_rate, delay, nic, buffer, in_service) = links;
        let (mtu, ack_every, initial_window, idle_restart, validation, probe) = tcp;
        let mut settings = vec![
            format!("topology.star.hosts={hosts}"),
            format!("host.rate={host_rate}"),
            format!("switch.rate={switch_rate}"),
            format!("host.delay={delay}us"),
            format!("host.application_delay={}us", delay % 7),
            format!("host.nic_buffer={nic}"),
            format!("switch.buffer={buffer}"),
            format!("switch.count_in_service={in_service}"),
            format!("transport.mtu={mtu}B"),
            format!("transport.ack_every={ack_every}"),
            format!("transport.initial_window={initial_window}"),
            format!("transport.idle_restart={idle_restart}"),
            format!("transport.cwnd_validation={validation}"),
            "transport.min_rto=2ms".to_owned(),
            "transport.initial_rto=2ms".to_owned(),
            "run.duration=30ms".to_owned(),
            "run.drain=30ms".to_owned(),
        ];
        if probe {
            settings.push("measure.probe={interval=\"100us\"}".to_owned());
        }
        settings
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_is_accounted_for(
        (base, traffic) in workload(),
        scheme in scheme(),
        pacer in pacer(),
        network in network(),
        seed in 0_u64..1000,
    ) {
        let parts = [network, traffic, scheme, pacer];
        let settings: Vec<&str> = parts.iter().flatten().map(String::as_str).collect();
        let scenario = scenario(base, &settings);
        let outcome = match simulation::build(&scenario, seed, None) {
            Ok(simulation) => simulation.run(&Control::default()),
            Err(problem) => panic!("{problem:?}"),
        };
        prop_assert!(outcome.is_ok(), "{:?}", outcome.err());
        if let Ok(outcome) = outcome {
            let packets = outcome.packets;
            prop_assert_eq!(
                packets.sent,
                packets.delivered + packets.dropped + packets.in_flight
            );
            prop_assert!(outcome.options_in_flight <= packets.in_flight);
            prop_assert!(outcome.flows.rows().iter().all(|record| record.fct_ps > 0));
        }
    }
}
