"""`hull sweep` and `hull.sweep`: from what the user gave to a frame and a table on the terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hull.errors import UsageError
from hull.inputs.congestion import Own
from hull.inputs.scenario_types import Scenario
from hull.runs.plan import read_scenario
from hull.sweeps.asked import expanded
from hull.sweeps.executors import open_engine
from hull.sweeps.frame import check_out, write_frame
from hull.sweeps.grid import make_grid
from hull.sweeps.seeds import MOST, read_until
from hull.sweeps.store import Store
from hull.sweeps.sweep import STORE, FailedRuns, Sweep
from hull.sweeps.values import shown as as_text
from hull.sweeps.values import split_over
from hull.terminal.messages import escaped, say

if TYPE_CHECKING:
    import polars as pl

_ROWS = 40
_COLUMNS = 3


@dataclass(frozen=True)
class Request:
    """What to sweep, and how."""

    scenario: str | Path | Scenario | dict[str, Any]
    over: Mapping[str, object]
    overrides: Sequence[str] = ()
    schemes: Sequence[str] = ()
    seeds: int | None = None
    until: Mapping[str, object] | None = None
    max_seeds: int | None = None
    executor: object = None
    jobs: int | None = None
    slurm: Mapping[str, str] | None = None
    store: str | Path = STORE
    tables: bool = False
    own: Own | None = None
    show: Sequence[str] = ()


def prepare(request: Request) -> Sweep:
    """Check and resolve the request without running anything.

    Raises UsageError or ScenarioError for invalid input."""
    for name, given in (("over", request.over), ("until", request.until or {})):
        if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
            raise UsageError(f"{name}: {given!r} is invalid; expected a dict whose keys are texts")
    text, file = read_scenario(request.scenario)
    grid = make_grid(
        text,
        file,
        request.over,
        request.overrides,
        request.seeds,
        request.own,
        request.schemes,
    )
    return Sweep(
        grid,
        Store(Path(request.store)),
        until=read_until(request.until or {}),
        max_seeds=request.max_seeds,
        tables=request.tables,
        show=request.show,
    )


def carry_out(request: Request, sweep: Sweep, *, lines: bool) -> "pl.DataFrame":
    """Open the executor, run the sweep, close the executor."""
    shared = Path(request.store).resolve() / "slurm"
    needs = (case.memory for case in sweep.grid.cases for _ in range(sweep.grid.seeds))
    engine = open_engine(request.executor, request.jobs, request.slurm or {}, shared, needs)
    try:
        return sweep.perform(engine, lines=lines)
    finally:
        engine.close()


def from_command_line(request: Request, out: Path | None) -> None:
    """The command: a file, and a short table on stdout."""
    if out is not None:
        check_out(out)
    sweep = prepare(request)
    out = out or check_out(Path("results", f"{sweep.grid.name}-sweep.parquet"))
    failed = None
    try:
        frame = carry_out(request, sweep, lines=True)
    except FailedRuns as error:
        failed, frame = error, error.frame
    write_frame(frame, out)
    page = _write_page(request, sweep, frame, out, failed)
    _print_table(sweep, frame, [*(request.until or {}), *request.show])
    say(_what_was_done(sweep))
    if sweep.counts.wide:
        say(
            f"after {request.max_seeds or MOST} seeds still wider than --until: "
            f"{'; '.join(sweep.counts.wide)}"
        )
    if sweep.counts.without:
        say(f"no run has the statistic of --until: {'; '.join(sweep.counts.without)}")
    if page is not None:
        print(page)
    print(out)
    if failed is not None:
        raise failed


def _write_page(
    request: Request, sweep: Sweep, frame: "pl.DataFrame", out: Path, failed: FailedRuns | None
) -> Path | None:
    """Write the page beside the table and return its path; None without a statistic to show."""
    if frame.is_empty():
        return None
    # Imported here: the charts take longer to load than a short sweep to run.
    from hull.styles import declared
    from hull.sweeps.page import Contents, frontier_axes, write_page

    names = frame["statistic"].unique(maintain_order=True).to_list()
    asked = expanded([*(request.until or {}), *request.show], names)
    tail = (frontier_axes(names) or ())[1:]
    return write_page(
        Contents(
            title=sweep.grid.title or sweep.grid.name,
            frame=frame,
            keys=tuple(axis.name for axis in sweep.grid.axes),
            show=tuple(dict.fromkeys([*asked, *tail, *_usual(names)])),
            looks=declared({"name": sweep.grid.name}),
            warnings=() if failed is None else (str(failed),),
        ),
        out,
    )


def pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    """KEY=VALUE options, each key once."""
    found: dict[str, str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not (equals and key.strip() and value.strip()):
            raise UsageError(f"{option}: {text!r}; the form is key=value")
        if key.strip() in found:
            raise UsageError(f"{option}: {key.strip()} is given twice; expected once")
        found[key.strip()] = value.strip()
    return found


def over_of(given: Sequence[str]) -> dict[str, str]:
    """The keys and values of `--over`."""
    found: dict[str, str] = {}
    for option in given:
        key, values = split_over(option)
        if key in found:
            raise UsageError(f"--over: {key} is given twice; expected once, with all values")
        found[key] = values
    return found


def _what_was_done(sweep: Sweep) -> str:
    counts = sweep.counts
    kept = f", {counts.taken} were in the store" if counts.taken else ""
    return (
        f"{counts.made} runs made{kept}; {counts.cpu_s:.1f} s of processor time in the runs, "
        f"{counts.wall_s:.1f} s on the clock"
    )


def _print_table(sweep: Sweep, frame: "pl.DataFrame", asked: Sequence[str]) -> None:
    """Means of a few statistics with their 95% intervals, a line for each point and scheme; below
    them, the change against the first scheme.
    """
    import polars as pl
    from rich.table import Table
    from rich.text import Text

    from hull.results.printed import told_below
    from hull.sweeps.comparison import changes_of
    from hull.terminal.tables import console, number

    names = frame["statistic"].unique(maintain_order=True).to_list()
    shown = expanded(asked, names) or _usual(names)
    keys = [*(axis.name for axis in sweep.grid.axes), "scheme"]
    means = (
        frame.filter(pl.col("statistic").is_in(shown))
        .group_by([*keys, "statistic"], maintain_order=True)
        .agg(pl.col("mean", "ci95", "n", "unit").first())
    )
    units = dict(means.select("statistic", "unit").unique().iter_rows())
    table = Table(box=None, pad_edge=False, header_style="bold")
    for key in keys:
        table.add_column(key, overflow="fold")
    for name in shown:
        unit = units.get(name, "1")
        title = name if unit == "1" else f"{name} [{unit}]"
        table.add_column(Text(title), justify="right", overflow="fold")
    table.add_column("n", justify="right")
    one = frame.filter(pl.col("statistic").is_in(names[:1]))  # which every run has
    seeds = one.group_by(keys, maintain_order=True).len()
    runs = {row[:-1]: row[-1] for row in seeds.iter_rows()}
    lines = {place: {"n": str(count)} for place, count in runs.items()}
    changes = {name: changes_of(frame, keys[:-1], name) for name in shown}
    for row in means.iter_rows(named=True):
        place = tuple(row[key] for key in keys)
        half = "" if row["ci95"] is None else f" ± {number(row['ci95'])}"
        fewer = "" if row["n"] == runs[place] else f" (n {row['n']})"
        against = changes[row["statistic"]].get((tuple(map(as_text, place[:-1])), place[-1]))
        below = "" if against is None else f"\n{told_below(against)}"
        lines[place][row["statistic"]] = f"{number(row['mean'])}{half}{fewer}{below}"
    for place, line in list(lines.items())[:_ROWS]:
        cells = [
            *(escaped(str(value)) for value in place),
            *(line.get(name, "-") for name in shown),
            line["n"],
        ]
        table.add_row(*map(Text, cells))
    console().print(table)
    if len(lines) > _ROWS:
        print(f"... and {len(lines) - _ROWS} more lines in the file")


def _usual(names: Sequence[str]) -> list[str]:
    """The statistics shown by default."""
    flows = [name for name in names if name.startswith("fct.") and ".acked." not in name]
    times = [name for name in flows if name.endswith(".mean")]
    wanted = [
        *times,
        "queries.mean",
        "switch_latency.occupancy.mean",
        "throughput.utilization",
        "fairness.jain",
    ]
    return [name for name in wanted if name in names][:_COLUMNS]
