//! The vector files in `tests/vectors` at the root of the repository: each vector holds for this
//! crate, and the files match the output of `cargo run -p hull-core --example vectors`.

#[path = "../../examples/vectors/catalog/mod.rs"]
mod catalog;

use std::path::Path;

use serde_json::Value;

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/vectors")
        .join(format!("{name}.json"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_vector_is_reproduced() {
    for algorithm in catalog::algorithms() {
        let text: Value =
            serde_json::from_str(&file(algorithm.name)).expect("a vector file is JSON");
        for vector in text["vectors"].as_array().expect("a list of vectors") {
            let steps = vector["steps"].as_array().expect("a list of steps");
            let inputs: Vec<Value> = steps.iter().map(|step| step["in"].clone()).collect();
            let outputs = (algorithm.run)(&vector["config"], &inputs);
            for (at, (step, output)) in steps.iter().zip(&outputs).enumerate() {
                assert_eq!(
                    *output, step["out"],
                    "{} / {} / step {at}: in {}",
                    algorithm.name, vector["name"], step["in"]
                );
            }
        }
    }
}

#[test]
fn every_algorithm_has_a_vector_made_by_hand() {
    for algorithm in catalog::algorithms() {
        let text: Value =
            serde_json::from_str(&file(algorithm.name)).expect("a vector file is JSON");
        let vectors = text["vectors"].as_array().expect("a list of vectors");
        assert!(
            vectors.iter().any(|vector| vector["by"] == "hand"),
            "{}",
            algorithm.name
        );
    }
}

#[test]
fn files_are_up_to_date() {
    for algorithm in catalog::algorithms() {
        assert!(
            file(algorithm.name) == algorithm.to_json(),
            "tests/vectors/{}.json is out of date: cargo run -p hull-core --example vectors",
            algorithm.name
        );
    }
}
