//! Losses that a sender learns from its receiver: headers of trimmed packets, groups that are too few,
//! requests to go back, and acknowledgments of later packets ([`Recovery`]). Times are ps, sizes bytes.

use hull_core::entropy::{self, LoadBalance};

use super::MessageSender;
use crate::network::{GoBack, PacketAck, PacketNack};
use crate::transport::control::LostBy;
use crate::transport::message::Recovery;
use crate::transport::sequence;

impl MessageSender {
    /// Processes the NACK of a packet that arrived without its payload.
    pub fn on_nack(&mut self, now_ps: u64, nack: &PacketNack) {
        let number = sequence::unwrap(nack.packet, self.sent.first());
        let Some((sent_ps, bytes)) = self.sent.lose(number) else {
            return; // It has arrived, or counts as lost already.
        };
        let by = LostBy::Nack {
            rtt_ps: now_ps - sent_ps,
            left_to_receiver: self.config.grants_credit && nack.last_hop,
        };
        self.report_lost(now_ps, number, u64::from(bytes), by);
        let of_path = match (nack.last_hop, nack.marked) {
            (false, _) => entropy::Feedback::Nack,
            (true, true) => entropy::Feedback::Ecn,
            (true, false) => entropy::Feedback::Good,
        };
        self.balancer.on_feedback(nack.entropy, of_path, now_ps);
        self.set_timeouts(now_ps);
    }

    /// Processes the NACK of a group: its unacknowledged packets count as lost.
    pub fn on_group_nack(&mut self, now_ps: u64, group: u64) {
        let (packets, _) = self.config.unit();
        let of_group = group * packets..(group + 1) * packets;
        let last = of_group.end - 1;
        let lost = of_group.filter_map(|number| self.sent.lose(number));
        let bytes: u64 = lost.map(|(_, bytes)| u64::from(bytes)).sum();
        self.report_lost(now_ps, last, bytes, LostBy::Group);
        self.balancer
            .on_feedback(0, entropy::Feedback::Nack, now_ps);
        self.set_timeouts(now_ps);
    }

    /// Processes a request to go back: all packets from the missing one on count as lost. Returns true if
    /// a message is completely acknowledged by it.
    pub fn on_go_back(&mut self, now_ps: u64, back: &GoBack) -> bool {
        self.take_received(back.received_bytes, back.expected);
        self.lose_all(now_ps, LostBy::Gap);
        self.set_timeouts(now_ps);
        self.pass_ends()
    }

    /// Counts all packets in flight as lost.
    pub(super) fn lose_all(&mut self, now_ps: u64, by: LostBy) {
        let all = self.sent.first()..self.sent.next();
        let first = all.start;
        let lost = all.filter_map(|number| self.sent.lose(number));
        let bytes: u64 = lost.map(|(_, bytes)| u64::from(bytes)).sum();
        self.report_lost(now_ps, first, bytes, by);
    }

    /// Counts packets as lost that an acknowledgment of packet `number` tells to be missing.
    #[inline]
    pub(super) fn lose_by_gap(&mut self, now_ps: u64, number: u64, ack: &PacketAck) {
        match self.config.recovery {
            Recovery::Timeout | Recovery::GoBackN => {}
            Recovery::Selective => self.lose_overtaken(now_ps, number),
            Recovery::SelectiveGoBack => self.lose_behind_gap(now_ps, number, ack),
        }
    }

    /// Counts all packets in flight as lost at the first acknowledgment of a packet behind a gap. A gap is over when
    /// all packets up to the last one sent before it have arrived, or an acknowledgment reports none behind a gap.
    fn lose_behind_gap(&mut self, now_ps: u64, number: u64, ack: &PacketAck) {
        let first = self.sent.first();
        let last =
            sequence::unwrap(ack.map_base, first) + u64::from(63 - ack.map.leading_zeros().min(63));
        if number < first && last < first {
            self.overtaken = first;
        } else if number > first && first >= self.overtaken {
            self.overtaken = self.sent.next();
            self.lose_all(now_ps, LostBy::Gap);
        }
    }

    /// Counts packets as lost that the acknowledged packet `number` has overtaken by more than the reordering
    /// that the connection tolerates. A retransmission is not looked at again: its timeout finds its loss.
    fn lose_overtaken(&mut self, now_ps: u64, number: u64) {
        let end = number.saturating_sub(u64::from(self.config.reordering));
        let from = self.overtaken.max(self.sent.first());
        for overtaken in from..end {
            if let Some((_, bytes)) = self.sent.lose(overtaken) {
                self.report_lost(now_ps, overtaken, u64::from(bytes), LostBy::Gap);
            }
        }
        self.overtaken = self.overtaken.max(end);
    }
}
