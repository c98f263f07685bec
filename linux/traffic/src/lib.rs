//! hull's traffic generator: the client and server application of HULL's testbed experiments (paper
//! 6.1 and 6.2, thesis 2.3.2) over the kernel's TCP, between network namespaces or machines.
//!
//! - [`command`]: the options; [`action`] executes them;
//! - [`server`]: the server; [`protocol`]: its protocol; [`link`]: the client's end of a connection;
//! - [`arrivals`], [`queue`] and [`open_loop`]: requests; [`incast`]: queries; [`long_flows`]: long-lived
//!   flows;
//! - [`latencies`], [`tcp_info`], [`summary`] and [`results`]: measurements and their files.
//!
//! Everything runs on one thread, so that all times come from one clock in one order.

pub mod action;
pub mod alarm;
pub mod arrivals;
pub mod command;
pub mod connect;
pub mod failure;
pub mod incast;
pub mod inputs;
pub mod latencies;
pub mod link;
pub mod long_flows;
pub mod open_loop;
pub mod outcome;
pub mod protocol;
pub mod queue;
pub mod results;
pub mod server;
pub mod stop;
pub mod summary;
pub mod tcp_info;
