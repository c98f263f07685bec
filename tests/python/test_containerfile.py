"""The Containerfile, parsed only: the test machines have no container builder."""

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KNOWN = {"FROM", "RUN", "WORKDIR", "COPY", "USER", "ENTRYPOINT", "CMD"}
TEXT = (ROOT / "Containerfile").read_text(encoding="utf-8")


def instructions() -> list[tuple[str, str]]:
    """Name and arguments, continued lines joined."""
    lines = [line for line in TEXT.splitlines() if line.strip() and not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ").splitlines()
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in joined)]


def test_instructions_are_known_and_start_with_from() -> None:
    found = instructions()
    assert found[0][0] == "FROM"
    assert {name for name, _ in found} <= KNOWN


def test_base_images_are_versioned_and_stages_exist() -> None:
    stages: set[str] = set()
    for name, rest in instructions():
        if name == "FROM":
            image, *alias = re.split(r" AS ", rest)
            assert re.fullmatch(r"[a-z]+:[\d.]+-slim-[a-z]+", image), image
            stages.update(alias)
        if name == "COPY" and (source := re.search(r"--from=(\S+)", rest)):
            assert source[1] in stages


def test_base_images_have_the_minimum_rust_and_python() -> None:
    rust = re.search(r'rust-version = "([\d.]+)"', (ROOT / "Cargo.toml").read_text())
    python = re.search(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    assert rust
    assert python
    assert f"FROM rust:{rust[1]}-slim" in TEXT
    assert f"FROM python:{python[1]}-slim" in TEXT


def test_shell_commands_parse_and_leave_nothing_behind() -> None:
    for name, rest in instructions():
        if name == "RUN":
            assert shlex.split(rest)
            assert "apt-get install" not in rest or "rm -rf /var/lib/apt/lists" in rest
            assert "pip install" not in rest or "--no-cache-dir" in rest
            assert "curl" not in rest
            assert "wget" not in rest


def test_runs_the_command_unprivileged() -> None:
    last = instructions()[-4:]
    assert last[0] == ("USER", "hull")
    assert last[2:] == [("ENTRYPOINT", '["hull"]'), ("CMD", '["--help"]')]


def test_local_builds_are_excluded() -> None:
    ignored = (ROOT / ".containerignore").read_text(encoding="utf-8").split()
    assert {".git", ".venv", "target"} <= set(ignored)
