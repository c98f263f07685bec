//! The programs as the build compiled them.

/// `linux/bpf/phantom_queue.bpf.c`.
#[allow(missing_docs, clippy::all)]
pub mod phantom_queue {
    include!(concat!(env!("OUT_DIR"), "/phantom_queue.skel.rs"));
}

/// `linux/bpf/pacer.bpf.c`: flow association and pacer.
#[allow(missing_docs, clippy::all)]
pub mod pacer {
    include!(concat!(env!("OUT_DIR"), "/pacer.skel.rs"));
}
