//! Fields that few packets carry: selective acknowledgments (RFC 2018), values that switches write for
//! the sender, and the content of the message transport's control packets. A packet has only an index
//! into this table, so packets without options stay small. An entry is in use from the sending of its
//! packet to its arrival or loss.

use super::signal::Signal;
use super::waits::Waits;
use crate::prefetch::prefetch;
use crate::units::Rate;

/// Options of a packet; each part is optional.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What one end tells the other.
    pub report: Report,
    /// Fields that switches read and write in data; an ACK returns the fields of the most recent
    /// data.
    pub written: Option<Written>,
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

/// Fields that switches read from data and write into it; the receiver returns them to the sender
/// in its ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Lowest rate offered by a port of the path (RCP), kbit/s.
    pub rate_kbps: u64,
    /// Sender's smoothed round-trip time, which switches read, ns; 0 before the first sample.
    pub round_trip_ns: u32,
}

impl Default for Written {
    /// Fields before any switch has written.
    fn default() -> Self {
        Written {
            rate_kbps: kbps(Rate::MOST.0),
            round_trip_ns: 0,
        }
    }
}

impl Written {
    /// Initial fields of a sender whose smoothed round-trip time is `srtt_ps`.
    pub fn asking(srtt_ps: u64) -> Self {
        Written {
            round_trip_ns: u32::try_from(srtt_ps / 1000).unwrap_or(u32::MAX),
            ..Written::default()
        }
    }

    /// Lowers the rate to that offered by a port: the lowest on the path counts.
    #[inline]
    pub fn lower_rate_to(&mut self, rate_bps: u64) {
        self.rate_kbps = self.rate_kbps.min(kbps(rate_bps));
    }
}

/// Converts a rate to the unit of packets: kbit/s, at least 1.
pub fn kbps(rate_bps: u64) -> u64 {
    (rate_bps / 1000).max(1)
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

/// Options of all packets in the network.
#[derive(Debug, Default)]
pub struct OptionTable {
    entries: Vec<Options>,
    free: Vec<u32>,
    /// Waits of the packet of each entry, if it is the last one of a message.
    waits: Vec<Waits>,
    /// Number of entries in use in other parts at the end of a run.
    elsewhere: usize,
}

impl OptionTable {
    /// Stores options and returns their entry.
    pub fn insert(&mut self, options: Options) -> u32 {
        if let Some(entry) = self.free.pop() {
            self.entries[entry as usize] = options;
            entry
        } else {
            self.entries.push(options);
            (self.entries.len() - 1) as u32
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
