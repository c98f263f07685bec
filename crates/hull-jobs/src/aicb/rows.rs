//! The rows on each rank, one after another: a row waits for the one before on the same rank.

use std::collections::BTreeMap;

use super::{Call, Pass, Row, Table};
use crate::choices::Choices;
use crate::collective::{AllReduce, AllToAll, Broadcast, Halves, Operation};
use crate::form::Form;
use crate::groups::{Division, Group};
use crate::job::Job;
use crate::maker::Maker;
use crate::problem::Problem;
use crate::program::After;

/// Makes a job of a table: rings for all-reduce, all-gather and reduce-scatter, pairwise all-to-alls, binomial trees for
/// broadcast and reduce.
///
/// # Errors
/// Groups that do not fit each other or the number of ranks; too many operations.
pub fn job(table: &Table, choices: &Choices) -> Result<Job, Problem> {
    let division = divide(table, choices)?;
    let ranks = division.ranks();
    let has = |pass| table.rows.iter().any(|row| row.call == Call::Pass(pass));
    let mut rows = Rows {
        maker: Maker::new("", ranks, choices)?,
        division,
        last: vec![None; ranks as usize],
        sends_next: has(Pass::SendNext),
        sends_previous: has(Pass::SendPrevious),
    };
    for row in &table.rows {
        for _ in 0..row.count {
            // A row without operations counts too, so that no count takes for ever.
            rows.maker.grow(&place(row), 1)?;
            rows.add(row)?;
        }
    }
    rows.maker.finish(Form::AicbTable)
}

/// Finds how the ranks are divided from the sizes of the groups.
fn divide(table: &Table, choices: &Choices) -> Result<Division, Problem> {
    // A message between stages names 1 rank, not the pipeline's.
    let is_group = |row: &&Row| !matches!(row.call, Call::Pass(_));
    let mut sizes: BTreeMap<Group, (u32, u64)> = BTreeMap::new();
    for row in table.rows.iter().filter(is_group) {
        let (Some(group), Some(size)) = (row.group, row.group_size) else {
            continue;
        };
        let (known, line) = *sizes.entry(group).or_insert((size, row.line));
        if known != size {
            let told = format!("{size} ranks of a group; expected {known}, as in line {line}");
            return Err(Problem::new(format!("line {}", row.line), told));
        }
    }
    let size = |group| sizes.get(&group).map(|&(size, _)| size);
    let ranks = choices.ranks.or(table.ranks);
    let expert = size(Group::Expert).unwrap_or(1);
    let tensor = size(Group::Tensor)
        .or(size(Group::ExpertTensor).map(|both| both / expert))
        .unwrap_or(1);
    let of_data =
        size(Group::Data).or(size(Group::ExpertData).and_then(|apart| apart.checked_mul(expert)));
    let pipeline = size(Group::Pipeline).or_else(|| {
        let stage = u64::from(tensor.max(1)) * u64::from(of_data?);
        u32::try_from(u64::from(ranks?) / stage).ok()
    });
    let pipeline = pipeline.unwrap_or(1).max(1);
    let stages = u64::from(tensor) * u64::from(pipeline);
    let data = match (of_data, ranks.or(size(Group::All))) {
        (Some(data), _) => u64::from(data),
        (None, Some(ranks)) => u64::from(ranks) / stages.max(1),
        (None, None) => 1,
    };
    let all = stages.saturating_mul(data);
    if all == 0
        || data % u64::from(expert) != 0
        || ranks.is_some_and(|ranks| u64::from(ranks) != all)
    {
        let ranks = ranks.map_or("the job's".to_owned(), |ranks| ranks.to_string());
        let told = format!(
            "{ranks} ranks, with groups of {tensor} (tensor), {data} (data), {pipeline} (pipeline) and {expert} (experts); \
             expected their product, and experts within the data group"
        );
        return Err(Problem::new("", told));
    }
    let too_many = |_| Problem::new("", format!("{all} ranks; expected fewer than 2^32"));
    u32::try_from(all).map_err(too_many)?;
    let division = Division {
        tensor,
        expert,
        data: data as u32,
        pipeline,
    };
    for (&group, &(size, line)) in &sizes {
        // DeepSpeed's tables write the data group's size for all ranks.
        if division.size(group) != size && group != Group::All {
            let told = format!(
                "{size} ranks of a group `{}`; expected {}, by the sizes of the others",
                group.name(),
                division.size(group)
            );
            return Err(Problem::new(format!("line {line}"), told));
        }
    }
    Ok(division)
}

struct Rows {
    maker: Maker,
    division: Division,
    /// Last operation of each rank.
    last: Vec<After>,
    /// Whether the table sends to the next stage, so that its receives from the one before are the same messages.
    sends_next: bool,
    sends_previous: bool,
}

impl Rows {
    fn add(&mut self, row: &Row) -> Result<(), Problem> {
        let what = match row.call {
            Call::AllReduce => Operation::AllReduce(AllReduce::Ring),
            Call::AllGather => Operation::AllGather(Halves::Ring),
            Call::ReduceScatter => Operation::ReduceScatter(Halves::Ring),
            Call::AllToAll => Operation::AllToAll(AllToAll::Pairwise),
            Call::Broadcast => Operation::Broadcast(Broadcast::Binomial),
            Call::Reduce(member) => return self.reduce(row, member),
            Call::Barrier => {
                let barrier = Operation::AllReduce(AllReduce::RecursiveDoubling);
                return self.collective(row, barrier, 1);
            }
            Call::Pass(pass) => return self.pass(row, pass),
            Call::Computation => return self.compute(row),
            Call::EpochEnd => return Ok(()),
        };
        self.collective(row, what, row.bytes)
    }

    fn collective(&mut self, row: &Row, operation: Operation, bytes: u64) -> Result<(), Problem> {
        let measured = u64::from(row.time_ns.is_some());
        self.maker
            .remarks
            .add("measured times of collectives, not used", measured);
        let Some(group) = row.group else {
            return Ok(());
        };
        let groups = (&self.division, group);
        let what = (operation, bytes);
        let ends = self
            .maker
            .collectives(&place(row), what, groups, &self.last)?;
        self.last = ends.unwrap_or(std::mem::take(&mut self.last));
        Ok(())
    }

    fn compute(&mut self, row: &Row) -> Result<(), Problem> {
        let ns = row.time_ns.unwrap_or_default();
        if ns == 0 {
            self.maker.remarks.add("computations without a time", 1);
            return Ok(());
        }
        self.maker.grow(&place(row), self.last.len() as u64)?;
        for (rank, last) in (0..).zip(&mut self.last) {
            *last = Some(self.maker.program.compute(rank, ns, &[*last]));
        }
        Ok(())
    }

    /// Sums at a member of each group: the one that is first in the tree.
    fn reduce(&mut self, row: &Row, member: u32) -> Result<(), Problem> {
        let Some(group) = row.group else {
            return Ok(());
        };
        let size = self.division.size(group);
        if member >= size {
            let told = format!("`dst` {member}; expected a member from 0 to {}", size - 1);
            return Err(Problem::new(place(row), told));
        }
        let groups = (&self.division, group);
        let what = (Operation::Reduce, row.bytes);
        let ends = self
            .maker
            .collectives_from(&place(row), what, groups, member, &self.last)?;
        self.last = ends.unwrap_or(std::mem::take(&mut self.last));
        Ok(())
    }

    /// Sends from each stage to the next, or back. All ranks do the same rows, so the others receive in the same row.
    fn pass(&mut self, row: &Row, pass: Pass) -> Result<(), Problem> {
        let is_forward = matches!(pass, Pass::SendNext | Pass::ReceivePrevious);
        let is_twice = match pass {
            Pass::SendNext | Pass::SendPrevious => false,
            Pass::ReceivePrevious => self.sends_next,
            Pass::ReceiveNext => self.sends_previous,
        };
        if is_twice {
            let remark = "receives between stages, which are the sends of other rows";
            self.maker.remarks.add(remark, 1);
            return Ok(());
        }
        let ranks = self.division.ranks();
        let stage = self.division.tensor * self.division.data;
        if ranks == stage {
            self.maker
                .remarks
                .add("messages between stages of a pipeline of one", 1);
            return Ok(());
        }
        self.maker.grow(&place(row), 3 * u64::from(ranks))?;
        let mut done: Vec<Vec<After>> = vec![Vec::new(); ranks as usize];
        for lower in 0..ranks - stage {
            let upper = lower + stage;
            let (from, to) = if is_forward {
                (lower, upper)
            } else {
                (upper, lower)
            };
            let program = &mut self.maker.program;
            let tag = program.tags(1);
            let before = &self.last;
            let sent = program.send((from, to), row.bytes, tag, &[before[from as usize]]);
            let got = program.receive((to, from), row.bytes, tag, &[before[to as usize]]);
            done[from as usize].push(Some(sent));
            done[to as usize].push(Some(got));
        }
        for (rank, (last, done)) in (0..).zip(self.last.iter_mut().zip(done)) {
            *last = match done[..] {
                [one] => one,
                [] | [_, _, ..] => Some(self.maker.program.join(rank, &done)),
            };
        }
        Ok(())
    }
}

fn place(row: &Row) -> String {
    format!("line {}", row.line)
}
