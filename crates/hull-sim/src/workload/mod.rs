//! The traffic: who asks whom for how much, and when.

mod requests;

pub use requests::{Request, RequestPlan};
