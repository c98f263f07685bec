"""Processes forked after polars was used: an error and no hang; spawned ones work."""

import multiprocessing
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hull
from conftest import SHORT
from hull.process.forked import check_not_forked

SHORTER = [*SHORT, "run.duration=50ms", "run.seeds=1"]


def attempt(folder: str, said: "multiprocessing.Queue[str]") -> None:
    """Read the flows of a result, and run one."""
    found = hull.load(folder)
    for read in (lambda: found.flows, lambda: hull.run("scenario.toml", "again", set=SHORTER)):
        try:
            said.put(type(read()).__name__)
        except hull.UsageError as error:
            said.put(str(error))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_process_that_cannot_use_polars_says_so(place: Path, method: str) -> None:
    result = hull.run("scenario.toml", "out", set=SHORTER)
    assert result.flows.select(pl.len()).item() > 0
    context: Any = multiprocessing.get_context(method)
    said = context.Queue()
    child = context.Process(target=attempt, args=(str(result.folder), said))
    child.start()
    found = [said.get(timeout=60) for _ in range(2)]
    child.join(60)
    assert child.exitcode == 0
    if method == "spawn":
        assert found == ["DataFrame", "Result"]
    else:
        wrong = "polars had threads when this process was forked, and hangs without them; expected"
        assert found[0].startswith(f"Result.flows: {wrong}")
        assert 'multiprocessing.get_context("spawn")' in found[0]
        assert found[1] == "Result"


def test_the_parent_is_not_concerned() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    check_not_forked("here")
