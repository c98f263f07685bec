"""`python -m fuzz`: generates cases, counts the outcomes, and keeps the failures.

make fuzz SEED=1 CASES=10000 ONLY=mutations
make fuzz SEED=1 ONLY=mutations INDEX=123    # one case, with all its details
"""

import argparse
import os
import sys
import time
from collections import Counter
from pathlib import Path

from fuzz import pool
from fuzz.case import Outcome
from fuzz.known import is_known

SHARES = {
    "mutations": 1.0,
    "random_scenarios": 0.1,
    "damaged_inputs": 0.2,
    "recorded_traces": 0.3,
    "interruptions": 0.01,
}
HANG_S = {"interruptions": 600.0}
"""For cases that run a command twice; the command has limits of its own."""
"""The generators, and each one's share of `--cases`."""


def main() -> int:
    """Return exit status 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="make fuzz", description="Wrong and random inputs.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=10_000, help="of mutations; others a share")
    parser.add_argument("--only", choices=SHARES, help="one generator, with all of the cases")
    parser.add_argument("--index", type=int, help="the one case of this number; needs --only")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out", type=Path, default=Path("results", "fuzz"))
    given = parser.parse_args()
    if given.index is not None and given.only is None:
        parser.error("--index: given without --only; expected the generator of the case, too")
    failed = 0
    for generator in [given.only] if given.only else SHARES:
        share = 1.0 if given.only else SHARES[generator]
        count = max(1, round(given.cases * share))
        indexes = range(count) if given.index is None else [given.index]
        try:
            failed += _generate(generator, given, indexes)
        except KeyboardInterrupt:
            print("fuzz: stopped", file=sys.stderr)
            return 130
    return 1 if failed else 0


def _generate(generator: str, given: argparse.Namespace, indexes: "range | list[int]") -> int:
    """Return one generator's number of failures; print progress and, at the end, the counts."""
    counts: Counter[str] = Counter()
    started = said = time.monotonic()
    try:
        for index, outcome in pool.carry_out(
            generator, given.seed, indexes, given.jobs, HANG_S.get(generator, pool.HANG_S)
        ):
            known = bool(outcome.problem) and is_known(outcome)
            counts[outcome.what] += 1
            counts["known"] += known
            if outcome.problem and not known:
                counts["FAILED"] += 1
                path = _keep(generator, given, index, outcome)
                print(f"fuzz: {path}: {outcome.problem}", flush=True)
            if given.index is not None:
                print(_told(generator, given.seed, index, outcome))
            if time.monotonic() - said > 10:
                said = time.monotonic()
                done = f"{sum(counts.values()) - counts['known'] - counts['FAILED']}"
                print(f"fuzz: {generator}: {done} of {len(indexes)}", file=sys.stderr)
    finally:
        took = time.monotonic() - started
        text = ", ".join(f"{count} {what}" for what, count in sorted(counts.items()) if count)
        print(f"fuzz: {generator}, seed {given.seed}: {text or 'none'} ({took:.0f} s)", flush=True)
    return counts["FAILED"]


def _keep(generator: str, given: argparse.Namespace, index: int, outcome: Outcome) -> Path:
    given.out.mkdir(parents=True, exist_ok=True)
    path: Path = given.out / f"{generator}-seed{given.seed}-{index}.txt"
    text = _told(generator, given.seed, index, outcome)
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
    return path


def _told(generator: str, seed: int, index: int, outcome: Outcome) -> str:
    return (
        f"# make fuzz SEED={seed} ONLY={generator} INDEX={index}\n"
        f"# {outcome.what}; {outcome.problem or 'all is well'}\n"
        f"# message: {outcome.message!r}\n\n{outcome.case}\n"
    )


if __name__ == "__main__":
    sys.exit(main())
