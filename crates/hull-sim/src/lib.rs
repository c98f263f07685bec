//! hull's packet-level simulator. Each folder may use only those above it in this list; a test
//! checks the imports:
//!
//! - [`memory`]: what a run is estimated to need, and what this process may still take;
//! - [`engine`]: the order of events in time; it knows only times and entity numbers;
//! - [`network`]: packets, links, the ports of switches and their rules;
//! - [`transport`]: senders, receivers and congestion controls;
//! - [`host`]: the NIC's queue and HULL's pacer;
//! - [`topology`]: the connections between hosts and switches, and the paths through them;
//! - [`workload`]: the traffic: senders, receivers, sizes and times;
//! - [`scenario`]: the only definition of a scenario file; a mechanism's settings are in the
//!   mechanism's own file;
//! - [`measure`]: the recorded results;
//! - [`simulation`]: combines them into a run of a scenario, in one part or several;
//! - [`part`]: runs one scenario with one seed into a folder.
//!
//! Time is an integer count of picoseconds; the same scenario, seed and version give the same bytes.

mod compressed;
pub mod damaged;
pub mod engine;
pub mod host;
pub mod limits;
pub mod measure;
pub mod memory;
pub mod network;
pub mod part;
mod prefetch;
pub mod problem;
pub mod quote;
pub mod random;
pub mod scenario;
pub mod service_time;
pub mod simulation;
mod spelling;
mod text_file;
pub mod topology;
pub mod transport;
pub mod units;
pub mod workload;
