//! The transport: TCP's senders and receivers. It is independent of the topology: the caller passes
//! acknowledgments and times, and polls for segments.

mod control;
mod delivery_rate;
pub mod message;
mod pacing;
mod reassembly;
mod receiver;
mod rto;
mod scoreboard;
mod send_times;
mod sender;
pub mod sequence;
mod window;

pub use control::{
    Bic, CongestionControl, ConstantRate, ControlName, Controller, Cubic, Dctcp, Echo, External,
    ExternalControl, Feedback, Pace, Prague, ReactionPoint, Settings, Start, Vegas,
};
pub use delivery_rate::{DeliveryRate, DeliverySample};
pub use pacing::Pacing;
pub use receiver::{EchoKind, OutgoingAck, Receiver, ReceiverConfig};
pub use rto::{RtoConfig, RtoEstimator};
pub use scoreboard::Scoreboard;
pub use send_times::SendTimes;
pub use sender::{NEVER, Segment, Sender, SenderConfig};
pub use window::{MAX_WINDOW_BYTES, Window};
