//! The shortest paths of a network of pods, computed from switch numbers: up to an aggregation switch,
//! further to a core if the destination is in another pod, then down. Only the failed links are stored.
//!
//! The choices equal the routing table's for the same graph: the ports that lead nearer, in
//! ascending order, are those to the aggregation switches or cores with a path down to the
//! destination.

use super::graph::Graph;
use super::pods::Pods;
use super::routing::choose;

/// Shortest paths of a network of pods.
#[derive(Clone, Debug)]
pub(super) struct PodRoutes {
    pods: Pods,
    /// Failed links; empty while all links work.
    failed: Vec<bool>,
}

impl PodRoutes {
    /// Whether `failed_between` failed links between switches leave every pair of ToRs one of its
    /// shortest paths. To separate a pair, at least one link per aggregation switch of a pod must
    /// fail, and no two of them share a link.
    pub(super) fn stand(pods: &Pods, failed_between: usize) -> bool {
        failed_between == 0 || failed_between < pods.aggs_per_pod
    }

    /// Creates the routes of `graph` with all links; `None` if it has no pods.
    pub(super) fn new(graph: &Graph) -> Option<PodRoutes> {
        graph.pods().map(|&pods| PodRoutes {
            pods,
            failed: Vec::new(),
        })
    }

    /// Creates the routes of `graph` without the links marked in `failed_links`. Returns `None` if
    /// some path would become longer, or if there are no pods.
    pub(super) fn without(graph: &Graph, failed_links: &[bool]) -> Option<PodRoutes> {
        let mut routes = PodRoutes::new(graph)?;
        let (of_hosts, between) = failed_links.split_at(routes.pods.hosts());
        let failed_between = between.iter().filter(|&&failed| failed).count();
        if failed_between > 0 || of_hosts.contains(&true) {
            routes.failed = failed_links.to_vec();
        }
        PodRoutes::stand(&routes.pods, failed_between).then_some(routes)
    }

    #[inline]
    fn works(&self, link: usize) -> bool {
        self.failed.is_empty() || !self.failed[link]
    }

    /// See [`Routes::path`](super::Routes::path).
    #[inline]
    pub(super) fn path(&self, src: usize, dst: usize, hash: u64, out: &mut Vec<u32>) -> bool {
        if !self.works(src) || !self.works(dst) {
            return false;
        }
        let each = self.pods.hosts_per_tor;
        let (from, to) = (src / each, dst / each);
        out.push(up(src));
        if from != to {
            self.push_between(from, to, hash, out);
        }
        out.push(down(dst));
        true
    }

    /// Appends the ports from ToR `from` to the different ToR `to`.
    fn push_between(&self, from: usize, to: usize, hash: u64, out: &mut Vec<u32>) {
        let pods = &self.pods;
        let (from_pod, to_pod) = (from / pods.tors_per_pod, to / pods.tors_per_pod);
        let each = pods.cores_per_agg();
        let joins = |core: usize| {
            self.works(pods.core_link(from_pod, core)) && self.works(pods.core_link(to_pod, core))
        };
        let leads = |agg: usize| {
            self.works(pods.tor_link(from, agg))
                && self.works(pods.tor_link(to, agg))
                && (from_pod == to_pod || (agg * each..(agg + 1) * each).any(joins))
        };
        let agg = self.pick(hash, from, pods.aggs_per_pod, leads);
        out.push(up(pods.tor_link(from, agg)));
        if from_pod != to_pod {
            let (switch, first) = (pods.agg(from_pod, agg), agg * each);
            let core = first + self.pick(hash, switch, each, |core| joins(first + core));
            out.push(up(pods.core_link(from_pod, core)));
            out.push(down(pods.core_link(to_pod, core)));
        }
        out.push(down(pods.tor_link(to, agg)));
    }

    /// Chooses for a flow at `switch`, out of `count` next hops, one that leads to the destination.
    #[inline]
    fn pick(&self, hash: u64, switch: usize, count: usize, leads: impl Fn(usize) -> bool) -> usize {
        let choose = |count: usize| choose(hash, switch as u32, count as u32) as usize;
        if self.failed.is_empty() {
            return choose(count);
        }
        let left = || (0..count).filter(|&one| leads(one));
        // `stand` holds, so there is one.
        left().nth(choose(left().count())).unwrap_or(0)
    }

    /// Number of ports on the longest path between two hosts.
    pub(super) fn longest_path(&self) -> usize {
        self.pods.longest() + 2
    }
}

/// Port of a link towards the cores.
fn up(link: usize) -> u32 {
    2 * link as u32
}

/// Port of a link towards the hosts.
fn down(link: usize) -> u32 {
    up(link) + 1
}
