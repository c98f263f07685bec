"""`patches.py [NAME ...]`: checks the patches of tests/patches, or the named ones. It applies each
in turn to a copy of the tree, builds it, and runs the tests that the patch brings.

A patch begins with the commands that test it, `Test: COMMAND`, and the files that a generator
writes for it, `Generated: PATH`. Generated files are not in the patch; they are made and compared.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "patches"
COPY = ROOT / "target" / "patches"
"""The copy. Its path stays the same, so that each run replaces what the last one compiled."""
GENERATED = ("python/hull/inputs/scenario_types.py",)
"""Files that tools/make_types.py writes."""
NOT_COUNTED = re.compile(r"(?:.*/)?tests/.*|docs/.*|CHANGELOG\.md|(?:.*/)?tests\.rs")
"""Tests and documentation."""


@dataclass(frozen=True)
class Patch:
    """A patch, by its text."""

    path: Path
    touched: tuple[str, ...]
    """Paths of all files in it."""
    tests: tuple[str, ...]
    """Commands."""
    generated: tuple[str, ...]
    """Paths of the files that generators write for it."""

    @property
    def counted(self) -> list[str]:
        """Files to touch, without tests and documentation."""
        return [path for path in self.touched if not NOT_COUNTED.fullmatch(path)]


def read(path: Path) -> Patch:
    """Reads a patch."""
    text = path.read_text(encoding="utf-8")

    def lines(pattern: str) -> tuple[str, ...]:
        return tuple(re.findall(pattern, text, flags=re.MULTILINE))

    return Patch(
        path=path,
        touched=lines(r"^diff --git a/\S+ b/(\S+)$"),
        tests=lines(r"^Test: (.+)$"),
        generated=lines(r"^Generated: (\S+)$"),
    )


def patches() -> dict[str, Patch]:
    """All patches by name."""
    return {path.stem: read(path) for path in sorted(FOLDER.glob("*.patch"))}


def fast(profile: str) -> list[str]:
    """Options that compile hull without optimization, and find the dependencies compiled."""
    packages = [f"profile.{profile}.package.{name}" for name in ("hull-core", "hull-sim")]
    settings = [f"{of}.{key}" for of in packages for key in ("opt-level=0", "codegen-units=256")]
    return [word for setting in settings for word in ("--config", setting)]


def run(command: list[str]) -> str:
    """Runs a command in the copy; returns what it prints, and exits if it fails."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(COPY / "python"),
        "CARGO_TARGET_DIR": str(ROOT / "target"),
        # git would otherwise look for the paths in the repository around the copy.
        "GIT_CEILING_DIRECTORIES": str(COPY.parent),
    }
    done = subprocess.run(
        command, cwd=COPY, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        shown = done.stdout[-4000:] + done.stderr[-4000:]
        sys.exit(f"{shown}\npatches: {' '.join(command)} failed")
    return done.stdout


def copy_tree() -> None:
    """Copies the files that git does not ignore. Their times are new: cargo compares times."""
    shutil.rmtree(COPY, ignore_errors=True)
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (COPY / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, COPY / name)


def make_generated(patch: Patch) -> None:
    """Builds the extension module, and makes the generated files."""
    build = ["cargo", "build", "--locked", "--release", "--package", "hull-py"]
    run([*build, *fast("release")])
    shutil.copyfile(ROOT / "target/release/lib_core.so", COPY / "python/hull/_core.abi3.so")
    run([sys.executable, "tools/make_types.py"])
    changed = tuple(
        path for path in GENERATED if (COPY / path).read_bytes() != (ROOT / path).read_bytes()
    )
    if changed != patch.generated:
        sys.exit(f"patches: {patch.path.name} generates {changed}; it says {patch.generated}")


def test(command: str) -> None:
    """Runs a command of a patch."""
    program, *words = command.split()
    if program == "cargo":
        test, *options = words
        ran = run(["cargo", test, *fast("test"), *options])
        if re.search(r"^running [1-9]", ran, flags=re.MULTILINE) is None:
            sys.exit(f"patches: {command} runs no test")
    else:
        run([sys.executable, *words])


def check(patch: Patch) -> None:
    """Applies a patch, runs its tests, and takes it back."""
    run(["git", "apply", str(patch.path)])
    make_generated(patch)
    for command in patch.tests:
        test(command)
    run(["git", "apply", "--reverse", str(patch.path)])
    for path in patch.generated:
        shutil.copyfile(ROOT / path, COPY / path)


def main(names: list[str]) -> None:
    """Checks the patches with these names, or all."""
    known = patches()
    if unknown := sorted(set(names) - set(known)):
        sys.exit(f"patches: {', '.join(unknown)} is invalid; expected {', '.join(known)}")
    copy_tree()
    for name in names or known:
        patch, began = known[name], time.monotonic()
        check(patch)
        seconds = time.monotonic() - began
        print(f"{name}: {len(patch.counted)} files; its tests passed ({seconds:.0f} s)")
        for path in patch.counted:
            print(f"  {path}")
        for path in patch.generated:
            print(f"  {path} (generated)")


if __name__ == "__main__":
    main(sys.argv[1:])
