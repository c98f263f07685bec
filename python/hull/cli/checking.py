"""Commands about scenario files: `hull check`, `hull keys`, `hull completion`."""

import json
from pathlib import Path
from typing import Annotated

from hull.cli.command import Argument, Option
from hull.cli.common import (
    FILE,
    Format,
    Schemes,
    Seeds,
    Strict,
    all_commands,
    command,
    count,
    say_warnings,
)
from hull.errors import UsageError


@command()
def check(
    file: Annotated[Path, Argument(help=FILE)],
    overrides: Annotated[
        list[str] | None,
        Option("--set", metavar="KEY=VALUE", help="Override a key; may be repeated."),
    ] = None,
    schemes: Schemes = None,
    seeds: Seeds = None,
    format: Annotated[Format, Option(help="Output format.")] = Format.TABLE,
    strict: Strict = False,
) -> int:
    """Check a scenario file and describe what it would run."""
    from hull.cli.description import as_json, rows
    from hull.runs.plan import make_plan, read_scenario

    text, label = read_scenario(file)
    plan = make_plan(text, label, overrides or [], count("--seeds", seeds), schemes=schemes or ())
    found = as_json(plan)
    if format is Format.JSON:
        print(json.dumps(found, indent=1))
    else:
        for name, value in rows(plan, found):
            print(f"{name:10}  {value}")
    return say_warnings(found["warnings"], strict=strict)


@command()
def keys(
    pattern: Annotated[
        str | None,
        Argument(metavar="[PATTERN]", help="Only keys that contain this, or match pacer.*"),
    ] = None,
) -> None:
    """List the keys of a scenario file, one per line: type, example, default, meaning."""
    from hull.cli.keys import keys_like, print_keys

    print_keys(keys_like(pattern))


@command(keeps_options=True)
def completion(
    shell: Annotated[str, Argument(metavar="SHELL", help="bash, zsh or fish.")],
    words: Annotated[list[str] | None, Argument(hidden=True)] = None,
) -> None:
    """Print the completion script of a shell, for its start-up file."""
    from hull.cli.completion import SCRIPTS, candidates

    if shell == "words":
        for name in candidates(all_commands(), words or []):
            print(name)
    elif shell in SCRIPTS:
        print(SCRIPTS[shell], end="")
    else:
        raise UsageError(f"SHELL: {shell!r} is invalid; expected {', '.join(SCRIPTS)}")
