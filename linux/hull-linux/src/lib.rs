//! HULL on stock Linux.
//!
//! The programs of `linux/bpf` run in the kernel; this crate loads them and exchanges data with them. A
//! command uses the modules in this order:
//!
//! 1. [`settings`]: the user's settings, checked against the papers' ranges and the link
//! 2. [`machine`]: the kernel's features, the device, and the owner of its queue
//! 3. [`programs`] and [`maps`]: the programs, and the memory shared with them
//! 4. [`attachment`] and [`record`]: attaching a device completely or not at all; the state to restore, on disk
//! 5. [`readings`]: the programs' counters
//!
//! In addition: [`dctcp`] for a kernel without DCTCP, [`meter`] for the latency between two devices, and
//! [`rack`], the papers' testbed in network namespaces.

pub mod attachment;
pub mod command;
pub mod dctcp;
pub mod machine;
pub mod maps;
pub mod meter;
pub mod problem;
pub mod programs;
pub mod rack;
pub mod readings;
pub mod record;
pub mod settings;
