//! In-band telemetry (INT, as HPCC uses it: Li et al., SIGCOMM 2019): a port writes a record into each
//! data packet that asks for it when the packet's transmission starts. Bytes without framing, times ps,
//! rates bit/s.
//!
//! The port may be a FIFO. It knows the time of a departure when the packet arrives, and keeps a copy of
//! the packet until that time. It then writes the record, after the last arrival before and before the
//! packet reaches the end of its link, so queue and counter are exact. Nothing that was decided on
//! arrival depends on the record's content. Its size does count: a record that has bytes on the wire
//! has them from the packet's arrival at the port on: in the queue, in the memory and on the link.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decision, Departure, Rule, Site};
use crate::network::{HopRecord, HopRecords, OptionTable, Packet};
use crate::problem::{Problem, quoted, require};
use crate::units::Size;

/// Largest packet with all of its records, bytes: the limit of transport.mtu.
const MOST_BYTES: u64 = 9000;

/// In-band telemetry: each port of a switch writes queue, sent bytes, time and rate into the data of
/// senders that ask for it; up to 8 hops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// Size of a record on the wire. A packet grows by it at each port, and its ACK returns all records.
    #[serde(default)]
    pub record: Size,
}

impl Telemetry {
    /// Checks the settings for packets of at most `mtu` bytes.
    pub(crate) fn check(&self, mtu: u64) -> Result<(), Problem> {
        let hops = HopRecords::MOST as u64;
        let most = MOST_BYTES.saturating_sub(mtu) / hops;
        require(
            self.record.0 <= most,
            "switch.telemetry.record",
            quoted(self.record),
            &format!(
                "at most {} with transport.mtu = {}: {hops} records fit into a packet of 9KB",
                quoted(Size(most)),
                quoted(Size(mtu))
            ),
        )
    }
}

/// Telemetry of one port.
#[derive(Debug)]
pub struct WritesRecords {
    link_bps: u64,
    /// Bytes of the packets whose transmission has started.
    sent_bytes: u64,
}

impl WritesRecords {
    /// Creates the rule at one port.
    pub fn new(site: &Site) -> Self {
        WritesRecords {
            link_bps: site.rate.0,
            sent_bytes: 0,
        }
    }
}

impl Rule for WritesRecords {
    fn writes_records(&self) -> bool {
        true
    }

    fn on_departure(
        &mut self,
        departure: &Departure,
        packet: &Packet,
        options: &mut OptionTable,
    ) -> Decision {
        if let Some(records) = options.collected(packet) {
            records.add(HopRecord {
                queue_bytes: departure.port_bytes,
                sent_bytes: self.sent_bytes,
                at_ps: departure.at_ps,
                link_bps: self.link_bps,
            });
        }
        self.sent_bytes += u64::from(packet.wire_bytes);
        Decision::Pass
    }
}
