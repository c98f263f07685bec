//! The host below its transport, in the order of a packet's way out and back: the processor that sends,
//! a stack with variable delay, the NIC's queue and the pacer behind it; the receive path with its interrupts and its
//! processor. Parts that a scenario omits cost nothing. A host has a NIC, with queue and pacer, for each of its
//! links; the other parts are its own.

mod delay_line;
mod message_nic;
mod nic;
mod pacer_stage;
mod puller;
mod receive_path;
mod send_processor;
mod several_nics;

pub use delay_line::DelayLine;
pub use message_nic::{MessageNic, Turn};
pub use nic::{Entry, Nic};
pub use pacer_stage::{Echo, Overtaking, PacerStage, Release};
pub use puller::Puller;
pub use receive_path::{ReceiveConfig, ReceivePath, Received, RingLimits};
pub use send_processor::{SendConfig, SendProcessor};
pub use several_nics::SeveralNics;

use std::ops::Range;

use hull_core::admission::Admission;

use crate::network::Network;

/// Hosts of a network. Each list has one entry per host, or one per NIC where that is said, or none if
/// no host has the part. If each host has one link, its NIC has its number.
#[derive(Debug, Default)]
pub struct HostSide {
    /// Port on which each NIC sends.
    pub ports: Vec<u32>,
    /// NICs of the hosts, if some have several.
    pub several_nics: Option<Box<SeveralNics>>,
    /// Rate of each host's link, the fastest one of several, bit/s.
    pub rates_bps: Vec<u64>,
    /// Largest piece that TCP passes to the NIC, bytes; 0 without segmentation offload.
    pub offload_bytes: u16,
    /// Whether packets pass a processor or a stack with variable delay on their way to the NIC.
    pub has_stages: bool,
    /// Processors that send.
    pub senders: Vec<SendProcessor>,
    /// Stacks with variable delay: host h has 2h for sending and 2h + 1 for receiving.
    pub stacks: Vec<DelayLine>,
    /// Queues of the NICs with their pacers, one per NIC.
    pub pacers: Vec<PacerStage>,
    /// Whether the pacers stand before segmentation; otherwise behind the NIC queues.
    pub paces_pieces: bool,
    /// Whether packets inform the pacers of ECN-Echoes; otherwise ACKs do.
    pub packets_tell: bool,
    /// Receive paths with interrupts.
    pub receivers: Vec<ReceivePath>,
    /// NICs of the message transport, one per NIC.
    pub message_nics: Vec<MessageNic>,
    /// Receiver controls that grant the message transport's credit.
    pub pullers: Vec<Puller>,
    /// Windows of receivers that admit the packets of message transports.
    pub admissions: Vec<Admission>,
}

impl HostSide {
    /// NIC of a host for packets whose first port is the one that `first_port` returns.
    #[inline(always)]
    pub fn nic(&self, host: usize, first_port: impl FnOnce() -> u32) -> usize {
        match &self.several_nics {
            None => host,
            Some(nics) => nics.at_port(first_port()),
        }
    }

    /// NICs whose links take the messages that wait at `nic`, with the one at which they wait first.
    #[inline(always)]
    pub fn message_nics_with(&self, nic: usize) -> Range<usize> {
        match &self.several_nics {
            None => nic..nic + 1,
            Some(nics) => nics.of_message_queue(nic),
        }
    }

    /// Whether a host's queue is at its port, not before a pacer.
    pub fn queues_at_port(&self) -> bool {
        self.pacers.is_empty() || self.paces_pieces
    }

    /// NICs of a host.
    pub fn nics_of(&self, host: usize) -> Range<usize> {
        match &self.several_nics {
            None => host..host + 1,
            Some(nics) => nics.of_host(host),
        }
    }

    /// Processes an arriving ACK with ECN-Echo for a flow that sends on this NIC.
    #[inline]
    pub fn on_ece(&mut self, now_ps: u64, nic: usize, flow: u32) -> Echo {
        match self.pacers.get_mut(nic) {
            Some(pacer) => pacer.on_ece(now_ps, flow),
            None => Echo::Nothing,
        }
    }

    /// Lets the queues and pacers of two hosts forget the flow whose number a new flow between them
    /// takes.
    pub fn forget_flow(&mut self, ends: (u32, u32), flow: u32, network: &mut Network) {
        let nics = [ends.0, ends.1].map(|host| self.nics_of(host as usize));
        for nic in nics.into_iter().flatten() {
            match self.pacers.get_mut(nic) {
                Some(pacer) => pacer.forget(flow),
                None => network.ports[self.ports[nic] as usize].forget_flow(flow),
            }
        }
    }

    /// Exchanges a host, which has one NIC, with another part.
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
