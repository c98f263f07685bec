//! SimAI's layer text (the text form of ASTRA-sim before its version 2): how a training step is divided, and for each layer of a model what
//! forward pass, input gradient and weight gradient compute and communicate. Times ns, sizes bytes.

mod step;
#[cfg(test)]
mod tests;
mod words;

pub use step::job;
pub use words::read;

use crate::groups::Group;

/// How the layers are trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parallelism {
    /// Collectives one after another (`MICRO`); no words follow.
    Micro,
    /// A transformer (`HYBRID_TRANSFORMER`).
    Transformer,
    /// A transformer that computes activations again (`HYBRID_TRANSFORMER_FWD_IN_BCKWD`).
    TransformerForwardInBackward,
}

/// What a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// How the layers are trained.
    pub parallelism: Parallelism,
    /// Ranks of a tensor group (`model_parallel_NPU_group`).
    pub tensor: Option<u32>,
    /// Ranks of an expert group (`ep`).
    pub expert: Option<u32>,
    /// Stages of a pipeline (`pp`).
    pub pipeline: Option<u32>,
    /// All ranks (`all_gpus`).
    pub ranks: Option<u32>,
    /// Layers, from 0, whose activations are kept (`checkpoints`).
    pub checkpoints: Vec<u32>,
    /// Layers whose input gradient begins with the forward passes since the last checkpoint (`checkpoint_initiates`).
    pub initiates: Vec<u32>,
    /// Words of the first line that have no effect, with their values.
    pub unused: Vec<(String, u64)>,
    /// The layers.
    pub layers: Vec<Layer>,
    /// Words behind the last layer.
    pub words_behind: u64,
}

/// A layer of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Line of its name.
    pub line: u64,
    /// Its name.
    pub name: String,
    /// Its dependency, which SimAI reads and does not use; -1 for none.
    pub dependency: i64,
    /// Forward pass.
    pub forward: Phase,
    /// Gradient of its input.
    pub input_gradient: Phase,
    /// Gradient of its weights.
    pub weight_gradient: Phase,
    /// Delay behind each of its collectives, ns.
    pub update_ns: u64,
}

/// Forward pass, input gradient or weight gradient of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Computation, ns.
    pub compute_ns: u64,
    /// What follows it.
    pub exchange: Exchange,
    /// Ranks that take part.
    pub group: Group,
    /// Size, bytes.
    pub bytes: u64,
}

/// Collective of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// `NONE`
    None,
    /// `ALLREDUCE`
    AllReduce,
    /// `ALLGATHER`
    AllGather,
    /// `REDUCESCATTER`
    ReduceScatter,
    /// `ALLTOALL`
    AllToAll,
    /// `BROADCAST`, which aicb writes and SimAI takes as none.
    Broadcast,
}
