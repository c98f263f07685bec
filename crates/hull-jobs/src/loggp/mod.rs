//! LogGP, the simplest network: a latency, an overhead, a gap, and a time for each byte (Alexandrov et al. 1995; S as in
//! LogGPS, O as in LogGOPSim). A message meets no other one except at its own processors and interfaces.

mod run;
#[cfg(test)]
mod tests;

pub use run::{End, Report, Waiting, run};

/// Where the bytes of a message take their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    /// At the receiver: its processor and interface are busy with them, one message after another (LogGOPSim).
    Receiver,
    /// On the way: messages to one receiver do not share its rate (LogGOPSim of ATLAHS).
    Wire,
}

/// Parameters of the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Latency (L), ns.
    pub latency_ns: u64,
    /// Time of a processor for each message, at both ends (o), ns.
    pub overhead_ns: u64,
    /// Time of an interface for each message, at both ends (g), ns.
    pub gap_ns: u64,
    /// Time of an interface for each byte after the first (G), ns.
    pub gap_per_byte_ns: f64,
    /// Time of a processor for each byte after the first (O), ns.
    pub overhead_per_byte_ns: f64,
    /// Largest eager message (S), bytes: the send of a larger one ends when its receive is posted.
    pub eager_bytes: u64,
    /// Where the bytes take their time.
    pub charge: Charge,
}

impl Params {
    /// Time of a processor for the send of a message, ns.
    fn processor_ns(&self, bytes: u64) -> u64 {
        self.overhead_ns + per_byte(bytes, self.overhead_per_byte_ns)
    }

    /// Time of an interface for a message, ns.
    fn interface_ns(&self, bytes: u64) -> u64 {
        self.gap_ns + per_byte(bytes, self.gap_per_byte_ns)
    }
}

/// Time of the bytes after the first, whole ns. A message without bytes costs as much as one of 1 byte.
fn per_byte(bytes: u64, each_ns: f64) -> u64 {
    (bytes.saturating_sub(1) as f64 * each_ns) as u64
}
