"""Follows the pages on extending hull in Rust literally, on a copy of the sources: inserts each
code block where its caption says, then builds and tests the crate.

A caption is `PATH` for a new file; `PATH, below "LINE"` or `PATH, above "LINE"` for lines next to
the only occurrence of LINE; `... behind "OTHER"` selects the first LINE after the only OTHER.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = {
    "adding_congestion_control.md": 3,
    "adding_marking.md": 3,
    "adding_statistic.md": 3,
}
"""The number of files that each page says it touches."""
BLOCK = re.compile(r"^```\{code-block\} rust\n:caption: ([^\n]*)\n(.*?)^```$", re.M | re.S)
CAPTION = re.compile(
    r'(?P<path>\S+?)(?:, (?P<where>below|above) "(?P<line>.*?)"(?: behind "(?P<behind>.*)")?)?'
)


def _place(lines: list[str], line: str, behind: str | None) -> int:
    """Index of the line that a caption refers to."""
    start = 0
    if behind is not None:
        assert lines.count(behind) == 1, f"{behind!r} occurs {lines.count(behind)} times"
        start = lines.index(behind)
    else:
        assert lines.count(line) == 1, f"{line!r} occurs {lines.count(line)} times"
    return lines.index(line, start)


def follow(page: str, copy: Path) -> set[str]:
    """Applies a page to a copy of the sources; returns the files that it touches."""
    touched = set()
    blocks = BLOCK.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert blocks
    for caption, code in blocks:
        step = CAPTION.fullmatch(caption)
        assert step, caption
        path = copy / step["path"]
        touched.add(step["path"])
        if step["where"] is None:
            assert not path.exists(), path
            path.write_text(code, encoding="utf-8")
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        line = step["line"].replace('\\"', '"')
        at = _place(lines, line, step["behind"]) + (step["where"] == "below")
        lines[at:at] = code.splitlines()
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return touched


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tracked Rust sources."""
    if not (ROOT / ".git").exists() or shutil.which("cargo") is None:
        pytest.skip("needs a clone and cargo")
    folder = tmp_path_factory.mktemp("copy")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "Cargo.*", "rustfmt.toml", "crates", "linux/traffic", "tests"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def empty_generator(folder: Path) -> None:
    """Removes the traffic generator's sources and its dependency on hull-sim, which cargo would
    have to compile a second time for it. The other dependencies stay, so that builds are reused:
    cargo unifies dependency features across the selected packages, `make test` selects the
    generator too, and 14 of hull-sim's dependencies are built only with these features."""
    generator = folder / "linux" / "traffic"
    manifest = (generator / "Cargo.toml").read_text(encoding="utf-8")
    without, found = re.subn(r"^hull-sim = .*\n", "", manifest, flags=re.M)
    assert found == 1
    (generator / "Cargo.toml").write_text(without, encoding="utf-8")
    shutil.rmtree(generator / "src")
    (generator / "src").mkdir()
    (generator / "src" / "lib.rs").write_text("//! Nothing.\n", encoding="utf-8")


def test_the_recipes_are_followed(copy: Path) -> None:
    """All pages apply to one copy: each touches as many files as it says, and its tests pass."""
    files = {page: follow(page, copy) for page in PAGES}
    assert {page: len(touched) for page, touched in files.items()} == PAGES
    empty_generator(copy)
    # Reuses the dependencies built for the Rust tests; optimization would take minutes.
    # Cargo.lock loses a line, because the generator does not use hull-sim here.
    command = ["cargo", "test", "--offline", "--package", "hull-sim", "--package", "hull-traffic"]
    command.append("--lib")
    for package in ("hull-core", "hull-sim"):
        command += ["--config", f"profile.test.package.{package}.opt-level=0"]
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    ran = subprocess.run(
        [*command, "--", "tight", "sojourn", "registry"],
        cwd=copy,
        env={**os.environ, "CARGO_TARGET_DIR": target},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
    for test in (
        "control::tight::tests::a_long_round_trip_takes_a_tenth_of_the_window_once",
        "rules::sojourn::tests::marks_after_an_interval_of_long_waits",
    ):
        assert re.search(rf"^test \S*{test} \.\.\. ok$", ran.stdout, re.M), ran.stdout[-3000:]
