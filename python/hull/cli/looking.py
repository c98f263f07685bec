"""Commands that look things up: `hull trace`, `schema`, `statistics`, `scenarios`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from hull import _core
from hull.cli.common import Format, app
from hull.errors import UsageError
from hull.said import say

scenarios_app = typer.Typer(help="List the scenario files that hull ships, or copy one.")
app.add_typer(scenarios_app, name="scenarios")


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
