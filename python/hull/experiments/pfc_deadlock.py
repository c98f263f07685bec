"""A leaf-spine fabric whose paths close a circle after two links have failed.

Two leaves without a common spine reach each other through a third leaf. Whether pauses then lock
links for ever depends on the senders; a watchdog breaks the deadlock and discards packets.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, commands
from hull.experiments.common.decided import at_least, at_most, more_than, ordered
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.measured import Results, Summary
from hull.experiments.common.stated import Stated
from hull.report.schemes import BLUE, GREEN, SKY, VERMILION, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINE, RED, PHANTOM = ALERTS = ("line_rate", "red", "phantom")
LINE_DROP, RED_DROP, PHANTOM_DROP = DROPS = tuple(f"{one}_drop" for one in ALERTS)
FORWARD = "red_forward"
SCHEMES = (*ALERTS, *DROPS, FORWARD)
LOOKS = (
    Scheme(LINE, "line rate", SKY, (3, 2), "D"),
    Scheme(RED, "RED", BLUE, (5, 2), "s"),
    Scheme(PHANTOM, "phantom queue", VERMILION, (1, 0), "o"),
    Scheme(LINE_DROP, "line rate, drop", SKY, (1, 0), "d"),
    Scheme(RED_DROP, "RED, drop", BLUE, (1, 0), "P"),
    Scheme(PHANTOM_DROP, "phantom queue, drop", VERMILION, (5, 2), "X"),
    Scheme(FORWARD, "RED, forward", GREEN, (6, 2, 1, 2), "v"),
)
WHOLE, FAILED, UP_DOWN = CONDITIONS = ("all links", "two links failed", "up-down only")
FAILURES_US, DETECTION_US = 1000.0, 2000.0
CHECK_US = 101.5
"""Time between two checks for a deadlock: 100 us and four packets of 9,000 bytes at 200 Gbps."""


def goodput_gbps(part: Summary) -> float:
    """Payload that all hosts receive."""
    return float(part["throughput"]["total_goodput_bps"]) / 1e9


def watchdog(name: str) -> Callable[[Summary], float]:
    """A number of the watchdog."""

    def read(part: Summary) -> float:
        return float(part["pauses"]["watchdog"][name])

    return read


def locked_share(part: Summary) -> float:
    """Time that links are locked over the run's time, percent."""
    return 1e-4 * watchdog("locked_us")(part) / float(part["simulated_seconds"])


def locked_at_us(part: Summary) -> float:
    """Time from the failures to a deadlock that lasts to the end; without one, to the end."""
    return 1e6 * float(part["simulated_seconds"]) - watchdog("locked_us")(part) - FAILURES_US


def discarded_share(part: Summary) -> float:
    """Packets that the watchdog discarded, of those sent, percent."""
    return 100 * watchdog("discarded")(part) / float(part["packets"]["sent"])


def _lost_share(part: Summary) -> float:
    """Packets that were lost in pauses, of those sent, percent: discarded or without room."""
    lost = watchdog("discarded")(part) + float(part["pauses"]["drops"])
    return 100 * lost / float(part["packets"]["sent"])


def _never(results: Results, at: str) -> Finding:
    found = {one: results.mean(at, one, watchdog("deadlocks")) for one in SCHEMES}
    words = ", ".join(f"{one} {count:g}" for one, count in found.items())
    return Finding(f"{words} deadlocks", all(at_most(count, 0) for count in found.values()))


def _line(results: Results) -> Finding:
    times = [locked_at_us(part) for part in results.parts(FAILED, LINE)]
    locks = min(watchdog("deadlocks")(part) for part in results.parts(FAILED, LINE))
    mean = results.mean(FAILED, LINE, locked_at_us)
    words = f"{min(times):.0f} to {max(times):.0f} us after the failures"
    return Finding(words, at_most(mean, 1000) and locks >= 1 and max(times) <= 1000)


def _red(results: Results) -> Finding:
    found = results.mean(FAILED, RED, watchdog("deadlocks"))
    seeds = [watchdog("deadlocks")(part) for part in results.parts(FAILED, RED)]
    words = f"{sum(map(bool, seeds))} of {len(seeds)} seeds"
    return Finding(words, more_than(found, 0))


def _phantom(results: Results) -> Finding:
    own, red = (results.mean(FAILED, one, locked_share) for one in (PHANTOM, RED))
    return Finding(f"{own:.3g} and {red:.3g}% of the time", ordered(own, red))


def _broken(results: Results) -> Finding:
    locked = results.mean(FAILED, LINE_DROP, watchdog("locked_us"))
    count = results.mean(FAILED, LINE_DROP, watchdog("deadlocks"))
    each = locked / count if count else 0.0
    limit = DETECTION_US + 2.5 * CHECK_US
    return Finding(f"{count:g} deadlocks, {each:.0f} us each", at_most(each, limit) and count > 0)


def _half(results: Results) -> Finding:
    own = results.mean(FAILED, RED_DROP, goodput_gbps)
    only = results.mean(UP_DOWN, RED_DROP, goodput_gbps)
    return Finding(f"{own:.0f} of {only:.0f} Gbps", at_least(own / only, 0.5))


def _discarded(results: Results) -> Finding:
    found = results.mean(FAILED, RED_DROP, discarded_share)
    return Finding(f"{found:.3g}%", at_most(found, 1))


def _refused(results: Results) -> Finding:
    own = results.mean(FAILED, RED_DROP, goodput_gbps)
    only = results.mean(UP_DOWN, RED_DROP, goodput_gbps)
    return Finding(f"{own:.0f} and {only:.0f} Gbps", ordered(own, only))


def _forward(results: Results) -> Finding:
    own, drop = (results.mean(FAILED, one, _lost_share) for one in (FORWARD, RED_DROP))
    return Finding(f"{own:.3g} and {drop:.3g}% of the packets", ordered(own, drop))


_SOURCE = "hull's own"


_MANY = ",".join(
    f'{{src="{src}",dst={dst}}}'
    for src, others in (("0-3", (4, 7)), ("4-7", (0, 3)), ("9-11", (13, 15)), ("13-15", (9, 11)))
    for dst in range(others[0], others[1] + 1)
)
"""Endless flows from each host to all of the neighbour leaf."""


def _claim(
    name: str, claim: str, check: Callable[[Results], Finding], tried: str = "", *options: str
) -> Claim:
    return Claim(
        id=f"pfc-deadlock-{name}",
        source=_SOURCE,
        claim=claim,
        check=check,
        kind="predicted",
        bound="hull",
        cause="mechanism" if tried else "",
        tried=tried,
        shown_by=commands("pfc-deadlock", *options) if tried else (),
    )


CLAIMS = (
    _claim(
        "whole",
        "with all links no run locks, for any senders",
        lambda results: _never(results, WHOLE),
    ),
    _claim(
        "line-rate",
        "with two links failed and senders that do not react each seed locks within 1 ms",
        _line,
        "Of ten seeds six lock within 0.6 ms, three after 1.0 to 5.9 ms, and one does not in 22 "
        "ms. A circle needs packets that turn at leaf 2 and others that turn at leaf 3 on the way "
        "back; four flows in each direction choose by hash. With endless flows from each host to "
        "all hosts of the neighbour leaf each of ten seeds locks, after 0.08 to 1.8 ms.",
        "--full",
        f"--full --set 'workload.long_lived.flows=[{_MANY}]'",
    ),
    _claim("red", "with two links failed DCQCN with RED locks, too, in at least one seed", _red),
    _claim(
        "phantom",
        "with two links failed DCQCN with the phantom queue is locked for a smaller part of the "
        "time than with RED",
        _phantom,
    ),
    _claim(
        "up-down",
        "with up-down paths only no run locks",
        lambda results: _never(results, UP_DOWN),
    ),
    _claim(
        "broken",
        "the watchdog (drop) ends each deadlock after the detection time and two checks, 2.25 ms "
        "on average, with senders that do not react",
        _broken,
    ),
    _claim(
        "half",
        "with the watchdog (drop) DCQCN with RED has at least half of its goodput with up-down "
        "paths only",
        _half,
    ),
    _claim(
        "discarded",
        "with RED the watchdog (drop) discards at most 1% of the packets",
        _discarded,
        "A storm discards all packets that come for its queue until 2 ms without a pause have "
        "passed: up to 11,900 at 200 Gbps, for 5.0 storms per run. With a restoration time of 100 "
        "us it discards 11,600 packets per run instead of 84,100, 2.2 instead of 15.6%, and the "
        "goodput is 381 instead of 338 Gbps.",
        "--full",
        "--full --set switch.pfc.watchdog.restoration=100us",
    ),
    _claim(
        "refused",
        "DCQCN with RED has more goodput with up-down paths only than with two links failed and "
        "the watchdog (drop)",
        _refused,
    ),
    _claim("forward", "with RED forward loses fewer packets than drop", _forward),
)


def _variant(at: str) -> Variant:
    if at == WHOLE:
        return Variant({"": at}, overrides=("topology.failures=[]",))
    if at == UP_DOWN:
        flows = '[{src="9-11",dst="13-15"},{src="13-15",dst="9-11"}]'
        return Variant({"": at}, overrides=(f"workload.long_lived.flows={flows}",))
    return Variant({"": at})


def draw(results: Results) -> "Figure":
    """Goodput against the time in a deadlock, after two links have failed."""
    from hull.figures import Line, Panel, plot_sweep

    lines = [
        Line(
            one,
            [results.mean(FAILED, one, locked_share)],
            [results.mean(FAILED, one, goodput_gbps)],
        )
        for one in SCHEMES
    ]
    ends = [0.0, max(line.x[0] for line in lines)]
    only = results.mean(UP_DOWN, RED, goodput_gbps)
    panel = Panel(
        FAILED,
        "Time in a deadlock (%)",
        "Goodput (Gbps)",
        lines,
        reference=((f"RED, {UP_DOWN}", ends, [only, only]),),
        y_limits=(0, 500),
        joined=False,
    )
    return plot_sweep([panel], looks=LOOKS, columns=1, width=6.4)


EXPERIMENT = Experiment(
    id="pfc-deadlock",
    title="A fabric whose paths close a circle: deadlocks of pauses and a watchdog",
    source=_SOURCE,
    scenario="pfc-deadlock",
    completion="delivered",
    variants=tuple(_variant(at) for at in CONDITIONS),
    stated=(
        Stated(_SOURCE, "packets", "transport.mtu", "4200B"),
        Stated(
            "SONiC, pfcwd start_default",
            "detection time",
            "switch.pfc.watchdog.detection",
            "200ms",
            used="2ms",
            deviates="a hundredth: a run of 20 ms then has several storms",
        ),
        Stated(
            "SONiC, pfcwd start_default",
            "restoration time",
            "switch.pfc.watchdog.restoration",
            "200ms",
            used="2ms",
            deviates="a hundredth, as the detection time",
        ),
        Stated(
            "SONiC, pfcwd start_default",
            "action",
            "switch.pfc.watchdog.action",
            "drop",
            schemes=".*_drop",
        ),
        Stated(
            "HPCC's simulator",
            "RED's lower threshold at 25 Gbps",
            "switch.marking.threshold",
            "100KB",
            schemes="red.*",
        ),
        Stated(
            "HPCC's simulator",
            "RED's upper threshold at 25 Gbps",
            "switch.marking.max_threshold",
            "400KB",
            schemes="red.*",
        ),
    ),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("run.duration=8ms",), seeds=1),
    full=Size(overrides=("run.duration=20ms",), seeds=10),
)
