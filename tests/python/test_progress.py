"""Progress lines of a run when stderr is not a terminal."""

import time

import pytest

from hull.terminal.progress import Progress, State


@pytest.mark.parametrize(
    ("simulated_s", "said"),
    [(0.0, "0.0 s"), (4.2e-5, "42 us"), (0.00312, "3.12 ms"), (0.5, "500 ms"), (12.34, "12.3 s")],
)
def test_simulated_time_has_a_suitable_unit(
    simulated_s: float, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Progress("tree", 1, 0, lines=True) as progress:
        progress.update(State(0.5, simulated_s, 1000))
    first, last = capsys.readouterr().err.splitlines()
    assert first == "hull: tree: 1 part"
    assert f" s, {said} simulated, " in last


def test_time_left_appears_after_some_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with Progress("tree", 2, 0, lines=True) as progress:
        for now[0], parts in ((21.0, 0.001), (42.0, 0.5)):
            progress.update(State(parts, 1.0, 1000))
    first, early, later, _ = capsys.readouterr().err.splitlines()
    assert first == "hull: tree: 2 parts"
    assert "left" not in early
    assert later.endswith("0:02:06 left")
