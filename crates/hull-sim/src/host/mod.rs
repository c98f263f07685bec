//! The host below its transport: the NIC's queue and the pacer behind it.

mod pacer_stage;

pub use pacer_stage::{PacerStage, Release};
