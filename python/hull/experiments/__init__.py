"""Experiments: one module each, which defines EXPERIMENT; shared code is in `common`."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hull.experiments.common.experiment import Experiment


@cache
def all_experiments() -> dict[str, "Experiment"]:
    """Every experiment by its ID."""
    modules = sorted(found.name for found in iter_modules(__path__) if not found.ispkg)
    found = [import_module(f"{__name__}.{name}").EXPERIMENT for name in modules]
    return {experiment.id: experiment for experiment in found}
