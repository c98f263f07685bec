"""Commands that simulate scenarios: `hull run`, `hull sweep`; `hull show` for what they left."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hull.cli.common import FILE, Force, Jobs, Seeds, app, count, stopped_by_hand
from hull.said import say

if TYPE_CHECKING:
    from hull.result import Result


class Written(StrEnum):
    """How the numbers of a run are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help=FILE)],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to make (default: results/<name>).")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override a key; may be repeated."),
    ] = None,
    seeds: Seeds = None,
    jobs: Jobs = None,
    format: Annotated[Written, typer.Option(help="What to write to stdout.")] = Written.TABLE,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Write the path of the report alone.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Write the numbers of every size class.")
    ] = False,
    force: Force = False,
) -> None:
    """Run a scenario: its schemes under each condition, several seeds, one folder of results."""
    from hull.plan import make_plan, read_scenario
    from hull.runner import perform

    text, label = read_scenario(file)
    plan = make_plan(text, label, overrides or [], count("--seeds", seeds))
    folder = out or Path("results", plan.name)
    with stopped_by_hand():
        result = perform(plan, folder, jobs=count("--jobs", jobs), force=force, lines=not quiet)
    for warning in result.summary.get("warnings", ()):
        say(f"warning: {warning}")
    if not quiet:
        write_essentials(result, format, every=verbose)
    if quiet or format is Written.TABLE:
        print(result.folder / "report.html")


@app.command()
def show(
    folder: Annotated[Path, typer.Argument(help="Results of a run.")],
    format: Annotated[Written, typer.Option(help="What to write to stdout.")] = Written.TABLE,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Write the numbers of every size class.")
    ] = False,
) -> None:
    """Print the essential numbers of an earlier run again."""
    from hull.result import load

    write_essentials(load(folder), format, every=verbose)


def write_essentials(result: "Result", format: Written, *, every: bool) -> None:
    """The essential numbers on standard output."""
    from hull.essentials import as_csv, as_rows, lines_of
    from hull.looks import declared
    from hull.report.schemes import schemes_of
    from hull.terminal import print_essentials

    lines = lines_of(result.summary, every=every)
    if format is Written.JSON:
        print(json.dumps(as_rows(lines), indent=1))
    elif format is Written.CSV:
        print(as_csv(lines), end="")
    else:
        looks = schemes_of(result.summary, declared(result.summary))
        print_essentials(lines, {scheme.name: scheme.label for scheme in looks})


@app.command()
def sweep(
    file: Annotated[Path, typer.Argument(help=FILE)],
    over: Annotated[
        list[str] | None,
        typer.Option(
            "--over",
            metavar="KEY=VALUES",
            help="Sweep a key: a,b,c or start:stop:step; may be repeated.",
        ),
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option("--seeds", metavar="N", help="Seeds per point, instead of run.seeds."),
    ] = None,
    until: Annotated[
        list[str] | None,
        typer.Option(
            "--until",
            metavar="STAT=SHARE",
            help="Add seeds to a point until half its 95% interval is so much of the mean.",
        ),
    ] = None,
    max_seeds: Annotated[
        str | None, typer.Option("--max-seeds", metavar="N", help="With --until (default: 100).")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override a key; may be repeated."),
    ] = None,
    executor: Annotated[
        str, typer.Option(metavar="NAME", help="threads, dask://host:port or slurm.")
    ] = "threads",
    jobs: Jobs = None,
    slurm: Annotated[
        list[str] | None,
        typer.Option("--slurm", metavar="KEY=VALUE", help="An option of Slurm, as partition=long."),
    ] = None,
    store: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder that keeps single runs.")
    ] = Path("results", "store"),
    tables: Annotated[
        bool, typer.Option("--tables", help="Keep the tables of each run in the store, too.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help=".parquet or .csv (default: results/<name>-sweep.parquet)."
        ),
    ] = None,
    show: Annotated[
        list[str] | None,
        typer.Option("--show", metavar="STAT", help="Statistic to print; may be repeated."),
    ] = None,
) -> None:
    """Run a scenario over values of its keys and over seeds; one table of all results."""
    from hull.sweeps.command import Request, from_command_line, over_of, pairs

    request = Request(
        scenario=file,
        over=over_of(over or []),
        overrides=overrides or [],
        seeds=count("--seeds", seeds),
        until=pairs("--until", until or []),
        max_seeds=count("--max-seeds", max_seeds),
        executor=executor,
        jobs=count("--jobs", jobs),
        slurm=pairs("--slurm", slurm or []),
        store=store,
        tables=tables,
        show=show or [],
    )
    with stopped_by_hand():
        from_command_line(request, out)
