//! What may be simulated in parts, feature by feature. Each key of a scenario that can matter to a port
//! is named and judged here, and nothing is passed over with `..`: a new key does not compile before
//! its author has judged it.
//!
//! A feature may be simulated in parts when a port decides by it as soon as a packet arrives, with
//! nothing but what the port has; or when it is at hosts alone, which are all in one part. What decides
//! later (marking at dequeue, RCP, several queues), what several ports share (memory), what answers
//! from inside (QCN), what changes routes (failing links), and instruments that look at several parts
//! need one thread.

use crate::scenario::{
    CongestionControl, Host, MarkOn, Marking, Measure, PhantomQueue, Pi, Placement, PortSettings,
    Red, Run, Scenario, Switch, Topology, Transport,
};

/// Whether all that a scenario has may be simulated in parts.
pub fn are_divisible(scenario: &Scenario) -> bool {
    let Scenario {
        name: _,
        title: _,
        source: _,
        run,
        topology,
        host,
        switch,
        transport,
        transports,
        pacer: _,    // stands in hosts
        workload: _, // asks hosts for flows
        measure,
        schemes: _, // a resolved scenario is one of them
        sweep: _,
    } = scenario;
    of_run(run)
        && of_topology(topology)
        && of_hosts(host)
        && of_switches(switch)
        && of_transport(transport)
        && transports.values().all(of_transport)
        && of_instruments(measure)
}

/// Times and seeds are those of every part.
fn of_run(run: &Run) -> bool {
    let Run {
        duration: _,
        warmup: _,
        drain: _,
        seed: _,
        seeds: _,
        threads: _,
    } = run;
    true
}

/// Any graph that keeps its links. The plan says whether it has a fabric.
fn of_topology(topology: &Topology) -> bool {
    let Topology {
        star: _,
        dumbbell: _,
        multihop: _,
        leaf_spine: _,
        tree: _,
        fat_tree: _,
        file: _,
        graph: _,
        links: _,
        failures, // change routes and lose what is under way, in all parts at once
    } = topology;
    failures.is_empty()
}

/// Hosts are in one part; only their ports' links lead out of it.
fn of_hosts(host: &Host) -> bool {
    let Host {
        rate: _,
        delay: _,
        nic_buffer: _,
        nic_queues, // several take turns when the link is free
        stack_delay: _,
        stack_jitter: _,
        offload: _,
        receive: _,
        application_delay: _,
    } = host;
    *nic_queues <= 1
}

fn of_switches(switch: &Switch) -> bool {
    let Switch {
        rate: _,
        delay: _,
        latency: _,
        cut_through: _, // shortens the time ahead, which the plan takes from the ports
        loss: _,        // is drawn on arrival
        buffer: _,
        memory,     // is shared by ports, and packets leave it late
        priorities, // the next packet is chosen when the link is free
        commit: _,  // matters with priorities only
        count_in_service: _,
        marking,
        red,
        pi,
        qcn, // answers to hosts from inside, at once
        rcp, // writes its rate into packets that leave
        phantom_queue,
        ports,
    } = switch;
    memory.is_none()
        && *priorities <= 1
        && marking.as_ref().is_none_or(of_marking)
        && red.as_ref().is_none_or(of_red)
        && pi.as_ref().is_none_or(of_pi)
        && qcn.is_none()
        && rcp.is_none()
        && phantom_queue.as_ref().is_none_or(of_phantom_queue)
        && ports.iter().all(of_ports)
}

fn of_ports(settings: &PortSettings) -> bool {
    let PortSettings {
        rate: _,
        tier: _,
        node: _,
        buffer: _,
        marking,
        phantom_queue,
    } = settings;
    marking.as_ref().is_none_or(of_marking) && phantom_queue.as_ref().is_none_or(of_phantom_queue)
}

fn of_marking(marking: &Marking) -> bool {
    let Marking {
        threshold: _,
        count_arriving: _,
        on,
    } = marking;
    match on {
        MarkOn::Enqueue => true,
        MarkOn::Dequeue => false,
    }
}

/// Averages and draws at arrivals.
fn of_red(red: &Red) -> bool {
    let Red {
        min: _,
        max: _,
        max_probability: _,
        weight: _,
        gentle: _,
        by_size: _,
        hard_drop: _,
    } = red;
    true
}

/// Its interval is caught up with at arrivals.
fn of_pi(pi: &Pi) -> bool {
    let Pi {
        reference: _,
        interval: _,
        flows: _,
        round_trip: _,
    } = pi;
    true
}

/// Both placements count a packet when it arrives: its start is known then.
fn of_phantom_queue(queue: &PhantomQueue) -> bool {
    let PhantomQueue {
        drain: _,
        threshold: _,
        count_arriving: _,
        tick: _,
        placement,
    } = queue;
    match placement {
        Placement::Series | Placement::Parallel => true,
    }
}

/// Senders and receivers are in one part. What matters to ports is whether they work together.
fn of_transport(transport: &Transport) -> bool {
    let Transport {
        congestion_control,
        own_sha256: _,
        ecn: _,
        mtu: _,
        header: _,
        framing: _,
        initial_window: _,
        min_window: _,
        max_window: _,
        receive_window: _,
        initial_rto: _,
        min_rto: _,
        max_rto: _,
        rto_granularity: _,
        limited_transmit: _,
        handshake: _,
        ack_every: _,
        delayed_ack: _,
        quick_acks: _,
        idle_restart: _,
        idle_decay: _,
        cwnd_validation: _,
        byte_counting: _,
        tso_win_divisor: _,
        paced: _,
        priority: _,
        bic: _,
        dctcp: _,
        vegas: _,
        qcn: _,
    } = transport;
    match congestion_control {
        CongestionControl::NewReno
        | CongestionControl::Cubic
        | CongestionControl::Bic
        | CongestionControl::Dctcp
        | CongestionControl::Vegas
        | CongestionControl::Own(_) => true,
        // Switches answer to the sources.
        CongestionControl::Qcn | CongestionControl::QcnAimd | CongestionControl::Rcp => false,
    }
}

fn of_instruments(measure: &Measure) -> bool {
    let Measure {
        sample_interval: _, // at the client's port, which is the edge's
        ports,              // may be of any part
        queue_changes: _,   // at these ports or the client's
        probe,              // times its packets at once
        flows: _,
        pacers: _,
        capture, // looks at links where they end
    } = measure;
    ports.is_empty() && probe.is_none() && capture.is_none()
}
