//! A flow: its routes and its open messages for one direction of data. The table of all flows is
//! `flow_table`.

pub mod connection;
pub mod ends;
pub mod followed;
pub mod halves;
pub mod last_packets;
pub mod limiters;
pub mod messages;
pub mod paced;
pub mod path_routes;
pub mod small_queue;
pub mod spraying;
pub mod template;

use std::collections::VecDeque;

use crate::host::Echo;
use messages::{NOTHING, Pending, Unacked};

/// No flow.
pub const NONE: u32 = u32::MAX;

/// State of a flow in addition to its ends.
#[derive(Debug)]
pub struct Flow {
    pub src: u32,
    pub dst: u32,
    /// Routes of the data and of the acknowledgments.
    pub out: u32,
    pub back: u32,
    /// The flow that runs the other way on the same connection, or [`NONE`].
    pub reverse: u32,
    /// Number of packets of this flow, data and acknowledgments, between the hosts' transports.
    pub in_flight: u32,
    /// Whether the slot is returned when the flow is done.
    pub transient: bool,
    /// Whether the slot is in use.
    pub live: bool,
    /// Whether sender and receiver are in different parts of the run (`halves`).
    pub is_half: bool,
    /// Number of the flow in the order of opening.
    pub number: u64,
    /// Whether the flow is followed and has not been read since it ended.
    pub followed: bool,
    /// First message that has not completely arrived.
    pub first: Pending,
    /// Messages after `first`.
    pub later: VecDeque<Pending>,
    /// Counted messages that wait for their last acknowledgment, in the order of their ends.
    pub unacked: VecDeque<Unacked>,
    /// End of the last message written.
    pub written: u64,
    /// Number of ECN-Echoes that associated the flow with its host's pacer or renewed the
    /// association, and number of those that began it.
    pub associations: u32,
    pub associations_begun: u32,
    /// Whether an ECN-Echo has arrived since the last packet, if packets inform the pacer.
    pub echoed: bool,
    /// Number of the flow's transport.
    pub transport: u16,
    /// Bytes of data that have not left the host's queue, if they are limited.
    pub at_host_bytes: u32,
    /// Whether the flow waits until some of these have left.
    pub waits_for_host: bool,
}

impl Flow {
    /// Number of messages for which a flow has memory when it awaits the first: a deque starts with four.
    pub const LEAST_UNACKED: usize = 4;

    /// Creates an unused slot with the places of its routes.
    pub fn unused(out: u32, back: u32) -> Flow {
        Flow {
            src: 0,
            dst: 0,
            out,
            back,
            reverse: NONE,
            in_flight: 0,
            transient: false,
            live: false,
            is_half: false,
            number: 0,
            followed: false,
            first: NOTHING,
            later: VecDeque::new(),
            unacked: VecDeque::new(),
            written: 0,
            associations: 0,
            associations_begun: 0,
            echoed: false,
            transport: 0,
            at_host_bytes: 0,
            waits_for_host: false,
        }
    }

    /// Begins the flow with this number between two hosts, which keeps its slot until the end.
    pub fn begin(&mut self, (src, dst): (u32, u32), transport: u16, number: u64) {
        self.src = src;
        self.dst = dst;
        self.reverse = NONE;
        self.transient = false;
        self.live = true;
        self.is_half = false;
        self.number = number;
        self.first = NOTHING;
        self.later.clear();
        self.written = 0;
        self.associations = 0;
        self.associations_begun = 0;
        self.echoed = false;
        self.transport = transport;
        self.at_host_bytes = 0;
        self.waits_for_host = false;
    }

    /// Counts the effect of an ECN-Echo.
    #[inline]
    pub fn count(&mut self, echo: Echo) {
        self.associations += u32::from(echo != Echo::Nothing);
        self.associations_begun += u32::from(echo == Echo::Begun);
    }

    /// Priority class of the byte at `position`.
    #[inline]
    pub fn class_at(&self, position: u64) -> u16 {
        if position < self.first.end || self.later.is_empty() {
            return self.first.class;
        }
        let message = self.later.iter().find(|message| position < message.end);
        message.map_or(self.first.class, |message| message.class)
    }

    /// Removes the first message if it has arrived, given that all bytes up to `position` have.
    #[inline]
    pub fn completed(&mut self, position: u64) -> Option<Pending> {
        if position < self.first.end {
            return None;
        }
        let done = self.first;
        // A delayed acknowledgment of the last message keeps its class.
        let class = done.class;
        self.first = self
            .later
            .pop_front()
            .unwrap_or(Pending { class, ..NOTHING });
        Some(done)
    }

    /// Whether an incomplete message ends at the byte with this sequence number.
    pub fn ends_message(&self, number: u32) -> bool {
        let ends = self.later.iter().map(|message| message.end);
        self.first.end as u32 == number || ends.into_iter().any(|end| end as u32 == number)
    }

    /// Whether an incomplete message ends at this position.
    #[inline]
    pub fn ends_at(&self, position: u64) -> bool {
        let is_later = position > self.first.end;
        position == self.first.end
            || is_later && (self.later.binary_search_by_key(&position, |of| of.end)).is_ok()
    }

    /// Ends a lasting message at the position where the sender has stopped.
    pub fn cut(&mut self, position: u64) {
        self.written = self.written.min(position);
        self.first.end = self.first.end.min(position);
    }
}
