//! The NICs of hosts of which some have several: each is one link's port, its queue and its pacer. They are
//! numbered host by host, as in the graph.

use std::ops::Range;

/// NICs of hosts with several links.
#[derive(Debug)]
pub struct SeveralNics {
    /// First NIC of each host, with the number of NICs as the last entry.
    first: Vec<u32>,
    /// NIC at each link, for the links that have one.
    of_links: Vec<u32>,
    /// Whether the messages of a host wait together, in the queue of its first NIC, for any link.
    shares_messages: bool,
}

impl SeveralNics {
    /// Creates the NICs of hosts, of which each has those in the range, with their ports by number.
    pub fn new(of_hosts: impl Iterator<Item = Range<usize>>, ports: &[u32], links: usize) -> Self {
        let mut of_links = vec![u32::MAX; links];
        for (nic, &port) in (0..).zip(ports) {
            of_links[port as usize / 2] = nic;
        }
        let mut first = vec![0];
        first.extend(of_hosts.map(|nics| nics.end as u32));
        SeveralNics {
            first,
            of_links,
            shares_messages: false,
        }
    }

    /// Lets the messages of a host wait together if `shares`, otherwise for a NIC each.
    pub fn sharing_messages(mut self, shares: bool) -> Self {
        self.shares_messages = shares;
        self
    }

    /// NICs whose links take the messages in the queue of `nic`, which is the first of them.
    pub fn of_message_queue(&self, nic: usize) -> Range<usize> {
        match self.shares_messages {
            true => self.of_host(self.first.partition_point(|&first| first as usize <= nic) - 1),
            false => nic..nic + 1,
        }
    }

    /// NICs of a host.
    pub fn of_host(&self, host: usize) -> Range<usize> {
        self.first[host] as usize..self.first[host + 1] as usize
    }

    /// NIC that sends on a port of a host.
    #[inline]
    pub fn at_port(&self, port: u32) -> usize {
        self.of_links[port as usize / 2] as usize
    }
}
