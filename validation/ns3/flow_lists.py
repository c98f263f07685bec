"""The flow lists that both simulators read: CSV with the header `start_ps,src,dst,bytes`.

Times are picoseconds. The lists are made again by each run, from seeds written here.
"""

import math
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

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


class Pareto(NamedTuple):
    """Sizes with P(size > x) = (smallest / x)^shape, cut at `largest` bytes."""

    shape: float
    smallest: float
    largest: float

    def mean(self) -> float:
        """Bytes: the integral of P(size > x) from 0 to `largest`."""
        ratio = (self.largest / self.smallest) ** (1 - self.shape)
        return self.smallest * (1 + (ratio - 1) / (1 - self.shape))

    def draw(self, uniform: float) -> int:
        """The size that belongs to a uniform draw from [0, 1)."""
        size = self.smallest * (1 - uniform) ** (-1 / self.shape)
        return round(min(size, self.largest))


def between_all(hosts: int, sizes: Pareto, load_bps: float, count: int, seed: int) -> list[Row]:
    """Poisson arrivals of `count` transfers from random hosts to random others; `load_bps` is the
    load of all hosts together."""
    draws = random.Random(seed)
    mean_gap_ps = 8e12 * sizes.mean() / load_bps
    rows: list[Row] = []
    now_ps = 0.0
    for _ in range(count):
        now_ps += -math.log(1 - draws.random()) * mean_gap_ps
        src = int(draws.random() * hosts)
        dst = (src + 1 + int(draws.random() * (hosts - 1))) % hosts
        rows.append((round(now_ps), src, dst, sizes.draw(draws.random())))
    return rows


def lasting(paths: list[tuple[int, int]], apart_ps: int) -> list[Row]:
    """One flow that lasts on each path, one after the other."""
    return [(i * apart_ps, src, dst, LASTS) for i, (src, dst) in enumerate(paths)]


TO_HOST_0 = [(host, 0) for host in range(1, 9)]
PAIRS = [(host, host + 4) for host in range(4)]
SECOND = 10**12
SAMPLES = range(1, 5)
# ps between the starts of lasting flows, for each sample.
APART_PS = (1_100_000_000, 1_300_000_000, 1_700_000_000, 2_300_000_000)
# HULL paper 6.3: 100 KB on average before the cut.
PARETO = Pareto(1.05, 100_000 * 0.05 / 1.05, 30e6)
TREE_LOAD_BPS = 0.156 * 192 * 10e9
# ns-3 takes a minute for so many; with tree-long ten times as many.
TREE_FLOWS = 2_000


def lists() -> dict[str, Callable[[], list[Row]]]:
    """The lists by the names of their files, several samples of each kind."""
    made: dict[str, Callable[[], list[Row]]] = {}
    for i, apart_ps in zip(SAMPLES, APART_PS, strict=True):
        made[f"star-sizes-{i}.csv"] = partial(poisson, TO_HOST_0, 0.6e9, 2 * SECOND, i)
        made[f"dumbbell-sizes-{i}.csv"] = partial(poisson, PAIRS, 0.6e9, 2 * SECOND, 10 + i)
        made[f"dumbbell-lasting-{i}.csv"] = partial(lasting, PAIRS, apart_ps)
    for name, count, seed in (
        ("tree-pareto", TREE_FLOWS, 22),
        ("tree-long-1", 10 * TREE_FLOWS, 21),
        ("tree-long-2", 10 * TREE_FLOWS, 22),
    ):
        made[f"{name}.csv"] = partial(between_all, 192, PARETO, TREE_LOAD_BPS, count, seed)
    return made


LISTS = lists()


def write(rows: list[Row], file: Path) -> None:
    """Writes a list."""
    lines = (",".join(map(str, row)) for row in rows)
    file.write_text("\n".join(["start_ps,src,dst,bytes", *lines]) + "\n")
