//! Counts of a whole run: packets, acknowledgments and events. They are the last entries of `summary.json`.

use std::ops::AddAssign;

use hull_core::packet_set::Reordering;
use serde::Serialize;

use super::statistic::Combined::Mean;
use super::statistic::Statistic;
use super::statistic::Unit::{Count, Packet};

/// Group of rows in the tables of reports.
pub(super) const PER_SEED: &str = "Packets, per seed";

/// Defines the counts of a part and their statistics; a new count needs one entry here. They are
/// the last entries of `summary.json`.
macro_rules! counts {
    ($($field:ident: $statistic:expr,)+) => {
        /// Counts of a whole run; the registry states the meaning of each.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct Counts {
            $(
                #[doc = concat!("`", stringify!($field), "` of the summary.")]
                pub $field: u64,
            )+
        }

        impl AddAssign for Counts {
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)+
            }
        }

        /// Their statistics.
        pub(super) const COUNTS: &[Statistic] = &[$($statistic,)+];
    };
}

counts! {
    timeouts: Statistic::new("timeouts", Count, Mean, "retransmission timeouts of all senders")
        .reported(PER_SEED, "timeouts"),
    retransmissions: Statistic::new("retransmissions", Packet, Mean, "segments that senders retransmitted")
        .reported(PER_SEED, "retransmissions"),
    paced: Statistic::new("paced", Packet, Mean, "packets that waited in a pacer's FIFO"),
    associations: Statistic::new(
        "associations",
        Count,
        Mean,
        "ECN-Echoes that associated a flow with a pacer",
    ),
    first_sends: Statistic::new(
        "first_sends",
        Packet,
        Mean,
        "data packets of message transports, without retransmissions",
    ),
    acks: Statistic::new("acks", Packet, Mean, "acknowledgments sent by receivers of message transports"),
    nacks: Statistic::new(
        "nacks",
        Packet,
        Mean,
        "negative acknowledgments sent by these receivers, for trimmed or missing packets",
    ),
    pulls: Statistic::new("pulls", Packet, Mean, "credit packets sent by these receivers"),
    trims: Statistic::new("trims", Packet, Mean, "packets that switches trimmed"),
    late: Statistic::new(
        "late",
        Packet,
        Mean,
        "data packets of message transports that arrived after one with a higher number",
    ),
    late_degree: Statistic::new(
        "late_degree",
        Packet,
        Mean,
        "sum over late packets of the distance to the highest number received before",
    ),
    reorder_buffer: Statistic::new(
        "reorder_buffer",
        Packet,
        Mean,
        "largest number of packets of a connection that had arrived while an earlier one was missing",
    ),
    notifications: Statistic::new(
        "notifications",
        Packet,
        Mean,
        "notifications of marks sent by receivers of message transports",
    ),
    discards: Statistic::new(
        "discards",
        Packet,
        Mean,
        "data packets that such receivers discarded, because an earlier one was missing",
    ),
}

impl Counts {
    /// Adds the reordering of a connection's packets since `before`. All connections are in one
    /// part of a network, so the largest buffer there is the run's largest.
    pub fn add_reordering(&mut self, before: &Reordering, after: &Reordering) {
        self.late += after.late - before.late;
        self.late_degree += after.degree_sum - before.degree_sum;
        self.reorder_buffer = self.reorder_buffer.max(after.held_max);
    }
}
