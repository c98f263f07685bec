//! The star: one switch, each host with a link to it and a link from it (paper figure 7, report
//! figure 1). Host links and switch links have settings of their own.

use super::fifo_port::{FifoPort, PortConfig};

/// Ports of a star, by number: host h sends on port h, the switch sends to h on port hosts + h.
#[derive(Debug)]
pub struct Star {
    hosts: usize,
    /// All ports.
    pub ports: Vec<FifoPort>,
}

/// What is at the far end of a port's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FarEnd {
    /// The switch.
    Switch,
    /// A host.
    Host(usize),
}

impl Star {
    /// A star of `hosts` hosts.
    pub fn new(hosts: usize, host_link: &PortConfig, switch_link: &PortConfig) -> Self {
        let up = (0..hosts).map(|_| FifoPort::new(host_link.clone()));
        let down = (0..hosts).map(|_| FifoPort::new(switch_link.clone()));
        Star {
            hosts,
            ports: up.chain(down).collect(),
        }
    }

    /// The port on which a host sends.
    #[inline]
    pub fn host_port(&self, host: usize) -> usize {
        host
    }

    /// The switch's port to a host.
    #[inline]
    pub fn switch_port(&self, host: usize) -> usize {
        self.hosts + host
    }

    /// Where the link of `port` leads.
    #[inline]
    pub fn far_end(&self, port: usize) -> FarEnd {
        if port < self.hosts {
            FarEnd::Switch
        } else {
            FarEnd::Host(port - self.hosts)
        }
    }
}
