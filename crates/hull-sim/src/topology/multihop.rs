//! The multi-hop, multi-bottleneck network of thesis 2.3.1, figure 2.17: Triumph 1, Scorpion and
//! Triumph 2 in a row, connected at 10 Gbps, hosts at 1 Gbps (`host.rate`, `switch.rate`). S1 (10
//! hosts) and S2 (20) are at Triumph 1, S3 (10), R1 (1) and R2 (20) at Triumph 2.
//!
//! The text specifies the groups, their sizes and the two bottlenecks (Triumph 1 to Scorpion, Triumph 2
//! to R1). S1 crosses both, S3 only the second one. R2 is at Triumph 2 according to table 2.1: the
//! Scorpion has only 10 Gbps ports, and R2 has 20 of the 1 Gbps machines.
//!
//! Hosts in the order `s1_0`, ..., `s2_0`, ..., `s3_0`, ..., `r1`, `r2_0`, ...; switches `triumph1`,
//! `scorpion`, `triumph2`.

use super::Multihop;
use super::graph::Graph;
use super::parts::Parts;

pub(super) fn build(multihop: &Multihop, mut parts: Parts) -> Result<Graph, String> {
    let trunk = parts.between_switches(Some(multihop.trunk_rate), multihop.trunk_delay);
    let triumph1 = parts.switch("triumph1", 1);
    let scorpion = parts.switch("scorpion", 2);
    let triumph2 = parts.switch("triumph2", 1);
    parts.hosts("s1_", multihop.s1 as usize, |_| triumph1);
    parts.hosts("s2_", multihop.s2 as usize, |_| triumph1);
    parts.hosts("s3_", multihop.s3 as usize, |_| triumph2);
    parts.host("r1", triumph2);
    parts.hosts("r2_", multihop.r2 as usize, |_| triumph2);
    let trunk = parts.wire(trunk);
    parts.join(triumph1, scorpion, trunk);
    parts.join(triumph2, scorpion, trunk);
    parts.graph(&["host", "triumph", "scorpion"])
}
