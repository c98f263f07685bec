"""Traces for Perfetto, decoded by a wire-format reader that shares no code with the writer."""

import os
import shutil
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import hull
from conftest import Hull
from hull.perfetto.tracks import Tracks

Message = dict[int, list[Any]]
Slices = list[tuple[int, int, str, dict[str, Any]]]


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield number and value of each field of a message; bytes for length-delimited fields."""
    at = 0

    def varint() -> int:
        nonlocal at
        number = shift = 0
        while True:
            byte = data[at]
            at += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    while at < len(data):
        key = varint()
        match key & 7:
            case 0:
                yield key >> 3, varint()
            case 1:
                yield key >> 3, struct.unpack_from("<d", data, at)[0]
                at += 8
            case 2:
                size = varint()
                assert at + size <= len(data)
                yield key >> 3, data[at : at + size]
                at += size
            case kind:
                raise AssertionError(f"wire type {kind}")


def message(data: bytes) -> Message:
    found: Message = {}
    for number, value in fields(data):
        found.setdefault(number, []).append(value)
    return found


class Trace:
    """Tracks by name: "process / thread / track", counters' values and slices of each."""

    def __init__(self, path: Path) -> None:
        self.names: dict[int, str] = {}
        self.counters: dict[str, list[tuple[int, float]]] = {}
        self.slices: dict[str, Slices] = {}
        self.units: dict[str, Any] = {}
        open_: dict[int, list[tuple[int, str, dict[str, Any]]]] = {}
        last: dict[int, int] = {}
        for number, packet in fields(path.read_bytes()):
            assert number == 1
            content = message(packet)
            assert content[10] == [1]
            if 60 in content:
                self._describe(message(content[60][0]))
                continue
            time, event = content[8][0], message(content[11][0])
            track = event[11][0]
            name = self.names[track]
            # Perfetto sorts by time; hull sorts within each track.
            assert last.get(track, 0) <= time
            last[track] = time
            match event[9][0]:
                case 4:
                    self.counters.setdefault(name, []).append((time, event[44][0]))
                case 1:
                    told = [message(told) for told in event.get(4, [])]
                    arguments = {
                        one[10][0].decode(): next(one[key][0] for key in (4, 5, 6) if key in one)
                        for one in told
                    }
                    begun = (time, event[23][0].decode(), arguments)
                    open_.setdefault(track, []).append(begun)
                case 2:
                    start, title, arguments = open_[track].pop()
                    self.slices.setdefault(name, []).append((start, time, title, arguments))
        assert not any(open_.values())

    def _describe(self, track: Message) -> None:
        uuid = track[1][0]
        assert uuid not in self.names
        assert uuid != 0
        if 3 in track:
            name = message(track[3][0])[6][0].decode()
        elif 4 in track:
            thread = message(track[4][0])
            assert thread[1] == track[5]
            name = f"{self.names[track[5][0]]} / {thread[5][0].decode()}"
        else:
            name = f"{self.names[track[5][0]]} / {track[2][0].decode()}"
        self.names[uuid] = name
        if 8 in track:
            counter = message(track[8][0])
            self.units[name] = counter.get(3, counter.get(6))[0]  # type: ignore[index]


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> hull.Result:
    return hull.run(
        {
            "name": "traced",
            "run": {"duration": "8ms", "warmup": "1ms", "seeds": 2},
            "topology": {"star": {"hosts": 4}},
            "host": {"rate": "1Gbps", "delay": "500ns", "stack_delay": "30us"},
            "switch": {"rate": "1Gbps", "delay": "500ns", "buffer": "300KB"},
            "transport": {"congestion_control": "dctcp", "ecn": True},
            "workload": {
                "long_lived": {"flows": [{"src": 1, "dst": 0}]},
                "flows": {
                    "sources": [2, 3],
                    "destinations": [0],
                    "flows_per_second": 20000,
                    "sizes": {"fixed": "20KB"},
                },
            },
            "measure": {
                "sample_interval": "20us",
                "ports": ["switch->h0"],
                "flows": {"interval": "50us", "count": 3},
            },
            "schemes": {
                "dctcp": {"switch": {"marking": {"threshold": "30KB"}}},
                "hull": {
                    "switch": {"phantom_queue": {"drain": "950Mbps", "threshold": "1KB"}},
                    "pacer": {},
                },
            },
        },
        tmp_path_factory.mktemp("trace") / "traced",
    )


def test_counters_match_the_tables(result: hull.Result, tmp_path: Path) -> None:
    trace = Trace(result.perfetto(tmp_path / "t.pftrace"))
    for scheme in ("dctcp", "hull"):
        for seed in (1, 2):
            label = f"{scheme} seed {seed}: "
            rows = result.queues.filter(scheme=scheme, seed=seed)
            expected = list(zip(rows["time_ps"] // 1000, rows["bytes"].cast(float), strict=True))
            assert trace.counters[f"{label}port switch->h0 / queue"] == expected
            series = result.series.filter(scheme=scheme, seed=seed, flow=0)
            name = f"{label}host 1 / flow 0 to host 0"
            windows = [
                (time // 1000, float(cwnd)) for time, cwnd in series["time_ps", "cwnd_bytes"].rows()
            ]
            assert trace.counters[f"{name} / cwnd"] == windows
            bits = sum(
                rate * (after - time) * 1e-9
                for (time, rate), (after, _) in zip(
                    trace.counters[f"{name} / goodput"], windows[1:], strict=True
                )
            )
            got = series["delivered_bytes"][-1] - series["delivered_bytes"][0]
            assert bits == pytest.approx(8 * got)
    phantom = [name for name in trace.counters if name.endswith("phantom queue")]
    assert phantom == [f"hull seed {seed}: port switch->h0 / phantom queue" for seed in (1, 2)]
    deepest = max(value for name in phantom for _, value in trace.counters[name])
    assert deepest == max(result.queues["phantom_bytes"].drop_nulls()) > 1000
    assert trace.units[phantom[0]] == 3
    assert trace.units["hull seed 1: host 1 / flow 0 to host 0 / goodput"] == b"bit/s"


def test_slices_match_the_flows(result: hull.Result, tmp_path: Path) -> None:
    """Each flow appears once with its arguments; overlapping flows are on different tracks."""
    trace = Trace(result.perfetto(tmp_path / "t.pftrace", scheme="hull", seed=2))
    flows = result.flows.filter(scheme="hull", seed=2)
    assert flows.height > 50
    found = sorted(
        (start, end, told["bytes"], told["timeouts"], told["destination"])
        for name, slices in trace.slices.items()
        for start, end, _, told in slices
        if name.endswith("/ flows")
    )
    times = flows.select(
        pl.col("start_ps") // 1000,
        (pl.col("start_ps") + pl.col("fct_ps")).alias("end") // 1000,
        "bytes",
        "timeouts",
    )
    assert [one[:4] for one in found] == sorted(times.rows())
    assert {one[4] for one in found} == {b"host 0"}
    assert {name.split(" / ")[0] for name in trace.slices} <= {
        f"hull seed 2: host {host}" for host in (1, 2, 3)
    }


def test_times_of_every_length(tmp_path: Path) -> None:
    """Varints of one byte and more, and values that only a float can hold."""
    times = np.unique(
        [0, 127, 128, 16383, 16384, 2**21, 2**28 - 1, 2**28, 2**35, 2**42, 9 * 10**15]
    )
    values = np.linspace(-1, 1e300, len(times))
    path = tmp_path / "t.pftrace"
    with path.open("wb") as file:
        tracks = Tracks(file)
        parent = tracks.process("p")
        nothing = pl.Series([None] * len(times), dtype=pl.Float64)
        tracks.counter(parent, "none", pl.Series(times * 1000), nothing, unit="")
        tracks.counter(parent, "c", pl.Series(times * 1000), pl.Series(values), unit="x")
        apart: Slices = [(5_000, 9_000, "a", {}), (7_000, 8_000, "b", {}), (9_000, 9_000, "c", {})]
        tracks.intervals(parent, "s", apart)
    trace = Trace(path)
    assert trace.counters == {"p / c": list(zip(times.tolist(), values.tolist(), strict=True))}
    assert sorted(trace.slices["p / s"]) == [(5, 9, "a", {}), (7, 8, "b", {}), (9, 9, "c", {})]
    assert len(trace.names) == 4


def test_command(result: hull.Result, hull: Hull, place: Path) -> None:
    out = place / "one.pftrace"
    done = hull("trace", str(result.folder), "--scheme", "dctcp", "--seed", "1", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(out)
    assert "counters with" in done.stderr
    assert "dctcp seed 1: port switch->h0 / queue" in Trace(out).counters
    default = hull("trace", str(result.folder))
    assert Path(default.stdout.strip()) == result.folder.with_name("traced.pftrace")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nowhere",), "nowhere: no results of hull here"),
        (("RESULT", "--scheme", "tcp"), "--scheme: tcp is invalid; expected in RESULT: dctcp, hu"),
        (("RESULT", "--seed", "3"), "--seed: 3 is invalid; expected in RESULT: 1, 2"),
        (("RESULT", "--seed", "one"), "--seed: one is invalid; expected a whole number"),
        (("RESULT", "--condition", "x"), '--condition: x is invalid; expected in RESULT: ""'),
        (("RESULT", "--out", "RESULT"), "--out: RESULT is a folder; expected a file"),
        (("RESULT", "--out", ""), "--out: . is a folder; expected a file"),
    ],
)
def test_bad_input(
    result: hull.Result, hull: Hull, arguments: tuple[str, ...], says: str, place: Path
) -> None:
    folder = str(result.folder)
    done = hull("trace", *(word.replace("RESULT", folder) for word in arguments))
    assert done.returncode == 2
    assert says.replace("RESULT", folder) in done.stderr


def test_missing_output_folder(result: hull.Result, hull: Hull, place: Path) -> None:
    done = hull("trace", str(result.folder), "--out", str(place / "not" / "here"))
    assert done.returncode == 1
    assert "No such file or directory" in done.stderr


def test_result_given_from_inside_its_folder(
    result: hull.Result, hull: Hull, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a folder given without its own name, such as `..`, the file still goes beside it."""
    monkeypatch.chdir(result.folder / "parts")
    for folder in ("..", "../.", "../parts/.."):
        done = hull("trace", folder)
        assert done.returncode == 0, done.stderr
        assert Path(done.stdout.strip()).resolve() == result.folder.with_name("traced.pftrace")


def test_pipe_is_not_replaced(result: hull.Result, place: Path) -> None:
    """A pipe receives the file's bytes and stays a pipe, as a device does."""
    pipe = place / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_bytes)
        result.perfetto(pipe, scheme="hull", seed=1)
        written = read.result(timeout=60)
    assert pipe.is_fifo()
    assert written == result.perfetto(place / "file", scheme="hull", seed=1).read_bytes()


def test_link_is_followed_and_nothing_left_behind(result: hull.Result, place: Path) -> None:
    target, link = place / "target", place / "link"
    link.symlink_to(target)
    result.perfetto(link, scheme="hull", seed=1)
    assert link.is_symlink()
    assert Trace(target).counters
    assert not list(place.glob("*.partial"))


def test_two_at_once(result: hull.Result, hull: Hull, place: Path) -> None:
    """Two concurrent writers leave one complete file."""
    out = place / "same.pftrace"
    with ThreadPoolExecutor(2) as pool:
        both = pool.map(lambda _: hull("trace", str(result.folder), "--out", str(out)), range(2))
        assert [done.returncode for done in both] == [0, 0]
    assert out.read_bytes() == result.perfetto(place / "alone.pftrace").read_bytes()


def test_damaged_results(result: hull.Result, hull: Hull, place: Path) -> None:
    """A table or a summary overwritten by another program is rejected."""
    folder = place / "damaged"
    shutil.copytree(result.folder, folder)
    table = next(folder.glob("parts/**/queues.parquet"))
    table.write_bytes(b"no table")
    done = hull("trace", str(folder))
    assert done.returncode == 2
    assert f"{table} differs from its SHA-256 in run.json; expected" in done.stderr
    for record in folder.rglob("run.json"):  # an earlier version of hull wrote no checksums
        record.unlink()
    done = hull("trace", str(folder))
    assert done.returncode == 2
    assert f"{table}" in done.stderr
    assert "expected a table that hull wrote" in done.stderr
    for text in ("{}", "[]", "1", "{"):
        (folder / "summary.json").write_text(text)
        done = hull("trace", str(folder))
        assert done.returncode == 2
        assert "no results of hull here" in done.stderr
    # As hull linux traffic leaves it: no simulation.
    (folder / "summary.json").write_text('{"name": "measured"}')
    done = hull("trace", str(folder))
    assert done.returncode == 2
    assert "damaged: found no simulations; expected a folder of hull run" in done.stderr
    assert not list(place.glob("*.pftrace*"))
