"""The points of a sweep for its page: means of each statistic by point and scheme, and the swept
keys as numbers.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hull import _core
from hull.report.labels import unit_label
from hull.report.lines import Mean
from hull.results.waits import label
from hull.sweeps.comparison import Changes, changes_of
from hull.sweeps.values import shown

if TYPE_CHECKING:
    import polars as pl

_QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*([A-Za-zµ%]*)\s*")
_KINDS = {"rate": "bit/s", "size": "byte", "time": "s"}
"""What the core reads in base units."""
_SCALES = {"us": ((1e4, 1e3, "ms"),), "bit/s": ((1e9, 1e9, "Gbps"), (0.0, 1e6, "Mbps"))}
"""From which mean on a unit is shown as another one, and by what it is divided."""
_OF_WAITS = {"all": "", "tail": " beyond p99"}


@dataclass(frozen=True)
class Key:
    """A swept key: its values as text, in order, and as numbers where all of them are."""

    name: str
    texts: tuple[str, ...]
    numbers: tuple[float, ...] | None
    unit: str

    @property
    def title(self) -> str:
        """The name, with the unit of the numbers."""
        return f"{self.name} ({self.unit})" if self.unit else self.name


@dataclass(frozen=True)
class Statistic:
    """A statistic of a sweep in the unit in which the page shows it."""

    name: str
    unit: str
    divisor: float
    means: dict[tuple[tuple[str, ...], str], tuple[Mean, bool, int]]
    """By point (values as texts) and scheme: the mean, whether it has an interval, and n."""
    changes: Changes
    """Against the first scheme."""

    @property
    def title(self) -> str:
        """What it is, with its unit."""
        text = statistic_label(self.name)
        return f"{text} ({self.unit})" if self.unit else text

    def mean(self, point: tuple[str, ...], scheme: str) -> Mean | None:
        """None where no run has it."""
        found = self.means.get((point, scheme))
        return None if found is None else found[0]


def read_key(frame: "pl.DataFrame", name: str) -> Key:
    """Numbers as they are; texts such as "800Mbps" with their unit, in base units where that
    differs; no numbers where a value is none.
    """
    values = frame[name].unique(maintain_order=True)
    texts = tuple(map(shown, values))
    if values.dtype.is_numeric():
        return Key(name, texts, tuple(map(float, values)), "")
    found = [_QUANTITY.fullmatch(text) for text in texts]
    matches = [match for match in found if match]
    if len(matches) < len(found):
        return Key(name, texts, None, "")
    units = {match[2] for match in matches}
    if len(units) == 1:
        return Key(name, texts, tuple(float(match[1]) for match in matches), units.pop())
    for kind, unit in _KINDS.items():
        try:
            return Key(name, texts, tuple(_core.quantity(kind, text) for text in texts), unit)
        except ValueError:
            continue
    return Key(name, texts, None, "")


def read_statistic(frame: "pl.DataFrame", keys: Sequence[str], name: str) -> Statistic | None:
    """One of a sweep's frame; None where no run has it."""
    import polars as pl

    rows = (
        frame.filter(pl.col("statistic") == name)
        .group_by([*keys, "scheme"], maintain_order=True)
        .agg(pl.col("mean", "ci95", "n", "unit").first())
    )
    if rows.is_empty():
        return None
    unit, divisor = _scaled(rows["unit"][0], float(rows["mean"].abs().max() or 0.0))  # type: ignore[arg-type]
    means = {}
    for row in rows.iter_rows(named=True):
        point = tuple(shown(row[key]) for key in keys)
        mean = Mean(row["mean"] / divisor, (row["ci95"] or 0.0) / divisor)
        means[point, row["scheme"]] = mean, row["ci95"] is not None, row["n"]
    return Statistic(name, unit, divisor, means, changes_of(frame, keys, name))


def points_of(frame: "pl.DataFrame", keys: Sequence[str]) -> list[tuple[str, ...]]:
    """The points that have a run, in the order of the frame."""
    if not keys:
        return [()] if len(frame) else []
    there = frame.select(keys).unique(maintain_order=True)
    return [tuple(map(shown, row)) for row in there.iter_rows()]


def statistic_label(name: str) -> str:
    """`fct.1KB.p99` as "FCT of 1KB flows, p99"; others by their dotted name."""
    group, _, rest = name.partition(".")
    what = {"fct": "FCT", "slowdown": "Slowdown", "waits": "Time"}.get(group)
    flow_class, _, statistic = rest.rpartition(".")
    if what is None or not flow_class or flow_class.endswith(".acked"):
        return name
    if group == "waits":
        # The class may have dots: "(0, 1.5KB]".
        flow_class, _, which = flow_class.rpartition(".")
        if which not in _OF_WAITS or statistic == "flows":
            return name
        return f"{what} of {flow_class} flows{_OF_WAITS[which]}, {label(statistic)}"
    return f"{what} of {flow_class} flows, {statistic}"


def _scaled(unit: str, largest: float) -> tuple[str, float]:
    for least, divisor, name in _SCALES.get(unit, ()):
        if largest >= least:
            return name, divisor
    return ("" if unit == "1" else unit_label(unit)), 1.0
