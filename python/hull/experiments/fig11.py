"""Figure 11 of the paper (figure 4.11 of the thesis): mean switch latency (us) and mean time of
10 MB (ms) with and without pacing, for DCTCP-6K and for a phantom queue of 950 Mbps.
"""

from typing import TYPE_CHECKING

from hull.experiments.common import phantom_queues
from hull.experiments.common.claims import Claim, Finding, commands
from hull.experiments.common.decided import ordered
from hull.experiments.common.dynamic_flows import CONDITIONS, FULL, HULL, LOADS, QUICK, SMALL
from hull.experiments.common.experiment import Experiment, Point, Size, Variant, cell, published
from hull.experiments.common.measured import Reader, Results, fct, probe
from hull.experiments.common.stated import statements
from hull.report.schemes import GREY, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = (
    *phantom_queues.LOOKS,
    Scheme("dctcp_6k", "DCTCP-6K", GREY, (4, 2), "<"),
)

UNPACED = {"dctcp_6k": SMALL, "dctcp_pq950": HULL}
"""Each scheme without pacer, and the same with one."""
SCHEMES = ("dctcp_6k", SMALL, "dctcp_pq950", HULL)
_BURSTS = (
    "A narrow result: the benefit of pacing depends on the bursts, and with interrupts after 60 "
    "us the two are equal within their scatter. In the full size it is 113.2, 156.2, 258.8 ms "
    "without and 112.9, 155.2, 252.8 with pacing. Before the retransmission timer was corrected "
    "the claim failed there: 112.7, 155.1, 255.3 and 113.0, 155.1, 252.9."
)
LATENCY, TIME = probe("mean"), fct("10MB", "mean", unit_us=1e3)
SWITCHES = {
    "dctcp_6k": 'marking={threshold="6KB"}',
    "dctcp_pq950": 'phantom_queue={drain="950Mbps",threshold="1KB",tick="800ns"}',
}


def draw(results: Results) -> "Figure":
    """Latency on the left, completion time on the right, as in the paper."""
    from hull.figures import BarPanel, plot_bars

    panels = []
    for title, label, metric, read in (
        ("Switch latency", "Mean (µs)", "switch_latency_us", LATENCY),
        ("10 MB flows", "Mean completion time (ms)", "fct_10mb_ms", TIME),
    ):
        found = {
            (f"{load[4:]}% load", scheme): estimate
            for load in LOADS
            for scheme in SCHEMES
            if (estimate := results.estimate(load, scheme, read)) is not None
        }
        panels.append(
            BarPanel(
                title=title,
                y_label=label,
                groups=[f"{load[4:]}% load" for load in LOADS],
                schemes=SCHEMES,
                values={key: estimate.mean for key, estimate in found.items()},
                ci95={key: estimate.ci95 for key, estimate in found.items()},
                published={
                    (f"{point.condition[4:]}% load", point.scheme): point.published
                    for point in EXPERIMENT.points
                    if point.metric == metric
                },
            )
        )
    return plot_bars(panels, looks=LOOKS, width=4.2)


def _points() -> tuple[Point, ...]:
    return tuple(
        Point(
            load,
            scheme,
            metric,
            "mean",
            published("hull-paper", f"table4.{load}.{scheme}")[metric][0],
            cell(load, scheme, read),
        )
        for load in LOADS
        for scheme in (SMALL, HULL)
        for metric, read in (("switch_latency_us", LATENCY), ("fct_10mb_ms", TIME))
    )


def _lower(name: str, scheme: str, what: str, unit: str, read: Reader, tried: str = "") -> Claim:
    label = "DCTCP-6K" if scheme == "dctcp_6k" else "the phantom queue of 950 Mbps"

    def check(results: Results) -> Finding:
        pairs = {
            load: (
                results.mean(load, UNPACED[scheme], read),
                results.mean(load, scheme, read),
            )
            for load in LOADS
        }
        words = ", ".join(f"{a:.1f} {'<' if a < b else '>='} {b:.1f}" for a, b in pairs.values())
        return Finding(f"{words} {unit}", all(ordered(a, b) for a, b in pairs.values()))

    return Claim(
        f"fig11-{name}",
        "paper 6.2.1, figure 11",
        f"Pacing lowers the mean {what} with {label}, at each load (shown: with < without, at 20, "
        "40, 60%)",
        check,
        kind="predicted",
        bound="document",
        tried=tried,
        shown_by=commands("fig11", "", "--full") if tried else (),
    )


EXPERIMENT = Experiment(
    id="fig11",
    title="Paper figure 11: switch latency and 10 MB completion time with and without pacing",
    source="paper 6.2.1, figure 11",
    scenario="table4",
    completion="delivered",
    variants=(
        *(
            Variant(
                CONDITIONS,
                overrides=(
                    f'schemes.{scheme}={{transport={{congestion_control="dctcp",ecn=true}},'
                    f"switch={{{switch}}}}}",
                ),
                schemes=(scheme,),
            )
            for scheme, switch in SWITCHES.items()
        ),
        Variant(CONDITIONS, schemes=(SMALL, HULL)),
    ),
    stated=statements("paper", "testbed", "figure 11", "paced", "dynamic"),
    points=_points(),
    claims=(
        _lower("6k-latency", "dctcp_6k", "switch latency", "us", LATENCY),
        _lower("6k-10mb", "dctcp_6k", "10 MB time", "ms", TIME, tried=_BURSTS),
        _lower("pq-latency", "dctcp_pq950", "switch latency", "us", LATENCY),
        _lower("pq-10mb", "dctcp_pq950", "10 MB time", "ms", TIME),
    ),
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=QUICK, seeds=2),
    full=Size(overrides=FULL, seeds=10),
)
