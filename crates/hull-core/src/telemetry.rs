//! In-band telemetry: the record that a port writes into a data packet, the widths of its fields, and
//! what a sender reads from two records of one port.
//!
//! Source: HPCC (Li et al., SIGCOMM 2019, section 4 and figure 7) and its authors' simulator (INT header
//! of alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a): the port writes when the
//! transmission of a packet starts; the bytes sent are those before the packet, the queue is what waits
//! behind it.
//!
//! HPCC's header has 5 records of 64 bits: the rate as the number of an entry of a table (3 bits), the
//! time in ns (24), the bytes sent in units of 128 bytes (20), and the queue in units of 80 bytes (17). Both
//! units are multiplied by a factor, the rate of a NIC over 25 Gbps. A field wraps around, so the sender
//! takes differences modulo its width. A sender ignores the records of a path with more than 5 hops.
//!
//! Differences: the table of rates has the simulator's 25, 50, 100, 200 and 400 Gbps, and in its three free
//! entries 800 and 1600 Gbps and 10 Gbps. The records name their path by 32 bits; the paper has 12 bits for
//! that, the simulator none.
//!
//! Units: bytes on the wire without framing, picoseconds, bit/s.

/// Rates of HPCC's header, by their number, bit/s.
pub const LINE_RATES_BPS: [u64; 8] = [
    25_000_000_000,
    50_000_000_000,
    100_000_000_000,
    200_000_000_000,
    400_000_000_000,
    800_000_000_000,
    1_600_000_000_000,
    10_000_000_000,
];

/// Number of records in HPCC's header.
const HPCC_ROOM: usize = 5;
/// Values of HPCC's fields before they wrap around.
const TIMES: u64 = 1 << 24;
const SENT: u64 = 1 << 20;
const QUEUES: u64 = 1 << 17;
/// Units of HPCC's fields: ps, and bytes before the factor.
const TIME_PS: u64 = 1000;
const SENT_BYTES: u64 = 128;
const QUEUE_BYTES: u64 = 80;

/// State of a port when the transmission of a packet starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopRecord {
    /// Bytes that wait behind the packet, in all queues of the port.
    pub queue_bytes: u64,
    /// Bytes of all packets that the port has sent before this one.
    pub sent_bytes: u64,
    /// Start of the transmission, ps.
    pub at_ps: u64,
    /// Rate of the link, bit/s.
    pub link_bps: u64,
}

/// Fields of the records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fields {
    /// Exact values, and room for [`HopRecords::MOST`] records.
    #[default]
    Exact,
    /// HPCC's header.
    Hpcc {
        /// Factor of the units of both byte counts.
        unit_factor: u32,
    },
}

impl Fields {
    /// Number of records for which a packet has room.
    #[inline]
    pub fn room(self) -> usize {
        match self {
            Fields::Exact => HopRecords::MOST,
            Fields::Hpcc { .. } => HPCC_ROOM,
        }
    }

    /// Record as its fields hold it.
    #[inline]
    pub fn written(self, record: &HopRecord) -> HopRecord {
        match self {
            Fields::Exact => *record,
            Fields::Hpcc { unit_factor } => {
                let factor = u64::from(unit_factor);
                HopRecord {
                    queue_bytes: self.written_queue(record.queue_bytes),
                    sent_bytes: held(record.sent_bytes, SENT_BYTES * factor, SENT),
                    at_ps: held(record.at_ps, TIME_PS, TIMES),
                    link_bps: nearest_rate(record.link_bps),
                }
            }
        }
    }

    /// Queue as its field holds it.
    #[inline]
    fn written_queue(self, queue_bytes: u64) -> u64 {
        match self {
            Fields::Exact => queue_bytes,
            Fields::Hpcc { unit_factor } => {
                held(queue_bytes, QUEUE_BYTES * u64::from(unit_factor), QUEUES)
            }
        }
    }

    /// What a port did between two records; `None` if no time passed, or exact records are not in order.
    #[inline]
    pub fn between(self, before: &HopRecord, now: &HopRecord) -> Option<Passed> {
        let (elapsed_ps, sent_bytes) = match self {
            Fields::Exact => (
                now.at_ps.checked_sub(before.at_ps)?,
                now.sent_bytes.checked_sub(before.sent_bytes)?,
            ),
            Fields::Hpcc { unit_factor } => (
                passed(before.at_ps, now.at_ps, TIMES * TIME_PS),
                passed(
                    before.sent_bytes,
                    now.sent_bytes,
                    SENT * SENT_BYTES * u64::from(unit_factor),
                ),
            ),
        };
        (elapsed_ps > 0).then_some(Passed {
            elapsed_ps,
            sent_bytes,
        })
    }
}

/// Value that a field of this unit and number of values holds.
fn held(value: u64, unit: u64, values: u64) -> u64 {
    value / unit % values * unit
}

/// Difference of two values of a field that wraps around.
fn passed(before: u64, now: u64, width: u64) -> u64 {
    match now.checked_sub(before) {
        Some(passed) => passed,
        None => now + width - before,
    }
}

/// Rate of HPCC's table that is nearest.
fn nearest_rate(link_bps: u64) -> u64 {
    let mut nearest = LINE_RATES_BPS[0];
    for rate_bps in LINE_RATES_BPS {
        if rate_bps.abs_diff(link_bps) < nearest.abs_diff(link_bps) {
            nearest = rate_bps;
        }
    }
    nearest
}

/// What a port did between two records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Time, ps; above 0.
    pub elapsed_ps: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
}

/// Records of the hops of one packet, in their order.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct HopRecords {
    hops: u16,
    len: u16,
    path: u32,
    records: [HopRecord; HopRecords::MOST],
}

impl PartialEq for HopRecords {
    fn eq(&self, other: &Self) -> bool {
        self.are_of_path(other) && self.as_slice() == other.as_slice()
    }
}

impl Eq for HopRecords {}

impl HopRecords {
    /// Largest number of records in a packet.
    pub const MOST: usize = 8;

    /// Records of a packet that has passed no hop.
    pub const NONE: HopRecords = HopRecords {
        records: [HopRecord {
            queue_bytes: 0,
            sent_bytes: 0,
            at_ps: 0,
            link_bps: 0,
        }; HopRecords::MOST],
        hops: 0,
        len: 0,
        path: 0,
    };

    /// Adds the record of the next hop, a port with this number; without room only counts the hop. Returns
    /// whether there was room.
    #[inline]
    pub fn add(&mut self, fields: Fields, port: u32, record: &HopRecord) -> bool {
        let has_room = self.have_room(fields);
        if has_room {
            self.records[usize::from(self.len)] = fields.written(record);
            self.len += 1;
        }
        self.hops = self.hops.saturating_add(1);
        self.path = self.path.wrapping_mul(0x9E37_79B1).wrapping_add(port);
        has_room
    }

    /// Sets the queue of the record added last.
    #[inline]
    pub fn complete(&mut self, fields: Fields, queue_bytes: u64) {
        if let Some(record) = self.records[..usize::from(self.len)].last_mut() {
            record.queue_bytes = fields.written_queue(queue_bytes);
        }
    }

    /// Whether there is room for another record.
    #[inline]
    pub fn have_room(&self, fields: Fields) -> bool {
        usize::from(self.len) < fields.room()
    }

    /// Records of the hops that found room.
    #[inline]
    pub fn as_slice(&self) -> &[HopRecord] {
        &self.records[..usize::from(self.len)]
    }

    /// Number of hops, including those without a record.
    #[inline]
    pub fn hops(&self) -> u16 {
        self.hops
    }

    /// Records of all hops; `None` without a hop, or if one found no room.
    #[inline]
    pub fn whole(&self) -> Option<&[HopRecord]> {
        (self.hops > 0 && self.hops == self.len).then(|| self.as_slice())
    }

    /// Whether these are records of the same ports.
    #[inline]
    pub fn are_of_path(&self, other: &HopRecords) -> bool {
        (self.path, self.hops) == (other.path, other.hops)
    }

    /// Takes over the records of another packet, and none of the room that they leave.
    #[inline]
    pub fn copy_from(&mut self, other: &HopRecords) {
        (self.hops, self.len, self.path) = (other.hops, other.len, other.path);
        for (to, from) in self.records.iter_mut().zip(other.as_slice()) {
            *to = *from;
        }
    }

    /// Removes all records.
    #[inline]
    pub fn clear(&mut self) {
        (self.hops, self.len, self.path) = (0, 0, 0);
    }
}
