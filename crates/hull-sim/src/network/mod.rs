//! The network: packets, FIFO ports with their links, and the star that joins them. It knows no
//! transport: what a packet means is for its receiver to say.

mod fifo_port;
mod packet;
mod star;

pub use fifo_port::{BufferLimit, FifoPort, PortConfig, Verdict};
pub use packet::{NO_SACK, Packet, flags};
pub use star::{FarEnd, Star};
