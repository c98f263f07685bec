"""The results of a run as a Perfetto trace: queues, windows and flows over time.

A port is a process with its queue and phantom queue as counters; a host is a process with its flows
as slices, and a thread for each followed flow with window, alpha, round trip and goodput.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from hull.errors import RunError, UsageError
from hull.files.checksums import RECORD, check
from hull.files.names import check_path
from hull.files.output_file import whole_file
from hull.files.table_file import check_table, read_table
from hull.perfetto import wire
from hull.perfetto.tracks import Tracks
from hull.runs.plan import part_folder


@dataclass(frozen=True)
class Written:
    """A written trace: its file and what it holds."""

    path: Path
    counters: int
    values: int
    slices: int


def write_trace(
    folder: Path,
    summary: Mapping[str, Any],
    path: Path,
    *,
    condition: str | None = None,
    scheme: str | None = None,
    seed: int | None = None,
) -> Written:
    """Write the trace of all parts of a run, or of those that are named, to a file. The run is in
    `folder`, with `summary` as its summary.json.

    Raises UsageError for a part that there is not and for a folder in place of the file, RunError
    where the file cannot be written.
    """
    check_path("--out", path, "results/first.pftrace")
    parts = _chosen(folder, summary, {"condition": condition, "scheme": scheme, "seed": seed})
    if path.is_dir():
        raise UsageError(f"--out: {path} is a folder; expected a file")
    try:
        with whole_file(path) as file:
            tracks = Tracks(file)
            for part in parts:
                _write_part(tracks, folder, part, _label(summary, part))
    except OSError as error:
        raise RunError(f"{path}: {error.strerror or error}") from error
    return Written(path, tracks.counters, tracks.values, tracks.slices)


def _chosen(
    folder: Path, summary: Mapping[str, Any], wanted: dict[str, str | int | None]
) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = summary.get("parts", [])
    if not parts:
        raise UsageError(f"{folder}: found no simulations; expected a folder of hull run")
    for key, value in wanted.items():
        if value is None:
            continue
        there = dict.fromkeys(part[key] for part in parts)
        if value not in there:
            names = ", ".join(str(name) or '""' for name in there)
            raise UsageError(f"--{key}: {value} is invalid; expected in {folder}: {names}")
        parts = [part for part in parts if part[key] == value]
    return parts


def _label(summary: Mapping[str, Any], part: dict[str, Any]) -> str:
    """What distinguishes a part from the others of its run."""
    parts = summary["parts"]
    varied = [key for key in ("condition", "scheme") if len({other[key] for other in parts}) > 1]
    words = [part[key] for key in varied if part[key]]
    if len({other["seed"] for other in parts}) > 1:
        words.append(f"seed {part['seed']}")
    return " ".join(words) + ": " if words else ""


def _write_part(tracks: Tracks, folder: Path, part: dict[str, Any], label: str) -> None:
    of_part = part_folder(part["condition"], part["scheme"], part["seed"])
    check(folder, str(of_part / RECORD))
    place = folder / of_part
    _write_job(tracks, place, label)
    _write_queues(tracks, place, label)
    hosts: dict[int, int] = {}

    def host(number: int) -> int:
        if number not in hosts:
            hosts[number] = tracks.process(f"{label}host {number}")
        return hosts[number]

    series = _read(place, "series")
    flows = _read(place, "flows")
    numbers = {*(() if flows is None else flows["src"]), *(() if series is None else series["src"])}
    for number in sorted(numbers):
        host(number)
    if flows is not None:
        for (number,), rows in flows.sort("start_ps").group_by("src", maintain_order=True):
            tracks.intervals(host(int(str(number))), "flows", _slices(rows))
    if series is not None:
        for (number, flow), rows in series.group_by("src", "flow", maintain_order=True):
            name = f"flow {flow} to host {rows['dst'][0]}"
            _write_flow(tracks, tracks.thread(host(int(str(number))), name), rows)


def _write_job(tracks: Tracks, place: Path, label: str) -> None:
    computations, stages = _read(place, "computations"), _read(place, "stages")
    if computations is None and stages is None:
        return
    job = tracks.process(f"{label}job")
    if stages is not None:
        ended = stages.filter(pl.col("end_ps") > 0).sort("begin_ps")
        tracks.intervals(job, "collectives", _stages(ended))
    if computations is not None:
        for (rank,), rows in computations.sort("begin_ps").group_by("rank", maintain_order=True):
            thread = tracks.thread(job, f"rank {rank}")
            spans = rows.select("begin_ps", "end_ps", "operation").iter_rows()
            slices = ((begin, end, "computes", {"operation": op}) for begin, end, op in spans)
            tracks.intervals(thread, "computes", slices)


def _stages(rows: pl.DataFrame) -> Iterator[tuple[int, int, str, dict[str, int | float | str]]]:
    columns = ("begin_ps", "end_ps", "stage", "ranks", "bytes")
    for begin, end, name, ranks, size in rows.select(columns).iter_rows():
        yield begin, end, name, {"ranks": ranks, "bytes": size}


def _write_queues(tracks: Tracks, place: Path, label: str) -> None:
    queues = _read(place, "queues")
    if queues is None:
        samples = _read(place, "latency")
        if samples is not None and samples["queue_bytes"].is_not_null().any():
            port = tracks.process(f"{label}measured port")
            times, values = samples["time_ps"], samples["queue_bytes"]
            tracks.counter(port, "queue", times, values, unit=wire.UNIT_SIZE_BYTES)
        return
    for (name,), rows in queues.group_by("port", maintain_order=True):
        port = tracks.process(f"{label}port {name}")
        for title, column in (("queue", "bytes"), ("phantom queue", "phantom_bytes")):
            tracks.counter(port, title, rows["time_ps"], rows[column], unit=wire.UNIT_SIZE_BYTES)


def _write_flow(tracks: Tracks, thread: int, rows: pl.DataFrame) -> None:
    times = rows["time_ps"]
    size = wire.UNIT_SIZE_BYTES
    tracks.counter(thread, "cwnd", times, rows["cwnd_bytes"], unit=size)
    tracks.counter(thread, "in flight", times, rows["in_flight_bytes"], unit=size)
    tracks.counter(thread, "alpha", times, rows["alpha"], unit="")
    tracks.counter(thread, "round trip", times, rows["srtt_ps"] / 1000, unit=wire.UNIT_TIME_NS)
    # A counter stands until its next value: the rate from this sample to the next.
    delivered = rows["delivered_bytes"].diff().shift(-1)
    rate = 8e12 * delivered / times.diff().shift(-1)
    tracks.counter(thread, "goodput", times, rate, unit="bit/s")
    tracks.counter(thread, "rate", times, rows["rate_bps"], unit="bit/s")


def _slices(rows: pl.DataFrame) -> Iterator[tuple[int, int, str, dict[str, int | float | str]]]:
    columns = ("start_ps", "fct_ps", "bytes", "class", "dst", "timeouts", "connection")
    for start, fct, size, kind, dst, timeouts, connection in rows.select(columns).iter_rows():
        arguments: dict[str, int | float | str] = {
            "bytes": size,
            "destination": f"host {dst}",
            "completion time, us": fct / 1e6,
            "timeouts": timeouts,
        }
        if connection is not None:
            arguments["connection"] = connection
        yield start, start + fct, kind or f"{size} B", arguments


def _read(place: Path, table: str) -> pl.DataFrame | None:
    path = place / f"{table}.parquet"
    check_table(place, path.name)
    if not path.exists():
        return None
    frame = read_table(path)
    return frame if frame.height else None
