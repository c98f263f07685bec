//! The packets in ports and links: each has a place here from its host's way out to its arrival, and the
//! event of its arrival at the end of a link carries that place. So a hop changes a packet where it lies
//! instead of copying it from link to link, and the places that were left last, which are still in the
//! cache, are taken first.

use super::packet::Packet;

/// A packet within a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Place(Packet);

/// All packets in ports and links.
#[derive(Debug, Default)]
pub struct InFlight {
    places: Vec<Place>,
    free: Vec<u32>,
}

impl InFlight {
    /// Gives a packet a place.
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> u32 {
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = Place(packet);
            return place;
        }
        self.places.push(Place(packet));
        (self.places.len() - 1) as u32
    }

    /// The packet at a place.
    #[inline]
    pub fn get(&self, place: u32) -> &Packet {
        &self.places[place as usize].0
    }

    /// The same, to be changed.
    #[inline]
    pub fn get_mut(&mut self, place: u32) -> &mut Packet {
        &mut self.places[place as usize].0
    }

    /// Takes a packet out.
    #[inline]
    pub fn remove(&mut self, place: u32) -> Packet {
        self.free.push(place);
        self.places[place as usize].0
    }

    /// Takes over what another part has in flight, at the end of a run: only for the count.
    pub fn join(&mut self, other: &mut InFlight) {
        self.places.append(&mut other.places);
        self.free.append(&mut other.free);
    }

    /// Packets that have a place.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
