"""Tracks of a Perfetto trace, written to a file as they come: processes, threads, counters, slices.

Times are ns of simulated time: Perfetto knows no smaller unit.
"""

import heapq
from collections.abc import Iterable, Mapping
from typing import BinaryIO

import polars as pl

from hull.perfetto import wire

_CHUNK = 1 << 16


class Tracks:
    """Writes tracks; each method that describes a track returns its number."""

    def __init__(self, file: BinaryIO) -> None:
        """`file` is open for writing."""
        self._file = file
        self._last = 0
        self.counters = 0
        self.values = 0
        self.slices = 0

    def process(self, name: str) -> int:
        """A group of tracks."""
        uuid = self._next()
        process = wire.message({1: uuid, 6: name})
        self._file.write(wire.description({1: uuid, 3: process}))
        return uuid

    def thread(self, process: int, name: str) -> int:
        """A smaller group in a process."""
        uuid = self._next()
        thread = wire.message({1: process, 2: uuid, 5: name})
        self._file.write(wire.description({1: uuid, 5: process, 4: thread}))
        return uuid

    def counter(
        self,
        parent: int,
        name: str,
        times_ps: pl.Series,
        values: pl.Series,
        *,
        unit: str | int,
    ) -> None:
        """A value over time; rows without a value are left out, and so is a counter without any.

        unit: its name, or one of Perfetto's own.
        """
        there = values.is_not_null()
        if not there.any():
            return
        times, numbers = times_ps.filter(there), values.filter(there).cast(pl.Float64)
        uuid = self._next()
        meaning = wire.message({3: unit} if isinstance(unit, int) else {6: unit})
        # One scale for all counters of a name, so that they can be compared by eye.
        meaning += wire.field(7, name)
        self._file.write(wire.description({1: uuid, 5: parent, 2: name, 8: meaning}))
        for at in range(0, len(times), _CHUNK):
            chunk = (times.slice(at, _CHUNK) // 1000).cast(pl.Int64).to_numpy()
            for packets in wire.counter_events(uuid, chunk, numbers.slice(at, _CHUNK).to_numpy()):
                self._file.write(packets)
        self.counters += 1
        self.values += len(times)

    def intervals(
        self,
        parent: int,
        name: str,
        rows: Iterable[tuple[int, int, str, Mapping[str, int | float | str]]],
    ) -> None:
        """Slices: start and end (ps, sorted by start), title, arguments. Those that overlap are on
        tracks beside each other.
        """
        free: list[tuple[int, int]] = []
        for start_ps, end_ps, title, arguments in rows:
            start, end = start_ps // 1000, end_ps // 1000
            if free and free[0][0] <= start:
                _, track = heapq.heappop(free)
            else:
                track = self._next()
                self._file.write(wire.description({1: track, 5: parent, 2: name}))
            heapq.heappush(free, (end, track))
            told = [wire.annotation(key, value) for key, value in arguments.items()]
            begin = wire.slice_begin(track, title) + b"".join(told)
            self._file.write(wire.event(start, begin) + wire.event(end, wire.slice_end(track)))
            self.slices += 1

    def _next(self) -> int:
        self._last += 1
        return self._last
