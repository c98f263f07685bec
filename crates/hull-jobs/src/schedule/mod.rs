//! A schedule as GOAL's binary form holds it: per rank the operations, the ones without dependencies,
//! and for each operation its successors. It stays on disk if it is large: a run reads the operations that it starts, through a
//! window for each rank.

mod check;
mod layout;
mod store;
mod writer;

use std::fs::File;

use crate::op::Op;
use crate::problem::Problem;
use layout::{NODE_BYTES, Node};
use store::Store;

pub(crate) use writer::RankBlock;
pub use writer::Writer;

/// What a schedule holds, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sends.
    pub sends: u64,
    /// Receives.
    pub receives: u64,
    /// Computations.
    pub computations: u64,
    /// Dependencies on the end of an operation.
    pub requires: u64,
    /// Dependencies on the start of an operation.
    pub irequires: u64,
    /// Bytes of all sends.
    pub send_bytes: u128,
}

/// Where the parts of a rank are, in bytes from the start of the store.
#[derive(Clone, Copy, Debug)]
struct Place {
    roots_at: u64,
    roots: u32,
    nodes_at: u64,
    nodes: u32,
    appendix_at: u64,
}

/// Operations of all ranks with their dependencies.
#[derive(Debug)]
pub struct Schedule {
    store: Store,
    ranks: Vec<Place>,
    cpus: u32,
    nics: u32,
    counts: Counts,
}

impl Schedule {
    /// Reads a schedule in GOAL's binary form that is in memory.
    ///
    /// # Errors
    /// What is not as the form says, with its byte; a cycle, with its rank.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, Problem> {
        Schedule::read(Store::memory(bytes))
    }

    /// Reads a file in GOAL's binary form, which stays on disk.
    ///
    /// # Errors
    /// As [`Schedule::from_bytes`], and the file system's.
    pub fn from_file(file: File) -> Result<Self, Problem> {
        Schedule::read(Store::file(file)?)
    }

    fn read(mut store: Store) -> Result<Self, Problem> {
        let header = layout::read_header(&mut store)?;
        store.reserve(header.places.len());
        let mut ranks = Vec::with_capacity(header.places.len());
        let mut counts = Counts::default();
        for (rank, &(start, end)) in header.places.iter().enumerate() {
            let place = layout::place(&mut store, rank, start, end)?;
            check::check_rank(&mut store, rank, &place, end, &header, &mut counts)?;
            ranks.push(place);
        }
        Ok(Schedule {
            store,
            ranks,
            cpus: u32::from(header.highest_cpu) + 1,
            nics: u32::from(header.highest_nic) + 1,
            counts,
        })
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// Processors of each rank: the highest that any operation names, plus 1.
    pub fn cpus(&self) -> u32 {
        self.cpus
    }

    /// Network interfaces of each rank.
    pub fn nics(&self) -> u32 {
        self.nics
    }

    /// What the schedule holds.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Number of operations of a rank.
    pub fn len(&self, rank: u32) -> u32 {
        self.ranks[rank as usize].nodes
    }

    /// Whether no rank has an operation.
    pub fn is_empty(&self) -> bool {
        self.ranks.iter().all(|place| place.nodes == 0)
    }

    /// The rank's operations that need nothing, in the order of the file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn roots(&mut self, rank: u32) -> Result<Vec<u32>, Problem> {
        let Place {
            roots_at, roots, ..
        } = self.ranks[rank as usize];
        self.store.numbers(rank, roots_at, roots)
    }

    /// An operation.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn op(&mut self, rank: u32, index: u32) -> Result<Op, Problem> {
        Ok(self.node(rank, index)?.op)
    }

    fn node(&mut self, rank: u32, index: u32) -> Result<Node, Problem> {
        let at = self.ranks[rank as usize].nodes_at + u64::from(index) * NODE_BYTES as u64;
        layout::read_node(&mut self.store, rank, at)
    }

    /// The operations that wait for this one's end.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn after_end(&mut self, rank: u32, index: u32) -> Result<Vec<u32>, Problem> {
        let node = self.node(rank, index)?;
        self.successors(rank, node.requires_at, node.requires)
    }

    /// The operations that wait for this one's start.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn after_start(&mut self, rank: u32, index: u32) -> Result<Vec<u32>, Problem> {
        let node = self.node(rank, index)?;
        self.successors(rank, node.irequires_at, node.irequires)
    }

    fn successors(&mut self, rank: u32, at: u32, count: u32) -> Result<Vec<u32>, Problem> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let at = self.ranks[rank as usize].appendix_at + 4 * u64::from(at);
        self.store.numbers(rank, at, count)
    }
}
