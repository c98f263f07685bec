//! A port whose link is cut because another part of the network begins at its far end: the queue is in
//! one part, the packets in flight are in the others. A FIFO port knows a packet's arrival as soon as
//! the packet is queued, a `Queued` port as soon as it has selected it, so it hands the
//! packet over then: no later than the start of transmission. The caller determines the destination
//! part.

use super::extras::Extras;
use super::queued::Queued;
use super::{Port, feature};

impl Port {
    /// Whether everything about a packet is decided no later than its transmission, from state of
    /// its own switch alone. Only then can the link be cut. Each new feature of a port must be
    /// added here.
    pub fn can_be_cut(&self) -> bool {
        let of_extras = self.extras.as_ref().is_none_or(|extras| {
            let Extras {
                queued,
                rules,
                watch, // is read where the port's events are not
                departures: _,
                records, // see the queue when a transmission starts
            } = &**extras;
            let of_queued = queued.as_ref().is_none_or(|queued| {
                let Queued {
                    queues: _, // choose when the link is free or earlier
                    sent_rules,
                    last_sent: _,
                    trimming: _, // decides when a packet comes
                    trims: _,
                    lost: _, // is taken when the port has chosen
                } = queued;
                sent_rules.is_empty()
            });
            let of_rules = rules.iter().all(|rule| rule.decides_on_arrival());
            of_rules && of_queued && watch.is_none() && records.is_none()
        });
        of_extras && !self.has(feature::DOWN | feature::CAPTURED)
    }

    /// Cuts the link of this port, which must be [possible](Port::can_be_cut).
    pub fn cut(&mut self) {
        self.set(feature::CUT, true);
    }

    /// Whether the link is cut.
    #[inline(always)]
    pub fn is_cut(&self) -> bool {
        self.has(feature::CUT)
    }
}
