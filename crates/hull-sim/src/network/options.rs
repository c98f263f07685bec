//! Fields that few packets carry: selective acknowledgments (RFC 2018), values that switches write for
//! the sender, and the content of the message transport's control packets. A packet has only an index
//! into this table, so packets without options stay small. An entry is in use from the sending of its
//! packet to its arrival or loss.

use hull_core::telemetry::Fields;

use super::in_band::{Answer, HopRecord, HopRecords, InBand};
use super::packet::{Packet, flags};
use super::signal::Signal;
use super::waits::Waits;
use crate::prefetch::prefetch;

/// Options of a packet; each part is optional.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What one end tells the other.
    pub report: Report,
    /// Fields that switches read and write in data; an ACK returns the fields of the most recent
    /// data.
    pub in_band: InBand,
}

/// What one end of a flow tells the other, besides the fields of each packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Report {
    /// Nothing more.
    #[default]
    Nothing,
    /// Data received above the cumulative acknowledgment, in ACKs.
    Sack(SackBlocks),
    /// Message transport's content.
    Signal(Signal),
}

const _: () = assert!(size_of::<Options>() <= 56);

impl Options {
    /// Blocks of data received above the cumulative acknowledgment, as sequence numbers.
    pub fn sack(&self) -> &[(u32, u32)] {
        match &self.report {
            Report::Sack(blocks) => blocks.as_slice(),
            _ => &[],
        }
    }

    /// Message transport's content.
    pub fn signal(&self) -> Option<Signal> {
        match self.report {
            Report::Signal(signal) => Some(signal),
            _ => None,
        }
    }
}

/// Up to three blocks of bytes received above the cumulative acknowledgment, the latest first, with
/// their 32-bit sequence numbers as on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); 3],
    len: u8,
}

impl SackBlocks {
    /// Adds the block [start, end) if there is room.
    pub fn push(&mut self, start: u32, end: u32) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = (start, end);
            self.len += 1;
        }
    }

    /// Blocks [start, end).
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Size of the option in the header, bytes: 8 per block and 4 for kind, length and padding.
    pub fn option_bytes(&self) -> u16 {
        if self.len == 0 {
            0
        } else {
            4 + 8 * u16::from(self.len)
        }
    }
}

/// Entry of a packet without options.
pub const NO_OPTIONS: u32 = u32::MAX;

/// Telemetry of one packet. A switch finds in its first cache line all that it reads.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Collection {
    /// Whether the entry is of a packet that collects records or returns them.
    is_used: bool,
    records: HopRecords,
}

impl Collection {
    const NONE: Collection = Collection {
        is_used: false,
        records: HopRecords::NONE,
    };
}

/// Whether this is data that may collect telemetry. A trimmed packet has lost its records.
#[inline]
fn may_collect(packet: &Packet) -> bool {
    packet.flags & (flags::DATA | flags::TRIMMED) == flags::DATA
}

/// Options of all packets in the network.
#[derive(Debug, Default)]
pub struct OptionTable {
    entries: Vec<Options>,
    free: Vec<u32>,
    /// Waits of the packet of each entry, if it is the last one of a message.
    waits: Vec<Waits>,
    /// Telemetry of the packet of each entry, if any packet carries some.
    records: Vec<Collection>,
    /// Size of a telemetry record on the wire, bytes.
    pub record_bytes: u16,
    /// Fields of telemetry records.
    pub fields: Fields,
    /// Number of entries in use in other parts at the end of a run.
    elsewhere: usize,
}

impl OptionTable {
    /// Stores options and returns their entry.
    pub fn insert(&mut self, options: Options) -> u32 {
        let entry = if let Some(entry) = self.free.pop() {
            self.entries[entry as usize] = options;
            entry
        } else {
            self.entries.push(options);
            (self.entries.len() - 1) as u32
        };
        if options.in_band == InBand::Telemetry {
            self.collection(entry).records.clear();
        } else if let Some(collection) = self.records.get_mut(entry as usize) {
            collection.is_used = false;
        }
        entry
    }

    /// Stores a report with the fields that an acknowledgment returns.
    pub fn insert_answer(&mut self, report: Report, answer: Answer<'_>) -> u32 {
        let (in_band, records) = match answer {
            Answer::Nothing => (InBand::Nothing, None),
            Answer::Rate(rate) => (InBand::Rate(rate), None),
            Answer::Telemetry(records) => (InBand::Telemetry, Some(records)),
        };
        let entry = self.insert(Options { report, in_band });
        if let Some(records) = records {
            self.collection(entry).records.copy_from(records);
        }
        entry
    }

    /// Telemetry of an entry that is used for it from now on.
    fn collection(&mut self, entry: u32) -> &mut Collection {
        let len = self.entries.len();
        if self.records.len() < len {
            self.records.resize(len, Collection::NONE);
        }
        let collection = &mut self.records[entry as usize];
        collection.is_used = true;
        collection
    }

    /// Telemetry of whole data whose options have just been taken from this packet: the entry, until others
    /// are stored.
    #[inline]
    pub fn taken_records(&self, packet: &Packet, options: Option<&Options>) -> Option<u32> {
        let has_records = options.is_some_and(|options| options.in_band == InBand::Telemetry);
        (has_records && may_collect(packet)).then_some(packet.options)
    }

    /// Records at an entry, as an answer.
    pub fn records(&self, entry: u32) -> Answer<'_> {
        Answer::Telemetry(&self.records[entry as usize].records)
    }

    /// Stores a report with the telemetry of the data whose options at `from` have just been taken.
    pub fn hand_over(&mut self, report: Report, from: u32) -> u32 {
        let options = Options {
            report,
            in_band: InBand::Telemetry,
        };
        if self.free.last() == Some(&from) {
            self.free.pop();
            self.entries[from as usize] = options;
            return from;
        }
        let records = self.records[from as usize].records;
        self.insert_answer(report, Answer::Telemetry(&records))
    }

    /// Fields that switches wrote into the options at `entry`; those taken last are there until others
    /// are stored.
    #[inline]
    pub fn answer(&self, entry: u32, options: Option<&Options>) -> Answer<'_> {
        match options.map_or(InBand::Nothing, |options| options.in_band) {
            InBand::Nothing => Answer::Nothing,
            InBand::Rate(rate) => Answer::Rate(rate),
            InBand::Telemetry => match self.records.get(entry as usize) {
                Some(collection) => Answer::Telemetry(&collection.records),
                None => Answer::Nothing,
            },
        }
    }

    /// Writes the record of a port with this number into data that collects telemetry. Returns whether
    /// there was room.
    #[inline]
    pub fn write_record(&mut self, packet: &Packet, port: u32, record: &HopRecord) -> bool {
        let fields = self.fields;
        self.collected(packet)
            .is_some_and(|records| records.add(fields, port, record))
    }

    /// Sets the queue of the record written last into the data at `entry`; not for [`NO_OPTIONS`].
    #[inline]
    pub fn complete_record(&mut self, entry: u32, queue_bytes: u64) {
        if let Some(collection) = self.records.get_mut(entry as usize) {
            (collection.records).complete(self.fields, queue_bytes);
        }
    }

    /// Records of data that collects telemetry.
    #[inline]
    fn collected(&mut self, packet: &Packet) -> Option<&mut HopRecords> {
        let collection = self.records.get_mut(packet.options as usize)?;
        (may_collect(packet) && collection.is_used).then_some(&mut collection.records)
    }

    /// Bytes on the wire of the records that an acknowledgment returns.
    pub fn bytes_of(&self, answer: Answer<'_>) -> u16 {
        match answer {
            Answer::Nothing | Answer::Rate(_) => 0,
            Answer::Telemetry(records) => self.record_bytes * records.as_slice().len() as u16,
        }
    }

    /// Bytes on the wire of the records that the acknowledgment with options at `entry` returns.
    #[inline]
    pub fn returned_bytes(&self, entry: u32) -> u16 {
        match self.record_bytes {
            0 => 0,
            _ => self.bytes_of(self.answer(entry, self.get(entry))),
        }
    }

    /// Bytes on the wire of the records that data has collected.
    pub fn collected_bytes(&self, packet: &Packet) -> u16 {
        if self.record_bytes == 0 || !may_collect(packet) {
            return 0;
        }
        match self.records.get(packet.options as usize) {
            Some(Collection {
                is_used: true,
                records,
            }) => self.bytes_of(Answer::Telemetry(records)),
            _ => 0,
        }
    }

    /// Lengthens data that collects telemetry by the next record, if there is room for it.
    pub fn lengthen(&mut self, packet: &mut Packet) {
        let fields = self.fields;
        let has_room = |records: &mut HopRecords| records.have_room(fields);
        if self.collected(packet).is_some_and(has_room) {
            packet.wire_bytes += self.record_bytes;
        }
    }

    /// Records the waits of a packet with options at `entry` from now on. Returns the entry, which is
    /// a new one for [`NO_OPTIONS`].
    pub fn follow(&mut self, entry: u32, waits: Waits) -> u32 {
        let entry = match entry {
            NO_OPTIONS => self.insert(Options::default()),
            entry => entry,
        };
        let len = self.entries.len();
        if self.waits.len() < len {
            self.waits.resize(len, Waits::default());
        }
        self.waits[entry as usize] = waits;
        entry
    }

    /// Waits of a packet that is the last one of a message.
    pub fn waits_mut(&mut self, entry: u32) -> Option<&mut Waits> {
        self.waits.get_mut(entry as usize)
    }

    /// Takes the waits of a packet that has arrived, and its options if there are no others. Returns
    /// also the entry that the packet still has.
    pub fn arrive(&mut self, entry: u32) -> (Option<Waits>, u32) {
        let waits = self.waits.get(entry as usize).copied();
        if self.get(entry) == Some(&Options::default()) {
            self.take(entry);
            return (waits, NO_OPTIONS);
        }
        (waits, entry)
    }

    /// Options at an entry; `None` for [`NO_OPTIONS`].
    pub fn get(&self, entry: u32) -> Option<&Options> {
        self.entries.get(entry as usize)
    }

    /// Prefetches the options at an entry.
    #[inline]
    pub fn prefetch(&self, entry: u32) {
        if let Some(options) = self.entries.get(entry as usize) {
            prefetch(options);
        }
    }

    /// Mutable options at an entry, for a switch that writes into them.
    pub fn get_mut(&mut self, entry: u32) -> Option<&mut Options> {
        self.entries.get_mut(entry as usize)
    }

    /// Removes the options when their packet arrives or is lost; `None` for [`NO_OPTIONS`].
    #[inline]
    pub fn take(&mut self, entry: u32) -> Option<Options> {
        if entry == NO_OPTIONS {
            return None;
        }
        self.free.push(entry);
        Some(self.entries[entry as usize])
    }

    /// Adds the entries of another part at the end of a run; only their number.
    pub fn join(&mut self, other: &OptionTable) {
        self.elsewhere += other.len();
    }

    /// Number of entries in use.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len() + self.elsewhere
    }

    /// Whether no packet in the network has options.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
