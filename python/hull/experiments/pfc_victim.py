"""The two switches of thesis 5.1: a flow that shares no congested port is paused.

Without control it gets what the flow beside it gets. With DCQCN what marks, and where pauses begin,
decides.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, about, commands
from hull.experiments.common.decided import at_least, at_most, ordered
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.measured import Results, Summary
from hull.experiments.common.stated import Stated
from hull.report.schemes import BLUE, GREEN, SKY, VERMILION, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOSSY, PAUSES, RED, PHANTOM = SCHEMES = ("lossy", "pauses", "dcqcn_red", "dcqcn_phantom")
LOOKS = (
    Scheme(LOSSY, "no pauses", SKY, (3, 2), "D"),
    Scheme(PAUSES, "pauses", BLUE, (5, 2), "s"),
    Scheme(RED, "DCQCN, RED", GREEN, (6, 2, 1, 2), "v"),
    Scheme(PHANTOM, "DCQCN, phantom queue", VERMILION, (1, 0), "o"),
)
THESIS, TODAY = CONDITIONS = ("10 Gbps", "100 Gbps")
LATE = {
    "10 Gbps, pauses above RED": (THESIS, "200KB"),
    "100 Gbps, pauses above RED": (TODAY, "2MB"),
}
"""The same with a pause threshold above RED's upper one; added after the first results."""


def share(results: Results, at: str, scheme: str, host: str) -> float:
    """Used share of the link to a host, percent."""
    links = results.table("links", at, scheme)
    return 100 * float(links.filter(links["to"] == host)["utilization"][0])


def paused_links(part: Summary) -> float:
    """Pause time over the run's time."""
    return float(part["pauses"]["paused_us"]) / (1e6 * float(part["simulated_seconds"]))


def _victim(results: Results, scheme: str) -> dict[str, float]:
    return {at: share(results, at, scheme, "h3") for at in CONDITIONS}


def _words(found: dict[str, float]) -> str:
    return "; ".join(f"{at} {one:.1f}%" for at, one in found.items())


def _free(results: Results) -> Finding:
    found = _victim(results, LOSSY)
    return Finding(_words(found), all(about(one, 100, 0.05) for one in found.values()))


def _half(results: Results) -> Finding:
    found = _victim(results, PAUSES)
    return Finding(_words(found), all(about(one, 50) for one in found.values()))


def _control(results: Results) -> Finding:
    alone = _victim(results, PAUSES)
    found = {scheme: _victim(results, scheme) for scheme in (RED, PHANTOM)}
    words = " | ".join(f"{scheme}: {_words(of)}" for scheme, of in found.items())
    return Finding(
        words, all(ordered(alone[at], of[at]) for of in found.values() for at in CONDITIONS)
    )


def _phantom(results: Results) -> Finding:
    found = _victim(results, PHANTOM)
    paused = {at: results.mean(at, PHANTOM, paused_links) for at in CONDITIONS}
    words = "; ".join(f"{at} {found[at]:.1f}%, {paused[at]:.3f} paused links" for at in CONDITIONS)
    holds = [
        *(at_least(one, 90) for one in found.values()),
        *(at_most(one, 0.01) for one in paused.values()),
    ]
    return Finding(words, all(holds))


def _late(results: Results) -> Finding:
    found = {at: share(results, at, RED, "h3") for at in LATE}
    paused = {at: results.mean(at, RED, paused_links) for at in LATE}
    words = "; ".join(f"{at} {found[at]:.1f}%, {paused[at]:.3f} paused links" for at in LATE)
    holds = [
        *(at_least(one, 95) for one in found.values()),
        *(at_most(one, 0.01) for one in paused.values()),
    ]
    return Finding(words, all(holds))


CLAIMS = (
    Claim(
        "pfc-victim-free",
        "thesis 5.1",
        "without pauses the victim has its whole link (within 5%)",
        _free,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        "pfc-victim-half",
        "thesis 5.1",
        "with pauses and senders that do not react the victim has half of its link: what the flow "
        "beside it gets",
        _half,
        kind="predicted",
        bound="document",
    ),
    Claim(
        "pfc-victim-control",
        "hull's own",
        "DCQCN gives the victim more than pauses alone, with either source of marks",
        _control,
        kind="predicted",
        bound="hull",
        cause="mechanism",
        tried="Without switch.memory pauses begin at the headroom and two packets, 11 and 14 KB at "
        "10 Gbps and below RED's 40 KB: they hold the queue down, and nothing is marked. With a "
        "threshold of 200 KB the victim has 100% at 10 Gbps, and no link pauses.",
        shown_by=commands("pfc-victim", "", "--set switch.pfc.xoff=200KB"),
    ),
    Claim(
        "pfc-victim-phantom",
        "hull's own",
        "the phantom queue gives the victim at least 90% of its link, and no link pauses (less "
        "than 0.01 links)",
        _phantom,
        kind="predicted",
        bound="hull",
        cause="mechanism",
        tried="The short form alone misses it: all pauses are at the start, before DCQCN has "
        "reacted, and count more in 10 ms than in 55 ms (0.002 links).",
        shown_by=commands("pfc-victim", "", "--full"),
    ),
    Claim(
        "pfc-victim-late",
        "hull's own",
        "if pauses begin above RED's thresholds, RED gives the victim at least 95% of its link, "
        "and no link pauses (less than 0.01 links)",
        _late,
        kind="fitted",
        bound="hull",
    ),
)


def _variant(at: str) -> Variant:
    if at in LATE:
        rate, xoff = LATE[at]
        late = (f'schemes.{one}.switch.pfc.xoff="{xoff}"' for one in (PAUSES, RED, PHANTOM))
        return Variant({"": at}, overrides=(*_variant(rate).overrides, *late))
    if at == THESIS:
        return Variant({"": at})
    return Variant(
        {"": at},
        overrides=(
            'host.rate="100Gbps"',
            'switch.rate="100Gbps"',
            'topology.links=[{link="s0--s1",rate="200Gbps"}]',
            'schemes.lossy.switch.buffer="1MB"',
            'schemes.dcqcn_phantom.switch.phantom_queue.threshold="30KB"',
        ),
    )


def draw(results: Results) -> "Figure":
    """Used share of the victim's link and of the congested one."""
    from hull.figures import Line, Panel, plot_sweep

    panels = [
        Panel(
            f"{at}",
            "Victim's link in use (%)",
            "Congested link in use (%)",
            [
                Line(one, [share(results, at, one, "h3")], [share(results, at, one, "h2")])
                for one in SCHEMES
            ],
            joined=False,
            y_limits=(0, 105),
        )
        for at in (*CONDITIONS, *LATE)
    ]
    return plot_sweep(panels, looks=LOOKS)


EXPERIMENT = Experiment(
    id="pfc-victim",
    title="A flow that shares no congested port is paused",
    source="thesis 5.1",
    scenario="pfc-victim",
    variants=tuple(_variant(at) for at in (*CONDITIONS, *LATE)),
    stated=(
        Stated(
            "hull's own", "hosts of the thesis's example", "host.rate", "10Gbps", conditions=THESIS
        ),
    ),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("run.duration=5ms",), seeds=1),
    full=Size(overrides=("run.duration=50ms",), seeds=5),
)
