"""Small and large flows: which sizes count as which, in bytes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

FEW = 100
"""Flows that the usual bound should hold at least, or a hundredth of all."""
_INITIAL_WINDOW_BYTES = 14_600
_LARGE_BYTES = 1_000_000
_LARGE_SHARE = 0.1
"""Of all bytes, which flows of the usual bound should carry at least."""


@dataclass(frozen=True)
class Sizes:
    """Which flows are small and which large, bytes: up to `small`, from `large` on."""

    small: int
    large: int
    why: str


def choose_sizes(sizes: "pl.Series", small: int | None, large: int | None) -> Sizes:
    """The requested bounds. By default the first window of a connection and 1 MB; if the trace has
    no such flows, its smallest tenth and the largest flows that carry half of the bytes.
    """
    ordered = sizes.sort()
    why = []
    if small is None:
        small = _INITIAL_WINDOW_BYTES
        text = f"small: up to {small:,} bytes, the first window of a new connection"
        if int((ordered <= small).sum()) < min(FEW, max(1, len(ordered) // 100)):
            small = int(ordered[len(ordered) // 10])
            text = f"small: up to {small:,} bytes, the smallest tenth, as few fit a first window"
        why.append(text)
    if large is None:
        large = _LARGE_BYTES
        text = f"large: {large:,} bytes or more"
        total = float(ordered.sum())
        if float(ordered.filter(ordered >= large).sum()) < _LARGE_SHARE * total:
            sums = ordered.reverse().cum_sum()
            place = int((sums < total / 2).sum())
            large = int(ordered[len(ordered) - 1 - min(place, len(ordered) - 1)])
            text = f"large: {large:,} bytes or more, the largest that carry half of all bytes"
        why.append(text)
    return Sizes(small, large, "; ".join(why))
