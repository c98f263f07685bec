//! hull's simulator, packet by packet. Each folder may use those above it and none below, which a test reads
//! from the imports:
//!
//! - [`engine`]: when things happen; it knows times and numbers of entities only;
//! - [`network`]: packets, links, the ports of switches and their rules;
//! - [`transport`]: senders, receivers and congestion controls;
//! - [`host`]: the NIC's queue and HULL's pacer;
//! - [`topology`]: how hosts and switches are joined, and the paths through them;
//! - [`scenario`]: what is simulated, the one definition of a scenario file; the settings of a mechanism are in
//!   the mechanism's own file;
//! - [`workload`]: who sends whom how much, and when;
//! - [`measure`]: what is written down about it;
//! - [`simulation`]: joins them, from a scenario to a run, in one part or several;
//! - [`part`]: one scenario with one seed, run into a folder.
//!
//! Time is an integer count of picoseconds; the same scenario, seed and version give the same bytes.

pub mod engine;
pub mod host;
pub mod limits;
pub mod measure;
pub mod network;
pub mod part;
mod prefetch;
pub mod problem;
pub mod quote;
pub mod random;
pub mod scenario;
pub mod service_time;
pub mod simulation;
pub mod topology;
pub mod transport;
pub mod units;
pub mod workload;
