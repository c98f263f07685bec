"""How the schemes of a sweep differ from its first one, point by point, over the same seeds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hull.results.changes import Change, change
from hull.sweeps.values import shown

if TYPE_CHECKING:
    import polars as pl

Changes = dict[tuple[tuple[str, ...], str], Change]
"""By point (values as texts) and scheme."""


def first_scheme(frame: "pl.DataFrame") -> str | None:
    """The scheme that the others are compared with; None without others."""
    names = frame["scheme"].unique(maintain_order=True)
    return names[0] if len(names) > 1 else None


def changes_of(frame: "pl.DataFrame", keys: Sequence[str], name: str) -> Changes:
    """The changes of a statistic; none where the first scheme lacks it, or where a value is 0 or
    below, as it has no ratio.
    """
    import polars as pl

    first = first_scheme(frame)
    if first is None:
        return {}
    rows = frame.filter(pl.col("statistic") == name).select(*keys, "scheme", "seed", "value")
    values: dict[tuple[str, ...], dict[str, dict[int, float]]] = {}
    for *at, scheme, seed, value in rows.iter_rows():
        point = values.setdefault(tuple(map(shown, at)), {})
        point.setdefault(scheme, {})[seed] = value
    found = {}
    for where, of in values.items():
        base = of.pop(first, {})
        for scheme, samples in of.items():
            pairs = {seed: samples[seed] for seed in samples.keys() & base.keys()}
            if all(value > 0 and base[seed] > 0 for seed, value in pairs.items()):
                against = change(pairs, base)
                if against is not None:
                    found[where, scheme] = against
    return found
