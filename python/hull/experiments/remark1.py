"""Remark 1 of the paper: a phantom queue in series with the port, and a virtual queue in parallel
to the port's own queue.

Two long-lived DCTCP flows on the testbed, as for figure 5. In series packets are counted as they
leave, no faster than the link; in parallel as they arrive. Latency is the probes' (us).
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, commands
from hull.experiments.common.decided import ordered
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.long_lived import series
from hull.experiments.common.measured import Reader, Results, probe, throughput_mbps
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PACED, UNPACED = SCHEMES = ("dctcp_pq_pacer", "dctcp_pq")
SERIES, PARALLEL = PLACEMENTS = ("series", "parallel")
RATES = (800, 950)
THRESHOLDS = (1, 6, 30)
P99 = probe("p99")


def _row(results: Results, placement: str, rate: int, scheme: str, read: Reader) -> list[float]:
    """Values by threshold."""
    names = [f"{placement}/{rate}/{threshold}KB" for threshold in THRESHOLDS]
    return series(results, names, scheme, read)


def _growth(results: Results, placement: str, rate: int, scheme: str) -> float:
    """The 99th percentile with the highest threshold over that with the lowest."""
    row = _row(results, placement, rate, scheme, P99)
    return row[-1] / row[0]


def _smaller(results: Results) -> Finding:
    found = {s: [_growth(results, SERIES, rate, s) for rate in RATES] for s in SCHEMES}
    return Finding(
        "; ".join(
            f"{'paced' if s == PACED else 'not paced'} {low:.1f} times at {RATES[0]} Mbps, "
            f"{high:.1f} at {RATES[1]}"
            for s, (low, high) in found.items()
        ),
        all(ordered(low, high) for low, high in found.values()),
    )


def _sooner(results: Results) -> Finding:
    pairs = {
        s: [_row(results, placement, RATES[1], s, P99)[-1] for placement in PLACEMENTS]
        for s in SCHEMES
    }
    return Finding(
        "; ".join(
            f"{'paced' if s == PACED else 'not paced'} {parallel:.0f} us in parallel, {behind:.0f} "
            "in series"
            for s, (behind, parallel) in pairs.items()
        ),
        all(ordered(parallel, behind) for behind, parallel in pairs.values()),
    )


def _less_sensitive(results: Results) -> Finding:
    found = {
        s: [_growth(results, placement, RATES[1], s) for placement in PLACEMENTS] for s in SCHEMES
    }
    return Finding(
        "; ".join(
            f"{'paced' if s == PACED else 'not paced'} {parallel:.1f} times in parallel, "
            f"{behind:.1f} in series"
            for s, (behind, parallel) in found.items()
        ),
        all(ordered(parallel, behind) for behind, parallel in found.values()),
    )


CLAIMS = (
    Claim(
        id="remark1-smaller-thresholds",
        source="paper 6",
        claim="in series, a faster drain requires lower thresholds: the 99th percentile grows "
        "more from 1 to 30 KB at 950 Mbps than at 800, with and without pacing",
        check=_smaller,
        kind="predicted",
        bound="document",
        cause="mechanism",
        tried="It holds with pacing. Without pacing the 99th percentile is already high with 1 "
        "KB: 61 us at 950 Mbps, 28 at 800 (134 and 78 with 30 KB; means of 3 seeds). The ratio "
        "therefore falls although the difference grows from 50 to 73 us.",
        shown_by=commands("remark1", "--seeds 3"),
    ),
    Claim(
        id="remark1-sooner",
        source="paper 6",
        claim="... because its input is limited to the line rate, so it takes longer to build "
        "up: in parallel, without this limit, the 99th percentile at 950 Mbps and 30 KB is "
        "lower, with and without pacing",
        check=_sooner,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="remark1-less-sensitive",
        source="paper 6",
        claim="... and it grows less from 1 to 30 KB at 950 Mbps, with and without pacing",
        check=_less_sensitive,
        kind="predicted",
        bound="hull",
        cause="mechanism",
        tried="In parallel the 99th percentile is low with 1 KB, 21 us paced and 26 unpaced (32 "
        "and 61 in series), because each burst is marked at once. This costs throughput: 576 and "
        "341 Mbps instead of 884 and 717. With 30 KB it is 124 and 104 us, in series 163 and 134 "
        "(3 seeds).",
        shown_by=commands("remark1", "--seeds 3"),
    ),
)


def draw(results: Results) -> "Figure":
    """99th percentile and throughput by threshold, not paced and paced, both drain rates."""
    from hull.figures import Line, Panel, plot_sweep

    def panel(what: str, y_label: str, scheme: str, read: Reader, *, log_y: bool) -> Panel:
        return Panel(
            f"{what}, {'paced' if scheme == PACED else 'not paced'}",
            "Marking threshold (KB)",
            y_label,
            [
                Line(
                    f"{placement}, {rate} Mbps",
                    THRESHOLDS,
                    _row(results, placement, rate, scheme, read),
                )
                for placement in PLACEMENTS
                for rate in RATES
            ],
            log_x=True,
            x_ticks=THRESHOLDS,
            log_y=log_y,
        )

    label = "99th percentile (µs)"
    return plot_sweep(
        [
            panel("Switch latency", label, UNPACED, P99, log_y=True),
            panel("Switch latency", label, PACED, P99, log_y=True),
            panel("Throughput", "Throughput (Mbps)", UNPACED, throughput_mbps, log_y=False),
            panel("Throughput", "Throughput (Mbps)", PACED, throughput_mbps, log_y=False),
        ],
    )


EXPERIMENT = Experiment(
    id="remark1",
    title="Paper remark 1: a phantom queue in series, a virtual queue in parallel",
    source="paper 2.1 (remark 1) and 6",
    scenario="drain-rate",
    variants=tuple(
        Variant(
            {f"drain={rate}Mbps": f"{placement}/{rate}/{threshold}KB" for rate in RATES},
            overrides=(
                f"switch.phantom_queue.threshold={threshold}KB",
                f"switch.phantom_queue.placement={placement}",
            ),
            schemes=SCHEMES,
        )
        for placement in PLACEMENTS
        for threshold in THRESHOLDS
    ),
    stated=statements("paper", "testbed", "static", "paced", "remark 1"),
    claims=CLAIMS,
    draw=draw,
    quick=Size(overrides=("run.warmup=500ms", "run.duration=1500ms"), seeds=1),
    full=Size(overrides=("run.warmup=1s", "run.duration=4s"), seeds=5),
)
