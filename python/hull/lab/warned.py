"""Warnings for the page: the ones that `hull check` has for the scenarios of the controls, and of
drops without marks in a live run.
"""

from collections.abc import Iterable, Mapping

from hull.lab import own_cells
from hull.lab.model import Scheme
from hull.lab.scenario import Cell
from hull.results.warnings import marks_before_drops
from hull.runs.plan import Cell as Planned
from hull.warnings.scenario import Networks, warnings_of_cells


class Warned:
    """The warnings of one page; it keeps the networks that it has read."""

    def __init__(self, schemes: Mapping[str, Scheme]) -> None:
        self._schemes = schemes
        self._networks: Networks = {}

    def before(self, cells: Iterable[Cell]) -> list[str]:
        """The sentences that `hull check` says of these schemes, which it names by their titles."""
        return warnings_of_cells(
            [
                Planned("", self._schemes[cell.scheme].title, cell.scenario, "", read=cell.resolved)
                for cell in cells
            ],
            self._networks,
        )

    def without_marks(self, cells: Iterable[Cell]) -> dict[str, str]:
        """What a run says that drops packets and marks none, by scheme. Left out are a file's own
        networks, as the page counts the marks of one port, and hosts whose CoDel drops.
        """
        found = {}
        for cell in cells:
            scenario = cell.scenario
            of_one_port = not own_cells.is_own(cell.scheme)
            if of_one_port and marks_before_drops(scenario) and not _host_drops(scenario):
                found[cell.scheme] = (
                    "transport.ecn: packets were dropped and none was marked so far; buffers fill "
                    f"before the switch marks ({self._schemes[cell.scheme].title})"
                )
        return found


def _host_drops(scenario: Mapping[str, Mapping[str, object]]) -> bool:
    return scenario["host"]["queue"] == "fq_codel"
