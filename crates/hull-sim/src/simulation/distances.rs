//! The message transport's settings by distance: for connections inside a data centre and for those
//! between two, which have different round trips. Times are ps.

use std::sync::Arc;

use crate::transport::message::MessageConfig;

/// What the connections of a transport have in common, by their distance.
#[derive(Clone, Debug)]
pub struct Distances {
    /// Inside a data centre.
    pub near: Arc<MessageConfig>,
    /// Between two, where the network has two.
    pub far: Option<Far>,
}

/// The settings of connections between two data centres.
#[derive(Clone, Debug)]
pub struct Far {
    /// Hosts of each data centre, which are numbered one behind the other.
    pub hosts_each: u32,
    /// The settings.
    pub config: Arc<MessageConfig>,
}

impl Distances {
    /// The settings of a connection between two hosts.
    pub fn between(&self, src: u32, dst: u32) -> &Arc<MessageConfig> {
        match &self.far {
            Some(far) if src / far.hosts_each != dst / far.hosts_each => &far.config,
            _ => &self.near,
        }
    }
}
