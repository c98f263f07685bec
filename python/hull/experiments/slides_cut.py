"""The HULL slides' review of DCTCP: with 8 of 10 packets marked TCP cuts its window by 50% and
DCTCP by 40%, with 1 of 10 by 50% and by 5%.

Flows share a link; their number sets the fraction of marks. A cut is the decrease of a window
within 10 us; DCTCP's alpha, with g = 1, is the fraction of marks in the previous window.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

from hull.experiments.common.claims import Claim, Finding, within
from hull.experiments.common.experiment import Experiment, Point, Size, Variant, published
from hull.experiments.common.measured import Estimate, Results
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TCP, DCTCP = SCHEMES = ("tcp", "dctcp")
FLOWS = (1, 2, 5, 10, 20, 30, 60)
SLIDE = published("hull-slides", "review")
EXAMPLES = {name: 100 * sum(of["marks"]) / len(of["marks"]) for name, of in SLIDE.items()}
"""Marked share of each example, %."""
_NEAR = 5
"""Cuts at shares of marks so near to an example's count for it, percentage points."""


def _cuts(results: Results, scheme: str) -> Any:
    """Share of marks before each cut (alpha; null with TCP) and the cut, both in %."""
    import polars as pl

    found = []
    for flows in FLOWS:
        for part in results.parts(str(flows), scheme):
            rows = results.table("series", str(flows), scheme, part["seed"])
            rows = rows.filter(pl.col("time_ps") >= 30 * 10**9).sort("flow", "time_ps")
            before = pl.col("cwnd_bytes").shift(1).over("flow")
            cut = 100 * (1 - pl.col("cwnd_bytes") / before)
            found.append(
                rows.select((100 * pl.col("alpha")).alias("marked"), cut.alias("cut")).filter(
                    pl.col("cut") > 0
                )
            )
    return pl.concat(found)


def _near(results: Results, example: str) -> Any:
    """DCTCP's cuts near an example's share of marks, %."""
    import polars as pl

    marked = EXAMPLES[example]
    rows = _cuts(results, DCTCP).filter((pl.col("marked") - marked).abs() <= _NEAR)
    return rows["cut"]


def _estimate(results: Results, example: str, scheme: str) -> Estimate | None:
    cuts = _near(results, example) if scheme == DCTCP else _cuts(results, TCP)["cut"]
    return Estimate(float(cuts.mean()), None) if len(cuts) else None


def _check(results: Results, *, example: str, scheme: str) -> Finding:
    number = SLIDE[example][f"{scheme}_cut_pct"]
    found = _estimate(results, example, scheme)
    cuts = len(_near(results, example) if scheme == DCTCP else _cuts(results, TCP))
    if found is None:
        return Finding("no such cut", False)
    near = within(found.mean, number - 2.5, number + 2.5)
    return Finding(f"{found.mean:.1f}%, mean of {cuts} cuts", near)


CLAIMS = (
    *(
        Claim(
            id=f"slides-cut-{name}",
            source="slides, review of DCTCP",
            claim=f"with {EXAMPLES[name]:.0f}% of the packets marked (within 5 points) DCTCP cuts "
            f"its window by {of['dctcp_cut_pct']}% (within 2.5 points)",
            check=partial(_check, example=name, scheme=DCTCP),
            kind="by construction",
            bound="hull",
        )
        for name, of in SLIDE.items()
    ),
    Claim(
        id="slides-cut-tcp",
        source="slides, review of DCTCP",
        claim="TCP cuts its window by 50% (within 2.5 points), whatever the fraction of marks",
        check=partial(_check, example="one", scheme=TCP),
        kind="by construction",
        bound="hull",
    ),
)


def _binned(results: Results) -> tuple[list[float], list[float]]:
    """Mean cut of DCTCP by share of marks, in steps of 5 points with 10 cuts or more."""
    import polars as pl

    bins = (
        _cuts(results, DCTCP)
        .group_by(((pl.col("marked") / 5).round() * 5).alias("near"), maintain_order=True)
        .agg(pl.col("marked").mean(), pl.col("cut").mean(), pl.len().alias("cuts"))
        .filter(pl.col("cuts") >= 10)
        .sort("near")
    )
    return bins["marked"].to_list(), bins["cut"].to_list()


def draw(results: Results) -> "Figure":
    """Mean cut by share of marks, with the slide's examples."""
    from hull.figures import Line, Panel, Published, plot_sweep

    shares = list(EXAMPLES.values())
    tcp = _estimate(results, "one", TCP)
    mean = float("nan") if tcp is None else tcp.mean
    return plot_sweep(
        [
            Panel(
                "What marks do to a window",
                "Packets marked in the window before (%)",
                "Cut of the window (%)",
                [Line(TCP, [0, 100], [mean, mean]), Line(DCTCP, *_binned(results))],
                [
                    Published(scheme, shares, [of[f"{scheme}_cut_pct"] for of in SLIDE.values()])
                    for scheme in SCHEMES
                ],
                y_limits=(0, 60),
            )
        ],
        width=5,
        height=3,
    )


EXPERIMENT = Experiment(
    id="slides-cut",
    title="HULL slides: window cuts of TCP and DCTCP by fraction of marks",
    source="slides, review of DCTCP",
    scenario="slides-cut",
    variants=tuple(
        Variant(
            {"": str(flows)},
            overrides=(f'workload.long_lived.flows=[{{src="1-{flows}",dst=0}}]',),
        )
        for flows in FLOWS
    ),
    stated=statements("slides", "cut"),
    points=tuple(
        Point(
            name,
            scheme,
            "cut_pct",
            "mean",
            of[f"{scheme}_cut_pct"],
            lambda results, name=name, scheme=scheme: _estimate(results, name, scheme),  # type: ignore[misc]
        )
        for name, of in SLIDE.items()
        for scheme in SCHEMES
    ),
    claims=CLAIMS,
    draw=draw,
    quick=Size(seeds=1),
    full=Size(seeds=5),
)
