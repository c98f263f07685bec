//! The message transport's settings by the ends of a connection: the rates of the hosts' own links, and
//! whether the hosts are in one data centre or in two, which have different round trips. Times are ps.

use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use crate::topology::LinkCounts;
use crate::transport::message::MessageConfig;

/// Properties of a connection's ends that determine its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ends {
    /// Rate of the sender's link to the network, bit/s.
    pub up_bps: u64,
    /// Rate of the network's link to the receiver, bit/s.
    pub down_bps: u64,
    /// Whether the hosts are in two data centres.
    pub is_far: bool,
    /// Number of links between the hosts; 0 unless the control reads it.
    pub links: u16,
}

/// Creates the settings of connections.
type Recipe = Box<dyn Fn(&Ends) -> Arc<MessageConfig> + Send + Sync>;

/// Settings of a transport's connections, created when the first connection needs them.
pub struct Distances {
    /// Rates of the hosts' links to and from the network, bit/s.
    up_bps: Vec<u64>,
    down_bps: Vec<u64>,
    /// Number of hosts of each data centre if there are two; the second one's numbers follow the
    /// first one's.
    hosts_each: Option<u32>,
    /// Numbers of links between hosts, if the control reads them.
    links: Option<LinkCounts>,
    recipe: Recipe,
    created: HashMap<Ends, Arc<MessageConfig>>,
    /// Settings of any connection, for what is the same for all.
    pub common: Arc<MessageConfig>,
}

impl Distances {
    /// Creates the settings of a transport for hosts with these links, with the number of hosts of
    /// each data centre if there are two, and the numbers of links if the control reads them.
    pub fn new(
        up_bps: Vec<u64>,
        down_bps: Vec<u64>,
        hosts_each: Option<u32>,
        links: Option<LinkCounts>,
        recipe: impl Fn(&Ends) -> Arc<MessageConfig> + Send + Sync + 'static,
    ) -> Self {
        let common = recipe(&Ends {
            up_bps: up_bps[0],
            down_bps: down_bps[0],
            is_far: false,
            links: links.as_ref().map_or(0, |links| links.between(0, 1)),
        });
        Distances {
            up_bps,
            down_bps,
            hosts_each,
            links,
            recipe: Box::new(recipe),
            created: HashMap::new(),
            common,
        }
    }

    /// Settings of a connection between two hosts.
    pub fn between(&mut self, src: u32, dst: u32) -> &Arc<MessageConfig> {
        let ends = Ends {
            up_bps: self.up_bps[src as usize],
            down_bps: self.down_bps[dst as usize],
            is_far: (self.hosts_each).is_some_and(|hosts| src / hosts != dst / hosts),
            links: (self.links.as_ref()).map_or(0, |links| links.between(src, dst)),
        };
        let recipe = &self.recipe;
        self.created.entry(ends).or_insert_with(|| recipe(&ends))
    }
}

impl Debug for Distances {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Distances").field(&self.created).finish()
    }
}
