//! The message transport's settings by distance: for connections inside a data centre and for those
//! between two, which have different round trips. Times are ps.

use std::sync::Arc;

use crate::transport::message::MessageConfig;

/// Settings of a transport's connections, by distance.
#[derive(Clone, Debug)]
pub struct Distances {
    /// Settings inside a data centre.
    pub near: Arc<MessageConfig>,
    /// Settings between two data centres, if the network has two.
    pub far: Option<Far>,
}

/// Settings of connections between two data centres.
#[derive(Clone, Debug)]
pub struct Far {
    /// Number of hosts of each data centre; the second one's numbers follow the first one's.
    pub hosts_each: u32,
    /// Settings of the message transport.
    pub config: Arc<MessageConfig>,
}

impl Distances {
    /// Settings of a connection between two hosts.
    pub fn between(&self, src: u32, dst: u32) -> &Arc<MessageConfig> {
        match &self.far {
            Some(far) if src / far.hosts_each != dst / far.hosts_each => &far.config,
            _ => &self.near,
        }
    }
}
