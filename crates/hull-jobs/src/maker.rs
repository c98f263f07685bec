//! A program that a reader makes of a file: within the number of operations that it may have, with what it leaves out counted.

use crate::choices::Choices;
use crate::collective::{Collective, Operation};
use crate::form::Form;
use crate::groups::{Division, Group};
use crate::job::Job;
use crate::problem::Problem;
use crate::program::{After, Program};
use crate::remarks::Remarks;

/// A program under construction.
#[derive(Debug)]
pub struct Maker {
    pub program: Program,
    pub remarks: Remarks,
    most: u64,
    operations: u64,
}

impl Maker {
    /// Begins a program; `place` is what gave its number of ranks.
    pub fn new(place: &str, ranks: u32, choices: &Choices) -> Result<Self, Problem> {
        let mut maker = Maker {
            program: Program::new(0),
            remarks: Remarks::default(),
            most: choices.most_operations,
            operations: 0,
        };
        maker.grow(place, u64::from(ranks))?;
        maker.program = Program::new(ranks);
        Ok(maker)
    }

    /// Says that operations will be added.
    pub fn grow(&mut self, place: &str, operations: u64) -> Result<(), Problem> {
        self.operations = self.operations.saturating_add(operations);
        if self.operations <= self.most {
            return Ok(());
        }
        let told = format!(
            "more than {} operations; expected a smaller job or fewer ranks",
            self.most
        );
        Err(Problem::new(place, told))
    }

    /// Adds a collective of `ranks`, on each after the given operation. Returns its last operation on each.
    pub fn collective(
        &mut self,
        place: &str,
        (name, operation, bytes): (&str, Operation, u64),
        ranks: &[u32],
        after: &[After],
    ) -> Result<Vec<After>, Problem> {
        self.grow(place, operations_of(operation, ranks.len() as u64))?;
        let what = Collective {
            operation,
            bytes,
            chunks: 1,
            channels: 1,
            per_server: 1,
        };
        Ok(self.program.collective(name, &what, ranks, after))
    }

    /// Adds the same collective of each group of a kind. `after` and the result have an operation for each rank of the job;
    /// no result if there is nothing to send.
    pub fn collectives(
        &mut self,
        place: &str,
        what: (Operation, u64),
        groups: (&Division, Group),
        after: &[After],
    ) -> Result<Option<Vec<After>>, Problem> {
        self.collectives_from(place, what, groups, 0, after)
    }

    /// Adds a collective of each group of a kind, whose ranks are in order from one member on.
    pub fn collectives_from(
        &mut self,
        place: &str,
        (operation, bytes): (Operation, u64),
        (division, group): (&Division, Group),
        member: u32,
        after: &[After],
    ) -> Result<Option<Vec<After>>, Problem> {
        if division.size(group) < 2 {
            let remark = format!(
                "collectives without messages, since a {} group has 1 rank",
                group.name()
            );
            self.remarks.add(&remark, 1);
            return Ok(None);
        }
        if bytes == 0 {
            self.remarks
                .add("collectives without messages, of 0 bytes", 1);
            return Ok(None);
        }
        let mut ends = after.to_vec();
        let name = format!("{}_{}", group.name(), operation.name());
        for mut ranks in division.groups(group) {
            ranks.rotate_left(member as usize);
            let first = Vec::from_iter(ranks.iter().map(|&rank| after[rank as usize]));
            let last = self.collective(place, (&name, operation, bytes), &ranks, &first)?;
            for (&rank, last) in ranks.iter().zip(last) {
                ends[rank as usize] = last;
            }
        }
        Ok(Some(ends))
    }

    /// Ends the program.
    pub fn finish(self, form: Form) -> Result<Job, Problem> {
        let (schedule, stages) = self.program.finish()?;
        Ok(Job {
            form,
            schedule,
            stages,
            remarks: self.remarks,
        })
    }
}

/// Operations of a collective of n ranks in one piece, at most.
fn operations_of(operation: Operation, n: u64) -> u64 {
    let messages = match operation {
        Operation::AllReduce(_) => 2 * n * n,
        Operation::ReduceScatter(_) | Operation::AllGather(_) | Operation::AllToAll(_) => n * n,
        Operation::Broadcast(_) | Operation::Reduce | Operation::SendReceive => n,
    };
    2 * messages + 2 * n
}
