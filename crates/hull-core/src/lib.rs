//! HULL's algorithms as pure state machines.
//!
//! Nothing here has a clock, a random number generator or I/O. Time (picoseconds since the start,
//! `u64`) and random bits are arguments, and all arithmetic is on integers, so that a simulator, an
//! eBPF program and a hardware description can be held against the same test vectors. Algorithms whose
//! reference computes in floating point use `f64` with the four basic operations, which give the same bits
//! on every machine.
//!
//! The modules in the order in which a data packet meets them:
//!
//! 1. [`flow_association`]: does this packet's flow have to be paced? (sending NIC)
//! 2. [`pacer`]: if so, when may the packet leave? (sending NIC; [`departure_pacer`] is the same for
//!    a host that writes departure times on its packets, as Linux does)
//! 3. [`marking`]: at the switch, is the queue that it joins above the threshold K? (DCTCP) Or, for the
//!    schemes that the papers compare with, what do [`red`] and [`pi`] say to that queue?
//! 4. [`phantom_queue`]: as it leaves the switch, is the virtual queue above its threshold? (HULL)
//! 5. [`ecn_echo`]: at the receiver, when is it acknowledged, and with which ECN-Echo bit?
//! 6. [`dctcp`]: at the sender, what does the acknowledgement do to alpha and to the window?
//!
//! QCN controls rates without acknowledgements: [`qcn_congestion_point`] at the switch,
//! [`qcn_reaction_point`] at the source.
//! Of chapter 5 of the thesis: [`rcp`], the rate that a router offers to its flows, and [`averaging`], the
//! principle that keeps a loop stable with a longer delay.
//!
//! Ultra Ethernet's transport: [`nscc`], the window at the sender, and [`entropy`], the path of each packet;
//! at the receiver [`packet_set`], what has arrived, [`ack_coalescing`], when to say so,
//! and [`rccc`], the credit that it gives.
//!
//! Uno: [`uno_phantom_queue`] at the switch, [`unocc`] at the sender, [`erasure`] at both ends. The queues of
//! both mark by a [`ramp`].
//!
//! L4S: [`dualpi2`] at the switch, [`prague`] at the sender, [`accecn`] for what it is told; what operators use
//! instead: [`codel`], [`fq_codel`] and [`pie`]. Such queues answer with a [`signal`].
//!
//! [`hardware`] has those of them that `rtl/` builds, with the limits that hardware has.
//!
//! Documents named in the modules: "the paper" is "Less Is More: Trading a Little Bandwidth for
//! Ultra-Low Latency in the Data Center" (NSDI 2012); "the thesis" is M. Alizadeh, "Packet Transport
//! Mechanisms for Data Center Networks" (Stanford, 2013); "the report" is K. Prasopoulos,
//! "Implementation and end-to-end Evaluation of the HULL Architecture" (EPFL, ns-2).

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod accecn;
pub mod ack_coalescing;
pub mod averaging;
pub mod codel;
pub mod dctcp;
pub mod departure_pacer;
pub mod dualpi2;
pub mod ecn_echo;
pub mod entropy;
pub mod erasure;
pub mod flow_association;
pub mod fq_codel;
pub mod hardware;
pub mod marking;
pub mod nscc;
pub mod pacer;
pub mod packet_set;
pub mod phantom_queue;
pub mod pi;
pub mod pie;
pub mod prague;
pub mod qcn_congestion_point;
pub mod qcn_reaction_point;
pub mod queue_estimate;
pub mod ramp;
pub mod rccc;
pub mod rcp;
pub mod red;
pub mod signal;
pub mod uno_phantom_queue;
pub mod unocc;
