"""A bounded part of `make fuzz` with a fixed seed, and the generation of its cases."""

from pathlib import Path

import pytest

from fuzz import messages, places, pool, worker
from fuzz.inside import plan_of
from fuzz.known import is_known

SEED = 17
HANG_S = 120.0
"""On a machine that is busy with other tests."""


SHARES = [
    ("mutations", 1500),
    ("random_scenarios", 250),
    ("damaged_inputs", 600),
    ("recorded_traces", 100),
    ("interruptions", 3),
]


@pytest.mark.parametrize(("generator", "count"), SHARES)
def test_generated_inputs(generator: str, count: int) -> None:
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


def test_mutation_bases_are_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    worker.copy_files()
    for name, text in places.texts().items():
        plan_of(text, name, [])


def test_hangs_panics_and_memory_use_are_detected() -> None:
    found = dict(pool.carry_out("bad_cases", SEED, range(5), jobs=1, hang_s=5))
    assert [found[index].what for index in range(5)] == [
        *("killed", "hung", "raised", "panicked", "fine")
    ]
    assert "SIGABRT" in found[0].problem
    assert found[1].case == f"bad case 1 of seed {SEED}"
    assert found[2].problem == "MemoryError: "


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        ("x.toml: run.seed: -1 is invalid; expected a whole number from 0 on", ""),
        ("x.toml: run.seed: invalid type: string", "the message has 'invalid type'"),
        ("x.toml: run.seed: No such file (os error 2)", "the message has 'os error'"),
        ("x.toml: run.seed: \x1b[31m", "the message has '\\x1b'"),
        ("x" * 2000, "the message has 2000 characters"),
        ("x.toml:3:1: run.a: no\nx.toml:4:1: run.b: no", ""),
        ("x.toml: run.a: no\n", "the message has 2 lines"),
        ("\n".join(["x.toml: run.a: no"] * 22), "the message has 22 lines"),
    ],
)
def test_messages_are_checked(message: str, wrong: str) -> None:
    assert messages.foreign(message) == wrong


def test_message_locations_are_checked() -> None:
    for message in ("x.toml:3:1: run.a: no\nx.toml: --set run.b: no", "x.toml: run: missing"):
        assert messages.has_place(message, "x.toml")
    for message in ("x.toml:3: run.a: no", "x.toml:0:1: a", "x.toml: a\nrun.b: no", "y.toml: a"):
        assert not messages.has_place(message, "x.toml")


def test_message_keys_and_values_are_checked() -> None:
    message = 'x.toml: workload.flows.load: "1e9\\u{1b}" is invalid; expected 3 to 7.5'
    assert messages.names(message, "workload.flows[0].load")
    assert not messages.names(message, "workload.flows.count")
    assert messages.shows(message, "1e9\x1b")
    assert messages.shows(message, 7.5)
    assert not messages.shows(message, 7.25)
    assert not messages.shows(message, "1e8")
