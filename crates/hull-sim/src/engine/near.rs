//! An event within a bucket of the calendar, as one number, the sort of a bucket, and the event as it
//! is served.
//!
//! Few events are sorted without a branch, by exchanges that are the same for all orders: their order
//! cannot be predicted.

use super::entity::Entity;

/// Data carried by a link's event: the packet's place, and the entry of the route that the packet
/// follows next. Other events carry nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketRef {
    /// Place of the packet.
    pub packet: u32,
    /// Next entry of the route, as encoded by the network.
    pub next: u32,
}

/// Event that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Time, ps.
    pub at_ps: u64,
    /// Entity that acts.
    pub entity: Entity,
    /// Data that the event carries.
    pub packet_ref: PacketRef,
}

/// Event in a bucket as one number. From the high end: time since the beginning of the bucket (32
/// bits), entity (32 bits), reference (64 bits). One comparison orders two events without a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Near(u128);

impl Near {
    /// Largest width of a bucket as a power of two, ps. Time, entity, and the place in a bucket
    /// then fit into 64 bits, and the time since the first of 16 buckets into 32.
    pub const WIDEST: u32 = 28;

    #[inline]
    pub fn new(within_ps: u64, entity: u32, packet_ref: PacketRef) -> Self {
        let key = (within_ps << 32) | u64::from(entity);
        let packet_ref = u64::from(packet_ref.packet) << 32 | u64::from(packet_ref.next);
        Near(u128::from(key) << 64 | u128::from(packet_ref))
    }

    /// Time since the beginning of the bucket, or of the first of several, ps.
    #[inline]
    pub fn within_ps(self) -> u64 {
        (self.0 >> 96) as u64
    }

    /// The same event, `later_ps` later.
    #[inline(always)]
    pub fn delayed(self, later_ps: u64) -> Self {
        Near(self.0 + (u128::from(later_ps) << 96))
    }

    /// Time and entity, by which events are ordered.
    #[inline(always)]
    pub fn key(self) -> u64 {
        (self.0 >> 64) as u64
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
    pub fn packet_ref(self) -> PacketRef {
        PacketRef {
            packet: (self.0 >> 32) as u32,
            next: self.0 as u32,
        }
    }
}

/// Memory of an event that is due with many others, bytes: its place among the sorted ones, and as much
/// for the sort by digits.
pub const DUE_BYTES: u64 = 2 * size_of::<Near>() as u64;

/// Number of events from which a sort by digits is faster.
const MANY: usize = 64;

/// Sorts more than [`FEW`] events by time and entity: digit by digit if hosts act in step and there are
/// many. Two events share time and entity only if they are equal: arrivals on one link differ in time,
/// and other events carry nothing.
#[inline(never)]
pub fn sort(events: &mut [Near]) {
    if events.len() > MANY {
        radsort::sort_by_key(events, |near| near.key());
    } else {
        events.sort_unstable();
    }
}

/// Largest number of events that are sorted by exchanges.
pub const FEW: usize = 8;

/// Bits of a place among these.
const PLACE_BITS: u32 = FEW.trailing_zeros();

const _: () = assert!(Near::WIDEST + PLACE_BITS <= 32);

/// Exchanges the keys of each pair of places unless they are in order, without a branch. A loop over
/// an array of pairs would remain a loop, with all keys in memory.
macro_rules! exchange {
    ($keys:ident: $(($i:literal, $j:literal))*) => {
        $(($keys[$i], $keys[$j]) = ($keys[$i].min($keys[$j]), $keys[$i].max($keys[$j]));)*
    };
}

/// Sorts four keys by exchanges.
#[inline(always)]
fn sort_four(mut keys: [u64; 4]) -> [u64; 4] {
    exchange!(keys: (0, 1) (2, 3) (0, 2) (1, 3) (1, 2));
    keys
}

/// Sorts eight keys by exchanges.
#[inline(always)]
fn sort_eight(mut keys: [u64; FEW]) -> [u64; FEW] {
    exchange!(keys:
        (0, 2) (1, 3) (4, 6) (5, 7)
        (0, 4) (1, 5) (2, 6) (3, 7)
        (0, 1) (2, 3) (4, 5) (6, 7)
        (2, 4) (3, 5)
        (1, 4) (3, 6)
        (1, 2) (3, 4) (5, 6)
    );
    keys
}

/// Adds the first `len` of these events to `sorted`, the earliest first, each `later_ps` later.
#[inline(always)]
pub fn add_sorted(sorted: &mut Vec<Near>, events: &[Near; FEW], len: usize, later_ps: u64) {
    debug_assert!(len <= FEW);
    let before = sorted.len();
    if len == 1 {
        // Most buckets of a small network.
        sorted.push(events[0].delayed(later_ps));
    } else if len <= 4 {
        let events = in_order(events, len, sort_four);
        sorted.extend_from_slice(&events.map(|near| near.delayed(later_ps)));
        sorted.truncate(before + len);
    } else {
        let events = in_order(events, len, sort_eight);
        sorted.extend_from_slice(&events.map(|near| near.delayed(later_ps)));
        sorted.truncate(before + len);
    }
}

/// The first `N` events, of which `len` exist, by time and entity, the earliest first; events of the
/// same time and entity in any order.
#[inline(always)]
fn in_order<const N: usize>(
    events: &[Near; FEW],
    len: usize,
    sort: impl Fn([u64; N]) -> [u64; N],
) -> [Near; N] {
    // A key is followed by the event's place; places without an event have the largest key.
    let keys = std::array::from_fn(|place| {
        let key = events[place].key();
        let key = key << PLACE_BITS | place as u64;
        key | 0_u64.wrapping_sub(u64::from(place >= len))
    });
    sort(keys).map(|key| events[key as usize % FEW])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(events: &[Near; FEW], len: usize) -> Vec<Near> {
        let mut sorted = Vec::new();
        add_sorted(&mut sorted, events, len, 0);
        sorted
    }

    /// A sequence of exchanges that sorts all zeros and ones sorts everything (Knuth, volume 3,
    /// 5.3.4); events of the same time and entity stay in any order.
    #[test]
    fn exchanges_sort() {
        for len in 0..=FEW {
            for bits in 0..1_u64 << len {
                // Places without an event hold one that was served.
                let events = std::array::from_fn(|place| match place < len {
                    true => Near::new(bits >> place & 1, 7, PacketRef::default()),
                    false => Near::new(1 << Near::WIDEST >> 1, 9, PacketRef::default()),
                });
                let mut expected = events[..len].to_vec();
                expected.sort_unstable();
                assert_eq!(sorted(&events, len), expected);
            }
        }
    }

    /// Events that share time and entity are sorted too.
    #[test]
    fn equal_events_are_sorted() {
        for len in [9, 16, 17, 33, 64, 65] {
            let latest_first = (0..len).rev();
            let mut events: Vec<Near> = latest_first
                .map(|at| Near::new(at / 2, 3, PacketRef::default()))
                .collect();
            let mut expected = events.clone();
            expected.sort_unstable();
            sort(&mut events);
            assert_eq!(events, expected);
        }
    }

    /// The largest time and entity are not cut off by the place.
    #[test]
    fn largest_keys_are_sorted() {
        let last_ps = (1 << Near::WIDEST) - 1;
        let keys = [(0, u32::MAX), (last_ps, 0), (last_ps, u32::MAX), (0, 0)];
        let mut events = [Near::default(); FEW];
        for (place, (within_ps, entity)) in keys.into_iter().enumerate() {
            events[place] = Near::new(within_ps, entity, PacketRef::default());
        }
        let found = sorted(&events, 4);
        let found = found.iter().map(|near| (near.within_ps(), near.bits()));
        assert!(found.eq([keys[3], keys[0], keys[1], keys[2]]));
    }
}
