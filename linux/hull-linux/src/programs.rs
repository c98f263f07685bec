//! The programs as the build compiled them. Their skeletons, which libbpf-cargo writes, borrow what libbpf
//! has mapped by unsafe code.

/// `linux/bpf/phantom_queue.bpf.c`.
#[allow(missing_docs, unsafe_code, clippy::all)]
pub mod phantom_queue {
    include!(concat!(env!("OUT_DIR"), "/phantom_queue.skel.rs"));
}

/// `linux/bpf/pacer.bpf.c`: flow association and pacer.
#[allow(missing_docs, unsafe_code, clippy::all)]
pub mod pacer {
    include!(concat!(env!("OUT_DIR"), "/pacer.skel.rs"));
}

/// `linux/bpf/dctcp.bpf.c`.
#[allow(missing_docs, unsafe_code, clippy::all)]
pub mod dctcp {
    include!(concat!(env!("OUT_DIR"), "/dctcp.skel.rs"));
}

/// `linux/bpf/latency_meter.bpf.c`.
#[allow(missing_docs, unsafe_code, clippy::all)]
pub mod latency_meter {
    include!(concat!(env!("OUT_DIR"), "/latency_meter.skel.rs"));
}
