"""The command `hull`. Errors are one plain line on stderr; results go to stdout."""

import os
import sys
from pathlib import Path

import typer

from hull import _core, _interrupts
from hull.cli import advising, asking, checking, common, looking, reproducing, running
from hull.errors import RunError, UsageError
from hull.said import say, say_lines

COMMANDS = (asking, checking, running, reproducing, advising, looking)
"""Modules that add their commands to the application as they are imported."""


def main() -> int:
    """Entry point; returns the exit status."""
    _interrupts.listen()
    # Where a stream is closed, what goes there goes nowhere.
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    try:
        status = common.app(sys.argv[1:] or ["--help"], standalone_mode=False)
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


def _give_up_stdout() -> None:
    """What is still to be written there is not."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, status: int) -> int:
    say(f"error: {message}")
    return status
