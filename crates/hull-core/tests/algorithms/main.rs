//! Tests of the algorithms: each file checks one algorithm against its equations, a plain model or
//! values computed by hand, as its first comment states. They share one binary so that the
//! dependencies are linked once.

mod adaptive_virtual_queue;
mod admission;
mod averaging;
mod codel;
mod dcqcn;
mod dctcp;
mod dctcp_rate;
mod departure_pacer;
mod dualpi2;
mod ecn_echo;
mod entropy;
mod erasure;
mod flow_association;
mod hardware_latency_meter;
mod hardware_pacer;
mod hardware_phantom_queue;
mod hpcc;
mod marking;
mod nscc;
mod pacer;
mod packet_set;
mod phantom_queue;
mod pi;
mod pie;
mod powertcp;
mod prague;
mod qcn;
mod rack;
mod ramp;
mod rccc;
mod rcp;
mod red;
mod swift;
mod telemetry;
mod timely;
mod uno_phantom_queue;
mod unocc;
mod vectors;
