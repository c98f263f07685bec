//! Chakra execution traces (MLCommons; `et_def.proto` of schema 0.0.4 and 1): one file for each rank, with a node for each
//! computation, send, receive and collective, and the nodes that it waits for. Sizes bytes, times us.

mod attribute;
mod files;
mod graph;
#[cfg(test)]
mod tests;
mod trace;
mod wire;

pub use files::{Named, open};
pub use graph::job;
pub use trace::read;

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Version of the schema, if it is said.
    pub version: Option<String>,
    /// The nodes, in the order of the file.
    pub nodes: Vec<Node>,
    /// Attributes without effect.
    pub unused: u64,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Byte at which it begins.
    pub at: u64,
    /// Its number.
    pub id: u64,
    /// What it does.
    pub kind: NodeKind,
    /// Nodes that must be done before, by control.
    pub control_needs: Vec<u64>,
    /// Nodes that must be done before, by data.
    pub data_needs: Vec<u64>,
    /// Its time, us.
    pub duration_us: u64,
    /// Whether the host does it, not the accelerator (`is_cpu_op`).
    pub on_host: bool,
    /// Which collective (`comm_type`).
    pub collective: Option<u64>,
    /// Size (`comm_size`), bytes.
    pub bytes: Option<u64>,
    /// Sender (`comm_src`).
    pub from: Option<u64>,
    /// Receiver (`comm_dst`).
    pub to: Option<u64>,
    /// Tag (`comm_tag`).
    pub tag: Option<u64>,
    /// Name of the process group (`pg_name`); all ranks if there is none.
    pub group: Option<String>,
}

/// Type of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Says something about the trace (1).
    Metadata,
    /// Loads from memory (2).
    Load,
    /// Stores to memory (3).
    Store,
    /// Computes (4).
    Compute,
    /// Sends (5).
    Send,
    /// Receives (6).
    Receive,
    /// Takes part in a collective (7).
    Collective,
}
