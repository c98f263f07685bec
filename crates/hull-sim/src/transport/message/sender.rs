//! The sending half of a connection: splits messages into numbered packets, sends them as the window
//! and the receiver's credit permit, and processes positive and negative acknowledgments. It is polled
//! for packets and puts nothing on a wire itself. Times are ps; sizes are bytes with headers unless
//! named payload.

mod admission;
mod recovery;

use std::collections::VecDeque;
use std::sync::Arc;

use hull_core::admission::Admitted;
use hull_core::entropy::{self, LoadBalance, LoadBalancer};

use super::sent::{News, SentPackets};
use super::{Ends, MessageConfig, Recovery};
use crate::network::{Answer, PacketAck};
use crate::transport::control::{
    Backlog, CongestionControl, Echo, Feedback, LostBy, LostPacket, MessageController, Pace, Start,
};
use crate::transport::sequence;
use crate::transport::window::Window;

/// Absent time.
const NEVER: u64 = u64::MAX;
/// Wait for credit, timeouts, after which the request or the pull counts as lost. A receiver pulls from
/// its senders in turn, so a short wait would repeat requests that are only queued.
const CREDIT_WAIT: u64 = 32;
/// Wait for credit after a repeated request, timeouts: packets are being lost.
const CREDIT_RETRY: u64 = 4;
/// Largest number of doublings of a timeout that grows with the round trip.
const MOST_DOUBLINGS: u32 = 20;
/// Largest number of further doublings by repeated losses.
const MOST_BACKOFF: u32 = 4;

/// Packet to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    /// Packet number.
    pub number: u64,
    /// Size, bytes.
    pub bytes: u16,
    /// Entropy value.
    pub entropy: u16,
    /// Whether the receiver must acknowledge the packet at once.
    pub asks_ack: bool,
    /// Whether this is a retransmission.
    pub resent: bool,
    /// Whether a message ends with the packet.
    pub is_last: bool,
    /// Total credit requested, quanta of 256 bytes, if receivers grant credit.
    pub demand: Option<u64>,
}

/// Sending half of a connection.
#[derive(Clone, Debug)]
pub struct MessageSender {
    config: Arc<MessageConfig>,
    control: MessageController,
    window: Window,
    balancer: LoadBalancer,
    sent: SentPackets,
    /// Remaining payload of each message that is not completely sent, bytes.
    unsent: VecDeque<u64>,
    /// Bytes of packets that have not been sent.
    backlog_bytes: u64,
    ends: Ends,
    /// What the receiver has admitted, if it must.
    admitted: Option<Box<Admitted>>,
    /// Payload of the completely acknowledged messages, bytes.
    acked_bytes: u64,
    /// Bytes sent and neither lost nor reported as received. Briefly negative if a packet that
    /// counted as lost has arrived.
    in_flight_bytes: i64,
    /// Bytes that the receiver has reported.
    received_bytes: u64,
    /// Packet sent next after the last reported loss: losses below are of the same window of data.
    recovery_end: u64,
    /// Packets below have been compared with later acknowledged ones.
    overtaken: u64,
    /// Send time of the last packet, ps, and its size, bytes.
    last_sent: Option<(u64, u16)>,
    /// Time of the next packet as the pace was when the last one was sent, ps, for a control that keeps it.
    gap_end_ps: u64,
    /// Whether the sender is queued at the host's NIC.
    pub waits_for_nic: bool,
    /// Time at which the oldest packet in flight counts as lost, ps; `u64::MAX` if none is in
    /// flight.
    pub timeout_ps: u64,
    /// Number of doublings of a timeout that grows with the round trip, and of those by repeated
    /// losses since the last measured one.
    doublings: u32,
    backoff: u32,
    /// Time of the timer's event in the event queue, ps; maintained by the simulation.
    pub timeout_event_ps: u64,
    /// Time at which the sender requests credit again, ps; `u64::MAX` unless it waits for credit
    /// alone: with data to send and no packet in flight. With admission, the time of the next request.
    pub credit_ps: u64,
    /// Time of the credit timer's event in the event queue, ps; maintained by the simulation.
    pub credit_event_ps: u64,
    /// Time of the pacing event in the event queue, ps; maintained by the simulation.
    pub pace_event_ps: u64,
    /// Number of packets lost by timeout.
    pub timeouts: u32,
    /// Number of retransmitted packets.
    pub retransmissions: u32,
}

impl MessageSender {
    /// Creates the sender of a new connection; `random` holds 64 random bits.
    pub fn new(config: &Arc<MessageConfig>, random: u64) -> Self {
        MessageSender {
            control: config.control.clone(),
            window: config.window.clone(),
            balancer: config.balancing.start(config, random),
            config: config.clone(),
            sent: SentPackets::default(),
            unsent: VecDeque::new(),
            backlog_bytes: 0,
            ends: Ends::default(),
            admitted: admission::start(config),
            acked_bytes: 0,
            in_flight_bytes: 0,
            received_bytes: 0,
            recovery_end: 0,
            overtaken: 0,
            last_sent: None,
            gap_end_ps: 0,
            waits_for_nic: false,
            timeout_ps: NEVER,
            doublings: 0,
            backoff: 0,
            timeout_event_ps: NEVER,
            credit_ps: NEVER,
            credit_event_ps: NEVER,
            pace_event_ps: NEVER,
            timeouts: 0,
            retransmissions: 0,
        }
    }

    /// Adds a message of `bytes` of payload.
    pub fn write(&mut self, now_ps: u64, bytes: u64) {
        let packets = self.config.packets(bytes);
        self.ends.write(bytes, packets);
        // With erasure coding, all packets of a group are full.
        let payload = match self.config.erasure {
            Some(_) => packets * self.config.mss(),
            None => bytes,
        };
        self.unsent.push_back(payload);
        self.backlog_bytes += payload + packets * u64::from(self.config.header_bytes);
        self.ask(now_ps, bytes);
        self.set_timeouts(now_ps);
    }

    /// Discards all data not yet sent. Returns the payload up to the new end, bytes.
    pub fn stop(&mut self) -> u64 {
        let unsent: u64 = self.unsent.drain(..).sum();
        let (packets, payload) = self.config.unit();
        let next = self.sent.next();
        // A group that has begun is sent completely.
        let kept = next.next_multiple_of(packets) - next;
        let kept_payload = kept * self.config.mss();
        self.backlog_bytes = kept * u64::from(self.config.mtu_bytes);
        if kept > 0 {
            self.unsent.push_back(kept_payload);
        }
        let unsent = match self.config.erasure {
            Some(_) => (unsent - kept_payload) / (packets * self.config.mss()) * payload,
            None => unsent,
        };
        self.ask_up_to(next + kept);
        self.ends.cut(next + kept, unsent)
    }

    /// Prefetches the records of the oldest and the newest packets.
    #[inline]
    pub fn prefetch_sent(&self) {
        self.sent.prefetch();
    }

    /// Whether all data written is acknowledged.
    pub fn is_idle(&self) -> bool {
        self.backlog_bytes == 0 && self.sent.is_empty()
    }

    /// Payload of the completely acknowledged messages, bytes.
    pub fn acked_bytes(&self) -> u64 {
        self.acked_bytes
    }

    /// Number of packets of all messages.
    pub fn packets(&self) -> u64 {
        self.ends.packets
    }

    /// State of the congestion control.
    pub fn controller(&self) -> &MessageController {
        &self.control
    }

    /// Starts the connection.
    pub fn start(&mut self, start: &Start) {
        self.control.on_start(start);
    }

    /// Window, bytes.
    #[inline]
    pub fn window_bytes(&self) -> u64 {
        let own_bytes = self.control.own_window_bytes();
        own_bytes.unwrap_or_else(|| self.window.cwnd())
    }

    /// Bytes in flight.
    pub fn in_flight_bytes(&self) -> u64 {
        self.in_flight_bytes.max(0) as u64
    }

    /// Whether a packet may be sent now, apart from pacing.
    pub fn may_send(&mut self) -> bool {
        let Some(bytes) = self.next_bytes() else {
            return false;
        };
        !self.control.lacks_credit()
            && self.in_flight_bytes + i64::from(bytes) <= self.window()
            && !self.lacks_admission()
    }

    /// Earliest time of the next packet by the control's pacing, ps; 0 without pacing.
    pub fn ready_ps(&self) -> u64 {
        let Some((last_ps, bytes)) = self.last_sent else {
            return 0;
        };
        if !self.control.adjusts_gap() {
            return self.gap_end_ps;
        }
        let pace = self.control.pace();
        match pace.gap_ps(bytes) {
            Some(gap_ps) => last_ps.saturating_add(gap_ps),
            None if pace == Pace::OneByOne && self.in_flight_bytes > 0 => NEVER,
            None => 0,
        }
    }

    fn window(&self) -> i64 {
        let bytes = self.window_bytes().min(self.config.max_in_flight);
        i64::try_from(bytes).unwrap_or(i64::MAX)
    }

    /// Size of the next packet, bytes; `None` if there is nothing to send.
    fn next_bytes(&mut self) -> Option<u16> {
        if let Some((_, bytes)) = self.sent.next_lost() {
            return Some(bytes);
        }
        let payload = self.unsent.front()?.min(&self.config.mss()).to_owned();
        Some(payload as u16 + self.config.header_bytes)
    }

    /// Takes the next packet, which [`MessageSender::may_send`] has allowed. `senders` is the
    /// number of the host's connections with data to send; `random` holds the random bits for its
    /// path.
    pub fn poll(&mut self, now_ps: u64, senders: u64, random: u64) -> Option<Sending> {
        let lost = self.sent.next_lost();
        let bytes = self.next_bytes()?;
        let pace = self.control.on_sent(now_ps, bytes);
        self.gap_end_ps = now_ps.saturating_add(pace.gap_ps(bytes).unwrap_or(0));
        let number = match lost {
            Some((number, _)) => {
                self.sent.resend(now_ps, number);
                self.retransmissions += 1;
                number
            }
            None => {
                self.take_payload(bytes - self.config.header_bytes);
                self.backlog_bytes -= u64::from(bytes);
                self.sent.push(now_ps, bytes)
            }
        };
        self.in_flight_bytes += i64::from(bytes);
        self.last_sent = Some((now_ps, bytes));
        let demand = self.demand(senders);
        let asks_ack = lost.is_some()
            || self.backlog_bytes == 0
            || self.control.lacks_credit()
            || self.lacks_admission()
            || self.in_flight_bytes + i64::from(bytes) >= self.window();
        let entropy = self.balancer.next_ev(random, now_ps);
        self.sent.take_path(number, entropy);
        self.set_timeouts(now_ps);
        Some(Sending {
            number,
            bytes,
            entropy,
            asks_ack,
            resent: lost.is_some(),
            is_last: self.ends.end_after(number).is_some(),
            demand,
        })
    }

    fn take_payload(&mut self, payload: u16) {
        if let Some(left) = self.unsent.front_mut() {
            *left -= u64::from(payload);
            if *left == 0 {
                self.unsent.pop_front();
            }
        }
    }

    /// Total credit requested, quanta of 256 bytes. `senders` is the number of the host's
    /// connections with data to send.
    fn demand(&self, senders: u64) -> Option<u64> {
        self.control.demand(&Backlog {
            bytes: self.backlog_bytes + self.sent.lost_bytes(),
            connections: senders,
        })
    }

    /// Sets the timeout of the oldest packet in flight. If there is none, data that waits for
    /// credit sets the credit's timeout.
    fn set_timeouts(&mut self, now_ps: u64) {
        let timeout_ps = self.config.timeout_ps;
        let oldest = self.sent.oldest();
        let wait_ps = timeout_ps.saturating_mul(1 << (self.doublings + self.backoff));
        // A shorter round trip may have shortened the wait, to before now.
        let due_ps = |sent_ps: u64| sent_ps.saturating_add(wait_ps).max(now_ps);
        self.timeout_ps = oldest.map_or(NEVER, |(sent_ps, _)| due_ps(sent_ps));
        let has_data = self.backlog_bytes + self.sent.lost_bytes() > 0;
        self.credit_ps = match oldest {
            None if has_data && self.control.lacks_credit() => {
                now_ps.saturating_add(timeout_ps.saturating_mul(CREDIT_WAIT))
            }
            _ => self.request_ps(),
        };
    }

    /// Makes a timeout that grows at least twice a measured round trip, and no longer than needed
    /// for that.
    fn fit_timeout(&mut self, rtt_ps: u64) {
        let times = (2 * rtt_ps).div_ceil(self.config.timeout_ps.max(1));
        let doublings = times.next_power_of_two().trailing_zeros();
        self.doublings = doublings.min(MOST_DOUBLINGS);
        self.backoff = 0;
    }

    /// Reports the loss of a packet, or of packets of a group up to this one, to the control.
    fn report_lost(&mut self, now_ps: u64, number: u64, bytes: u64, by: LostBy) {
        let is_first = bytes > 0 && number >= self.recovery_end;
        if is_first {
            self.recovery_end = self.sent.next();
        }
        let lost = LostPacket {
            now_ps,
            bytes,
            flight: self.in_flight_bytes.max(0) as u64,
            is_first,
            by,
        };
        self.control.on_packet_lost(&mut self.window, &lost);
        self.in_flight_bytes -= bytes as i64;
    }

    /// Processes an acknowledgment with what switches wrote into the most recent data. Returns true if a
    /// message is completely acknowledged by it.
    pub fn on_ack(&mut self, now_ps: u64, ack: &PacketAck, answer: Answer<'_>) -> bool {
        self.control.prefetch();
        let first = self.sent.first();
        let packet = sequence::unwrap(ack.packet, first);
        let sent_ps = self.sent.sample_ps(packet, ack.resent);
        let last_sent_ps = self.sent.last_sent_ps(packet);
        if self.config.timeout_grows
            && let Some(first_ps) = self.sent.first_sent_ps(packet, ack.resent)
        {
            self.fit_timeout(now_ps - first_ps);
        }
        let received = self.take_received(ack.received_bytes, ack.cumulative);
        self.take_map(sequence::unwrap(ack.map_base, first), ack.map);
        self.lose_by_gap(now_ps, packet, ack);
        let of_path = match ack.marked {
            true => entropy::Feedback::Ecn,
            false => entropy::Feedback::Good,
        };
        self.balancer.on_feedback(ack.entropy, of_path, now_ps);
        let event = Feedback {
            now_ps,
            una: self.received_bytes,
            nxt: self.received_bytes + self.in_flight_bytes.max(0) as u64,
            acked: received,
            echo: Echo {
                answer,
                ..Echo::marks(ack.marked)
            },
            after_loss: packet < self.recovery_end,
            may_grow: self.sent.first() >= self.recovery_end,
            rtt_ps: sent_ps.map(|sent_ps| now_ps - sent_ps),
            srtt_ps: 0,
            sent_ps: last_sent_ps,
        };
        self.control.on_ack(&mut self.window, &event);
        self.set_timeouts(now_ps);
        self.pass_ends()
    }

    /// Processes the part of a receiver's answer that counts all that has arrived in order. Returns the
    /// bytes that have newly arrived.
    fn take_received(&mut self, received_bytes: u64, cumulative: u32) -> u64 {
        let received = received_bytes.saturating_sub(self.received_bytes);
        self.received_bytes += received;
        self.in_flight_bytes -= received as i64;
        let cumulative = sequence::unwrap(cumulative, self.sent.first());
        self.in_flight_bytes += self.sent.arrived_below(cumulative) as i64;
        received
    }

    /// Completes messages that have arrived. Returns whether there are any.
    fn pass_ends(&mut self) -> bool {
        let passed = self.ends.pass(self.sent.first());
        self.acked_bytes = passed.unwrap_or(self.acked_bytes);
        passed.is_some()
    }

    fn take_map(&mut self, base: u64, mut map: u64) {
        while map != 0 {
            let number = base + u64::from(map.trailing_zeros());
            if let News::ArrivedAfterAll(bytes) = self.sent.arrived(number) {
                self.in_flight_bytes += i64::from(bytes);
            }
            map &= map - 1;
        }
    }

    /// Processes a notification of marked packets.
    pub fn on_notification(&mut self, now_ps: u64) {
        let event = Feedback {
            now_ps,
            una: self.received_bytes,
            nxt: self.received_bytes + self.in_flight_bytes.max(0) as u64,
            acked: 0,
            echo: Echo::marks(true),
            after_loss: false,
            may_grow: false,
            rtt_ps: None,
            srtt_ps: 0,
            sent_ps: None,
        };
        self.control.on_ack(&mut self.window, &event);
    }

    /// Processes a pull that reports the granted credit, quanta, or the admitted packets.
    pub fn on_pull(&mut self, now_ps: u64, granted: u64) {
        if !self.on_grant(now_ps, granted) {
            self.control.on_credit(granted);
        }
        self.set_timeouts(now_ps);
    }

    /// Processes the timeout of the oldest packet in flight, which counts as lost. Returns the
    /// credit to request, if a separate request is needed because no packet can carry it.
    pub fn on_timeout(&mut self, now_ps: u64, senders: u64) -> Option<u64> {
        let (_, number) = self.sent.oldest()?;
        if self.config.timeout_grows && self.sent.is_resent(number) {
            self.backoff = (self.backoff + 1).min(MOST_BACKOFF);
        }
        let path = self.sent.path(number);
        self.timeouts += 1;
        self.balancer
            .on_feedback(path, entropy::Feedback::Timeout, now_ps);
        match self.config.recovery {
            Recovery::GoBackN | Recovery::SelectiveGoBack => {
                self.lose_all(now_ps, LostBy::Timeout);
            }
            Recovery::Timeout | Recovery::Selective => {
                let (_, bytes) = self.sent.lose(number)?;
                self.report_lost(now_ps, number, u64::from(bytes), LostBy::Timeout);
            }
        }
        self.set_timeouts(now_ps);
        self.control.lacks_credit().then(|| self.demand(senders))?
    }

    /// Processes the end of the wait for credit. Returns the credit, or the packets, to request again: the
    /// request or the pull may be lost.
    pub fn on_credit_timeout(&mut self, now_ps: u64, senders: u64) -> Option<u64> {
        if self.admitted.is_some() {
            return self.take_request(now_ps);
        }
        self.set_timeouts(now_ps);
        if self.credit_ps == NEVER {
            return None;
        }
        let wait_ps = self.config.timeout_ps.saturating_mul(CREDIT_RETRY);
        self.credit_ps = now_ps.saturating_add(wait_ps);
        self.demand(senders)
    }
}
