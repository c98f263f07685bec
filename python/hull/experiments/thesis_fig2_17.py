"""Figure 2.17 of the thesis: two bottlenecks in series.

S1 (10 senders) and S3 (10) send to R1, whose link has 1 Gbps; S2 (20) to R2, one each. S1 and S2
share a trunk of 10 Gbps. Mean goodput of a sender of each group (Mbps).
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, about
from hull.experiments.common.decided import ordered
from hull.experiments.common.experiment import Experiment, Point, Size, published
from hull.experiments.common.measured import Estimate, Results, over_seeds
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = TCP, DCTCP = ("tcp", "dctcp")
GROUPS = {"s1": range(10), "s2": range(10, 30), "s3": range(30, 40)}
PUBLISHED = {
    group: published("thesis-dctcp", "multi_hop")[f"{group}_mbps"] for group in ("s1", "s2", "s3")
}
FAIR = {"s1": 50.0, "s3": 50.0, "s2": (10e3 - 10 * 50.0) / 20}
"""Max-min shares of the links' rates: R1's link is the narrow one for S1 and S3."""


def goodput(results: Results, group: str, scheme: str) -> Estimate | None:
    """Of a sender, Mbps, averaged over the group and the later half of the run."""
    import polars as pl

    found = []
    for part in results.parts("", scheme):
        series = results.table("series", "", scheme, part["seed"])
        half_ps = series["time_ps"].max() - 1e12 * part["simulated_seconds"] * 0.5
        late = series.filter(
            pl.col("src").is_in(list(GROUPS[group])) & (pl.col("time_ps") >= half_ps)
        )
        flows = late.group_by("flow", maintain_order=True).agg(
            bits=8 * (pl.col("delivered_bytes").last() - pl.col("delivered_bytes").first()),
            ps=pl.col("time_ps").last() - pl.col("time_ps").first(),
        )
        found.append(float((flows["bits"] / flows["ps"]).mean()) * 1e6)
    return over_seeds(found)


def _mbps(results: Results, group: str, scheme: str) -> float:
    found = goodput(results, group, scheme)
    return float("nan") if found is None else found.mean


def _words(values: dict[str, float]) -> str:
    return ", ".join(f"{group.upper()} {value:.0f}" for group, value in values.items()) + " Mbps"


def _fair(results: Results) -> Finding:
    found = {group: _mbps(results, group, DCTCP) for group in GROUPS}
    return Finding(
        _words(found), all(about(value, FAIR[group], 0.1) for group, value in found.items())
    )


def _published(results: Results) -> Finding:
    found = {group: _mbps(results, group, DCTCP) for group in GROUPS}
    near = all(about(value, PUBLISHED[group], 0.1) for group, value in found.items())
    return Finding(_words(found), near)


def _tcp_worse(results: Results) -> Finding:
    away = {
        scheme: max(abs(_mbps(results, group, scheme) / FAIR[group] - 1) for group in GROUPS)
        for scheme in SCHEMES
    }
    return Finding(
        f"furthest from its fair share: TCP {100 * away[TCP]:.0f}%, DCTCP {100 * away[DCTCP]:.0f}%",
        ordered(away[DCTCP], away[TCP]),
    )


def _tcp_timeouts(results: Results) -> Finding:
    found = {s: results.mean("", s, lambda part: float(part["timeouts"])) for s in SCHEMES}
    return Finding(f"TCP {found[TCP]:.1f}, DCTCP {found[DCTCP]:.1f}", ordered(0, found[TCP]))


CLAIMS = (
    Claim(
        id="thesis-fig2-17-published",
        source="thesis 2.3.1, figure 2.17",
        claim="a sender gets 46 Mbps in S1, 475 in S2 and 54 in S3 with DCTCP (within 10%)",
        check=_published,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-17-fair",
        source="thesis 2.3.1",
        claim="these are within 10% of the fair shares (50, 475 and 50 of the links' rates)",
        check=_fair,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig2-17-tcp",
        source="thesis 2.3.1",
        claim="TCP does slightly worse (a group is further from its fair share)",
        check=_tcp_worse,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig2-17-timeouts",
        source="thesis 2.3.1",
        claim="the queues' fluctuations cause timeouts for some of its connections",
        check=_tcp_timeouts,
        kind="predicted",
        bound="document",
    ),
)


def draw(results: Results) -> "Figure":
    """A group of bars for each group of senders; S2 has its own axis."""
    from hull.figures import BarPanel, plot_bars

    def panel(title: str, groups: tuple[str, ...]) -> BarPanel:
        found = {(g.upper(), s): goodput(results, g, s) for g in groups for s in SCHEMES}
        return BarPanel(
            title,
            "Goodput of a sender (Mbps)",
            tuple(g.upper() for g in groups),
            SCHEMES,
            {key: e.mean for key, e in found.items() if e is not None},
            {key: e.ci95 for key, e in found.items() if e is not None},
            {(g.upper(), DCTCP): PUBLISHED[g] for g in groups},
        )

    return plot_bars([panel("To R1", ("s1", "s3")), panel("To R2", ("s2",))])


def _measure(group: str):  # type: ignore[no-untyped-def]
    return lambda results: goodput(results, group, DCTCP)


EXPERIMENT = Experiment(
    id="thesis-fig2-17",
    title="Thesis figure 2.17: two bottlenecks in series",
    source="thesis 2.3.1, figure 2.17",
    scenario="thesis-multihop",
    stated=statements("thesis", "figure 2.17"),
    points=tuple(
        Point(group, DCTCP, "goodput_mbps", "mean", PUBLISHED[group], _measure(group))
        for group in GROUPS
    ),
    claims=CLAIMS,
    draw=draw,
    quick=Size(overrides=("run.duration=1s",), seeds=1),
    full=Size(overrides=("run.duration=10s",), seeds=5),
)
