"""Outcast beside incast under Ultra Ethernet's transport.

Three hosts send 2 MB each to host 0, and two of them also to nine others each. The third should
get the capacity of host 0's link that the other two cannot use. The end of its flow and the tail
are shown beside the recorded ones.
"""

from functools import partial
from typing import TYPE_CHECKING

from hull.experiments.common import ultra_ethernet as uec
from hull.experiments.common.claims import Claim, Finding
from hull.experiments.common.decided import at_most
from hull.experiments.common.experiment import Experiment, Point, Size, published
from hull.experiments.common.measured import Estimate, Results
from hull.experiments.common.ultra_ethernet import BOTH, NSCC, variant

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

TABLE = "outcast"
RUNS = uec.recorded(TABLE)
CONDITION = "2 to 1 beside 18 others"
FLOWS = (
    ("1", "0", "2MB"),
    ("2", "0", "2MB"),
    *(("2", str(dst), "2MB") for dst in range(4, 13)),
    ("3", "0", "2MB"),
    *(("3", str(dst), "2MB") for dst in range(13, 22)),
)
"""In the order in which the hosts serve their connections."""


def _of_host_1(flows: "pl.DataFrame") -> float:
    """End of the flow from host 1, us."""
    import polars as pl

    (acked_ps,) = flows.filter(pl.col("src") == 1)["acked_ps"]
    return float(acked_ps) * 1e-6


def _alone_us(results: Results, scheme: str) -> float:
    found = _of_scheme(results, scheme)
    return float("nan") if found is None else found.mean


def _exact(results: Results) -> Finding:
    here = [uec.tail_us(results, CONDITION, BOTH), _alone_us(results, BOTH)]
    then = published("uet-htsim", f"{TABLE}.{CONDITION}")[BOTH]
    recorded = (then["tail_us"][0], then["alone_us"][0])
    return Finding(
        f"tail {here[0]:.6g} us, flow of host 1 {here[1]:.6g} us",
        all(f"{a:.6g}" == f"{b:.6g}" for a, b in zip(here, recorded, strict=True)),
    )


def _alone(results: Results) -> Finding:
    ends = [_alone_us(results, scheme) for scheme in (NSCC, BOTH)]
    return Finding(f"{ends[0]:.1f} and {ends[1]:.1f} us", all(at_most(end, 215) for end in ends))


CLAIMS = (
    Claim(
        id="uec-outcast-exact",
        source="uet-htsim, uec_both",
        claim="with both controls the tail and the end of host 1's flow are the recorded 1634.11 "
        "and 200.108 us, to the last of six digits",
        check=_exact,
        kind="predicted",
        bound="document",
    ),
    uec.tails_claim("uec-outcast", "uec_sender, uec_both", RUNS),
    Claim(
        id="uec-outcast-alone",
        source="uet-htsim, uec_sender, uec_both",
        claim="the flow of host 1 gets the capacity that the others leave: it ends within 215 us, "
        "the limit of the runs' authors",
        check=_alone,
        kind="predicted",
        bound="document",
    ),
)


def _alone_points() -> tuple[Point, ...]:
    return tuple(
        Point(
            CONDITION,
            scheme,
            "host_1_us",
            "max",
            values["alone_us"][0],
            partial(_of_scheme, scheme=scheme),
        )
        for scheme, values in published("uet-htsim", f"{TABLE}.{CONDITION}").items()
    )


def _of_scheme(results: Results, scheme: str) -> Estimate | None:
    return results.of_table("flows", CONDITION, scheme, _of_host_1)


def draw(results: Results) -> "Figure":
    """End of host 1's flow, and the tail."""
    from hull.figures import BarPanel, plot_bars

    then = published("uet-htsim", f"{TABLE}.{CONDITION}")
    both = (NSCC, BOTH)

    def panel(title: str, key: str, values: dict[str, float]) -> BarPanel:
        return BarPanel(
            title,
            "End (µs)",
            ("",),
            both,
            {("", scheme): values[scheme] for scheme in both},
            published={("", scheme): then[scheme][key][0] for scheme in both},
        )

    return plot_bars(
        [
            panel("Flow of host 1", "alone_us", {s: _alone_us(results, s) for s in both}),
            panel(
                "Last of 21 flows", "tail_us", {s: uec.tail_us(results, CONDITION, s) for s in both}
            ),
        ],
        uec.LOOKS,
    )


EXPERIMENT = Experiment(
    id="uec-outcast",
    title="Ultra Ethernet: an outcast beside an incast, beside uet-htsim's recorded runs",
    source="uet-htsim, recorded runs",
    scenario="uec",
    completion="acked",
    variants=(variant(CONDITION, (NSCC, BOTH), *uec.MIDDLE, uec.flows(*FLOWS), quick=True),),
    points=(*uec.points(TABLE), *_alone_points()),
    stated=uec.STATED,
    claims=CLAIMS,
    looks=uec.LOOKS,
    draw=draw,
    quick=Size(seeds=1),
    full=Size(seeds=3),
)
