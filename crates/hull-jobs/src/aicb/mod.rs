//! aicb's table of the operations of a training job (`.csv`): collectives and computations that each rank does, row after row, with the group
//! that takes part. Sizes bytes, times ns.

mod rows;
mod table;
#[cfg(test)]
mod tests;

pub use rows::job;
pub use table::read;

use crate::groups::Group;

/// What a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Number of ranks that the first line names.
    pub ranks: Option<u32>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its line.
    pub line: u64,
    /// What is done (`comm_type`).
    pub call: Call,
    /// Who takes part (`comm_group`).
    pub group: Option<Group>,
    /// Number of ranks of the group (`comm_group_size`).
    pub group_size: Option<u32>,
    /// Size (`msg_size`), bytes; 0 for a computation, whose column has the shapes of matrices.
    pub bytes: u64,
    /// Measured or computed time (`_elapsed_time`), ns.
    pub time_ns: Option<u64>,
    /// How often (`count`).
    pub count: u64,
}

/// What a row does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `all_reduce`
    AllReduce,
    /// `all_gather`, `all_gather_into_tensor`
    AllGather,
    /// `reduce_scatter`, `reduce_scatter_tensor`
    ReduceScatter,
    /// `all_to_all`
    AllToAll,
    /// `broadcast`, from the group's first rank
    Broadcast,
    /// `reduce`, to this member of the group
    Reduce(u32),
    /// `barrier`
    Barrier,
    /// `isend` or `irecv` with a neighbour in the pipeline
    Pass(Pass),
    /// `computation`
    Computation,
    /// `epoch_end`, the end of an iteration
    EpochEnd,
}

/// Message between neighbours in a pipeline (`additional`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// `send_next`
    SendNext,
    /// `send_prev`
    SendPrevious,
    /// `recv_next`
    ReceiveNext,
    /// `recv_prev`
    ReceivePrevious,
}
