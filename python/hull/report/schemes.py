"""Scheme: how each compared scheme is named and drawn, the same in every chart and figure.

The four schemes of the paper's table 4 and the report's table II have their own place in the
Okabe-Ito palette, which people with the usual colour vision deficiencies can tell apart; other
schemes take the remaining colours in the order in which a summary lists them. Dash and marker
repeat the distinction without colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Scheme:
    """One scheme's looks. `dash` is in pixels or points (empty = solid)."""

    name: str
    label: str
    colour: str
    dash: tuple[float, ...]
    marker: str


_KNOWN = {
    scheme.name: scheme
    for scheme in (
        Scheme("tcp_droptail", "TCP drop-tail", "#D55E00", (2, 2), "o"),
        Scheme("dctcp_30k", "DCTCP-30K", "#0072B2", (5, 2), "s"),
        Scheme("dctcp_6k_pacer", "DCTCP-6K + pacer", "#E69F00", (10, 3), "^"),
        Scheme("dctcp_pq950_pacer", "HULL (PQ 950)", "#009E73", (), "D"),
        # The same where an experiment has one of each kind.
        Scheme("tcp", "TCP", "#D55E00", (2, 2), "o"),
        Scheme("dctcp", "DCTCP", "#0072B2", (5, 2), "s"),
        Scheme("hull", "HULL", "#009E73", (), "D"),
        Scheme("dctcp_rtt_fair", "DCTCP, cut per marked ACK", "#E69F00", (6, 2, 1, 2), "v"),
        Scheme("dctcp_pq900_pacer", "HULL (PQ 900)", "#56B4E9", (8, 2), "P"),
        Scheme("dctcp_pq800_pacer", "HULL (PQ 800)", "#CC79A7", (6, 2, 1, 2), "v"),
        Scheme("dctcp_6k", "DCTCP-6K", "#999999", (4, 2), "<"),
        Scheme("dctcp_pq950", "PQ 950, no pacer", "#56B4E9", (2, 1), "X"),
        Scheme("tcp_qos", "TCP-QoS", "#CC79A7", (9, 4), "s"),
        Scheme("tcp_ecn_pq_pacer", "TCP-ECN + PQ + pacer", "#CC79A7", (2, 1), "v"),
        Scheme("dctcp_pq_pacer", "DCTCP + PQ + pacer", "#009E73", (), "D"),
        Scheme("dctcp_pq", "DCTCP + PQ, not paced", "#56B4E9", (6, 2, 1, 2), "P"),
        Scheme("g_high", "DCTCP, g = 1/root of W_max", "#0072B2", (5, 2), "s"),
        Scheme("g_guideline", "DCTCP, g = 5/W_max", "#009E73", (), "D"),
        Scheme("g_low", "DCTCP, g = 1/W_max", "#E69F00", (6, 2, 1, 2), "v"),
        Scheme("tcp_onoff", "TCP-ECN, threshold", "#D55E00", (2, 2), "o"),
        Scheme("tcp_red", "TCP-ECN, RED", "#CC79A7", (9, 4), "P"),
        Scheme("rcp", "RCP", "#D55E00", (2, 2), "o"),
        Scheme("ap_rcp", "AP-RCP", "#0072B2", (5, 2), "s"),
        Scheme("ap2_rcp", "AP2-RCP", "#009E73", (), "D"),
        Scheme("pd_rcp", "PD-RCP", "#E69F00", (2, 2), "^"),
        Scheme("standard", "standard controller", "#D55E00", (2, 2), "o"),
        Scheme("ap", "AP", "#0072B2", (), "s"),
        Scheme("pd", "PD", "#E69F00", (2, 2), "^"),
        Scheme("mtu_1500", "MTU 1500 bytes", "#D55E00", (2, 2), "o"),
        Scheme("mtu_300", "MTU 300 bytes", "#0072B2", (5, 2), "s"),
        Scheme("threshold_1kb", "1 KB threshold", "#009E73", (), "D"),
        Scheme("threshold_3kb", "3 KB", "#56B4E9", (6, 2, 1, 2), "P"),
        Scheme("threshold_6kb", "6 KB", "#E69F00", (10, 3), "^"),
        Scheme("threshold_15kb", "15 KB", "#CC79A7", (2, 1), "v"),
        Scheme("threshold_30kb", "30 KB", "#0072B2", (5, 2), "s"),
        Scheme("qcn", "QCN", "#0072B2", (5, 2), "s"),
        Scheme("qcn_aimd", "QCN-AIMD", "#D55E00", (2, 2), "o"),
        Scheme("qcn_small_packets", "QCN with packets of 375 bytes", "#CC79A7", (2, 2), "o"),
        Scheme("qcn_8021qau", "QCN as 802.1Qau", "#009E73", (), "D"),
        Scheme("qcn_aimd_8021qau", "QCN-AIMD as 802.1Qau", "#E69F00", (10, 3), "^"),
        # Of the thesis's chapter 2.
        Scheme("tcp_300ms", "TCP, RTO 300 ms", "#E69F00", (10, 3), "^"),
        Scheme("tcp_10ms", "TCP, RTO 10 ms", "#D55E00", (2, 2), "o"),
        Scheme("dctcp_300ms", "DCTCP, RTO 300 ms", "#56B4E9", (6, 2, 1, 2), "v"),
        Scheme("dctcp_10ms", "DCTCP, RTO 10 ms", "#0072B2", (5, 2), "s"),
        Scheme("tcp_deep", "TCP, deep buffers", "#E69F00", (10, 3), "^"),
        Scheme("tcp_pi", "TCP, PI", "#D55E00", (2, 2), "o"),
        Scheme("red_untuned", "TCP, RED 50 to 150", "#CC79A7", (2, 1), "v"),
        Scheme("red_tuned", "TCP, RED 150 to 250", "#E69F00", (10, 3), "^"),
    )
}
_SPARE_COLOURS = ("#CC79A7", "#56B4E9", "#999999", "#F0E442")
_SPARE_DASHES = ((6, 2, 1, 2), (2, 1), (5, 1, 1, 1, 1, 1), (9, 4))
_SPARE_MARKERS = ("v", "P", "X", "*")


def schemes(names: Iterable[str]) -> list[Scheme]:
    """The looks of `names`, in their order, each name once."""
    found: dict[str, Scheme] = {}
    spare = 0
    for name in names:
        if name in found:
            continue
        if name in _KNOWN:
            found[name] = _KNOWN[name]
            continue
        colour = _SPARE_COLOURS[spare % len(_SPARE_COLOURS)]
        dash = _SPARE_DASHES[(spare + spare // len(_SPARE_COLOURS)) % len(_SPARE_DASHES)]
        marker = _SPARE_MARKERS[spare % len(_SPARE_MARKERS)]
        found[name] = Scheme(name, name, colour, dash, marker)
        spare += 1
    return list(found.values())


def schemes_of(summary: Mapping[str, Any]) -> list[Scheme]:
    """The schemes of a run in the order in which its summary lists them."""
    return schemes(part["scheme"] for part in summary["parts"])
