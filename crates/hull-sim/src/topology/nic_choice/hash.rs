//! A hash chooses the NICs, as a bond of Linux does with the hash of layers 3 and 4: first the sender's
//! among those with a path to the receiver, then the receiver's among those nearest to it by number of
//! links. All are equally likely, and the choices are independent of each other and of ECMP's.

use super::{NicChoice, Sending};
use crate::topology::routing::{Routes, choose};

/// Numbers that mix the hash for the two choices, which no switch has.
const SENDER: u32 = u32::MAX - 1;
const RECEIVER: u32 = u32::MAX - 2;

impl NicChoice {
    /// Chooses the NICs of two hosts by a flow's hash.
    pub(super) fn by_hash(&mut self, routes: &Routes, sending: &Sending) -> Option<(usize, usize)> {
        let hash = sending.flow_hash;
        let sender = one_of(&self.senders(routes, sending.ends), hash, SENDER)?;
        let nearest = self.nearest(routes, sender, sending.ends.1);
        Some((sender, one_of(&nearest, hash, RECEIVER)?))
    }
}

/// One of `nics` by a hash, mixed with `number`.
fn one_of(nics: &[usize], hash: u64, number: u32) -> Option<usize> {
    let at = choose(hash, number, nics.len() as u32);
    nics.get(at as usize).copied()
}
