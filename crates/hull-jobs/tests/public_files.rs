//! Files of public repositories with the counts that others made of them, where `shared/formats` is beside the repository.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use hull_jobs::chakra::NodeKind;
use hull_jobs::loggp::{Charge, Params, run};
use hull_jobs::{Choices, Form, aicb, chakra, matrix, open_job, simai};
use toml::{Table, Value};

fn folder() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = own.ancestors().map(|folder| folder.join("shared/formats"));
    folders.find(|folder| folder.is_dir())
}

/// The manifest's files in a folder: path and what is counted.
fn files(kind: &str) -> Vec<(PathBuf, Table)> {
    let Some(folder) = folder() else {
        return Vec::new();
    };
    let manifest = fs::read_to_string(folder.join("MANIFEST.toml")).unwrap();
    let manifest: Table = manifest.parse().unwrap();
    let entries = manifest["file"].as_array().unwrap();
    let files = entries.iter().filter_map(|entry| {
        let file = entry["file"].as_str()?;
        let counts = entry.get("own_count")?.as_table()?.clone();
        file.starts_with(kind).then(|| (folder.join(file), counts))
    });
    let files = Vec::from_iter(files);
    assert!(!files.is_empty(), "{kind}");
    files
}

fn count(counts: &Table, name: &str) -> u64 {
    let count = counts.get(name).and_then(Value::as_integer);
    count.unwrap_or_default() as u64
}

#[test]
fn layers_have_their_counts() {
    for (path, counts) in files("simai/") {
        let text = fs::read_to_string(&path).unwrap();
        if Form::of(text.as_bytes()) != Some(Form::SimaiText) {
            continue;
        }
        let workload = simai::read(&text).unwrap();
        assert_eq!(workload.layers.len() as u64, count(&counts, "layers"));
        let sum = |bytes: fn(&simai::Layer) -> u64| workload.layers.iter().map(bytes).sum::<u64>();
        for (name, sum) in [
            ("fwd_bytes", sum(|layer| layer.forward.bytes)),
            ("input_grad_bytes", sum(|layer| layer.input_gradient.bytes)),
            (
                "weight_grad_bytes",
                sum(|layer| layer.weight_gradient.bytes),
            ),
        ] {
            assert_eq!(sum, count(&counts, name), "{name} of {}", path.display());
        }
        let job = open_job(&path, &Choices::default()).unwrap();
        assert!(job.schedule.counts().sends > 0, "{}", path.display());
    }
}

#[test]
fn tables_have_their_counts() {
    for (path, counts) in files("simai/") {
        let text = fs::read_to_string(&path).unwrap();
        if Form::of(text.as_bytes()) != Some(Form::AicbTable) {
            continue;
        }
        let table = aicb::read(&text).unwrap();
        assert_eq!(table.rows.len() as u64, count(&counts, "rows"));
        for (name, told) in counts["ops"].as_table().unwrap() {
            let is = |row: &&aicb::Row| match name.as_str() {
                "CommType.all_reduce" => row.call == aicb::Call::AllReduce,
                "CommType.all_gather" => row.call == aicb::Call::AllGather,
                "CommType.reduce_scatter" => row.call == aicb::Call::ReduceScatter,
                "CommType.broadcast" => row.call == aicb::Call::Broadcast,
                "CommType.epoch_end" => row.call == aicb::Call::EpochEnd,
                _ => panic!("{name}"),
            };
            let found = table.rows.iter().filter(is).count();
            assert_eq!(Some(found as i64), told.as_integer(), "{name}");
        }
        let job = open_job(&path, &Choices::default()).unwrap();
        assert_eq!(Some(job.schedule.ranks()), table.ranks);
    }
}

#[test]
fn traces_have_their_counts() {
    let mut folders = HashSet::new();
    for (path, counts) in files("chakra/") {
        let trace = chakra::read(fs::read(&path).unwrap().as_slice()).unwrap();
        let nodes = trace.nodes.len() as u64;
        assert_eq!(nodes + 1, count(&counts, "messages"));
        for (kind, told) in counts["nodes"].as_table().unwrap() {
            let kind = match kind.as_str() {
                "4" => NodeKind::Compute,
                "5" => NodeKind::Send,
                "6" => NodeKind::Receive,
                "7" => NodeKind::Collective,
                _ => panic!("{kind}"),
            };
            let found = trace.nodes.iter().filter(|node| node.kind == kind).count();
            assert_eq!(Some(found as i64), told.as_integer(), "{kind:?}");
        }
        let needs = trace.nodes.iter().map(|node| node.data_needs.len() as u64);
        assert_eq!(needs.sum::<u64>(), count(&counts, "data_deps"));
        folders.insert(path.parent().unwrap().to_owned());
    }
    for folder in folders {
        let job = open_job(&folder, &Choices::default()).unwrap();
        // One megabyte each: of a ring 2 (n-1)/n of it from each rank, of an all-to-all (n-1)/n.
        let n = u128::from(job.schedule.ranks());
        let steps = match folder.to_string_lossy().contains("all_to_all") {
            true => n - 1,
            false => 2 * (n - 1),
        };
        assert_eq!(job.schedule.counts().send_bytes, steps << 20);
    }
}

/// The ring is written out: 14 messages of 131,072 B one after another, and 7 computations of 7 us between them.
#[test]
fn written_ring_takes_its_closed_form() {
    let Some(folder) = folder() else {
        return;
    };
    let ring = folder.join("chakra/custom_ring_allreduce_8npus_1MB");
    let job = open_job(&ring, &Choices::default()).unwrap();
    let params = Params {
        latency_ns: 1000,
        overhead_ns: 0,
        gap_ns: 0,
        gap_per_byte_ns: 1.0,
        overhead_per_byte_ns: 0.0,
        eager_bytes: 0,
        charge: Charge::Wire,
    };
    let report = run(job.schedule, params).unwrap();
    for end in report.ends {
        let closed = 14 * (1000 + 131_071) + 7 * 7000;
        assert_eq!((end.at_ns, end.left), (closed, 0));
    }
}

#[test]
fn matrices_have_their_counts() {
    for (path, counts) in files("htsim-cm/") {
        let matrix = matrix::read(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(matrix.flows.len() as u64, count(&counts, "flow_lines"));
        assert_eq!(u64::from(matrix.nodes), count(&counts, "nodes"));
        assert_eq!(matrix.triggers.len() as u64, count(&counts, "triggers"));
        let bytes = matrix.flows.iter().map(|flow| flow.bytes).sum::<u64>();
        assert_eq!(bytes, count(&counts, "total_bytes"));
        let to: HashSet<u32> = matrix.flows.iter().map(|flow| flow.to).collect();
        assert_eq!(to.len() as u64, count(&counts, "dests"));
        let job = open_job(&path, &Choices::default()).unwrap();
        assert_eq!(job.schedule.counts().send_bytes, u128::from(bytes));
        assert_eq!(job.schedule.counts().sends, matrix.flows.len() as u64);
    }
}

#[test]
fn schedules_have_their_counts() {
    for (path, counts) in files("goal/") {
        let job = open_job(&path, &Choices::default()).unwrap();
        let found = *job.schedule.counts();
        for (name, found) in [
            ("num_ranks", u64::from(job.schedule.ranks())),
            ("sends", found.sends),
            ("recvs", found.receives),
            ("calcs", found.computations),
            ("requires", found.requires),
            ("send_bytes", found.send_bytes as u64),
        ] {
            assert_eq!(found, count(&counts, name), "{name} of {}", path.display());
        }
    }
}
