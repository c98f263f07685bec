"""The flow lists that both simulators read: CSV with the header `start_ps,src,dst,bytes`.

Times are picoseconds. The lists are made anew by each run, from seeds written here.
"""

import math
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

# Bytes of a flow that is still running when the run ends.
LASTS = 10**12
# One size for each class of thesis table 4.6 that a short run can hold, and its share of the flows.
SIZES = ((2_000, 0.5), (20_000, 0.3), (200_000, 0.15), (2_000_000, 0.05))
Row = tuple[int, int, int, int]


def poisson(paths: list[tuple[int, int]], load_bps: float, until_ps: int, seed: int) -> list[Row]:
    """Transfers of `SIZES` on paths drawn with equal probability, with Poisson arrivals."""
    draws = random.Random(seed)
    mean_bytes = sum(size * share for size, share in SIZES)
    mean_gap_ps = 8e12 * mean_bytes / load_bps
    rows: list[Row] = []
    now_ps = 0.0
    while True:
        now_ps += -math.log(1 - draws.random()) * mean_gap_ps
        if now_ps >= until_ps:
            return rows
        src, dst = paths[int(draws.random() * len(paths))]
        rows.append((round(now_ps), src, dst, draw_size(draws.random())))


def draw_size(uniform: float) -> int:
    """The size that belongs to a uniform draw from [0, 1)."""
    for size, share in SIZES:
        uniform -= share
        if uniform < 0:
            return size
    return SIZES[-1][0]


def lasting(paths: list[tuple[int, int]], apart_ps: int) -> list[Row]:
    """One flow that lasts on each path, one after the other."""
    return [(i * apart_ps, src, dst, LASTS) for i, (src, dst) in enumerate(paths)]


TO_HOST_0 = [(host, 0) for host in range(1, 9)]
PAIRS = [(host, host + 4) for host in range(4)]
SECOND = 10**12
SAMPLES = range(1, 5)
# ps between the starts of lasting flows, for each sample.
APART_PS = (1_100_000_000, 1_300_000_000, 1_700_000_000, 2_300_000_000)


def lists() -> dict[str, Callable[[], list[Row]]]:
    """The lists by the names of their files, several samples of each kind."""
    made: dict[str, Callable[[], list[Row]]] = {}
    for i, apart_ps in zip(SAMPLES, APART_PS, strict=True):
        made[f"star-sizes-{i}.csv"] = partial(poisson, TO_HOST_0, 0.6e9, 2 * SECOND, i)
        made[f"dumbbell-sizes-{i}.csv"] = partial(poisson, PAIRS, 0.6e9, 2 * SECOND, 10 + i)
        made[f"dumbbell-lasting-{i}.csv"] = partial(lasting, PAIRS, apart_ps)
    return made


LISTS = lists()


def write(rows: list[Row], file: Path) -> None:
    """Writes a list."""
    lines = (",".join(map(str, row)) for row in rows)
    file.write_text("\n".join(["start_ps,src,dst,bytes", *lines]) + "\n")
