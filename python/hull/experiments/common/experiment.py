"""An experiment: shipped scenarios and their runs, the published numbers and statements that the
results are compared with, and the figure.

Each module in hull/experiments defines one, as EXPERIMENT (docs/experiments/adding.md).
"""

import hashlib
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from hull import scenarios
from hull.errors import RunError, UsageError
from hull.experiments.common.claims import Claim
from hull.experiments.common.deviations import Deviation
from hull.experiments.common.measured import Completion, Estimate, Reader, Results
from hull.experiments.common.stated import Stated
from hull.report.schemes import Looks
from hull.runs.plan import Cell, Plan, code_hash, make_plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SizeName = Literal["quick", "full"]


@dataclass(frozen=True)
class Size:
    """How long an experiment is run: overrides of the scenario, and seeds."""

    overrides: tuple[str, ...] = ()
    seeds: int = 0


@dataclass(frozen=True)
class Variant:
    """A scenario with some keys changed, for some of its cells."""

    conditions: Mapping[str, str] | None = None
    """Condition of the scenario -> name in the results; others are left out. None keeps all,
    under their own names."""
    overrides: tuple[str, ...] = ()
    schemes: tuple[str, ...] | None = None
    """Schemes to keep; None keeps all."""
    scenario: str | None = None
    """Name of the shipped scenario, where it is not the experiment's."""
    sizes: tuple[SizeName, ...] = ("quick", "full")
    """Sizes in which the variant is run."""


@dataclass(frozen=True)
class Point:
    """A published number and how it is measured."""

    condition: str
    scheme: str
    metric: str
    """Name with its unit at the end, as in the published data: "switch_latency_us"."""
    statistic: str
    """mean, p90, p99, ..."""
    published: float
    measure: Callable[[Results], Estimate | None]

    @property
    def unit(self) -> str:
        """The end of the metric's name."""
        return self.metric.rsplit("_", 1)[1]


@dataclass(frozen=True)
class Experiment:
    """One `hull reproduce ID`."""

    id: str
    title: str
    source: str
    """Document and section: "paper 3.1, table 1"."""
    scenario: str | None
    """Name of the shipped scenario; None where a model is computed and nothing simulated."""
    draw: Callable[[Results], "Figure"]
    """The figure, drawn as in the source, with the published points beside."""
    quick: Size = Size()
    full: Size = Size()
    """Nothing where nothing is simulated."""
    variants: tuple[Variant, ...] = (Variant(),)
    points: tuple[Point, ...] = ()
    stated: tuple[Stated, ...] = ()
    """Settings that the documents give; the tests compare them with the plans (common/stated)."""
    claims: tuple[Claim, ...] = field(default=())
    deviations: tuple[Deviation, ...] = ()
    """Numbers that differ by more than a factor of two from the published ones, with the cause."""
    completion: Completion | None = None
    """The end of a flow in the source's completion times; None where it has none. A test asks for
    it where flows end."""
    deterministic: bool = False
    """Whether nothing in its runs is random, so that one seed decides its claims."""
    looks: Looks = ()
    """Of the schemes that are not named and drawn the same everywhere (hull.report.schemes)."""

    def plan(self, size: SizeName, seeds: int | None, overrides: Sequence[str] = ()) -> Plan:
        """The cells of all variants under their names in the results.

        `overrides` ("key=value") come after the overrides of the size and of each variant; results
        with them are another run, under a name of their own. One that names a scheme changes the
        scenarios that have it.
        """
        label = f"-set-{_digest(overrides)}-{size}" if overrides else f"-{size}"
        if self.scenario is None:
            if overrides:
                raise UsageError(f"--set: {self.id} is computed; it has no scenario to change")
            return self._plan(label, "# Computed: nothing is simulated.\n", (), ())
        chosen = self.full if size == "full" else self.quick
        seeds = chosen.seeds if seeds is None else seeds
        variants = [variant for variant in self.variants if size in variant.sizes]
        known = {s for v in variants for s in _schemes(v, self.scenario)}
        for override in overrides:
            if (scheme := _scheme_of(override)) and scheme not in known:
                expected = ", ".join(sorted(known)) or "none: the scenario has no schemes"
                raise UsageError(f"--set: schemes.{scheme} is unknown; expected {expected}")
        plans = [
            self._variant_plan(
                variant,
                (
                    *(*chosen.overrides, *variant.overrides),
                    *(o for o in overrides if _scheme_of(o) in (None, *its)),
                ),
                seeds,
            )
            for variant, its in ((v, _schemes(v, self.scenario)) for v in variants)
        ]
        cells = [
            cell
            for plan, variant in zip(plans, variants, strict=True)
            for cell in _kept_cells(plan, variant)
        ]
        texts = dict.fromkeys(plan.text for plan in plans)
        return self._plan(label, "\n".join(texts), tuple(cells), plans[0].seeds)

    def rows(self, results: Results) -> list[dict[str, Any]]:
        """Measured beside published: one row per cell, metric and statistic."""
        found = []
        for point in self.points:
            estimate = point.measure(results)
            measured, ci95 = estimate or (None, None)
            found.append(
                {
                    "experiment": self.id,
                    "condition": point.condition,
                    "scheme": point.scheme,
                    "metric": point.metric,
                    "statistic": point.statistic,
                    "unit": point.unit,
                    "measured": measured,
                    "ci95": ci95,
                    "published": point.published,
                    "ratio": None if measured is None else measured / point.published,
                    "seeds": len(results.summary["seeds"]),
                }
            )
        return found

    def _plan(self, label: str, text: str, cells: tuple[Cell, ...], seeds: tuple[int, ...]) -> Plan:
        return Plan(f"{self.id}{label}", self.title, text, cells, seeds, code_hash())

    def _variant_plan(self, variant: Variant, overrides: Sequence[str], seeds: int) -> Plan:
        name = variant.scenario or self.scenario or ""
        return make_plan(scenarios.text(name), f"{name}.toml", list(overrides), seeds)


def table_points(
    file: str,
    table: str,
    statistics: tuple[str, ...],
    measures: Mapping[str, Callable[[str], Reader]],
    published_conditions: tuple[str, ...] | None = None,
) -> tuple[Point, ...]:
    """Points of a published table: condition -> scheme -> metric -> one value per statistic.

    `measures` gives for each metric a reader of a statistic.
    """
    found = []
    for condition, of_schemes in published(file, table).items():
        if published_conditions is not None and condition not in published_conditions:
            continue
        for scheme, metrics in of_schemes.items():
            for metric, values in metrics.items() if isinstance(metrics, dict) else ():
                if metric not in measures:
                    continue
                found += [
                    Point(
                        condition,
                        scheme,
                        metric,
                        statistic,
                        value,
                        cell(condition, scheme, measures[metric](statistic)),
                    )
                    for statistic, value in zip(statistics, values, strict=True)
                ]
    return tuple(found)


def cell(condition: str, scheme: str, read: Reader) -> Callable[[Results], Estimate | None]:
    """The measure of a number that is in one cell's summaries."""
    return lambda results: results.estimate(condition, scheme, read)


@cache
def published(file: str, table: str) -> dict[str, Any]:
    """A table of the published numbers (common/published)."""
    text = (files(__package__) / "published" / f"{file}.toml").read_text(encoding="utf-8")
    content: dict[str, Any] = tomllib.loads(text)
    for name in table.split("."):
        content = content[name]
    return content


def _schemes(variant: Variant, scenario: str) -> set[str]:
    """Names of the schemes of a variant: its scenario's, and the ones that it adds."""
    own = _own_schemes(variant.scenario or scenario)
    return {*own, *(s for s in map(_scheme_of, variant.overrides) if s)}


@cache
def _own_schemes(scenario: str) -> frozenset[str]:
    """Names of the schemes in a scenario's file."""
    return frozenset(tomllib.loads(scenarios.text(scenario)).get("schemes", {}))


def _scheme_of(override: str) -> str | None:
    """The scheme that an override names: "schemes.NAME...=value"."""
    first, _, rest = override.partition("=")[0].strip().partition(".")
    return rest.split(".")[0] if first == "schemes" else None


def _digest(overrides: Sequence[str]) -> str:
    """A short name of what was changed."""
    return hashlib.sha256("\n".join(overrides).encode()).hexdigest()[:8]


def _kept_cells(plan: Plan, variant: Variant) -> Iterator[Cell]:
    names = variant.conditions
    missing = set(names or ()) - {cell.condition for cell in plan.cells}
    if missing:
        raise RunError(f"scenario {plan.name!r} has no condition {', '.join(sorted(missing))}")
    for found in plan.cells:
        if names is not None and found.condition not in names:
            continue
        if variant.schemes is None or found.scheme in variant.schemes:
            condition = found.condition if names is None else names[found.condition]
            yield Cell(condition, found.scheme, found.scenario, found.toml, read=found.read)
