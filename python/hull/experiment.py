"""An experiment: a shipped scenario, how it is run, and which published numbers it is held to.

Each module in hull/experiments defines one, as EXPERIMENT.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from pkgutil import iter_modules
from typing import Any, Literal

from hull import experiments, scenarios
from hull.errors import RunError
from hull.plan import Cell, Plan, make_plan
from hull.statistics import mean_ci95

Statistics = dict[str, float | None]
"""mean_us, p50_us, p90_us, ... of one run."""


@dataclass(frozen=True)
class Size:
    """How long an experiment is run: overrides of the scenario, and seeds."""

    overrides: tuple[str, ...]
    seeds: int


@dataclass(frozen=True)
class Variant:
    """The scenario with some keys changed, for some of its cells."""

    conditions: Mapping[str, str]
    """Condition of the scenario -> published condition; others are left out."""
    overrides: tuple[str, ...] = ()
    schemes: tuple[str, ...] | None = None
    """Schemes to keep; None keeps all."""


@dataclass(frozen=True)
class Measure:
    """A published metric and where it is in the summary of a run."""

    metric: str
    unit: str
    read: Callable[[dict[str, Any]], Statistics | None]
    units_per_us: float = 1.0


@dataclass(frozen=True)
class Experiment:
    """One `hull reproduce ID`."""

    id: str
    title: str
    scenario: str
    """Name of the shipped scenario."""
    published: tuple[str, str]
    """File in hull/published and table in it: condition -> scheme -> metric -> values."""
    statistics: tuple[str, ...]
    """What the published values are, in their order: mean, p90, p99."""
    variants: tuple[Variant, ...]
    measures: tuple[Measure, ...]
    quick: Size
    full: Size

    def plan(self, size: Literal["quick", "full"], seeds: int | None) -> Plan:
        """The cells of all variants under their published conditions."""
        text = scenarios.text(self.scenario)
        chosen = self.full if size == "full" else self.quick
        seeds = chosen.seeds if seeds is None else seeds
        file = f"{self.scenario}.toml"
        plans = [
            make_plan(text, file, [*chosen.overrides, *variant.overrides], seeds)
            for variant in self.variants
        ]
        cells = [
            cell
            for plan, variant in zip(plans, self.variants, strict=True)
            for cell in _published_cells(plan, variant)
        ]
        changes = [
            f"# {', '.join(v.conditions.values())}: --set {override}\n"
            for v in self.variants
            for override in v.overrides
        ]
        return Plan(
            name=f"{self.id}-{size}",
            title=self.title,
            text="".join(changes) + plans[0].text,
            cells=tuple(cells),
            seeds=plans[0].seeds,
        )

    def rows(self, summary: dict[str, Any]) -> list[dict[str, Any]]:
        """Measured beside published: one row per cell, metric and statistic."""
        return list(self._rows(summary))

    def _rows(self, summary: dict[str, Any]) -> Iterator[dict[str, Any]]:
        published = _published(*self.published)
        runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for part in summary["parts"]:
            runs.setdefault((part["condition"], part["scheme"]), []).append(part)
        for (condition, scheme), parts in runs.items():
            for measure in self.measures:
                values = published.get(condition, {}).get(scheme, {}).get(measure.metric)
                if values is None:
                    continue
                for statistic, value in zip(self.statistics, values, strict=True):
                    measured, ci95 = _measure(measure, statistic, parts)
                    yield {
                        "experiment": self.id,
                        "condition": condition,
                        "scheme": scheme,
                        "metric": measure.metric,
                        "statistic": statistic,
                        "unit": measure.unit,
                        "measured": measured,
                        "ci95": ci95,
                        "published": value,
                        "ratio": None if measured is None else measured / value,
                        "seeds": len(parts),
                    }


def occupancy(part: dict[str, Any]) -> Statistics:
    """Switch latency as the time-weighted queue of the measured port."""
    latency: Statistics = part["switch_latency"]["occupancy"]
    return latency


def probe(part: dict[str, Any]) -> Statistics | None:
    """Switch latency as probe packets see it."""
    latency: Statistics | None = part["switch_latency"]["probe"]
    return latency


def fct(size_class: str) -> Callable[[dict[str, Any]], Statistics | None]:
    """Flow completion time of the class of that name."""

    def read(part: dict[str, Any]) -> Statistics | None:
        return next((entry for entry in part["fct"] if entry["class"] == size_class), None)

    return read


@cache
def all_experiments() -> dict[str, Experiment]:
    """Every experiment by its ID."""
    modules = sorted(module.name for module in iter_modules(experiments.__path__))
    found = [import_module(f"hull.experiments.{name}").EXPERIMENT for name in modules]
    return {experiment.id: experiment for experiment in found}


def _published_cells(plan: Plan, variant: Variant) -> Iterator[Cell]:
    missing = set(variant.conditions) - {cell.condition for cell in plan.cells}
    if missing:
        raise RunError(f"scenario {plan.name!r} has no condition {', '.join(sorted(missing))}")
    for cell in plan.cells:
        if cell.condition not in variant.conditions:
            continue
        if variant.schemes is None or cell.scheme in variant.schemes:
            yield Cell(variant.conditions[cell.condition], cell.scheme, cell.scenario, cell.toml)


def _measure(
    measure: Measure, statistic: str, parts: list[dict[str, Any]]
) -> tuple[float | None, float | None]:
    """Mean over seeds and its interval; None where no run has the value."""
    found = [measure.read(part) for part in parts]
    values = [f.get(f"{statistic}_us") for f in found if f is not None]
    scaled = [value * measure.units_per_us for value in values if value is not None]
    return mean_ci95(scaled) if scaled else (None, None)


@cache
def _published(file: str, table: str) -> dict[str, Any]:
    text = (files("hull") / "published" / f"{file}.toml").read_text(encoding="utf-8")
    content: dict[str, Any] = tomllib.loads(text)[table]
    return content
