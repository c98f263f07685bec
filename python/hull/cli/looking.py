"""Commands that look things up: `hull trace`, `export`, `schema`, `statistics`, `scenarios`."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from hull import _core
from hull.cli.command import Argument, Option
from hull.cli.common import Format, command
from hull.errors import UsageError
from hull.terminal.messages import say


@command()
def trace(
    folder: Annotated[Path, Argument(help="Result folder of a run.")],
    out: Annotated[
        Path | None, Option(metavar="FILE", help="File to write (default: FOLDER.pftrace).")
    ] = None,
    condition: Annotated[str | None, Option(help="Only this condition.")] = None,
    scheme: Annotated[str | None, Option(help="Only this scheme.")] = None,
    seed: Annotated[str | None, Option(metavar="N", help="Only this seed (default: all).")] = None,
) -> None:
    """Write queues and flows over time as a trace for ui.perfetto.dev."""
    from hull.perfetto import write_trace
    from hull.result import load

    beside = folder.parent if folder.name not in ("", "..") else folder.resolve().parent
    path = out or beside / f"{folder.resolve().name}.pftrace"
    if seed is not None and not seed.isdecimal():
        raise UsageError(f"--seed: {seed} is invalid; expected a whole number")
    number = None if seed is None else int(seed)
    found = write_trace(
        folder, load(folder).summary, path, condition=condition, scheme=scheme, seed=number
    )
    counts = f"{found.counters} counters with {found.values} values, {found.slices} slices"
    say(counts)
    print(found.path)


class Program(StrEnum):
    """Program whose scripts read an export."""

    HPCC = "hpcc"


@command()
def export(
    folder: Annotated[Path, Argument(help="Result folder of a run.")],
    program: Annotated[
        Program, Option("--as", help="Program whose analysis scripts read the files.")
    ],
    out: Annotated[
        Path | None, Option(metavar="DIR", help="Folder to write to (default: FOLDER-PROGRAM).")
    ] = None,
) -> None:
    """Write a run's flows, pauses and queues in the form of another simulator's results."""
    from hull.result import load
    from hull.results.hpcc_export import write_results

    match program:
        case Program.HPCC:
            place = out or folder.resolve().with_name(f"{folder.resolve().name}-{program}")
            for path in write_results(folder, load(folder).summary, place):
                print(path)


@command()
def schema() -> None:
    """Print the JSON Schema of a scenario file."""
    print(_core.schema())


@command()
def statistics(
    format: Annotated[Format, Option(help="Output format.")] = Format.TABLE,
) -> None:
    """List every statistic of summary.json: unit, how parts are combined, meaning."""
    from hull.results.printed import print_statistics
    from hull.results.registry import STATISTICS

    if format is Format.JSON:
        print(json.dumps(json.loads(_core.statistics())["statistics"], indent=1))
    else:
        print_statistics(STATISTICS)


@command("scenarios")
def list_scenarios() -> None:
    """List the shipped scenario files with a line for each, or copy one."""
    from hull.scenarios import descriptions

    found = descriptions()
    width = max(map(len, found))
    print("\n".join(f"{name:{width}}  {title}" for name, title in found.items()))


@command("scenarios copy")
def copy_scenario(
    name: Annotated[str, Argument(help="Name from `hull scenarios`.")],
    to: Annotated[Path | None, Argument(help="File to write (default: NAME.toml).")] = None,
) -> None:
    """Copy a shipped scenario file to edit and run."""
    from hull.files.output_file import write_new
    from hull.scenarios import names, text

    if name not in names():
        raise UsageError(f"NAME: no scenario {name!r}; expected {', '.join(names())}")
    path = to or Path(f"{name}.toml")
    write_new(path, text(name))
    print(path)
