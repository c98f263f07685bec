"""The command that reads another simulator's configuration: `hull convert`."""

from pathlib import Path
from typing import Annotated

from hull.cli.command import Argument, Option
from hull.cli.common import command
from hull.formats.hpcc_scenario import Control, Dialect
from hull.terminal.messages import say


@command()
def convert(
    config: Annotated[Path, Argument(help="Configuration of HPCC's simulator or of a fork.")],
    scenario: Annotated[Path, Argument(help="Scenario file to write (TOML); must not exist.")],
    dialect: Annotated[
        Dialect | None, Option(help="Program that reads it (default: by its keys and topology).")
    ] = None,
    control: Annotated[
        Control | None, Option(help="Control of ns3-datacenter's command line, for CC_MODE.")
    ] = None,
) -> None:
    """Write the scenario of a config.txt of HPCC's simulator; keys without a place are listed."""
    import tomli_w

    from hull.files.output_file import write_new
    from hull.formats.hpcc_scenario import convert as converted
    from hull.runs.plan import make_plan

    found = converted(config, dialect, control)
    head = [f"From {config.name} by hull convert, read as {found.dialect}'s. Not converted:"]
    lines = "".join(f"# {line}\n" for line in (*head, *found.left))
    text = lines + tomli_w.dumps(found.scenario)
    make_plan(text, str(scenario), [])
    write_new(scenario, text)
    for sentence in found.left:
        say(f"not converted: {config}, {sentence}")
    print(scenario)
