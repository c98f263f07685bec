"""The formal proofs that take seconds; `make prove` runs all proofs."""

from __future__ import annotations

import pytest

from formal.prove import prove

SHORT = [
    "ecn_marker_order:bits64",
    "ecn_marker_order:bits512",
    "frame_fifo:short",
    "phantom_queue:counter",
    "phantom_queue:product",
]


@pytest.mark.parametrize("proof", SHORT)
def test_proof(proof: str) -> None:
    assert prove(proof) == "holds"
