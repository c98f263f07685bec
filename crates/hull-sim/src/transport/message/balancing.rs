//! Load balancing of a connection's packets over its entropy values, with the names used in scenarios.

use hull_core::entropy::{
    Bitmap, Ecmp, Flowlet, LoadBalancer, Mixed, Oblivious, PerPacket, Plb, PlbConfig, Reps,
    Subflows, SubflowsConfig,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MessageConfig;

/// A load balancer of the message transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadBalancing {
    /// One path for the whole connection.
    Ecmp,
    /// A random path for each packet.
    PerPacket,
    /// All paths in turn, in an order that changes every round.
    Oblivious,
    /// The same without the paths whose packets were marked, trimmed or lost, for as many turns.
    Bitmap,
    /// A path that was good is taken once more; else a random one.
    Reps,
    /// A path that was good is taken once more; else as bitmap.
    #[default]
    Mixed,
    /// A few random paths in turn; those that are silent when packets are lost are drawn again (UnoLB).
    Subflows,
    /// One path, drawn again after congested round trips or a loss.
    Plb,
    /// One path, drawn again when the connection paused for a gap.
    Flowlet,
}

impl LoadBalancing {
    /// Whether the number of paths has to be a power of two.
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

    /// The state of a new connection; `random` are 64 random bits.
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
