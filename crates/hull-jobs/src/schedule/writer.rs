//! Writes a schedule in GOAL's binary form, rank after rank.

use std::io::{Seek, SeekFrom, Write};

use super::layout::{BASE, COOKIE, HEADER_BYTES, Node, write_node};
use crate::op::Op;
use crate::problem::Problem;

/// The operations of one rank and their dependencies.
#[derive(Debug, Default)]
pub struct RankBlock {
    ops: Vec<Op>,
    /// (successor, predecessor)
    requires: Vec<(u32, u32)>,
    irequires: Vec<(u32, u32)>,
}

impl RankBlock {
    /// Adds an operation and returns its index.
    pub fn push(&mut self, op: Op) -> u32 {
        self.ops.push(op);
        self.ops.len() as u32 - 1
    }

    /// Number of operations.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Lets `later` wait for the end of `earlier`.
    pub fn requires(&mut self, later: u32, earlier: u32) {
        self.requires.push((later, earlier));
        self.ops[later as usize].needs += 1;
    }

    /// Lets `later` wait for the start of `earlier`.
    pub fn irequires(&mut self, later: u32, earlier: u32) {
        self.irequires.push((later, earlier));
        self.ops[later as usize].needs += 1;
    }

    fn clear(&mut self) {
        self.ops.clear();
        self.requires.clear();
        self.irequires.clear();
    }

    /// Appends the rank's part to `out`.
    fn write(&mut self, out: &mut Vec<u8>) {
        // By predecessor; among its successors in the order of the file.
        self.requires.sort_by_key(|&(_, earlier)| earlier);
        self.irequires.sort_by_key(|&(_, earlier)| earlier);
        let roots = || (0_u32..).zip(&self.ops).filter(|(_, op)| op.needs == 0);
        out.extend((self.ops.len() as u32).to_le_bytes());
        out.extend((roots().count() as u32).to_le_bytes());
        for (index, _) in roots() {
            out.extend(index.to_le_bytes());
        }
        let mut appendix = Vec::new();
        let mut ends = self.requires.iter().peekable();
        let mut starts = self.irequires.iter().peekable();
        for (index, &op) in (0_u32..).zip(&self.ops) {
            let requires_at = (appendix.len() / 4) as u32;
            while let Some((later, _)) = ends.next_if(|&&(_, earlier)| earlier == index) {
                appendix.extend(later.to_le_bytes());
            }
            let irequires_at = (appendix.len() / 4) as u32;
            while let Some((later, _)) = starts.next_if(|&&(_, earlier)| earlier == index) {
                appendix.extend(later.to_le_bytes());
            }
            let node = Node {
                op,
                requires: irequires_at - requires_at,
                requires_at,
                irequires: (appendix.len() / 4) as u32 - irequires_at,
                irequires_at,
            };
            write_node(out, &node);
        }
        out.append(&mut appendix);
    }
}

/// Writes a schedule; holds one rank in memory.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    places: Vec<(u64, u64)>,
    ranks: u32,
    highest_cpu: u8,
    highest_nic: u8,
    at: u64,
    part: Vec<u8>,
}

impl<W: Write + Seek> Writer<W> {
    /// Begins a schedule of `ranks` ranks.
    pub fn new(mut out: W, ranks: u32) -> Result<Self, Problem> {
        let header = HEADER_BYTES + 16 * u64::from(ranks);
        // Written at the end; a file that was cut short has no cookie.
        out.seek(SeekFrom::Start(header))?;
        Ok(Writer {
            out,
            places: Vec::new(),
            ranks,
            highest_cpu: 0,
            highest_nic: 0,
            at: header,
            part: Vec::new(),
        })
    }

    /// Writes the next rank and empties it.
    pub fn write(&mut self, rank: &mut RankBlock) -> Result<(), Problem> {
        for op in &rank.ops {
            self.highest_cpu = self.highest_cpu.max(op.cpu);
            self.highest_nic = self.highest_nic.max(op.nic);
        }
        self.part.clear();
        rank.write(&mut self.part);
        rank.clear();
        self.out.write_all(&self.part)?;
        let end = self.at + self.part.len() as u64;
        self.places.push((self.at - BASE, end - BASE));
        self.at = end;
        Ok(())
    }

    /// Writes the header and returns the output.
    pub fn finish(mut self) -> Result<W, Problem> {
        debug_assert_eq!(self.places.len(), self.ranks as usize);
        let mut header = Vec::new();
        header.extend(COOKIE.to_le_bytes());
        header.extend(self.ranks.to_le_bytes());
        header.extend([self.highest_cpu, self.highest_nic]);
        for (start, end) in &self.places {
            header.extend(start.to_le_bytes());
            header.extend(end.to_le_bytes());
        }
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&header)?;
        self.out.flush()?;
        Ok(self.out)
    }
}
