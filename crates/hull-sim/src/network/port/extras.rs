//! What a port has beyond a plain FIFO: queues, rules and instruments.

use super::departures::Departures;
use super::queued::Queued;
use super::{Port, feature};
use crate::network::rules::{Rule, WritesRecords};
use crate::network::{Queues, Watch};
use crate::prefetch::{prefetch, prefetch_lines};

/// Features that only some ports have, the most frequently used first.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Extras {
    /// Queues with transmit events; `None` at a FIFO.
    pub(super) queued: Option<Queued>,
    /// Rules that process packets on arrival and departure.
    pub(super) rules: Vec<Box<dyn Rule>>,
    /// Instruments.
    pub(super) watch: Option<Box<Watch>>,
    /// Packets that rules process when their transmission starts, though it was decided before.
    pub(super) departures: Departures,
    /// Writer of telemetry records.
    pub(super) records: Option<WritesRecords>,
}

impl Extras {
    /// Number of cache lines with the fields that every packet needs.
    const HOT_LINES: usize = std::mem::offset_of!(Extras, departures).div_ceil(64);

    /// Prefetches, by stage, this struct, its queues, and the packet behind which the next one will
    /// wait.
    #[inline(always)]
    pub(super) fn prefetch_for_arrival(&self, stage: usize) {
        match (stage, &self.queued) {
            (0, _) => prefetch_lines(self, Self::HOT_LINES),
            (1, Some(queued)) => queued.queues.prefetch(),
            (2, Some(queued)) => queued.queues.prefetch_last(),
            _ => {}
        }
    }

    /// Prefetches, by stage, this struct, its queues and the list of rules, and the next packet and
    /// a rule.
    #[inline(always)]
    pub(super) fn prefetch_for_choice(&self, stage: usize) {
        self.prefetch_for_arrival(stage.min(1));
        let Some(queued) = &self.queued else {
            return;
        };
        if let Some(rule) = queued.sent_rules.first() {
            match stage {
                1 => prefetch(rule),
                2 => prefetch_lines(&**rule, 2),
                _ => {}
            }
        }
        if stage == 2
            && let Some(first) = queued.queues.first()
        {
            prefetch(first);
        }
    }
}

impl Port {
    pub(super) fn extras_mut(&mut self) -> &mut Extras {
        self.features |= feature::EXTRAS;
        self.extras.get_or_insert_default()
    }

    /// Whether the port writes records of telemetry.
    pub(in crate::network) fn writes_records(&self) -> bool {
        (self.extras.as_ref()).is_some_and(|extras| extras.records.is_some())
    }

    /// What makes the port `Queued`; `None` at a FIFO.
    #[inline]
    pub(super) fn queued(&self) -> Option<&Queued> {
        self.extras.as_ref()?.queued.as_ref()
    }

    #[inline]
    pub(super) fn queued_mut(&mut self) -> Option<&mut Queued> {
        self.extras.as_mut()?.queued.as_mut()
    }

    /// Queues of a port that is not a FIFO.
    #[inline]
    pub(super) fn queues(&self) -> Option<&Queues> {
        Some(&self.queued()?.queues)
    }
}
