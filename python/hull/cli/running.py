"""Commands that simulate scenarios, `hull run` and `hull sweep`, and commands for earlier runs,
`hull show` and `hull report`.
"""

import json
import os
import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hull.cli.command import Argument, Option
from hull.cli.common import FILE, Force, Jobs, Schemes, Seeds, Strict, command, count, say_warnings
from hull.process.extras import require
from hull.terminal.messages import say

if TYPE_CHECKING:
    from hull.result import Result


class Written(StrEnum):
    """How the numbers of a run are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


@command()
def run(
    file: Annotated[Path, Argument(help=FILE)],
    out: Annotated[
        Path | None, Option(metavar="DIR", help="Result folder (default: results/<name>).")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        Option("--set", metavar="KEY=VALUE", help="Override a key; may be repeated."),
    ] = None,
    schemes: Schemes = None,
    seeds: Seeds = None,
    jobs: Jobs = None,
    format: Annotated[Written, Option(help="Output format.")] = Written.TABLE,
    report: Annotated[
        bool, Option("--report", help="Make the report with charts, as hull report does.")
    ] = False,
    quiet: Annotated[
        bool,
        Option("--quiet", "-q", help="Print only the path of the results or the report."),
    ] = False,
    verbose: Annotated[
        bool, Option("--verbose", "-v", help="Print the numbers of every size class.")
    ] = False,
    force: Force = False,
    strict: Strict = False,
    on: Annotated[
        Path | None,
        Option("--on", metavar="SCENARIO", help="Run FILE, a job's schedule, on this network."),
    ] = None,
    network: Annotated[
        str | None,
        Option(
            "--network",
            metavar="LOGGP",
            help="Run FILE, a job's schedule, without packets: loggp:L=2500ns,o=1500ns,G=6ns.",
        ),
    ] = None,
) -> int:
    """Run a scenario: each scheme under each condition with each seed."""
    if network is not None:
        from hull.jobs.command import without_packets

        return without_packets(file, network, on=on, as_json=format is Written.JSON)
    from hull.runner import perform
    from hull.runs.plan import make_plan, read_scenario
    from hull.warnings.scenario import warnings_before

    if report:
        require("report", "hull run --report")
    text, label = read_scenario(on or file)
    overrides = overrides or []
    if on is not None:
        overrides = [f"workload.job.schedule={json.dumps(str(file))}", *overrides]
    plan = make_plan(text, label, overrides, count("--seeds", seeds), schemes=schemes or ())
    before = warnings_before(plan)
    if say_warnings(before, strict=strict):
        return 2
    folder = out or Path("results", plan.name)
    result = perform(plan, folder, jobs=count("--jobs", jobs), force=force, lines=not quiet)
    after = [text for text in result.summary.get("warnings", ()) if text not in before]
    status = say_warnings(after, strict=strict)
    if not quiet:
        write_essentials(result, format, every=verbose)
    path = result.report() if report else result.folder
    if quiet or format is Written.TABLE:
        print(path, flush=True)
    if not quiet and not report:
        say(f"charts and tables: hull report {shlex.quote(os.path.relpath(path))}")
    return status


@command()
def show(
    folder: Annotated[Path, Argument(help="Result folder of a run.")],
    format: Annotated[Written, Option(help="Output format.")] = Written.TABLE,
    verbose: Annotated[
        bool, Option("--verbose", "-v", help="Print the numbers of every size class.")
    ] = False,
) -> None:
    """Print the essential numbers of an earlier run."""
    from hull.result import load

    write_essentials(load(folder), format, every=verbose)


@command("report")
def make_report(
    folder: Annotated[Path, Argument(help="Result folder of a run.")],
) -> None:
    """Make the report of an earlier run: tables and charts in one HTML file in its folder."""
    from hull.result import load

    print(load(folder.resolve()).report())


def write_essentials(result: "Result", format: Written, *, every: bool) -> None:
    """The essential numbers on standard output."""
    from hull.report.schemes import schemes_of
    from hull.results.essentials import as_csv, as_rows, lines_of
    from hull.results.printed import print_essentials, print_waits
    from hull.results.waits import waits_of

    lines = lines_of(result.summary, every=every)
    if format is Written.JSON:
        print(json.dumps(as_rows(lines), indent=1))
    elif format is Written.CSV:
        print(as_csv(lines), end="")
    else:
        # Without the labels that experiments declare: all of these would be loaded.
        labels = {scheme.name: scheme.label for scheme in schemes_of(result.summary)}
        print_essentials(lines, labels)
        print_waits(waits_of(result.summary), labels)


@command()
def sweep(
    file: Annotated[Path, Argument(help=FILE)],
    over: Annotated[
        list[str] | None,
        Option(
            "--over",
            metavar="KEY=VALUES",
            help="Sweep a key: a,b,c or start:stop:step; may be repeated.",
        ),
    ] = None,
    schemes: Schemes = None,
    seeds: Annotated[
        str | None,
        Option("--seeds", metavar="N", help="Seeds per point, instead of run.seeds."),
    ] = None,
    until: Annotated[
        list[str] | None,
        Option(
            "--until",
            metavar="STAT=SHARE",
            help="Add seeds to a point, from 5 on, until half of STAT's 95% interval is within "
            "this share of its mean. Such an interval holds the true mean in 92 to 95% of sweeps.",
        ),
    ] = None,
    max_seeds: Annotated[
        str | None, Option("--max-seeds", metavar="N", help="With --until (default: 100).")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        Option("--set", metavar="KEY=VALUE", help="Override a key; may be repeated."),
    ] = None,
    executor: Annotated[
        str, Option(metavar="NAME", help="threads, dask://host:port or slurm.")
    ] = "threads",
    jobs: Jobs = None,
    slurm: Annotated[
        list[str] | None,
        Option("--slurm", metavar="KEY=VALUE", help="A Slurm option, such as partition=long."),
    ] = None,
    store: Annotated[Path, Option(metavar="DIR", help="Folder for results of single runs.")] = Path(
        "results", "store"
    ),
    tables: Annotated[
        bool, Option("--tables", help="Also keep the tables of each run in the store.")
    ] = False,
    out: Annotated[
        Path | None,
        Option(metavar="FILE", help=".parquet or .csv (default: results/<name>-sweep.parquet)."),
    ] = None,
    show: Annotated[
        list[str] | None,
        Option(
            "--show",
            metavar="STAT",
            help="Statistic to print, or a pattern such as slowdown.*.p99; may be repeated.",
        ),
    ] = None,
) -> None:
    """Run a scenario over values of its keys and over seeds; write one table of results."""
    from hull.sweeps.command import Request, from_command_line, over_of, pairs

    request = Request(
        scenario=file,
        over=over_of(over or []),
        overrides=overrides or [],
        schemes=schemes or (),
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
    from_command_line(request, out)
