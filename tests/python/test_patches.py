"""How many files a new percentile, workload, topology reader or control touches, counted on
the patches in tests/patches. Here each applies to the tree; `make patches` builds and tests it.

Counted are all files but tests, documentation and generated ones, registration included.
"""

import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOL = runpy.run_path(str(ROOT / "tools" / "patches.py"))
PATCHES = TOOL["patches"]()
SIM, CONTROL = "crates/hull-sim/src", "crates/hull-sim/src/transport/control"
MOST = {
    "pause": 5,
    "percentile": 2,
    "rate-control": 3,
    "telemetry": 4,
    "topology-reader": 2,
    "workload": 3,
}
COUNTED = {
    "pause": [
        f"{SIM}/network/pause/guard.rs",
        f"{SIM}/scenario/pfc.rs",
        f"{SIM}/simulation/build/pauses.rs",
    ],
    "percentile": [f"{SIM}/measure/distribution.rs"],
    "rate-control": [f"{CONTROL}/{file}.rs" for file in ("keys", "mod", "sawtooth")],
    "telemetry": [f"{CONTROL}/{file}.rs" for file in ("keys", "longest_queue", "mod")],
    "topology-reader": [f"{SIM}/topology/file/dot.rs", f"{SIM}/topology/file/mod.rs"],
    "workload": [
        f"{SIM}/workload/mod.rs",
        f"{SIM}/workload/ring.rs",
        "python/hull/warnings/traffic.py",
    ],
}


def test_each_patch_has_a_limit() -> None:
    assert set(PATCHES) == set(MOST)


@pytest.mark.parametrize("name", MOST)
def test_files_to_touch(name: str) -> None:
    patch = PATCHES[name]
    text = patch.path.read_text(encoding="utf-8")
    assert len(patch.touched) == len(re.findall(r"^@@ -0,0 |^--- a/", text, flags=re.MULTILINE))
    assert sorted(patch.counted) == COUNTED[name]
    assert len(patch.counted) <= MOST[name]
    assert patch.tests


@pytest.mark.parametrize("name", MOST)
def test_patch_applies(name: str) -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("needs git and a clone")
    command = ["git", "apply", "--check", str(PATCHES[name].path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f'{done.stderr}docs: CONTRIBUTING.md, "Files to touch"'


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("crates/hull-sim/src/measure/distribution.rs", True),
        ("python/hull/warnings/traffic.py", True),
        ("tools/patches.py", True),
        ("Makefile", True),
        ("crates/hull-sim/src/workload/tests.rs", False),
        ("crates/hull-sim/tests/acceptance/messages.rs", False),
        ("tests/python/test_patches.py", False),
        ("docs/workloads.md", False),
        ("CHANGELOG.md", False),
        ("crates/hull-sim/src/latests/x.rs", True),
        ("docs_new/x.md", True),
    ],
)
def test_only_tests_and_documentation_are_left_out(path: str, counts: bool) -> None:
    patch = TOOL["Patch"](Path("x"), (path,), (), ())
    assert bool(patch.counted) == counts


def test_generated_files_are_not_in_the_patches() -> None:
    for patch in PATCHES.values():
        assert not set(patch.touched) & set(TOOL["GENERATED"])
        assert set(patch.generated) <= set(TOOL["GENERATED"])
