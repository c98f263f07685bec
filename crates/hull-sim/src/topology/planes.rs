//! Planes: several equal fabrics of pods that share nothing but the hosts, each with a NIC for each plane.
//! NIC p of every host is in plane p.
//!
//! ```text
//! spine0_0 spine0_1   spine1_0 spine1_1      plane 0, plane 1
//!    |  \  /  |          |  \  /  |
//! leaf0_0 leaf0_1     leaf1_0 leaf1_1
//!    |________|__________|       |
//!    h0       |__________________h1          a link of each host to each plane
//! ```
//!
//! Switches are numbered on from plane to plane. Links are plane by plane, in each in the order of
//! [`Pods`]: links of the hosts, of the ToRs and of the aggregation switches.

use super::graph::Wire;
use super::parts::Parts;
use super::pods::Pods;

/// Adds hosts and links of equal planes to parts that contain the switches: the ToRs of all planes, then
/// the aggregation switches, then the cores. The wires are as for [`Pods::join`].
pub(super) fn join(pods: Pods, planes: usize, parts: &mut Parts, uplink: Wire, core_link: Wire) {
    let (tors, aggs) = (pods.tors(), pods.pods * pods.aggs_per_pod);
    let hosts = parts.add_hosts("h", pods.hosts());
    let (uplink, core_link) = (parts.wire(uplink), parts.wire(core_link));
    for plane in 0..planes {
        let first_tor = plane * tors;
        let first_agg = planes * tors + plane * aggs;
        let first_core = planes * (tors + aggs) + plane * pods.cores;
        parts.join_hosts(hosts.clone(), |host| first_tor + host / pods.hosts_per_tor);
        for tor in 0..tors {
            let first = first_agg + tor / pods.tors_per_pod * pods.aggs_per_pod;
            for agg in 0..pods.aggs_per_pod {
                parts.join(first_tor + tor, first + agg, uplink);
            }
        }
        for pod in 0..pods.pods {
            for core in 0..pods.cores {
                let agg = pod * pods.aggs_per_pod + core / pods.cores_per_agg();
                parts.join(first_agg + agg, first_core + core, core_link);
            }
        }
    }
}
