//! Pauses that hosts ask for: a NIC whose receive ring fills asks the switch's port at the other end of its
//! link to pause all lossless classes, and lets them resume when the ring has emptied. A host has no shared
//! memory; its NICs and their classes are numbered as the ports of a memory are. The ring is the host's
//! (`host::ReceivePath`), which says when. The root of such a pause is the host's own port.

use super::{Asking, Pauses};
use crate::network::Network;

/// Hosts that may ask for pauses.
#[derive(Debug, Default)]
pub(super) struct Receivers {
    /// Number of the first host among those that ask; the switches' memories come before.
    first: usize,
    /// Lossless classes; the first one if links pause as a whole.
    classes: Vec<u8>,
}

impl Network {
    /// Lets hosts, each with the ports of its NICs, ask for pauses of these classes.
    pub fn pause_to_hosts(&mut self, hosts: Vec<Vec<u32>>, classes: Vec<u8>) {
        let number = self.classes;
        if let Some(pauses) = self.pauses.as_deref_mut() {
            pauses.receivers = Receivers {
                first: pauses.memories.len(),
                classes,
            };
            let asking = hosts.into_iter().map(|ports| Asking::new(ports, number));
            pauses.memories.extend(asking);
        }
    }

    /// Asks for the pauses of a host whose ring is above its threshold, unless they are on.
    pub fn pause_to_host(&mut self, now_ps: u64, host: usize) {
        let Some(pauses) = self.pauses.as_deref_mut() else {
            return;
        };
        let memory = pauses.receivers.first + host;
        for nic in 0..pauses.memories[memory].ports.len() {
            let own = pauses.memories[memory].ports[nic];
            for at in 0..pauses.receivers.classes.len() {
                let class = pauses.receivers.classes[at];
                let from = (nic * self.classes + usize::from(class)) as u32;
                if pauses.memories[memory].asking.contains(&from) {
                    if !pauses.repeats(now_ps, memory, from) {
                        continue;
                    }
                } else {
                    let cause = pauses.causes.number(own, (own ^ 1, class), None);
                    pauses.memories[memory].begin(from, cause);
                }
                pauses.send(now_ps, &self.ports[own as usize], memory, from, true);
            }
        }
    }

    /// Lets the switches of a host resume, whose ring has emptied.
    pub fn resume_to_host(&mut self, now_ps: u64, host: usize) {
        let Some(pauses) = self.pauses.as_deref_mut() else {
            return;
        };
        let memory = pauses.receivers.first + host;
        for from in std::mem::take(&mut pauses.memories[memory].asking) {
            let own = pauses.memories[memory].ports[from as usize / self.classes];
            pauses.send(now_ps, &self.ports[own as usize], memory, from, false);
        }
    }
}

impl Pauses {
    /// Number of the host that sends through a port among those that ask, and of the port's first class.
    pub(super) fn receiver_at(&self, port: u32) -> Option<(usize, u32)> {
        let hosts = self.memories.iter().enumerate().skip(self.receivers.first);
        let mut found = hosts.filter_map(|(memory, asking)| {
            let nic = asking.ports.iter().position(|&own| own == port)?;
            Some((memory, (nic * asking.classes()) as u32))
        });
        found.next()
    }

    /// Whether a host asks for pauses of a port and class.
    pub(super) fn is_asked_by_host(&self, port: usize, class: usize) -> bool {
        let asks = self
            .receivers
            .classes
            .iter()
            .any(|&one| usize::from(one) == class);
        asks && self.receiver_at(port as u32 ^ 1).is_some()
    }
}
