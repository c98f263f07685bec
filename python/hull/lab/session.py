"""A page's run: one thread that simulates the page's state at the page's speed.

The thread simulates in slices of about two milliseconds and checks for requests between them, so a
restart takes effect at once. A run ends at its simulated duration, or at a limit of packet-hops or
of wall time; the thread ends with its page.
"""

import json
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass

from hull import _core
from hull.lab import scenario, theory
from hull.lab.model import STANDARD, State
from hull.lab.outbox import Outbox
from hull.lab.own import Own, cells_of
from hull.lab.turns import TURNS
from hull.lab.warned import Warned
from hull.terminal.messages import say

MOST_HOPS = 200_000_000
"""Packet-hops of a run, of each scheme."""
MOST_SECONDS = 900.0
"""Wall time of a run that is slower than its speed, without pauses."""
SLICE_HOPS = 5000
"""About a millisecond of processor time for each scheme."""
MOST_SAMPLES = 500
"""In a frame."""
FIRST_SECONDS = 0.02
"""Of the clock, at the page's speed: a step by itself."""
_HEAD_SECONDS = 2.0
"""Of the clock, at the page's speed: how far a run goes before it is paced, half of the page's
charts. While a slider is dragged a run lives for less than a tenth of a second; without a head
start it would show nothing but its first moments."""
_HEAD_CLOCK, _FIRST_CLOCK = 0.06, 0.01
"""s on the clock that the head start may take, and after which it is shown so far; at once where
other runs wait for the processors."""
_ROUNDING = 2e-12
"""s: the simulator counts ps."""


@dataclass
class _Run:
    """One generation: a state under simulation."""

    state: State
    lives: list[_core.Live]
    duration: float
    at: float = 0.0
    """Simulated so far, s: by the scheme that is behind."""
    target: float = 0.0
    """To be simulated by now."""
    shown: float = -1.0
    """Simulated when the last frame was made, s."""
    spent: float = 0.0
    """Time on the clock, s."""
    head_until: float = 0.0
    """On the clock, s: what is simulated before then is not paced."""


class Session(threading.Thread):
    """The run of one page."""

    def __init__(self, state: State, fps: float, outbox: Outbox, own: Own | None = None) -> None:
        super().__init__(name="hull-lab-run", daemon=True)
        self._frame_seconds = 1 / fps
        self._outbox = outbox
        self._own = own
        self._warned = Warned((STANDARD if own is None else own.catalog).schemes)
        self._wake = threading.Condition()
        self._wish: State | None = state
        self._paused = False
        self._step = 0.0
        self._stopped = False
        self._generation = 0

    def restart(self, state: State) -> None:
        """Begin again with this state; paused runs stay paused, and show their beginning."""
        with self._wake:
            self._wish = state
            self._wake.notify()

    def pause(self, paused: bool) -> None:
        """Stand still, or go on."""
        with self._wake:
            self._paused = paused
            self._wake.notify()

    def step(self, seconds: float) -> None:
        """Simulate this many seconds beyond the clock; while paused, only these."""
        with self._wake:
            self._step += seconds
            self._wake.notify()

    def stop(self) -> None:
        """End, within a slice."""
        with self._wake:
            self._stopped = True
            self._wake.notify()

    def run(self) -> None:
        """The thread's work."""
        try:
            self._work()
        except Exception as error:
            message = f"the run failed: {type(error).__name__}: {error}"
            say(message, "hull lab")
            self._outbox.add(json.dumps({"type": "error", "message": message}))
            self._outbox.close()

    def _work(self) -> None:
        run: _Run | None = None
        last = next_frame = time.monotonic()
        paused = True
        while True:
            with self._wake:
                if self._stopped:
                    return
                wish, self._wish = self._wish, None
                step, self._step = self._step, 0.0
                stood, paused = paused, self._paused
            now = time.monotonic()
            if wish is not None:
                run = self._begin(wish)
                next_frame = now if TURNS.wanted() else now + _FIRST_CLOCK
            elif run is not None:
                run.target += step
                if not stood:
                    run.target += (now - last) * run.state.speed
                    run.spent += now - last
            last = now
            if run is None:
                self._rest(None, paused)
                continue
            behind = self._advance(run, by_clock=not paused)
            reason = self._end_of(run)
            if reason is not None:
                self._end(run, reason)
                run = None
                continue
            if now >= next_frame or (not behind and (paused or run.shown < 0)):
                next_frame = max(next_frame + self._frame_seconds, now)
                self._show(run)
            if not behind:
                all_shown = run.shown == run.at
                idle = max(next_frame - time.monotonic(), 0.001)
                self._rest(None if paused and all_shown else idle, paused)

    def _begin(self, state: State) -> _Run:
        cells = cells_of(state, self._own)
        average = max(2 * scenario.round_trip(state), scenario.sample_interval(state))
        edges = scenario.edges(state)
        lives = [cell.live(int(state.seed), average, edges) for cell in cells]
        self._generation += 1
        run = _Run(state, lives, scenario.duration(state))
        run.target = _HEAD_SECONDS * state.speed
        run.head_until = time.monotonic() + _HEAD_CLOCK
        begin = {
            "type": "begin",
            "generation": self._generation,
            "schemes": list(state.schemes),
            "more": list(state.more),
            "duration": run.duration,
            "warmup": scenario.warmup(state),
            "interval": scenario.sample_interval(state),
            "bandwidth": "goodput_long" if all(c.long_flows for c in cells) else "throughput",
            "latency": "fct_small" if all(c.classes for c in cells) else "latency",
            "classes": cells[0].classes,
            "round_trip": scenario.round_trip(state),
            "theory": theory.predictions(state),
            "warnings": self._warned.before(cells),
            "without_marks": self._warned.without_marks(cells),
        }
        self._outbox.add(json.dumps(begin), begins=True)
        return run

    def _advance(self, run: _Run, *, by_clock: bool) -> bool:
        """A slice; whether there is more to simulate at once."""
        run.target = min(run.target, run.duration)
        with TURNS.turn(first=run.shown < 0):
            reached = [live.advance(run.target, SLICE_HOPS) for live in run.lives]
        run.at = min(reached)
        behind = run.at < run.target - _ROUNDING
        if behind and by_clock and time.monotonic() >= run.head_until:
            # What cannot be simulated in time is not caught up later.
            slack = self._frame_seconds * run.state.speed
            run.target = min(run.target, max(*reached, run.at + slack))
        return behind

    def _end_of(self, run: _Run) -> str | None:
        """Why the run is over, if it is."""
        if run.at >= run.duration - _ROUNDING:
            return "duration"
        hops = max(live.packet_hops() for live in run.lives)
        return "limit" if run.spent > MOST_SECONDS or hops > MOST_HOPS else None

    def _end(self, run: _Run, reason: str) -> None:
        self._show(run, last=True)
        end = {"type": "end", "generation": self._generation, "reason": reason}
        self._outbox.add(json.dumps(end))

    def _show(self, run: _Run, *, last: bool = False) -> None:
        """Send a frame if the page has accepted the previous ones; the last frame in any case."""
        if not (last or self._outbox.has_room()):
            return
        run.shown = run.at
        drawn = len(run.state.schemes)
        parts = _joined(live.take(MOST_SAMPLES) for live in run.lives[:drawn])
        more = _joined(live.take(1) for live in run.lives[drawn:])
        self._outbox.add_frame(
            f'{{"type":"frame","generation":{self._generation},"t":{run.at!r},'
            f'"schemes":[{parts}],"more":[{more}]}}'
        )

    def _rest(self, seconds: float | None, paused: bool) -> None:
        """Until a wish comes that is not known yet, or for so long."""
        with self._wake:
            known = not self._stopped and self._wish is None and not self._step
            if known and self._paused == paused:
                self._wake.wait(seconds)


def _joined(looks: Iterable[bytes]) -> str:
    return b",".join(looks).decode()
