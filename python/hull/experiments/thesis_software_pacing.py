"""Pacing before and behind segmentation (thesis 4.1.3, 4.3.2 and 4.6), two long-lived DCTCP flows.

The same pacer stands behind the NIC's segmentation, as HULL's does, or before it, as a pacer in
software. Before it, pieces of up to 64 KB are paced, or packets without segmentation offload.
Latency is the probes' (us), throughput what the receiver's link carries (Mbps).
"""

from statistics import fmean
from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, commands, within
from hull.experiments.common.decided import ordered
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.long_lived import series
from hull.experiments.common.measured import Reader, Results, probe, throughput_mbps
from hull.experiments.common.stated import statements
from hull.report.schemes import BLUE, GREEN, ORANGE, VERMILION, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PACED, UNPACED = "dctcp_pq_pacer", "dctcp_pq"
BEHIND, BEFORE, SINGLE, NONE = "behind", "before", "before, no LSO", "not paced"
RATES = (600, 700, 800, 900, 950)
THRESHOLDS = (1, 6, 30)
MEAN, P99 = probe("mean"), probe("p99")
LOOKS = (
    Scheme(NONE, "not paced", VERMILION, (2, 2), "v"),
    Scheme(BEFORE, "before segmentation", ORANGE, (10, 3), "^"),
    Scheme(SINGLE, "before, without offload", BLUE, (5, 2), "s"),
    Scheme(BEHIND, "behind segmentation", GREEN, (), "D"),
)
_BEFORE = "pacer.place=before_segmentation"
_OVERRIDES = {
    BEHIND: (),
    BEFORE: (_BEFORE,),
    SINGLE: (_BEFORE, "host.offload=1500B"),
    NONE: (),
}


def _row(results: Results, threshold: int, place: str, read: Reader) -> list[float]:
    """Values by drain rate."""
    scheme = UNPACED if place == NONE else PACED
    return series(results, [f"{rate}/{threshold}KB/{place}" for rate in RATES], scheme, read)


def _means(results: Results, read: Reader) -> dict[str, float]:
    """Mean over drain rates and thresholds, by place."""
    return {
        place: fmean(us for kb in THRESHOLDS for us in _row(results, kb, place, read))
        for place in _OVERRIDES
    }


def _behind(results: Results) -> Finding:
    words, holds = [], True
    for name, read in (("mean", MEAN), ("p99", P99)):
        us = _means(results, read)
        words.append(f"{name} {us[BEHIND]:.1f} behind, {us[BEFORE]:.1f} before")
        holds = ordered(us[BEHIND], us[BEFORE]) and holds
    return Finding("; ".join(words) + " us", holds)


def _offsets(results: Results) -> Finding:
    us = _means(results, P99)
    gained = [us[NONE] - us[place] for place in (BEFORE, BEHIND)]
    words = f"p99 {us[NONE]:.1f} not paced, {us[BEFORE]:.1f} before, {us[BEHIND]:.1f} us behind"
    return Finding(words, ordered(2 * gained[0], gained[1]))


def _throughput(results: Results) -> Finding:
    mbps = _means(results, throughput_mbps)
    return Finding(
        f"{mbps[BEHIND]:.0f} Mbps behind, {mbps[BEFORE]:.0f} before, {mbps[NONE]:.0f} not paced",
        ordered(mbps[BEFORE], mbps[BEHIND]),
    )


def _without_offload(results: Results) -> Finding:
    ratios = {}
    for name, read in (("mean", MEAN), ("p99", P99)):
        us = _means(results, read)
        ratios[name] = us[SINGLE] / us[BEHIND]
    words = ", ".join(f"{name} {ratio:.2f} times" for name, ratio in ratios.items())
    return Finding(words, all(within(ratio, 0.75, 1.25) for ratio in ratios.values()))


CLAIMS = (
    Claim(
        id="thesis-software-pacing-behind",
        source="thesis 4.1.3",
        claim="latency is lower with pacing after NIC-based segmentation than with pacing before "
        "it (mean and 99th percentile, means over all rates and thresholds)",
        check=_behind,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-software-pacing-cannot",
        source="thesis 4.6",
        claim="a software pacer prior to the NIC cannot offset the effects of segmentation "
        "offload: it reduces the 99th percentile by less than half of what the pacer behind the "
        "NIC does",
        check=_offsets,
        kind="predicted",
        bound="hull",
        cause="mechanism",
        tried="TCP hands over what an ACK allows, so pieces are small and a pacer before "
        "segmentation spaces most of them. With Linux's tso_win_divisor of 3 pieces are up to a "
        "third of the window and it holds: p99 88.7 not paced, 84.9 before, 80.7 us behind. With "
        "1, where a piece is the whole window, no place helps much: 218, 199 and 213 us.",
        shown_by=commands(
            "thesis-software-pacing",
            "",
            "--set transport.tso_win_divisor=3",
            "--set transport.tso_win_divisor=1",
        ),
    ),
    Claim(
        id="thesis-software-pacing-throughput",
        source="thesis 4.1.3",
        claim="... so that bursts still trigger spurious congestion signals: throughput is lower "
        "than behind segmentation",
        check=_throughput,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-software-pacing-offload",
        source="thesis 4.3.2",
        claim="pacing in the host stack requires disabling segmentation offload: without it both "
        "places give the same latency (within 25%)",
        check=_without_offload,
        kind="predicted",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """Throughput and latency by drain rate, a line for each place of the pacer."""
    from hull.figures import Line, Panel, plot_sweep

    panels = [
        Panel(
            f"{title}, {kb} KB",
            "PQ drain rate (Mbps)",
            label,
            [Line(look.name, RATES, _row(results, kb, look.name, read)) for look in LOOKS],
        )
        for kb in (THRESHOLDS[0], THRESHOLDS[-1])
        for title, label, read in (
            ("Throughput", "Throughput (Mbps)", throughput_mbps),
            ("Mean switch latency", "Latency (µs)", MEAN),
            ("99th percentile", "Latency (µs)", P99),
        )
    ]
    return plot_sweep(panels, looks=LOOKS, columns=3, width=3.3)


EXPERIMENT = Experiment(
    id="thesis-software-pacing",
    title="Thesis 4.3.2 and 4.6: pacing before and behind segmentation",
    source="thesis 4.1.3, 4.3.2 and 4.6",
    scenario="drain-rate",
    variants=tuple(
        Variant(
            {f"drain={rate}Mbps": f"{rate}/{kb}KB/{place}" for rate in RATES},
            overrides=(f"switch.phantom_queue.threshold={kb}KB", *overrides),
            schemes=(UNPACED if place == NONE else PACED,),
        )
        for kb in THRESHOLDS
        for place, overrides in _OVERRIDES.items()
    ),
    stated=statements("paper", "testbed", "static", "paced", "software pacing"),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("run.warmup=500ms", "run.duration=2s"), seeds=1),
    full=Size(overrides=("run.warmup=500ms", "run.duration=3s"), seeds=10),
)
