//! What data asks of switches and acknowledgments return: the receiver of a flow keeps the fields of
//! the data that arrived last, in any order, and copies them to its acknowledgments. RCP's rate is kept
//! with the paced flow; telemetry, which is large, in a list that is empty in runs without it.

use super::FlowTable;
use crate::network::{Answer, HopRecords, InBand, NO_OPTIONS, OptionTable, Options};
use crate::transport::CongestionControl;

impl FlowTable {
    /// Whether the flow's data asks switches for anything.
    #[inline]
    pub fn asks(&self, slot: u32) -> bool {
        self.asks_switches && self.template(slot).asks != InBand::Nothing
    }

    /// Stores the fields that data of a stream carries for switches. Returns their entry.
    pub fn ask(&self, slot: u32, options: &mut OptionTable) -> u32 {
        let sender = &self.senders[self.place(slot)];
        match sender.controller().ask(sender.srtt_ps()) {
            InBand::Nothing => NO_OPTIONS,
            in_band => options.insert(Options {
                in_band,
                ..Options::default()
            }),
        }
    }

    /// Fields that data of the message transport carries for switches.
    pub fn asked_by_message(&self, slot: u32) -> InBand {
        match self.asks_switches {
            true => self.template(slot).asks,
            false => InBand::Nothing,
        }
    }

    /// Keeps what switches wrote into data that has arrived.
    pub fn keep_answer(&mut self, slot: u32, answer: Answer<'_>) {
        match answer {
            Answer::Nothing => {}
            Answer::Rate(rate) => {
                let at = self.place(slot);
                if let Some(paced) = self.paced.get_mut(at) {
                    paced.offered = Some(rate);
                }
            }
            Answer::Telemetry(records) => {
                let at = slot as usize;
                if self.telemetry.len() <= at {
                    self.telemetry.resize(at + 1, HopRecords::NONE);
                }
                self.telemetry[at].copy_from(records);
            }
        }
    }

    /// Forgets what switches wrote into the data of a slot's last flow.
    pub fn forget_answer(&mut self, slot: u32) {
        if let Some(records) = self.telemetry.get_mut(slot as usize) {
            records.clear();
        }
    }

    /// Fields that an acknowledgment of this flow returns.
    pub fn answer(&self, slot: u32) -> Answer<'_> {
        if !self.asks(slot) {
            return Answer::Nothing;
        }
        match self.template(slot).asks {
            InBand::Nothing => Answer::Nothing,
            InBand::Rate(_) => {
                let paced = self.paced.get(self.place(slot));
                let offered = paced.and_then(|paced| paced.offered);
                offered.map_or(Answer::Nothing, |mut rate| {
                    rate.round_trip_ns = 0;
                    Answer::Rate(rate)
                })
            }
            InBand::Telemetry => {
                let records = self.telemetry.get(slot as usize);
                let written = records.filter(|records| records.hops() > 0);
                written.map_or(Answer::Nothing, Answer::Telemetry)
            }
        }
    }
}
