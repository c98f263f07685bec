//! The ends of a flow: sender and receiver of a stream, or a connection of the message transport.

use super::connection::Connection;
use crate::simulation::distances::Distances;
use crate::transport::{Receiver, Sender};

/// Initial state of the ends of a transport's flows.
#[derive(Debug)]
pub enum Initial {
    /// A stream.
    Stream(Box<(Sender, Receiver)>),
    /// The message transport: the settings of its connections.
    Message(Box<Distances>),
}

/// Ends of one flow.
#[derive(Clone, Copy, Debug)]
pub enum Ends<'a> {
    /// A stream.
    Stream(&'a Sender, &'a Receiver),
    /// A connection of the message transport.
    Message(&'a Connection),
}

impl Ends<'_> {
    /// Numbers of timeouts and of retransmitted segments.
    #[inline]
    pub fn losses(self) -> (u32, u32) {
        match self {
            Ends::Stream(sender, _) => (sender.timeouts, sender.retransmissions),
            Ends::Message(connection) => {
                let sender = &connection.sender;
                (sender.timeouts, sender.retransmissions)
            }
        }
    }

    /// Whether all data is acknowledged and the flow is not queued at a NIC.
    #[inline]
    pub fn are_idle(self) -> bool {
        match self {
            Ends::Stream(sender, _) => sender.is_idle(),
            Ends::Message(connection) => {
                connection.sender.is_idle() && !connection.sender.waits_for_nic
            }
        }
    }

    /// Payload acknowledged to the sender, bytes; for the message transport, complete messages only.
    #[inline]
    pub fn acked_bytes(self) -> u64 {
        match self {
            Ends::Stream(sender, _) => sender.una(),
            Ends::Message(connection) => connection.sender.acked_bytes(),
        }
    }

    /// Payload that has arrived in order, bytes; for the message transport, in any order.
    #[inline]
    pub fn arrived_bytes(self) -> u64 {
        match self {
            Ends::Stream(_, receiver) => receiver.next(),
            Ends::Message(connection) => connection.receiver.received_payload(),
        }
    }
}
