"""The files of operations and answers of a bench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from bench.simulation import run_bench

# Clocks that a bench goes on after its last operation.
AFTER = 3_000


def play(
    folder: Path, name: str, clocks: np.ndarray, words: Sequence[np.ndarray], answer_words: int
) -> tuple[np.ndarray, np.ndarray]:
    """Play operations on the bench built in `folder`: operation i at `clocks[i]`, its payload the
    64-bit numbers `words[0][i]`, `words[1][i]`, ..., the most significant first.
    Returns the answers: their clocks, and their payload, answers by 64-bit numbers, the most
    significant first.

    Raises:
        AssertionError: the bench did not end.

    """
    record = np.stack([clocks, *words], axis=1).astype(">u8")
    return playback(folder, name, {"stimulus": record.tobytes()}, {"answers": answer_words})[
        "answers"
    ]


def playback(
    folder: Path,
    name: str,
    stimuli: Mapping[str, bytes],
    answers: Mapping[str, int],
    after: int = AFTER,
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """`play` for a bench with several players and recorders, by the names of their plusargs. The
    bench goes on for `after` clocks.
    """
    where = folder / name
    where.mkdir(parents=True, exist_ok=True)
    plusargs = []
    for key, content in stimuli.items():
        (where / f"{key}.bin").write_bytes(content)
    for key in (*stimuli, *answers):
        plusargs.append(f"+{key}={where / key}.bin")
    plusargs.append(f"+after={after}")
    run_bench(folder, name, plusargs)
    recorded = {}
    for key, words in answers.items():
        table = np.fromfile(where / f"{key}.bin", "<u8").reshape(-1, 1 + words)
        recorded[key] = table[:, 0], table[:, :0:-1]
    # The tapes of all tests together take 1.4 GB; a test that is run again writes the same ones.
    for key in (*stimuli, *answers):
        (where / f"{key}.bin").unlink()
    return recorded
