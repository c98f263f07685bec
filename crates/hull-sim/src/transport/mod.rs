//! The transports: senders and receivers of streams (TCP) and of messages, and the congestion controls of
//! both. They are independent of the topology: the caller passes
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
    Bic, CongestionControl, ConstantRate, ControlName, Controller, Cubic, DcqcnSettings, Dctcp,
    DctcpRateSettings, Echo, External, ExternalControl, Feedback, HpccForm, HpccSettings, LostBy,
    LostPacket, MessageController, Pace, Path, PowerTcpSettings, Prague, ReactionPoint,
    RoundTripLine, Settings, Start, Swift, TimelySettings, UnoCcSettings, Vegas, window_bytes,
};
pub use delivery_rate::{DeliveryRate, DeliverySample};
pub use pacing::Pacing;
pub use receiver::{EchoKind, OutgoingAck, Receiver, ReceiverConfig};
pub use rto::{RtoConfig, RtoEstimator};
pub use scoreboard::Scoreboard;
pub use send_times::SendTimes;
pub use sender::{NEVER, Segment, Sender, SenderConfig};
pub use window::{MAX_WINDOW_BYTES, Window};
