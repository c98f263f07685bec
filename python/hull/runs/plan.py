"""What a run is going to do: the cells of a scenario (condition x scheme) times its seeds.

A part is one cell with one seed; its result is a pure function of the two and of the build of
hull that runs it. The fingerprint names all three, so that results of another scenario, other
seeds or another build are never mixed.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from hull import _core
from hull.errors import UsageError, check_count, check_text, shown
from hull.files.input_file import read_text
from hull.files.named_files import check_named_files, digest_of_files
from hull.files.names import check_name
from hull.inputs.congestion import CongestionControl, Own, check_own
from hull.inputs.graphs import with_graphs
from hull.process.shared_library import build_of
from hull.runs.scheme_choice import chosen
from hull.terminal.messages import escaped, say
from hull.terminal.options import option

if TYPE_CHECKING:
    from hull.inputs.scenario_types import Scenario

LAST_SEED = 2**31 - 1
"""Tables of results have seeds of 32 bits."""
_MOST_BYTES = 20_000_000
"""Of a scenario file."""
STDIN = "<stdin>"
"""Standard input in messages."""


class Need(TypedDict):
    """A part of a run that takes memory, and the key that sizes it."""

    key: str
    what: str
    bytes: int


class Memory(TypedDict):
    """Memory that a run is estimated to need, and its parts, the largest first."""

    bytes: int
    needs: list[Need]


@dataclass(frozen=True)
class Cell:
    """One scheme under one condition of a scenario's sweep ("" where nothing is swept)."""

    condition: str
    scheme: str
    """Empty where the scenario compares none."""
    scenario: dict[str, Any]
    """The scenario with every default filled in."""
    toml: str
    """The same as text."""
    own: type[CongestionControl] | None = None
    """The class of its congestion control, if that is the user's own."""
    derived: Sequence[str] = ()
    """Keys that were not set, whose values depend on the network or on other keys."""
    memory: Memory | None = None
    """Estimated peak of a process with one run; None for cells that no scenario file has."""
    read: _core.Resolved | None = field(default=None, compare=False, repr=False)
    """The scenario as the simulator has it, if it comes from a file."""

    @cached_property
    def resolved(self) -> _core.Resolved:
        """The scenario as the simulator has it, with its network."""
        return self.read or _core.Resolved(json.dumps(self.scenario))


@dataclass(frozen=True)
class Part:
    """One cell with one seed."""

    cell: Cell
    seed: int

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hexadecimal) of all that its results depend on: its cell with the files that it
        names, the seed and the build of hull.
        """
        cell = self.cell
        files = digest_of_files(cell.scenario)
        content = [build_hash(), cell.condition, cell.scheme, cell.scenario, files, self.seed]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @property
    def path(self) -> Path:
        """Where its results are inside an output folder."""
        return part_folder(self.cell.condition, self.cell.scheme, self.seed)

    def __str__(self) -> str:
        names = (self.cell.condition, self.cell.scheme, f"seed {self.seed}")
        return ", ".join(name for name in names if name)


def part_folder(condition: str, scheme: str, seed: int) -> Path:
    """Where the results of a part are inside an output folder."""
    return Path("parts", _folder_name(condition), _folder_name(scheme), f"seed-{seed}")


def _folder_name(name: str) -> str:
    if name in (".", ".."):
        return name.replace(".", "%2E")
    return name.replace("/", "%2F") or "base"


@dataclass(frozen=True)
class Plan:
    """All parts of a run, in the order in which results list them."""

    name: str
    title: str
    text: str
    """The scenario file as given, below a comment that lists the overrides."""
    cells: tuple[Cell, ...]
    seeds: tuple[int, ...]
    code: str = ""
    """Of an experiment: the hash of what compares and draws its results."""
    overrides: tuple[str, ...] = ()
    """As "key=value"."""

    @property
    def parts(self) -> tuple[Part, ...]:
        """Cells in the scenario's order, and in each its seeds."""
        return tuple(Part(cell, seed) for cell in self.cells for seed in self.seeds)

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hexadecimal) of the resolved cells with the files that they name, the seeds, the
        build of hull and `code`.
        """
        cells = [
            (c.condition, c.scheme, c.scenario, digest_of_files(c.scenario)) for c in self.cells
        ]
        made_of = [_core.version(), build_hash(), cells, self.seeds, self.code]
        content = json.dumps(made_of, sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()


@cache
def build_hash() -> str:
    """SHA-256 (hexadecimal) of what tells the simulator that is in use from other builds of it."""
    return hashlib.sha256(build_of(Path(_core.__file__))).hexdigest()


@cache
def code_hash() -> str:
    """SHA-256 (hexadecimal) of hull's Python modules and the published numbers."""
    digest = hashlib.sha256()
    package = Path(__file__).parent
    for path in sorted([*package.rglob("*.py"), *package.rglob("*.toml"), *package.rglob("*.css")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class NoFile(str):
    """The name of a scenario that was not given as text: errors give no lines."""


def read_scenario(source: "str | Path | Scenario | dict[str, Any]") -> tuple[str, str]:
    """Text of a scenario and the name under which errors speak of it; `-` is standard input."""
    if isinstance(source, dict):
        import tomli_w

        from hull.inputs.toml_values import check_toml, plain

        scenario = plain(with_graphs({**source}))
        check_toml(scenario, "scenario")
        return tomli_w.dumps(scenario), NoFile("scenario")
    path = Path(source)
    if path == Path("-"):
        return _read_stdin(), STDIN
    try:
        return read_text(path, _MOST_BYTES), str(source)
    except UnicodeDecodeError as error:
        raise UsageError(f"{source}: not UTF-8 text (byte {error.start})") from None
    except ValueError as error:
        raise UsageError(
            f"{shown(source)} {error}; expected a scenario file, such as scenario.toml"
        ) from None
    except OSError as error:
        raise UsageError(f"{source}: {_reason(error)}{_shipped_hint(path)}") from None


def _read_stdin() -> str:
    if sys.stdin is None:
        raise UsageError(f"{STDIN}: closed; expected a scenario")
    if sys.stdin.isatty():
        say("reading the scenario from the terminal; Ctrl-D ends it")
    content = sys.stdin.buffer.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise UsageError(f"{STDIN}: has more than {_MOST_BYTES} bytes; expected a scenario")
    if not content.strip():
        raise UsageError(f"{STDIN}: empty; expected a scenario")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{STDIN}: not UTF-8 text (byte {error.start})") from None


def expand(
    text: str,
    file: str,
    overrides: list[str],
    own: list[tuple[str, str]],
    labels: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Each cell of a scenario's text, resolved: what a `Cell` has.

    `own` are names of the user's congestion controls, `labels` the options of overrides other than
    `--set`.
    """
    for given in (file, text, *overrides):
        check_text(file, given)
    check_named_files(file, text, overrides)
    lines = not isinstance(file, NoFile)
    found, resolved = _core.expand(text, file, overrides, own, lines, list(labels))
    return [{**cell, "read": read} for cell, read in zip(json.loads(found), resolved, strict=True)]


def checked_overrides(given: object) -> list[str]:
    """Overrides as a list; UsageError unless each is "key=value"."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise UsageError(
            f"{option('set')}: {shown(repr(given))} is invalid; expected a list, such as "
            "['run.seeds=3']"
        )
    overrides = list(given)
    for override in overrides:
        if not isinstance(override, str):
            raise UsageError(
                f"{option('set')}: {shown(repr(override))} is invalid; expected texts, such as "
                "'run.seeds=3'"
            )
        if not override.partition("=")[0].strip() or "=" not in override:
            raise UsageError(f"{option('set')}: {override!r}; the form is key=value")
    return overrides


def make_plan(
    text: str,
    file: str,
    overrides: Sequence[str],
    seeds: int | None = None,
    own: Own | None = None,
    schemes: Sequence[str] = (),
) -> Plan:
    """Resolve a scenario's text; `overrides` are "key=value", `seeds` overrides run.seeds, `own`
    are congestion controls by name, `schemes` the names of those that run, all by default.
    """
    own = own or {}
    overrides = checked_overrides(overrides)
    labels = [option("set")] * len(overrides)
    if seeds is not None:
        overrides = [*overrides, f"run.seeds={check_count(option('seeds'), seeds)}"]
        labels.append(option("seeds"))
    found = expand(text, file, overrides, check_own(own), labels)
    cells = tuple(
        Cell(**cell, own=own.get(cell["scenario"]["transport"]["congestion_control"]))
        for cell in chosen(schemes, found, itemgetter("scheme"))
    )
    for cell in cells:
        check_name(f"{file}: sweep", _folder_name(cell.condition), "load=60%")
        check_name(f"{file}: schemes", _folder_name(cell.scheme), "dctcp")
    scenario = cells[0].scenario
    run = scenario["run"]
    if run["seed"] + run["seeds"] - 1 > LAST_SEED:
        raise UsageError(
            f"{file}: run.seed, run.seeds: {run['seeds']} seeds from {run['seed']} on; the "
            f"largest seed that results can hold is {LAST_SEED}"
        )
    header = f"# hull {_core.version()}, {escaped(file)}\n"
    header += "".join(f"# --set {escaped(override)}\n" for override in overrides)
    header += "".join(f"# --scheme {escaped(name)}\n" for name in schemes)
    return Plan(
        name=scenario["name"],
        title=scenario.get("title") or scenario["name"],
        text=f"{header}\n{text}",
        cells=cells,
        seeds=tuple(range(run["seed"], run["seed"] + run["seeds"])),
        overrides=tuple(overrides),
    )


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _shipped_hint(path: Path) -> str:
    from hull.scenarios import names

    if path.stem in names():
        return f"; hull ships {path.stem!r}: hull scenarios copy {path.stem}"
    return ""
