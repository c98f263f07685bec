"""Figure 8 of Uno (SC'25): incasts of eight flows from one data centre or from two.

Eight hosts send 1 GB each to one host under UnoCC with Uno's phantom queue. Rates are payload over
completion time, Gbps; completion times, ms, end with the sender's last acknowledgment. The source's
repository has the setup and the lines of the figure, not the measured rates.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.acked import acked_us
from hull.experiments.common.claims import Claim, Finding, about, commands, unshipped
from hull.experiments.common.decided import at_most
from hull.experiments.common.experiment import Experiment, Point, Size, Variant, published
from hull.experiments.common.measured import Estimate, Results, value
from hull.experiments.common.stated import Stated
from hull.report.schemes import GREEN, VERMILION, Scheme

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from hull.figures import Line

PUBLISHED = published("uno", "figure8")
SCHEME = "phantom"
BETWEEN, WITHIN = "between", "within"
HOSTS_EACH = 128
RECEIVER = 240

SOURCES = {
    "8 between": '"1-8"',
    "4 between, 4 within": "[130, 140, 150, 160, 0, 10, 20, 30]",
    "8 within": '"130-137"',
}
"""Condition -> senders: flows between the data centres and within the receiver's."""

LOOKS = (
    Scheme(BETWEEN, "Flow between two data centres", VERMILION, (), "o"),
    Scheme(WITHIN, "Flow within a data centre", GREEN, (5, 2), "D"),
)


SLOWDOWN = "schemes.phantom.switch.uno_phantom_queue.slowdown"
TRIED = (
    "8 GB in packets of 4096 bytes with 64 of header take 650 ms at 100 Gbps, and 682.5 ms at the "
    "phantom queue's drain rate (slowdown 5%): the line lies below this time. With 4% (676.0 ms) "
    "the last flow ends after 678.5 ms (8 within), 678.8 ms (4 between, 4 within) and 703.7 ms "
    "(8 between). Eight flows between the data centres have delivered 4 ms less than the drain "
    "rate allows after 80 ms, and 11 ms less after 679 ms, when the first ends; for the last 33 ms "
    "the others receive 41.6 Gbps on average instead of 93.8, which costs 18 ms. The authors' "
    "simulator (commit 68d164e, seed 215) ends the eight flows between the data centres after "
    "650.2 to 707.9 ms, with 10 MB of small flows beside them."
)


def _variant(condition: str) -> Variant:
    flows = f'[{{src={SOURCES[condition]},dst={RECEIVER},size="1GB"}}]'
    return Variant({"": condition}, overrides=(f"workload.long_lived.flows={flows}",))


def _last_ms(results: Results, condition: str) -> float:
    """When the last flow ends."""
    return value(acked_us("max", lambda flows: flows), results, condition, SCHEME) / 1e3


def _mean_rates(results: Results, condition: str) -> list[float]:
    """Each flow's size over its completion time, Gbps; NaN for a flow that has not ended."""
    found: list[float] = []
    for seed in results.summary["seeds"]:
        flows = results.table("flows", condition, SCHEME, seed)
        times = flows["acked_ps"].fill_null(0)
        found += [
            8e3 * size / time if time else float("nan")
            for size, time in zip(flows["bytes"], times, strict=True)
        ]
    return found


def _in_time(condition: str) -> Claim:
    line = PUBLISHED["phantom_finish_ms"]

    def check(results: Results) -> Finding:
        last = _last_ms(results, condition)
        return Finding(f"{last:.1f} ms", at_most(last, line))

    return Claim(
        id=f"uno-fig8-end-{_slug(condition)}",
        source="Uno figure 8",
        claim=f"{condition}: the last flow ends by {line} ms, the line of the figure",
        check=check,
        kind="predicted",
        bound="document",
        cause="documents contradict",
        tried=TRIED,
        shown_by=(
            *commands("uno-fig8", "", f"--set {SLOWDOWN}=4%"),
            *unshipped("runs of 10 to 679 ms, with the goodput of all hosts"),
            *unshipped("a run of the authors' simulator"),
        ),
    )


def _fair(condition: str) -> Claim:
    share = PUBLISHED["fair_share_gbps"]

    def check(results: Results) -> Finding:
        rates = _mean_rates(results, condition)
        return Finding(
            f"{min(rates):.2f} to {max(rates):.2f} Gbps", all(about(rate, share) for rate in rates)
        )

    return Claim(
        id=f"uno-fig8-share-{_slug(condition)}",
        source="Uno figure 8",
        claim=f"{condition}: each flow's mean rate is the fair share of {share} Gbps (within 25%)",
        check=check,
        kind="predicted",
        bound="document",
    )


def _slug(condition: str) -> str:
    return condition.replace(", ", "-").replace(" ", "-")


def _point(condition: str) -> Point:
    def read(results: Results) -> Estimate | None:
        measure = acked_us("max", lambda flows: flows)
        found = measure(results, condition, SCHEME)
        if found is None:
            return None
        return Estimate(found.mean / 1e3, None if found.ci95 is None else found.ci95 / 1e3)

    line = PUBLISHED["phantom_finish_ms"]
    return Point(condition, SCHEME, "last_fct_ms", "max", line, read)


def _lines(results: Results, condition: str) -> "list[Line]":
    """How many flows have ended, over time; first seed."""
    from hull.figures import Line

    flows: pl.DataFrame = results.table("flows", condition, SCHEME)
    lines = []
    for place in (BETWEEN, WITHIN):
        here = (flows["src"] < HOSTS_EACH) == (place == BETWEEN)
        times = sorted(flows.filter(here)["acked_ps"].drop_nulls() / 1e9)
        if times:
            lines.append(Line(place, times, range(1, len(times) + 1)))
    return lines


def draw(results: Results) -> "Figure":
    """Flows that have ended, with the two lines of the source's figure."""
    from hull.figures import Panel, plot_sweep

    references = [
        (f"{PUBLISHED[key]} ms", [PUBLISHED[key]] * 2, [0.0, 8.2])
        for key in ("ideal_finish_ms", "phantom_finish_ms")
    ]
    # The same range of times in each panel.
    references.append(("", [540.0, 720.0], [0.0, 0.0]))
    panels = [
        Panel(
            condition,
            "Time (ms)",
            "Flows that have ended",
            _lines(results, condition),
            y_limits=(0, 9),
            reference=references,
        )
        for condition in SOURCES
    ]
    return plot_sweep(panels, columns=3, width=3.0, looks=LOOKS)


EXPERIMENT = Experiment(
    id="uno-fig8",
    title="Uno figure 8: incasts of flows within and between data centres",
    source="Uno figure 8",
    scenario="uno-fig8",
    completion="acked",
    variants=tuple(_variant(condition) for condition in SOURCES),
    points=tuple(_point(condition) for condition in SOURCES),
    stated=(
        Stated("Uno, htsim", "packets", "transport.mtu", "4160B"),
        Stated("Uno, htsim", "header, acknowledgment", "transport.header", "64B"),
        Stated("Uno, htsim", "border delay", "topology.two_datacentres.border_delay", "886.5us"),
        Stated("Uno, htsim", "host links", "host.rate", "100Gbps"),
        Stated("Uno, fig8_rate.py", "slowdown", "switch.uno_phantom_queue.slowdown", "5%"),
    ),
    claims=(
        *(_in_time(condition) for condition in SOURCES),
        *(_fair(condition) for condition in SOURCES),
    ),
    looks=LOOKS,
    draw=draw,
    quick=Size(seeds=1),
    full=Size(seeds=5),
)
