"""Recorded runs of schedules: their table, and what hull needs of each.

A table has `[[run]]` with `tool`, `goal` (a schedule's name), `set` (of `[logp_sets]`) or `config`
(of `[htsim_config]`), and what was recorded, times in ns.
"""

import re
import sys
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "uec"))

from rows import read_toml, refuse

FOLDERS = (".", "goal-own", "goal")
"""Places of schedules in the folder of formats."""
WITHIN = {
    "message": 0.03,
    "ring": 0.03,
    "pipeline": 0.03,
    "incast": 0.2,
    "all-to-all": 0.2,
}
"""Largest wanted deviation of packet runs, by the kind of schedule. Other kinds have none."""
NAMED = {"H1", "H2", "H2g", "H3", "H5", "H5g", "H8g"}
"""Configurations whose messages, rings and pipelines have a wanted deviation."""
_KINDS = {"ring": "ring", "pipeline": "pipeline", "incast": "incast", "alltoall": "all-to-all"}
_STATEMENT = re.compile(r"^(?:\w+:\s*)?(send|recv)\s+\d+\s*b\s+(?:to|from)\s+(-?\d+)")
_FROM_ANY = re.compile(
    r"^(.*\brecv\s+\d+\s*b)\s+from (?:-1(?: tag -?\d+)?|\d+ tag -1)\b", re.MULTILINE
)
UNSENT = 2**31 - 2
"""A tag that no schedule here uses."""


@dataclass(frozen=True)
class Schedule:
    """A schedule's file, and what its text says."""

    path: Path
    sends: int
    ranks: frozenset[int]
    has_wildcards: bool
    is_text: bool

    @classmethod
    def read(cls, path: Path) -> "Schedule":
        """Counts the messages of a schedule in text; one in binary form has no counts."""
        sends, rank = 0, 0
        ranks: set[int] = set()
        content = path.read_bytes()
        is_text = b"\0" not in content
        text = content.decode("utf-8", errors="replace") if is_text else ""
        for line in text.splitlines():
            if line.startswith("rank "):
                rank = int(line.split()[1])
            elif found := _STATEMENT.match(line):
                sends += found[1] == "send"
                ranks |= {rank, int(found[2])}
        wildcards = _FROM_ANY.search(text) is not None
        return cls(path, sends, frozenset(ranks - {-1}), wildcards, is_text)

    @property
    def kind(self) -> str:
        """What its traffic is: by its name, or messages of two ranks."""
        name = self.path.stem.lower()
        for part, kind in _KINDS.items():
            if part in name.split("_")[0]:
                return kind
        return "message" if len(self.ranks) <= 2 else "other"

    def without_wildcards(self, path: Path) -> "Schedule":
        """A copy whose receives from any rank or with any tag fit no message."""
        text = self.path.read_text(encoding="utf-8")
        path.write_text(_FROM_ANY.sub(rf"\1 from 0 tag {UNSENT}", text), encoding="utf-8")
        return replace(self, path=path)


@dataclass
class Row:
    """A recorded run and what became of it: `status` is done, skipped or failed."""

    given: dict[str, Any]
    schedule: Schedule | None
    status: str = "done"
    reason: str = ""
    ended: bool = True
    end_ns: list[float] = field(default_factory=list)
    messages: dict[str, float] = field(default_factory=dict)
    counts: dict[str, float] = field(default_factory=dict)
    queue_ns: list[float] = field(default_factory=list)
    """Ends by the model of the program's queue (`event_order.py`), where hull's differ."""

    @property
    def name(self) -> str:
        """Schedule and parameters."""
        return f"{self.given['goal']}/{self.parameters}"

    @property
    def parameters(self) -> str:
        """Name of the set or configuration."""
        return str(self.given.get("set") or self.given.get("config"))

    @property
    def kind(self) -> str:
        """Kind of the schedule."""
        return self.schedule.kind if self.schedule else "other"

    @property
    def is_of_packets(self) -> bool:
        """Whether a simulator of packets recorded it."""
        return "config" in self.given

    @cached_property
    def stops(self) -> bool:
        """Whether the recorded run stopped before its end."""
        if self.schedule is None:
            return False
        sends = self.schedule.sends
        return self.takes_no_wildcards or bool(self.given.get("messages", sends) < sends)

    @cached_property
    def takes_no_wildcards(self) -> bool:
        """Whether receives from any rank take nothing, because the program does not know them."""
        knows = not self.is_of_packets and "ATLAHS" not in self.given["tool"]
        return self.schedule is not None and self.schedule.has_wildcards and not knows

    @property
    def within(self) -> float | None:
        """Largest wanted deviation of a packet run; None if none is wanted."""
        bound = WITHIN.get(self.kind)
        return bound if bound != 0.03 or self.parameters in NAMED else None

    def skip(self, reason: str) -> None:
        """Ends it without a result: an input is missing."""
        self.status, self.reason = "skipped", reason

    def fail(self, reason: str) -> None:
        """Ends it without a result: hull did not do what the recorded program did."""
        self.status, self.reason = "failed", reason


@dataclass(frozen=True)
class Table:
    """A table's rows and parameters."""

    rows: list[Row]
    sets: dict[str, dict[str, Any]]
    configurations: dict[str, dict[str, Any]]


def read(path: Path, formats: Path) -> Table:
    """The rows of a table; UsageError where it has another form."""
    table = read_toml(path)
    runs = table.get("run")
    if not isinstance(runs, list) or not runs:
        refuse(path, "run", runs, 'recorded runs, [[run]] with tool, goal, "set" or "config"')
    parameters = {}
    for key in ("logp_sets", "htsim_config"):
        parameters[key] = table.get(key, {})
        if not isinstance(parameters[key], dict):
            refuse(path, key, parameters[key], "a table")
    rows = [_row(path, at, run, parameters, formats) for at, run in enumerate(runs)]
    return Table(rows, parameters["logp_sets"], parameters["htsim_config"])


def _row(path: Path, at: int, run: Any, parameters: dict[str, Any], formats: Path) -> Row:
    for key, kind, expected in (
        ("tool", str, "a text"),
        ("goal", str, "a text"),
        ("max_ns", int | float, "a number, at least 0"),
    ):
        value = run.get(key) if isinstance(run, dict) else None
        bad = isinstance(value, bool) or not isinstance(value, kind)
        if bad or (not isinstance(value, str) and value < 0):
            refuse(path, f"run[{at}].{key}", value, expected)
    named = [key for key in ("set", "config") if key in run]
    if len(named) != 1:
        refuse(path, f"run[{at}]", named, "one of set and config")
    known = parameters["logp_sets" if named == ["set"] else "htsim_config"]
    if not isinstance(known.get(run[named[0]]), dict):
        refuse(path, f"run[{at}].{named[0]}", run[named[0]], f"one of {', '.join(known)}")
    for key in ("end_ns", "closed_ns"):
        values = run.get(key, 0)
        values = values if isinstance(values, list) else [values]
        if not all(isinstance(one, int | float) for one in values):
            refuse(path, f"run[{at}].{key}", run[key], "a number for each rank, or the largest")
    return Row(run, _find(formats, run["goal"]))


def _find(formats: Path, name: str) -> Schedule | None:
    for folder in FOLDERS:
        for ending in (".goal", ".bin"):
            path = formats / folder / f"{name}{ending}"
            if path.is_file():
                return Schedule.read(path)
    return None
