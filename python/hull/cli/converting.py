"""The command that reads another simulator's configuration: `hull convert`."""

from pathlib import Path
from typing import Annotated

from hull.cli.command import Argument, Option
from hull.cli.common import command
from hull.formats.hpcc_scenario import Control, Dialect
from hull.terminal.messages import say

GOAL_FORMS = {".goal": False, ".bin": True}
"""Endings of a schedule's file, and whether the form is binary."""


@command()
def convert(
    source: Annotated[
        Path, Argument(help="Configuration of HPCC's simulator or of a fork, or a job's schedule.")
    ],
    target: Annotated[
        Path,
        Argument(
            help="File to write, which must not exist: a scenario, or a job as .goal or .bin."
        ),
    ],
    dialect: Annotated[
        Dialect | None, Option(help="Program that reads it (default: by its keys and topology).")
    ] = None,
    control: Annotated[
        Control | None, Option(help="Control of ns3-datacenter's command line, for CC_MODE.")
    ] = None,
) -> None:
    """Write a scenario of HPCC's config.txt, or a job's schedule as GOAL (text or binary)."""
    if target.suffix in GOAL_FORMS:
        from hull.jobs.convert import to_goal

        to_goal(source, target, binary=GOAL_FORMS[target.suffix])
        return
    import tomli_w

    from hull.files.output_file import write_new
    from hull.formats.hpcc_scenario import convert as converted
    from hull.runs.plan import make_plan

    found = converted(source, dialect, control)
    head = [f"From {source.name} by hull convert, read as {found.dialect}'s. Not converted:"]
    lines = "".join(f"# {line}\n" for line in (*head, *found.left))
    text = lines + tomli_w.dumps(found.scenario)
    make_plan(text, str(target), [])
    write_new(target, text)
    for sentence in found.left:
        say(f"not converted: {source}, {sentence}")
    print(target)
