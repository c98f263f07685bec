//! A bucket of the calendar: its first events are inline, in two cache lines; further events are
//! allocated elsewhere.

use super::entity::Entity;
use super::lists::List;

/// Data carried by a link's event: the packet's place, and the entry of the route that the packet
/// follows next. Other events carry nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cargo {
    /// Place of the packet.
    pub packet: u32,
    /// Next entry of the route, as encoded by the network.
    pub next: u32,
}

/// Event in a bucket as one number. From the high end: time since the beginning of the bucket (32
/// bits), entity (32 bits), cargo (64 bits). One comparison orders two events without a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Near(u128);

impl Near {
    /// Largest width of a bucket as a power of two, ps. Time, entity, and the place among the
    /// first four then fit into 64 bits.
    pub const WIDEST: u32 = 30;

    #[inline]
    pub fn new(within_ps: u64, entity: u32, cargo: Cargo) -> Self {
        let key = (within_ps << 32) | u64::from(entity);
        let cargo = u64::from(cargo.packet) << 32 | u64::from(cargo.next);
        Near(u128::from(key) << 64 | u128::from(cargo))
    }

    /// Time since the beginning of the bucket, ps.
    #[inline]
    pub fn within_ps(self) -> u64 {
        (self.0 >> 96) as u64
    }

    /// Entity as a number.
    #[inline]
    pub fn bits(self) -> u32 {
        (self.0 >> 64) as u32
    }

    /// The entity.
    #[inline]
    pub fn entity(self) -> Entity {
        Entity::from_bits(self.bits())
    }

    #[inline]
    pub fn cargo(self) -> Cargo {
        Cargo {
            packet: (self.0 >> 32) as u32,
            next: self.0 as u32,
        }
    }
}

/// Number of events stored in the bucket itself.
pub const INSIDE: usize = 7;

/// Unordered events. The first three share a cache line with their number.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Bucket {
    /// Number of events, including those stored elsewhere.
    pub len: usize,
    /// Events that do not fit into the bucket.
    pub crowded: List,
    pub inside: [Near; INSIDE],
}

const _: () = assert!(size_of::<Bucket>() == 128);

impl Bucket {
    /// The first four events, of which `len` exist, sorted by time and entity, the latest first.
    #[inline(always)]
    pub fn first_sorted(&self, len: usize) -> [Near; 4] {
        // A key is followed by the event's place; places without an event have the smallest key.
        let mut keys = [0, 1, 2, 3].map(|place| {
            let key = (self.inside[place].0 >> 64) as u64;
            if place < len {
                key << 2 | place as u64
            } else {
                0
            }
        });
        // Five exchanges without a branch.
        for (i, j) in [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)] {
            let (a, b) = (keys[i], keys[j]);
            keys[i] = a.max(b);
            keys[j] = a.min(b);
        }
        keys.map(|key| self.inside[key as usize & 3])
    }
}
