//! The algorithms as the hardware in `rtl/` computes them: with counters of finite width, with time in
//! whole clocks and with the delay of a computation that takes several clocks. Each is a type of its
//! own, so that the forms that the simulator runs pay nothing for it. Where the hardware's limits are not
//! reached both forms agree to the bit, and tests hold them to it; the hardware is compared with these.

pub mod flow_association;
pub mod latency_meter;
pub mod pacer;
pub mod phantom_queue;
