"""`make release` names every problem that blocks the publication of a version."""

import runpy
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = runpy.run_path(str(ROOT / "tools" / "release.py"))
VERSION = "1.2.3"
FILES = {
    "Cargo.toml": '[workspace.package]\nversion = "1.2.3"\n',
    "CITATION.cff": "version: 1.2.3\n",
    "CHANGELOG.md": "## [Unreleased]\n\n## [1.2.3] - 2026-01-31\n\n- New.\n",
    "pyproject.toml": '[project.urls]\nRepository = "https://example.org"\n',
    "dist/hullnet-1.2.3-cp311-abi3-manylinux_2_17_x86_64.whl": "",
    "dist/hullnet-1.2.3.tar.gz": "",
    ".gitignore": "dist\n",
}


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    git = ["git", "-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=main"]
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)
    for name, text in sorted(FILES.items()):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    subprocess.run([*git, "add", "."], cwd=tmp_path, check=True)
    env = {"GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z", "PATH": "/usr/bin:/bin"}
    subprocess.run([*git, "commit", "-qm", "c"], cwd=tmp_path, check=True, env=env)
    return tmp_path


def found(check: str, sources: Path) -> list[str]:
    tool: dict[str, Any] = TOOL
    return list(tool[check](sources, VERSION))


@pytest.mark.parametrize("check", ["version", "changelog", "tag", "distributions", "links"])
def test_release_ready_sources_pass(check: str, sources: Path) -> None:
    assert found(check, sources) == []


@pytest.mark.parametrize(
    ("check", "file", "old", "new", "message"),
    [
        ("version", "Cargo.toml", "1.2.3", "1.2.2", "Cargo.toml: version 1.2.2; expected 1.2.3"),
        ("version", "CITATION.cff", "1.2.3", "1", "CITATION.cff: version 1; expected 1.2.3"),
        ("changelog", "CHANGELOG.md", "1.2.3", "1.2.2", "CHANGELOG.md: no section"),
        ("changelog", "CHANGELOG.md", " - 2026-01-31", "", "CHANGELOG.md: [1.2.3] has no date"),
        ("changelog", "CHANGELOG.md", "- New.", "", "CHANGELOG.md: [1.2.3] has no"),
        ("changelog", "CHANGELOG.md", "[Unreleased]\n", "[Unreleased]\n- x", "CHANGELOG.md: [Un"),
        ("tag", "CITATION.cff", "1.2.3", "1.2.4", "git: 1 files are not committed"),
        ("links", "pyproject.toml", "Repository", "Home", "pyproject.toml: no project.urls"),
    ],
)  # fmt: skip
def test_each_problem_is_named(
    check: str, file: str, old: str, new: str, message: str, sources: Path
) -> None:
    text = (sources / file).read_text(encoding="utf-8")
    (sources / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    assert [one[: len(message)] for one in found(check, sources)] == [message]


def test_existing_tag_and_missing_distributions(sources: Path) -> None:
    subprocess.run(["git", "tag", "v1.2.3"], cwd=sources, check=True)
    assert found("tag", sources) == ["git: the tag v1.2.3 exists; expected a new version"]
    (sources / "dist" / "hullnet-1.2.3.tar.gz").unlink()
    assert found("distributions", sources) == ["dist: no hullnet-1.2.3.tar.gz; expected make wheel"]


def test_the_locks_here_pin_every_requirement() -> None:
    assert [one for one in TOOL["locks"](ROOT, VERSION) if one.startswith("requirements")] == []


def test_the_citation_follows_its_schema() -> None:
    pytest.importorskip("cffconvert", reason="needs cffconvert (make wheel installs it)")
    assert list(TOOL["citation"](ROOT, VERSION)) == []


def test_nothing_is_pushed() -> None:
    source = (ROOT / "tools" / "release.py").read_text(encoding="utf-8")
    assert source.count('"push"') == source.count("'push'") == 0


def test_a_wrong_version_is_status_2() -> None:
    done = subprocess.run(
        ["python3", ROOT / "tools" / "release.py", "1.x"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr == "make: VERSION: '1.x' is invalid; expected a version such as 0.1.0\n"
