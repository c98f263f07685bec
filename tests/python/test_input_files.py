"""Input files: endless files, pipes without a writer, JSON of any depth."""

import gzip
import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import SHORT, Hull, sets, snapshot
from hull import UsageError, load, scenarios
from hull.files.input_file import read_json, read_text
from hull.files.named_files import check_named_files

ONE_FLOW = ["topology={star={hosts=3}}", "host.rate=1Gbps", "schemes={}", "sweep={}"]
NESTED = '{"name": ' + "[" * 100_000 + "]" * 100_000 + "}"


def little_memory() -> None:
    """Limits memory to enough for hull, but not for much of an endless file."""
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))


def refused(hull: Hull, *arguments: str) -> str:
    """The single message with which the command rejects input, at once and in little memory."""
    done = hull(*arguments, preexec_fn=little_memory)
    assert done.returncode == 2, done.stderr[-500:]
    assert "Traceback" not in done.stderr
    assert done.stderr.count("hull: error: ") == 1
    return done.stderr


@pytest.mark.parametrize("command", ["run", "sweep"])
def test_endless_scenario(hull: Hull, place: Path, command: str) -> None:
    os.mkfifo("pipe")
    before = {path.name for path in place.iterdir()}
    assert "/dev/zero is a character device; expected" in refused(hull, command, "/dev/zero")
    assert "pipe is an empty pipe" in refused(hull, command, "pipe")
    assert {path.name for path in place.iterdir()} == before


def test_a_large_scenario_is_not_read(tmp_path: Path) -> None:
    large = tmp_path / "large.toml"
    with large.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ValueError, match="more than 1000 bytes"):
        read_text(large, 1000)


def test_scenario_from_a_pipe(hull: Hull, place: Path) -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, Path("scenario.toml").read_bytes())
    os.close(write_end)
    done = hull("run", f"/dev/fd/{read_end}", *sets(SHORT), "--out", "out", pass_fds=[read_end])
    os.close(read_end)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("key", "override"),
    [
        ("workload.flows", "workload={flows='%s'}"),
        ("workload.flows", "workload.flows=%s"),
        ("topology.file.path", "topology={file={path='%s'}}"),
        ("workload.flows.sizes.csv", "workload={flows={load='10%%',sizes={csv='%s'}}}"),
        ("workload.production.background_sizes", "workload.production.background_sizes=%s"),
    ],
)
def test_endless_referenced_file(hull: Hull, place: Path, key: str, override: str) -> None:
    os.mkfifo("pipe")
    for name, kind in (("/dev/zero", "a character device"), ("pipe", "a pipe")):
        given = sets([*ONE_FLOW, override % name])
        message = refused(hull, "run", "scenario.toml", *given)
        assert f"scenario.toml: {key}: {name} is {kind}; expected the path" in message


def test_endless_file_named_in_the_scenario(hull: Hull, place: Path) -> None:
    text = scenarios.text("epfl-table2").replace(
        "[sweep]", '[sweep]\n"workload.flows" = ["/dev/zero"]'
    )
    Path("scenario.toml").write_text(text, encoding="utf-8")
    assert "workload.flows: /dev/zero is a character" in refused(hull, "run", "scenario.toml")
    over = ("sweep", "scenario.toml", "--over", "workload.flows=/dev/zero,x")
    assert "workload.flows: /dev/zero is a character" in refused(hull, *over)


def in_summary(folder: Path) -> None:
    (folder / "summary.json").write_text(NESTED, encoding="utf-8")


def zeros(folder: Path) -> None:
    (folder / "summary.json").symlink_to("/dev/zero")


def other_parts(folder: Path) -> None:
    (folder / "summary.json").write_text('{"name": "x", "parts": [1]}', encoding="utf-8")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (in_summary, "nested too deeply"),
        (zeros, "is a character device"),
        (other_parts, "parts is invalid; expected"),
    ],
)
def test_summary_without_a_run(
    hull: Hull, tmp_path: Path, make: Callable[[Path], None], reason: str
) -> None:
    folder = tmp_path / "found"
    folder.mkdir()
    make(folder)
    assert reason in refused(hull, "trace", "found")
    with pytest.raises(UsageError, match=reason):
        load(folder)


@pytest.mark.parametrize(
    ("file", "arguments"),
    [
        ("run.json", ("run", "scenario.toml", "--out", "found")),
        ("hull-store.json", ("sweep", "scenario.toml", "--store", "found")),
        ("cache.json", ("reproduce", "eq5", "--cache", "found")),
    ],
)
def test_deeply_nested_records(
    hull: Hull, place: Path, file: str, arguments: tuple[str, ...]
) -> None:
    Path("found").mkdir()
    Path("found", file).write_text(NESTED, encoding="utf-8")
    before = snapshot(place)
    assert "found exists and " in refused(hull, *arguments)
    assert snapshot(place) == before


def test_deeply_nested_values(hull: Hull) -> None:
    deep = f"workload.load={'[' * 50_000}"
    message = refused(hull, "sweep", "scenario.toml", "--over", deep)
    assert "nested too deeply; expected values" in message
    assert len(message) < 500


def test_read_json_says_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(NESTED, encoding="utf-8")
    with pytest.raises(ValueError, match="nested too deeply"):
        read_json(file)


@pytest.mark.parametrize(
    "text",
    [
        'workload.flows = "{}"',
        "workload . 'flows'='{}'",
        'workload = {{ flows = "{}" }}',
        'workload.flows = [\n "{}" ]',
        'workload."fl\\u006fws" = "{}"',
        '[topology.file]\npath="{}"',
    ],
)
def test_each_spelling_of_a_file_is_seen(tmp_path: Path, text: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UsageError, match="pipe"):
        check_named_files("scenario.toml", text.format(pipe), [])


def test_compressed_files_are_named(hull: Hull, place: Path) -> None:
    Path("list.csv.gz").write_bytes(gzip.compress(b"start_ps,src,dst,bytes\n0,1,0,1000\n"))
    said = "list.csv.gz is compressed (gzip); expected the plain file, as from gunzip -k"
    for setting in (
        "workload={flows='list.csv.gz'}",
        "workload={flows={load='1%',sizes={csv='list.csv.gz'}}}",
        "topology={file={path='list.csv.gz'}}",
    ):
        done = hull("check", "scenario.toml", "--set", setting)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert "Traceback" not in done.stderr
