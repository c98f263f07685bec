"""More seeds and more headrooms: when they are tried, on runs that are made up."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

import polars as pl
import pytest

from hull.ask import settle as module
from hull.ask.network import read_network
from hull.ask.question import Question, settings_for
from hull.ask.settle import Settled, settle
from hull.ask.sizes import Sizes
from hull.ask.trial import Ran, Trial
from hull.ask.verdict import Advice

NETWORK = read_network("2x2@10G,1x40G")


def settled(
    monkeypatch: pytest.MonkeyPatch,
    advise: Callable[[Question, int], Advice],
    give_up: tuple[float, ...] = (0.02, 0.05, 0.1),
    *,
    may_add_seeds: bool = True,
) -> tuple[Settled, list[int]]:
    """With an advice for each question and number of seeds; and the seeds of each attempt."""
    attempts: list[int] = []

    def run(_: Trial, seeds: int, *, force: bool) -> Ran:
        assert force == bool(attempts), "only further attempts replace runs"
        attempts.append(seeds)
        return cast(Ran, type("Made", (), {"rows": seeds}))

    monkeypatch.setattr(module, "run", run)
    question = Question(NETWORK, give_up, ("cubic",), settings_for(NETWORK))
    trial = Trial(question, pl.DataFrame(), Sizes(1, 2, ""), 1, "", "", Path(), Path(), None)
    found = settle(
        trial,
        lambda question, rows: advise(question, cast(int, rows)),
        5,
        may_add_seeds=may_add_seeds,
        force=False,
    )
    return found, attempts


UNDECIDED = Advice(None, "", is_undecided=True)


def test_twenty_seeds_where_five_leave_it_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    found, attempts = settled(monkeypatch, lambda *_: UNDECIDED)
    assert (attempts, found.seeds) == ([5, 20], 20)
    _, attempts = settled(monkeypatch, lambda *_: UNDECIDED, may_add_seeds=False)
    assert attempts == [5]


def test_headrooms_beyond_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def most(question: Question, _: int) -> Advice:
        return Advice(f"hull-{100 * question.give_up[-1]:g}", "", "cubic")

    def least(question: Question, _: int) -> Advice:
        return Advice(f"hull-{100 * question.give_up[0]:g}", "", "cubic")

    found, _ = settled(monkeypatch, most)
    assert found.trial.question.give_up == (0.02, 0.05, 0.1, 0.2, 0.4)
    found, _ = settled(monkeypatch, least)
    assert found.trial.question.give_up == (0.005, 0.01, 0.02, 0.05, 0.1)
    # A single headroom is a question about that one; one in the middle is no end.
    found, _ = settled(monkeypatch, most, (0.02,))
    assert found.trial.question.give_up == (0.02,)
    found, attempts = settled(monkeypatch, lambda *_: Advice("hull-5", "", "cubic"))
    assert (found.advice.scheme, attempts) == ("hull-5", [5])
