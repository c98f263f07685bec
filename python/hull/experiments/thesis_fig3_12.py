"""Figure 3.12 of the thesis: the shares of flows with two round-trip times, by the times' ratio.

Two flows have 100 us, two up to 1 ms; throughputs are per group, in the measured time.
"""

import math
from typing import TYPE_CHECKING

from hull.experiments.common import benchmark, cycles
from hull.experiments.common.claims import Claim, Finding, commands, unshipped, within
from hull.experiments.common.decided import ordered
from hull.experiments.common.experiment import Experiment, Point, Size, SizeName, Variant, published
from hull.experiments.common.measured import Estimate, Results
from hull.experiments.common.stated import statements
from hull.report.schemes import VERMILION, Scheme

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

LOOKS = (
    *cycles.LOOKS,
    *benchmark.LOOKS,
    Scheme("tcp_onoff", "TCP-ECN, threshold", VERMILION, (2, 2), "o"),
)

SCHEMES = DCTCP, IMPROVED, ONOFF, RED = ("dctcp", "dctcp_rtt_fair", "tcp_onoff", "tcp_red")
SHORT_US = 100
QUICK_LONG_US = (100, 300, 700, 1000)
LONG_US = (100, 150, 200, 300, 400, 550, 700, 850, 1000)
MODERATE_US = 300
_HOSTS_US = 8.5
"""Transmission and jitter on the way and back, which are part of a round trip."""
_TABLE = published("thesis-dctcp", "figure3_12")
PUBLISHED = {
    ONOFF: _TABLE["tcp_onoff_marking_exponent"],
    IMPROVED: _TABLE["dctcp_improved_exponent"],
    RED: _TABLE["tcp_red_exponent"],
}


def _long(results: Results) -> tuple[int, ...]:
    return LONG_US if results.is_full else QUICK_LONG_US


def _ratio(results: Results, long_us: int, scheme: str) -> float:
    """Throughput of the two short flows divided by the throughput of the two long ones."""
    import polars as pl

    def read(series: "pl.DataFrame") -> float:
        bytes_ = (
            series.sort("time_ps")
            .filter(pl.col("time_ps") >= pl.col("time_ps").max() // 2)
            .group_by("flow", maintain_order=True)
            .agg(pl.col("delivered_bytes").last() - pl.col("delivered_bytes").first())
            .sort("flow")["delivered_bytes"]
        )
        return float(bytes_[:2].sum()) / float(bytes_[2:].sum())

    found = results.of_table("series", f"rtt={long_us}us", scheme, read)
    return math.nan if found is None else found.mean


def _ratios(results: Results, scheme: str) -> list[float]:
    return [_ratio(results, long_us, scheme) for long_us in _long(results)]


def _exponent(results: Results, scheme: str) -> float:
    """Slope of the logarithms through (1, 1), by least squares."""
    x = [math.log(long_us / SHORT_US) for long_us in _long(results)]
    y = [math.log(ratio) for ratio in _ratios(results, scheme)]
    return sum(a * b for a, b in zip(x, y, strict=True)) / sum(a * a for a in x)


def _estimate(results: Results, scheme: str) -> Estimate:
    return Estimate(_exponent(results, scheme), None)


def _words(results: Results, scheme: str) -> str:
    ratios = ", ".join(f"{ratio:.1f}" for ratio in _ratios(results, scheme))
    return f"{_exponent(results, scheme):.2f} ({ratios})"


def _about(results: Results, scheme: str) -> Finding:
    exponent = _exponent(results, scheme)
    return Finding(_words(results, scheme), within(exponent / PUBLISHED[scheme], 0.75, 1.25))


def _between(results: Results) -> Finding:
    dctcp, onoff, red = (_exponent(results, scheme) for scheme in (DCTCP, ONOFF, RED))
    return Finding(
        f"{_words(results, DCTCP)}, between {red:.2f} and {onoff:.2f}",
        ordered(red, dctcp) and ordered(dctcp, onoff),
    )


def _tends(results: Results) -> Finding:
    moderate, large = (
        math.log(_ratio(results, long_us, DCTCP)) / math.log(long_us / SHORT_US)
        for long_us in (MODERATE_US, LONG_US[-1])
    )
    return Finding(
        f"{moderate:.2f} at a ratio of 3, {large:.2f} at 10",
        ordered(1, moderate) and ordered(moderate, large),
    )


def _better(results: Results) -> Finding:
    long_us = _long(results)[1:]
    pairs = [tuple(_ratio(results, us, scheme) for scheme in (IMPROVED, RED)) for us in long_us]
    words = ", ".join(f"{a:.1f} against {b:.1f}" for a, b in pairs)
    return Finding(words, all(ordered(a, b, or_equal=True) for a, b in pairs))


LOCKED = (
    "It holds up to 850 us, an exponent of 0.91. From 1 ms on the round trip is longer than the "
    "short flows' cycle of 0.96 ms (fluid model with 2.3) and the long flows lock to it: their "
    "few packets return when the queue is high, with alpha at 0.4 to 0.8 and windows of 4 to 12 "
    "packets instead of 50. Ratio of throughputs at 1 ms, one key at a time: as shipped 57, "
    "other seeds 40 and 50, jitter of 0.1, 2 and 3 us 72, 28 and 7.7, ack_every 2 8.0, K of 20 "
    "packets 82, g of 0.02 52, an initial alpha of 0 51; at 1.1 and 1.3 ms 91 and 119."
)
SHOWN_BYLOCKED = (
    *commands(
        "thesis-fig3-12",
        "",
        "--set run.seed=2",
        "--set run.seed=3",
        "--set host.stack_jitter.exponential=100ns",
        "--set host.stack_jitter.exponential=2us",
        "--set host.stack_jitter.exponential=3us",
        "--set transport.ack_every=2",
        "--set schemes.dctcp_rtt_fair.switch.marking.threshold=30KB",
        "--set transport.dctcp.g=0.02",
        "--set transport.dctcp.initial_alpha=0%",
    ),
    *unshipped("round trips of 1.1 and 1.3 ms"),
)

CLAIMS = (
    Claim(
        id="thesis-fig3-12-onoff",
        source="thesis 3.4.1, figure 3.12",
        claim="TCP with DCTCP's marking: throughput falls with about the square of the round trip "
        "(exponent 2 within 25%)",
        check=lambda results: _about(results, ONOFF),
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig3-12-red",
        source="thesis 3.4.1, figure 3.12",
        claim="TCP with RED: about linearly (exponent 1 within 25%)",
        check=lambda results: _about(results, RED),
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig3-12-between",
        source="thesis 3.4.1",
        claim="DCTCP is between the two",
        check=_between,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig3-12-tends",
        source="thesis 3.4.1",
        claim="DCTCP is a little worse than linear for moderate ratios and tends to the square "
        "(exponents at 3 and 10)",
        check=_tends,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig3-12-improved",
        source="thesis 3.4.2, figure 3.12",
        claim="with a cut on each marked ACK DCTCP is linear (exponent 1 within 25%)",
        check=lambda results: _about(results, IMPROVED),
        kind="predicted",
        bound="document",
        tried=LOCKED,
        shown_by=SHOWN_BYLOCKED,
    ),
    Claim(
        id="thesis-fig3-12-better",
        source="thesis 3.4.2",
        claim="it is even a little fairer than TCP with RED, at each ratio",
        check=_better,
        kind="predicted",
        bound="document",
        cause="mechanism",
        tried=LOCKED,
        shown_by=SHOWN_BYLOCKED,
    ),
)


def draw(results: Results) -> "Figure":
    """Ratio of throughputs against ratio of round trips, over linear and squared."""
    from hull.figures import Line, Panel, plot_sweep

    x = [long_us / SHORT_US for long_us in _long(results)]
    return plot_sweep(
        [
            Panel(
                "Two flows of 100 us, two of more",
                "Ratio of the round trips",
                "Ratio of the throughputs",
                [Line(scheme, x, _ratios(results, scheme)) for scheme in SCHEMES],
                log_x=True,
                log_y=True,
                reference=[
                    ("fluid model: linear", x, x),
                    ("squared", x, [value**2 for value in x]),
                ],
            )
        ],
        looks=LOOKS,
        width=6.6,
        height=4,
    )


def _variants() -> tuple[Variant, ...]:
    sizes: tuple[tuple[SizeName, tuple[int, ...]], ...] = (
        ("quick", QUICK_LONG_US),
        ("full", LONG_US),
    )
    return tuple(
        Variant({"": f"rtt={long_us}us"}, overrides=(_round_trips(long_us),), sizes=(size,))
        for size, values in sizes
        for long_us in values
    )


def _round_trips(long_us: int) -> str:
    short, long = (f'"{us - _HOSTS_US}us"' for us in (SHORT_US, long_us))
    return f"topology.dumbbell.rtts=[{short},{short},{long},{long}]"


EXPERIMENT = Experiment(
    id="thesis-fig3-12",
    title="Thesis figure 3.12: shares of flows with two round-trip times",
    source="thesis 3.4, figure 3.12",
    scenario="thesis-fairness",
    variants=_variants(),
    stated=statements("thesis", "figure 3.12"),
    points=tuple(
        Point(
            "",
            scheme,
            "rtt_exponent",
            "slope",
            value,
            lambda results, scheme=scheme: _estimate(results, scheme),  # type: ignore[misc]
        )
        for scheme, value in PUBLISHED.items()
    ),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("run.warmup=250ms", "run.duration=250ms"), seeds=1),
    full=Size(overrides=("run.warmup=1s", "run.duration=1s"), seeds=4),
)
