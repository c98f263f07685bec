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
    /// Largest width of a bucket as a power of two, ps. Time, entity, and the place in a bucket
    /// then fit into 64 bits.
    pub const WIDEST: u32 = 32 - PLACE_BITS;

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

/// Bits of a place in the bucket.
const PLACE_BITS: u32 = 3;

/// Pairs of places whose exchange, in this order, sorts four and seven events.
const OF_FOUR: [(usize, usize); 5] = [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)];
const OF_SEVEN: [(usize, usize); 16] = [
    (0, 6),
    (2, 3),
    (4, 5),
    (0, 2),
    (1, 4),
    (3, 6),
    (0, 1),
    (2, 5),
    (3, 4),
    (1, 2),
    (4, 6),
    (2, 3),
    (4, 5),
    (1, 2),
    (3, 4),
    (5, 6),
];

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
    pub fn sorted_four(&self, len: usize) -> [Near; 4] {
        self.sorted(len, &OF_FOUR)
    }

    /// The events in the bucket itself, of which `len` exist, sorted by time and entity, the latest
    /// first.
    #[inline(always)]
    pub fn sorted_inside(&self, len: usize) -> [Near; INSIDE] {
        self.sorted(len, &OF_SEVEN)
    }

    /// The first `N` events, of which `len` exist, sorted by time and entity, the latest first, by
    /// exchanging the keys of these pairs of places without a branch.
    #[inline(always)]
    fn sorted<const N: usize>(&self, len: usize, exchanges: &[(usize, usize)]) -> [Near; N] {
        // A key is followed by the event's place; places without an event have the smallest key.
        let mut keys: [u64; N] = std::array::from_fn(|place| {
            let key = (self.inside[place].0 >> 64) as u64;
            let key = key << PLACE_BITS | place as u64;
            key & 0_u64.wrapping_sub(u64::from(place < len))
        });
        for &(i, j) in exchanges {
            let (a, b) = (keys[i], keys[j]);
            keys[i] = a.max(b);
            keys[j] = a.min(b);
        }
        keys.map(|key| self.inside[(key as usize & ((1 << PLACE_BITS) - 1)).min(INSIDE - 1)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sequence of exchanges that sorts all zeros and ones sorts everything (Knuth, volume 3,
    /// 5.3.4); events of the same time and entity stay in any order.
    #[test]
    fn exchanges_sort() {
        for len in 0..=INSIDE {
            for bits in 0..1_u64 << len {
                let mut bucket = Bucket::default();
                let mut expected = Vec::new();
                for place in 0..INSIDE {
                    let cargo = Cargo::default();
                    // Places without an event hold one that was served.
                    bucket.inside[place] = match place < len {
                        true => Near::new(bits >> place & 1, 7, cargo),
                        false => Near::new(1 << Near::WIDEST >> 1, 9, cargo),
                    };
                }
                expected.extend_from_slice(&bucket.inside[..len]);
                expected.sort_unstable_by(|a, b| b.cmp(a));
                assert_eq!(bucket.sorted_inside(len)[..len], expected);
                if len <= 4 {
                    assert_eq!(bucket.sorted_four(len)[..len], expected);
                }
            }
        }
    }

    /// The largest time and entity are not cut off by the place in the bucket.
    #[test]
    fn largest_keys_are_sorted() {
        let last_ps = (1 << Near::WIDEST) - 1;
        let events = [(0, u32::MAX), (last_ps, 0), (last_ps, u32::MAX), (0, 0)];
        let mut bucket = Bucket::default();
        for (place, (within_ps, entity)) in events.into_iter().enumerate() {
            bucket.inside[place] = Near::new(within_ps, entity, Cargo::default());
        }
        let sorted = bucket
            .sorted_inside(4)
            .map(|near| (near.within_ps(), near.bits()));
        assert_eq!(sorted[..4], [events[2], events[1], events[0], events[3]]);
    }
}
