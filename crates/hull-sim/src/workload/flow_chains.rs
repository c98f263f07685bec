//! Flows of a list that wait for others, and flows that share a persistent connection: the columns
//! `after` and `reuse`.
//!
//! `after` lists row numbers, from 1, separated by blanks: the flow starts when the senders of all
//! these flows have received the acknowledgment of their last byte, and its `start_ps` counts from
//! then. Rows with the same text in `reuse` are messages of one connection, which has two ends.

use std::collections::HashMap;

use super::flow_list::ListedFlow;
use super::flow_list_rows::{AFTER, CellProblem, REUSE};
use crate::memory::block_of;
use crate::quote;

/// Contents of a row's cells in these columns; empty cells add nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Chained {
    pub after: Vec<u32>,
    /// Number of the persistent connection.
    pub connection: Option<u32>,
}

/// Parses the row numbers in a cell of `after`.
pub(super) fn rows_named(text: &str) -> Result<Vec<u32>, CellProblem> {
    let number = |word: &str| word.parse().ok().filter(|&row| row > 0);
    let rows: Option<Vec<u32>> = text.split_ascii_whitespace().map(number).collect();
    rows.ok_or_else(|| {
        let told = format!(
            "{} is invalid; expected numbers of rows, from 1, with blanks between them, or an empty cell",
            quote::text(text)
        );
        (AFTER, told)
    })
}

/// Persistent connections of a list, by their labels.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    numbers: HashMap<String, u32>,
    /// Ends and transport of each connection, and the switch that its data must pass.
    pub ends: Vec<(u32, u32)>,
    pub transports: Vec<u16>,
    vias: Vec<Option<u32>>,
}

impl Shared {
    /// Number of the connection with this label. It has the ends, the transport and the switch of its
    /// first flow.
    pub fn number(
        &mut self,
        label: &str,
        flow: &ListedFlow,
        (transport, via): (u16, Option<u32>),
    ) -> Result<u32, CellProblem> {
        let ends = (flow.src, flow.dst);
        let next = self.ends.len() as u32;
        let number = *self.numbers.entry(label.to_owned()).or_insert(next);
        if number == next {
            self.ends.push(ends);
            self.transports.push(transport);
            self.vias.push(via);
        }
        let (first, second) = self.ends[number as usize];
        let is_same = ends == (first, second) || ends == (second, first);
        let is_same = is_same && self.transports[number as usize] == transport;
        if is_same && self.vias[number as usize] == via {
            return Ok(number);
        }
        let told = format!(
            "{} is invalid; expected another text: a row before has this one with other hosts, another transport or another via",
            quote::text(label)
        );
        Err((REUSE, told))
    }
}

/// Number of flows that a flow waits for if one of them will not start.
const NEVER: u32 = u32::MAX;

/// Dependencies between flows, given by their places in the sorted list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chains {
    /// Number of flows that each flow still waits for; empty if there are no dependencies.
    waits: Vec<u32>,
    /// Flows that wait for a flow.
    followers: HashMap<u32, Vec<u32>>,
}

impl Chains {
    /// Memory of the dependencies, bytes.
    pub(super) fn heap_bytes(&self) -> u64 {
        let of_lists = self.followers.values();
        let of_lists = of_lists.map(|rows| block_of::<u32>(rows.len()));
        block_of::<u32>(self.waits.len())
            + block_of::<(u32, Vec<u32>)>(self.followers.len())
            + of_lists.sum::<u64>()
    }

    /// Creates the dependencies from the rows that each row waits for, in the order of the file,
    /// and each row's place in the list. Empty if no row waits.
    pub(super) fn new(after: &[Vec<u32>], places: &[u32]) -> Result<Self, String> {
        if after.iter().all(Vec::is_empty) {
            return Ok(Chains::default());
        }
        let mut chains = Chains {
            waits: vec![0; after.len()],
            followers: HashMap::new(),
        };
        for (row, needed) in after.iter().enumerate() {
            let mut needed = needed.clone();
            needed.sort_unstable();
            needed.dedup();
            for before in needed {
                let Some(&place) = places.get(before as usize - 1) else {
                    return Err(format!(
                        "row {}, column {AFTER}: {before} is invalid; expected rows from 1 to {}",
                        row + 1,
                        after.len()
                    ));
                };
                chains.followers.entry(place).or_default().push(places[row]);
                chains.waits[places[row] as usize] += 1;
            }
        }
        chains.check_ends(places)?;
        Ok(chains)
    }

    /// Rejects rows that wait for each other.
    fn check_ends(&self, places: &[u32]) -> Result<(), String> {
        let mut trial = self.clone();
        let mut free = Vec::from_iter((0..).zip(&self.waits).filter(|(_, n)| **n == 0));
        let mut free: Vec<u32> = free.drain(..).map(|(place, _)| place).collect();
        while let Some(place) = free.pop() {
            free.extend(trial.acked(place));
        }
        let stuck = |&&place: &&u32| trial.waits[place as usize] > 0;
        match places
            .iter()
            .find(stuck)
            .and_then(|at| places.iter().position(|p| p == at))
        {
            Some(row) => Err(format!(
                "row {}, column {AFTER}: the row waits for itself; expected rows that start without it",
                row + 1
            )),
            None => Ok(()),
        }
    }

    /// Whether there are no dependencies.
    pub fn is_empty(&self) -> bool {
        self.waits.is_empty()
    }

    /// Whether a flow starts at its time without waiting for others.
    pub fn is_free(&self, place: usize) -> bool {
        self.waits.get(place).is_none_or(|&waits| waits == 0)
    }

    /// Takes away the flows that wait, directly or not, for a flow that will not start. Returns
    /// their number.
    pub fn give_up(&mut self, place: u32) -> usize {
        let (mut lost, mut next) = (0, vec![place]);
        while let Some(place) = next.pop() {
            for follower in self.followers.remove(&place).unwrap_or_default() {
                // A flow that waits for several is given up once, and never starts.
                let waits = &mut self.waits[follower as usize];
                if *waits != NEVER {
                    *waits = NEVER;
                    lost += 1;
                    next.push(follower);
                }
            }
        }
        lost
    }

    /// Processes the completion of a flow at its sender. Returns the flows that then wait for
    /// nothing more.
    pub fn acked(&mut self, place: u32) -> Vec<u32> {
        let mut ready = self.followers.remove(&place).unwrap_or_default();
        ready.retain(|&follower| {
            let waits = &mut self.waits[follower as usize];
            if *waits == NEVER {
                return false;
            }
            *waits -= 1;
            *waits == 0
        });
        ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flow_starts_after_all_its_dependencies() {
        // Rows 1 to 4 of the file are list entries 2, 0, 3, 1; row 4 waits for 1 and 2, 3 for 4.
        let after = [vec![], vec![], vec![4], vec![2, 1, 2]];
        let mut chains = Chains::new(&after, &[2, 0, 3, 1]).expect("good");
        assert!(chains.is_free(0) && chains.is_free(2) && !chains.is_free(1) && !chains.is_free(3));
        assert!(chains.acked(2).is_empty());
        assert_eq!(chains.acked(0), [1]);
        assert_eq!(chains.acked(1), [3]);
        assert!(
            Chains::new(&[vec![], vec![]], &[0, 1])
                .expect("good")
                .is_empty()
        );
    }

    #[test]
    fn circular_dependencies_are_rejected() {
        let problem = Chains::new(&[vec![], vec![3], vec![2]], &[0, 1, 2]).expect_err("a ring");
        assert!(
            problem.starts_with("row 2, column after: the row waits for itself"),
            "{problem}"
        );
        let problem = Chains::new(&[vec![], vec![9]], &[0, 1]).expect_err("too far");
        assert!(
            problem.contains("9 is invalid; expected rows from 1 to 2"),
            "{problem}"
        );
        let (column, problem) = rows_named("1 x").expect_err("no number");
        assert_eq!(column, "after");
        assert!(problem.contains("\"1 x\" is invalid"), "{problem}");
    }
}
