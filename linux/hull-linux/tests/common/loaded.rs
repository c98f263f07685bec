//! The programs, loaded for tests: times injected, state in the maps' first slot.

use std::mem::MaybeUninit;

use bytemuck::{AnyBitPattern, pod_read_unaligned};
use hull_linux::programs::pacer::{PacerSkel, PacerSkelBuilder};
use hull_linux::programs::phantom_queue::{PhantomQueueSkel, PhantomQueueSkelBuilder};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, OpenObject};

const SLOT: u32 = 0;

/// The phantom queue; not `injected`, it takes time and size from the kernel.
pub fn phantom_queue(
    storage: &mut MaybeUninit<OpenObject>,
    injected: bool,
) -> PhantomQueueSkel<'_> {
    let mut open = PhantomQueueSkelBuilder::default()
        .open(storage)
        .expect("opens");
    let constants = open.maps.rodata_data.as_deref_mut();
    constants.expect("rodata").injected = injected;
    open.load().expect("the verifier accepts it")
}

/// Flow association and pacer, with room for so many flows.
pub fn pacer(storage: &mut MaybeUninit<OpenObject>, flows: u32) -> PacerSkel<'_> {
    let mut open = PacerSkelBuilder::default().open(storage).expect("opens");
    let constants = open.maps.rodata_data.as_deref_mut();
    constants.expect("rodata").injected = true;
    let associations = &mut open.maps.associations;
    associations.set_max_entries(flows).expect("before loading");
    open.load().expect("the verifier accepts it")
}

/// Writes the first slot.
pub fn put(map: &dyn MapCore, value: &[u8]) {
    map.update(&SLOT.to_ne_bytes(), value, MapFlags::ANY)
        .expect("fits");
}

/// Reads the first slot.
pub fn get<T: AnyBitPattern>(map: &dyn MapCore) -> T {
    let found = map.lookup(&SLOT.to_ne_bytes(), MapFlags::ANY);
    pod_read_unaligned(&found.expect("readable").expect("there"))
}
