"""Figure 10 of the paper (figure 4.10 of the thesis): how much longer 10 MB take behind a phantom
queue of 800, 900 and 950 Mbps, against equation 3: slowdown (1 - rho) / (gamma - rho).

As in the paper gamma is the drain rate less 8% of the line rate, and times are compared with the
best scheme without phantom queue (section 6.2.1). Slowdowns in percent.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, commands, within
from hull.experiments.common.decided import at_most, ordered
from hull.experiments.common.dynamic_flows import (
    CONDITIONS,
    DCTCP,
    FULL,
    HULL,
    LOADS,
    QUICK,
    SMALL,
    TCP,
    slowdowns_pct,
)
from hull.experiments.common.experiment import Experiment, Point, Size, Variant, published
from hull.experiments.common.measured import Estimate, Results, fct
from hull.experiments.common.phantom_queues import LOOKS
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAINS = {800: "dctcp_pq800_pacer", 900: "dctcp_pq900_pacer", 950: HULL}


def theory_pct(drain_mbps: int, load: float) -> float:
    """Equation 3, with the paper's gamma, as percent longer."""
    gamma = float(published("hull-paper", "figure10.gamma")[f"pq{drain_mbps}"])
    return 100 * ((1 - load) / (gamma - load) - 1)


def _rho(load: str) -> float:
    return int(load.removeprefix("load")) / 100


def draw(results: Results) -> "Figure":
    """Slowdown by load, a panel for each drain rate: measured, theory, published."""
    from hull.figures import Line, Panel, Published, plot_sweep

    loads = [100 * _rho(load) for load in LOADS]
    along = [20 + step for step in range(41)]
    table = published("hull-paper", "table4.notes.hull_10mb_mean_slowdown_pct")
    panels = [
        Panel(
            title=f"{drain} Mbps",
            x_label="Load (%)",
            y_label="Slowdown of 10 MB (%)" if drain == 800 else "",
            lines=[Line(scheme, loads, list(slowdowns_pct(results, scheme).values()))],
            published=[Published(scheme, loads, list(table.values()))] if drain == 950 else [],
            x_ticks=loads,
            y_limits=(0, 250),
            reference=[
                (
                    "theory" if drain == 800 else "",
                    along,
                    [theory_pct(drain, load / 100) for load in along],
                )
            ],
        )
        for drain, scheme in DRAINS.items()
    ]
    return plot_sweep(panels, looks=LOOKS, columns=3, width=2.9)


def _measure(scheme: str, load: str) -> Point:
    values = published("hull-paper", "table4.notes.hull_10mb_mean_slowdown_pct")
    return Point(
        load,
        scheme,
        "slowdown_10mb_pct",
        "mean",
        values[load],
        lambda results: Estimate(slowdowns_pct(results, scheme)[load], None),
    )


def _theory_matches(results: Results) -> Finding:
    """Ratio of times, measured over theory; 60% at 800 Mbps is the thesis's exception."""
    found = {
        (drain, load): (100 + slowdowns_pct(results, scheme)[load])
        / (100 + theory_pct(drain, _rho(load)))
        for drain, scheme in DRAINS.items()
        for load in LOADS
        if (drain, load) != (800, "load60")
    }
    words = [
        f"PQ{drain}: "
        + ", ".join(f"{value:.2f}" for (other, _), value in found.items() if other == drain)
        for drain in DRAINS
    ]
    return Finding("; ".join(words), all(within(value, 0.75, 1.25) for value in found.values()))


def _exception(results: Results) -> Finding:
    found = slowdowns_pct(results, DRAINS[800])["load60"]
    return Finding(f"{found:.0f}%", within(found, 0.75 * 166, 1.25 * 166))


def _grows(results: Results) -> Finding:
    found = {
        drain: list(slowdowns_pct(results, scheme).values()) for drain, scheme in DRAINS.items()
    }
    words = [
        f"PQ{drain}: " + ", ".join(f"{value:.0f}" for value in values)
        for drain, values in found.items()
    ]
    return Finding(
        "; ".join(words) + " %", all(ordered(a, b) for v in found.values() for a, b in pairwise(v))
    )


def _grows_with_headroom(results: Results) -> Finding:
    by_drain = [slowdowns_pct(results, DRAINS[drain]) for drain in (950, 900, 800)]
    found = {load: [slowdowns[load] for slowdowns in by_drain] for load in LOADS}
    words = [
        f"{load[4:]}%: " + ", ".join(f"{value:.0f}" for value in values)
        for load, values in found.items()
    ]
    return Finding(
        "; ".join(words), all(ordered(a, b) for v in found.values() for a, b in pairwise(v))
    )


def _small_flows(results: Results) -> Finding:
    read = fct("1KB", "mean")
    found = {
        load: max(results.mean(load, scheme, read) for scheme in DRAINS.values())
        / results.mean(load, DCTCP, read)
        for load in LOADS
    }
    words = ", ".join(f"{value:.2f} at {load[4:]}%" for load, value in found.items())
    return Finding(words, all(at_most(value, 1) for value in found.values()))


def _arithmetic(_: Results) -> Finding:
    table = published("hull-paper", "section3_2.slowdown")
    found = [(1 - rho) / (0.8 - rho) for rho in (0.2, 0.4, 0.6)]
    words = ", ".join(f"{100 * (value - 1):.0f}%" for value in found)
    return Finding(
        words, all(abs(a - b) < 0.005 for a, b in zip(found, table.values(), strict=True))
    )


def _pq(drain_mbps: int) -> str:
    return (
        f'schemes.dctcp_pq{drain_mbps}_pacer={{transport={{congestion_control="dctcp",ecn=true}},'
        f'switch={{phantom_queue={{drain="{drain_mbps}Mbps",threshold="1KB",tick="800ns"}}}},'
        'pacer={update_interval="64us",beta=16,association_timeout="10ms",bucket="3KB",'
        'token_tick="16us",fifo="128KB"}}'
    )


EXPERIMENT = Experiment(
    id="fig10",
    title="Paper figure 10: slowdown of 10 MB flows behind a phantom queue, theory and experiment",
    source="paper 3.2, 6.2.1, figure 10",
    scenario="table4",
    completion="delivered",
    variants=(
        Variant(CONDITIONS, schemes=(TCP, DCTCP, SMALL, HULL)),
        *(
            Variant(CONDITIONS, overrides=(_pq(drain),), schemes=(DRAINS[drain],))
            for drain in (900, 800)
        ),
    ),
    stated=statements("paper", "testbed", "figure 10", "paced", "dynamic"),
    points=tuple(_measure(HULL, load) for load in LOADS),
    claims=(
        Claim(
            "fig10-theory",
            "paper 6.2.1, thesis 4.5.2",
            "Theory (equation 3) and experiment match very well, except for 60% load at 800 Mbps "
            "(times within 25%; shown: measured over theory at 20, 40, 60%)",
            _theory_matches,
            kind="fitted",
            bound="document",
        ),
        Claim(
            "fig10-exception",
            "thesis 4.5.2",
            "At 60% load and 800 Mbps, where the theory gives 233%, the slowdown is about 166% "
            "(within 25%)",
            _exception,
            kind="fitted",
            bound="document",
            tried="With a threshold of 3 KB instead of 1 KB at 800 Mbps it is 179% (and 53% at "
            "20% load, where the theory gives 54), with 6 KB 181%. The paper gives no threshold "
            "for 800 Mbps.",
            shown_by=commands(
                "fig10",
                "--full",
                "--seeds 2 --set run.duration=60s",
                "--seeds 2 --set run.duration=60s "
                "--set schemes.dctcp_pq800_pacer.switch.phantom_queue.threshold=3KB",
                "--seeds 2 --set run.duration=60s "
                "--set schemes.dctcp_pq800_pacer.switch.phantom_queue.threshold=6KB",
            ),
        ),
        Claim(
            "fig10-load",
            "paper 3.2",
            "The slowdown does not depend on the bandwidth given up alone: it grows with the "
            "load, at each drain rate",
            _grows,
            kind="fitted",
            bound="document",
        ),
        Claim(
            "fig10-headroom",
            "paper 3.2, figure 10",
            "More headroom slows down more: 950, 900, 800 Mbps, at each load",
            _grows_with_headroom,
            kind="fitted",
            bound="document",
        ),
        Claim(
            "fig10-small-flows",
            "paper 3.2, remark 2",
            "Small flows are not slowed down: 1 KB takes on average no longer than with "
            "DCTCP-30K, at each drain rate and load (shown: the largest ratio)",
            _small_flows,
            kind="fitted",
            bound="document",
        ),
        Claim(
            "fig10-example",
            "paper 3.2",
            "Equation 3 with gamma 0.8 gives 33, 50 and 100% at a load of 0.2, 0.4 and 0.6",
            _arithmetic,
            kind="by construction",
            bound="document",
        ),
    ),
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=QUICK, seeds=2),
    full=Size(overrides=FULL, seeds=6),
)
