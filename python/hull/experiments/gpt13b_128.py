"""One step of a model of 13 billion parameters on 128 accelerators, per control and placement.

Tensor groups of 8 inside servers, 4 stages, 4 data-parallel copies, a batch of 1024 sequences.
Every packet is simulated. hull's own: published figures for such a step come from simulators that
skip phases which they take for steady.
"""

import tomllib
from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, about
from hull.experiments.common.decided import at_most, ordered
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.measured import Results, Summary
from hull.experiments.common.stated import Stated
from hull.report.schemes import BLUE, GREEN, ORANGE, PURPLE, VERMILION, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DCTCP, PHANTOM, DCQCN, HPCC, NSCC = SCHEMES = ("dctcp", "phantom", "dcqcn", "hpcc", "nscc")
LOOKS = (
    Scheme(DCTCP, "DCTCP", GREEN, (), "s"),
    Scheme(PHANTOM, "phantom queue 95%", VERMILION, (1, 0), "o"),
    Scheme(DCQCN, "DCQCN", PURPLE, (8, 2, 2, 2), "X"),
    Scheme(HPCC, "HPCC", BLUE, (5, 2), "^"),
    Scheme(NSCC, "NSCC", ORANGE, (6, 2, 1, 2), "v"),
)
LINEAR, RAILS, RANDOM = CONDITIONS = ("linear", "rails", "random")
"""Placements of the ranks."""
LAYERS, SEQUENCE, VOCABULARY = 40, 2048, 51_200
TENSOR, PIPELINE, DATA = 8, 4, 4


def step_ms(results: Results, scheme: str, at: str) -> float:
    """Time of the step, ms."""

    def read(part: Summary) -> float:
        return float(part["job"]["step_us"]) / 1e3

    return results.mean(at, scheme, read)


def closed_bytes(hidden: int, batch: int) -> int:
    """What all messages between servers carry.

    Activations of a micro-batch of one sequence, two bytes an element, forward and backward over
    three boundaries, and rings of four ranks that sum gradients of four bytes.
    """
    parameters = LAYERS * (12 * hidden**2 + 13 * hidden) + (VOCABULARY + SEQUENCE) * hidden
    boundaries = 2 * batch * (PIPELINE - 1)
    gradients = 4 * parameters // (TENSOR * PIPELINE)
    ranks = TENSOR * PIPELINE * DATA
    return boundaries * 2 * SEQUENCE * hidden + ranks * 2 * (DATA - 1) * gradients // DATA


def _closed(results: Results) -> int:
    text = (results.part_folder(LINEAR, DCTCP) / "scenario.toml").read_text(encoding="utf-8")
    training = tomllib.loads(text)["workload"]["job"]["training"]
    return closed_bytes(int(training["hidden"]), int(training["batch"]))


def _bytes(results: Results) -> Finding:
    found = {at: int(results.table("flows", at, DCTCP)["bytes"].sum()) for at in CONDITIONS}
    closed = _closed(results)
    words = ", ".join(f"{at} {one:,}" for at, one in found.items())
    holds = [about(one, closed, 1e-6) for one in found.values()]
    return Finding(f"{words} of {closed:,} bytes", all(holds))


def _rails(results: Results) -> Finding:
    found = {scheme: step_ms(results, scheme, RAILS) for scheme in SCHEMES}
    words = ", ".join(f"{scheme} {one:.1f}" for scheme, one in found.items())
    holds = [about(found[s], found[NSCC], 0.03) for s in (DCTCP, DCQCN, HPCC)]
    return Finding(f"{words} ms", all(holds))


def _random(results: Results) -> Finding:
    found = {at: step_ms(results, DCTCP, at) for at in (RAILS, RANDOM)}
    words = ", ".join(f"{at} {one:.1f}" for at, one in found.items())
    return Finding(f"{words} ms", ordered(found[RAILS], found[RANDOM]))


def _sprayed(results: Results) -> Finding:
    found = {at: step_ms(results, NSCC, at) for at in CONDITIONS}
    words = ", ".join(f"{at} {one:.1f}" for at, one in found.items())
    spread = 100 * (max(found.values()) / min(found.values()) - 1)
    return Finding(f"{words} ms", at_most(spread, 3))


_SOURCE = "hull's own"
CLAIMS = (
    Claim(
        "gpt13b-128-bytes",
        "Narayanan et al. (SC 2021), section 3",
        "messages carry what the formulas of pipeline and data parallelism say, to the rounding of "
        "a ring's parts",
        _bytes,
        kind="by construction",
        bound="document",
    ),
    Claim(
        "gpt13b-128-rails",
        _SOURCE,
        "on rails, where neighbours of rings and stages share a switch, DCTCP, DCQCN and HPCC have "
        "NSCC's step within 3%",
        _rails,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        "gpt13b-128-random",
        _SOURCE,
        "with DCTCP a random placement has a longer step than rails",
        _random,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        "gpt13b-128-sprayed",
        _SOURCE,
        "with NSCC the placements differ by at most 3%",
        _sprayed,
        kind="predicted",
        bound="hull",
    ),
)


def bus_gbps(results: Results, scheme: str, at: str) -> float:
    """Bus bandwidth of the rings that sum gradients, Gbit/s."""

    def read(part: Summary) -> float:
        rings = part["job"]["collectives"]["gradients_all_reduce"]
        return float(rings["bus_bandwidth_bps"]) / 1e9

    return results.mean(at, scheme, read)


def draw(results: Results) -> "Figure":
    """Bus bandwidth of the gradients' rings and time of the step, by control and placement."""
    from hull.figures import Line, Panel, plot_sweep

    places = list(range(1, len(CONDITIONS) + 1))
    panels = [
        Panel(
            title,
            "Placement: 1 linear, 2 rails, 3 random",
            y_label,
            [Line(s, places, [value(results, s, at) for at in CONDITIONS]) for s in SCHEMES],
            joined=False,
        )
        for title, y_label, value in (
            ("Rings of gradients", "Bus bandwidth (Gbps)", bus_gbps),
            ("The step", "Time (ms)", step_ms),
        )
    ]
    return plot_sweep(panels, looks=LOOKS)


EXPERIMENT = Experiment(
    id="gpt13b-128",
    title="A training step of 128 ranks, packet by packet",
    source=_SOURCE,
    scenario="gpt13b-128",
    completion="delivered",
    variants=tuple(
        Variant({"": at}, overrides=(f'workload.job.placement="{at}"',)) for at in CONDITIONS
    ),
    stated=(
        Stated(_SOURCE, "ranks of a tensor group", "workload.job.training.tensor", "8"),
        Stated(_SOURCE, "stages", "workload.job.training.pipeline", "4"),
    ),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(
        overrides=("workload.job.training.hidden=640", "workload.job.training.batch=32"), seeds=1
    ),
    full=Size(seeds=1),
)
