//! The paths of a connection use the NICs in turn: the entropy value of a packet of the message transport
//! selects its path and its NICs. So a connection that sprays packets over paths loads all NICs equally, and
//! one that avoids a bad path may avoid its NICs, too. The candidates are the same as for
//! [`hash`](super::hash), and a flow's hash selects the first.

use super::{NicChoice, Sending};
use crate::topology::routing::Routes;

impl NicChoice {
    /// NICs of a packet by the number of its path.
    pub(super) fn by_path(&mut self, routes: &Routes, sending: &Sending) -> Option<(usize, usize)> {
        let senders = self.senders(routes, sending.ends);
        let turn = (sending.flow_hash >> 32) as usize + sending.path as usize;
        let sender = *senders.get(turn.checked_rem(senders.len())?)?;
        let nearest = self.nearest(routes, sender, sending.ends.1);
        let round = turn / senders.len();
        let receiver = *nearest.get(round.checked_rem(nearest.len())?)?;
        Some((sender, receiver))
    }
}
