"""The keys of a scenario, for type checkers: `scenario: hull.Scenario = {...}`.

Written by tools/make_types.py (`make types`) from the definition in crates/hull-sim; do not edit.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

Time = str | float
Rate = str | float
Share = str | float
HostQueue = Literal["fifo", "fair", "fq", "fq_codel"]
"""Queue of a host before its link (docs/host.md)."""
Buffer = str | float
NicRule = Literal["hash", "rail", "per_packet"]
"""Rule that chooses the NIC of a flow, for hosts with several links."""
Size = str | float
Preset = Literal["triumph", "scorpion", "cat4948"]
"""The switches of thesis table 2.1. Alpha follows from the memory that one busy port gets,
600 to 700 KB of 4 MB (thesis 2.3.1 and 4.5.2), and is the same for all three.
"""
Renewal = Literal["half_time", "expiry", "each_packet", "never"]
"""When a switch asks again for a pause that it still needs."""
WatchdogAction = Literal["drop", "forward", "alert"]
"""What a watchdog does in a storm, as SONiC's actions of these names."""
PfcRules = Literal["802.1q", "ns3-datacenter", "hpcc", "conweave"]
"""Rules of a switch's memory for lossless traffic. The simulators are ns-3 forks, at the
revisions of docs/pauses.md.
"""
MarkOn = Literal["enqueue", "dequeue", "sent"]
"""Time at which the queue is compared with the threshold."""
QueueLength = str | float
AverageWeight = int | str | float
RedDraw = Literal["spaced", "independent"]
"""Dependence of RED's draws on the packets since the last mark."""
RelativeRate = str | float
QcnRounding = Literal["up", "down"]
"""Rounding of a partial step of QCN's feedback."""
RcpAlgorithm = Literal["rcp", "ap-rcp", "ap2-rcp", "pd-rcp"]
"""RCP and its versions with the averaging principle."""
FieldWidths = Literal["exact", "hpcc"]
"""Widths of the fields of telemetry records."""
Tick = str | float
Placement = Literal["series", "parallel"]
"""Place where a phantom queue counts packets (paper, remark 1)."""
CongestionControl = Literal[
    "newreno",
    "cubic",
    "bic",
    "bbr",
    "dctcp",
    "prague",
    "vegas",
    "qcn",
    "qcn-aimd",
    "rcp",
    "constant_rate",
    "nscc",
    "rccc",
    "nscc+rccc",
    "unocc",
    "hpcc",
    "dcqcn",
    "dctcp-rate",
    "timely",
    "line-rate",
    "powertcp",
    "theta-powertcp",
    "swift",
]
"""Congestion control algorithms."""
LossDetection = Literal["duplicates", "rack"]
"""How a stream finds that a packet is lost."""
StreamBalancing = Literal["per_packet", "oblivious", "flowlet"]
"""Load balancer of a stream. Its acknowledgments do not tell the path of the data, so none
adapts.
"""
DcqcnVariant = Literal["adapter", "paper"]
"""Origin of DCQCN's constants."""
FairPer = Literal["packet", "ack"]
"""Unit of equation 3.35's cut."""
LoadBalancing = Literal[
    "ecmp", "per_packet", "oblivious", "bitmap", "reps", "mixed", "subflows", "plb", "flowlet"
]
"""Load balancer of the message transport."""
Recovery = Literal["timeout", "go_back_n", "selective", "selective_go_back"]
"""Recovery of lost packets."""
HpccForm = Literal["rate", "window"]
"""Value that HPCC controls."""
PacerPlace = Literal["after_segmentation", "before_segmentation"]
"""Place of the pacer in the host."""
AssociationDraw = Literal["echo", "packet"]
"""Event that draws whether a flow is associated."""
AssociationEnd = Literal["draw", "packet"]
"""Event that starts the time after which an association ends."""
WhenTableFull = Literal["ignore", "evict_oldest"]
"""Behaviour of a full flow association table."""
WhenFifoFull = Literal["drop", "bypass"]
"""Behaviour of a full pacer FIFO."""
Overtaking = Literal["any", "other_flows", "none", "held"]
"""Packets that may overtake those waiting in a pacer's FIFO."""
Clocks = Literal["free", "synchronized"]
"""Relative phase of the clocks of the hosts' pacers."""
HostRef = int | str
HostList = int | str | list[int | str]
Pick = Literal["random", "random_idle", "round_robin"]
"""Selection of the connection for a request."""
FlowConnections = Literal["per_flow", "persistent"]
"""Whether each flow has its own connection."""
Arrivals = Literal["poisson", "fixed"]
"""Arrival process of queries."""
JobOperation = Literal[
    "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "send_receive"
]
"""What a collective does."""
JobAlgorithm = Literal[
    "ring",
    "double_tree",
    "halving_doubling",
    "recursive_doubling",
    "hierarchical",
    "flat",
    "pairwise",
    "binomial",
    "chain",
]
"""How a collective does it."""
JobPlacement = Literal["linear", "racks", "spread", "rails", "random"]
"""Order in which ranks take hosts."""
JobEnds = Literal["delivered", "acked"]
"""When a message ends for its receiver."""
Swept = list[Any] | str
"""The values of a swept key."""


class Capture(TypedDict):
    """A pcapng file of the packets that leave some ports, for Wireshark."""

    ports: list[str]
    """The ports, written as in `measure.ports`."""
    file: NotRequired[str]
    """Name of the file in the folder of each part."""
    start: NotRequired[Time]
    """Simulated time of the first packet."""
    stop: NotRequired[Time]
    """Simulated time of the end (default: the end of the run)."""
    max_packets: NotRequired[int]
    """Maximum number of packets; unset: all."""
    snap_length: NotRequired[Size]
    """Bytes kept of each frame (default: its headers). Payload is zeros."""


class PacerSeries(TypedDict):
    """Pacers over time: rate and backlog."""

    interval: NotRequired[Time]
    """Time between two samples, from time 0 on."""


class FlowSeries(TypedDict):
    """Flows over time: delivered bytes, window, alpha, round trip."""

    count: NotRequired[int]
    """Number of sampled flows, in the order of their opening; a persistent connection counts as
    two, one per direction.
    """
    interval: NotRequired[Time]
    """Time between two samples, from time 0 on."""


class Probe(TypedDict):
    """A ping from host 1 to the client, timed across the switch (paper 5.2)."""

    interval: NotRequired[Time]
    """Time between two probes."""
    size: NotRequired[Size]
    """Bytes on the wire."""


class Measure(TypedDict):
    """Measurements; flow completion times and the queue of the client's port are always
    recorded.
    """

    sample_interval: NotRequired[Time]
    """Time between two samples of the queues in `latency.parquet` and `queues.parquet`."""
    ports: NotRequired[list[str]]
    """Ports whose queues are in `queues.parquet` and in `queues` of the summary: `"tor0->h3"` is
    the port of tor0 to h3, `"tor0--h3"` both directions, `"tor-host"` all ports of that tier.
    Without it, the port to host 0.
    """
    queue_changes: NotRequired[bool]
    """Whether `queues.parquet` has a row for every change of these queues instead of samples."""
    pauses: NotRequired[bool]
    """Whether `pause_events.parquet` has a row for every pause that begins, is renewed or ends;
    needs `switch.pfc`.
    """
    probe: NotRequired[Probe]
    """The latency probe of paper 5.2; without this table there is none."""
    flows: NotRequired[FlowSeries]
    """Flows over time in `series.parquet`; without this table there is none."""
    pacers: NotRequired[PacerSeries]
    """Pacers over time in `pacers.parquet`; without this table there is none."""
    capture: NotRequired[Capture]
    """Packets of chosen ports in a pcapng file; without this table there is none."""


class Production(TypedDict):
    """The three kinds of traffic of a production rack (thesis 2.1.2, 2.3.3)."""

    servers: NotRequired[HostList]
    """Servers of the rack (default: all hosts but `outside`)."""
    outside: NotRequired[HostRef]
    """The host that represents the rest of the data centre; unset: all traffic stays inside."""
    outside_share: NotRequired[Share]
    """Share of the background flows that leave or enter the rack (an assumption: the thesis does
    not give the measured ratio).
    """
    query_size: NotRequired[Size]
    """Bytes of a query to one server."""
    response_size: NotRequired[Size]
    """Bytes of one server's response."""
    response_total: NotRequired[Size]
    """Bytes of all responses to a query together, instead of `response_size`: `"1MB"` is the
    scaled benchmark.
    """
    update_factor: NotRequired[int]
    """Factor on background flows above 1 MB: 10 is the scaled benchmark."""
    query_intervals: NotRequired[str]
    """Times between queries of a server: production, or the path of a CSV file with the header
    `interval_us,cdf`.
    """
    background_intervals: NotRequired[str]
    """Times between background flows of a server: production, or the path of a CSV file with the
    header `interval_us,cdf`.
    """
    background_sizes: NotRequired[str]
    """Sizes of background flows: a table's name, or the path of a CSV file with the header
    `bytes,cdf`.
    """
    jitter: NotRequired[Time]
    """Each request of a query is delayed by a random time below this value (thesis 2.1.3)."""
    batch: NotRequired[int]
    """Largest number of servers that a client asks at the same time: it asks the next ones when
    all of these have answered (thesis 2.4); unset: all at once.
    """
    deadline: NotRequired[Time]
    """Responses after this time from the query's start are not counted as in time."""
    class_bounds: NotRequired[list[Size]]
    """Upper bounds of the size classes of background flows in the results."""
    transport: NotRequired[str]
    """Transport of its flows, one of `[transports]` (default: `[transport]`)."""


class Permutation(TypedDict):
    """Each host sends one flow and receives one; the seed determines the pairs."""

    size: Size
    """Bytes of each flow."""
    hosts: NotRequired[HostList]
    """Participating hosts (default: all)."""
    start: NotRequired[Time]
    """Start time of the flows."""
    transport: NotRequired[str]
    """Transport of its flows, one of `[transports]` (default: `[transport]`)."""


class JobGap(TypedDict):
    """Least time between the starts of an interface's messages: `packet` for each `payload`
    begun, and once more.
    """

    packet: Time
    """Time of a packet."""
    payload: Size
    """Bytes of a packet."""


class JobServers(TypedDict):
    """Servers of several ranks."""

    ranks: int
    """Ranks of a server; they follow each other."""
    rate: NotRequired[Rate]
    """Rate of each rank's link to the others of its server (default: their messages use the
    network).
    """
    latency: NotRequired[Time]
    """Time of a message besides its bytes."""


class JobTraining(TypedDict):
    """Steps of a transformer's training."""

    layers: int
    """Layers (l)."""
    hidden: int
    """Hidden size (h)."""
    sequence: int
    """Tokens of a sequence (s)."""
    vocabulary: NotRequired[int]
    """Vocabulary (V)."""
    batch: int
    """Sequences of a step, over all ranks."""
    micro_batch: NotRequired[int]
    """Sequences of a micro-batch (b)."""
    tensor: NotRequired[int]
    """Ranks of a tensor group (t)."""
    pipeline: NotRequired[int]
    """Stages of a pipeline (p)."""
    data: NotRequired[int]
    """Ranks of a data group (d)."""
    experts: NotRequired[int]
    """Experts of each layer (default: none)."""
    experts_per_token: NotRequired[int]
    """Experts that a token uses (k)."""
    expert: NotRequired[int]
    """Ranks of an expert group, neighbours within a data group."""
    element: NotRequired[Size]
    """Size of an activation's element."""
    gradient: NotRequired[Size]
    """Size of a gradient's element."""
    flops: NotRequired[float]
    """Floating-point operations that a rank does in a second by its data sheet; it reaches
    `utilization` of them.
    """
    utilization: NotRequired[Share]
    """Share of `flops` that its matrices reach."""
    forward: NotRequired[Time]
    """Time of a layer's forward pass for a micro-batch on a rank (default: from `flops`)."""
    backward: NotRequired[Time]
    """Time of a layer's backward pass (default: twice `forward`, three times with `recompute`)."""
    recompute: NotRequired[bool]
    """Whether a backward pass computes activations again."""
    jitter: NotRequired[Share]
    """Mean of the time that a computation takes longer, as a share of it; the extra time is
    exponential.
    """
    overlap: NotRequired[bool]
    """Whether gradients are reduced layer by layer during the last backward pass, or all after
    it.
    """
    channels: NotRequired[int]
    """Shares of each collective with messages of their own."""
    gradients: NotRequired[JobAlgorithm]
    """Algorithm of the gradients' all-reduce."""
    dispatch: NotRequired[JobAlgorithm]
    """Algorithm of the experts' all-to-all."""
    steps: NotRequired[int]
    """Steps."""


class JobCollective(TypedDict):
    """A collective of all ranks."""

    operation: JobOperation
    """What it does."""
    algorithm: NotRequired[JobAlgorithm]
    """How (default: `pairwise` for an all-to-all, `binomial` for a broadcast, `ring` for
    others).
    """
    size: Size
    """Size by NCCL's definitions: of one rank's vector (all-reduce, broadcast, send-receive), of
    the whole input (reduce-scatter), of the whole output (all-gather), of all that a rank
    sends, its own part included (all-to-all).
    """
    ranks: NotRequired[int]
    """Number of ranks (default: one for each host)."""
    chunks: NotRequired[int]
    """Pieces of the data that pass one after the other."""
    channels: NotRequired[int]
    """Shares of the data with messages of their own, as channels or queue pairs are."""
    repeat: NotRequired[int]
    """How often it takes place, one after the other."""


class Job(TypedDict):
    """A graph of work: ranks that compute, send and receive."""

    schedule: NotRequired[str]
    """Path of a schedule: GOAL's text or binary form, SimAI's layers, aicb's table, the folder
    of a Chakra trace, or htsim's connection matrix with triggers.
    """
    ranks: NotRequired[int]
    """Number of ranks, for a schedule whose file does not say it (default: as few as its groups
    need).
    """
    start_unit: NotRequired[Time]
    """Unit of the start times in a connection matrix: microseconds in csg-htsim and Uno, 1 ps in
    uet-htsim.
    """
    collective: NotRequired[JobCollective]
    """A collective instead of a schedule's file."""
    training: NotRequired[JobTraining]
    """A generated training job instead of a schedule's file."""
    servers: NotRequired[JobServers]
    """Servers of several ranks, in which messages may stay (default: each rank is a server)."""
    hosts: NotRequired[HostList]
    """Hosts of the ranks, in order (default: all hosts). Rank r with n interfaces has hosts n r
    to n r + n - 1 of them.
    """
    placement: NotRequired[JobPlacement]
    """Order in which ranks take these hosts."""
    start: NotRequired[Time]
    """Time at which the job begins."""
    overhead: NotRequired[Time]
    """Time of a rank's processor for each send, before the network has it, and for each receive,
    after its last byte (LogGP's o).
    """
    eager: NotRequired[Size]
    """Largest message whose send ends when the network has it (default: 65535B with `schedule`,
    else 0). The send of a larger one ends with the message, and not before its receive is
    posted (rendezvous; its data does not wait).
    """
    ends: NotRequired[JobEnds]
    """When a message ends for its receiver."""
    timeline: NotRequired[bool]
    """Whether computations are written to `computations.parquet`, for a timeline of the job."""
    ends_run: NotRequired[bool]
    """Whether the run ends with the job, and other traffic with it."""
    gap: NotRequired[JobGap]
    """Least time between the starts of an interface's messages (default: none; the network alone
    decides).
    """
    queue_pairs: NotRequired[int]
    """Connections that each pair of hosts keeps, whose messages follow each other (default: each
    message has a connection of its own, with a new window).
    """
    transport: NotRequired[str]
    """Transport of its messages, one of `[transports]` (default: `[transport]`)."""


class AllToAll(TypedDict):
    """Each host sends to each other host, once."""

    size: Size
    """Bytes from each host to each other host."""
    hosts: NotRequired[HostList]
    """Participating hosts (default: all)."""
    start: NotRequired[Time]
    """Start time of the transfers."""
    jitter: NotRequired[Time]
    """Largest random delay of a host's start."""
    transport: NotRequired[str]
    """Transport of its flows, one of `[transports]` (default: `[transport]`)."""


class TreeLevel(TypedDict):
    """A level of the tree. Each host of the level above asks an equal part of its hosts."""

    hosts: HostList
    """Hosts of the level: the first part for the first host of the level above, and so on. A
    host may be in several levels and parts.
    """
    iterations: NotRequired[int]
    """Times that a host of the level above asks its hosts for each of its own requests, one
    after the other.
    """
    request_size: NotRequired[Size]
    """Bytes of a request to a host of the level."""
    response_size: NotRequired[Size]
    """Bytes of its response."""
    service: NotRequired[Service]
    """Service time of a request at a host, before it asks the next level or responds (default:
    none).
    """
    deadline: NotRequired[Time]
    """Longest time that a host of the level above waits for the responses of an iteration; it
    continues without the missing ones, and drops them when they arrive (unset: it waits for
    all).
    """


class AggregationTree(TypedDict):
    """A client sends queries to aggregators, which partition them over the hosts of the next
    level; a node that misses its deadline is left out of the result.
    """

    interval: Time
    """Mean time between two queries."""
    arrivals: NotRequired[Arrivals]
    """Arrival process of the queries."""
    queries: NotRequired[int]
    """Number of queries, after which the run may end; unset: queries continue until the end of
    the measured time.
    """
    client: NotRequired[HostRef]
    """The host at the top (default: host 0)."""
    jitter: NotRequired[Time]
    """Each request is delayed by a random time below this value (thesis 2.1.1, 2.1.3)."""
    levels: list[TreeLevel]
    """The levels below the client: aggregators first, workers last."""
    transport: NotRequired[str]
    """Transport of its flows, one of `[transports]` (default: `[transport]`)."""


class PartitionAggregate(TypedDict):
    """A client sends queries to all servers in an open loop; a server works on one at a time."""

    interval: Time
    """Mean time between two queries."""
    arrivals: NotRequired[Arrivals]
    """Arrival process of the queries."""
    queries: NotRequired[int]
    """Number of queries, after which the run may end; unset: queries continue until the end of
    the measured time.
    """
    client: NotRequired[HostRef]
    """The requesting host (default: host 0)."""
    servers: NotRequired[HostList]
    """The responding hosts (default: all but the client)."""
    request_size: Size
    """Bytes of a request."""
    response_size: Size
    """Bytes of a response."""
    service: NotRequired[Service]
    """Service time of a request at the server (default: none)."""
    deadline: NotRequired[Time]
    """Responses after this time from the query's start are not counted as in time."""
    transport: NotRequired[str]
    """Transport of its flows, one of `[transports]` (default: `[transport]`)."""


class Incast(TypedDict):
    """A client queries servers at once, waits for all responses, and repeats. With `load` or
    `queries_per_second`, queries arrive as a Poisson process, each from a random client to
    random servers.
    """

    total: NotRequired[Size]
    """Bytes of all responses to a query together, shared equally between the servers."""
    load: NotRequired[Share]
    """Bytes of the responses as a share of the rate of the links to the clients: queries arrive
    as a Poisson process; this or `queries_per_second`.
    """
    queries_per_second: NotRequired[float]
    """Rate of this Poisson process, of all clients together; this or `load`."""
    clients: NotRequired[HostList]
    """With `load` or `queries_per_second`: the hosts of which each query has a random one as its
    client (default: all).
    """
    client: NotRequired[HostRef]
    """The requesting host (default: host 0); not with `load` or `queries_per_second`."""
    servers: NotRequired[HostList]
    """The responding hosts (default: all but the client). With `all_to_all`: all participating
    hosts.
    """
    fan_in: NotRequired[int]
    """Number of servers per query, the first ones of the list; with `load` or
    `queries_per_second`, random ones without the client (default: all).
    """
    all_to_all: NotRequired[bool]
    """Whether each server is also a client of the others at the same time (figure 2.20)."""
    queries: NotRequired[int]
    """Queries of each client, with `load` or `queries_per_second` of all together, after which
    the run may end; unset: queries continue until the end of the measured time.
    """
    request_size: NotRequired[Size]
    """Bytes of a request."""
    start: NotRequired[Time]
    """Start time of the first query, or of the Poisson process."""
    jitter: NotRequired[Time]
    """Each request is delayed by a random time below this value (thesis 2.1.3)."""
    batch: NotRequired[int]
    """Largest number of servers that a client asks at the same time: it asks the next ones when
    all of these have answered (thesis 2.4); unset: all at once.
    """
    deadline: NotRequired[Time]
    """Responses after this time from the query's start are not counted as in time."""
    transport: NotRequired[str]
    """Transport of its flows, one of `[transports]` (default: `[transport]`)."""


class Pareto(TypedDict):
    """A Pareto distribution."""

    shape: float
    """Exponent of the tail, above 1."""
    mean: Size
    """Mean of the untruncated distribution."""
    cut: NotRequired[Size]
    """Largest size; larger draws are repeated. Unset: no limit."""


class Sizes(TypedDict):
    """The distribution of flow sizes; exactly one key."""

    fixed: NotRequired[Size]
    """All flows have this size."""
    pareto: NotRequired[Pareto]
    """Pareto (paper 6.3: shape 1.05, mean 100 KB)."""
    csv: NotRequired[str]
    """A table by name (websearch, datamining, hadoop, production) or the path of a CSV file with
    the header `bytes,cdf`, or of a file of HPCC's simulator.
    """


class PoissonFlows(TypedDict):
    """Poisson flows from random hosts to random other hosts (paper 6.3)."""

    load: NotRequired[Share]
    """Flow bytes as a share of the rate of the sources' links; this or `flows_per_second`."""
    flows_per_second: NotRequired[float]
    """Flows per second in the whole network; this or `load`."""
    count: NotRequired[int]
    """Number of flows after which no more start and the run may end; unset: flows start until
    the end of the measured time.
    """
    sizes: Sizes
    """Sizes of the flows."""
    sources: NotRequired[HostList]
    """Hosts that send (default: all)."""
    destinations: NotRequired[HostList]
    """Hosts that receive (default: all)."""
    connections: NotRequired[FlowConnections]
    """Whether each flow has its own connection."""
    connections_per_pair: NotRequired[int]
    """Persistent connections between each pair of hosts; 1 if unset. A flow takes an idle one;
    if all carry a flow in its direction, it waits where the fewest wait.
    """
    class_bounds: NotRequired[list[Size]]
    """Upper bounds of the size classes in the results, each but the last its own (thesis table
    4.6).
    """
    transport: NotRequired[str]
    """Transport of its flows, one of `[transports]` (default: `[transport]`)."""


class LongFlows(TypedDict):
    """A flow, or a group of flows that start and stop one after the other."""

    src: HostList
    """Sending hosts."""
    dst: HostList
    """Receiving hosts: as many as sending ones, or one for all; one sender may have several."""
    start: NotRequired[Time]
    """Start time of the first flow."""
    start_interval: NotRequired[Time]
    """Time between the starts of two flows of the group."""
    stop: NotRequired[Time]
    """Stop time of the first flow; unset: the flows do not stop."""
    stop_interval: NotRequired[Time]
    """Time between the stops of two flows of the group."""
    size: NotRequired[Size]
    """Bytes of each flow; unset: unlimited."""
    transport: NotRequired[str]
    """Transport of its flows, one of `[transports]` (default: `[transport]`)."""


class LongLived(TypedDict):
    """Long-lived flows with start and stop times."""

    flows: list[LongFlows]
    """The flows, or groups of flows."""


class Bulk(TypedDict):
    """Flows from as many hosts to the client that start with the run."""

    flows: int
    """Number of flows; flow i comes from host 1 + i mod (hosts - 1)."""
    size: NotRequired[Size]
    """Bytes of each flow; unset: unlimited."""
    start_interval: NotRequired[Time]
    """Time between the starts of two flows."""
    transport: NotRequired[str]
    """Transport of its flows, one of `[transports]` (default: `[transport]`)."""


class SizeClass(TypedDict):
    """A class of responses of one size."""

    size: Size
    """Bytes of the response."""
    share: Share
    """Share of the requests."""
    transport: NotRequired[str]
    """Transport of their connections, one of `[transports]` (default: the requests' transport).
    Each transport has its own connections.
    """


class Requests(TypedDict):
    """Requests over persistent connections, an open loop with Poisson arrivals."""

    load: Share
    """Response bytes as a share of the rate of the client's link, below 1; 0% sends no request."""
    client: NotRequired[HostRef]
    """The requesting host (default: host 0)."""
    servers: NotRequired[HostList]
    """The responding hosts (default: all but the client)."""
    connections_per_server: NotRequired[int]
    """Persistent connections to each server."""
    separate_classes: NotRequired[bool]
    """Whether each size class has its own connections."""
    pick: NotRequired[Pick]
    """Selection of the connection for a request."""
    request_size: NotRequired[Size]
    """Bytes of a request."""
    service: NotRequired[Service]
    """Time from a request's arrival to its response, drawn for each request; requests do not
    wait for each other.
    """
    classes: list[SizeClass]
    """Sizes of the responses."""
    transport: NotRequired[str]
    """Transport of its flows, one of `[transports]` (default: `[transport]`)."""


class Workload(TypedDict):
    """The traffic; at least one table, several run together."""

    high_priority_below: NotRequired[Size]
    """Messages below this size have high priority (paper 6.2.2); unset: none."""
    requests: NotRequired[Requests]
    """Requests of one client to other hosts (paper 6.2, report III-A)."""
    bulk: NotRequired[Bulk]
    """Bulk flows to the client (paper 6.1)."""
    long_lived: NotRequired[LongLived]
    """Long-lived flows with start and stop times (thesis 2.3.1)."""
    flows: NotRequired[PoissonFlows | str]
    """Poisson flows between random hosts (paper 6.3), or the path of a flow list (CSV or Parquet
    with the columns `start_ps`, `src`, `dst`, `bytes`, or a list of HPCC's simulator).
    """
    list: NotRequired[str]
    """Path of a flow list (as `flows`) beside the Poisson flows of `flows` or other traffic."""
    incast: NotRequired[Incast]
    """Queries to servers that answer at once (thesis 2.3.2), of one client or of random ones."""
    partition_aggregate: NotRequired[PartitionAggregate]
    """Queries of one client to servers with service times (report III-B)."""
    aggregation_tree: NotRequired[AggregationTree]
    """Queries to aggregators of aggregators and workers, with deadlines (thesis 2.1.1)."""
    all_to_all: NotRequired[AllToAll]
    """A shuffle."""
    job: NotRequired[Job]
    """A graph of work: ranks that compute, send and receive, each when what it needs is done."""
    permutation: NotRequired[Permutation]
    """Each host sends one flow and receives one."""
    production: NotRequired[Production]
    """The production benchmark of a rack (thesis 2.3.3)."""


class Pacer(TypedDict):
    """The packet pacer (paper 4.2 and 5.1)."""

    place: NotRequired[PacerPlace]
    """Place of the pacer in the host."""
    update_interval: NotRequired[Time]
    """Time between two updates of the rate (T_r). Unset: `eta` times 4.88 of the network's
    longest unloaded round trip (64 us for 105 us, 7.2 us for 11.8 us).
    """
    eta: NotRequired[Share]
    """Weight of a new rate sample (eta)."""
    beta: NotRequired[int]
    """Weight of the backlog, bytes per second for each byte (beta). Unset: by `update_interval`
    and `eta` (16 for 64 us, 375 for 7.2 us).
    """
    association_probability: NotRequired[Share]
    """Probability that a draw associates a flow (p_a)."""
    association_draw: NotRequired[AssociationDraw]
    """Event that draws: each ACK with ECN-Echo, or the next packet of its flow."""
    association_end: NotRequired[AssociationEnd]
    """Event after which an association lasts for `association_timeout`: the last successful
    draw, or the flow's last packet.
    """
    association_timeout: NotRequired[Time]
    """Time after which an association ends (T_i). Unset: the time for 1.25 MB at the fastest
    host's rate (10 ms at 1 Gbps, 1 ms at 10 Gbps), at least 80 round trips.
    """
    table_entries: NotRequired[int]
    """Entries of the flow association table."""
    when_table_full: NotRequired[WhenTableFull]
    """Behaviour of a full table."""
    buckets: NotRequired[int]
    """Token buckets; a flow's number decides which one paces it (paper 4.2, remark 4)."""
    bucket: NotRequired[Size]
    """Depth of a token bucket. Unset: 3 KB, or two packets or a tick's tokens where that is
    more.
    """
    token_tick: NotRequired[Tick]
    """Step in which tokens arrive (16 us on the NetFPGA)."""
    fifo: NotRequired[Size]
    """Size of the FIFO of paced packets. Unset: twice what the fastest host sends in
    `update_interval / eta` (128 KB for 64 us at 1 Gbps), at least 128 KB.
    """
    when_fifo_full: NotRequired[WhenFifoFull]
    """Behaviour of a full FIFO."""
    overtaking: NotRequired[Overtaking]
    """Packets that may overtake those waiting in the FIFO."""
    clocks: NotRequired[Clocks]
    """Relative phase of the ticks and rate updates of different hosts' pacers."""
    rate_step: NotRequired[Rate]
    """Granularity of the rate; also its minimum."""


class Swift(TypedDict):
    """Swift's parameters; csg-htsim's unless the key says otherwise."""

    base_target: NotRequired[Time]
    """Target delay without the links of the path and without flow scaling (csg-htsim: 20us, and
    it counts one link more than there are). Unset: the target without flow scaling is the
    unloaded round trip over as many links plus half of the longest one.
    """
    per_hop: NotRequired[Time]
    """Addition to the target for each link of the path, with base_target (csg-htsim: base_target
    / 6.55). Unset: what a link adds to the unloaded round trip.
    """
    fs_range: NotRequired[Time]
    """Largest addition to the target by flow scaling; 0s for none. Unset: 5 times base_target,
    or 2.5 times the longest round trip.
    """
    fs_min_window: NotRequired[float]
    """Window, in packets, at and below which flow scaling adds the most."""
    fs_max_window: NotRequired[float]
    """Window, in packets, from which on flow scaling adds nothing."""
    fs_whole_packets: NotRequired[bool]
    """Whether flow scaling rounds the window down to whole packets, as csg-htsim does. Any
    window below a packet then adds the most.
    """
    cwnd_validation: NotRequired[bool]
    """Whether the window grows only while it is in use (csg-htsim: false)."""
    ai: NotRequired[float]
    """Additive increase in a round trip, packets."""
    beta: NotRequired[Share]
    """Factor of the decrease (beta)."""
    max_decrease: NotRequired[Share]
    """Largest share of the window that a decrease, a loss or a timeout removes (max_mdf)."""
    reset_after: NotRequired[int]
    """Timeouts in a row from which on the window is the smallest."""
    min_window: NotRequired[Size]
    """Smallest window."""
    max_window: NotRequired[int]
    """Largest window, packets (csg-htsim: 1000). Unset: what the sender's link carries in the
    largest target, and at least 2.
    """


class PowerTcpSettings(TypedDict):
    """Parameters of PowerTCP and theta-PowerTCP (NSDI 2022); defaults as in their authors'
    simulator.
    """

    eta: NotRequired[Share]
    """Target of PowerTCP's power (the paper has 100%)."""
    gamma: NotRequired[Share]
    """Weight of a new rate. Unset: 90%, and 70% in theta-PowerTCP."""
    rate_ai: NotRequired[Rate]
    """Additive increase. Unset: 0.6% of the sender's link, 150 Mbps at 25 Gbps."""
    min_gradient: NotRequired[Share]
    """Smallest current, as a share of a link's rate (the paper has none: 0%)."""
    delay_slack: NotRequired[Share]
    """Share of the smallest round trip that theta-PowerTCP allows without a reduction (the paper
    has 0%).
    """
    min_rate: NotRequired[Rate]
    """Smallest rate. Unset: 1% of the sender's link."""
    fast_react: NotRequired[bool]
    """Whether each ACK changes the rate (fast reaction), not only the first of a round trip."""


class HpccSettings(TypedDict):
    """HPCC's parameters (SIGCOMM 2019); defaults as in its authors' simulator."""

    form: NotRequired[HpccForm]
    """Value that HPCC controls."""
    eta: NotRequired[Share]
    """Target utilization of the busiest link."""
    max_stage: NotRequired[int]
    """Number of round trips below the target with additive increase only, before an increase to
    the target (maxStage; the paper has 5, the authors' runs 0).
    """
    rate_ai: NotRequired[Rate]
    """Additive increase with form = "rate". Unset: the rate of the sender's link over 2500, 10
    Mbps at 25 Gbps.
    """
    w_ai: NotRequired[Size]
    """Additive increase with form = "window" (W_AI). Unset: what the sender's link carries in a
    round trip, times (1 - eta) / 100, for up to 100 flows without a queue.
    """
    min_rate: NotRequired[Rate]
    """Smallest rate. Unset: 1% of the sender's link (the authors' runs: 1 Gbps at all rates)."""
    fast_react: NotRequired[bool]
    """Whether each ACK changes the rate (fast reaction), not only the first of a round trip."""
    window: NotRequired[Size]
    """Window at the rate of the sender's link, in payload; form = "rate" also weights queues by
    it. Unset: what the link carries in a round trip. The authors' code takes the largest
    product of round trip and slowest link among all pairs of hosts.
    """


class ReactionPoint(TypedDict):
    """QCN's reaction point in each source (thesis 5.2.2)."""

    decrease: NotRequired[Share]
    """Share by which one step of feedback reduces the rate (G_d)."""
    increase: NotRequired[Rate]
    """Increase per cycle of the target in Active Increase, and of the rate with QCN-AIMD (R_AI)."""
    cycle: NotRequired[Size]
    """Bytes sent in a cycle."""
    recovery_cycles: NotRequired[int]
    """Cycles of Fast Recovery."""
    timer: NotRequired[Time]
    """Period of the timer; each period is a cycle too (remark 5.2). Unset: no timer."""
    extra_fast_recovery: NotRequired[bool]
    """Whether feedback leaves target and byte counter unchanged if no cycle has ended since the
    previous feedback (IEEE 802.1Qau, "extra fast recovery").
    """
    target_rate_reduction: NotRequired[bool]
    """Whether a target above ten times the rate is divided by eight at the end of the first
    cycle after feedback (IEEE 802.1Qau, "target rate reduction").
    """
    hyper_increase: NotRequired[Rate]
    """Hyper-active increase: added to the target, times the number of cycles that both byte
    counter and timer are beyond Fast Recovery (IEEE 802.1Qau: 50Mbps); needs a timer. Unset:
    none.
    """
    initial_rate: NotRequired[Rate]
    """Initial rate of a source (default: the rate of its link)."""
    min_rate: NotRequired[Rate]
    """Smallest rate."""
    rate_limiters: NotRequired[int]
    """Rate limiters of a host, to which its flows are hashed; flows of a limiter share its rate
    and feedback (thesis 2.4, 5.1). Unset: one for each flow.
    """


class UnoCcSettings(TypedDict):
    """UnoCC's parameters (SC'25); the defaults are as in figures 3 to 9."""

    k: NotRequired[int]
    """K of the decrease, in full payloads: if every packet is marked, the window shrinks by 4 K
    / (K + BDP).
    """
    gain: NotRequired[Share]
    """Weight of an epoch's marked share in the average (figures 10 to 12: 50%)."""


class Admission(TypedDict):
    """Admission by the receiver, as in the collective library of Meta's RoCE clusters (SIGCOMM
    2024): a sender asks before a message, and sends what the receiver has granted.
    """

    window: NotRequired[Size]
    """Bytes that may be on their way to a receiver, from all its senders together. Unset: 1.5
    times the bandwidth-delay product of the receiver's links at the longest round trip.
    """
    chunk: NotRequired[Size]
    """Bytes of a grant, in whole packets and at least one. Unset: an eighth of the window."""
    eager: NotRequired[Size]
    """Largest message that goes without a grant."""


class Erasure(TypedDict):
    """Erasure coding by groups (SC'25): a group is complete with as many packets as it has data
    packets.
    """

    data: NotRequired[int]
    """Data packets of a group; a message is padded to whole groups."""
    parity: NotRequired[int]
    """Parity packets of a group."""
    wait: NotRequired[Time]
    """Time from a group's first packet after which a receiver requests the rest. Unset: five
    times the drain time of a full port buffer, between two data centres eight times.
    """


class Message(TypedDict):
    """Settings of the message transport, whose congestion controls are RDMA's, such as DCQCN,
    HPCC, Swift and Ultra Ethernet's, or a class of your own with transport.messages = true.
    """

    paths: NotRequired[int]
    """Entropy values of a connection; the hash of each selects a path."""
    load_balancing: NotRequired[LoadBalancing]
    """Load balancing of packets over the paths."""
    subflows: NotRequired[int]
    """Paths at a time with load_balancing = "subflows"."""
    flowlet_gap: NotRequired[Time]
    """Pause after which a packet begins a flowlet, with load_balancing = "flowlet" (default: the
    round trip).
    """
    recovery: NotRequired[Recovery]
    """Recovery of lost packets: by timeout and trimmed headers alone, go-back-N or selective
    repeat. Unset: go back with the controls of RoCE's adapters, selective with Swift, timeout
    with others.
    """
    reordering: NotRequired[int]
    """Packets by which a packet may be overtaken before it counts as lost, with recovery =
    "selective".
    """
    gap_interval: NotRequired[Time]
    """Time after which a receiver repeats the request to go back to the same packet, with
    recovery = "go_back_n".
    """
    cnp_interval: NotRequired[Time]
    """Shortest time between two notifications of marks (CNP), which are packets of their own.
    Unset: the mark returns in the packet's acknowledgment.
    """
    max_in_flight: NotRequired[Size]
    """Largest number of bytes in flight, regardless of the control. IRN has a bandwidth-delay
    product.
    """
    ack_size: NotRequired[Size]
    """Size of an acknowledgment and other control packets. Unset: `transport.header`."""
    ack_priority: NotRequired[int]
    """Priority class of acknowledgments and other control packets."""
    cnp_priority: NotRequired[int]
    """Priority class of notifications of marks."""
    ack_bytes: NotRequired[Size]
    """Received bytes after which the receiver must send an acknowledgment."""
    initial_window: NotRequired[int]
    """Initial window and initial ungranted credit, full packets. Unset: 1.5 times the bandwidth-
    delay product of the sender's own link at the longest round trip. UnoCC starts with one
    bandwidth-delay product.
    """
    round_trip: NotRequired[Time]
    """The round trip of the unloaded network, which sizes windows and targets. Unset: the round
    trip between the farthest hosts, over the slowest of their shortest paths. With two data
    centres the value applies inside a data centre; between them the farthest hosts always
    determine it.
    """
    timeout: NotRequired[Time]
    """Time without acknowledgment after which a packet counts as lost. Unset: 15 us plus six
    times the drain time of a full port buffer at the rate of the slowest of both hosts' links
    and the tiers between switches (a tier counts as its fastest link), or six round trips if
    buffers are unlimited, and then at least twice the last measured round trip. With UnoCC:
    one round trip plus five times that drain time, and eight times between two data centres.
    """
    erasure: NotRequired[Erasure]
    """Erasure coding; without this table there is none."""
    admission: NotRequired[Admission]
    """Admission by the receiver; without this table a sender does not ask."""
    unocc: NotRequired[UnoCcSettings]
    """UnoCC's parameters."""


class Vegas(TypedDict):
    """TCP Vegas's parameters, in segments of the window that wait in queues."""

    alpha: NotRequired[int]
    """Number below which the window grows."""
    beta: NotRequired[int]
    """Number above which the window shrinks."""
    gamma: NotRequired[int]
    """Number above which slow start ends."""


class TimelySettings(TypedDict):
    """TIMELY's parameters; the defaults are from HPCC's simulator (9f4be2a)."""

    weight: NotRequired[Share]
    """Weight of a new difference of round trips in the gradient."""
    beta: NotRequired[Share]
    """Strength of a decrease."""
    low: NotRequired[Time]
    """Round trip below which the rate increases (T_low)."""
    high: NotRequired[Time]
    """Round trip above which the rate decreases (T_high)."""
    min_rtt: NotRequired[Time]
    """Round trip that the gradient is divided by."""
    additive: NotRequired[RelativeRate]
    """Increase in a round trip, a rate or a share of the link's. Unset: 1/1000 of the link, 100
    Mbps at 100 Gbps (paper: 10Mbps at 10 Gbps).
    """
    hyper: NotRequired[RelativeRate]
    """Increase after hyper_after increases in a row. Unset: 1/200 of the link, five times the
    default of additive.
    """
    hyper_after: NotRequired[int]
    """Increases in a row before those by hyper (N)."""
    counts_low: NotRequired[bool]
    """Whether increases below low count among them (HPCC's simulator); false: those by the
    gradient only (paper).
    """
    min_rate: NotRequired[RelativeRate]
    """Smallest rate, or share of the link's. Unset: 1/100 of the link, 1 Gbps at 100 Gbps."""
    window: NotRequired[bool]
    """Whether bytes in flight are limited to what the rate carries in the unloaded round trip."""


class Prague(TypedDict):
    """Prague's parameters."""

    rtt_target: NotRequired[Time]
    """Round trip below which the increase shrinks, so that flows of unequal round trips get
    equal rates; 0s for none.
    """
    transition_rounds: NotRequired[int]
    """Rounds after slow start until that applies."""


class DctcpRateSettings(TypedDict):
    """Parameters of rate-based DCTCP."""

    gain: NotRequired[Share]
    """Weight of a window's marked share in alpha (g)."""
    additive: NotRequired[RelativeRate]
    """Increase after a window without a cut, a rate or a share of the link's. Unset: the payload
    of a packet per unloaded round trip (HPCC's simulator: 615Mbps, a packet of 1000 bytes in
    13 us).
    """
    min_rate: NotRequired[RelativeRate]
    """Smallest rate, or share of the link's. Unset: 1/100 of the link, 1 Gbps at 100 Gbps."""
    window: NotRequired[bool]
    """Whether bytes in flight are limited to what the rate carries in the unloaded round trip."""


class Dctcp(TypedDict):
    """DCTCP's parameters (thesis 2.2.1)."""

    g: NotRequired[Share]
    """Weight g of a new sample of the marked fraction."""
    initial_alpha: NotRequired[Share]
    """First value of alpha."""
    rtt_fair: NotRequired[bool]
    """Whether every marked ACK applies its part of the cut (thesis 3.4.2), instead of one cut
    for each window of data.
    """
    rtt_fair_per: NotRequired[FairPer]
    """With rtt_fair: whether a marked ACK applies the cut of each packet that it covers or, as
    the equation is printed, of one packet.
    """
    hold_after_cut: NotRequired[bool]
    """Whether the window stays constant after a cut until all data sent before it is
    acknowledged (Linux, ns-3), instead of growing with each ACK that has no ECN-Echo.
    """
    acks_at_change: NotRequired[int]
    """ACKs that the receiver sends when the marking changes while an ACK is delayed: 2, for the
    packets before the change and the one after it (Linux), or 1, for those before it (thesis
    2.2.1).
    """


class DcqcnSettings(TypedDict):
    """DCQCN's parameters. An unset key has the variant's value."""

    variant: NotRequired[DcqcnVariant]
    """Origin of the constants that are unset."""
    gain: NotRequired[Share]
    """Weight of a new sample of alpha (g). Both: 1/256."""
    alpha_interval: NotRequired[Time]
    """Period of alpha's timer. Adapter: 1us; paper: 55us."""
    decrease_interval: NotRequired[Time]
    """Period of the check for marks that cut the rate; 0s: each mark cuts. Adapter: 4us; paper:
    0s.
    """
    increase_interval: NotRequired[Time]
    """Period of the increase timer. Adapter: 300us; paper: 55us."""
    byte_counter: NotRequired[Size]
    """Bytes sent after which the rate also increases; 0B: the timer alone counts. Adapter: 0B;
    paper: 10MB.
    """
    recovery_cycles: NotRequired[int]
    """Cycles of fast recovery (F). Adapter: 1; paper: 5."""
    additive: NotRequired[RelativeRate]
    """Additive increase of the target (R_AI), a rate or a share of the link's. Adapter: 1/5000
    of the link; paper: 40 Mbps at 40 Gbps, 1/1000.
    """
    hyper: NotRequired[RelativeRate]
    """Hyper increase of the target (R_HAI), a rate or a share of the link's. Both: 10 times the
    default of additive; the paper gives none.
    """
    min_rate: NotRequired[RelativeRate]
    """Smallest rate, or share of the link's. Adapter: 1 Gbps at 100 Gbps, 1/100; paper: 1/1000
    (it gives none).
    """
    mark_interval: NotRequired[Time]
    """Time after a mark in which the sender ignores others, as if the receiver sent one
    notification in it. Adapter: 0s; paper: 50us.
    """
    clamp_target: NotRequired[bool]
    """Whether each cut lowers the target to the rate; false: only the first one after an
    increase. Adapter: false; paper: true.
    """
    loss_is_mark: NotRequired[bool]
    """Whether a negative acknowledgment counts as a mark, as in ConWeave's simulator (236a801)."""
    window: NotRequired[bool]
    """Whether bytes in flight are limited to what the rate carries in the unloaded round trip
    (DCQCN+w).
    """


class Cubic(TypedDict):
    """CUBIC's parameters."""

    hystart: NotRequired[bool]
    """Whether slow start ends before the first loss, at a long train of ACKs or a longer round
    trip (HyStart; Linux: true).
    """


class ConstantRate(TypedDict):
    """Parameters of traffic without congestion control."""

    rate: NotRequired[Rate]
    """Rate of each flow, headers included; required with congestion_control = "constant_rate"."""
    burst: NotRequired[int]
    """Packets per train, back to back at the rate of the host; the trains keep the rate on
    average.
    """
    l4s: NotRequired[bool]
    """Whether its packets carry ECT(1), so that L4S queues take them; false: ECT(0). Requires
    transport.ecn.
    """


class Bic(TypedDict):
    """BIC-TCP's parameters; windows in segments."""

    decrease: NotRequired[Share]
    """Share by which a reduction shrinks the window (beta; Linux: 205/1024)."""
    max_increment: NotRequired[int]
    """Largest growth in a round trip (S_max; Linux: 16)."""
    min_increment: NotRequired[Share]
    """Smallest growth in a round trip of the binary search (S_min)."""
    low_window: NotRequired[int]
    """Window below which TCP's rules apply."""
    fast_convergence: NotRequired[bool]
    """Whether a flow whose window did not reach its old maximum gives way to newer flows."""


class Spray(TypedDict):
    """Spreading of a stream's packets over several paths."""

    paths: NotRequired[int]
    """Entropy values of a flow; the hash of each selects a path."""
    load_balancing: NotRequired[StreamBalancing]
    """Load balancing of packets over the paths."""
    flowlet_gap: NotRequired[Time]
    """Pause after which a packet begins a flowlet, with load_balancing = "flowlet"."""


class SmallQueues(TypedDict):
    """Limit of a flow's bytes in the queue of its host; defaults as in Linux 6.1."""

    on: NotRequired[bool]
    """Whether there is a limit. Unset: with a queue for each flow (host.queue)."""
    time: NotRequired[Time]
    """The limit, as a time of the flow's pacing rate: 2 times its window per round trip in slow
    start, 1.2 times afterwards.
    """
    segments: NotRequired[int]
    """Smallest limit, segments; with host.offload pieces."""
    bytes: NotRequired[Size]
    """Largest limit (tcp_limit_output_bytes)."""


class Transport(TypedDict):
    """TCP and its parameters; windows in segments of mtu - header bytes."""

    congestion_control: NotRequired[CongestionControl]
    """Congestion control algorithm; in Python also the name of your own class."""
    own_sha256: NotRequired[str]
    """SHA-256 of the source of your own class; hull sets it and rejects any other value."""
    messages: NotRequired[bool]
    """Whether your own class controls flows of the message transport instead of TCP's; hull's
    own congestion controls decide it themselves.
    """
    ecn: NotRequired[bool]
    """Whether data packets are ECN-capable; DCTCP needs it."""
    mtu: NotRequired[Size]
    """Largest packet, headers included."""
    header: NotRequired[Size]
    """IP and TCP header, also the size of an ACK."""
    framing: NotRequired[Size]
    """Bytes that each packet occupies on a link beyond its own: Ethernet's header, check
    sequence, preamble and gap are 38 bytes. Buffers, marking, phantom queues and pacers do
    not count them.
    """
    initial_window: NotRequired[int]
    """Initial window, segments."""
    min_window: NotRequired[int]
    """Smallest window after a reduction, segments."""
    max_window: NotRequired[int]
    """Largest congestion window, segments."""
    receive_window: NotRequired[int]
    """The receiver's window, segments."""
    initial_rto: NotRequired[Time]
    """Retransmission timeout before the first round-trip sample."""
    min_rto: NotRequired[Time]
    """Minimum retransmission timeout."""
    max_rto: NotRequired[Time]
    """Maximum retransmission timeout."""
    rto_granularity: NotRequired[Time]
    """Clock tick of the retransmission timer, which fires only at its multiples, and of
    idle_restart, which counts it; 0s: an exact clock.
    """
    limited_transmit: NotRequired[bool]
    """Whether the first two duplicate ACKs release new segments (RFC 3042)."""
    handshake: NotRequired[bool]
    """Whether each new connection begins with SYN and SYN-ACK; persistent ones never do."""
    ack_every: NotRequired[int]
    """Data packets per ACK."""
    delayed_ack: NotRequired[Time]
    """Longest wait of a delayed ACK. Unset with a min_rto of at most 1ms: a tenth of it."""
    quick_acks: NotRequired[int]
    """Number of first data packets of a connection that are acknowledged at once (Linux: 16)."""
    idle_restart: NotRequired[bool]
    """Whether a connection that was idle for an RTO starts again from its initial window."""
    idle_decay: NotRequired[bool]
    """Whether idle_restart halves the window once for each RTO of idle time instead, not below
    the initial window (RFC 2861, Linux).
    """
    cwnd_validation: NotRequired[bool]
    """Whether the window grows only while it limits the sender."""
    byte_counting: NotRequired[bool]
    """Whether the window grows by the bytes that an ACK covers (RFC 3465) or by one step for
    each ACK (RFC 5681, ns-2, Linux until 3.18).
    """
    tso_win_divisor: NotRequired[int]
    """With host.offload: new data waits until the sender may send this fraction of the window
    (Linux: 3), 64 KB or all remaining data, so that pieces grow; 0 sends what the window
    allows.
    """
    small_queues: NotRequired[SmallQueues]
    """TCP small queues."""
    loss_detection: NotRequired[LossDetection]
    """How a stream finds that a packet is lost: by the number of packets that have overtaken it
    (RFC 6675), or by time since one that was sent later has arrived (RACK, RFC 8985).
    """
    duplicate_threshold: NotRequired[int]
    """Packets above a missing one that prove its loss; with loss_detection = "rack" until
    reordering has been seen.
    """
    spray: NotRequired[Spray]
    """Spreading of a stream's packets over several paths; without this table a flow has one."""
    paced: NotRequired[bool]
    """Whether its flows are paced if hosts have a pacer."""
    dscp: NotRequired[int]
    """Code point of its data (DSCP), for which switch.dscp gives the class."""
    priority: NotRequired[int]
    """Priority class of its packets, 0 first, below switch.priorities; unset:
    workload.high_priority_below decides.
    """
    bic: NotRequired[Bic]
    """BIC-TCP's parameters."""
    constant_rate: NotRequired[ConstantRate]
    """Parameters of traffic without congestion control."""
    cubic: NotRequired[Cubic]
    """CUBIC's parameters."""
    dcqcn: NotRequired[DcqcnSettings]
    """DCQCN's parameters."""
    dctcp: NotRequired[Dctcp]
    """DCTCP's parameters."""
    dctcp_rate: NotRequired[DctcpRateSettings]
    """Parameters of rate-based DCTCP."""
    prague: NotRequired[Prague]
    """Prague's parameters."""
    timely: NotRequired[TimelySettings]
    """TIMELY's parameters."""
    vegas: NotRequired[Vegas]
    """Vegas's parameters."""
    message: NotRequired[Message]
    """The message transport's parameters."""
    qcn: NotRequired[ReactionPoint]
    """Parameters of QCN and QCN-AIMD; windows are transport.max_window then."""
    hpcc: NotRequired[HpccSettings]
    """HPCC's parameters."""
    powertcp: NotRequired[PowerTcpSettings]
    """Parameters of PowerTCP and theta-PowerTCP."""
    swift: NotRequired[Swift]
    """Swift's parameters."""


class PortSettings(TypedDict):
    """Ports of switches that differ from the others. All given ones of `rate`, `tier` and `node`
    must match; omitted settings are as for the other ports.
    """

    rate: NotRequired[Rate]
    """Ports with links of this rate."""
    tier: NotRequired[str]
    """Ports of this tier, such as `tor-host` or `agg-core`."""
    node: NotRequired[str]
    """Ports of the switch of this name."""
    buffer: NotRequired[Buffer]
    """Their buffer."""
    marking: NotRequired[Marking]
    """Their marking."""
    phantom_queue: NotRequired[PhantomQueue]
    """Their phantom queue."""
    loss: NotRequired[Share]
    """Share of the packets that their links lose at random."""


class UnoPhantomQueue(TypedDict):
    """Uno's phantom queue (SC'25): in parallel to the port's queue, with a size, a drain of a
    packet at a time and marking with a probability between two thresholds. It counts and
    marks data only.
    """

    slowdown: NotRequired[Share]
    """Slowdown s of the drain against the link, in whole percents: the drain rate is the link's
    over 1 + s.
    """
    size: NotRequired[Size]
    """Value at which its counter saturates. Unset: the bandwidth-delay product of the fastest
    host's link at the longest round trip.
    """
    low: NotRequired[Share]
    """Share of the size up to which no packet is marked (Kmin)."""
    high: NotRequired[Share]
    """Share of the size above which every packet is marked (Kmax)."""


class Avq(TypedDict):
    """Adaptive virtual queue (Kunniyur and Srikant), in parallel to the port's queue."""

    target: NotRequired[Share]
    """Share of the link's rate at which arrivals settle (gamma)."""
    time_constant: Time
    """Time constant of the virtual capacity, 1 / alpha. The published alpha of 0.15 per second
    is 6.7s.
    """
    buffer: Size
    """Size of the virtual queue: a packet that finds no room in it is marked."""


class PhantomQueue(TypedDict):
    """A phantom queue (paper 2.1)."""

    drain: RelativeRate
    """Rate at which the virtual queue drains (gamma times the link's rate)."""
    threshold: Size
    """Virtual backlog above which packets are marked."""
    count_arriving: NotRequired[bool]
    """Whether the packet is added before the comparison (report II-A) or after (the NetFPGA)."""
    tick: NotRequired[Tick]
    """Step in which it drains (800 ns on the NetFPGA)."""
    placement: NotRequired[Placement]
    """Where packets are counted: as they leave the port, or as they arrive at it."""


class Trimming(TypedDict):
    """Packet trimming, for transports that understand it."""

    newcomer: NotRequired[Share]
    """Probability that a packet which arrives at a full queue is trimmed itself; otherwise the
    last packet of the queue is trimmed, and the newcomer takes its place.
    """


class Telemetry(TypedDict):
    """In-band telemetry: each port of a switch writes queue, sent bytes, time and rate into the
    data of senders that ask for it; up to 8 hops.
    """

    record: NotRequired[Size]
    """Size of a record on the wire. A packet grows by it at each port, and its ACK returns all
    records.
    """
    fields: NotRequired[FieldWidths]
    """Fields of a record."""
    unit_factor: NotRequired[int]
    """Factor of the units of sent bytes and queue with fields = "hpcc" (INT_MULTI). Unset: the
    rate of a host's link over 25 Gbps, at least 1.
    """
    drain: NotRequired[RelativeRate]
    """Rate at which the reported queue drains. A record then has the counter of a phantom queue,
    not the port's queue. Unset: the port's queue.
    """


class Rcp(TypedDict):
    """RCP at the ports of switches; alpha and beta are its gains."""

    algorithm: NotRequired[RcpAlgorithm]
    """RCP, or one of its versions with the averaging principle."""
    alpha: Share
    """Weight of the spare rate."""
    beta: Share
    """Weight of the queue."""
    interval: Time
    """Time between two updates of the rate (T)."""
    round_trip: Time
    """Round trip for which the gain is set (d0); with round_trip_gain its initial value."""
    round_trip_gain: NotRequired[Share]
    """Share by which d0 moves towards the packets' mean round trip in each interval; sources
    measure it and packets carry it (RCP: 0.02). 0 keeps d0 constant.
    """
    averaging: NotRequired[Share]
    """Share of the way back in an averaging step (thesis: one half; other values: remark 5.4)."""
    initial: NotRequired[Share]
    """First offered rate, as a share of the link's."""


class CongestionPoint(TypedDict):
    """QCN's congestion point at each port (thesis 5.2.1)."""

    equilibrium: NotRequired[Size]
    """Target queue (Q_eq): 22 packets in the thesis."""
    weight: NotRequired[Share]
    """Weight w of the queue's change since the last sample."""
    sampling: NotRequired[Share]
    """Share of the data packets that are sampled (p_s), at random, unless `interval` is given."""
    interval: NotRequired[Size]
    """Bytes between two samples, randomized by 15% (IEEE 802.1Qau: 150KB)."""
    step: NotRequired[Size]
    """Size of each of the 63 steps of the feedback; 1500B is a packet, as in the fluid model."""
    rounding: NotRequired[QcnRounding]
    """Rounding of a partial step."""
    adaptive: NotRequired[bool]
    """Whether congestion makes samples more frequent, up to eight times at the largest feedback
    (IEEE 802.1Qau).
    """


class Pie(TypedDict):
    """PIE: marks packets with ECT and drops others to keep the queueing delay."""

    target: NotRequired[Time]
    """Target delay."""
    interval: NotRequired[Time]
    """Time between two updates of the probability."""
    alpha: NotRequired[Share]
    """Integral gain, per second."""
    beta: NotRequired[Share]
    """Proportional gain, per second."""
    burst: NotRequired[Time]
    """Time after an idle queue during which bursts are admitted."""


class FqCodel(TypedDict):
    """FQ-CoDel: a queue with CoDel for each flow, served by deficit round robin."""

    target: NotRequired[Time]
    """Target delay."""
    interval: NotRequired[Time]
    """Time above the target after which the first packet is marked or dropped: a large round
    trip.
    """
    flows: NotRequired[int]
    """Number of queues; 1 is CoDel."""


class DualPi2(TypedDict):
    """DualPI2: two coupled queues at each port, one for L4S packets (ECT(1), CE) and one for the
    rest.
    """

    typical_rtt: NotRequired[Time]
    """Typical round trip, from which target, interval, alpha and beta follow. Without it and
    max_rtt, Linux's values apply.
    """
    max_rtt: NotRequired[Time]
    """Largest round trip (default: 6 typical ones)."""
    target: NotRequired[Time]
    """Target delay (Linux: 15 ms)."""
    interval: NotRequired[Time]
    """Time between two updates of the probability (Linux: 16 ms)."""
    alpha: NotRequired[Share]
    """Integral gain, per second (Linux: 0.16015625)."""
    beta: NotRequired[Share]
    """Proportional gain, per second (Linux: 3.19921875)."""
    step: NotRequired[Time]
    """Wait above which an L4S packet is marked (default: 1 ms, at most the target)."""
    step_after: NotRequired[int]
    """Packets that an L4S packet must find in its queue for the step to apply: 0 in Linux, 2 in
    L4STeam's kernel of 2020.
    """
    coupling: NotRequired[int]
    """k: L4S packets are marked with k p, classic ones with p^2."""
    classic_share: NotRequired[Share]
    """Share of the link for the classic queue while both hold packets."""
    drop_on_overload: NotRequired[bool]
    """Whether overload (k p above 1) drops L4S packets too, rather than let the queues grow."""
    virtual_queue: NotRequired[RelativeRate]
    """Rate of a virtual queue of L4S packets: the step is compared with the time that it takes
    to drain, in place of the time that the packet waited.
    """


class Pi(TypedDict):
    """PI with ECN (Hollot et al., "On Designing Improved Controllers for AQM Routers"), designed
    for a number of flows and a round trip by that paper's Proposition 2.
    """

    reference: QueueLength
    """Target queue (q_ref)."""
    interval: Time
    """Time between two samples of the queue (T)."""
    flows: int
    """Smallest number of flows for which PI must be stable (N)."""
    round_trip: Time
    """Longest round trip for which PI must be stable (R)."""


class Red(TypedDict):
    """RED with ECN: packets are marked and, by default, none is dropped early."""

    min: QueueLength
    """Average queue above which packets begin to be marked (min_th)."""
    max: QueueLength
    """Average queue from which on every packet is marked (max_th), in the unit of `min`."""
    max_probability: NotRequired[Share]
    """Probability at `max` (max_p)."""
    weight: NotRequired[AverageWeight]
    """Weight in the average of the queue that a packet finds: a share such as `"10%"` or `0.1`,
    or a whole number n from 2 to 24 for 2 to the power of minus n, as on switches. `"100%"`
    is the queue itself; 1 is rejected because it could mean `"50%"` or `"100%"`.
    """
    gentle: NotRequired[bool]
    """Whether the probability continues to grow, up to 1 at twice `max`."""
    by_size: NotRequired[bool]
    """Whether the probability is proportional to the packet's size."""
    hard_drop: NotRequired[bool]
    """Whether packets are dropped, instead of marked, from `max` on, with `gentle` from twice
    `max` (harddrop of Linux).
    """
    early_drop: NotRequired[bool]
    """Whether a packet without ECN is dropped where one with ECN would be marked."""
    draw: NotRequired[RedDraw]
    """How packets are drawn: `"spaced"` by the packets since the last mark, as Floyd and
    Jacobson and Linux do, or `"independent"`, each with the probability of its average alone,
    as the WRED of switches does. Spaced marks are up to twice as frequent.
    """


class Marking(TypedDict):
    """ECN marking on the instantaneous queue (thesis 2.2.1)."""

    threshold: Size
    """Queue above which packets are marked (the papers' K)."""
    max_threshold: NotRequired[Size]
    """Queue above which every packet is marked (Kmax): between the threshold and this value the
    marking probability rises linearly. Unset: all packets above the threshold are marked.
    """
    max_probability: NotRequired[Share]
    """Marking probability at max_threshold (Pmax); above it every packet is marked."""
    at_rate: NotRequired[Rate]
    """Rate of the ports to which the thresholds apply; at other ports they are proportional to
    the rate. Unset: the same at every rate. As deployed for DCQCN (HPCC's simulator):
    threshold 100KB, max_threshold 400KB and max_probability 20% at 25Gbps, on "dequeue".
    """
    count_arriving: NotRequired[bool]
    """Whether the queue includes the packet itself."""
    on: NotRequired[MarkOn]
    """Time at which the queue is compared with the threshold."""


class Dwrr(TypedDict):
    """Deficit round robin among the priority classes."""

    weights: list[int]
    """Share of the link of each class while all wait, the highest class first: `[3, 1]` for
    three quarters and one quarter. As many as switch.priorities.
    """


class Dscp(TypedDict):
    """Class of the packets with a code point."""

    code: int
    """Code point, 0 to 63."""
    priority: int
    """Priority class, below switch.priorities."""


class PfcWatchdog(TypedDict):
    """Watchdog of a switch: a class of a port that is paused too long is a storm
    (docs/pauses.md).
    """

    detection: NotRequired[Time]
    """Time for which a class is paused, while a packet waits in it, until it is a storm. SONiC's
    `pfcwd start_default` has the default.
    """
    restoration: NotRequired[Time]
    """Time without a pause after which a storm is over. Unset: twice `detection`, as SONiC's
    `pfcwd start`; 200 ms if that is unset, too, as `pfcwd start_default`.
    """
    action: NotRequired[WatchdogAction]
    """What a switch does in a storm: discard the packets of the queue, ignore the pauses, or
    count the storm.
    """


class Pfc(TypedDict):
    """Priority flow control (IEEE 802.1Q), or PAUSE of whole links (IEEE 802.3): a switch that
    holds too many packets from a link asks the other end to pause (docs/pauses.md).
    """

    classes: NotRequired[list[int]]
    """Lossless classes. Unset: all of `switch.priorities`."""
    whole_link: NotRequired[bool]
    """Whether all classes of a link count and pause together (PAUSE), not each by itself."""
    xoff: NotRequired[Size]
    """Fixed threshold of a port and class, from which its peer pauses. Unset: `alpha`, or
    without `switch.memory` the headroom and `hysteresis`.
    """
    alpha: NotRequired[Share]
    """Dynamic threshold, as a multiple of the free part of the shared pool. Unset: 12.5% with
    `switch.memory` and without `xoff`.
    """
    hysteresis: NotRequired[Size]
    """Bytes below the threshold at which the peer resumes. Unset: two packets of
    `transport.mtu`.
    """
    reserve: NotRequired[Size]
    """Memory of a port and class before the shared pool."""
    headroom: NotRequired[Size]
    """Memory of a port and class for what arrives after its peer was asked to pause. Unset: what
    loses no packet, from the link's rate and delay, the MTU and `reaction`.
    """
    allow_loss: NotRequired[bool]
    """Whether `headroom = "0B"` is meant: packets that find no room are lost and counted."""
    reaction: NotRequired[Time]
    """Time from a pause frame's arrival to its effect. The default is 12 quanta at 10 Gbps and
    from no standard that could be read here; limits of 1 to 3 us are in use for NICs
    (docs/pauses.md).
    """
    quanta: NotRequired[int]
    """Time of a pause, in quanta of 512 bits at the link's rate."""
    renewal: NotRequired[Renewal]
    """When a switch asks again for a pause that it still needs."""
    pause_at_threshold: NotRequired[bool]
    """Whether the peer pauses when the class reaches the threshold, not with the first packet
    above it.
    """
    resume_below: NotRequired[Size]
    """Bytes of a port and class below which its peer resumes in any case."""
    headroom_outside: NotRequired[bool]
    """Whether the headroom is beside `switch.memory`, not a part of it."""
    refill_pool: NotRequired[bool]
    """Whether a packet that finds room below the threshold goes to the shared pool while the
    headroom is in use; false: all packets go to the headroom until it is empty.
    """
    resume_on_own_departure: NotRequired[bool]
    """Whether a switch looks whether the peer may resume only when a packet that came from it
    leaves; false: when any packet leaves the memory.
    """
    watchdog: NotRequired[PfcWatchdog]
    """Watchdog of the switches' pauses. Unset: there is none."""
    rules: NotRequired[PfcRules]
    """Rules whose values the unset keys have: IEEE 802.1Q's, or a simulator's."""


class Memory(TypedDict):
    """Shared packet memory; `preset` or `size`."""

    preset: NotRequired[Preset]
    """A switch of thesis table 2.1."""
    size: NotRequired[Size]
    """Total memory (default: the preset's)."""
    alpha: NotRequired[Share]
    """Limit of a queue in the shared pool, as a multiple of the pool's free part (alpha)."""
    reserved: NotRequired[Size]
    """Bytes reserved for each queue."""
    queues: NotRequired[int]
    """Number of queues with a reservation on each port, with or without traffic. With a preset
    all of its ports have them, also those without a link (default: only `switch.priorities`
    of each link).
    """
    limit: NotRequired[Size]
    """Largest part of the shared pool for one queue, besides `alpha` (default: none)."""
    cell: NotRequired[Size]
    """Size of a memory cell; a packet occupies whole cells (default: a packet occupies its own
    size).
    """
    busy: NotRequired[Size]
    """Length from which a queue is busy: the number of busy queues divides `alpha`, and a
    shorter queue counts as its part (ABM; default: no division).
    """


class Switch(TypedDict):
    """The switches and their links, to hosts and to each other."""

    rate: Rate
    """Rate of the links out of a switch."""
    delay: Time
    """Propagation delay of those links."""
    latency: NotRequired[Time]
    """Latency of a packet in a switch without queueing and transmission."""
    cut_through: NotRequired[Size]
    """Bytes of a packet after which a switch starts to forward it (cut-through); unset: store
    and forward.
    """
    loss: NotRequired[Share]
    """Share of the packets that each link out of a switch loses at random."""
    buffer: NotRequired[Buffer]
    """Size of each output port's drop-tail buffer. Each class of `priorities` has its own; the
    queues of `fq_codel` or `dualpi2` share one.
    """
    memory: NotRequired[Memory]
    """Memory that the ports of a switch share; without this table each port has its own."""
    pfc: NotRequired[Pfc]
    """Priority flow control, which loses no packet of its classes; without this table switches
    drop packets that find no room.
    """
    priorities: NotRequired[int]
    """Queues of each port, the first for messages of high priority
    (workload.high_priority_below); served in strict priority unless switch.dwrr is set.
    """
    dscp: NotRequired[list[Dscp]]
    """Classes of packets by their code point (transport.dscp); others are in the class of
    transport.priority and counted.
    """
    dwrr: NotRequired[Dwrr]
    """Deficit round robin among the classes; without this table they are served in strict
    priority.
    """
    commit: NotRequired[Size]
    """Bytes left to send, framing included, at which a port with priorities selects its next
    packet: the content of the transmitter behind the scheduler. Unset: it selects when the
    link is free.
    """
    count_in_service: NotRequired[bool]
    """Whether the packet being sent still occupies the buffer and counts for marking."""
    marking: NotRequired[Marking]
    """ECN marking by queue length; without this table there is none."""
    red: NotRequired[Red]
    """ECN marking by RED; without this table there is none."""
    pi: NotRequired[Pi]
    """ECN marking by PI; without this table there is none."""
    dualpi2: NotRequired[DualPi2]
    """DualPI2, two coupled queues for L4S and classic traffic; without this table there is one
    queue.
    """
    fq_codel: NotRequired[FqCodel]
    """FQ-CoDel, a queue for each flow; without this table there is one queue."""
    pie: NotRequired[Pie]
    """Marks and drops by PIE; without this table there are none."""
    qcn: NotRequired[CongestionPoint]
    """QCN's congestion point; without this table there is none."""
    rcp: NotRequired[Rcp]
    """RCP, which offers each flow a rate; without this table there is none."""
    telemetry: NotRequired[Telemetry]
    """In-band telemetry: records of the ports in the data of senders that ask; without this
    table there is none.
    """
    trimming: NotRequired[Trimming]
    """Trimming: data that finds no room in the buffer loses its payload and continues as a
    header, in a queue that is served first; without this table it is dropped.
    """
    phantom_queue: NotRequired[PhantomQueue]
    """Phantom queue of each port; without this table there is none."""
    avq: NotRequired[Avq]
    """ECN marking by an adaptive virtual queue; without this table there is none."""
    uno_phantom_queue: NotRequired[UnoPhantomQueue]
    """Uno's phantom queue of each port; without this table there is none."""
    ports: NotRequired[list[PortSettings]]
    """Ports with their own settings; the last matching entry applies."""


class Receive(TypedDict):
    """The receiving side of a host: interrupt coalescing with `ethtool`'s names, and the
    processor time of interrupts and packets (paper 4.2 and table 2).
    """

    frames: NotRequired[int]
    """Number of waiting packets that raises an interrupt (rx-frames)."""
    ring: NotRequired[int]
    """Packets that may wait for the processor (descriptors of the receive ring); others are
    dropped. Unset: no limit.
    """
    xoff: NotRequired[int]
    """Packets in the ring above which the NIC asks its switch to pause, with switch.pfc. Unset:
    the ring without the packets that may still arrive.
    """
    xon: NotRequired[int]
    """Packets in the ring down to which the NIC lets its switch resume, with switch.pfc. Unset:
    two less than xoff.
    """
    wait: NotRequired[Time]
    """Longest wait of a packet for an interrupt (rx-usecs)."""
    adaptive: NotRequired[bool]
    """Whether the wait applies only while packets arrive faster than one per wait (adaptive)."""
    join: NotRequired[Size]
    """Largest packet that receive offload builds from the packets of one interrupt; unset: no
    receive offload.
    """
    interrupt_cost: NotRequired[Time]
    """Processor time of an interrupt."""
    packet_cost: NotRequired[Time]
    """Processor time of a packet, single or joined."""
    frame_cost: NotRequired[Time]
    """Additional processor time of each packet on the wire, joined or not."""
    unmasked: NotRequired[bool]
    """Whether interrupts stay enabled while the processor works, each for the packets that it
    announced; otherwise they are masked until no packet is left (NAPI).
    """


class Transmit(TypedDict):
    """The sending side of a host: one processor with a cost per packet, which receiving does not
    share (paper 4.1, remark 3).
    """

    packet_cost: NotRequired[Time]
    """Processor time of a packet that the stack hands to the NIC; with host.offload of a whole
    piece.
    """
    frame_cost: NotRequired[Time]
    """Additional processor time of each packet on the wire, split off a piece or not."""


class Gamma(TypedDict):
    """Gamma distribution: mean `shape * scale`, variance `shape * scale^2`."""

    shape: float
    """Shape (kappa)."""
    scale: Time
    """Scale; the report's 180 gamma(kappa, theta) ns has the scale 180 theta ns."""


class Service(TypedDict):
    """Random time: `offset` plus at most one distribution, drawn independently each time."""

    offset: NotRequired[Time]
    """Constant part."""
    exponential: NotRequired[Time]
    """Mean of an exponential part."""
    gamma: NotRequired[Gamma]
    """Gamma-distributed part."""


class Host(TypedDict):
    """A host and its link to the switch."""

    rate: Rate
    """Rate of the link from the host to the switch."""
    delay: Time
    """Propagation delay of that link."""
    loss: NotRequired[Share]
    """Share of the packets that that link loses at random."""
    queue: NotRequired[HostQueue]
    """Queue of the host before its link. Unset: "fair", or "fifo" if nic_queues is set."""
    nic_buffer: NotRequired[Buffer]
    """Size of that queue; of all flows together if each has one."""
    nic_queues: NotRequired[int]
    """With `queue = "fifo"`: transmit queues of the NIC, served round robin, one packet each; a
    flow's number selects its queue. `nic_buffer` is the size of each.
    """
    nic_choice: NotRequired[NicRule]
    """Rule that chooses the NIC of a flow, for hosts with several links. Unset: "hash"."""
    stack_delay: NotRequired[Time]
    """Delay of a packet in the host's stack and NIC, in each direction."""
    stack_jitter: NotRequired[Service]
    """Random part of the stack's delay, drawn for each packet and direction; packets stay in
    order. Without this table the delay is constant.
    """
    offload: NotRequired[Size]
    """Largest piece that TCP hands to the NIC (segmentation offload): the NIC splits it and
    sends the packets back to back. Unset: single packets.
    """
    transmit: NotRequired[Transmit]
    """Processor of the sending side; without this table packets cost nothing there."""
    receive: NotRequired[Receive]
    """Interrupts and processor of the receiving side; without this table packets cost nothing."""
    application_delay: NotRequired[Time]
    """Time from the arrival of a message's last byte to the application's next step."""


class Failure(TypedDict):
    """A link, NIC, switch or host that fails."""

    link: NotRequired[str]
    """The link, as "a--b" with the names of its ends; both directions fail."""
    nic: NotRequired[str]
    """The NIC, as "host:number", with its link; a host's NICs are numbered from 0."""
    switch: NotRequired[str]
    """The switch, with all of its links."""
    host: NotRequired[str]
    """The host, with all of its links."""
    at: Time
    """Time from the start of the run at which it fails."""
    until: NotRequired[Time]
    """Time from which it works again; unset: it stays down."""


class LinkSettings(TypedDict):
    """Settings of one link."""

    link: str
    """The link: "a--b" for both directions, "a->b" for one."""
    rate: NotRequired[Rate]
    """Its rate (default: as other links)."""
    delay: NotRequired[Time]
    """Its propagation delay (default: as other links)."""
    loss: NotRequired[Share]
    """Share of the packets that it loses at random (default: as other links)."""


class GraphText(TypedDict):
    """A graph as text: the content of a graph file."""

    text: str
    """The content of a graph file; from Python also a graph of NetworkX."""


class GraphFile(TypedDict):
    """A graph in a file, as NetworkX or HPCC's simulator has it; the page on topologies lists
    the formats.
    """

    path: str
    """The file."""


class DualTor(TypedDict):
    """Racks with two top-of-rack switches each: each host is connected to both of its rack, and
    each of them to each spine.
    """

    racks: int
    """Number of racks."""
    hosts_per_rack: int
    """Hosts of each rack."""
    spines: int
    """Number of spines."""
    uplink_rate: NotRequired[Rate]
    """Rate of the links between ToRs and spines (default: switch.rate)."""
    uplink_delay: NotRequired[Time]
    """Propagation delay of the links between ToRs and spines (default: switch.delay)."""


class RailOptimized(TypedDict):
    """Groups of hosts with a NIC for each rail: NIC r of each host of a group is connected to
    the group's leaf of rail r, and each leaf to each spine.
    """

    groups: int
    """Groups of hosts, each with a leaf for each rail."""
    hosts_per_group: int
    """Hosts of each group."""
    rails: int
    """NICs of each host."""
    spines: int
    """Number of spines; 0 is allowed with one group, whose rails then are separate networks."""
    uplink_rate: NotRequired[Rate]
    """Rate of the links between leaves and spines (default: switch.rate)."""
    uplink_delay: NotRequired[Time]
    """Propagation delay of the links between leaves and spines (default: switch.delay)."""


class TwoDatacentres(TypedDict):
    """Two data centres, each a fat tree of k-port switches whose cores are connected to a border
    switch, and links between the two border switches. Hosts of the second are numbered after
    the hosts of the first.
    """

    k: int
    """Ports of each switch of the fat trees, even."""
    border_links: int
    """Parallel links between the border switches."""
    border_delay: Time
    """Propagation delay of those links."""
    border_rate: NotRequired[Rate]
    """Their rate, at most the rate of the links between cores and border switches (default:
    switch.rate).
    """
    core_links: NotRequired[int]
    """Parallel links from each core to its border switch."""
    uplink_rate: NotRequired[Rate]
    """Rate of the links between switches of a data centre (default: switch.rate)."""
    uplink_delay: NotRequired[Time]
    """Propagation delay of the links between switches of a data centre (default: switch.delay)."""


class FatTree(TypedDict):
    """The fat tree of k-port switches: k pods with k / 2 ToRs and k / 2 aggregation switches
    each, k^2 / 4 cores, k^3 / 4 hosts, without oversubscription.
    """

    k: int
    """Ports of each switch, even."""
    planes: NotRequired[int]
    """Equal fat trees, with a NIC of each host in each."""
    uplink_rate: NotRequired[Rate]
    """Rate of the links between switches (default: switch.rate)."""
    uplink_delay: NotRequired[Time]
    """Propagation delay of the links between switches (default: switch.delay)."""


class Tree(TypedDict):
    """Three tiers in pods. Each ToR is connected to each aggregation switch of its pod;
    aggregation switch i of each pod is connected to the i-th group of cores / aggs_per_pod
    cores. The defaults are the network of paper 6.3: 56 switches of 8 ports, 192 hosts, 3:1
    at the ToR.
    """

    pods: NotRequired[int]
    """Number of pods."""
    tors_per_pod: NotRequired[int]
    """Top-of-rack switches in each pod."""
    hosts_per_tor: NotRequired[int]
    """Hosts at each top-of-rack switch."""
    aggs_per_pod: NotRequired[int]
    """Aggregation switches in each pod."""
    cores: NotRequired[int]
    """Core switches, a multiple of aggs_per_pod."""
    uplink_rate: NotRequired[Rate]
    """Rate of the links between ToR and aggregation (default: switch.rate)."""
    uplink_delay: NotRequired[Time]
    """Propagation delay of the links between ToR and aggregation (default: switch.delay)."""
    core_rate: NotRequired[Rate]
    """Rate of the links between aggregation and core (default: switch.rate)."""
    core_delay: NotRequired[Time]
    """Propagation delay of the links between aggregation and core (default: switch.delay)."""


class LeafSpine(TypedDict):
    """Two tiers: each leaf is connected to each spine."""

    leaves: int
    """Number of leaves."""
    spines: int
    """Number of spines."""
    hosts_per_leaf: int
    """Hosts at each leaf."""
    planes: NotRequired[int]
    """Equal networks of leaves and spines, with a NIC of each host in each."""
    uplink_rate: NotRequired[Rate]
    """Rate of the links between leaves and spines (default: switch.rate)."""
    uplink_delay: NotRequired[Time]
    """Propagation delay of the links between leaves and spines (default: switch.delay)."""


class Multihop(TypedDict):
    """The multi-hop network of thesis 2.3.1, figure 2.17: groups S1 and S2 at the switch
    `triumph1`, groups S3, R1 and R2 at `triumph2`, both connected to `scorpion`. R1 is one
    host.
    """

    s1: NotRequired[int]
    """Hosts of group S1."""
    s2: NotRequired[int]
    """Hosts of group S2."""
    s3: NotRequired[int]
    """Hosts of group S3."""
    r2: NotRequired[int]
    """Hosts of group R2."""
    trunk_rate: NotRequired[Rate]
    """Rate of the two links between switches."""
    trunk_delay: NotRequired[Time]
    """Propagation delay of the two links between switches (default: switch.delay)."""


class Dumbbell(TypedDict):
    """Senders at one switch, as many receivers at another, one link between the two. The
    measured port sends over this link from senders to receivers. The first receiver is the
    client and the first sender the source of probes; data should flow in that direction.
    """

    pairs: int
    """Number of senders and of receivers; hosts 0 to pairs - 1 are the senders."""
    bottleneck_rate: NotRequired[Rate]
    """Rate of the link between the switches (default: switch.rate)."""
    bottleneck_delay: NotRequired[Time]
    """Propagation delay of the link between the switches (default: switch.delay)."""
    rtts: NotRequired[list[Time]]
    """Round-trip propagation delay between sender i and receiver i: entry i modulo the number of
    entries. The sender's own link gets the remainder after the other links. Without entries
    that link has the same delay as the others.
    """


class Star(TypedDict):
    """One switch with all hosts; host 0 is the client, and the port to it is measured."""

    hosts: int
    """Number of hosts, the client included."""


class Topology(TypedDict):
    """Connections between hosts and switches: exactly one of the tables, and settings of single
    links.
    """

    star: NotRequired[Star]
    """All hosts at one switch."""
    dumbbell: NotRequired[Dumbbell]
    """Senders and receivers on the two sides of one link."""
    multihop: NotRequired[Multihop]
    """The network with two bottlenecks of thesis figure 2.17."""
    leaf_spine: NotRequired[LeafSpine]
    """Two tiers: each leaf is connected to each spine."""
    tree: NotRequired[Tree]
    """Three tiers in pods; by default the network of paper 6.3."""
    fat_tree: NotRequired[FatTree]
    """The fat tree of k-port switches."""
    two_datacentres: NotRequired[TwoDatacentres]
    """Two fat trees with links of millisecond delays between them."""
    rail_optimized: NotRequired[RailOptimized]
    """Groups of hosts with a NIC for each rail, and a leaf for each group and rail."""
    dual_tor: NotRequired[DualTor]
    """Racks with two top-of-rack switches, and hosts with a NIC at each."""
    file: NotRequired[GraphFile]
    """Any graph, from a file."""
    graph: NotRequired[GraphText]
    """Any graph, in the scenario itself."""
    links: NotRequired[list[LinkSettings]]
    """Links with their own rate, delay or loss."""
    failures: NotRequired[list[Failure]]
    """Links, NICs, switches and hosts that fail during the run."""


class Run(TypedDict):
    """Duration and repetitions of a scenario."""

    duration: Time
    """Measured simulated time, after the warm-up."""
    warmup: NotRequired[Time]
    """Simulated time before the measurement starts."""
    drain: NotRequired[Time]
    """Longest simulated time after the measurement in which started requests may complete."""
    seed: NotRequired[int]
    """First seed."""
    seeds: NotRequired[int]
    """Number of seeds: seed, seed + 1, ..."""
    threads: NotRequired[int]
    """Processor threads of one run. A large fat tree, tree or leaf-spine network whose flows are
    independent is divided by its hosts; other runs take one thread. The results are the same.
    """


class Scenario(TypedDict):
    """A scenario: a network, its hosts, their traffic, the measurements, and the schemes to
    compare.
    """

    name: str
    """Name of the scenario, used for the output folder: letters, digits, `-`, `_`."""
    title: NotRequired[str]
    """One-line description."""
    source: NotRequired[str]
    """Source document and section."""
    run: Run
    """Duration and repetitions."""
    topology: Topology
    """How hosts and switches are connected."""
    host: Host
    """The hosts and their links to the switch."""
    switch: Switch
    """The switch and its links to the hosts."""
    transport: NotRequired[Transport]
    """TCP."""
    transports: NotRequired[dict[str, Transport]]
    """Further transports by name. Each inherits the keys of `[transport]` that apply to its
    congestion control, and overrides keys in its own table. A workload selects the transport
    of its flows.
    """
    groups: NotRequired[dict[str, str]]
    """Groups of flows by name, each with the conditions that its flows match, joined by `&`,
    such as `"bytes<10KB"`, `"src:h3"` or `"dst:4-7&bytes>=1MB"`. `src:`, `dst:` and `host:`
    (either end) take a host or a range of numbers, `bytes` takes `<`, `<=`, `>` or `>=` and a
    size. Each flow belongs to the first group that it matches.
    """
    pacer: NotRequired[Pacer]
    """The packet pacer behind each host's NIC; without this table there is none."""
    workload: Workload
    """The traffic."""
    measure: NotRequired[Measure]
    """Measurements."""
    schemes: NotRequired[dict[str, dict[str, Any]]]
    """Schemes to compare: for each name, a table of keys that override the scenario's."""
    sweep: NotRequired[dict[str, Swept]]
    """Keys to sweep: for each dotted key, a list of values or a range `"start:stop:step"`; all
    combinations are run.
    """
