//! Acceptance tests of the simulator: each file checks it against something that is not the
//! simulator (queueing theory, hand arithmetic, the documents' equations, the RFCs), and says in its
//! first comment against what, from which section, and how close. One binary, so that the
//! simulator's dependencies are linked once.

mod conservation;
mod cut_through;
mod dctcp_queue;
mod determinism;
mod droptail_sawtooth;
mod durations;
mod ecn_reaction;
mod fingerprint;
mod forgiving;
mod groups;
mod host_receive;
mod host_send;
mod house;
mod l4s;
mod link_failure;
mod loss_recovery;
mod marking_instant;
mod md1_queue;
mod measured_window;
mod measuring;
mod messages;
mod other_controls;
mod overrides;
mod pacer_settings;
mod persistent_connection;
mod phantom_queue_fluid;
mod port_bench;
mod priority_queue;
mod processor_sharing;
mod qcn;
mod queue_series;
mod random_loss;
mod random_managers;
mod random_messages;
mod random_scenarios;
mod random_settings;
mod rcp;
mod red_and_pi;
mod refused_before_the_run;
mod retransmission_timer;
mod scenario_errors;
mod schedulers;
mod script;
mod shared_memory;
mod short_keys;
mod single_flow;
mod slowdown;
mod star;
mod threads;
mod too_large;
mod transports;
mod tree192_run;
mod uno;
