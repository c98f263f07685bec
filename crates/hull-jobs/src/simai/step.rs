//! A training step of the layers, in the order of SimAI (`iterate_hybrid_parallel_Transformer_fwd_in_bckwd` of its `Workload.cc`): forward
//! passes from the first layer to the last, then for each layer from the last to the first its input gradient and its weight
//! gradient. Forward pass and input gradient wait for their collective, a weight gradient does not; the step ends with
//! all of them.

use std::collections::BTreeMap;

use super::{Exchange, Layer, Phase, Workload};
use crate::choices::Choices;
use crate::collective::{AllReduce, AllToAll, Halves, Operation};
use crate::form::Form;
use crate::groups::{Division, Group};
use crate::job::Job;
use crate::maker::Maker;
use crate::problem::Problem;
use crate::program::After;

/// Makes a step of a workload: rings for all-reduce, all-gather and reduce-scatter, pairwise all-to-alls.
///
/// # Errors
/// A division that does not fit the number of ranks; too many operations.
pub fn job(workload: &Workload, choices: &Choices) -> Result<Job, Problem> {
    let division = divide(workload, choices)?;
    let ranks = division.ranks();
    let mut maker = Maker::new("line 1", ranks, choices)?;
    if choices.ranks.or(workload.ranks).is_none() {
        let remark =
            "ranks, the fewest with which each collective has two; the file names no number";
        maker.remarks.add(remark, u64::from(ranks));
    }
    for (key, _) in &workload.unused {
        maker
            .remarks
            .add(&format!("word `{key}` without effect"), 1);
    }
    let dependencies = workload
        .layers
        .iter()
        .filter(|layer| layer.dependency != -1);
    let dependencies = dependencies.count() as u64;
    maker.remarks.add(
        "dependencies of layers, which SimAI does not use",
        dependencies,
    );
    maker
        .remarks
        .add("words behind the last layer", workload.words_behind);
    let mut step = Step {
        maker,
        division,
        last: vec![None; ranks as usize],
        under_way: BTreeMap::new(),
    };
    for layer in &workload.layers {
        step.blocking(layer, &layer.forward)?;
    }
    for (number, layer) in workload.layers.iter().enumerate().rev() {
        let number = number as u32;
        if workload.initiates.contains(&number) {
            step.forward_again(workload, number)?;
        }
        step.blocking(layer, &layer.input_gradient)?;
        step.weight_gradient(layer)?;
    }
    step.maker.finish(Form::SimaiText)
}

fn divide(workload: &Workload, choices: &Choices) -> Result<Division, Problem> {
    let tensor = workload.tensor.unwrap_or(1);
    let expert = workload.expert.unwrap_or(1);
    let pipeline = workload.pipeline.unwrap_or(1);
    let stages = u64::from(tensor) * u64::from(pipeline);
    let ranks = match choices.ranks.or(workload.ranks) {
        Some(ranks) => u64::from(ranks),
        None => {
            let phases =
                |layer: &Layer| [layer.forward, layer.input_gradient, layer.weight_gradient];
            let uses = |group| {
                let mut phases = workload.layers.iter().flat_map(phases);
                phases.any(|phase| phase.operation().is_some() && phase.group == group)
            };
            let apart = if uses(Group::ExpertData) { 2 } else { 1 };
            let data = (apart * u64::from(expert)).max(if uses(Group::Data) { 2 } else { 1 });
            stages.saturating_mul(data)
        }
    };
    let data = ranks / stages.max(1);
    if ranks == 0 || ranks % stages != 0 || data % u64::from(expert) != 0 {
        let told = format!(
            "{ranks} ranks with {tensor} of a tensor group, {pipeline} stages and {expert} of an expert group; \
             expected a multiple of {stages}, and of {} with the experts",
            stages.saturating_mul(u64::from(expert))
        );
        return Err(Problem::new("line 1", told));
    }
    let too_many = |_| Problem::new("line 1", format!("{ranks} ranks; expected fewer than 2^32"));
    u32::try_from(ranks).map_err(too_many)?;
    Ok(Division {
        tensor,
        expert,
        data: data as u32,
        pipeline,
    })
}

impl Phase {
    /// The collective, if there is one.
    fn operation(&self) -> Option<Operation> {
        match self.exchange {
            Exchange::None | Exchange::Broadcast => None,
            Exchange::AllReduce => Some(Operation::AllReduce(AllReduce::Ring)),
            Exchange::AllGather => Some(Operation::AllGather(Halves::Ring)),
            Exchange::ReduceScatter => Some(Operation::ReduceScatter(Halves::Ring)),
            Exchange::AllToAll => Some(Operation::AllToAll(AllToAll::Pairwise)),
        }
    }
}

struct Step {
    maker: Maker,
    division: Division,
    /// What each rank's next computation waits for.
    last: Vec<After>,
    /// Per group, the last collective on each rank that nothing has waited for: the next one of the group does.
    under_way: BTreeMap<Group, Vec<After>>,
}

impl Step {
    fn each_rank(&mut self, layer: &Layer) -> Result<(), Problem> {
        let ranks = self.last.len() as u64;
        self.maker.grow(&place(layer), ranks)
    }

    fn compute(&mut self, layer: &Layer, ns: u64) -> Result<(), Problem> {
        if ns == 0 {
            return Ok(());
        }
        self.each_rank(layer)?;
        for (rank, last) in (0..).zip(&mut self.last) {
            *last = Some(self.maker.program.compute(rank, ns, &[*last]));
        }
        Ok(())
    }

    /// Adds the collective of a phase after its computation, and the delay behind it. Returns its end on each rank.
    fn collective(&mut self, layer: &Layer, phase: &Phase) -> Result<Option<Vec<After>>, Problem> {
        let Some(operation) = phase.operation() else {
            let broadcasts = u64::from(phase.exchange == Exchange::Broadcast);
            let remark = "broadcasts without messages, which SimAI takes as none";
            self.maker.remarks.add(remark, broadcasts);
            return Ok(None);
        };
        let mut after = self.last.clone();
        if let Some(before) = self.under_way.remove(&phase.group) {
            self.each_rank(layer)?;
            for (rank, (after, before)) in (0..).zip(after.iter_mut().zip(before)) {
                *after = Some(self.maker.program.join(rank, &[*after, before]));
            }
        }
        let what = (operation, phase.bytes);
        let groups = (&self.division, phase.group);
        let ends = self
            .maker
            .collectives(&place(layer), what, groups, &after)?;
        let Some(mut ends) = ends else {
            return Ok(None);
        };
        if layer.update_ns > 0 {
            self.each_rank(layer)?;
            for (rank, end) in (0..).zip(&mut ends) {
                let program = &mut self.maker.program;
                *end = Some(program.compute_beside(rank, layer.update_ns, &[*end]));
            }
        }
        Ok(Some(ends))
    }

    /// Adds a phase; what follows waits for its collective.
    fn blocking(&mut self, layer: &Layer, phase: &Phase) -> Result<(), Problem> {
        self.compute(layer, phase.compute_ns)?;
        if let Some(ends) = self.collective(layer, phase)? {
            self.last = ends;
        }
        Ok(())
    }

    fn weight_gradient(&mut self, layer: &Layer) -> Result<(), Problem> {
        let phase = &layer.weight_gradient;
        self.compute(layer, phase.compute_ns)?;
        if let Some(ends) = self.collective(layer, phase)? {
            self.under_way.insert(phase.group, ends);
        }
        Ok(())
    }

    /// Adds the forward passes from the last checkpoint to before a layer.
    fn forward_again(&mut self, workload: &Workload, layer: u32) -> Result<(), Problem> {
        let kept = workload.checkpoints.iter().filter(|&&kept| kept <= layer);
        let Some(&first) = kept.max() else {
            let told = format!(
                "`checkpoint_initiates` has layer {layer}; expected one of `checkpoints` at it or before"
            );
            return Err(Problem::new("line 1", told));
        };
        for layer in &workload.layers[first as usize..layer as usize] {
            self.blocking(layer, &layer.forward)?;
        }
        Ok(())
    }
}

fn place(layer: &Layer) -> String {
    format!("line {}", layer.line)
}
