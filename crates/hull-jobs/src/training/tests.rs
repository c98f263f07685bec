//! Training jobs against closed forms of the papers.

use super::*;
use crate::loggp::{self, Charge, Params};
use crate::{Kind, Schedule};

fn training() -> Training {
    Training {
        model: Model {
            layers: 8,
            hidden: 1024,
            sequence: 512,
            vocabulary: 32_000,
            micro_batch: 2,
            element_bytes: 2,
            gradient_bytes: 4,
            experts: 0,
            experts_per_token: 0,
        },
        tensor: 1,
        pipeline: 4,
        data: 1,
        expert: 1,
        micro_batches: 6,
        steps: 1,
        forward_ns: 1000.0,
        backward_ns: 2000.0,
        logits_ns: 0.0,
        tensor_inside_ns: None,
        overlap: false,
        channels: 1,
        gradients: AllReduce::Ring,
        dispatch: AllToAll::Pairwise,
        per_server: 1,
    }
}

fn schedule(training: &Training) -> Schedule {
    let schedule = training.schedule(|| || 1.0).unwrap().0;
    let operations = (0..schedule.ranks()).map(|rank| u64::from(schedule.len(rank)));
    assert!(operations.sum::<u64>() <= training.operations());
    schedule
}

/// Time of the job where a message takes 1 ns for each `bytes_per_ns` bytes and nothing else.
fn time_ns(training: &Training, ns_per_byte: f64) -> u64 {
    let params = Params {
        latency_ns: 0,
        overhead_ns: 0,
        gap_ns: 0,
        gap_per_byte_ns: ns_per_byte,
        overhead_per_byte_ns: 0.0,
        eager_bytes: 0,
        charge: Charge::Wire,
    };
    let report = loggp::run(schedule(training), params).unwrap();
    assert_eq!((report.waiting.len(), report.unreceived), (0, 0));
    assert!(report.ends.iter().all(|end| end.left == 0));
    report.ends.iter().map(|end| end.at_ns).max().unwrap()
}

/// Bytes of all sends with their number.
fn sent(training: &Training) -> (u64, u64) {
    let mut schedule = schedule(training);
    let mut sum = (0, 0);
    for rank in 0..schedule.ranks() {
        for index in 0..schedule.len(rank) {
            let op = schedule.op(rank, index).unwrap();
            if op.kind == Kind::Send {
                sum = (sum.0 + op.size, sum.1 + 1);
            }
        }
    }
    sum
}

/// A pipeline of p stages takes m + p - 1 times a forward and a backward pass of a stage; its bubble is (p - 1)/m.
#[test]
fn pipeline_has_its_bubble() {
    for (pipeline, micro_batches) in [(1, 5), (2, 1), (4, 6), (8, 3), (8, 32)] {
        let training = Training {
            pipeline,
            micro_batches,
            ..training()
        };
        let of_stage = u64::from(8 / pipeline) * 3000;
        let passes = u64::from(micro_batches + pipeline - 1);
        assert_eq!(
            time_ns(&training, 0.0),
            passes * of_stage,
            "{pipeline} {micro_batches}"
        );
        let twice = Training {
            steps: 2,
            ..training
        };
        assert_eq!(time_ns(&twice, 0.0), 2 * passes * of_stage);
    }
}

/// Narayanan et al., section 3.2: b s h elements forward and backward over each boundary, a t-th of them on each rank.
#[test]
fn stages_pass_activations() {
    let training = Training {
        tensor: 4,
        tensor_inside_ns: Some(0.0),
        ..training()
    };
    let messages = 2 * 6 * 3 * 4;
    assert_eq!(
        sent(&training),
        (messages * 2 * 2 * 512 * 1024 / 4, messages)
    );
}

/// 8 (t - 1)/t b s h elements for each layer and micro-batch, sent by each rank of a tensor group.
#[test]
fn tensor_groups_reduce_activations() {
    let training = Training {
        tensor: 4,
        pipeline: 1,
        ..training()
    };
    let elements = 8 * 3 * 2 * 512 * 1024 / 4_u64;
    assert_eq!(sent(&training).0, 4 * 8 * 6 * 2 * elements);
}

/// 2 (d - 1)/d times a rank's gradients, whether layer by layer or at the end.
#[test]
fn data_groups_reduce_gradients() {
    for overlap in [false, true] {
        let training = Training {
            data: 4,
            pipeline: 2,
            overlap,
            ..training()
        };
        let passed = 2 * 6 * 4 * training.model.activation_bytes();
        let reduced = sent(&training).0 - passed;
        assert_eq!(reduced, 8 * 3 * 2 * training.gradient_bytes() / 4);
    }
}

/// Two all-to-alls of k b s h elements for each layer, forward and backward; (x - 1)/x of them leave the rank. Gradients of
/// experts are reduced where the same experts are.
#[test]
fn experts_exchange_tokens() {
    let mut training = Training {
        data: 8,
        pipeline: 1,
        expert: 4,
        micro_batches: 1,
        ..training()
    };
    training.model.experts = 4;
    training.model.experts_per_token = 2;
    let exchanged = 8 * 8 * 4 * training.model.dispatched_bytes() * 3 / 4;
    let shared = 8 * 7 * 2 * training.gradient_bytes() / 8;
    let of_experts = 8 * 2 * training.expert_gradient_bytes() / 2;
    let found = sent(&training).0;
    let expected = exchanged + shared + of_experts;
    assert!(found.abs_diff(expected) < 100, "{found} {expected}");
}

/// Reduced behind each layer, gradients delay the step by the last layer's; at the end, by all.
#[test]
fn overlap_hides_gradients() {
    let at_end = Training {
        data: 2,
        pipeline: 1,
        micro_batches: 2,
        ..training()
    };
    let behind = Training {
        overlap: true,
        ..at_end.clone()
    };
    let ns_per_byte = 1500.0 * 8.0 / at_end.gradient_bytes() as f64;
    let compute = 2 * 8 * 3000;
    let (late, early) = (time_ns(&at_end, ns_per_byte), time_ns(&behind, ns_per_byte));
    assert!(late.abs_diff(compute + 8 * 1500) < 20, "{late}");
    assert!(early.abs_diff(compute + 1500) < 20, "{early}");
}
