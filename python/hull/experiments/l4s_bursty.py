"""A flow beside Skype's bursts behind DualPI2: heistp/l4s-tests, "Underutilization with Bursty
Traffic".

One long flow, Prague or CUBIC, at 20 Mbit/s and 160 ms, alone, with Skype's large packets in the L
queue, and with all of Skype in the C queue. Goodput of the flow in Mbit/s.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Bound, Claim, Finding, about, ratio
from hull.experiments.common.decided import at_least, at_most, less_than
from hull.experiments.common.experiment import Experiment, Point, Size, Variant, cell, published
from hull.experiments.common.measured import Results, transport_mbps
from hull.experiments.common.stated import Stated
from hull.report.schemes import BLUE, VERMILION, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BURSTY = published("l4s", "bursty")
NAMES = {"prague": "Prague", "cubic": "CUBIC"}
"""Schemes."""
PLACES = {
    "alone": (
        # Skype starts after the end: a transport needs a flow.
        "workload.long_lived.flows=[{src=0,dst=3},"
        + ",".join(
            f'{{src={host},dst={host + 3},transport="{transport}",start="1000s"}}'
            for host, transport in ((1, "large"), (2, "small"))
        )
        + "]",
    ),
    "skype_in_l": (
        "transports.large.ecn=true",
        "transports.large.constant_rate.l4s=true",
    ),
    "skype_in_c": (),
}
"""Conditions: where Skype is, with the settings for it."""
EVENLY = "evenly"
"""Skype's large packets in the L queue, all packets evenly spaced."""
NO_TRAINS = (
    *PLACES["skype_in_l"],
    "transports.large.constant_rate.burst=1",
    "transports.small.constant_rate.burst=1",
)
LOOKS = (
    Scheme("prague", "Prague", BLUE, (), "o"),
    Scheme("cubic", "CUBIC", VERMILION, (5, 2), "v"),
)


GOODPUT = transport_mbps("default")


def _measured(results: Results, place: str, scheme: str) -> float:
    return results.mean(place, scheme, GOODPUT)


def _table(results: Results) -> Finding:
    ratios = {
        (scheme, place): _measured(results, place, scheme) / BURSTY[scheme][place]
        for scheme in NAMES
        for place in PLACES
    }
    near = sum(about(ratio, 1) for ratio in ratios.values())
    words = f"{near} of {len(ratios)}, {min(ratios.values()):.2f} to {max(ratios.values()):.2f}"
    return Finding(f"{words} times the published", near == len(ratios))


def _collapse(results: Results) -> Finding:
    """The published ratios are 5.5 and 1.08."""
    ratios = [
        _measured(results, "skype_in_c", scheme) / _measured(results, "skype_in_l", scheme)
        for scheme in NAMES
    ]
    words = "{:.1f} and {:.2f} times".format(*ratios)
    return Finding(words, at_least(ratios[0], 4) and at_most(ratios[1], 1.35))


def _trains(results: Results) -> Finding:
    evenly = _measured(results, EVENLY, "prague")
    trains = _measured(results, "skype_in_l", "prague")
    return Finding(
        f"{evenly:.2f} and {trains:.2f} Mbit/s",
        at_least(evenly, 14) and less_than(ratio(trains, evenly), 0.25),
    )


def _claim(id_: str, claim: str, check: object, bound: Bound) -> Claim:
    """All are fitted: trains follow from captures of the source, bounds from a first run."""
    assert callable(check)
    return Claim(
        f"l4s-bursty-{id_}",
        "l4s-tests, bursty traffic",
        claim,
        check,
        kind="fitted",
        bound=bound,
    )


CLAIMS = (
    _claim(
        "table",
        "Prague and CUBIC, alone, with Skype in the L and in the C queue: the published goodput of "
        "the flow (within 25%)",
        _table,
        "document",
    ),
    _claim(
        "collapse",
        "Skype in the L queue instead of the C queue takes most of Prague's goodput, a factor of "
        "5.5 (4 or more), and little of CUBIC's, 1.09 (at most 1.35)",
        _collapse,
        "document",
    ),
    _claim(
        "trains",
        "the trains are the cause, not the rate: beside the same packets, evenly spaced, Prague "
        "has at least 14 Mbit/s and more than 4 times as much",
        _trains,
        "hull",
    ),
)


def draw(results: Results) -> "Figure":
    """Measured and published goodput, a pair of bars for each place of Skype."""
    from hull.figures import BarPanel, plot_bars

    labels = {"alone": "alone", "skype_in_l": "Skype in L", "skype_in_c": "Skype in C"}
    series = ("published", "measured")

    def panel(scheme: str) -> BarPanel:
        values = {}
        for place, label in labels.items():
            values[label, "published"] = float(BURSTY[scheme][place])
            values[label, "measured"] = _measured(results, place, scheme)
        return BarPanel(
            NAMES[scheme], "Goodput (Mbit/s)", tuple(labels.values()), series, values, log_y=False
        )

    panels = [panel(scheme) for scheme in NAMES]
    return plot_bars(panels, columns=2, width=7.2, height=2.6)


EXPERIMENT = Experiment(
    id="l4s-bursty",
    title="A flow beside Skype's bursts at DualPI2",
    source="heistp/l4s-tests, bursty traffic",
    scenario="l4s-bursty",
    variants=(
        *(
            Variant(conditions={"": place}, overrides=settings)
            for place, settings in PLACES.items()
        ),
        Variant(conditions={"": EVENLY}, overrides=NO_TRAINS),
    ),
    points=tuple(
        Point(
            place,
            scheme,
            "goodput_mbps",
            "mean",
            BURSTY[scheme][place],
            cell(place, scheme, GOODPUT),
        )
        for scheme in NAMES
        for place in PLACES
    ),
    stated=(
        Stated(
            "heistp/l4s-tests, bursty traffic",
            "rate of the link",
            "topology.dumbbell.bottleneck_rate",
            "20Mbps",
        ),
        Stated(
            "heistp/l4s-tests, bursty traffic",
            "Skype's rate, 72% of 2.3 Mbit/s",
            "transports.large.constant_rate.rate",
            "1656kbps",
            schemes="prague",
            conditions="skype.*",
        ),
        Stated(
            "heistp/l4s-tests, bursty traffic",
            "Skype's rate, 72% of 1.8 Mbit/s",
            "transports.large.constant_rate.rate",
            "1296kbps",
            schemes="cubic",
            conditions="skype.*",
        ),
    ),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("run.duration=80s", "run.warmup=40s"), seeds=1),
    full=Size(seeds=5),
)
