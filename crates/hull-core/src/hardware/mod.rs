//! The algorithms as the hardware in `rtl/` computes them: with counters of finite width, with time in
//! whole clocks, and with the latency of multi-clock computations. Each is a separate type, so the
//! simulator's forms pay nothing for it. Within the hardware's limits both forms agree bit for bit,
//! which tests check; the hardware is compared with these types.

pub mod flow_association;
pub mod latency_meter;
pub mod pacer;
pub mod phantom_queue;
