//! HULL's algorithms as pure state machines.
//!
//! No module has a clock, a random number generator or I/O. Time (picoseconds since the start, `u64`)
//! and random bits are arguments, and all arithmetic is on integers, so a simulator, an eBPF program
//! and a hardware description can share test vectors. Algorithms whose reference computes in floating
//! point use `f64` with the four basic operations, which give the same bits on every machine.
//!
//! The modules in the order in which a data packet passes them:
//!
//! 1. [`flow_association`]: is this packet's flow paced? (sending NIC)
//! 2. [`pacer`]: if so, when may the packet leave? (sending NIC; [`departure_pacer`] is the form for a
//!    host that writes departure times on its packets, as Linux does)
//! 3. [`marking`]: at the switch, does the queue exceed the threshold K when the packet joins it?
//!    (DCTCP) [`red`] and [`pi`] are the alternatives that the papers compare with.
//! 4. [`phantom_queue`]: when the packet leaves the switch, does the virtual queue exceed its
//!    threshold? (HULL) [`adaptive_virtual_queue`] is an earlier form that adapts its rate.
//! 5. [`ecn_echo`]: at the receiver, when is the packet acknowledged, and with which ECN-Echo bit?
//! 6. [`dctcp`]: at the sender, how does the acknowledgement change alpha and the window?
//!
//! QCN controls rates without acknowledgements: [`qcn_congestion_point`] at the switch,
//! [`qcn_reaction_point`] at the source. From chapter 5 of the thesis: [`rcp`], the rate that a router
//! offers to its flows, and [`averaging`], which keeps a control loop stable at longer delays.
//!
//! Ultra Ethernet's transport: [`nscc`], the window at the sender, and [`entropy`], the path of each
//! packet; at the receiver [`packet_set`], the packets that have arrived, [`ack_coalescing`], the times
//! of ACKs, and [`rccc`], the credit.
//!
//! Uno: [`uno_phantom_queue`] at the switch, [`unocc`] at the sender, [`erasure`] at both ends. Both of
//! Uno's queues mark by a [`ramp`].
//!
//! Telemetry: [`telemetry`], the record that a switch writes for the sender, and its fields; [`hpcc`], a
//! rate or window from it, and [`powertcp`], a rate from it or from round trips.
//! Swift: [`swift`], the window at the sender by the delay of packets.
//!
//! L4S: [`dualpi2`] at the switch, [`prague`] at the sender, [`accecn`] for the feedback between them.
//! Common alternatives: [`codel`], [`fq_codel`] and [`pie`]. These queues return a [`signal`].
//!
//! A stream's sender may decide by time that a segment is lost: [`rack`].
//!
//! RoCE NICs set a flow's rate: [`dcqcn`] and [`dctcp_rate`] by the marks of a [`ramp`], [`timely`] by
//! the round trip.
//!
//! A receiver may limit what is on its way to it: [`admission`].
//!
//! [`hardware`] contains the forms that `rtl/` implements, with the limits of hardware.
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
pub mod adaptive_virtual_queue;
pub mod admission;
pub mod averaging;
pub mod codel;
pub mod dcqcn;
pub mod dctcp;
pub mod dctcp_rate;
pub mod departure_pacer;
pub mod dualpi2;
pub mod ecn_echo;
pub mod entropy;
pub mod erasure;
pub mod flow_association;
pub mod fq_codel;
pub mod hardware;
pub mod hpcc;
pub mod marking;
pub mod nscc;
pub mod pacer;
pub mod packet_set;
pub mod phantom_queue;
pub mod pi;
pub mod pie;
pub mod powertcp;
pub mod prague;
pub mod qcn_congestion_point;
pub mod qcn_reaction_point;
pub mod queue_estimate;
pub mod rack;
pub mod ramp;
pub mod rccc;
pub mod rcp;
pub mod red;
pub mod signal;
pub mod swift;
pub mod telemetry;
pub mod timely;
pub mod uno_phantom_queue;
pub mod unocc;
