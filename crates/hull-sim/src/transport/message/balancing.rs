//! How packets of a connection are spread over its entropy values, as scenarios name it.

use hull_core::entropy::{Bitmap, Ecmp, LoadBalancer, Mixed, Oblivious, PerPacket, Reps};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
}

impl LoadBalancing {
    /// Whether the number of paths has to be a power of two.
    pub fn walks(self) -> bool {
        match self {
            LoadBalancing::Oblivious | LoadBalancing::Bitmap | LoadBalancing::Mixed => true,
            LoadBalancing::Ecmp | LoadBalancing::PerPacket | LoadBalancing::Reps => false,
        }
    }

    /// The state of a new connection with so many paths; `random` are 64 random bits.
    pub fn start(self, paths: u16, random: u64) -> LoadBalancer {
        match self {
            LoadBalancing::Ecmp => LoadBalancer::Ecmp(Ecmp::new(paths)),
            LoadBalancing::PerPacket => LoadBalancer::PerPacket(PerPacket::new(paths)),
            LoadBalancing::Oblivious => LoadBalancer::Oblivious(Oblivious::new(paths, random)),
            LoadBalancing::Bitmap => LoadBalancer::Bitmap(Bitmap::new(paths, random)),
            LoadBalancing::Reps => LoadBalancer::Reps(Reps::new(paths)),
            LoadBalancing::Mixed => LoadBalancer::Mixed(Mixed::new(paths, random)),
        }
    }
}
