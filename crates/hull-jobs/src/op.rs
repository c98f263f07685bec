//! One operation of a rank.

/// Any rank, or any tag, in a receive.
pub const ANY: u32 = u32::MAX;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Sends bytes to another rank, or to its own.
    Send,
    /// Receives bytes.
    Receive,
    /// Keeps a processor busy.
    Compute,
}

/// Operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// What it does.
    pub kind: Kind,
    /// Bytes of a message; ns of a computation.
    pub size: u64,
    /// The other rank; [`ANY`] for a receive from any. 0 for a computation.
    pub peer: u32,
    /// Tag that send and receive must have in common; [`ANY`] for a receive of any.
    pub tag: u32,
    /// Processor of the rank.
    pub cpu: u8,
    /// Network interface of the rank.
    pub nic: u8,
    /// Operations that must be done (`requires`) or begun (`irequires`) before.
    pub needs: u32,
}
