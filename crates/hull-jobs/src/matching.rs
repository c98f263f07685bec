//! Pairs the messages that arrived at a rank with the receives that it posted: the first that fits, in the
//! order of posting and of arrival. Sizes are not compared.

use std::collections::{HashMap, VecDeque};

use crate::op::ANY;

/// A message that arrived before its receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival<M> {
    /// Rank that sent it.
    pub from: u32,
    /// Its tag.
    pub tag: u32,
    /// What the network knows of it.
    pub message: M,
}

/// Posted receives and arrived messages of one rank; at most one of the two waits for each pair of rank and tag.
#[derive(Debug)]
pub struct Matching<R, M> {
    /// Receives of one rank and one tag, by number of posting.
    exact: HashMap<(u32, u32), VecDeque<(u64, R)>>,
    /// Receives from any rank or of any tag: number of posting, rank, tag, receive.
    open: VecDeque<(u64, u32, u32, R)>,
    /// Messages that found no receive, by number of arrival.
    arrived: HashMap<(u32, u32), VecDeque<(u64, M)>>,
    next: u64,
}

impl<R, M> Default for Matching<R, M> {
    fn default() -> Self {
        Matching {
            exact: HashMap::new(),
            open: VecDeque::new(),
            arrived: HashMap::new(),
            next: 0,
        }
    }
}

fn fits(wanted: u32, found: u32) -> bool {
    wanted == ANY || wanted == found
}

impl<R: Copy, M: Copy> Matching<R, M> {
    /// Posts a receive. Returns the message that it takes if one has arrived.
    pub fn post(&mut self, receive: R, from: u32, tag: u32) -> Option<Arrival<M>> {
        let number = self.number();
        let found = if from == ANY || tag == ANY {
            self.first_arrived(from, tag)
        } else {
            self.arrived
                .contains_key(&(from, tag))
                .then_some((from, tag))
        };
        if let Some(key) = found {
            let waiting = self.arrived.get_mut(&key)?;
            let (_, message) = waiting.pop_front()?;
            if waiting.is_empty() {
                self.arrived.remove(&key);
            }
            let (from, tag) = key;
            return Some(Arrival { from, tag, message });
        }
        if from == ANY || tag == ANY {
            self.open.push_back((number, from, tag, receive));
        } else {
            self.exact
                .entry((from, tag))
                .or_default()
                .push_back((number, receive));
        }
        None
    }

    /// A message arrives. Returns the receive that takes it if one is posted.
    pub fn arrive(&mut self, from: u32, tag: u32, message: M) -> Option<R> {
        let exact = self
            .exact
            .get(&(from, tag))
            .and_then(|posted| posted.front());
        let open = self
            .open
            .iter()
            .position(|&(_, rank, wanted, _)| fits(rank, from) && fits(wanted, tag));
        let is_open_first = match (exact, open) {
            (None, None) => {
                let number = self.number();
                self.arrived
                    .entry((from, tag))
                    .or_default()
                    .push_back((number, message));
                return None;
            }
            (None, Some(_)) => true,
            (Some(_), None) => false,
            (Some(&(number, _)), Some(place)) => self.open[place].0 < number,
        };
        if is_open_first {
            return self.open.remove(open?).map(|(.., receive)| receive);
        }
        let posted = self.exact.get_mut(&(from, tag))?;
        let (_, receive) = posted.pop_front()?;
        if posted.is_empty() {
            self.exact.remove(&(from, tag));
        }
        Some(receive)
    }

    /// Receives that wait, in order of posting: receive, rank, tag.
    pub fn waiting(&self) -> Vec<(R, u32, u32)> {
        let exact = self.exact.iter().flat_map(|(&(from, tag), posted)| {
            posted
                .iter()
                .map(move |&(number, receive)| (number, receive, from, tag))
        });
        let open = self
            .open
            .iter()
            .map(|&(number, from, tag, receive)| (number, receive, from, tag));
        let mut waiting: Vec<_> = exact.chain(open).collect();
        waiting.sort_by_key(|&(number, ..)| number);
        waiting
            .into_iter()
            .map(|(_, receive, from, tag)| (receive, from, tag))
            .collect()
    }

    /// Number of messages that no receive has taken.
    pub fn arrived(&self) -> usize {
        self.arrived.values().map(VecDeque::len).sum()
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn first_arrived(&self, from: u32, tag: u32) -> Option<(u32, u32)> {
        self.arrived
            .iter()
            .filter(|((rank, found), _)| fits(from, *rank) && fits(tag, *found))
            .min_by_key(|(_, waiting)| waiting.front().map(|&(number, _)| number))
            .map(|(&key, _)| key)
    }
}
