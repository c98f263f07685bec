"""How messages name options: `--max-seeds` on the command line, `max_seeds` in Python."""

from collections.abc import Iterator
from contextlib import contextmanager

_callers = ["Python"]
"""The last one reads the messages. Threads of a run share it."""


@contextmanager
def for_command_line() -> Iterator[None]:
    """Name options as the command line does, until the block ends."""
    _callers.append("command line")
    try:
        yield
    finally:
        _callers.pop()


_REPEATED = {"schemes": "--scheme"}
"""Lists that the command line takes one by one."""


def caller() -> str:
    """Noun for what is repeated to resume a run."""
    return "call" if _callers[-1] == "Python" else "command"


def option(name: str) -> str:
    """An option by its name in Python, such as `max_seeds`."""
    if _callers[-1] == "Python":
        return name
    return _REPEATED.get(name, f"--{name.replace('_', '-')}")


def flag(name: str) -> str:
    """An option that is set, such as `--force` and `force=True`."""
    return f"{name}=True" if _callers[-1] == "Python" else option(name)
