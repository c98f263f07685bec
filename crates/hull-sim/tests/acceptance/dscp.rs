//! Classes by code point: a run is the one in which each transport has the class itself, and packets whose code
//! point no switch knows are counted by hand.

use hull_sim::scenario::{self, Scenario};
use hull_sim::simulation::Outcome;

use super::star::run;

/// Two hosts send to a third at the rate of its link, so the class of the other one starves. Each sends 100
/// packets of 1,000 bytes, one per us.
const STAR: &str = r#"
name = "codes"
[run]
duration = "100us"
drain = "1ms"
[topology.star]
hosts = 3
[host]
rate = "8Gbps"
delay = "1us"
[switch]
rate = "8Gbps"
delay = "1us"
priorities = 2
[transport]
congestion_control = "constant_rate"
constant_rate.rate = "8Gbps"
mtu = "1000B"
framing = "0B"
[transports.other]
[workload.long_lived]
flows = [{ src = 0, dst = 2, stop = "100us" }, { src = 1, dst = 2, stop = "100us", transport = "other" }]
"#;

fn expanded(settings: &[&str]) -> Result<Scenario, String> {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    match scenario::expand(STAR, "test.toml", &settings) {
        Ok(cells) => Ok(Scenario::clone(&cells[0].scenario)),
        Err(error) => Err(error.to_string()),
    }
}

/// Packets received by transport in the measured time, and in the whole run.
fn received(settings: &[&str]) -> (Vec<u64>, Outcome) {
    let outcome = run(&expanded(settings).expect("valid"), 1);
    let rates = outcome.transports.values().map(|of| of.goodput_bps as u64);
    (rates.collect(), outcome)
}

const CODES: &str = "switch.dscp=[{code=48,priority=0},{code=26,priority=1}]";

#[test]
fn a_code_point_is_the_class_that_the_switches_give_it() {
    let first = received(&[CODES, "transport.dscp=48", "transports.other.dscp=26"]).0;
    let same = received(&["transport.priority=0", "transports.other.priority=1"]).0;
    assert_eq!(first, same);
    assert!(first[0] > 10 * first[1], "{first:?}");
    let turned = received(&[CODES, "transport.dscp=26", "transports.other.dscp=48"]).0;
    assert!(turned[1] > 10 * turned[0], "{turned:?}");
    // One with a code point has its class, not the transport's priority.
    let both = ["transport.priority=1", "transports.other.priority=0"];
    let codes = [CODES, "transport.dscp=48", "transports.other.dscp=26"];
    assert_eq!(received(&[&codes[..], &both[..]].concat()).0, first);
}

/// 100 packets of the second transport have code point 10, and the class of their priority.
#[test]
fn an_unknown_code_point_is_counted_and_leaves_the_priority() {
    let settings = ["transport.dscp=48", "transports.other.dscp=10"];
    for (priority, winner) in [(0, 1), (1, 0)] {
        let codes = "switch.dscp=[{code=48,priority=1},{code=26,priority=0}]";
        let codes = if priority == 0 { codes } else { CODES };
        let priority = format!("transports.other.priority={priority}");
        let all = [&settings[..], &[codes, &priority]].concat();
        let rates = received(&all).0;
        assert!(rates[winner] > 10 * rates[1 - winner], "{rates:?}");
        // All packets have arrived at the end of a longer run.
        let all = [&all[..], &["run.duration=1ms"]].concat();
        let packets = received(&all).1.data_packets;
        assert_eq!(packets, [100, 100]);
        let scenario = expanded(&all).expect("valid");
        assert_eq!(scenario.packets_of_unknown_code(&packets), Some(100));
    }
}

#[test]
fn bad_code_points_are_refused() {
    for (settings, parts) in [
        (
            &["switch.dscp=[{code=64,priority=1}]", "transport.dscp=1"][..],
            &["switch.dscp[0].code", "64", "0 to 63"][..],
        ),
        (
            &[
                "switch.dscp=[{code=3,priority=1},{code=3,priority=0}]",
                "transport.dscp=1",
            ],
            &["switch.dscp[1].code", "once"],
        ),
        (
            &["switch.dscp=[{code=3,priority=2}]", "transport.dscp=1"],
            &["switch.dscp[0].priority", "0 to 1"],
        ),
        (&["transport.dscp=3"], &["transport.dscp", "switch.dscp"]),
        (&[CODES], &["switch.dscp", "transport.dscp"]),
        (
            &[CODES, "transport.dscp=64"],
            &["transport.dscp", "64", "0 to 63"],
        ),
    ] {
        let told = expanded(settings).expect_err("refused");
        for part in parts {
            assert!(told.contains(part), "{settings:?}: {told}");
        }
    }
}
