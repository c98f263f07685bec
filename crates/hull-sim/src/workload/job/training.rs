//! Settings of a generated training job: steps of a transformer, divided as Megatron does.

use hull_jobs::{AllReduce, AllToAll, Model, Training};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::collective::{AlgorithmName, all_reduce, all_to_all};
use super::servers::Servers;
use super::source::{Source, check_operations};
use crate::problem::{Problem, quoted, require};
use crate::random::{Purpose, Stream};
use crate::units::{Share, Size, Time};
use crate::workload::time_above_0;

const KEY: &str = "workload.job.training";

/// Steps of a transformer's training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JobTraining")]
pub struct Trained {
    /// Layers (l).
    pub layers: u32,
    /// Hidden size (h).
    pub hidden: u64,
    /// Tokens of a sequence (s).
    pub sequence: u64,
    /// Vocabulary (V).
    #[serde(default = "vocabulary")]
    pub vocabulary: u64,
    /// Sequences of a step, over all ranks.
    pub batch: u32,
    /// Sequences of a micro-batch (b).
    #[serde(default = "one")]
    pub micro_batch: u32,
    /// Ranks of a tensor group (t).
    #[serde(default = "one")]
    pub tensor: u32,
    /// Stages of a pipeline (p).
    #[serde(default = "one")]
    pub pipeline: u32,
    /// Ranks of a data group (d).
    #[serde(default = "one")]
    pub data: u32,
    /// Experts of each layer (default: none).
    #[serde(default)]
    pub experts: u32,
    /// Experts that a token uses (k).
    #[serde(default = "two")]
    pub experts_per_token: u32,
    /// Ranks of an expert group, neighbours within a data group.
    #[serde(default = "one")]
    pub expert: u32,
    /// Size of an activation's element.
    #[serde(default = "element")]
    pub element: Size,
    /// Size of a gradient's element.
    #[serde(default = "gradient")]
    pub gradient: Size,
    /// Floating-point operations that a rank does in a second by its data sheet; it reaches `utilization` of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flops: Option<f64>,
    /// Share of `flops` that its matrices reach.
    #[serde(default = "utilization")]
    pub utilization: Share,
    /// Time of a layer's forward pass for a micro-batch on a rank (default: from `flops`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forward: Option<Time>,
    /// Time of a layer's backward pass (default: twice `forward`, three times with `recompute`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backward: Option<Time>,
    /// Whether a backward pass computes activations again.
    #[serde(default)]
    pub recompute: bool,
    /// Mean of the time that a computation takes longer, as a share of it; the extra time is exponential.
    #[serde(default)]
    pub jitter: Share,
    /// Whether gradients are reduced layer by layer during the last backward pass, or all after it.
    #[serde(default = "yes")]
    pub overlap: bool,
    /// Shares of each collective with messages of their own.
    #[serde(default = "one")]
    pub channels: u32,
    /// Algorithm of the gradients' all-reduce.
    #[serde(default = "ring")]
    pub gradients: AlgorithmName,
    /// Algorithm of the experts' all-to-all.
    #[serde(default = "pairwise")]
    pub dispatch: AlgorithmName,
    /// Steps.
    #[serde(default = "one")]
    pub steps: u32,
}

const fn one() -> u32 {
    1
}

const fn two() -> u32 {
    2
}

const fn yes() -> bool {
    true
}

/// GPT-2's, to a multiple of 1024, as Narayanan et al. have it.
const fn vocabulary() -> u64 {
    51_200
}

/// A 16-bit number.
const fn element() -> Size {
    Size(2)
}

/// A 32-bit number.
const fn gradient() -> Size {
    Size(4)
}

/// Half: what large models reach (Narayanan et al., table 1).
const fn utilization() -> Share {
    Share(Share::ONE / 2)
}

const fn ring() -> AlgorithmName {
    AlgorithmName::Ring
}

const fn pairwise() -> AlgorithmName {
    AlgorithmName::Pairwise
}

impl Trained {
    /// Checks what can be known without the network.
    pub(super) fn check(&self) -> Result<(), Problem> {
        for (name, number) in [
            ("layers", u64::from(self.layers)),
            ("hidden", self.hidden),
            ("sequence", self.sequence),
            ("batch", u64::from(self.batch)),
            ("micro_batch", u64::from(self.micro_batch)),
            ("tensor", u64::from(self.tensor)),
            ("pipeline", u64::from(self.pipeline)),
            ("data", u64::from(self.data)),
            ("expert", u64::from(self.expert)),
            ("channels", u64::from(self.channels)),
            ("steps", u64::from(self.steps)),
            ("element", self.element.0),
            ("gradient", self.gradient.0),
        ] {
            let fits = (1..=1_000_000_000).contains(&number);
            require(fits, &format!("{KEY}.{name}"), number, "1 to 1000000000")?;
        }
        for (name, number, divisor, expected) in [
            (
                "layers",
                self.layers,
                self.pipeline,
                "a multiple of pipeline",
            ),
            ("data", self.data, self.expert, "a multiple of expert"),
            ("experts", self.experts, self.expert, "a multiple of expert"),
            (
                "batch",
                self.batch,
                self.data.saturating_mul(self.micro_batch),
                "a multiple of data times micro_batch",
            ),
        ] {
            let expected = format!("{expected} ({divisor})");
            require(
                number.is_multiple_of(divisor),
                &format!("{KEY}.{name}"),
                number,
                &expected,
            )?;
        }
        let key = format!("{KEY}.expert");
        let needs = "1 without experts";
        require(
            self.experts > 0 || self.expert == 1,
            &key,
            self.expert,
            needs,
        )?;
        let is_known = self
            .flops
            .is_some_and(|flops| flops.is_finite() && flops > 0.0)
            || self.forward.is_some();
        let found = self
            .flops
            .map_or("none".to_owned(), |flops| flops.to_string());
        let expected = "operations in a second, such as 989e12, or the time in `forward`";
        require(is_known, &format!("{KEY}.flops"), found, expected)?;
        let key = format!("{KEY}.utilization");
        let above_0 = self.utilization.value() > 0.0;
        require(above_0, &key, quoted(self.utilization), "a share above 0")?;
        for (name, given) in [("forward", self.forward), ("backward", self.backward)] {
            if let Some(given) = given {
                time_above_0(&format!("{KEY}.{name}"), given)?;
            }
        }
        self.algorithms().map(|_| ())
    }

    /// Algorithms of the gradients' all-reduce and of the experts' all-to-all.
    fn algorithms(&self) -> Result<(AllReduce, AllToAll), Problem> {
        let gradients = all_reduce(self.gradients).map_err(|expected| {
            self.gradients
                .refused(&format!("{KEY}.gradients"), expected)
        });
        let dispatch = all_to_all(self.dispatch)
            .map_err(|expected| self.dispatch.refused(&format!("{KEY}.dispatch"), expected));
        Ok((gradients?, dispatch?))
    }

    /// The job's schedule; `seed` decides the jitter.
    pub(super) fn source(&self, servers: Option<&Servers>, seed: u64) -> Result<Source, Problem> {
        let (gradients, dispatch) = self.algorithms()?;
        let model = Model {
            layers: self.layers,
            hidden: self.hidden,
            sequence: self.sequence,
            vocabulary: self.vocabulary,
            micro_batch: u64::from(self.micro_batch),
            element_bytes: self.element.0,
            gradient_bytes: self.gradient.0,
            experts: u64::from(self.experts),
            experts_per_token: u64::from(self.experts_per_token),
        };
        let per_second = self.flops.unwrap_or(f64::INFINITY) * self.utilization.value();
        let ns = |flop: f64| flop / f64::from(self.tensor) / per_second * 1e9;
        let given_ns = |time: Time| time.0 as f64 / 1000.0;
        let forward_ns = self.forward.map_or(ns(model.forward_flop()), given_ns);
        let passes = if self.recompute { 3.0 } else { 2.0 };
        let training = Training {
            tensor: self.tensor,
            pipeline: self.pipeline,
            data: self.data,
            expert: self.expert,
            micro_batches: self.batch / (self.data * self.micro_batch),
            steps: self.steps,
            forward_ns,
            backward_ns: self.backward.map_or(passes * forward_ns, given_ns),
            logits_ns: ns(model.logit_flop()),
            tensor_inside_ns: servers
                .and_then(|servers| servers.ring_ns(self.tensor, model.activation_bytes())),
            overlap: self.overlap,
            channels: self.channels,
            gradients,
            dispatch,
            per_server: servers.map_or(1, |servers| servers.ranks),
            model,
        };
        check_operations(KEY, training.operations())?;
        let share = self.jitter.value();
        let jitter = || {
            let mut stream = Stream::new(seed, Purpose::JobJitter, 0);
            move || match share {
                0.0 => 1.0,
                _ => 1.0 + stream.exponential(share * 1e9) as f64 * 1e-9,
            }
        };
        Source::of(KEY, training.schedule(jitter))
    }
}
