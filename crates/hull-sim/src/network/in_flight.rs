//! The packets in ports and links. Each has a slot here from its host to its arrival, and the event of
//! its arrival at the end of a link carries that slot. A hop therefore changes a packet in place
//! instead of copying it from link to link. The most recently freed slot, which is still in the cache,
//! is reused first. A free slot holds the number of the next free one.

use super::packet::Packet;

/// Packet that does not cross a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Place(Packet);

/// No place.
const NONE: u32 = u32::MAX;

/// All packets in ports and links.
#[derive(Debug)]
pub struct InFlight {
    places: Vec<Place>,
    /// Most recently freed place; in a free place, `Packet::flow` is the place freed before it.
    free: u32,
    /// Places of packets that went to another part of the run, for those that come from there. Many
    /// come at once: unlike the free places, these are found without reading them.
    spare: Vec<u32>,
    len: usize,
}

/// Largest number of spare places.
const MOST_SPARE: usize = 1 << 12;

impl Default for InFlight {
    fn default() -> Self {
        InFlight {
            places: Vec::new(),
            free: NONE,
            spare: Vec::new(),
            len: 0,
        }
    }
}

impl InFlight {
    /// Adds a packet and returns its place.
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> u32 {
        self.len += 1;
        let place = self.free;
        if let Some(left) = self.places.get_mut(place as usize) {
            self.free = left.0.flow;
            *left = Place(packet);
            return place;
        }
        self.places.push(Place(packet));
        (self.places.len() - 1) as u32
    }

    /// Packet at a place.
    #[inline]
    pub fn get(&self, place: u32) -> &Packet {
        &self.places[place as usize].0
    }

    /// Mutable packet at a place.
    #[inline]
    pub fn get_mut(&mut self, place: u32) -> &mut Packet {
        &mut self.places[place as usize].0
    }

    /// Removes the packet at a place and returns it.
    #[inline]
    pub fn remove(&mut self, place: u32) -> Packet {
        self.len -= 1;
        let left = &mut self.places[place as usize].0;
        let packet = *left;
        left.flow = std::mem::replace(&mut self.free, place);
        packet
    }

    /// Removes the packet at a place, which a packet from another part will take, and returns it.
    #[inline]
    pub fn hand_over(&mut self, place: u32) -> Packet {
        if self.spare.len() == MOST_SPARE {
            return self.remove(place);
        }
        self.len -= 1;
        self.spare.push(place);
        self.places[place as usize].0
    }

    /// Adds a packet from another part and returns its place.
    #[inline]
    pub fn land(&mut self, packet: Packet) -> u32 {
        let Some(place) = self.spare.pop() else {
            return self.insert(packet);
        };
        self.len += 1;
        self.places[place as usize] = Place(packet);
        place
    }

    /// Adds the packets in flight of another part at the end of a run; only their number.
    pub fn join(&mut self, other: &mut InFlight) {
        self.len += std::mem::take(&mut other.len);
    }

    /// Number of packets in flight.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no packet is in flight.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
