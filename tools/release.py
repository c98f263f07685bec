"""`make release VERSION=0.1.0`: checks that the sources are ready for that version and prints the
commands that publish it. It changes nothing and sends nothing.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKS = {
    "requirements.lock": ("requirements.in", "requirements-dev.in"),
    "requirements-rtl.lock": ("requirements-rtl.in",),
    "requirements-guided.lock": ("requirements-guided.in",),
    "requirements-release.lock": ("requirements-release.in",),
}

Check = Callable[[Path, str], Iterator[str]]
"""What is wrong with a version of the sources in a folder."""


def version(root: Path, wanted: str) -> Iterator[str]:
    """The version is the same wherever it is written."""
    cargo = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))
    if (found := cargo["workspace"]["package"]["version"]) != wanted:
        yield f"Cargo.toml: version {found}; expected {wanted}"
    text = (root / "CITATION.cff").read_text(encoding="utf-8")
    told = re.search(r"^version: (\S+)$", text, re.M)
    if told is None or told[1] != wanted:
        yield f"CITATION.cff: version {told[1] if told else 'missing'}; expected {wanted}"


def changelog(root: Path, wanted: str) -> Iterator[str]:
    """The newest section is the version's, has a date and lines; nothing is left above it."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## \[(.+?)\](.*?)(?=^## |\Z)", text, re.M | re.S))
    if sections.get("Unreleased", "").strip():
        yield f"CHANGELOG.md: [Unreleased] has lines; expected them under [{wanted}]"
    if wanted not in sections:
        yield f"CHANGELOG.md: no section; expected ## [{wanted}] - YYYY-MM-DD"
    elif not re.match(r" - \d{4}-\d\d-\d\d\n\s*\S", sections[wanted]):
        yield f"CHANGELOG.md: [{wanted}] has no date or no lines; expected both"


def tag(root: Path, wanted: str) -> Iterator[str]:
    """The tag is free and every change is committed."""
    if _git(root, "tag", "--list", f"v{wanted}"):
        yield f"git: the tag v{wanted} exists; expected a new version"
    if changed := _git(root, "status", "--porcelain"):
        yield f"git: {len(changed.splitlines())} files are not committed"


def locks(root: Path, wanted: str) -> Iterator[str]:
    """Cargo.lock matches the sources; each requirement is pinned."""
    command = ["cargo", "metadata", "--locked", "--offline", "--no-deps", "--format-version=1"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if done.returncode:
        yield f"Cargo.lock: {done.stderr.strip().splitlines()[0]}"
    for lock, sources in LOCKS.items():
        pinned = re.findall(r"^([\w-]+)==", (root / lock).read_text(encoding="utf-8"), re.M)
        for source in sources:
            names = re.findall(r"^([a-z][\w-]*)", (root / source).read_text(encoding="utf-8"), re.M)
            for name in sorted(set(names) - set(pinned)):
                yield f"{lock}: no {name}, which {source} names; expected make lock"


def citation(root: Path, wanted: str) -> Iterator[str]:
    """CITATION.cff follows its schema."""
    command = [sys.executable, "-m", "cffconvert.cli.cli", "--validate", "-i", "CITATION.cff"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if done.returncode:
        yield f"CITATION.cff: {(done.stdout + done.stderr).strip().splitlines()[-1]}"


def distributions(root: Path, wanted: str) -> Iterator[str]:
    """`make wheel` has left both files, and nothing that they contain has changed since."""
    for pattern in (f"hullnet-{wanted}-cp311-abi3-manylinux*.whl", f"hullnet-{wanted}.tar.gz"):
        found = sorted((root / "dist").glob(pattern))
        if not found:
            yield f"dist: no {pattern}; expected make wheel"
        elif int(_git(root, "log", "-1", "--format=%ct") or 0) > found[0].stat().st_mtime:
            yield f"dist: {found[0].name} is older than the last commit; expected make wheel"


def links(root: Path, wanted: str) -> Iterator[str]:
    """The package index shows where the sources are."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if "Repository" not in project.get("urls", {}):
        yield "pyproject.toml: no project.urls.Repository; expected the address of the sources"


CHECKS: tuple[Check, ...] = (version, changelog, tag, locks, citation, distributions, links)


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def steps(wanted: str) -> tuple[str, ...]:
    """The commands that publish a version."""
    return (
        f"git tag --annotate v{wanted} --message 'hull {wanted}'",
        f"git push origin v{wanted}",
        f"twine upload dist/hullnet-{wanted}*",
    )


def main() -> int:
    """Prints each check, then what is wrong or the commands."""
    wanted = sys.argv[1] if len(sys.argv) == 2 else ""
    if not re.fullmatch(r"\d+\.\d+\.\d+", wanted):
        print(
            f"make: VERSION: {wanted!r} is invalid; expected a version such as 0.1.0",
            file=sys.stderr,
        )
        return 2
    wrong = []
    for check in CHECKS:
        found = list(check(ROOT, wanted))
        print(f"{'FAILED' if found else 'ok':6}  {check.__name__}")
        wrong += found
    for message in wrong:
        print(f"make: {message}", file=sys.stderr)
    if wrong:
        return 1
    print("Ready. Nothing was changed or sent; these commands publish it:")
    print("\n".join(f"  {step}" for step in steps(wanted)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
