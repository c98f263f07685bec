//! HULL's pacer with pauses: a paused host's link sends nothing, although its pacer releases packets, and no packet of a
//! lossless class is lost. The law: a link is busy or paused, but for the packet that a pause finds on the wire.

use hull_sim::measure::LinkCount;
use hull_sim::scenario::{self, Scenario};
use hull_sim::simulation::Outcome;

use super::star::run;

/// Four hosts send to a fifth; their ports mark by a phantom queue, and its threshold of pauses is low.
const INCAST: &str = r#"
name = "paced"
[run]
duration = "5ms"
warmup = "0s"
[topology.star]
hosts = 5
[host]
rate = "10Gbps"
delay = "1us"
[switch]
rate = "10Gbps"
delay = "1us"
pfc = { xoff = "12KB" }
phantom_queue = { drain = "95%", threshold = "6KB" }
[transport]
congestion_control = "dctcp"
ecn = true
[pacer]
[workload.long_lived]
flows = [{ src = "1-4", dst = 0 }, { src = "1-4", dst = 0 }]
"#;

fn outcome(settings: &[&str]) -> Outcome {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    match scenario::expand(INCAST, "test.toml", &settings) {
        Ok(cells) => run(&Scenario::clone(&cells[0].scenario), 1),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_paced_host_that_is_paused_sends_nothing() {
    for settings in [
        &[][..],
        &["pacer.place=\"before_segmentation\"", "host.offload=9KB"],
        &["host.queue=fifo"],
    ] {
        let outcome = outcome(settings);
        let mut paused_ps = 0;
        for pauses in outcome.pauses.iter().filter(|row| row.from != "switch") {
            let counts = pauses.counts;
            let is_its = |link: &&LinkCount| (&link.from, &link.to) == (&pauses.from, &pauses.to);
            let link = outcome.links.iter().find(is_its).expect("the link");
            let busy_ps = link.utilization * 5e9;
            // 1,500 bytes take 1.2 us.
            let idle_ps = 5e9 - counts.paused_ps as f64 + 1.2e6 * counts.received as f64;
            assert!(busy_ps <= idle_ps, "{settings:?}: {busy_ps} {idle_ps}");
            paused_ps += counts.paused_ps;
            assert_eq!(counts.drops, 0);
        }
        assert!(paused_ps > 10_000_000, "{settings:?}: {paused_ps}");
        assert_eq!(outcome.packets.dropped, 0);
        let to_client = |link: &&LinkCount| link.to == "h0";
        let client = outcome.links.iter().find(to_client).expect("the link");
        assert!(client.utilization > 0.85, "{}", client.utilization);
    }
}
