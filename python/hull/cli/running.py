"""Commands that simulate scenarios: `hull run`, `hull sweep`."""

from pathlib import Path
from typing import Annotated

import typer

from hull.cli.common import Force, Jobs, Seeds, app, count, stopped_by_hand
from hull.said import say


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="Scenario file (TOML).")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to make (default: results/<name>).")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override a key; may be repeated."),
    ] = None,
    seeds: Seeds = None,
    jobs: Jobs = None,
    force: Force = False,
) -> None:
    """Run a scenario: its schemes under each condition, several seeds, one folder of results."""
    from hull.plan import make_plan, read_scenario
    from hull.runner import perform

    text, label = read_scenario(file)
    plan = make_plan(text, label, overrides or [], count("--seeds", seeds))
    folder = out or Path("results", plan.name)
    with stopped_by_hand():
        result = perform(plan, folder, jobs=count("--jobs", jobs), force=force, lines=True)
    for warning in result.summary.get("warnings", ()):
        say(f"warning: {warning}")
    print(result.folder / "report.html")


@app.command()
def sweep(
    file: Annotated[Path, typer.Argument(help="Scenario file (TOML).")],
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
