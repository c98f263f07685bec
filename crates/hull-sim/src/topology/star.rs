//! The star: all hosts at one switch (the testbeds of paper 5 and thesis 2.3, the report's network).
//! Hosts `h0`, `h1`, ..., the switch `switch`.

use super::Star;
use super::graph::Graph;
use super::parts::Parts;

pub(super) fn build(star: &Star, mut parts: Parts) -> Result<Graph, String> {
    let switch = parts.switch("switch", 1);
    for host in 0..star.hosts {
        parts.host(format!("h{host}"), switch);
    }
    parts.graph(&["host", "switch"])
}
