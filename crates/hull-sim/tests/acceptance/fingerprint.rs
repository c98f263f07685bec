//! A fingerprint of results: a snapshot of a seeded grid of schemes, buffers and loads. It shows
//! that a change moved results, not whether they are right; the other files check that.

use std::fmt::Write;

use super::star::{REQUESTS, run, scenario};

/// Paper table 3 and 5.1.
const TESTBED_PACER: &str =
    "pacer={update_interval=\"64us\",beta=16,association_timeout=\"10ms\",fifo=\"128KB\"}";

const SCHEMES: [(&str, &[&str]); 4] = [
    ("tcp_droptail", &[]),
    (
        "dctcp_30k",
        &[
            "transport.congestion_control=dctcp",
            "transport.ecn=true",
            "switch.marking.threshold=30KB",
        ],
    ),
    (
        "dctcp_6k_pacer",
        &[
            "transport.congestion_control=dctcp",
            "transport.ecn=true",
            "switch.marking.threshold=6KB",
            TESTBED_PACER,
        ],
    ),
    (
        "dctcp_pq950_pacer",
        &[
            "transport.congestion_control=dctcp",
            "transport.ecn=true",
            "switch.phantom_queue={drain=\"95%\",threshold=\"1KB\"}",
            TESTBED_PACER,
        ],
    ),
];

#[test]
fn results_are_unchanged() {
    let mut table = String::from(
        "scheme             buffer   load packet_hops  drops  marks timeouts retransmitted  paced  1KB_us  500KB_us\n",
    );
    for (scheme, keys) in SCHEMES {
        for buffer in ["45KB", "400pkts"] {
            for load in ["30%", "60%"] {
                let settings = [
                    format!("switch.buffer={buffer}"),
                    format!("workload.requests.load={load}"),
                ];
                let base = [
                    "topology.star.hosts=6",
                    "host.rate=1Gbps",
                    "host.delay=10us",
                    "switch.delay=10us",
                    "run.duration=300ms",
                    "transport.ack_every=2",
                    "workload.requests.connections_per_server=3",
                    "workload.requests.classes=[{size=\"1KB\",share=\"80%\"},{size=\"500KB\",share=\"20%\"}]",
                ];
                let own = settings.iter().map(String::as_str);
                let settings: Vec<&str> = base.iter().chain(keys).copied().chain(own).collect();
                let outcome = run(&scenario(REQUESTS, &settings), 1);
                let fct = outcome.flows.summary();
                let mean = |class: usize| fct[class].fct.map_or(0.0, |fct| fct.mean_us);
                writeln!(
                    table,
                    "{scheme:18} {buffer:8} {load} {:11} {:6} {:6} {:8} {:13} {:6} {:7.1} {:9.0}",
                    outcome.packet_hops,
                    outcome.packets.dropped,
                    outcome.marks,
                    outcome.counts.timeouts,
                    outcome.counts.retransmissions,
                    outcome.counts.paced,
                    mean(0),
                    mean(1),
                )
                .expect("writes to a String");
            }
        }
    }
    insta::assert_snapshot!("grid", table);
}
