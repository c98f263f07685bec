//! The passes of a step, stage by stage, and what is communicated between them.

use super::Training;
use crate::collective::{AllReduce, Operation};
use crate::program::{After, Program};

/// Direction of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    Forward,
    Backward,
}

pub(super) struct Passes<'a, J> {
    training: &'a Training,
    jitter: J,
    program: &'a mut Program,
    /// Last operation of each rank's processor.
    last: Vec<After>,
    /// Per rank, what else must end before its step does.
    open: Vec<Vec<After>>,
    /// What each rank's step waits for.
    first: Vec<After>,
    /// Last collective of each rank's gradients in this step.
    reduced: Vec<After>,
    /// First tag of the step's messages between stages.
    tags: u32,
}

/// One pipeline's order of passes at a stage: forward ones until the pipeline is full, then in turn (1F1B).
fn order(stage: u32, stages: u32, micro_batches: u32) -> Vec<(Pass, u32)> {
    let ahead = (stages - 1 - stage).min(micro_batches);
    let mut order: Vec<_> = (0..ahead).map(|number| (Pass::Forward, number)).collect();
    for number in 0..micro_batches {
        if ahead + number < micro_batches {
            order.push((Pass::Forward, ahead + number));
        }
        order.push((Pass::Backward, number));
    }
    order
}

impl<'a, J: FnMut() -> f64> Passes<'a, J> {
    pub(super) fn new(training: &'a Training, program: &'a mut Program, jitter: J) -> Self {
        let ranks = training.ranks();
        Passes {
            training,
            jitter,
            program,
            last: vec![None; ranks as usize],
            open: vec![Vec::new(); ranks as usize],
            first: vec![None; ranks as usize],
            reduced: vec![None; ranks as usize],
            tags: 0,
        }
    }

    /// Adds a step after the given operations; returns the last one of each rank.
    pub(super) fn step(&mut self, after: &[After]) -> Vec<After> {
        let training = self.training;
        self.first = after.to_vec();
        self.last = after.to_vec();
        self.reduced.fill(None);
        // One for each direction, micro-batch and boundary: both sides must have the same.
        let messages = 2 * training.micro_batches * training.pipeline;
        self.tags = self.program.tags(messages);
        for stage in 0..training.pipeline {
            for (pass, number) in order(stage, training.pipeline, training.micro_batches) {
                self.receive(stage, pass, number);
                let is_last = pass == Pass::Backward && number + 1 == training.micro_batches;
                self.layers(stage, pass, training.overlap && is_last);
                self.send(stage, pass, number);
            }
            if !training.overlap {
                let layers = training.layers_of_stage();
                self.reduce_gradients(stage, 0, layers);
            }
        }
        let ends = (0..training.ranks()).map(|rank| {
            let mut after = std::mem::take(&mut self.open[rank as usize]);
            after.extend([self.last[rank as usize], self.reduced[rank as usize]]);
            Some(self.program.compute(rank, 0, &after))
        });
        ends.collect()
    }

    /// Ranks of a stage.
    fn of_stage(&self, stage: u32) -> std::ops::Range<u32> {
        let each = self.training.tensor * self.training.data;
        stage * each..(stage + 1) * each
    }

    /// Tag of the messages between a stage and the next one.
    fn tag(&self, boundary: u32, pass: Pass, number: u32) -> u32 {
        let passes = 2 * number + u32::from(pass == Pass::Backward);
        self.tags + boundary * 2 * self.training.micro_batches + passes
    }

    /// Distance to the rank that a pass comes from, or goes to, and the boundary between; `None` at the pipeline's ends.
    fn neighbour(&self, stage: u32, pass: Pass, is_next: bool) -> Option<(i64, u32)> {
        let each = i64::from(self.training.tensor * self.training.data);
        let goes_up = (pass == Pass::Forward) == is_next;
        if goes_up {
            (stage + 1 < self.training.pipeline).then_some((each, stage))
        } else {
            (stage > 0).then(|| (-each, stage - 1))
        }
    }

    /// Bytes of a message between stages, of one rank.
    fn passed_bytes(&self) -> u64 {
        self.training.model.activation_bytes() / u64::from(self.training.tensor)
    }

    fn receive(&mut self, stage: u32, pass: Pass, number: u32) {
        let Some((distance, boundary)) = self.neighbour(stage, pass, false) else {
            return;
        };
        let (bytes, tag) = (self.passed_bytes(), self.tag(boundary, pass, number));
        for rank in self.of_stage(stage) {
            let from = (i64::from(rank) + distance) as u32;
            let at = rank as usize;
            let got = self
                .program
                .receive((rank, from), bytes, tag, &[self.first[at]]);
            // A computation of no time joins it with the pass before.
            let after = [self.last[at], Some(got)];
            self.last[at] = Some(self.program.compute(rank, 0, &after));
        }
    }

    fn send(&mut self, stage: u32, pass: Pass, number: u32) {
        let Some((distance, boundary)) = self.neighbour(stage, pass, true) else {
            return;
        };
        let (bytes, tag) = (self.passed_bytes(), self.tag(boundary, pass, number));
        for rank in self.of_stage(stage) {
            let to = (i64::from(rank) + distance) as u32;
            let after = [self.last[rank as usize]];
            let sent = self.program.send((rank, to), bytes, tag, &after);
            self.open[rank as usize].push(Some(sent));
        }
    }

    /// Lets each rank of a stage compute.
    fn compute(&mut self, stage: u32, ns: f64) {
        for rank in self.of_stage(stage) {
            let ns = (ns * (self.jitter)()).round() as u64;
            let after = [self.last[rank as usize]];
            self.last[rank as usize] = Some(self.program.compute(rank, ns, &after));
        }
    }

    /// Adds the layers of a pass; with `reduces` each layer's gradients are reduced behind it.
    fn layers(&mut self, stage: u32, pass: Pass, reduces: bool) {
        let training = self.training;
        let layers = training.layers_of_stage();
        let (each_ns, logits_ns) = match pass {
            Pass::Forward => (training.forward_ns, training.logits_ns),
            Pass::Backward => (training.backward_ns, 2.0 * training.logits_ns),
        };
        let is_last = stage + 1 == training.pipeline;
        let logits_ns = if is_last { logits_ns } else { 0.0 };
        let inside_ns = match training.tensor {
            1 => Some(0.0),
            _ => training.tensor_inside_ns,
        };
        let has_experts = training.model.experts > 0;
        // What does not use the network within a pass is one computation.
        if let (Some(inside_ns), false, false) = (inside_ns, has_experts, reduces) {
            let layers_ns = f64::from(layers) * (each_ns + 2.0 * inside_ns);
            self.compute(stage, layers_ns + logits_ns);
            return;
        }
        if pass == Pass::Backward && logits_ns > 0.0 {
            self.compute(stage, logits_ns);
        }
        for layer in 0..layers {
            self.compute(stage, each_ns / 2.0 + inside_ns.unwrap_or_default());
            self.reduce_tensors(stage, inside_ns);
            self.exchange_tokens(stage);
            self.compute(stage, each_ns / 2.0 + inside_ns.unwrap_or_default());
            self.exchange_tokens(stage);
            self.reduce_tensors(stage, inside_ns);
            if reduces {
                self.reduce_gradients(stage, layer, layer + 1);
            }
        }
        if pass == Pass::Forward && logits_ns > 0.0 {
            self.compute(stage, logits_ns);
        }
    }

    /// Adds a collective of some ranks after their last operations; returns its ends.
    fn together(
        &mut self,
        name: &str,
        operation: Operation,
        bytes: u64,
        ranks: &[u32],
    ) -> Vec<After> {
        let after: Vec<After> = ranks.iter().map(|&rank| self.last[rank as usize]).collect();
        let what = self.training.collective(operation, bytes);
        self.program.collective(name, &what, ranks, &after)
    }

    /// Goes on after a collective.
    fn wait_for(&mut self, ranks: &[u32], ends: Vec<After>) {
        for (&rank, end) in ranks.iter().zip(ends) {
            self.last[rank as usize] = end;
        }
    }

    /// Sums activations over each tensor group, if it uses the network.
    fn reduce_tensors(&mut self, stage: u32, inside_ns: Option<f64>) {
        if inside_ns.is_some() {
            return;
        }
        let bytes = self.training.model.activation_bytes();
        for data in 0..self.training.data {
            let ranks =
                (0..self.training.tensor).map(|tensor| self.training.rank(tensor, data, stage));
            let ranks = Vec::from_iter(ranks);
            let operation = Operation::AllReduce(AllReduce::Ring);
            let ends = self.together("tensor_all_reduce", operation, bytes, &ranks);
            self.wait_for(&ranks, ends);
        }
    }

    /// Groups of ranks of a stage with the same place in their tensor groups: `size` data neighbours in each, `stride` apart.
    fn data_groups(&self, stage: u32, size: u32, stride: u32) -> Vec<Vec<u32>> {
        let Training { tensor, data, .. } = *self.training;
        let mut groups = Vec::new();
        for place in 0..tensor {
            for first in 0..data {
                // The first member of a group is the one that has no other `stride` before it.
                if !(first / stride).is_multiple_of(size) {
                    continue;
                }
                let members = (0..size)
                    .map(|member| self.training.rank(place, first + member * stride, stage));
                groups.push(members.collect());
            }
        }
        groups
    }

    /// Sends tokens to their experts, or back.
    fn exchange_tokens(&mut self, stage: u32) {
        let Training {
            expert, dispatch, ..
        } = *self.training;
        if expert < 2 {
            return;
        }
        let bytes = self.training.model.dispatched_bytes();
        for ranks in self.data_groups(stage, expert, 1) {
            let operation = Operation::AllToAll(dispatch);
            let ends = self.together("experts_all_to_all", operation, bytes, &ranks);
            self.wait_for(&ranks, ends);
        }
    }

    /// An operation after what a rank has computed and reduced.
    fn ready(&mut self, rank: u32) -> After {
        let (last, reduced) = (self.last[rank as usize], self.reduced[rank as usize]);
        if reduced.is_none() {
            return last;
        }
        Some(self.program.join(rank, &[last, reduced]))
    }

    /// Sums the gradients of the layers from `first` to before `end` of a stage, while other work goes on.
    fn reduce_gradients(&mut self, stage: u32, first: u32, end: u32) {
        let training = self.training;
        let share = |bytes: u64| {
            let until =
                |layer: u32| bytes * u64::from(layer) / u64::from(training.layers_of_stage());
            until(end) - until(first)
        };
        let shared = share(training.gradient_bytes());
        let of_experts = share(training.expert_gradient_bytes());
        let apart = training.data / training.expert;
        for (name, bytes, size, stride) in [
            ("gradients_all_reduce", shared, training.data, 1),
            (
                "expert_gradients_all_reduce",
                of_experts,
                apart,
                training.expert,
            ),
        ] {
            if size < 2 || bytes == 0 {
                continue;
            }
            for ranks in self.data_groups(stage, size, stride) {
                // One after the other, as a communication library does on its stream.
                let after: Vec<After> = ranks.iter().map(|&rank| self.ready(rank)).collect();
                let operation = Operation::AllReduce(training.gradients);
                let what = training.collective(operation, bytes);
                let ends = self.program.collective(name, &what, &ranks, &after);
                for (&rank, end) in ranks.iter().zip(ends) {
                    self.reduced[rank as usize] = end;
                }
            }
        }
    }
}
