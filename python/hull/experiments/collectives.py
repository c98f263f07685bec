"""Bus bandwidth of collectives against their size, beside the alpha-beta model.

All-reduces on a ring and on two trees, and an all-to-all, of 128 hosts at 100 and 400 Gbps, on one
plane and on eight, under TCP, DCTCP with and without a phantom queue, DCQCN with pauses, HPCC and
NSCC with a path per packet. hull's own.
"""

from math import log2
from typing import TYPE_CHECKING, NamedTuple

from hull.experiments.common.claims import Claim, Finding, commands
from hull.experiments.common.decided import at_least, at_most, more_than, ordered
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.measured import Results, Summary
from hull.experiments.common.stated import Stated
from hull.report.schemes import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TCP, DCTCP, PHANTOM, DCQCN, HPCC, NSCC = SCHEMES = (
    *("tcp", "dctcp", "phantom"),
    *("dcqcn", "hpcc", "nscc"),
)
LOOKS = (
    Scheme(TCP, "TCP", SKY, (3, 2), "D"),
    Scheme(DCTCP, "DCTCP", GREEN, (), "s"),
    Scheme(PHANTOM, "DCTCP, phantom queue", VERMILION, (1, 0), "o"),
    Scheme(DCQCN, "DCQCN, pauses", PURPLE, (8, 2, 2, 2), "X"),
    Scheme(HPCC, "HPCC", BLUE, (5, 2), "^"),
    Scheme(NSCC, "NSCC, path per packet", ORANGE, (6, 2, 1, 2), "v"),
)
MODEL = Scheme("model", "alpha-beta model", GREY, (2, 1), "*")


class Shape(NamedTuple):
    """A collective, its algorithm and what a message of it is."""

    title: str
    operation: str
    algorithm: str
    chunks: int


RING = Shape("ring all-reduce", "all_reduce", "ring", 1)
TREE = Shape("tree all-reduce", "all_reduce", "double_tree", 8)
EXCHANGE = Shape("all-to-all", "all_to_all", "pairwise", 1)
SHAPES = (RING, TREE, EXCHANGE)
SMALL, MIDDLE, LARGE = SIZES_MB = (1, 16, 128)
LINK_NS = 500


class At(NamedTuple):
    """A condition."""

    shape: Shape
    size_mb: int = MIDDLE
    gbps: int = 400
    planes: int = 1

    def __str__(self) -> str:
        planes = "one plane" if self.planes == 1 else f"{self.planes} planes"
        return f"{self.shape.title}, {self.size_mb} MB, {self.gbps} Gbps, {planes}"


CONDITIONS = (
    *(At(shape, size) for shape in SHAPES for size in SIZES_MB),
    *(At(shape, gbps=100) for shape in SHAPES),
    *(At(shape, planes=8) for shape in SHAPES),
)


def bus_gbps(results: Results, at: At, scheme: str) -> float:
    """Bus bandwidth of the collective, mean over its repetitions, Gbit/s."""

    def read(part: Summary) -> float:
        return float(part["job"]["collectives"][at.shape.operation]["bus_bandwidth_bps"]) / 1e9

    return results.mean(str(at), scheme, read)


def _ranks(part: Summary) -> float:
    return float(part["job"]["ranks"])


def model_gbps(results: Results, at: At) -> float:
    """The alpha-beta model's bus bandwidth, Gbit/s, on an idle network without collisions.

    alpha is the longest path: four links' delays and the store and forward of a packet in three
    switches; beta the time of a byte with its part of a header.
    """
    n, size = results.mean(str(at), DCTCP, _ranks), at.size_mb * 1e6
    beta = 8 / at.gbps * 4136 / 4096
    alpha = 4 * LINK_NS + 3 * 4136 * 8 / (at.gbps / at.planes)
    if at.shape is RING:
        time = 2 * (n - 1) * (alpha + size / n * beta)
    elif at.shape is TREE:
        # Two trees share the links; a chunk goes up and down all levels, then all others follow.
        chunk = size / 2 / at.shape.chunks
        time = 2 * log2(n) * (alpha + 2 * chunk * beta) + (at.shape.chunks - 1) * 4 * chunk * beta
    else:
        time = (n - 1) * (alpha + size / n * beta)
    factor = (2 if at.shape is not EXCHANGE else 1) * (n - 1) / n
    return size * 8 * factor / time


def _all(results: Results, at: At, schemes: tuple[str, ...]) -> dict[str, float]:
    return {scheme: bus_gbps(results, at, scheme) for scheme in schemes}


def _words(found: dict[str, float]) -> str:
    return ", ".join(f"{name} {one:.1f}" for name, one in found.items())


def _ring(results: Results) -> Finding:
    at = At(RING, LARGE)
    found = _all(results, at, (DCTCP, DCQCN, HPCC, NSCC))
    model = model_gbps(results, at)
    holds = [at_least(100 * one / model, 90) for one in found.values()]
    return Finding(f"{_words(found)} of {model:.1f} Gbps", all(holds))


def _crossing(results: Results) -> Finding:
    pairs = {
        f"{size} MB": (
            bus_gbps(results, At(TREE, size), DCTCP),
            bus_gbps(results, At(RING, size), DCTCP),
        )
        for size in (SMALL, LARGE)
    }
    words = "; ".join(f"{size}: tree {t:.1f}, ring {r:.1f}" for size, (t, r) in pairs.items())
    (small_tree, small_ring), (large_tree, large_ring) = pairs.values()
    holds = ordered(small_ring, small_tree) and ordered(large_tree, large_ring)
    return Finding(f"{words} Gbps", holds)


def _spray(results: Results) -> Finding:
    found = _all(results, At(EXCHANGE, LARGE), SCHEMES)
    best = max(one for scheme, one in found.items() if scheme != NSCC)
    return Finding(f"{_words(found)} Gbps", more_than(found[NSCC] / best, 1.3))


def _price(results: Results) -> Finding:
    at = At(RING, LARGE)
    share = 100 * bus_gbps(results, at, PHANTOM) / bus_gbps(results, at, DCTCP)
    holds = [at_least(share, 90), at_most(share, 97)]
    return Finding(f"{share:.1f}% of DCTCP's", all(holds))


def _planes(results: Results) -> Finding:
    found = {
        scheme: bus_gbps(results, At(EXCHANGE, planes=8), scheme)
        / bus_gbps(results, At(EXCHANGE), scheme)
        for scheme in (DCTCP, NSCC)
    }
    words = ", ".join(f"{scheme} {ratio:.2f}" for scheme, ratio in found.items())
    holds = [at_most(found[DCTCP], 0.5), at_least(found[NSCC], 0.8)]
    return Finding(f"{words} of one plane's", all(holds))


def _tcp(results: Results) -> Finding:
    found = _all(results, At(EXCHANGE), SCHEMES)
    others = [one for scheme, one in found.items() if scheme not in (TCP, PHANTOM)]
    return Finding(f"{_words(found)} Gbps", all(ordered(found[TCP], one) for one in others))


_SOURCE = "hull's own"
CLAIMS = (
    Claim(
        "collectives-ring",
        _SOURCE,
        "a ring all-reduce of 128 MB at 400 Gbps has 90% or more of the model's bus bandwidth with "
        "DCTCP, DCQCN, HPCC and NSCC: at most one flow of each leaf leaves it",
        _ring,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        "collectives-crossing",
        _SOURCE,
        "with DCTCP the trees are faster than the ring at 1 MB and slower at 128 MB",
        _crossing,
        kind="predicted",
        bound="hull",
        cause="mechanism",
        tried="The short form alone misses it: 32 hosts have 62 steps on a ring instead of "
        "254, and the trees save less latency than their chunks cost. With 128 hosts the trees "
        "have 77.5 Gbps, the ring 46.7.",
        shown_by=commands("collectives", "", "--full"),
    ),
    Claim(
        "collectives-spray",
        _SOURCE,
        "in an all-to-all of 128 MB NSCC, with a path per packet, has more than 1.3 times the bus "
        "bandwidth of each control with a path per connection: their paths collide",
        _spray,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        "collectives-price",
        _SOURCE,
        "a phantom queue at 95% costs DCTCP 3 to 10% of the ring's bus bandwidth at 128 MB",
        _price,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        "collectives-planes",
        _SOURCE,
        "on eight planes an all-to-all of 16 MB has at most half of one plane's bus bandwidth with "
        "DCTCP, whose connection uses one plane, and at least 80% with NSCC, which uses all",
        _planes,
        kind="predicted",
        bound="hull",
        cause="mechanism",
        tried="NSCC has 0.62. A packet takes eight times as long in each of three switches, "
        "and a message has 31 packets: the model itself has 0.73. With packets of 1064 bytes "
        "the eight planes have 147.6 Gbps, 0.80 of one plane's with packets of 4136.",
        shown_by=commands("collectives", "", "--set transport.mtu=1064"),
    ),
    Claim(
        "collectives-tcp",
        _SOURCE,
        "in an all-to-all of 16 MB TCP has a lower bus bandwidth than DCTCP, DCQCN, HPCC and NSCC",
        _tcp,
        kind="predicted",
        bound="hull",
        cause="mechanism",
        tried="Each pair sends one message of 125 KB on a new connection, so TCP and DCTCP "
        "are in slow start from a window of 3 packets; nothing is marked. From 100 packets both "
        "have 124.7 Gbps, as DCQCN and HPCC, which begin at the rate of the link.",
        shown_by=commands("collectives", "", "--set transport.initial_window=100"),
    ),
)


def _variant(at: At) -> Variant:
    rate = f'"{at.gbps // at.planes}Gbps"' if at.gbps % at.planes == 0 else '"12.5Gbps"'
    shape = at.shape
    times = at.gbps / 400 / at.planes
    overrides = [
        f'workload.job.collective.operation="{shape.operation}"',
        f'workload.job.collective.algorithm="{shape.algorithm}"',
        f"workload.job.collective.chunks={shape.chunks}",
        f'workload.job.collective.size="{at.size_mb}MB"',
        f"host.rate={rate}",
        f"switch.rate={rate}",
        f"topology.leaf_spine.uplink_rate={rate}",
        f"topology.leaf_spine.planes={at.planes}",
        *(
            f'schemes.{scheme}.switch.memory.size="{round(64e6 * times)}B"'
            for scheme in SCHEMES
            if scheme != NSCC
        ),
        f'schemes.nscc.switch.buffer="{round(500e3 * times)}B"',
    ]
    if at.planes > 1:
        overrides.append('schemes.nscc.host.nic_choice="per_packet"')
    return Variant({"": str(at)}, overrides=tuple(overrides))


def draw(results: Results) -> "Figure":
    """Bus bandwidth against size at 400 Gbps, and the model."""
    from hull.figures import Line, Panel, plot_sweep

    panels = [
        Panel(
            f"{shape.title}, 400 Gbps, one plane",
            "Size (MB)",
            "Bus bandwidth (Gbps)",
            [
                Line(
                    scheme,
                    list(SIZES_MB),
                    [bus_gbps(results, At(shape, size), scheme) for size in SIZES_MB],
                )
                for scheme in SCHEMES
            ]
            + [
                Line(
                    MODEL.name,
                    list(SIZES_MB),
                    [model_gbps(results, At(shape, size)) for size in SIZES_MB],
                )
            ],
            log_x=True,
        )
        for shape in SHAPES
    ]
    return plot_sweep(panels, looks=(*LOOKS, MODEL), columns=3)


EXPERIMENT = Experiment(
    id="collectives",
    title="Bus bandwidth of collectives against their size",
    source=_SOURCE,
    scenario="collectives",
    completion="delivered",
    variants=tuple(_variant(at) for at in CONDITIONS),
    stated=(
        Stated(
            _SOURCE,
            "size of a collective",
            "workload.job.collective.size",
            "16MB",
            conditions=str(At(RING)),
        ),
    ),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(
        overrides=(
            *("topology.leaf_spine.leaves=4", "topology.leaf_spine.hosts_per_leaf=8"),
            "topology.leaf_spine.spines=8",
        ),
        seeds=1,
    ),
    full=Size(seeds=3),
)
