//! Groups of ranks of a training job, numbered as Megatron does: within a tensor group first, then by expert and data, then by
//! stage of the pipeline.

use std::collections::BTreeMap;

/// How a job's ranks are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Ranks of a tensor group.
    pub tensor: u32,
    /// Ranks of an expert group, which are neighbours in a data group.
    pub expert: u32,
    /// Ranks of a data group.
    pub data: u32,
    /// Stages of a pipeline.
    pub pipeline: u32,
}

/// Which ranks communicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// All ranks.
    All,
    /// One tensor group.
    Tensor,
    /// Ranks with the same place in tensor group and pipeline.
    Data,
    /// Neighbours in a data group, which have different experts.
    Expert,
    /// Ranks of a data group that have the same experts.
    ExpertData,
    /// Ranks of an expert group and their tensor groups.
    ExpertTensor,
    /// Ranks with the same place in all stages of a pipeline.
    Pipeline,
    /// The first and the last stage's ranks of a pipeline.
    Ends,
}

impl Group {
    /// Name for stages.
    pub fn name(self) -> &'static str {
        match self {
            Group::All => "all",
            Group::Tensor => "tensor",
            Group::Data => "data",
            Group::Expert => "expert",
            Group::ExpertData => "expert_data",
            Group::ExpertTensor => "expert_tensor",
            Group::Pipeline => "pipeline",
            Group::Ends => "pipeline_ends",
        }
    }

    /// Whether its ranks differ in their place of the tensor group, of the expert group, among the expert groups, and in
    /// their stage.
    fn spans(self) -> [bool; 4] {
        match self {
            Group::All => [true; 4],
            Group::Tensor => [true, false, false, false],
            Group::Data => [false, true, true, false],
            Group::Expert => [false, true, false, false],
            Group::ExpertData => [false, false, true, false],
            Group::ExpertTensor => [true, true, false, false],
            Group::Pipeline | Group::Ends => [false, false, false, true],
        }
    }
}

impl Division {
    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.tensor * self.data * self.pipeline
    }

    /// Places in a tensor group, an expert group, among expert groups, and stages.
    fn sizes(&self) -> [u32; 4] {
        [
            self.tensor,
            self.expert,
            self.data / self.expert,
            self.pipeline,
        ]
    }

    /// Number of ranks of each group.
    pub fn size(&self, group: Group) -> u32 {
        if group == Group::Ends {
            return self.pipeline.min(2);
        }
        let sizes = self.sizes().into_iter().zip(group.spans());
        sizes
            .filter_map(|(size, spans)| spans.then_some(size))
            .product()
    }

    /// All groups of a kind, each with its ranks in order.
    pub fn groups(&self, group: Group) -> Vec<Vec<u32>> {
        let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for rank in 0..self.ranks() {
            let (mut rest, mut stride, mut first) = (rank, 1, rank);
            for (size, spans) in self.sizes().into_iter().zip(group.spans()) {
                if spans {
                    first -= rest % size * stride;
                }
                rest /= size;
                stride *= size;
            }
            groups.entry(first).or_default().push(rank);
        }
        let mut groups: Vec<Vec<u32>> = groups.into_values().collect();
        if group == Group::Ends {
            for ranks in &mut groups {
                let last = ranks.len() - 1;
                if last > 0 {
                    *ranks = vec![ranks[0], ranks[last]];
                }
            }
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two tensor places, four data places in expert groups of two, three stages: counted by hand.
    #[test]
    fn groups_have_the_ranks_of_the_numbering() {
        let division = Division {
            tensor: 2,
            expert: 2,
            data: 4,
            pipeline: 3,
        };
        assert_eq!(division.ranks(), 24);
        let first = |group| division.groups(group)[0].clone();
        assert_eq!(first(Group::Tensor), [0, 1]);
        assert_eq!(first(Group::Data), [0, 2, 4, 6]);
        assert_eq!(first(Group::Expert), [0, 2]);
        assert_eq!(first(Group::ExpertData), [0, 4]);
        assert_eq!(first(Group::ExpertTensor), [0, 1, 2, 3]);
        assert_eq!(first(Group::Pipeline), [0, 8, 16]);
        assert_eq!(first(Group::Ends), [0, 16]);
        assert_eq!(first(Group::All), Vec::from_iter(0..24));
        assert_eq!(division.groups(Group::Data)[3], [9, 11, 13, 15]);
        for group in [
            Group::All,
            Group::Tensor,
            Group::Data,
            Group::Expert,
            Group::ExpertData,
            Group::ExpertTensor,
            Group::Pipeline,
        ] {
            let groups = division.groups(group);
            let size = division.size(group) as usize;
            assert!(groups.iter().all(|ranks| ranks.len() == size));
            assert_eq!(groups.len() * size, 24, "{group:?}");
        }
    }
}
