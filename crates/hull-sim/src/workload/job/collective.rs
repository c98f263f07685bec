//! Settings of a collective that is repeated: what a benchmark of a communication library measures.

use hull_jobs::{AllReduce, AllToAll, Broadcast, Collective, Halves, Operation, Program};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::source::{Source, check_operations};
use crate::problem::{Problem, require};
use crate::units::Size;

/// A collective of all ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JobCollective")]
pub struct Repeated {
    /// What it does.
    pub operation: OperationName,
    /// How (default: `pairwise` for an all-to-all, `binomial` for a broadcast, `ring` for others).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<AlgorithmName>,
    /// Size by NCCL's definitions: of one rank's vector (all-reduce, broadcast, send-receive), of the whole input
    /// (reduce-scatter), of the whole output (all-gather), of all that a rank sends, its own part included (all-to-all).
    pub size: Size,
    /// Number of ranks (default: one for each host).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u32>,
    /// Pieces of the data that pass one after the other.
    #[serde(default = "one")]
    pub chunks: u32,
    /// Shares of the data with messages of their own, as channels or queue pairs are.
    #[serde(default = "one")]
    pub channels: u32,
    /// How often it takes place, one after the other.
    #[serde(default = "one")]
    pub repeat: u32,
}

/// What a collective does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "JobOperation")]
pub enum OperationName {
    /// Each rank gets the sum of all vectors.
    AllReduce,
    /// Each rank gets a part of the sum.
    ReduceScatter,
    /// Each rank gets the parts of all.
    AllGather,
    /// Each rank gets a part of its own from each.
    AllToAll,
    /// All ranks get the first one's data.
    Broadcast,
    /// Each rank sends to the next.
    SendReceive,
}

/// How a collective does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "JobAlgorithm")]
pub enum AlgorithmName {
    /// Around a ring.
    Ring,
    /// An all-reduce on two binary trees.
    DoubleTree,
    /// An all-reduce that halves, then doubles the data.
    HalvingDoubling,
    /// An all-reduce with all data in each step; a reduce-scatter that halves; an all-gather that doubles.
    RecursiveDoubling,
    /// Within servers, and between ranks of the same place in them.
    Hierarchical,
    /// An all-to-all with all messages at once.
    Flat,
    /// An all-to-all with one message after another.
    Pairwise,
    /// A broadcast down a binomial tree.
    Binomial,
    /// A broadcast from each rank to the next.
    Chain,
}

const fn one() -> u32 {
    1
}

impl OperationName {
    /// The operation with its usual algorithm.
    fn by_default(self) -> Operation {
        match self {
            OperationName::AllReduce => Operation::AllReduce(AllReduce::Ring),
            OperationName::ReduceScatter => Operation::ReduceScatter(Halves::Ring),
            OperationName::AllGather => Operation::AllGather(Halves::Ring),
            OperationName::AllToAll => Operation::AllToAll(AllToAll::Pairwise),
            OperationName::Broadcast => Operation::Broadcast(Broadcast::Binomial),
            OperationName::SendReceive => Operation::SendReceive,
        }
    }

    /// The operation with this algorithm; `Err` has the algorithms that it can have.
    fn with(self, algorithm: AlgorithmName) -> Result<Operation, &'static str> {
        match self {
            OperationName::AllReduce => all_reduce(algorithm).map(Operation::AllReduce),
            OperationName::ReduceScatter => halves(algorithm).map(Operation::ReduceScatter),
            OperationName::AllGather => halves(algorithm).map(Operation::AllGather),
            OperationName::AllToAll => all_to_all(algorithm).map(Operation::AllToAll),
            OperationName::Broadcast => broadcast(algorithm).map(Operation::Broadcast),
            OperationName::SendReceive => Err("none: there is one way"),
        }
    }
}

impl AlgorithmName {
    /// What is wrong with it at a key of which `expected` tells the algorithms.
    pub(super) fn refused(self, key: &str, expected: &str) -> Problem {
        let text = serde_json::to_value(self).unwrap_or_default();
        let found = text.as_str().unwrap_or_default();
        let told = format!("found {found:?} for this operation; expected {expected}");
        Problem::new(key, told)
    }
}

/// Algorithm of an all-reduce; `Err` has the ones that it can have.
pub(super) fn all_reduce(algorithm: AlgorithmName) -> Result<AllReduce, &'static str> {
    use AlgorithmName as Name;
    match algorithm {
        Name::Ring => Ok(AllReduce::Ring),
        Name::DoubleTree => Ok(AllReduce::DoubleTree),
        Name::HalvingDoubling => Ok(AllReduce::HalvingDoubling),
        Name::RecursiveDoubling => Ok(AllReduce::RecursiveDoubling),
        Name::Hierarchical => Ok(AllReduce::Hierarchical),
        Name::Flat | Name::Pairwise | Name::Binomial | Name::Chain => {
            Err("ring, double_tree, halving_doubling, recursive_doubling or hierarchical")
        }
    }
}

/// Algorithm of an all-to-all; `Err` has the ones that it can have.
pub(super) fn all_to_all(algorithm: AlgorithmName) -> Result<AllToAll, &'static str> {
    use AlgorithmName as Name;
    match algorithm {
        Name::Pairwise => Ok(AllToAll::Pairwise),
        Name::Flat => Ok(AllToAll::Flat),
        Name::Hierarchical => Ok(AllToAll::Hierarchical),
        Name::Ring
        | Name::DoubleTree
        | Name::HalvingDoubling
        | Name::RecursiveDoubling
        | Name::Binomial
        | Name::Chain => Err("pairwise, flat or hierarchical"),
    }
}

fn broadcast(algorithm: AlgorithmName) -> Result<Broadcast, &'static str> {
    use AlgorithmName as Name;
    match algorithm {
        Name::Binomial => Ok(Broadcast::Binomial),
        Name::Chain => Ok(Broadcast::Chain),
        Name::Ring
        | Name::DoubleTree
        | Name::HalvingDoubling
        | Name::RecursiveDoubling
        | Name::Hierarchical
        | Name::Flat
        | Name::Pairwise => Err("binomial or chain"),
    }
}

fn halves(algorithm: AlgorithmName) -> Result<Halves, &'static str> {
    use AlgorithmName as Name;
    match algorithm {
        Name::Ring => Ok(Halves::Ring),
        Name::RecursiveDoubling => Ok(Halves::Recursive),
        Name::Hierarchical => Ok(Halves::Hierarchical),
        Name::DoubleTree
        | Name::HalvingDoubling
        | Name::Flat
        | Name::Pairwise
        | Name::Binomial
        | Name::Chain => Err("ring, recursive_doubling or hierarchical"),
    }
}

impl Repeated {
    /// Checks what can be known without the network.
    pub(super) fn check(&self) -> Result<(), Problem> {
        const KEY: &str = "workload.job.collective";
        self.operation()?;
        for (name, number) in [
            ("chunks", self.chunks),
            ("channels", self.channels),
            ("repeat", self.repeat),
        ] {
            let key = format!("{KEY}.{name}");
            require(number > 0, &key, number, "1 or more")?;
        }
        let ranks = self.ranks.unwrap_or(2);
        require(ranks > 1, &format!("{KEY}.ranks"), ranks, "2 or more")
    }

    fn operation(&self) -> Result<Operation, Problem> {
        let key = "workload.job.collective.algorithm";
        match self.algorithm {
            None => Ok(self.operation.by_default()),
            Some(name) => {
                let found = self.operation.with(name);
                found.map_err(|expected| name.refused(key, expected))
            }
        }
    }

    /// Its schedule, for the given number of hosts, in servers of `per_server` ranks.
    pub(super) fn source(&self, hosts: u32, per_server: Option<u32>) -> Result<Source, Problem> {
        const KEY: &str = "workload.job.collective";
        let ranks = self.ranks.unwrap_or(hosts);
        require(ranks > 1, &format!("{KEY}.ranks"), ranks, "2 or more")?;
        let operation = self.operation()?;
        let algorithm = format!("{KEY}.algorithm");
        if operation.is_hierarchical() && per_server.is_none() {
            let expected = "workload.job.servers.ranks beside a hierarchical algorithm";
            return Err(Problem::new(
                &*algorithm,
                format!("found no servers; expected {expected}"),
            ));
        }
        let is_halved = matches!(
            operation,
            Operation::ReduceScatter(Halves::Recursive) | Operation::AllGather(Halves::Recursive)
        );
        let expected = "a power of two for recursive_doubling";
        require(
            !is_halved || ranks.is_power_of_two(),
            &format!("{KEY}.ranks"),
            ranks,
            expected,
        )?;
        let messages = match operation {
            Operation::AllToAll(_) => u64::from(ranks),
            _ => 2 * u64::from(ranks),
        };
        let pieces = u64::from(self.chunks) * u64::from(self.channels) * u64::from(self.repeat);
        let operations = (2 * messages * u64::from(ranks)).saturating_mul(pieces);
        check_operations(KEY, operations)?;
        let what = Collective {
            operation,
            bytes: self.size.0,
            chunks: self.chunks,
            channels: self.channels,
            per_server: per_server.unwrap_or(1),
        };
        let members = Vec::from_iter(0..ranks);
        let made = Program::make(ranks, operations, |program| {
            let mut last = vec![None; members.len()];
            for _ in 0..self.repeat {
                last = program.collective(operation.name(), &what, &members, &last);
            }
        });
        Source::of(KEY, made)
    }
}
