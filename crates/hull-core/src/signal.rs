//! Decision of a queue controller about one packet.

/// Treatment of the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Send the packet unchanged.
    Pass,
    /// Mark the packet CE.
    Mark,
    /// Drop the packet. A controller that examines departing packets then examines the next one.
    Drop,
}
