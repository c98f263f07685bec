//! DCTCP in the kernel: the kernel's module, or hull's own if there is none (`linux/bpf/dctcp.bpf.c`).

use std::mem::MaybeUninit;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapHandle, query::MapInfoIter};

use crate::machine;
use crate::problem::{Problem, input};
use crate::programs::dctcp::DctcpSkelBuilder;

/// Name of DCTCP from the kernel's module.
const KERNELS: &str = "dctcp";
/// Name of hull's own DCTCP.
const OURS: &str = "hull_dctcp";

fn available() -> Result<Vec<String>, Problem> {
    let list = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")?;
    Ok(list.split_whitespace().map(str::to_owned).collect())
}

/// Name of a DCTCP that sockets can select now, if any.
pub fn found() -> Result<Option<&'static str>, Problem> {
    let available = available()?;
    Ok([KERNELS, OURS]
        .into_iter()
        .find(|name| available.iter().any(|found| found == name)))
}

/// Makes DCTCP available and returns its name: the kernel's if available, unless `ours` is set.
pub fn on(ours: bool) -> Result<&'static str, Problem> {
    if !ours {
        if found()? != Some(KERNELS) {
            let _ = machine::call("modprobe", &["-q", "tcp_dctcp"]);
        }
        if let Some(name) = found()? {
            return Ok(name);
        }
    }
    if available()?.iter().any(|name| name == OURS) {
        return Ok(OURS);
    }
    let mut storage = MaybeUninit::uninit();
    let missing = |error: libbpf_rs::Error| {
        Problem::Input(format!(
            "this kernel supports neither tcp_dctcp (CONFIG_TCP_CONG_DCTCP) nor hull's own DCTCP, which needs \
             struct_ops for TCP with BTF (CONFIG_BPF_JIT, CONFIG_DEBUG_INFO_BTF): {error:#}"
        ))
    };
    let open = DctcpSkelBuilder::default()
        .open(&mut storage)
        .map_err(missing)?;
    let mut skel = open.load().map_err(missing)?;
    let mut link = skel.maps.hull_dctcp.attach_struct_ops().map_err(missing)?;
    // Without this, the program would be detached at the end of the process.
    link.disconnect();
    Ok(OURS)
}

/// Removes hull's own DCTCP; connections that use it keep it until they end.
pub fn off() -> Result<(), Problem> {
    let map = MapInfoIter::default().find(|map| map.name == OURS);
    let Some(map) = map else {
        return input(format!(
            "{OURS} is not loaded; run hull linux dctcp on first"
        ));
    };
    Ok(MapHandle::from_map_id(map.id)?.delete(&0_u32.to_ne_bytes())?)
}
