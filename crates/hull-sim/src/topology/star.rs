//! The star: all hosts at one switch (the testbeds of paper 5 and thesis 2.3, the report's network).
//! Hosts `h0`, `h1`, ..., the switch `switch`.

use super::Star;
use super::graph::Graph;
use super::parts::Parts;
use super::pods::Pods;

pub(super) fn build(star: &Star, mut parts: Parts) -> Result<Graph, String> {
    parts.switch("switch", 1);
    let wire = parts.out_of_switch;
    let pods = Pods {
        pods: 1,
        tors_per_pod: 1,
        hosts_per_tor: usize::from(star.hosts),
        aggs_per_pod: 0,
        cores: 0,
    };
    pods.join(&mut parts, wire, wire);
    parts.graph(&["host", "switch"])
}
