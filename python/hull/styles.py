"""Looks of a run's schemes, where experiments declare them.

Results of an experiment have its own looks; a run of a shipped scenario has the looks of the
experiments on it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hull.report.schemes import Looks


def declared(summary: Mapping[str, Any]) -> "Looks":
    """What is declared for the run of a summary; empty for a scenario that no experiment is on."""
    from hull.experiments import all_experiments
    from hull.scenarios import names

    id_ = summary.get("experiment", {}).get("id")
    if id_ is None and summary["name"] not in names():
        return ()
    if id_ is not None:
        found = all_experiments().get(id_)
        return () if found is None else found.looks
    on_it = (e for e in all_experiments().values() if e.scenario == summary["name"])
    return tuple(dict.fromkeys(scheme for experiment in on_it for scheme in experiment.looks))
