"""The source of each value of a design, and its accuracy.

"Simulations" are described in docs/theory/design.md: seven settings from 1 to 100 Gbps, 2 to 10
flows, with hosts without segmentation offload.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """An equation and its limits."""

    equation: str
    trust: str


SOURCES = {
    "k_packets": Source(
        "thesis 3.1: K = 0.17 C d",
        "for hosts without segmentation offload; bursts need more (thesis 2.2.4: 65 at 10 Gbps)",
    ),
    "g_min": Source("thesis 3.2: 5/(C d + K)", "keeps alpha from limiting convergence"),
    "g_max": Source("thesis 3.2: 1/sqrt(C d + K)", "keeps alpha steady over a period"),
    "drain_bps": Source(
        "paper 6.1, equation 5: 1 - gamma > N/(C RTT), and at least the 5% of table 3",
        "simulations need 0.24 to 1.5 times the headroom of the equation (eq5)",
    ),
    "threshold_bytes": Source(
        "C d / 40, from 2/3 of a packet (paper table 3: 1 KB) to 8 packets",
        "found by experiment at 1 to 400 Gbps; a higher threshold costs latency",
    ),
    "pacer": Source(
        "paper table 3 and 6.3, fitted by round trip (T_r, beta) and rate (T_i, FIFO)",
        "reproduces both documented settings; results hardly depend on them (thesis 4.4.3)",
    ),
    "dctcp_throughput": Source(
        "thesis 3.2.3, limit cycle with an empty queue", "within 1% of simulations"
    ),
    "dctcp_queueing_delay_mean_s": Source(
        "thesis 3.9 to 3.12, limit cycle", "1.1 to 1.2 times this value in simulations"
    ),
    "dctcp_queueing_delay_max_s": Source(
        "thesis 3.9 to 3.12, limit cycle (by 2.10: K + N)",
        "1.05 to 1.35 times this value in simulations; host bursts add to it",
    ),
    "dctcp_convergence_s": Source(
        "thesis 3.17 to 3.19, R* = d + K/C", "1.4 to 3 times this value in simulations"
    ),
    "dctcp_stability_margin": Source(
        "thesis theorem 3.1: 1 - rho(Z1 Z2)", "for the fluid model and small disturbances"
    ),
    "hull_throughput": Source(
        "thesis 3.9 to 3.12 without queueing delay, drain rate for C (hull's own)",
        "1.02 to 1.07 times this value in simulations",
    ),
    "hull_queueing_delay_p99_s": Source(
        "N - 1 simultaneous packets, the only queue at the headroom of paper equation 5",
        "an upper bound in simulations with pacers; unpaced bursts add to it",
    ),
    "hull_convergence_s": Source(
        "thesis 3.17 to 3.19, drain rate for C, R = d",
        "0.9 to 7.5 times this value in simulations: the model has no pacer",
    ),
    "hull_slowdown": Source(
        "paper 3.2, equation 3, gamma = hull_throughput",
        "0.90 to 1.05 times this value in simulations for flows of 8 (C RTT) round trips; shorter "
        "flows slow down more",
    ),
}
