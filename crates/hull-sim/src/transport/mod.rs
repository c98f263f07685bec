//! The transport: TCP's senders and receivers. It knows no topology: it is given acknowledgments
//! and times, and asked for segments.

mod bic;
mod congestion;
mod cubic;
mod dctcp;
mod newreno;
mod own;
mod paced_source;
mod rate_based;
mod reassembly;
mod receiver;
mod rto;
mod sack_table;
mod scoreboard;
mod sender;
pub mod sequence;
mod vegas;
mod window;

pub use bic::{Bic, BicConfig};
pub use congestion::{AckEvent, CongestionControl, Controller};
pub use cubic::Cubic;
pub use dctcp::DctcpControl;
pub use newreno::NewReno;
pub use own::{Own, OwnControl};
pub use paced_source::PacedSource;
pub use rate_based::RateBased;
pub use receiver::{EchoKind, OutgoingAck, Receiver, ReceiverConfig};
pub use rto::{RtoConfig, RtoEstimator};
pub use sack_table::{SackBlocks, SackTable};
pub use scoreboard::Scoreboard;
pub use sender::{NEVER, Segment, Sender, SenderConfig};
pub use vegas::{Vegas, VegasConfig};
pub use window::{MAX_WINDOW_BYTES, Window};
