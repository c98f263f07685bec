//! Writes the test vectors, one JSON file per algorithm, to `tests/vectors` at the root of the
//! repository:
//!
//! ```text
//! cargo run -p hull-core --example vectors
//! ```
//!
//! Each vector is a configuration and a list of steps with inputs (`in`) and expected outputs
//! (`out`). Those marked `"by": "hull-core"` take their outputs from this crate; those marked
//! `"by": "hand"` carry outputs that were worked out on paper, with the arithmetic in the
//! description. `tests/algorithms/vectors.rs` runs both kinds and fails when a file is out of date.

mod catalog;

use std::path::Path;

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors");
    std::fs::create_dir_all(&folder)?;
    for algorithm in catalog::algorithms() {
        let target = folder.join(format!("{}.json", algorithm.name));
        let partial = folder.join(format!("{}.json.part", algorithm.name));
        std::fs::write(&partial, algorithm.to_json())?;
        std::fs::rename(&partial, &target)?;
    }
    Ok(())
}
