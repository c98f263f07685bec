"""Figure 2.16 of the thesis: five flows into one server start one after the other and stop again.

Goodput of each flow (Mbps) over time, averaged over a thirtieth of the time between two starts,
which is 30 s in the thesis and in the full form, 3 s in the quick one. Jain's index of all flows
at once, with 5 flows and with up to 90.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, ratio
from hull.experiments.common.decided import at_least, at_most
from hull.experiments.common.experiment import Experiment, Point, Size, Variant, cell, published
from hull.experiments.common.measured import Results, Summary
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

SCHEMES = TCP, DCTCP = ("tcp", "dctcp")
COME_AND_GO = "five come and go"
COUNTS = (5, 20, 50, 90)
SENDERS = 5
JAIN = published("thesis-dctcp", "figure2_16")["jain_index"]


def _jain(part: Summary) -> float | None:
    fairness = part["fairness"]
    return None if fairness is None else float(fairness["jain"])


def _together(count: int) -> str:
    return f"{count} flows"


def _steps(spacing_s: float) -> tuple[str, ...]:
    """Overrides for starts and stops at this interval."""
    rest = (
        f'{{src="2-5",dst=0,start="{spacing_s}s",start_interval="{spacing_s}s",'
        f'stop="{SENDERS * spacing_s}s",stop_interval="{spacing_s}s"}}'
    )
    return (
        "run.warmup=0s",
        f"run.duration={9 * spacing_s}s",
        f"measure.flows={{interval='{spacing_s / 30:.6f}s',count=20}}",
        f"workload.long_lived.flows=[{{src=1,dst=0}},{rest}]",
    )


def _all_at_once(count: int, duration_s: int) -> Variant:
    return Variant(
        {"": _together(count)},
        overrides=(
            f"topology.star.hosts={min(count, 45) + 1}",
            f"workload.long_lived.flows=[{_senders(count)}]",
            "run.warmup=2s",
            f"run.duration={duration_s}s",
            f"measure.flows={{interval='{duration_s}s',count={2 * count}}}",
        ),
        schemes=SCHEMES,
        sizes=("quick",) if duration_s < 30 else ("full",),
    )


def _senders(count: int) -> str:
    """One flow from each host; from 45 hosts, two."""
    if count <= 45:
        return f'{{src="1-{count}",dst=0}}'
    return f'{{src="1-45",dst=0}},{{src="1-{count - 45}",dst=0}}'


def _rates(results: Results, scheme: str) -> "pl.DataFrame":
    """Goodput of each flow in each interval: `flow`, `time_ps`, `bps`."""
    from hull.results.fairness import throughput

    seed = results.parts(COME_AND_GO, scheme)[0]["seed"]
    series = results.table("series", COME_AND_GO, scheme, seed)
    return throughput(series, _interval_s(series))


def _interval_s(series: "pl.DataFrame") -> float:
    times = series["time_ps"].unique().sort()
    return float(times[1] - times[0]) * 1e-12


def _phase(results: Results, scheme: str) -> "pl.DataFrame":
    """Rates while all five flows send, the first fifth of that time left out."""
    import polars as pl

    rates = _rates(results, scheme)
    spacing_ps = float(rates["time_ps"].to_numpy().max()) / 9
    return rates.filter(
        (pl.col("time_ps") > 4.2 * spacing_ps) & (pl.col("time_ps") <= 5 * spacing_ps)
    )


def _variation(results: Results, scheme: str) -> float:
    """Standard deviation of a flow's rate over its mean, averaged over the flows."""
    import polars as pl

    found = (
        _phase(results, scheme)
        .group_by("flow", maintain_order=True)
        .agg(cv=pl.col("bps").std() / pl.col("bps").mean(), mean=pl.col("bps").mean())
    )
    return float(found.filter(pl.col("mean") > 0)["cv"].mean())  # type: ignore[arg-type]


def _fair(results: Results) -> Finding:
    found = {n: results.mean(_together(n), DCTCP, _jain) for n in COUNTS}
    words = ", ".join(f"{value:.3f} with {n}" for n, value in found.items())
    return Finding(words, all(at_least(value, JAIN - 0.01) for value in found.values()))


def _share(results: Results) -> Finding:
    import polars as pl

    means = (
        _phase(results, DCTCP)
        .group_by("flow", maintain_order=True)
        .agg(pl.col("bps").mean())["bps"]
        / 1e6
    )
    means = means.filter(means > 0)
    share = float(means.mean())  # type: ignore[arg-type]
    worst = max(abs(float(value) / share - 1) for value in means)
    return Finding(f"{share:.0f} Mbps on average, {100 * worst:.1f}% apart", at_most(worst, 0.1))


def _tcp_varies(results: Results) -> Finding:
    tcp, dctcp = (_variation(results, scheme) for scheme in SCHEMES)
    return Finding(
        f"{100 * tcp:.0f}% and {100 * dctcp:.1f}% of the mean", at_least(ratio(tcp, dctcp), 2)
    )


def _tcp_fair(results: Results) -> Finding:
    found = results.mean(_together(5), TCP, _jain)
    return Finding(f"{found:.3f} with 5", at_least(found, 0.9))


CLAIMS = (
    Claim(
        id="thesis-fig2-16-share",
        source="thesis 2.3.1, figure 2.16(a)",
        claim="DCTCP's flows converge to their fair share (five flows, each within 10%)",
        check=_share,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-16-jain",
        source="thesis 2.3.1",
        claim="Jain's index is 0.99 with up to 90 flows (0.98 and more)",
        check=_fair,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-16-variation",
        source="thesis 2.3.1, figure 2.16(b)",
        claim="TCP's rates vary much more (standard deviation at least twice DCTCP's)",
        check=_tcp_varies,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-16-tcp-fair",
        source="thesis 2.3.1",
        claim="but TCP is fair on average (Jain's index 0.9 and more with five)",
        check=_tcp_fair,
        kind="fitted",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """Goodput of each flow over time, a panel for each scheme."""
    from hull.figures.flows import FlowPanel, plot_flows

    drawn = []
    for scheme in SCHEMES:
        rates = _rates(results, scheme)
        shown = [
            (frame["time_ps"].to_numpy() * 1e-12, frame["bps"].to_numpy() / 1e6)
            for _, frame in rates.group_by("flow", maintain_order=True)
            if frame["bps"].to_numpy().max() > 0
        ]
        drawn.append(FlowPanel(scheme, "Time (s)", "Goodput (Mbps)", shown))
    return plot_flows(drawn)


EXPERIMENT = Experiment(
    id="thesis-fig2-16",
    title="Thesis figure 2.16: convergence as flows start and stop",
    source="thesis 2.3.1, figure 2.16",
    scenario="thesis-long",
    variants=(
        Variant({"": COME_AND_GO}, overrides=_steps(3), sizes=("quick",)),
        Variant({"": COME_AND_GO}, overrides=_steps(30), sizes=("full",)),
        *(_all_at_once(n, duration) for duration in (5, 60) for n in COUNTS),
    ),
    stated=statements("thesis", "long", "figure 2.16"),
    points=tuple(
        Point(_together(n), DCTCP, "jain_1", "mean", JAIN, cell(_together(n), DCTCP, _jain))
        for n in COUNTS
    ),
    claims=CLAIMS,
    draw=draw,
    quick=Size(overrides=(), seeds=1),
    full=Size(overrides=(), seeds=2),
)
