"""The builds of hull that are measured: this one, and another revision's beside it."""

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".venv" / "bin" / "python"
PLACE = ROOT / "target" / "base"


class Side(NamedTuple):
    """A build of hull; `packages` is the folder that holds it, None for the one of .venv."""

    name: str
    packages: Path | None

    def command(self, *arguments: str) -> list[str]:
        """`hull ARGUMENTS` of this build."""
        return [str(PYTHON), "-m", "hull", *arguments]

    @property
    def compiled(self) -> Path:
        """The folder of the build's compiled Python modules."""
        return PLACE / f"compiled-{self.name}"

    def environment(self) -> dict[str, str]:
        """What the command needs to find its build. Modules of both builds are compiled once, like
        an installed package's, regardless of the caller's environment."""
        return {
            "PYTHONPATH": "" if self.packages is None else str(self.packages),
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": str(self.compiled),
        }


def this() -> Side:
    """The build of .venv, plain or guided, as `make` or `make fast` left it."""
    changed = _git("status", "--porcelain", "--", "crates", "python", "Cargo.lock", "Cargo.toml")
    return Side(f"{revision('HEAD')[:7]}{'+' if changed else ''}", None)


def base(name: str) -> Side:
    """The build of a revision, made as this revision's `make` makes it, from a clean work tree in
    target/base that is removed again. Made once for each revision."""
    commit = revision(name)
    packages = PLACE / commit
    if not packages.exists():
        tree = PLACE / "tree"
        subprocess.run(
            ["git", "worktree", "remove", "--force", tree], cwd=ROOT, capture_output=True
        )
        _git("worktree", "add", "--detach", str(tree), commit)
        try:
            _build(tree, packages)
        finally:
            _git("worktree", "remove", "--force", str(tree))
    return Side(commit[:7], packages)


def _build(tree: Path, packages: Path) -> None:
    """Builds the wheel of a work tree and unpacks it."""
    wheels = PLACE / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    maturin = [PYTHON, "-m", "maturin", "build", "--release", "--locked", "--out", wheels]
    subprocess.run([*maturin, "--target-dir", PLACE / "build"], cwd=tree, check=True)
    pip = [PYTHON, "-m", "pip", "install", "-q", "--no-deps", "--target", packages]
    subprocess.run([*pip, *wheels.glob("*.whl")], check=True)


def revision(name: str) -> str:
    """The commit that a name means."""
    done = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(
            f"bench: --base: {name} is invalid; expected a revision of this repository"
        )
    return done.stdout.strip()


def _git(*arguments: str) -> str:
    """What git prints."""
    command = ["git", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
