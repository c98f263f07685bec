//! A schedule under construction: operations of all ranks, added in any order. A long one is made several times, and each
//! time the operations of some ranks are kept, so that memory holds these alone.

use std::fs::File;
use std::io::{BufWriter, Cursor, Seek, Write};
use std::ops::Range;

use crate::op::{Kind, Op};
use crate::problem::Problem;
use crate::schedule::{RankBlock, Schedule, Writer};

/// Processor that computes.
const COMPUTES: u8 = 0;
/// Processor that hands over messages, so that computations do not delay them.
const COMMUNICATES: u8 = 1;
/// Processor of what computes beside: delays, and the host's part of a trace.
const BESIDE: u8 = 2;

/// Operation of a rank, by its index; `None` is the begin of the job.
pub type After = Option<u32>;

/// A collective or another piece of a job whose times are reported. Its first and last operations on each rank are
/// computations of no time, which have the stage's number as their tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// What it is, such as `all_reduce`.
    pub name: String,
    /// Its number of ranks.
    pub ranks: u32,
    /// Its size as the collective's definition counts it, bytes.
    pub bytes: u64,
    /// Bus bandwidth over its size divided by its time, as numerator and denominator.
    pub bus_factor: (u32, u32),
}

/// Operations that are held in memory at once, at most.
const MOST_HELD: u64 = 4_000_000;

/// Operations of all ranks.
#[derive(Debug)]
pub struct Program {
    /// Ranks whose operations are kept, and these operations.
    kept: Range<u32>,
    blocks: Vec<RankBlock>,
    /// Operations of each rank, kept or not.
    lens: Vec<u32>,
    next_tag: u32,
    stages: Vec<Stage>,
}

impl Program {
    /// Begins a program of `ranks` ranks.
    pub fn new(ranks: u32) -> Self {
        Program::keeping(0..ranks, ranks)
    }

    /// Begins a program of `ranks` ranks that keeps the operations of some.
    fn keeping(kept: Range<u32>, ranks: u32) -> Self {
        Program {
            blocks: kept.clone().map(|_| RankBlock::default()).collect(),
            kept,
            lens: vec![0; ranks as usize],
            next_tag: 0,
            stages: Vec::new(),
        }
    }

    /// Makes the schedule of `ranks` ranks with some number of operations, which `add` adds; it does so again for each
    /// part of the ranks if there are many. A long schedule is in a temporary file without a name.
    ///
    /// # Errors
    /// A schedule that does not fit the binary form, or the file system's error.
    pub fn make(
        ranks: u32,
        operations: u64,
        mut add: impl FnMut(&mut Program),
    ) -> Result<(Schedule, Vec<Stage>), Problem> {
        if operations <= MOST_HELD {
            let mut program = Program::new(ranks);
            add(&mut program);
            return program.finish();
        }
        let at_once = u64::from(ranks) * MOST_HELD / operations;
        let at_once = u32::try_from(at_once).unwrap_or(ranks).max(1);
        let out = BufWriter::with_capacity(1 << 20, tempfile::tempfile()?);
        let mut writer = Writer::new(out, ranks)?;
        let mut stages = Vec::new();
        for first in (0..ranks).step_by(at_once as usize) {
            let end = ranks.min(first.saturating_add(at_once));
            let mut program = Program::keeping(first..end, ranks);
            add(&mut program);
            program.write(&mut writer)?;
            stages = program.stages;
        }
        let out = writer.finish()?.into_inner();
        let file: File = out.map_err(std::io::IntoInnerError::into_error)?;
        Ok((Schedule::from_file(file)?, stages))
    }

    /// Writes the operations that are kept.
    fn write<W: Write + Seek>(&mut self, writer: &mut Writer<W>) -> Result<(), Problem> {
        self.blocks
            .iter_mut()
            .try_for_each(|block| writer.write(block))
    }

    /// The first of `count` tags that no message has yet.
    pub(crate) fn tags(&mut self, count: u32) -> u32 {
        self.next_tag += count;
        self.next_tag - count
    }

    fn push(&mut self, rank: u32, op: Op, after: &[After]) -> u32 {
        let len = &mut self.lens[rank as usize];
        *len += 1;
        if !self.kept.contains(&rank) {
            return *len - 1;
        }
        let block = &mut self.blocks[(rank - self.kept.start) as usize];
        let index = block.push(op);
        let mut earlier: Vec<u32> = after.iter().copied().flatten().collect();
        earlier.sort_unstable();
        earlier.dedup();
        for earlier in earlier {
            block.requires(index, earlier);
        }
        index
    }

    /// Adds a send of `rank`.
    pub(crate) fn send(
        &mut self,
        (rank, to): (u32, u32),
        bytes: u64,
        tag: u32,
        after: &[After],
    ) -> u32 {
        let op = message(Kind::Send, to, bytes, tag);
        self.push(rank, op, after)
    }

    /// Adds a receive of `rank`.
    pub(crate) fn receive(
        &mut self,
        (rank, from): (u32, u32),
        bytes: u64,
        tag: u32,
        after: &[After],
    ) -> u32 {
        let op = message(Kind::Receive, from, bytes, tag);
        self.push(rank, op, after)
    }

    /// Adds a computation of `rank`.
    pub(crate) fn compute(&mut self, rank: u32, ns: u64, after: &[After]) -> u32 {
        self.push(rank, computation(ns, COMPUTES, 0), after)
    }

    /// Adds an operation of `rank` that takes no time, beside its computations.
    pub(crate) fn join(&mut self, rank: u32, after: &[After]) -> u32 {
        self.push(rank, computation(0, COMMUNICATES, 0), after)
    }

    /// Begins a stage on these ranks. Returns its number and its first operations.
    pub(crate) fn begin(
        &mut self,
        stage: Stage,
        ranks: &[u32],
        after: &[After],
    ) -> (u32, Vec<After>) {
        self.stages.push(stage);
        let number = self.stages.len() as u32;
        let first = ranks.iter().zip(after).map(|(&rank, &after)| {
            Some(self.push(rank, computation(0, COMMUNICATES, 2 * number - 1), &[after]))
        });
        let first = first.collect();
        (number, first)
    }

    /// Ends a stage on these ranks after the given operations of each. Returns its last operations.
    pub(crate) fn end(&mut self, number: u32, ranks: &[u32], after: &[Vec<After>]) -> Vec<After> {
        let last = ranks.iter().zip(after).map(|(&rank, after)| {
            Some(self.push(rank, computation(0, COMMUNICATES, 2 * number), after))
        });
        last.collect()
    }

    /// Adds a computation of `rank` that does not keep its accelerator busy.
    pub(crate) fn compute_beside(&mut self, rank: u32, ns: u64, after: &[After]) -> u32 {
        self.push(rank, computation(ns, BESIDE, 0), after)
    }

    /// Lets an operation of `rank` wait for the end of another one.
    pub(crate) fn requires(&mut self, rank: u32, later: u32, earlier: u32) {
        self.blocks[rank as usize].requires(later, earlier);
    }

    /// Ends the program.
    ///
    /// # Errors
    /// A schedule that does not fit the binary form.
    pub fn finish(mut self) -> Result<(Schedule, Vec<Stage>), Problem> {
        let out = Cursor::new(Vec::new());
        let mut writer = Writer::new(out, self.blocks.len() as u32)?;
        self.write(&mut writer)?;
        let schedule = Schedule::from_bytes(writer.finish()?.into_inner())?;
        Ok((schedule, self.stages))
    }
}

/// The stage of a computation with this tag, counted from 0, and whether it ends with it; `None` if it is none of them.
pub fn stage_of(tag: u32) -> Option<(usize, bool)> {
    let before = tag.checked_sub(1)?;
    Some((before as usize / 2, before % 2 == 1))
}

fn message(kind: Kind, peer: u32, size: u64, tag: u32) -> Op {
    Op {
        kind,
        size,
        peer,
        tag,
        cpu: COMMUNICATES,
        nic: 0,
        needs: 0,
    }
}

fn computation(ns: u64, cpu: u8, tag: u32) -> Op {
    Op {
        kind: Kind::Compute,
        size: ns,
        peer: 0,
        tag,
        cpu,
        nic: 0,
        needs: 0,
    }
}
