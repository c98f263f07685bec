//! Traces of fixtures and of lines written here, with times and bytes counted by hand.

use super::wire::{Fields, Value};
use super::*;
use crate::alpha_beta::time_ns;
use crate::choices::Choices;
use crate::job::Job;
use crate::problem::Problem;

const PAIR: [&[u8]; 2] = [
    include_bytes!("../../../../tests/schedules/chakra/pair.0.et"),
    include_bytes!("../../../../tests/schedules/chakra/pair.1.et"),
];

fn named(files: &[&[u8]]) -> Result<Vec<Named>, Problem> {
    let traces = (0..).zip(files).map(|(rank, &bytes)| {
        Ok(Named {
            file: format!("it.{rank}.et"),
            trace: read(bytes)?,
        })
    });
    traces.collect()
}

fn job_of(files: &[&[u8]]) -> Result<Job, Problem> {
    let choices = Choices {
        most_operations: 100_000,
        ..Choices::default()
    };
    job(&named(files)?, &choices)
}

#[track_caller]
fn assert_refused(files: &[&[u8]], told: &str) {
    let problem = job_of(files).expect_err("a mistake").to_string();
    assert!(
        problem.contains(told),
        "{problem:?} should contain {told:?}"
    );
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
    out
}

fn with_length(bytes: &[u8]) -> Vec<u8> {
    [&varint(bytes.len() as u64), bytes].concat()
}

/// Number and value of fields whose wire type is 0.
fn numbers(fields: &[(u64, u64)]) -> Vec<u8> {
    let fields = fields
        .iter()
        .flat_map(|&(number, value)| [varint(number << 3), varint(value)]);
    fields.collect::<Vec<_>>().concat()
}

/// A node with its plain fields and attributes of type int64.
fn node(fields: &[(u64, u64)], attributes: &[(&str, u64)]) -> Vec<u8> {
    let mut out = numbers(fields);
    for (name, value) in attributes {
        let name = [vec![0x0a], with_length(name.as_bytes())].concat();
        let attribute = [name, numbers(&[(9, *value)])].concat();
        out.extend([vec![0x52], with_length(&attribute)].concat());
    }
    with_length(&out)
}

fn file(nodes: &[Vec<u8>]) -> Vec<u8> {
    [with_length(&[]), nodes.concat()].concat()
}

/// The examples of the format's own description.
#[test]
fn fields_are_those_of_the_description() {
    let field = |bytes: &'static [u8]| {
        let field = Fields::new(bytes, 10).next().unwrap().unwrap();
        (field.at, field.number, field.value)
    };
    assert_eq!(field(&[0x08, 0x96, 0x01]), (11, 1, Value::Varint(150)));
    assert_eq!(field(b"\x12\x07testing"), (12, 2, Value::Bytes(b"testing")));
    let (_, number, Value::Bytes(packed)) = field(&[0x32, 6, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05])
    else {
        panic!("packed numbers");
    };
    let mut packed = Fields::new(packed, 0);
    let values = [(); 3].map(|()| packed.varint().unwrap());
    assert_eq!((number, values), (6, [3, 270, 86942]));
    assert!(packed.is_empty());
    let most = [[0xff; 9].as_slice(), &[0x01]].concat();
    assert_eq!(Fields::new(&most, 0).varint().unwrap(), u64::MAX);
}

#[test]
fn nodes_are_read() {
    let traces = named(&PAIR).unwrap();
    let first = &traces[0].trace;
    assert_eq!(first.version.as_deref(), Some("0.0.4"));
    assert_eq!((first.nodes.len(), first.unused), (4, 1));
    let collective = &first.nodes[2];
    assert_eq!((collective.id, collective.kind), (2, NodeKind::Collective));
    assert_eq!(collective.control_needs, [0]);
    assert_eq!(collective.data_needs, [1]);
    assert_eq!(
        (collective.collective, collective.bytes),
        (Some(0), Some(8000))
    );
    assert!(first.nodes[3].on_host);
    let second = &traces[1].trace;
    assert_eq!(
        (second.nodes[1].from, second.nodes[1].tag),
        (Some(0), Some(4))
    );
    assert_eq!(second.nodes[2].data_needs, [5, 7]);
}

/// Rank 0 computes 3 us, and sends 5000 B, which takes 1000 + 4999 ns; rank 1 computes 1 us behind it. Then both sum 8000 B
/// in two steps of 1000 + 3999 ns, and rank 0 computes 2 us.
#[test]
fn nodes_wait_for_their_needs() {
    let job = job_of(&PAIR).unwrap();
    assert_eq!(job.remarks.to_string(), "attributes without effect: 1");
    assert_eq!(job.schedule.counts().send_bytes, 5000 + 4 * 4000);
    assert_eq!(job.stages.len(), 1);
    assert_eq!(time_ns(job.schedule), 3000 + 5999 + 1000 + 2 * 4999 + 2000);
}

/// Both ranks send 1001 B and receive behind their own send, twice: no send waits for the other rank's receive.
#[test]
fn receives_behind_sends_do_not_block() {
    let of_rank = |other: u64| {
        let message = [
            ("comm_size", 1001),
            ("comm_dst", other),
            ("comm_src", 1 - other),
        ];
        let back = [("comm_size", 1001), ("comm_src", other)];
        let nodes = [
            node(&[(1, 0), (3, 5)], &message),
            node(&[(1, 1), (3, 6), (5, 0)], &back),
            node(&[(1, 2), (3, 5), (5, 1)], &message),
            node(&[(1, 3), (3, 6), (5, 2)], &back),
        ];
        file(&nodes)
    };
    let job = job_of(&[&of_rank(1), &of_rank(0)]).unwrap();
    assert_eq!(time_ns(job.schedule), 2 * 2000);
}

/// An all-gather's size is what each of 3 ranks has: 2 steps of 1000 B. The second collective of each rank is its reduce.
#[test]
fn collectives_belong_together_by_their_order() {
    let gather = [("comm_type", 2), ("comm_size", 1000)];
    let reduce = [("comm_type", 1), ("comm_size", 501)];
    let of_rank = |ids: [u64; 2]| {
        let first = node(&[(1, ids[0]), (3, 7)], &gather);
        let second = node(&[(1, ids[1]), (3, 7), (5, ids[0])], &reduce);
        file(&[first, second])
    };
    let files = [of_rank([0, 1]), of_rank([5, 4]), of_rank([8, 9])];
    let job = job_of(&files.each_ref().map(Vec::as_slice)).unwrap();
    assert_eq!(job.schedule.counts().send_bytes, 3 * 2 * 1000 + 2 * 501);
    // Rank 1 sends to rank 0 at once, rank 2 too: they share no link here.
    assert_eq!(time_ns(job.schedule), 2 * 1999 + 1500);
}

#[test]
fn damaged_files_name_their_byte() {
    let whole = PAIR[0];
    assert_refused(&[b""], "byte 0: the file is empty; expected the metadata");
    assert_refused(&[&whole[..whole.len() - 1]], "of a message");
    assert_refused(&[&[0x80]], "byte 1: the message ends after 0 of 1 bytes");
    assert_refused(&[&[0xff; 20]], "a number of more than 64 bits");
    assert_refused(
        &[&varint(1 << 40)],
        "byte 0: a message of 1099511627776 bytes; expected",
    );
    assert_refused(
        &[&with_length(&numbers(&[(1, 5)]))],
        "byte 2: field 1 in the first message",
    );
    assert_refused(
        &[&with_length(&[0x0b])],
        "field 1 of wire type 3; expected 0, 1, 2 or 5",
    );
    assert_refused(
        &[&with_length(&[0x00, 0x00])],
        "byte 1: field 0; expected a field's number",
    );
    let bad_text = with_length(&[0x0a, 1, 0xff]);
    assert_refused(&[&bad_text], "byte 3: not UTF-8; expected a string");
    let of = |node: Vec<u8>| file(&[node]);
    assert_refused(
        &[&of(node(&[(1, 5)], &[]))],
        "byte 2: node 5 of type 0; expected 1 (metadata)",
    );
    assert_refused(&[&of(node(&[(3, 11)], &[]))], "node 0 of type 11; expected");
    assert_refused(
        &[&of(node(&[(2, 1), (3, 4)], &[]))],
        "field 2 of a node; expected the types",
    );
    let mut typed = with_length(&[0x52, 3, 0x19, 1, 1]);
    typed.extend([0; 8]);
    assert_refused(&[&file(&[typed])], "the message ends after 2 of 8 bytes");
}

#[test]
fn nodes_that_cannot_be_done_are_refused() {
    let of = |fields: &[(u64, u64)], attributes: &[(&str, u64)]| file(&[node(fields, attributes)]);
    let all_reduce = of(&[(3, 7)], &[("comm_type", 0), ("comm_size", 8)]);
    let other = of(&[(3, 7)], &[("comm_type", 0), ("comm_size", 9)]);
    assert_refused(
        &[&all_reduce, &other],
        "it.1.et, byte 2: node 0: comm_type 0 and comm_size 9; expected comm_type 0",
    );
    assert_refused(
        &[&all_reduce, &file(&[])],
        "it.1.et: no collective; expected as many",
    );
    let twice = [&all_reduce[..], &all_reduce[1..]].concat();
    assert_refused(
        &[&all_reduce, &twice],
        "it.1.et: 2 collectives of all ranks; expected 1",
    );
    let scatter = of(&[(3, 7)], &[("comm_type", 4), ("comm_size", 8)]);
    assert_refused(
        &[&scatter],
        "comm_type 4 of 8 bytes; expected 0 (all-reduce)",
    );
    assert_refused(&[&of(&[(3, 7)], &[])], "expected `comm_size`");
    assert_refused(
        &[&of(&[(3, 5)], &[])],
        "node 0: expected `comm_dst`, a rank from 0 to 0",
    );
    assert_refused(
        &[&of(&[(3, 6)], &[("comm_src", 0)])],
        "expected `comm_size`",
    );
    assert_refused(
        &[&of(&[(3, 5)], &[("comm_src", 3), ("comm_dst", 0)])],
        "a message of rank 3; expected its own",
    );
    assert_refused(
        &[&of(&[(3, 4), (5, 9)], &[])],
        "waits for node 9, which the trace does not",
    );
    assert_refused(
        &[&of(&[(3, 4), (5, 0)], &[])],
        "rank 0: operations that wait for each other",
    );
    assert_refused(
        &[&of(&[(3, 4), (7, u64::MAX)], &[])],
        "a duration of more than 2^64 ns",
    );
    let double = file(&[node(&[(3, 4)], &[]), node(&[(3, 4)], &[])]);
    assert_refused(&[&double], "a second node of this number");
}

#[test]
fn files_are_found_by_folder_prefix_or_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (rank, bytes) in PAIR.into_iter().enumerate() {
        std::fs::write(at(&format!("a.b.{rank}.et")), bytes).unwrap();
    }
    std::fs::write(at("notes.txt"), "").unwrap();
    for path in [folder.path().to_owned(), at("a.b"), at("a.b.1.et")] {
        let names = open(&path).unwrap().into_iter().map(|named| named.file);
        assert_eq!(Vec::from_iter(names), ["a.b.0.et", "a.b.1.et"]);
    }
    let refused = |path: &std::path::Path, told: &str| {
        let problem = open(path).expect_err("a mistake").to_string();
        assert!(problem.contains(told), "{problem:?}");
    };
    refused(&at("a"), "no trace; expected one file for each rank");
    std::fs::write(at("a.b.3.et"), []).unwrap();
    refused(folder.path(), "no `a.b.2.et`; expected");
    std::fs::write(at("c.0.et"), []).unwrap();
    refused(folder.path(), "traces `a.b` and `c` in one folder");
    refused(&at("c.0.et"), "c.0.et, byte 0: the file is empty");
}
