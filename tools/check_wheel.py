"""Checks the wheel in a folder: what is in it, the C library that it needs, and whether it runs in
an empty virtual environment without a compiler. Run by `make wheel`.
"""

import os
import resource
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTENT = (
    "hull/_core.abi3.so",
    "hull/lab/page/vendor/LICENSE",
    ".data/data/share/man/man1/hull.1",
    ".data/data/share/bash-completion/completions/hull",
    ".data/data/share/zsh/site-functions/_hull",
    ".data/data/share/fish/vendor_completions.d/hull.fish",
    ".dist-info/licenses/LICENSE",
    ".dist-info/licenses/THIRD_PARTY_LICENSES.txt",
    ".dist-info/sboms/hullnet.cdx.json",
)
PLATFORM = "manylinux_2_17_x86_64"
MOST_BYTES = 150_000_000
MOST_SECONDS = 0.3
"""Of processor time, for `import hull`."""


def check_content(wheel: Path) -> None:
    """Every file that a user is promised is there, and the tag fits any Python from 3.11."""
    names = zipfile.ZipFile(wheel).namelist()
    for part in CONTENT:
        _expect(any(name.endswith(part) for name in names), f"{wheel.name}: no {part}")
    _expect("-cp311-abi3-" in wheel.name, f"{wheel.name}: not built for the stable ABI")


def check_platform(wheel: Path) -> None:
    """auditwheel finds no symbol that is newer than the tag."""
    done = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", wheel], capture_output=True, text=True
    )
    told = " ".join(done.stdout.split())
    _expect(f'platform tag: "{PLATFORM}"' in told, f"{wheel.name}: auditwheel: {told}{done.stderr}")


def check_installed(wheel: Path) -> str:
    """Installs the wheel with its dependencies and runs a scenario; returns what was measured."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        venv.create(place / "venv", with_pip=True)
        folder = place / "venv" / "bin"
        alone = {**os.environ, "PATH": str(folder), "HOME": name}
        for kept in ("PYTHONPATH", "VIRTUAL_ENV"):
            alone.pop(kept, None)

        def run(*words: str | Path) -> None:
            subprocess.run(words, cwd=place, env=alone, check=True, stdout=subprocess.DEVNULL)

        run(folder / "pip", "install", "-q", "--only-binary=:all:", wheel)
        bytes_ = sum(file.lstat().st_size for file in (place / "venv").rglob("*"))
        scenario = ROOT / "examples" / "headroom.toml"
        run(folder / "hull", "run", scenario, "--set", "run.duration=100ms", "--out", "results")
        seconds = []
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run(folder / "python", "-c", "import hull")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    _expect(bytes_ < MOST_BYTES, f"{wheel.name}: the environment takes {bytes_ / 1e6:.0f} MB")
    _expect(min(seconds) < MOST_SECONDS, f"{wheel.name}: import hull takes {min(seconds):.2f} s")
    return f"environment {bytes_ / 1e6:.0f} MB, import {min(seconds):.2f} s"


def _expect(good: bool, message: str) -> None:
    if not good:
        sys.exit(f"make: {message}")


def main() -> None:
    """Checks the one wheel beside the one source distribution."""
    folder = Path(sys.argv[1])
    wheels, sources = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    _expect(len(wheels) == len(sources) == 1, f"{folder}: expected a wheel and a source archive")
    (wheel,) = (path.resolve() for path in wheels)
    check_content(wheel)
    check_platform(wheel)
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {check_installed(wheel)}")


if __name__ == "__main__":
    main()
