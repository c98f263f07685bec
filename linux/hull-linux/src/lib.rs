//! HULL on stock Linux.
//!
//! The programs of `linux/bpf` run in the kernel; this crate loads them and talks to them, in the order
//! in which a command meets the modules:
//!
//! 1. [`settings`]: what was asked for, checked against the papers' ranges and the link
//! 2. [`machine`]: is the kernel able, is the device there, whose is its queue
//! 3. [`programs`] and [`maps`]: the programs, and the memory they share with us
//! 4. [`attachment`] and [`record`]: all of it on a device, or nothing; what has to be undone, on disk
//! 5. [`readings`]: what the programs have counted
//!
//! Beside them: [`dctcp`] for a kernel without it, [`meter`] for the time between two places, and [`rack`],
//! the papers' testbed of network namespaces.

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
