"""Figure 2.13 of the thesis: TCP with a PI controller beside DCTCP, 2 and 20 long flows at 10 Gbps.

Queue over time (packets of 1500 bytes) around a reference, or threshold, of 40 packets in a
buffer of 100, and throughput (Gbps). The round trip is 500 us.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding
from hull.experiments.common.decided import at_least, more_than, ordered
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.measured import Results, Summary
from hull.experiments.common.queue_cdf import queue_packets
from hull.experiments.common.stated import statements
from hull.report.schemes import VERMILION, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = (Scheme("tcp_pi", "TCP, PI", VERMILION, (2, 2), "o"),)

SCHEMES = PI, DCTCP = ("tcp_pi", "dctcp")
FLOWS = (2, 20)
SHOWN_MS = 50
"""Of the measured time."""


def _name(flows: int) -> str:
    return f"{flows} flows"


def _percent(part: Summary) -> float:
    return 100 * float(part["throughput"]["utilization"])


def _throughput(results: Results, flows: int, scheme: str) -> float:
    return results.mean(_name(flows), scheme, _percent)


def _deviation(results: Results, flows: int, scheme: str) -> float:
    return float(queue_packets(results, _name(flows), scheme).std())


def _empty(results: Results) -> Finding:
    share = float((queue_packets(results, _name(2), PI) < 1).mean())
    lost = _throughput(results, 2, DCTCP) - _throughput(results, 2, PI)
    return Finding(
        f"empty {100 * share:.0f}% of the time, {lost:.1f}% of the rate below DCTCP",
        more_than(share, 0.1) and more_than(lost, 2),
    )


def _improves(results: Results) -> Finding:
    few, many = (_throughput(results, flows, PI) for flows in FLOWS)
    return Finding(f"{few:.1f} to {many:.1f}%", ordered(few, many))


def _worse(results: Results) -> Finding:
    few, many = (_deviation(results, flows, PI) for flows in FLOWS)
    return Finding(f"standard deviation {few:.1f} to {many:.1f} packets", ordered(few, many))


def _both(results: Results) -> Finding:
    rates = [_throughput(results, flows, DCTCP) for flows in FLOWS]
    ratios = [_deviation(results, flows, PI) / _deviation(results, flows, DCTCP) for flows in FLOWS]
    return Finding(
        f"{rates[0]:.1f} and {rates[1]:.1f}% of the rate; PI's queue varies {ratios[0]:.1f} and "
        f"{ratios[1]:.1f} times as much",
        all(at_least(rate, 98) for rate in rates) and all(ordered(1, ratio) for ratio in ratios),
    )


CLAIMS = (
    Claim(
        id="thesis-fig2-13-underflow",
        source="thesis 2.2.4, figure 2.13(a)",
        claim="with 2 flows TCP/PI's queue runs empty (more than 10% of the time) and costs "
        "throughput (more than 2%)",
        check=_empty,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-13-improves",
        source="thesis 2.2.4, figure 2.13(b)",
        claim="with 20 flows TCP/PI uses more of the link",
        check=_improves,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig2-13-oscillates",
        source="thesis 2.2.4, figure 2.13(b)",
        claim="and its queue oscillates more",
        check=_worse,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig2-13-dctcp",
        source="thesis 2.2.4, figure 2.13",
        claim="DCTCP keeps a steadier queue and a high throughput (98% and more) with both",
        check=_both,
        kind="predicted",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """The queue of the first seed over time, and throughput by number of flows."""
    from hull.figures import Line, Panel, plot_sweep

    def over_time(flows: int) -> Panel:
        lines = []
        for scheme in SCHEMES:
            condition = _name(flows)
            seed = results.parts(condition, scheme)[0]["seed"]
            table = results.table("latency", condition, scheme, seed).drop_nulls("queue_bytes")
            time_ms = table["time_ps"].to_numpy() * 1e-9
            time_ms = time_ms - time_ms[0]
            shown = time_ms <= SHOWN_MS
            queue = table["queue_bytes"].to_numpy() / 1500
            lines.append(Line(scheme, time_ms[shown], queue[shown]))
        return Panel(_name(flows), "Time (ms)", "Queue (packets)", lines, y_limits=(0, 105))

    rates = Panel(
        "Throughput",
        "Flows",
        "Throughput (Gbps)",
        [
            Line(scheme, FLOWS, [_throughput(results, flows, scheme) / 10 for flows in FLOWS])
            for scheme in SCHEMES
        ],
        x_ticks=FLOWS,
    )
    return plot_sweep(
        [*(over_time(flows) for flows in FLOWS), rates], looks=LOOKS, columns=3, width=3.2
    )


EXPERIMENT = Experiment(
    id="thesis-fig2-13",
    title="Thesis figure 2.13: TCP with PI beside DCTCP",
    source="thesis 2.2.4, figure 2.13",
    scenario="thesis-pi",
    variants=tuple(
        Variant(
            {"": _name(flows)},
            overrides=(f'workload.long_lived.flows=[{{src="1-{flows}",dst=0}}]',),
        )
        for flows in FLOWS
    ),
    stated=statements("thesis", "figure 2.13"),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("run.duration=500ms",), seeds=1),
    full=Size(overrides=("run.warmup=1s", "run.duration=5s"), seeds=5),
)
