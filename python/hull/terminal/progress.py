"""Says how far a run is: a bar on a terminal, a few plain lines elsewhere. All on stderr."""

import sys
import time
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from hull.terminal.messages import say

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_PLAIN_EVERY_S = 20.0
_BAR_AFTER_S = 0.5
"""A run that is done by then needs no bar, which takes 50 ms of processor time to load."""

_LEAST_SHARE = 0.005
"""Of a part: below it nothing tells how long the rest takes."""


@dataclass(frozen=True)
class State:
    """Work done: in parts, in simulated seconds and in packet-hops."""

    parts: float = 0.0
    simulated_s: float = 0.0
    hops: int = 0

    def __add__(self, other: "State") -> "State":
        return State(
            self.parts + other.parts,
            self.simulated_s + other.simulated_s,
            self.hops + other.hops,
        )


class Progress:
    """Shows the progress of `total` parts, of which `kept` were there before."""

    def __init__(
        self, name: str, total: int, kept: int, *, lines: bool, noun: str = "parts"
    ) -> None:
        """`lines`: write plain lines where stderr is no terminal (else nothing there)."""
        self._name = name
        self._noun = noun
        self._total = total
        self._kept = kept
        self._lines = lines
        self._state = State()
        self._started = time.monotonic()
        self._next_line_s = _PLAIN_EVERY_S
        self._bar: Bar | None = None
        self._has_bar = sys.stderr.isatty()

    def __enter__(self) -> Self:
        if self._lines and not self._has_bar:
            kept = f", {self._kept} of them reused" if self._kept else ""
            noun = self._noun.removesuffix("s") if self._total == 1 else self._noun
            self._say(f"{self._total} {noun}{kept}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        if kind is None and (self._has_bar or self._lines):
            self._say(f"done in {time.monotonic() - self._started:.1f} s, {self._amount()}")

    def set_total(self, total: int) -> None:
        """There is more to do than was known."""
        self._total = total
        if self._bar is not None:
            self._bar.update(self._task, total=total)

    def update(self, state: State) -> None:
        """Show the work done by now."""
        self._state = state
        elapsed_s = time.monotonic() - self._started
        if self._has_bar:
            if self._bar is None and elapsed_s >= _BAR_AFTER_S:
                self._bar = self._started_bar()
            if self._bar is None:
                return
            self._bar.update(
                self._task,
                completed=self._kept + state.parts,
                text=f"{self._amount()}{self._left(elapsed_s)}",
            )
        elif self._lines and elapsed_s >= self._next_line_s:
            self._next_line_s = elapsed_s + _PLAIN_EVERY_S
            percent = 100 * (self._kept + state.parts) / self._total
            self._say(f"{percent:.0f}%, {self._amount()}{self._left(elapsed_s)}")

    def _started_bar(self) -> "Bar":
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%  {task.fields[text]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = bar.add_task(self._name, total=self._total, completed=self._kept, text="")
        bar.start()
        return bar

    def _amount(self) -> str:
        elapsed_s = max(time.monotonic() - self._started, 1e-3)
        return (
            f"{_duration(self._state.simulated_s)} simulated, "
            f"{self._state.hops / elapsed_s / 1e6:.1f} M packet-hops/s"
        )

    def _left(self, elapsed_s: float) -> str:
        if elapsed_s < 1 or self._state.parts < _LEAST_SHARE:
            return ""
        parts_left = self._total - self._kept - self._state.parts
        left_s = round(elapsed_s * parts_left / self._state.parts)
        hours, minutes, seconds = left_s // 3600, left_s // 60 % 60, left_s % 60
        return f", {hours}:{minutes:02}:{seconds:02} left"

    def _say(self, text: str) -> None:
        say(f"{self._name}: {text}")


def _duration(seconds: float) -> str:
    """A time with a unit in which it is at least 1, microseconds at the smallest."""
    if seconds >= 1 or seconds == 0:
        return f"{seconds:.1f} s"
    milliseconds = 1e3 * seconds
    return f"{milliseconds:.3g} ms" if milliseconds >= 1 else f"{1e3 * milliseconds:.3g} us"
