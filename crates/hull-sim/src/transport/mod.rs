//! The transport: TCP's senders and receivers. It knows no topology: it is given acknowledgments
//! and times, and asked for segments.

mod congestion;
mod dctcp;
mod newreno;
mod receiver;
mod rto;
mod sack_table;
mod scoreboard;
mod sender;
pub mod sequence;

pub use congestion::{AckEvent, CongestionControl, Controller, Window};
pub use dctcp::DctcpControl;
pub use newreno::NewReno;
pub use receiver::{EchoKind, OutgoingAck, Receiver, ReceiverConfig};
pub use rto::RtoEstimator;
pub use sack_table::{SackBlocks, SackTable};
pub use scoreboard::Scoreboard;
pub use sender::{Segment, Sender, SenderConfig};
