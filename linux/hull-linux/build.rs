//! Compiles the eBPF programs (clang) and writes a skeleton for each.

use std::path::PathBuf;

use libbpf_cargo::SkeletonBuilder;

fn main() {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let bpf = PathBuf::from("../bpf");
    let mut arguments = vec!["-mcpu=v3".to_owned(), "-Wall".into(), "-Werror".into()];
    // Debian keeps the kernel's asm/ headers in a folder for each architecture.
    let architecture = std::env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets it");
    let headers = format!("/usr/include/{architecture}-linux-gnu");
    if PathBuf::from(&headers).is_dir() {
        arguments.push(format!("-I{headers}"));
    }
    for name in ["phantom_queue", "pacer", "dctcp", "latency_meter"] {
        SkeletonBuilder::new()
            .source(bpf.join(format!("{name}.bpf.c")))
            .clang_args(&arguments)
            .build_and_generate(out.join(format!("{name}.skel.rs")))
            .unwrap_or_else(|error| panic!("{name}.bpf.c: {error:#}"));
    }
    println!("cargo:rerun-if-changed=../bpf");
}
