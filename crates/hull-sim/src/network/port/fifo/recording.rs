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

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::super::super::{BufferLimit, PortConfig};
    use super::*;
    use crate::network::rules::{Site, Telemetry, WritesRecords};
    use crate::network::{Answer, HopRecords, InBand, NO_OPTIONS, Options};
    use crate::random::{Purpose, Stream};
    use crate::units::{Rate, RelativeRate, Share};

    const RATE_BPS: u64 = 9_999_999_937;

    fn records(options: &OptionTable, entry: u32) -> HopRecords {
        let Answer::Telemetry(records) = options.records(entry) else {
            panic!("data without records");
        };
        *records
    }

    /// A port writes the same records, and accepts the same packets, whether these may take the shorter
    /// path or not; and a record is whole at once unless the port says otherwise.
    #[test]
    fn same_as_all_stages() {
        let mut random = Stream::new(13, Purpose::Arrivals, 0);
        let half = RelativeRate::Share(Share(Share::ONE / 2));
        for (drain, buffer) in [
            (None, BufferLimit::Unlimited),
            (None, BufferLimit::Packets(4)),
            (Some(half), BufferLimit::Bytes(9_000)),
        ] {
            let port = || {
                let settings = Telemetry {
                    drain,
                    ..Telemetry::default()
                };
                let site = Site {
                    rate: Rate(RATE_BPS),
                    mtu: 1500,
                    seed: 1,
                    port: 7,
                };
                let mut config = PortConfig::plain(RATE_BPS, 1_000_000, buffer);
                config.records = Some(WritesRecords::new(&settings, &site));
                Port::new(config)
            };
            let (mut short, mut full) = (port(), port());
            full.leave_recording();
            assert!(short.is_recording() && !full.is_recording());
            let mut tables = [OptionTable::default(), OptionTable::default()];
            let mut in_flight: VecDeque<(u64, u32, Option<HopRecords>)> = VecDeque::new();
            let (mut now_ps, mut whole, mut partial, mut queues) = (0, 0, 0, 0);
            for seq in 0..20_000 {
                if random.below(3) == 0 {
                    now_ps += random.below(6_000_000) as u64;
                }
                while let Some(&(arrival_ps, entry, seen)) = in_flight.front()
                    && arrival_ps <= now_ps
                {
                    in_flight.pop_front();
                    short.advance(now_ps, &mut tables[0]);
                    full.advance(now_ps, &mut tables[1]);
                    let expected = records(&tables[1], entry);
                    assert_eq!(seen.unwrap_or(records(&tables[0], entry)), expected);
                    queues += usize::from(expected.as_slice()[0].queue_bytes > 0);
                    tables.iter_mut().for_each(|table| {
                        table.take(entry);
                    });
                }
                let is_data = random.below(2) == 0;
                let asks = Options {
                    in_band: InBand::Telemetry,
                    ..Options::default()
                };
                let entries = tables.each_mut().map(|table| match is_data {
                    true => table.insert(asks),
                    false => NO_OPTIONS,
                });
                assert_eq!(entries[0], entries[1]);
                let mut packet = Packet {
                    seq,
                    options: entries[0],
                    wire_bytes: 64 + random.below(1437) as u16,
                    ..Packet::with_flags(if is_data { flags::DATA } else { 0 })
                };
                let mut same = packet;
                let [table, other] = &mut tables;
                let (verdict, is_partial) =
                    short.enqueue_recording(now_ps, now_ps, &mut packet, table);
                assert_eq!(verdict, full.enqueue(now_ps, now_ps, &mut same, other));
                match verdict {
                    Verdict::Accepted { arrival_ps, .. } if is_data => {
                        let seen = (!is_partial).then(|| records(table, entries[0]));
                        in_flight.push_back((arrival_ps, entries[0], seen));
                        whole += usize::from(!is_partial);
                        partial += usize::from(is_partial);
                    }
                    Verdict::Accepted { .. } => assert!(!is_partial),
                    _ => tables.iter_mut().for_each(|table| {
                        table.take(entries[0]);
                    }),
                }
            }
            assert!(
                whole > 500 && partial > 1000 && queues > 500,
                "{whole}, {partial}, {queues}"
            );
            assert_eq!(short.drops, full.drops);
            assert_eq!(short.drops > 0, buffer != BufferLimit::Unlimited);
        }
    }
}
