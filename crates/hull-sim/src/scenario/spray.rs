//! How the packets of a stream spread over several paths.

use hull_core::entropy::{Flowlet, LoadBalancer, Oblivious, PerPacket};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Transport;
use crate::problem::{Problem, quoted, require};
use crate::units::Time;

/// Spreading of a stream's packets over several paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spray {
    /// Entropy values of a flow; the hash of each selects a path.
    #[serde(default = "paths")]
    pub paths: u16,
    /// Load balancing of packets over the paths.
    #[serde(default)]
    pub load_balancing: StreamBalancing,
    /// Pause after which a packet begins a flowlet, with load_balancing = "flowlet".
    #[serde(default = "flowlet_gap")]
    pub flowlet_gap: Time,
}

/// Load balancer of a stream. Its acknowledgments do not tell the path of the data, so none adapts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StreamBalancing {
    /// A random path for each packet.
    PerPacket,
    /// All paths in turn, in an order that changes every round.
    #[default]
    Oblivious,
    /// One path, replaced after a pause of the flow.
    Flowlet,
}

const fn paths() -> u16 {
    64
}
/// Gap of 500 us, a value of the source's (LetFlow, NSDI 2017, 3.2).
const fn flowlet_gap() -> Time {
    Time(500_000_000)
}

impl Spray {
    /// Creates the balancer of a new flow; `random` holds 64 random bits.
    pub fn start(&self, random: u64) -> LoadBalancer {
        let paths = self.paths;
        match self.load_balancing {
            StreamBalancing::PerPacket => LoadBalancer::PerPacket(PerPacket::new(paths)),
            StreamBalancing::Oblivious => LoadBalancer::Oblivious(Oblivious::new(paths, random)),
            StreamBalancing::Flowlet => {
                LoadBalancer::Flowlet(Flowlet::new(paths, self.flowlet_gap.0))
            }
        }
    }

    fn check(&self) -> Result<(), Problem> {
        let walks = self.load_balancing == StreamBalancing::Oblivious;
        let allowed = match walks {
            true => "a power of two from 1 to 4096, for this load_balancing",
            false => "1 to 4096",
        };
        require(
            (1..=4096).contains(&self.paths) && (!walks || self.paths.is_power_of_two()),
            "transport.spray.paths",
            self.paths,
            allowed,
        )?;
        require(
            (Time(100_000)..=Time(10_000_000_000_000)).contains(&self.flowlet_gap),
            "transport.spray.flowlet_gap",
            quoted(self.flowlet_gap),
            "100ns to 10s",
        )
    }
}

/// Checks the table of a transport.
pub(super) fn check(t: &Transport) -> Result<(), Problem> {
    let Some(spray) = &t.spray else {
        return Ok(());
    };
    require(
        !t.sends_messages(),
        "transport.spray",
        "a table",
        &format!(
            "no such key with transport.congestion_control = {}, whose packets spread as \
             transport.message.load_balancing says",
            quoted(&t.congestion_control)
        ),
    )?;
    spray.check()
}
