"""Files at user-given paths are written completely or not at all, even on a full disk."""

import os
import resource
import stat
import threading
from pathlib import Path

import pytest

from conftest import Hull
from hull import UsageError, scenarios
from hull.files.output_file import whole_file, write_new

DESIGN = ("design", "--rate", "10Gbps", "--rtt", "300us", "--scenario", "static.toml")


def no_room() -> None:
    """Simulates a disk that fills after a few bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


@pytest.mark.parametrize("command", [("scenarios", "copy", "static"), DESIGN])
def test_no_room_for_a_scenario(hull: Hull, place: Path, command: tuple[str, ...]) -> None:
    failed = hull(*command, preexec_fn=no_room)
    assert failed.returncode == 1, failed.stderr
    assert failed.stderr == "hull: error: static.toml: File too large\n"
    assert [path.name for path in place.iterdir()] == ["scenario.toml"]
    again = hull(*command)
    assert again.returncode == 0, again.stderr
    assert {path.name for path in place.iterdir()} == {"scenario.toml", "static.toml"}
    there = Path("static.toml").read_bytes()
    refused = hull(*command)
    assert refused.returncode == 2
    assert "static.toml: File exists" in refused.stderr
    assert Path("static.toml").read_bytes() == there


def test_a_full_device(hull: Hull, place: Path) -> None:
    Path("link.toml").symlink_to("nowhere")
    for name in ("/dev/full", "link.toml", "absent/x.toml"):
        refused = hull("scenarios", "copy", "static", name)
        assert refused.returncode == 2
        assert f"hull: error: {name}: " in refused.stderr
    assert {path.name for path in place.iterdir()} == {"scenario.toml", "link.toml"}


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    write_new(tmp_path / "x.toml", scenarios.text("static"))
    (tmp_path / "y").touch()
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 1
    assert (tmp_path / "x.toml").stat().st_nlink == 1


@pytest.mark.parametrize("links", [True, False])
def test_first_of_two_concurrent_files_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    if not links:
        monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "x.toml"

    def write_while_another_does() -> None:
        with whole_file(path, new=True) as file:
            file.write(b"second")
            write_new(path, "first")

    with pytest.raises(FileExistsError):
        write_while_another_does()
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.toml"]
    assert path.read_text() == "first"
    with pytest.raises(UsageError, match="File exists"):
        write_new(path, "third")


def test_pipe_is_written_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    with whole_file(pipe) as file:
        file.write(b"content")
    reader.join()
    assert found == [b"content"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("before")

    def fail() -> None:
        with whole_file(path) as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [entry.read_text() for entry in tmp_path.iterdir()] == ["before"]


def test_no_space_for_a_run_record_does_not_block_the_next(hull: Hull, place: Path) -> None:
    short = ("--set", "run.duration=20ms", "--set", "run.warmup=2ms", "--seeds", "1")
    run = ("run", "scenario.toml", *short, "--out", "out")

    def hardly_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))

    failed = hull(*run, preexec_fn=hardly_room)
    assert failed.returncode == 1, failed.stderr
    again = hull(*run)
    assert again.returncode == 0, again.stderr
