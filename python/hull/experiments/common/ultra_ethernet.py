"""Recorded runs of uet-htsim in hull: their settings as overrides, and the comparison of tails.

A tail is the time from the start until the last sender holds its last acknowledgment, us.
"""

import statistics
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hull.experiments.common.claims import Cause, Claim, Finding
from hull.experiments.common.decided import at_least, at_most
from hull.experiments.common.experiment import Point, Variant, published, table_points
from hull.experiments.common.measured import Reader, Results, Summary
from hull.experiments.common.stated import Stated
from hull.report.schemes import BLUE, GREEN, VERMILION, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ALL = NSCC, RCCC, BOTH = ("nscc", "rccc", "both")
LOOKS = (
    Scheme(NSCC, "NSCC (sender)", BLUE, (5, 2), "s"),
    Scheme(RCCC, "RCCC (receiver)", VERMILION, (2, 2), "o"),
    Scheme(BOTH, "both", GREEN, (6, 2, 1, 2), "v"),
)
MTU, HEADER = 4150, 64
PAYLOAD = MTU - HEADER
STATED = tuple(
    Stated("uet-htsim, main_uec", what, key, value)
    for what, key, value in (
        ("packets", "transport.mtu", "4150B"),
        ("header, acknowledgment", "transport.header", "64B"),
        ("delay of a link", "switch.delay", "1us"),
        ("delay of a link", "host.delay", "1us"),
        ("seed", "run.seed", "13"),
    )
)

PATHS = "transport.message.paths=128"
ONE_PATH = "transport.message.paths=1"
EACH_PACKET = "transport.message.ack_bytes=4000B"
SMALL = ("topology={fat_tree={k=4}}",)
"""16 hosts."""
MIDDLE = ("topology={fat_tree={k=8}}",)
"""128 hosts."""


def queue(
    packets: int,
    low: int,
    high: int,
    *,
    to_hosts: str = "tor-host",
    slow: str | None = None,
) -> tuple[str, ...]:
    """Overrides for ports with a buffer in packets that mark between `low` and `high` packets.

    Ports to hosts (their tier) do not mark where receivers grant credit. `slow` is the rate of
    failed links, a quarter of the others', with a quarter of buffer and thresholds.
    """
    size = packets * MTU
    unmarked = f"{{tier={to_hosts!r},marking={_marking(size - 2, size - 1)}}}"
    failed = (
        ()
        if slow is None
        else (
            f'{{rate="{slow}",buffer="{size // 4}B",'
            f"marking={_marking(low * MTU // 4, high * MTU // 4)}}}",
        )
    )
    overrides = [f'switch.buffer="{size}B"', f"switch.marking={_marking(low * MTU, high * MTU)}"]
    for scheme in _ALL:
        ports = failed if scheme == NSCC else (unmarked, *failed)
        if ports:
            overrides.append(f"schemes.{scheme}.switch.ports=[{','.join(ports)}]")
    return tuple(overrides)


def _marking(low: int, high: int) -> str:
    return f'{{threshold="{low}B",max_threshold="{high}B",on="sent"}}'


LONG_QUEUE = queue(500, 9, 35)
"""500 packets; the thresholds are as for 43 packets."""


def leaf_spine_8192(
    gbps: int, packets: int, spines: int = 64, slow: str | None = None
) -> tuple[str, ...]:
    """8,192 hosts below 128 leaves, with queue, thresholds (25 and 75% of it) and first window (1.5
    times it) of the recorded runs."""
    return (
        f"topology={{leaf_spine={{leaves=128,spines={spines},hosts_per_leaf=64}}}}",
        f'host.rate="{gbps}Gbps"',
        f'switch.rate="{gbps}Gbps"',
        *queue(packets, packets // 4, packets * 3 // 4, to_hosts="leaf-host", slow=slow),
        f"transport.message.initial_window={packets * 3 // 2}",
    )


def balancing(name: str) -> str:
    """The override that chooses a load balancer."""
    return f'transport.message.load_balancing="{name}"'


def flows(*groups: tuple[str, str, str]) -> str:
    """The override that replaces the permutation by flows: sources, destinations, size."""
    each = ",".join(f'{{src="{src}",dst="{dst}",size="{size}"}}' for src, dst, size in groups)
    return f"workload={{long_lived={{flows=[{each}]}}}}"


def variant(
    condition: str, schemes: Sequence[str], *overrides: str, quick: bool = False
) -> Variant:
    """One condition of an experiment, run with `--full` alone unless it is `quick`."""
    return Variant(
        {"": condition},
        overrides,
        tuple(schemes),
        sizes=("quick", "full") if quick else ("full",),
    )


def tail(part: Summary) -> float | None:
    """The last completion until the last acknowledgment, us."""
    found = [entry["acked"]["max_us"] for entry in part["fct"] if entry["acked"]["count"]]
    return max(found) if found else None


def tail_us(results: Results, condition: str, scheme: str) -> float:
    """Mean of the tails over the seeds; NaN if absent."""
    return results.mean(condition, scheme, tail)


def points(table: str) -> tuple[Point, ...]:
    """The recorded tails of a table of common/published/uet-htsim.toml."""

    def read(_: str) -> Reader:
        return tail

    return table_points("uet-htsim", table, ("max",), {"tail_us": read})


def recorded(table: str) -> list[tuple[str, str, float]]:
    """Condition, scheme and tail of each recorded run of a table."""
    return [
        (condition, scheme, found["tail_us"][0])
        for condition, schemes in published("uet-htsim", table).items()
        for scheme, found in schemes.items()
    ]


def deviations(results: Results, runs: Iterable[tuple[str, str, float]]) -> dict[str, float]:
    """Measured over recorded tail, minus 1, for each run that was made here."""
    return {
        f"{scheme}, {condition}": tail_us(results, condition, scheme) / then - 1
        for condition, scheme, then in runs
        if results.parts(condition, scheme)
    }


def _close(results: Results, runs: Iterable[tuple[str, str, float]]) -> Finding:
    """Tails within 3% on at least 80% of the runs, median within 2%."""
    found = deviations(results, runs)
    if not found:
        return Finding("no run", holds=False)
    good = sum(abs(one) <= 0.03 for one in found.values())
    median = statistics.median(abs(one) for one in found.values())
    far = [f"{name} {100 * one:+.1f}%" for name, one in found.items() if not abs(one) <= 0.03]
    rest = f"; {'; '.join(far)}" if far else ""
    return Finding(
        f"{good} of {len(found)} within 3%, median {100 * median:.2f}%{rest}",
        at_least(good / len(found), 0.8) and at_most(median, 0.02),
    )


def tails_claim(
    experiment: str,
    source: str,
    runs: Sequence[tuple[str, str, float]],
    *,
    where: str = "",
    cause: Cause = "",
    tried: str = "",
    shown_by: tuple[str, ...] = (),
) -> Claim:
    """The claim that an experiment's tails match the recorded `runs`."""
    return Claim(
        id=f"{experiment}-tails",
        source=f"uet-htsim, {source}",
        claim=f"{where}at least 80% of the tails are within 3% of the recorded ones, and the "
        "median of the deviations is within 2%",
        check=lambda results: _close(results, runs),
        kind="predicted",
        bound="hull",
        cause=cause,
        tried=tried,
        shown_by=shown_by,
    )


def uncontended_us(size: int, links: int = 6, gbps: float = 100.0, delay_us: float = 1.0) -> float:
    """Completion time of an uncontended message, until its last ACK, us.

    n full packets and one of r bytes over h links, store-and-forward: (n + h - 1) full
    transmissions and one of the rest, h delays in each direction, h transmissions of the ACK.
    """
    full, rest = divmod(size, PAYLOAD)
    per_byte_us = 8e-3 / gbps
    data = (full + links - 1) * MTU + ((rest + HEADER) if rest else 0)
    return (data + links * HEADER) * per_byte_us + 2 * links * delay_us


def draw_tails(
    results: Results, table: str, panels: dict[str, dict[str, str]], log: Sequence[str] = ()
) -> "Figure":
    """Draw tails as bars beside the recorded ones.

    `panels`: title -> condition -> its name below the bars; panels in `log` have a logarithmic
    axis.
    """
    from hull.figures import BarPanel, plot_bars

    then = {(condition, scheme): value for condition, scheme, value in recorded(table)}
    drawn = []
    for title, names in panels.items():
        shown = {c: n for c, n in names.items() if any(results.parts(c, s) for s in _ALL)}
        if not shown:
            continue
        drawn.append(
            BarPanel(
                title,
                "Tail (µs)",
                tuple(shown.values()),
                _ALL,
                {
                    (name, scheme): tail_us(results, condition, scheme)
                    for condition, name in shown.items()
                    for scheme in _ALL
                    if results.parts(condition, scheme)
                },
                published={
                    (name, scheme): then[condition, scheme]
                    for condition, name in shown.items()
                    for scheme in _ALL
                    if (condition, scheme) in then
                },
                log_y=title in log,
            )
        )
    return plot_bars(drawn, LOOKS, width=3.6 if len(drawn) > 1 else 5.0)
