//! A port whose link is cut, because another part of the network begins at its far end: the queue is
//! in one part, what is in flight in the others. A FIFO port knows when a packet will arrive as soon as
//! the packet is queued, so it is handed over then. Times are ps, sizes bytes.
//!
//! Here the ring holds what is in flight within this part only, so the waiting packets, which the port
//! still has to count, are listed beside it. Which part a packet is bound for is for the caller to say.

use std::collections::VecDeque;

use super::super::options::OptionTable;
use super::super::packet::Packet;
use super::super::ring::Scheduled;
use super::pipeline::Extras;
use super::{Port, Verdict, feature};

/// What a cut link needs.
#[derive(Debug, Default)]
pub(super) struct CutLink {
    /// Starts and bytes of the packets waiting.
    departures: VecDeque<(u64, u16)>,
    /// Packets that went to other parts, modulo 2^32.
    pub(super) handed_over: u32,
}

impl Port {
    /// Whether everything about a packet is decided when it arrives, with nothing but what this port
    /// has: then the link can be cut. A new kind of port has to be judged here.
    pub fn decides_on_arrival(&self) -> bool {
        let of_extras = self.extras.as_ref().is_none_or(|extras| {
            let Extras {
                rules,
                queues,      // choose when the link is free
                trimming: _, // has queues
                trims: _,
                arrivals: _,
                watch, // is read where the port's events are not
                cut: _,
            } = &**extras;
            let of_rules = rules.iter().all(|rule| rule.decides_on_arrival());
            of_rules && queues.is_none() && watch.is_none()
        });
        of_extras && !self.has(feature::DOWN | feature::CAPTURED)
    }

    /// Cuts the link of this port, which must decide on arrival.
    pub fn cut(&mut self) {
        self.features |= feature::CUT;
        self.extras.get_or_insert_default();
    }

    /// Whether the link is cut.
    #[inline(always)]
    pub fn is_cut(&self) -> bool {
        self.has(feature::CUT)
    }

    /// The way of a packet through a port that does not take the short one, when it was advanced.
    #[inline(never)]
    pub(in crate::network) fn enqueue_off_fast_path(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        packet: &Packet,
        options: &mut OptionTable,
    ) -> Verdict {
        if self.has(feature::CUT) {
            self.enqueue_cut(now_ps, earliest_ps, *packet, options)
        } else {
            self.enqueue_ruled(now_ps, earliest_ps, *packet, options)
        }
    }

    #[inline(always)]
    fn enqueue_cut(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        packet: Packet,
        options: &mut OptionTable,
    ) -> Verdict {
        let verdict = if self.has(feature::RULED) {
            self.enqueue_ruled(now_ps, earliest_ps, packet, options)
        } else {
            self.enqueue_plain(now_ps, earliest_ps, packet)
        };
        if let Verdict::Accepted { start_ps, .. } = verdict
            && start_ps > now_ps
            && let Some(extras) = &mut self.extras
        {
            extras
                .cut
                .departures
                .push_back((start_ps, packet.wire_bytes));
        }
        verdict
    }

    pub(super) fn advance_departures(&mut self, now_ps: u64) {
        let Some(extras) = &mut self.extras else {
            return;
        };
        while let Some(&(start_ps, bytes)) = extras.cut.departures.front()
            && start_ps <= now_ps
        {
            extras.cut.departures.pop_front();
            self.waiting -= 1;
            self.waiting_bytes -= u64::from(bytes);
            self.in_service_bytes = u32::from(bytes);
        }
    }

    /// The last packet in flight, which has just been accepted.
    #[inline]
    pub fn last_in_flight(&self) -> &Scheduled {
        self.ring.get(self.ring.len() - 1)
    }

    /// Takes the last packet in flight off the link: it arrives in another part.
    #[inline]
    pub fn hand_over(&mut self) -> Scheduled {
        if let Some(extras) = &mut self.extras {
            let cut = &mut extras.cut;
            cut.handed_over = cut.handed_over.wrapping_add(1);
        }
        self.ring.pop_last()
    }

    /// Takes over what is in flight in another part, at the end of a run: only for the count.
    pub fn gather(&mut self, other: &mut Port) {
        while let Some(start_ps) = other.next_start_ps() {
            let packet = other.ring.pop();
            self.ring.push(Scheduled { start_ps, packet });
        }
    }

    /// A packet is handed over by another part; true when the link needs an event.
    #[inline]
    pub fn land(&mut self, scheduled: Scheduled) -> bool {
        let first = self.ring.is_empty();
        self.ring.push(scheduled);
        first
    }
}
