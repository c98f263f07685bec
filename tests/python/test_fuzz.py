"""A bounded share of `make fuzz` with a seed that does not change; what its cases are made of."""

from pathlib import Path

import pytest

from fuzz import places, pool, worker
from fuzz.inside import plan_of
from fuzz.known import is_known

SEED = 17
HANG_S = 120.0
"""On a machine that is busy with other tests."""


SHARES = [
    ("mutations", 1500),
    ("random_scenarios", 250),
    ("damaged_inputs", 600),
    ("interruptions", 3),
]


@pytest.mark.parametrize(("generator", "count"), SHARES)
def test_made_inputs(generator: str, count: int) -> None:
    failed = [
        f"make fuzz SEED={SEED} ONLY={generator} INDEX={index}: {outcome.problem}: "
        f"{outcome.message}"
        for index, outcome in pool.carry_out(generator, SEED, range(count), jobs=2, hang_s=HANG_S)
        if outcome.problem and not is_known(outcome)
    ]
    assert not failed, "\n".join(failed)


def test_every_key_is_mutated() -> None:
    mutated = {places.general(place) for _, place in places.places()}
    assert places.known_keys() <= mutated


def test_what_is_mutated_is_right_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    worker.copy_files()
    for name, text in places.texts().items():
        plan_of(text, name, [])
