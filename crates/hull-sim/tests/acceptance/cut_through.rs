//! Store-and-forward, cut-through and switch latency: one packet across the tree of paper 6.3
//! against sums by hand, to the picosecond.
//!
//! Six links of delay d = 200 ns, five switches between. 1500 bytes take S = 1.2 us at 10 Gbps and
//! 12 us at 1 Gbps; a header of 64 bytes takes h = 51.2 ns and 512 ns.

use super::star::{run, scenario};

const D: u64 = 200_000;
const S: u64 = 1_200_000;
const SLOW: u64 = 12_000_000;
const H: u64 = 51_200;

const FLOW: &str = "[[workload.long_lived.flows]]\nsrc = 0\ndst = 191\nsize = \"1460B\"\n";

/// Time from host 0 to host 191, ps.
fn fct_ps(settings: &[&str]) -> u64 {
    let base = [
        "topology={tree={}}",
        "switch.rate=10Gbps",
        "host.delay=200ns",
        "switch.delay=200ns",
        "run.duration=1ms",
    ];
    let settings: Vec<&str> = base.iter().chain(settings).copied().collect();
    let outcome = run(&scenario(FLOW, &settings), 1);
    assert_eq!(
        (outcome.flows.rows().len(), outcome.packets.dropped),
        (1, 0)
    );
    outcome.flows.rows()[0].fct_ps
}

const CUT: &str = "switch.cut_through=64B";
const SLOW_HOST: &str = "topology.links=[{link=\"h0--tor0_0\",rate=\"1Gbps\"}]";
const SLOW_END: &str = "topology.links=[{link=\"h191--tor7_3\",rate=\"1Gbps\"}]";

#[test]
fn a_stored_packet_pays_for_each_link() {
    assert_eq!(fct_ps(&[]), 6 * (S + D));
    assert_eq!(fct_ps(&[SLOW_HOST]), SLOW + 5 * S + 6 * D);
    assert_eq!(fct_ps(&[SLOW_END]), SLOW + 5 * S + 6 * D);
}

/// Each of the five switches starts to send once it has the header; the last link carries all of
/// it.
#[test]
fn cut_through_pays_for_one_link() {
    assert_eq!(fct_ps(&[CUT]), 5 * (H + D) + S + D);
}

/// The first switch must not underrun: it starts S before the last bit arrives, so that it sends
/// that bit on arrival. The other switches have the same rate.
#[test]
fn from_slow_to_fast_the_last_bit_decides() {
    let first = SLOW + D - S;
    assert_eq!(fct_ps(&[CUT, SLOW_HOST]), first + 4 * (H + D) + S + D);
}

/// The last switch starts once it has the header and sends at its own rate.
#[test]
fn from_fast_to_slow_the_header_decides() {
    assert_eq!(fct_ps(&[CUT, SLOW_END]), 5 * (H + D) + SLOW + D);
}

/// A packet no longer than the cut-through threshold is stored and forwarded.
#[test]
fn a_short_packet_is_stored() {
    let short = "workload.long_lived.flows=[{src=0,dst=191,size=\"20B\"}]";
    let bytes_60 = 48_000;
    assert_eq!(fct_ps(&[CUT, short]), 6 * (bytes_60 + D));
    assert_eq!(fct_ps(&["switch.cut_through=1500B"]), 6 * (S + D));
}

/// A packet that must wait follows its predecessor immediately: two simultaneous packets from hosts
/// of one switch to a third host leave the switch back to back.
#[test]
fn cut_through_waits_in_the_queue() {
    let two =
        "workload.long_lived.flows=[{src=1,dst=0,size=\"1460B\"},{src=2,dst=0,size=\"1460B\"}]";
    let settings = [
        "topology={tree={}}",
        "switch.rate=10Gbps",
        "host.delay=200ns",
        "switch.delay=200ns",
        "run.duration=1ms",
        CUT,
        two,
    ];
    let outcome = run(&scenario(FLOW, &settings), 1);
    let mut times: Vec<u64> = outcome.flows.rows().iter().map(|row| row.fct_ps).collect();
    times.sort_unstable();
    assert_eq!(times, [H + S + 2 * D, H + 2 * S + 2 * D]);
}

#[test]
fn a_switch_adds_its_latency() {
    let latency = "switch.latency=350ns";
    assert_eq!(fct_ps(&[latency]), 6 * (S + D) + 5 * 350_000);
    assert_eq!(fct_ps(&[latency, CUT]), 5 * (H + D) + S + D + 5 * 350_000);
}
