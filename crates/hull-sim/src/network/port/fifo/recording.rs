//! A shorter path for FIFO ports that write telemetry and have no rules or instruments beside. It does
//! what all stages do (`stages`). A packet that finds an idle link has its whole record at once, so it is
//! not observed when it leaves the link; one that waits is, after its record is whole. Times are ps.

use super::super::feature;
use super::{Port, Verdict};
use crate::network::options::OptionTable;
use crate::network::packet::{Packet, flags};

impl Port {
    /// Whether packets may take the shorter path.
    #[inline(always)]
    pub(in crate::network) fn is_recording(&self) -> bool {
        const ALL: u16 = feature::RECORDS | feature::OFF_FAST_PATH & !feature::EXTRAS;
        self.features & ALL == feature::RECORDS
    }

    /// Processes all packets in stages from now on.
    pub(in crate::network::port) fn leave_recording(&mut self) {
        if self.has(feature::RECORDS) {
            self.set(feature::RECORDS, false);
            self.set(feature::OBSERVED, true);
        }
    }

    /// Does the same as [`Port::enqueue`]. Returns also whether the packet must be observed when it leaves
    /// the link, because its record is not whole.
    pub(in crate::network) fn enqueue_recording(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        packet: &mut Packet,
        options: &mut OptionTable,
    ) -> (Verdict, bool) {
        self.advance(now_ps, options);
        let sent_bytes = self.sent_bytes;
        let verdict = self.enqueue_plain(now_ps, earliest_ps, packet);
        let mut is_partial = false;
        if let Verdict::Accepted { start_ps, .. } = verdict
            && let Some(extras) = self.extras.as_deref_mut()
            && let Some(records) = &mut extras.records
        {
            if start_ps > now_ps {
                is_partial = records.write_ahead(start_ps, sent_bytes, packet, options);
            } else if packet.has(flags::DATA) || records.counts_all() {
                records.write(now_ps, (sent_bytes, self.waiting_bytes), packet, options);
            }
        }
        (verdict, is_partial)
    }
}
