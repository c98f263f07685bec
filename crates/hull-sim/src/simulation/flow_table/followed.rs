//! Readings of followed flows: at each sample while they are open, and once more after they end.

use super::FlowTable;
use crate::measure::FlowReading;
use crate::simulation::flow::Flow;
use crate::simulation::flow::connection::Connection;
use crate::simulation::flow::ends::Ends;
use crate::transport::{CongestionControl, MAX_WINDOW_BYTES, Pace};

impl FlowTable {
    /// Slots of the followed flows.
    pub fn followed(&self) -> impl Iterator<Item = u32> {
        self.following.slots.iter().copied()
    }

    /// Keeps the last reading of a followed flow whose slot is about to be reused.
    pub fn keep_last_reading(&mut self, slot: u32) {
        if self.flows[slot as usize].followed {
            let reading = self.reading(slot);
            self.following.ended.push(reading);
            self.following.slots.retain(|&other| other != slot);
        }
    }

    /// Follows a new flow if its number is low enough.
    pub fn follow(&mut self, slot: u32) {
        let flow = &mut self.flows[slot as usize];
        flow.followed = flow.number < self.following.below;
        if flow.followed {
            self.following.slots.push(slot);
        }
    }

    /// Whether the flow in this slot has data that has not arrived.
    pub fn has_data(&self, slot: u32) -> bool {
        let flow = &self.flows[slot as usize];
        flow.live && flow.first.end != u64::MAX
    }

    /// Readings of the followed flows, by number.
    pub fn readings(&mut self) -> Vec<FlowReading> {
        let mut readings = std::mem::take(&mut self.following.ended);
        let slots = std::mem::take(&mut self.following.slots);
        readings.extend(slots.iter().map(|&slot| self.reading(slot)));
        readings.sort_by_key(|reading| reading.flow);
        let flows = &mut self.flows;
        self.following.slots = slots;
        self.following.slots.retain(|&slot| {
            let flow = &mut flows[slot as usize];
            flow.followed = flow.live;
            flow.live
        });
        readings
    }

    pub fn reading(&self, slot: u32) -> FlowReading {
        let flow = &self.flows[slot as usize];
        let (sender, receiver) = match self.ends(slot) {
            Ends::Message(connection) => return connection.reading(flow),
            Ends::Stream(sender, receiver) => (sender, receiver),
        };
        let window = sender.window();
        FlowReading {
            flow: flow.number,
            ends: (flow.src, flow.dst),
            delivered_bytes: receiver.next(),
            cwnd_bytes: window.cwnd(),
            ssthresh_bytes: Some(window.ssthresh()).filter(|&bytes| bytes <= MAX_WINDOW_BYTES),
            alpha: sender.controller().alpha(),
            srtt_ps: Some(sender.srtt_ps()).filter(|&srtt_ps| srtt_ps > 0),
            in_flight_bytes: sender.pipe(),
            rate_bps: rate_bps(self.pace_of(slot)),
            timeouts: sender.timeouts,
            associations: flow.associations,
            associations_begun: flow.associations_begun,
        }
    }
}

/// Rate of a pace, bit/s, if it has one.
fn rate_bps(pace: Pace) -> Option<u64> {
    match pace {
        Pace::Bps(rate_bps) => Some(rate_bps),
        Pace::Window | Pace::OneByOne | Pace::Gap(_) => None,
    }
}

impl Connection {
    /// Reading of a connection of the message transport, whose packets may arrive in any order.
    fn reading(&self, flow: &Flow) -> FlowReading {
        FlowReading {
            flow: flow.number,
            ends: (flow.src, flow.dst),
            delivered_bytes: self.receiver.received_payload(),
            cwnd_bytes: self.sender.window_bytes(),
            ssthresh_bytes: None,
            alpha: self.sender.controller().alpha(),
            srtt_ps: None,
            in_flight_bytes: self.sender.in_flight_bytes(),
            rate_bps: rate_bps(self.sender.controller().pace()),
            timeouts: self.sender.timeouts,
            associations: 0,
            associations_begun: 0,
        }
    }
}
