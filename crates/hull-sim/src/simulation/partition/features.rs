//! Which features may be simulated in parts, and which of these in parts with hosts. The code names every
//! key of a scenario that can matter to a port, without `..`, so a new key does not compile until its
//! author has decided it.
//!
//! A feature may be simulated in parts if a port decides it before the packet's transmission starts,
//! using only its switch's state, or if it concerns hosts alone. These are all in one part, unless the
//! run is divided by hosts: then a feature must also concern each host by itself. Later
//! decisions (marking at dequeue, RCP), feedback from inside (QCN), changes of routes (failing links),
//! and instruments that read several parts need one thread. The keys of switches are decided beside
//! them ([`Switch::is_divisible`](crate::scenario::Switch)).

use crate::scenario::{Host, Measure, Run, Scenario, Topology, Transport};
use crate::transport::ControlName;

/// Whether a scenario may be simulated in parts.
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
        groups: _,   // name flows that have arrived, which hosts know
        pacer: _,    // stands in hosts
        workload: _, // asks hosts for flows
        measure,
        schemes: _, // a resolved scenario is one of them
        sweep: _,
    } = scenario;
    of_run(run)
        && of_topology(topology)
        && of_hosts(host)
        && switch.is_divisible()
        && of_transport(transport)
        && transports.values().all(of_transport)
        && of_instruments(measure)
}

/// Whether a scenario that [is divisible](are_divisible) may also be divided by hosts: what hosts do
/// depends on their own flows only, and not on the slots that flows have. The workload must be
/// [open](crate::workload::Workload::is_open), too.
pub fn are_divisible_by_hosts(scenario: &Scenario) -> bool {
    let measure = &scenario.measure;
    have_separate_hosts(scenario) && measure.flows.is_none() && measure.pacers.is_none()
}

/// Whether hosts are separate, regardless of what is measured.
pub fn have_separate_hosts(scenario: &Scenario) -> bool {
    let Scenario {
        name: _,
        title: _,
        source: _,
        run: _, // times and seeds apply to every part
        topology,
        host,
        switch,
        transport,
        transports,
        groups: _, // label rows
        pacer,
        workload: _, // is asked itself
        measure: _,  // is judged by the caller
        schemes: _,
        sweep: _,
    } = scenario;
    // In other networks a route may lead through a third part.
    let has_pods = topology.fat_tree.is_some() || topology.tree.is_some();
    let has_units = has_pods || topology.leaf_spine.is_some();
    let of_transport = |transport: &Transport| {
        let control = &transport.congestion_control;
        // Without acknowledgments a sender does not know when its flow is complete; an external
        // control may share state between flows.
        !matches!(
            control,
            ControlName::ConstantRate | ControlName::External(_)
        )
    };
    // A flow's slot selects its queue or bucket. A sender that waits for more to send at once sends
    // when its timer has an event, and a slot may have one of its last flow.
    let is_by_slot = host.nic_queues > 1
        || host.offload.is_some()
        || switch.fq_codel.is_some()
        || pacer.as_ref().is_some_and(|pacer| pacer.buckets > 1);
    // A shared memory is in one part with all ports of its switch.
    has_units
        && !is_by_slot
        && switch.memory.is_none()
        && of_transport(transport)
        && transports.values().all(of_transport)
}

/// Whether the run's settings are divisible: times and seeds apply to every part.
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

/// Whether the topology is divisible: any graph with fixed links. The plan determines whether it
/// has a fabric.
fn of_topology(topology: &Topology) -> bool {
    let Topology {
        star: _,
        dumbbell: _,
        multihop: _,
        leaf_spine: _,
        tree: _,
        fat_tree: _,
        two_datacentres: _,
        file: _,
        graph: _,
        links: _,
        failures, // change routes and lose what is under way, in all parts at once
    } = topology;
    failures.is_empty()
}

/// Whether hosts are divisible: they are in one part, and only their ports' links lead out of it.
/// Every key is decided; none prevents parts.
fn of_hosts(host: &Host) -> bool {
    let Host {
        rate: _,
        delay: _,
        loss: _,  // as the loss of a switch's port
        queue: _, // does not depend on slots
        nic_buffer: _,
        nic_queues: _, // the next packet is chosen when the link is free
        stack_delay: _,
        stack_jitter: _,
        offload: _,
        transmit: _,
        receive: _,
        application_delay: _,
    } = host;
    true
}

/// Whether a transport is divisible: senders and receivers are in one part, so only their effect on
/// ports matters.
fn of_transport(transport: &Transport) -> bool {
    let Transport {
        congestion_control: _, // is in hosts; what it asks of switches is judged there
        own_sha256: _,
        messages: _,
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
        small_queues: _,
        paced: _,
        priority: _,
        bic: _,
        constant_rate: _,
        cubic: _,
        dctcp: _,
        prague: _,
        vegas: _,
        message: _,
        qcn: _,
    } = transport;
    // The message transport computes routes during the run.
    !transport.sends_messages()
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
