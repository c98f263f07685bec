//! A training job: steps of a transformer, divided by tensor, pipeline, data and experts. Ranks are numbered as Megatron
//! does: within a tensor group first, then by data, then by stage of the pipeline. A pipeline does one forward and one
//! backward pass in turn (1F1B). Times ns, sizes bytes.

mod model;
mod passes;
#[cfg(test)]
mod tests;

pub use model::Model;

use crate::collective::{AllReduce, AllToAll, Collective, Operation};
use crate::problem::Problem;
use crate::program::{After, Program, Stage};
use crate::schedule::Schedule;
use passes::Passes;

/// A job's division and times.
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// What is trained.
    pub model: Model,
    /// Ranks of a tensor group (t).
    pub tensor: u32,
    /// Stages of a pipeline (p).
    pub pipeline: u32,
    /// Ranks of a data group (d).
    pub data: u32,
    /// Ranks of an expert group, within a data group (x); 1 without experts.
    pub expert: u32,
    /// Micro-batches of each pipeline in a step (m).
    pub micro_batches: u32,
    /// Steps.
    pub steps: u32,
    /// Time of a layer's forward pass for a micro-batch on a rank, without communication, ns.
    pub forward_ns: f64,
    /// Time of its backward pass, ns.
    pub backward_ns: f64,
    /// Time of the logits' forward pass on a rank of the last stage, ns; backward takes twice as long.
    pub logits_ns: f64,
    /// Time of an all-reduce of a tensor group that stays in its server, ns; `None` if it uses the network.
    pub tensor_inside_ns: Option<f64>,
    /// Whether gradients are reduced layer by layer during the last backward pass, or all after it.
    pub overlap: bool,
    /// Equal shares of each collective with messages of their own.
    pub channels: u32,
    /// Algorithm of all-reduces of gradients.
    pub gradients: AllReduce,
    /// Algorithm of the experts' all-to-alls.
    pub dispatch: AllToAll,
    /// Ranks of a server, for hierarchical algorithms.
    pub per_server: u32,
}

impl Training {
    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.tensor * self.data * self.pipeline
    }

    /// Layers of each stage.
    fn layers_of_stage(&self) -> u32 {
        self.model.layers / self.pipeline
    }

    fn rank(&self, tensor: u32, data: u32, stage: u32) -> u32 {
        tensor + self.tensor * (data + self.data * stage)
    }

    /// Bytes of gradients that each data group of ranks reduces in a step, by rank: P/(t p) elements.
    pub fn gradient_bytes(&self) -> u64 {
        let divided = u64::from(self.tensor * self.pipeline);
        self.model.gradient_bytes * self.model.shared_parameters() / divided
    }

    /// Bytes of the experts' gradients that the ranks with the same experts reduce in a step.
    pub fn expert_gradient_bytes(&self) -> u64 {
        let divided = u64::from(self.tensor * self.pipeline * self.expert);
        self.model.gradient_bytes * self.model.expert_parameters() / divided
    }

    /// Number of operations of all ranks, at most.
    pub fn operations(&self) -> u64 {
        let Training {
            tensor,
            data,
            expert,
            channels,
            ..
        } = *self;
        let of = |messages: u32| (2 * u64::from(messages) + 2).saturating_mul(channels.into());
        let tensors = match (tensor, self.tensor_inside_ns) {
            (1, _) | (_, Some(_)) => 0,
            _ => 2 * of(2 * (tensor - 1)),
        };
        let experts = if expert > 1 { 2 * of(expert) } else { 0 };
        let layers = u64::from(self.layers_of_stage());
        let of_pass = layers.saturating_mul(2 + tensors + experts) + 4;
        let passes = 2 * u64::from(self.micro_batches);
        let gradients = layers.saturating_mul(2 * (of(4 * data) + 1));
        let of_step = passes.saturating_mul(of_pass).saturating_add(gradients);
        let steps = u64::from(self.ranks()).saturating_mul(self.steps.into());
        steps.saturating_mul(of_step + 1)
    }

    /// The job's schedule and its collectives; `jitter` gives a function that is asked for each computation, a factor of its
    /// time.
    ///
    /// # Errors
    /// As [`Program::make`].
    pub fn schedule<J: FnMut() -> f64>(
        &self,
        mut jitter: impl FnMut() -> J,
    ) -> Result<(Schedule, Vec<Stage>), Problem> {
        let ranks = self.ranks();
        Program::make(ranks, self.operations(), |program| {
            let mut passes = Passes::new(self, program, jitter());
            let mut last: Vec<After> = vec![None; ranks as usize];
            for _ in 0..self.steps {
                last = passes.step(&last);
            }
        })
    }

    fn collective(&self, operation: Operation, bytes: u64) -> Collective {
        Collective {
            operation,
            bytes,
            chunks: 1,
            channels: self.channels,
            per_server: self.per_server,
        }
    }
}
