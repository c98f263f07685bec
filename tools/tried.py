"""Runs the commands that show what was tried where a claim does not hold (`make tried`).

Each claim with a text on what was tried names its commands (`Claim.shown_by`). Every distinct one
is run in FOLDER, results/tried by default, and what it prints is kept there beside the texts that
it belongs to; the results themselves are removed. Stopped, it goes on where it was; a new build or
new claims run everything again.
Usage: tried.py [--dry-run] [FOLDER]. --dry-run only resolves each command's scenarios.
"""

import hashlib
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from hull.errors import UsageError
from hull.experiments import all_experiments
from hull.experiments.common.claims import UNSHIPPED, Claim
from hull.experiments.common.experiment import SizeName
from hull.runs.plan import build_hash, code_hash

FOLDER = Path("results", "tried")
_REPRODUCE = ["hull", "reproduce"]


def shown() -> tuple[dict[str, list[Claim]], dict[str, list[Claim]]]:
    """The claims by command, and by what no command shows."""
    commands: dict[str, list[Claim]] = {}
    others: dict[str, list[Claim]] = {}
    for experiment in all_experiments().values():
        for claim in experiment.claims:
            for entry in claim.shown_by:
                found = others if entry.startswith(UNSHIPPED) else commands
                found.setdefault(entry, []).append(claim)
    return commands, others


def resolve(command: str) -> None:
    """Plan every cell of a command, as `hull reproduce` does first; UsageError where it cannot."""
    words = shlex.split(command)
    if words[:2] != _REPRODUCE or len(words) < 3 or words[2] not in all_experiments():
        raise UsageError(f"{command!r}; expected hull reproduce ID [OPTION...]")
    size: SizeName = "quick"
    seeds, overrides = None, []
    options = iter(words[3:])
    for option in options:
        if option == "--full":
            size = "full"
        elif option == "--seeds":
            seeds = int(next(options, ""))
        elif option == "--set":
            overrides.append(next(options, ""))
        elif option != "--claims":
            raise UsageError(f"{command!r}: option {option}; expected --full, --seeds, --set")
    experiment = all_experiments()[words[2]]
    if experiment.scenario is not None or overrides:
        experiment.plan(size, seeds, overrides)


def run(command: str, claims: list[Claim], folder: Path) -> bool:
    """Run a command and keep its output, unless that is there; whether it succeeded."""
    made_of = "\n".join((command, build_hash(), code_hash()))
    name = hashlib.sha256(made_of.encode()).hexdigest()[:16]
    kept, scratch = folder / f"{name}.txt", folder / name
    if kept.exists():
        print("  done before", flush=True)
        return True
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command), "--out", str(scratch)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    texts = "\n".join(f"{claim.id}: {claim.tried}" for claim in claims)
    print(f"  {time.monotonic() - begin:.0f} s, status {done.returncode}")
    if done.returncode:
        print(done.stderr, flush=True)
        return False
    print(f"{texts}\n\n{done.stdout}", flush=True)
    making = kept.with_suffix(".making")
    making.write_text(f"{command}\n\n{texts}\n\n{done.stdout}", encoding="utf-8")
    making.replace(kept)
    shutil.rmtree(scratch)
    return True


def main() -> int:
    """Run or resolve all commands; 1 where one fails, after the others."""
    words = sys.argv[1:]
    dry = "--dry-run" in words
    names = [word for word in words if word != "--dry-run"]
    if len(names) > 1 or any(name.startswith("-") for name in names):
        print("tried.py: expected [--dry-run] [FOLDER]", file=sys.stderr)
        return 2
    folder = Path(names[0]) if names else FOLDER
    if not dry:
        folder.mkdir(parents=True, exist_ok=True)
    commands, others = shown()
    failed = []
    for number, (command, claims) in enumerate(commands.items(), start=1):
        if not dry:
            print(f"{number} of {len(commands)}: {command}", flush=True)
        try:
            resolve(command)
        except (UsageError, ValueError) as error:
            print(f"{command}: {error}", file=sys.stderr)
            failed.append(command)
            continue
        if not dry and not run(command, claims, folder):
            failed.append(command)
    without = {claim.id for claims in others.values() for claim in claims}
    print(
        f"{len(commands) - len(failed)} of {len(commands)} commands "
        f"{'resolve' if dry else 'succeed'}; {len(without)} claims name what no command shows"
    )
    for command in failed:
        print(f"failed: {command}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("tried.py: stopped; the same command goes on", file=sys.stderr)
        sys.exit(130)
