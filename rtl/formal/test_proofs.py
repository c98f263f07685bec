"""The proofs that take less than 20 s together; `make prove` runs all."""

from __future__ import annotations

import pytest

from formal.prove import prove

SHORT = [
    "frame_fifo:short",
    "phantom_queue:counter",
    "phantom_queue:product",
]


@pytest.mark.parametrize("proof", SHORT)
def test_proof(proof: str) -> None:
    assert prove(proof) == "holds"
