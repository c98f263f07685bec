//! Layer text of fixtures and of lines written here, with times and bytes counted by hand.

use super::*;
use crate::alpha_beta::time_ns;
use crate::choices::Choices;
use crate::job::Job;

const STEP: &str = include_str!("../../../../tests/schedules/two_layers.simai.txt");

fn choices(ranks: Option<u32>) -> Choices {
    Choices {
        ranks,
        most_operations: 100_000,
        ..Choices::default()
    }
}

fn job_of(text: &str, ranks: Option<u32>) -> Job {
    job(&read(text).unwrap(), &choices(ranks)).unwrap()
}

/// Time, and the bytes that all ranks send.
fn time_and_bytes(job: Job) -> (u64, u128) {
    let bytes = job.schedule.counts().send_bytes;
    (time_ns(job.schedule), bytes)
}

#[track_caller]
fn assert_refused(text: &str, told: &str) {
    let refused = read(text).and_then(|workload| job(&workload, &choices(None)));
    let problem = refused.expect_err("a mistake").to_string();
    assert!(
        problem.contains(told),
        "{problem:?} should contain {told:?}"
    );
}

#[test]
fn layers_are_read() {
    let workload = read(STEP).unwrap();
    assert_eq!(
        (workload.tensor, workload.expert, workload.ranks),
        (Some(2), Some(1), Some(4))
    );
    assert_eq!(
        workload.unused,
        [("ga".to_owned(), 3), ("pp_comm".to_owned(), 0)]
    );
    let [first, second] = &workload.layers[..] else {
        panic!("two layers");
    };
    assert_eq!(
        (first.name.as_str(), first.line, second.line),
        ("first", 3, 4)
    );
    assert_eq!(first.forward.exchange, Exchange::AllReduce);
    assert_eq!(first.forward.group, Group::Tensor);
    assert_eq!(second.weight_gradient.group, Group::Data);
    assert_eq!(second.weight_gradient.bytes, 8000);
    assert_eq!((first.update_ns, workload.words_behind), (100, 1));
}

/// Counted by hand. Forward: 10 us, all-reduce of 4000 B between two ranks, 2 (1000 + 1999) ns, 100 ns; 20 us. Backward:
/// 30 us, all-gather of 2000 B, 1000 + 999 ns, 200 ns, 5 us with its reduce-scatter behind it, 1000 + 3999 ns; 40 us, 6 us. The
/// last layer's reduce-scatter ends before the first layer's computations do.
#[test]
fn step_takes_the_time_that_was_counted_by_hand() {
    let all_reduce = 2 * (1000 + 1999) + 100;
    let all_gather = 1000 + 999 + 200;
    let forward = 10_000 + all_reduce + 20_000;
    let backward = 30_000 + all_gather + 5000 + 40_000 + 6000;
    // Each of two pairs: 4 x 2000 B, 2 x 1000 B; each of two others 2 x 4000 B.
    let bytes = 2 * (4 * 2000 + 2 * 1000) + 2 * (2 * 4000);
    let (time, sent) = time_and_bytes(job_of(STEP, None));
    assert_eq!((time, sent), (forward + backward, bytes));
}

/// A weight gradient's collective that is longer than what follows it ends the step, with its update.
#[test]
fn weight_gradients_run_beside_computations() {
    let text = STEP.replace("8000", "800000");
    let (time, _) = time_and_bytes(job_of(&text, None));
    let before = 10_000 + 6098 + 20_000 + 30_000 + 2199 + 5000;
    assert_eq!(time, before + 1000 + 399_999 + 200);
}

/// Collectives of one group follow each other, as on one communicator.
#[test]
fn collectives_of_a_group_follow_each_other() {
    let layer = "it -1 0 NONE 0 0 NONE 0 0 ALLTOALL 3000 0\n";
    let job = job_of(&format!("MICRO\n2\n{layer}{layer}"), Some(3));
    // Pairwise: two steps of 1000 B each.
    assert_eq!(time_and_bytes(job).0, 2 * 2 * (1000 + 999));
}

#[test]
fn forward_passes_since_a_checkpoint_are_repeated() {
    let layers: String = (1..5_u64)
        .map(|layer| format!("l -1 {} NONE 0 10 NONE 0 1 NONE 0 0\n", 100 * layer))
        .collect();
    let text = |words: &str| format!("HYBRID_TRANSFORMER_FWD_IN_BCKWD {words}\n4\n{layers}");
    let time = |words: &str| time_and_bytes(job_of(&text(words), None)).0;
    assert_eq!(time(""), 1000 + 40 + 4);
    // From layer 1 to before layer 3.
    let words = "checkpoints: 2 0 1 checkpoint_initiates: 1 3";
    assert_eq!(time(words), 1044 + 200 + 300);
    assert_refused(
        &text("checkpoints: 1 3 checkpoint_initiates: 1 2"),
        "line 1: `checkpoint_initiates` has layer 2; expected one of `checkpoints`",
    );
}

#[test]
fn ranks_are_those_that_the_collectives_need() {
    let text = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 3\n1\n\
        l -1 1 ALLREDUCE 64 1 ALLTOALL_EP 66 1 ALLGATHER_DP_EP 68 1\n";
    let job = job_of(text, None);
    assert_eq!(job.schedule.ranks(), 2 * 3 * 2);
    assert_eq!(job.remarks.list()[0].1, 12);
    let names = Vec::from_iter(job.stages.iter().map(|stage| stage.name.as_str()));
    assert_eq!(names[0], "tensor_all_reduce");
    assert_eq!(names[6], "expert_all_to_all");
    assert_eq!(names[10], "expert_data_all_gather");
    assert_eq!(job.stages[10].ranks, 2);
    // Three experts' places do not fit two data places.
    let four = read(text).and_then(|workload| super::job(&workload, &choices(Some(4))));
    assert!(
        four.unwrap_err()
            .to_string()
            .contains("expected a multiple of 2, and of 6")
    );
}

#[test]
fn what_is_left_out_is_counted() {
    let text = "MICRO\n2\nl -1 1 NONE 0 1 NONE 0 1 BROADCAST 64 1\n\
        l 0 1 ALLREDUCE 64 1 NONE 0 1 ALLREDUCE 0 1\n";
    let told = job_of(text, Some(2)).remarks.to_string();
    assert_eq!(
        told,
        "dependencies of layers, which SimAI does not use: 1; \
         collectives without messages, since a tensor group has 1 rank: 1; \
         collectives without messages, of 0 bytes: 1; \
         broadcasts without messages, which SimAI takes as none: 1"
    );
}

#[test]
fn mistakes_name_line_and_what_is_expected() {
    assert_refused("", "line 1: the end of the line; expected `MICRO`");
    assert_refused("DATA\n1\n", "line 1: `DATA`; expected `MICRO`");
    assert_refused(
        "MICRO\n",
        "line 2: the end of the line; expected the number of layers",
    );
    assert_refused("MICRO\n1 2\n", "line 2: `2`; expected the end of the line");
    assert_refused(
        "MICRO ep: 0\n0\n",
        "line 1: `0`; expected a number from 1 behind `ep:`",
    );
    assert_refused(
        "MICRO ep: 1 ep: 1\n0\n",
        "line 1: `ep:`; expected each word once",
    );
    assert_refused(
        "MICRO ep 1\n0\n",
        "line 1: `ep`; expected a word with a colon",
    );
    assert_refused(
        "MICRO checkpoints: 2 1\n0\n",
        "line 1: the end of the line; expected the number of a layer",
    );
    assert_refused(
        "MICRO checkpoints: 1 0\n0\n",
        "line 1: `0`; expected a layer from 0 to below 0",
    );
    assert_refused(
        "MICRO\n1\nl -1 1.5 NONE",
        "line 3: `1.5`; expected a time in ns",
    );
    assert_refused(
        "MICRO\n1\nl -1 1\nALLREDUCE_TP",
        "line 4: `ALLREDUCE_TP`; expected `NONE`",
    );
    assert_refused(
        "MICRO\n1\nl -1 1 NONE -5",
        "line 3: `-5`; expected a size in bytes",
    );
    assert_refused(
        "MICRO\n2\nl -1 1 NONE 0 1 NONE 0 1 NONE 0 1\nl -1",
        "line 4: the file ends in layer 2 of 2; expected a time in ns, 12 words for each layer",
    );
    assert_refused(
        "MICRO all_gpus: 200000\n1\nl -1 1 NONE 0 1 NONE 0 1 ALLTOALL 5 1",
        "line 1: more than 100000 operations",
    );
}
