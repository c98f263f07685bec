"""The command `hull`. Errors are one plain line on stderr; results go to stdout."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hull import __version__, _core, _interrupts, input_commands
from hull.command_options import FILE, Format, Seeds, count
from hull.errors import Interrupted, RunError, UsageError
from hull.said import say, say_lines


class _Commands(TyperGroup):
    """All commands: Ctrl-C ends each with one line."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say("stopped")
            raise typer.Exit(_interrupts.STOPPED) from None


app = typer.Typer(
    cls=_Commands,
    help="Phantom queues, pacing and DCTCP, simulated packet by packet.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
scenarios_app = typer.Typer(help="List the scenario files that hull ships, or copy one.")
app.add_typer(scenarios_app, name="scenarios")
input_commands.add_to(app)


Jobs = Annotated[
    str | None,
    typer.Option("--jobs", "-j", metavar="N", help="Simulations at a time (default: processors)."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace another run's results.")]


def _show_version(value: bool) -> None:
    if value:
        print(f"hull {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


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
    force: Force = False,
) -> None:
    """Run a scenario: its schemes under each condition, several seeds, one folder of results."""
    from hull.plan import make_plan, read_scenario
    from hull.runner import perform

    text, label = read_scenario(file)
    plan = make_plan(text, label, overrides or [], count("--seeds", seeds))
    folder = out or Path("results", plan.name)
    with _stopped_by_hand():
        result = perform(plan, folder, jobs=count("--jobs", jobs), force=force, lines=True)
    for warning in result.summary.get("warnings", ()):
        say(f"warning: {warning}")
    print(result.folder / "report.html")


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
    with _stopped_by_hand():
        from_command_line(request, out)


@app.command()
def reproduce(
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID...", help="Experiments.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="Every experiment, and pages over all of them.")
    ] = False,
    claims: Annotated[
        bool, typer.Option("--claims", help="Write what the documents claim, and whether it holds.")
    ] = False,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Override a key in every cell; may be repeated."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Short runs (the default).")] = False,
    full: Annotated[bool, typer.Option("--full", help="Long runs, several seeds.")] = False,
    seeds: Seeds = None,
    jobs: Jobs = None,
    format: Annotated[Format, typer.Option(help="What to write to stdout.")] = Format.TABLE,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for <ID>-quick or <ID>-full.")
    ] = Path("results"),
    cache: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder that keeps single results (default: OUT/cache)."),
    ] = None,
    force: Force = False,
) -> None:
    """Run experiments of the source documents and set the results beside the published numbers."""
    from hull.cache import Cache
    from hull.experiments import all_experiments
    from hull.experiments.common.claims import headline
    from hull.experiments.common.reproduction import Reproduction, claims_of
    from hull.file_names import check_path

    check_path("--out", out, "results")
    known = all_experiments()
    if list_:
        width = max(map(len, known))
        for experiment in known.values():
            print(f"{experiment.id:{width}}  {experiment.title}")
        return
    if quick and full:
        raise UsageError("--quick, --full: both given; expected one of them")
    if ids and all_:
        raise UsageError("ID, --all: both given; expected one of them")
    if overrides and not ids:
        raise UsageError("--set: given without an ID; expected hull reproduce ID --set KEY=VALUE")
    if not ids and not all_ and not claims:
        raise UsageError(f"ID: none given; expected --all and {', '.join(known)}")
    for id_ in ids or ():
        if id_ not in known:
            near = get_close_matches(id_, known, n=3, cutoff=0.5) or list(known)
            raise UsageError(f"ID: no experiment {id_!r}; nearest: {', '.join(near)}")
    work = Reproduction(
        [known[id_] for id_ in dict.fromkeys(ids or known)],
        "full" if full else "quick",
        out,
        Cache(cache or out / "cache"),
        seeds=count("--seeds", seeds),
        overrides=overrides or (),
        force=force,
    )
    found = []
    with _stopped_by_hand():
        for experiment, result in work.perform(count("--jobs", jobs)):
            found.append((experiment, result))
            if format is Format.TABLE:
                from hull.experiments.common.terminal import print_claims, print_tables

                if not claims:
                    print_tables(experiment, result.summary)
                print_claims(claims_of(result))
                print(f"{result.folder / 'report.html'}\n", flush=True)
    if format is Format.TABLE and len(found) > 1:
        print(headline(claim for _, result in found for claim in claims_of(result)))
    if all_:
        page = work.write_site(found)
        if format is Format.TABLE:
            print(page)
    if format is Format.JSON:
        lists = [
            claims_of(result) if claims else result.summary["comparison"] for _, result in found
        ]
        print(json.dumps([row for rows in lists for row in rows], indent=1))


@app.command(
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def linux(context: typer.Context) -> None:
    """HULL on a Linux machine: eBPF programs, a rack of namespaces, real traffic."""
    from hull.linux import hand_over

    hand_over(context.args or ["--help"])


@app.command()
def design(
    rate: Annotated[
        str,
        typer.Option(metavar="RATE", help="Rate of the links, 10Mbps to 1.6Tbps, such as 10Gbps."),
    ],
    rtt: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Round trip without queueing, 1us to 1s, such as 300us; at most 400 MB and "
            "400,000 packets in flight.",
        ),
    ],
    flows: Annotated[
        str,
        typer.Option(
            metavar="N",
            help="Large flows that meet at a port, 1 to 4095, each with more than 2 packets in "
            "flight.",
        ),
    ] = "2",
    load: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="What flows offer, as a share of the rate: from 0% to below what HULL leaves "
            "them, which is below 95%.",
        ),
    ] = "40%",
    mtu: Annotated[
        str, typer.Option(metavar="SIZE", help="Packets with headers, 300B to 9000B.")
    ] = "1500B",
    buffer: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Room of a port, more than a packet per flow, up to 1000000GB (default: enough).",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Simulate the setting, measured beside predicted.")
    ] = False,
    format: Annotated[Format, typer.Option(help="What to write to stdout.")] = Format.TABLE,
    scenario: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a scenario for hull run.")
    ] = None,
) -> None:
    """Recommend settings of DCTCP and HULL for a network, and predict what they do."""
    from hull.theory.design import design as recommend
    from hull.theory.options import read_setting
    from hull.theory.report import print_design, write_scenario

    found = recommend(read_setting(rate, rtt, flows, load, mtu, buffer))
    measured = None
    if check:
        from hull.theory.check import measure, read_plans

        plans = read_plans(found)
    if scenario is not None:
        write_scenario(found, scenario)
    if check:
        with _stopped_by_hand():
            measured = measure(found, plans)
    if format is Format.JSON:
        content = found.as_json()
        print(
            json.dumps(content if measured is None else {**content, "measured": measured}, indent=1)
        )
    else:
        print_design(found, measured)


@app.command()
def lab(
    host: Annotated[
        str, typer.Option(metavar="ADDR", help="Address to listen on; others need the token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", help="Port; 0 is any free one.")] = 8765,
    no_open: Annotated[bool, typer.Option("--no-open", help="Open no browser.")] = False,
) -> None:
    """Watch schemes on a local page while the simulator runs."""
    from hull.lab.command import serve

    raise typer.Exit(serve(host, port, open_browser=not no_open))


@app.command()
def trace(
    folder: Annotated[Path, typer.Argument(help="Results of a run.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write (default: FOLDER.pftrace).")
    ] = None,
    condition: Annotated[str | None, typer.Option(help="Only this condition.")] = None,
    scheme: Annotated[str | None, typer.Option(help="Only this scheme.")] = None,
    seed: Annotated[
        str | None, typer.Option(metavar="N", help="Only this seed (default: all).")
    ] = None,
) -> None:
    """Write queues and flows over time as a trace that ui.perfetto.dev opens."""
    from hull.perfetto import write_trace
    from hull.result import load

    beside = folder.parent if folder.name not in ("", "..") else folder.resolve().parent
    path = out or beside / f"{folder.resolve().name}.pftrace"
    if seed is not None and not seed.isdecimal():
        raise UsageError(f"--seed: {seed} is invalid; expected a whole number")
    number = None if seed is None else int(seed)
    found = write_trace(load(folder), path, condition=condition, scheme=scheme, seed=number)
    counts = f"{found.counters} counters with {found.values} values, {found.slices} slices"
    say(counts)
    print(found.path)


@app.command()
def schema() -> None:
    """Write the JSON Schema of a scenario file to stdout."""
    print(_core.schema())


@app.command()
def statistics(
    format: Annotated[Format, typer.Option(help="What to write to stdout.")] = Format.TABLE,
) -> None:
    """List every number of a part's summary.json: unit, how parts are combined, meaning."""
    from hull.registry import STATISTICS
    from hull.terminal import print_statistics

    if format is Format.JSON:
        print(json.dumps(json.loads(_core.statistics())["statistics"], indent=1))
    else:
        print_statistics(STATISTICS)


@scenarios_app.callback(invoke_without_command=True)
def _list_scenarios(context: typer.Context) -> None:
    from hull.scenarios import names

    if context.invoked_subcommand is None:
        print("\n".join(names()))


@scenarios_app.command("copy")
def copy_scenario(
    name: Annotated[str, typer.Argument(help="Name from `hull scenarios`.")],
    to: Annotated[Path | None, typer.Argument(help="File to write (default: NAME.toml).")] = None,
) -> None:
    """Copy a shipped scenario file, to change it and run it."""
    from hull.output_file import write_new
    from hull.scenarios import names, text

    if name not in names():
        raise UsageError(f"NAME: no scenario {name!r}; expected {', '.join(names())}")
    path = to or Path(f"{name}.toml")
    write_new(path, text(name))
    print(path)


def main() -> int:
    """Entry point; returns the exit status."""
    _interrupts.listen()
    # Where a stream is closed, what goes there goes nowhere.
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    try:
        status = app(sys.argv[1:] or ["--help"], standalone_mode=False)
        sys.stdout.flush()
    except _core.ScenarioError as error:
        say_lines(f"error: {error}")
        return 2
    except UsageError as error:
        return _fail(str(error), 2)
    except RunError as error:
        return _fail(str(error), 1)
    except typer.TyperException as error:
        return _fail(error.format_message(), 2)
    except BrokenPipeError:
        # The reader of stdout went away, as `hull schema | head` does.
        _give_up_stdout()
        return 1
    except OSError as error:
        _give_up_stdout()
        return _fail(f"{error.filename or 'standard output'}: {error.strerror or error}", 1)
    return status if isinstance(status, int) else 0


@contextmanager
def _stopped_by_hand() -> Iterator[None]:
    try:
        yield
    except Interrupted as stop:
        say(str(stop))
        raise typer.Exit(_interrupts.STOPPED) from None


def _give_up_stdout() -> None:
    """What is still to be written there is not."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, status: int) -> int:
    say(f"error: {message}")
    return status
