//! QCN's congestion point at a port (thesis 5.2.1), with the random numbers of the port, and the
//! feedback that it has for the source of the last packet. Queues in bytes.

use hull_core::qcn_congestion_point::CongestionPoint;

use crate::random::Stream;

/// The congestion point of one port.
#[derive(Clone, Debug)]
pub struct SampledQueue {
    point: CongestionPoint,
    random: Stream,
    feedback: Option<u8>,
}

impl SampledQueue {
    /// With the random numbers of one port.
    pub fn new(point: CongestionPoint, random: Stream) -> Self {
        SampledQueue {
            point,
            random,
            feedback: None,
        }
    }

    /// A data packet of `bytes` finds `queue_bytes`.
    pub fn on_arrival(&mut self, queue_bytes: u64, bytes: u32) {
        self.feedback = self
            .point
            .on_arrival(queue_bytes, bytes, self.random.bits());
    }

    /// What the source of the last packet is to be told, once.
    pub fn take_feedback(&mut self) -> Option<u8> {
        self.feedback.take()
    }
}
