//! In-band telemetry (INT, as HPCC uses it: Li et al., SIGCOMM 2019): a port writes a record into each
//! data packet that asks for it when the packet's transmission starts. Bytes without framing, times ps,
//! rates bit/s.
//!
//! The port may be a FIFO. When a packet arrives, it knows all of the record but the queue: when the
//! transmission starts, and what is sent before. An idle link has no queue, and the record is whole. The
//! queue behind a packet that waits is known when its transmission starts; it is written then, before the
//! packet reaches the end of its link. Nothing that was decided on arrival depends on the record's
//! content. Its size does count: a record that has bytes on the wire has them from the packet's arrival
//! at the port on: in the queue, in the memory and on the link.
//!
//! With `drain` the record has the counter of a phantom queue (paper 2.1) in place of the queue: hull's own
//! combination. The rule keeps this counter itself, because a FIFO counts the packets of
//! `switch.phantom_queue` when they arrive.

use std::collections::VecDeque;

use hull_core::phantom_queue::{Drain, PhantomQueue, PhantomQueueConfig};
use hull_core::telemetry::{Fields, LINE_RATES_BPS};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Site;
use crate::memory::block_of;
use crate::network::{HopRecord, NO_OPTIONS, OptionTable, Packet};
use crate::problem::{MIN_RATE, Problem, need, quoted, require};
use crate::units::{Rate, RelativeRate, Size};

/// Largest packet with all of its records, bytes: the limit of transport.mtu.
const MOST_BYTES: u64 = 9000;
/// Rate of a host's link for which HPCC's units have the factor 1, bit/s.
const UNIT_BPS: u64 = 25_000_000_000;
/// Largest factor of HPCC's units.
const MOST_FACTOR: u32 = 1000;

/// In-band telemetry: each port of a switch writes queue, sent bytes, time and rate into the data of
/// senders that ask for it; up to 8 hops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// Size of a record on the wire. A packet grows by it at each port, and its ACK returns all records.
    #[serde(default)]
    pub record: Size,
    /// Fields of a record.
    #[serde(default, skip_serializing_if = "is_exact")]
    pub fields: FieldWidths,
    /// Factor of the units of sent bytes and queue with fields = "hpcc" (INT_MULTI). Unset: the rate of a
    /// host's link over 25 Gbps, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit_factor: Option<u32>,
    /// Rate at which the reported queue drains. A record then has the counter of a phantom queue, not the port's
    /// queue. Unset: the port's queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain: Option<RelativeRate>,
}

/// Widths of the fields of telemetry records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FieldWidths {
    /// Exact values, and room for 8 hops.
    #[default]
    Exact,
    /// As in HPCC's header: fields of 24, 20 and 17 bits wrap around, and there is room for 5 hops. Links out
    /// of switches must have a rate of its table.
    Hpcc,
}

fn is_exact(fields: &FieldWidths) -> bool {
    *fields == FieldWidths::Exact
}

impl Telemetry {
    /// Fields of the records in a network whose hosts have links of this rate.
    pub(crate) fn fields(&self, host: Rate) -> Fields {
        match self.fields {
            FieldWidths::Exact => Fields::Exact,
            FieldWidths::Hpcc => Fields::Hpcc {
                unit_factor: (self.unit_factor)
                    .unwrap_or((host.0 / UNIT_BPS).clamp(1, MOST_FACTOR.into()) as u32),
            },
        }
    }

    /// Checks that the fields can hold the rate of each link out of a switch, bit/s, and that the counter's drain
    /// is not faster.
    pub(crate) fn check_rates(
        &self,
        mut rates: impl Iterator<Item = u64> + Clone,
    ) -> Result<(), Problem> {
        if let Some(drain) = self.drain {
            rates.clone().map(Rate).try_for_each(|link| {
                require(
                    (MIN_RATE..=link).contains(&drain.of(link)),
                    "switch.telemetry.drain",
                    quoted(drain),
                    &format!("from 1Mbps to the link's rate, \"{link}\""),
                )
            })?;
        }
        if self.fields == FieldWidths::Exact {
            return Ok(());
        }
        rates.try_for_each(|rate_bps| {
            let has = |held: &u64| held.abs_diff(rate_bps) <= held / 50;
            need(
                LINE_RATES_BPS.iter().any(has),
                "switch.telemetry.fields",
                format!("\"hpcc\" with a link of {} out of a switch", Rate(rate_bps)),
                &format!(
                    "links of {}, within 2%, or fields = \"exact\"",
                    LINE_RATES_BPS.map(|held| Rate(held).to_string()).join(", ")
                ),
            )
        })
    }

    /// Checks the settings for packets of at most `mtu` bytes.
    pub(crate) fn check(&self, mtu: u64) -> Result<(), Problem> {
        if let Some(factor) = self.unit_factor {
            let key = "switch.telemetry.unit_factor";
            need(
                self.fields == FieldWidths::Hpcc,
                key,
                factor,
                "no such key without switch.telemetry.fields = \"hpcc\"",
            )?;
            let range = format!("1 to {MOST_FACTOR}");
            require((1..=MOST_FACTOR).contains(&factor), key, factor, &range)?;
        }
        let hops = self.fields(Rate(UNIT_BPS)).room() as u64;
        let most = MOST_BYTES.saturating_sub(mtu).min(mtu) / hops;
        require(
            self.record.0 <= most,
            "switch.telemetry.record",
            quoted(self.record),
            &format!(
                "at most {} with transport.mtu = {}: {hops} records are no larger than the packet and fit into 9KB \
                 with it",
                quoted(Size(most)),
                quoted(Size(mtu))
            ),
        )
    }
}

/// Writer of the records of one port.
#[derive(Debug)]
pub struct WritesRecords {
    link_bps: u64,
    /// Number of the port.
    port: u32,
    /// Queue of the records, if it is not the port's.
    phantom: Option<Box<PhantomQueue>>,
    /// Options of each packet whose scheduled transmission has not started; [`NO_OPTIONS`] without a record.
    waiting: VecDeque<u32>,
}

impl WritesRecords {
    /// Creates the writer of one port.
    pub fn new(settings: &Telemetry, site: &Site) -> Self {
        let phantom = |drain: RelativeRate| {
            Box::new(PhantomQueue::new(&PhantomQueueConfig {
                drain_bps: drain.of(site.rate).0,
                threshold_bytes: u32::MAX,
                count_arriving: false,
                drain: Drain::Continuous,
            }))
        };
        WritesRecords {
            link_bps: site.rate.0,
            port: site.port as u32,
            phantom: settings.drain.map(phantom),
            waiting: VecDeque::new(),
        }
    }

    /// Writes the record of a packet whose transmission starts at `at_ps`, after `sent_bytes`, while
    /// `port_bytes` wait behind it.
    #[inline]
    pub(in crate::network) fn write(
        &mut self,
        at_ps: u64,
        (sent_bytes, port_bytes): (u64, u64),
        packet: &Packet,
        options: &mut OptionTable,
    ) {
        let record = HopRecord {
            queue_bytes: self.queue_bytes(at_ps, port_bytes, packet.wire_bytes),
            sent_bytes,
            at_ps,
            link_bps: self.link_bps,
        };
        options.write_record(packet, self.port, &record);
    }

    /// Writes the record, but for the queue, of a packet whose transmission will start at `at_ps`, after
    /// `sent_bytes`. Returns whether the packet has the record.
    #[inline]
    pub(in crate::network) fn write_ahead(
        &mut self,
        at_ps: u64,
        sent_bytes: u64,
        packet: &Packet,
        options: &mut OptionTable,
    ) -> bool {
        let record = HopRecord {
            queue_bytes: 0,
            sent_bytes,
            at_ps,
            link_bps: self.link_bps,
        };
        let is_written = options.write_record(packet, self.port, &record);
        let entry = if is_written {
            packet.options
        } else {
            NO_OPTIONS
        };
        self.waiting.push_back(entry);
        is_written
    }

    /// Completes the record of the next waiting packet, of `bytes`, whose transmission starts while
    /// `port_bytes` wait behind it.
    #[inline]
    pub(in crate::network) fn complete(
        &mut self,
        at_ps: u64,
        (bytes, port_bytes): (u16, u64),
        options: &mut OptionTable,
    ) {
        if let Some(entry) = self.waiting.pop_front() {
            let queue_bytes = self.queue_bytes(at_ps, port_bytes, bytes);
            options.complete_record(entry, queue_bytes);
        }
    }

    /// Whether packets without records count, too.
    #[inline]
    pub(in crate::network) fn counts_all(&self) -> bool {
        self.phantom.is_some()
    }

    /// Bytes that the record of a departing packet of `bytes` reports as queue.
    #[inline]
    fn queue_bytes(&mut self, at_ps: u64, port_bytes: u64, bytes: u16) -> u64 {
        let Some(phantom) = &mut self.phantom else {
            return port_bytes;
        };
        let queue_bytes = phantom.backlog_bytes(at_ps);
        phantom.on_packet(at_ps, bytes.into());
        queue_bytes
    }

    /// Processes a failure of the link at `now_ps`; the queue is then empty.
    pub(in crate::network) fn on_failure(&mut self, now_ps: u64) {
        self.waiting.clear();
        if let Some(phantom) = &mut self.phantom {
            phantom.clear(now_ps);
        }
    }

    /// Bytes of the records' own queue at `now_ps`, if they have one.
    pub(in crate::network) fn virtual_bytes(&self, now_ps: u64) -> Option<u64> {
        let phantom = self.phantom.as_ref()?;
        Some(phantom.backlog_bytes(now_ps))
    }

    /// Memory beside the writer, bytes.
    pub(in crate::network) fn heap_bytes(&self) -> u64 {
        self.phantom
            .as_ref()
            .map_or(0, |_| block_of::<PhantomQueue>(1))
    }
}
