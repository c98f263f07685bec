//! Acceptance tests of the simulator: each file checks it against something that is not the
//! simulator (queueing theory, hand arithmetic, the documents' equations, the RFCs), and says in its
//! first comment against what, from which section, and how close. One binary, so that the
//! simulator's dependencies are linked once.

mod conservation;
mod dctcp_queue;
mod determinism;
mod droptail_sawtooth;
mod ecn_reaction;
mod fingerprint;
mod loss_recovery;
mod md1_queue;
mod persistent_connection;
mod phantom_queue_fluid;
mod processor_sharing;
mod queue_series;
mod retransmission_timer;
mod scenario_errors;
mod script;
mod single_flow;
mod star;
