"""The command `hull`. Errors are one plain line on stderr; results go to stdout."""

import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from hull import __version__, _core
from hull.cli.command import HELP
from hull.cli.common import all_commands, find
from hull.errors import Interrupted, RunError, UsageError
from hull.process import interrupts
from hull.process.extras import OF_COMMANDS, require
from hull.terminal.messages import say, say_lines
from hull.terminal.options import for_command_line

_OBJECTS = 50_000
"""New ones until the next collection."""


def main() -> int:
    """Entry point; returns the exit status."""
    interrupts.listen()
    is_process = interrupts.is_command()
    if is_process:
        # Few objects of a command are in cycles: collecting at the usual pace finds almost nothing.
        gc.freeze()
        gc.set_threshold(_OBJECTS)
    # Where a stream is closed, what goes there goes nowhere.
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    try:
        with for_command_line():
            status = _carry_out(sys.argv[1:] or ["--help"])
        sys.stdout.flush()
        if is_process:
            gc.freeze()  # the interpreter's end then looks at none of them
    except KeyboardInterrupt as stop:
        say(str(stop) if isinstance(stop, Interrupted) else "stopped")
        return interrupts.STOPPED
    except _core.ScenarioError as error:
        say_lines(f"error: {error}")
        return 2
    except UsageError as error:
        return _fail(str(error), 2)
    except RunError as error:
        return _fail(str(error), 1)
    except BrokenPipeError:
        # The reader of stdout went away, as `hull schema | head` does.
        _give_up_stdout()
        return 1
    except OSError as error:
        _give_up_stdout()
        return _fail(f"{error.filename or 'standard output'}: {error.strerror or error}", 1)
    finally:
        if is_process:
            interrupts.end()
    return status


def _carry_out(words: Sequence[str]) -> int:
    if words[0] == "--version":
        print(f"hull {__version__}")
        return 0
    if words[0] in HELP:
        from hull.cli.help import help_of_all

        print(help_of_all(all_commands()))
        return 0
    command, others = find(words)
    options = others[: others.index("--")] if "--" in others else others
    if any(word in HELP for word in options) and not command.keeps_words:
        from hull.cli.help import help_of

        print(help_of(command))
        return 0
    if command.name in OF_COMMANDS:
        require(OF_COMMANDS[command.name], f"hull {command.name}")
    return command.run(others) or 0


def _give_up_stdout() -> None:
    """What is still to be written there is not."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, status: int) -> int:
    say(f"error: {message}")
    return status
