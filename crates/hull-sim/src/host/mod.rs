//! The host below its transport, in the order of a packet's way out and back: the processor that sends,
//! a stack with variable delay, the NIC's queue and the pacer behind it; the receive path with its interrupts and its
//! processor. Parts that a scenario omits cost nothing.

mod delay_line;
mod message_nic;
mod nic;
mod pacer_stage;
mod puller;
mod receive_path;
mod send_processor;

pub use delay_line::DelayLine;
pub use message_nic::{MessageNic, Turn};
pub use nic::{Entry, Nic};
pub use pacer_stage::{Echo, Overtaking, PacerStage, Release};
pub use puller::Puller;
pub use receive_path::{ReceiveConfig, ReceivePath, Received};
pub use send_processor::{SendConfig, SendProcessor};

use crate::network::Network;

/// Hosts of a network. Each list has one entry per host, or none if no host has the part.
#[derive(Debug, Default)]
pub struct HostSide {
    /// Port on which each host sends.
    pub ports: Vec<u32>,
    /// Rate of each host's link, bit/s.
    pub rates_bps: Vec<u64>,
    /// Largest piece that TCP passes to the NIC, bytes; 0 without segmentation offload.
    pub offload_bytes: u16,
    /// Whether packets pass a processor or a stack with variable delay on their way to the NIC.
    pub has_stages: bool,
    /// Processors that send.
    pub senders: Vec<SendProcessor>,
    /// Stacks with variable delay: host h has 2h for sending and 2h + 1 for receiving.
    pub stacks: Vec<DelayLine>,
    /// NIC queues with pacers.
    pub pacers: Vec<PacerStage>,
    /// Whether the pacers stand before segmentation; otherwise behind the NIC queues.
    pub paces_pieces: bool,
    /// Whether packets inform the pacers of ECN-Echoes; otherwise ACKs do.
    pub packets_tell: bool,
    /// Receive paths with interrupts.
    pub receivers: Vec<ReceivePath>,
    /// NICs of the message transport.
    pub message_nics: Vec<MessageNic>,
    /// Receiver controls that grant the message transport's credit.
    pub pullers: Vec<Puller>,
}

impl HostSide {
    /// Processes an arriving ACK with ECN-Echo for a flow of this host.
    #[inline]
    pub fn on_ece(&mut self, now_ps: u64, host: usize, flow: u32) -> Echo {
        match self.pacers.get_mut(host) {
            Some(pacer) => pacer.on_ece(now_ps, flow),
            None => Echo::Nothing,
        }
    }

    /// Lets the queues and pacers of two hosts forget the flow whose number a new flow between them
    /// takes.
    pub fn forget_flow(&mut self, ends: (u32, u32), flow: u32, network: &mut Network) {
        for host in [ends.0, ends.1] {
            match self.pacers.get_mut(host as usize) {
                Some(pacer) => pacer.forget(flow),
                None => network.ports[self.ports[host as usize] as usize].forget_flow(flow),
            }
        }
    }

    /// Exchanges a host with another part.
    pub fn exchange(&mut self, other: &mut HostSide, host: usize) {
        fn swap<T>(here: &mut [T], there: &mut [T], place: usize) {
            if let (Some(here), Some(there)) = (here.get_mut(place), there.get_mut(place)) {
                std::mem::swap(here, there);
            }
        }
        swap(&mut self.senders, &mut other.senders, host);
        swap(&mut self.stacks, &mut other.stacks, 2 * host);
        swap(&mut self.stacks, &mut other.stacks, 2 * host + 1);
        swap(&mut self.pacers, &mut other.pacers, host);
        swap(&mut self.receivers, &mut other.receivers, host);
    }

    /// Smallest delay of the sending and the receiving stack together, ps; 0 without variable
    /// stacks.
    pub fn least_stacks_ps(&self) -> u64 {
        self.stacks.iter().take(2).map(DelayLine::least_ps).sum()
    }

    /// Number of packets in all hosts.
    pub fn backlog(&self) -> usize {
        let senders: usize = self.senders.iter().map(SendProcessor::len).sum();
        let stacks: usize = self.stacks.iter().map(DelayLine::len).sum();
        let pacers = self.pacers.iter();
        let pacers: usize = pacers.map(|p| p.nic.len() + p.backlog()).sum();
        let receivers: usize = self.receivers.iter().map(ReceivePath::backlog).sum();
        let control: usize = self.message_nics.iter().map(MessageNic::backlog).sum();
        senders + stacks + pacers + receivers + control
    }
}
