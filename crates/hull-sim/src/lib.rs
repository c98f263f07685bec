//! hull's simulator, packet by packet. The folders in the order in which a packet meets them:
//!
//! - [`scenario`]: what is simulated; the one definition of a scenario file;
//! - [`workload`]: a request is made;
//! - [`transport`]: TCP cuts it into segments and gets them across;
//! - [`host`]: the NIC's queue and HULL's pacer;
//! - [`topology`]: how hosts and switches are joined, and the paths through them;
//! - [`network`]: links, the switch's ports, marking and phantom queues;
//! - [`measure`]: what is written down about it;
//! - [`engine`]: when all this happens.
//!
//! [`simulation`] joins them and [`part`] runs one scenario with one seed into a folder. Time is
//! an integer count of picoseconds; the same scenario, seed and version give the same bytes.

pub mod engine;
pub mod host;
pub mod limits;
pub mod measure;
pub mod network;
pub mod part;
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
