"""Flows drawn from the recorded ones, so that each seed has its own traffic.

A drawn flow has the endpoints and the size of a recorded one, and follows after a recorded gap;
both are drawn independently, with replacement. Properties that depend on the order of flows, such
as bursts, are lost: `Fit` quantifies this. Times in ps.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

_WINDOWS = 1000
"""Into how many parts of the time the flows are counted."""


@dataclass(frozen=True)
class Fit:
    """How drawn flows compare with those that were seen."""

    sizes_ks: float
    """Kolmogorov-Smirnov distance of the sizes."""
    gaps_ks: float
    load: float
    """Bytes over bytes that were seen."""
    dispersion: float
    """Variance over mean of the flows that start in a thousandth of the time; 1 for Poisson."""
    seen_dispersion: float


def draw(flows: "pl.DataFrame", seed: int, count: int | None = None) -> "pl.DataFrame":
    """A number of flows; as many as were seen by default."""
    import numpy as np
    import polars as pl

    generator = np.random.default_rng(seed)
    starts = np.sort(flows["start_ps"].to_numpy())
    gaps = np.diff(starts, prepend=0)
    count = len(flows) if count is None else count
    begin = np.cumsum(generator.choice(gaps, count))
    places = pl.Series(generator.integers(0, len(flows), count))
    return flows.select(pl.all().gather(places)).with_columns(
        pl.Series("start_ps", begin, dtype=pl.Int64)
    )


def compare(seen: "pl.DataFrame", drawn: "pl.DataFrame") -> Fit:
    """The drawn flows beside those that were seen."""
    import numpy as np
    from scipy.stats import ks_2samp

    def gaps(flows: "pl.DataFrame") -> "np.ndarray":
        return np.diff(np.sort(flows["start_ps"].to_numpy()), prepend=0)

    def dispersion(flows: "pl.DataFrame") -> float:
        counts, _ = np.histogram(flows["start_ps"].to_numpy(), _WINDOWS)
        return float(counts.var() / max(counts.mean(), 1e-9))

    def distance(one: "np.ndarray", other: "np.ndarray") -> float:
        return float(ks_2samp(one, other, method="asymp").statistic)

    return Fit(
        sizes_ks=distance(seen["bytes"].to_numpy(), drawn["bytes"].to_numpy()),
        gaps_ks=distance(gaps(seen), gaps(drawn)),
        load=float(drawn["bytes"].sum()) / float(seen["bytes"].sum()),
        dispersion=dispersion(drawn),
        seen_dispersion=dispersion(seen),
    )
