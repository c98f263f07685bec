"""A run of a sweep: one scheme of one condition, with one seed."""

from dataclasses import dataclass

from hull.inputs.congestion import CongestionControl


@dataclass(frozen=True)
class Run:
    """A scenario with a seed."""

    key: str
    case: int
    """Index in the grid of the sweep."""
    seed: int
    name: str
    condition: str
    scheme: str
    scenario: str
    """JSON of the resolved scenario; `seed` replaces its seed."""
    own: type[CongestionControl] | None = None
    """The class of its congestion control, where that is not hull's."""

    def __str__(self) -> str:
        names = (self.condition, self.scheme, f"seed {self.seed}")
        return ", ".join(name for name in names if name)
