//! A marking threshold compared at departure with the queue that remains when the packet's transmission
//! starts. Bytes.

use hull_core::marking::ThresholdMarker;

use super::{Decision, Departure, Rule};
use crate::network::{OptionTable, Packet};

/// Threshold of one port.
#[derive(Debug)]
pub struct DequeueThreshold(pub ThresholdMarker);

impl Rule for DequeueThreshold {
    fn on_departure(
        &mut self,
        departure: &Departure,
        packet: &Packet,
        _options: &mut OptionTable,
    ) -> Decision {
        let DequeueThreshold(marker) = self;
        Decision::mark_if(marker.marks(departure.queue_bytes, u32::from(packet.wire_bytes)))
    }
}
