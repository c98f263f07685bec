//! A queue controller's verdict on one packet.

/// What becomes of the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// It is sent as it is.
    Pass,
    /// It is marked CE.
    Mark,
    /// It is dropped. Where packets are looked at as they leave, the next one is looked at.
    Drop,
}
