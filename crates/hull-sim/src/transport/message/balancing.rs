//! Load balancing of a connection's packets over its entropy values, with the names used in scenarios.

use hull_core::entropy::{
    Bitmap, Ecmp, Flowlet, LoadBalancer, Mixed, Oblivious, PerPacket, Plb, PlbConfig, Reps,
    Subflows, SubflowsConfig,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MessageConfig;

/// Load balancer of the message transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadBalancing {
    /// One path for the whole connection.
    Ecmp,
    /// A random path for each packet.
    PerPacket,
    /// All paths in turn, in an order that changes every round.
    Oblivious,
    /// As oblivious, but skips paths whose packets were marked, trimmed or lost, for a number of
    /// turns.
    Bitmap,
    /// Paths of unmarked acknowledgments, reused once; otherwise a random path.
    Reps,
    /// Paths of unmarked acknowledgments, reused once; otherwise as bitmap.
    #[default]
    Mixed,
    /// A few random paths in turn; paths without acknowledgments are replaced after losses (UnoLB).
    Subflows,
    /// One path, replaced after congested round trips or a loss.
    Plb,
    /// One path, replaced after a pause of the connection.
    Flowlet,
}

impl LoadBalancing {
    /// Whether the number of paths must be a power of two.
    pub fn walks(self) -> bool {
        match self {
            LoadBalancing::Oblivious | LoadBalancing::Bitmap | LoadBalancing::Mixed => true,
            LoadBalancing::Ecmp
            | LoadBalancing::PerPacket
            | LoadBalancing::Reps
            | LoadBalancing::Subflows
            | LoadBalancing::Plb
            | LoadBalancing::Flowlet => false,
        }
    }

    /// Largest number of paths that a connection uses of `paths`, other than after losses or congestion.
    pub fn paths_of(self, paths: u16, subflows: u16) -> u16 {
        match self {
            LoadBalancing::Ecmp | LoadBalancing::Plb | LoadBalancing::Flowlet => 1,
            LoadBalancing::Subflows => subflows,
            LoadBalancing::PerPacket
            | LoadBalancing::Oblivious
            | LoadBalancing::Bitmap
            | LoadBalancing::Reps
            | LoadBalancing::Mixed => paths,
        }
    }

    /// Creates the state of a new connection; `random` holds 64 random bits.
    pub fn start(self, config: &MessageConfig, random: u64) -> LoadBalancer {
        let paths = config.paths;
        match self {
            LoadBalancing::Ecmp => LoadBalancer::Ecmp(Ecmp::new(paths)),
            LoadBalancing::PerPacket => LoadBalancer::PerPacket(PerPacket::new(paths)),
            LoadBalancing::Oblivious => LoadBalancer::Oblivious(Oblivious::new(paths, random)),
            LoadBalancing::Bitmap => LoadBalancer::Bitmap(Bitmap::new(paths, random)),
            LoadBalancing::Reps => LoadBalancer::Reps(Reps::new(paths)),
            LoadBalancing::Mixed => LoadBalancer::Mixed(Mixed::new(paths, random)),
            LoadBalancing::Subflows => {
                let settings = SubflowsConfig {
                    paths,
                    subflows: config.subflows,
                    base_rtt_ps: config.rtt_ps,
                };
                LoadBalancer::Subflows(Subflows::new(&settings, 0))
            }
            LoadBalancing::Plb => LoadBalancer::Plb(Plb::new(&PlbConfig {
                paths,
                base_rtt_ps: config.rtt_ps,
                timeout_ps: config.timeout_ps,
            })),
            LoadBalancing::Flowlet => {
                LoadBalancer::Flowlet(Flowlet::new(paths, config.flowlet_gap_ps))
            }
        }
    }
}
