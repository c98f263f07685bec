"""The proofs that take seconds; `make prove` runs all."""

from __future__ import annotations

import pytest

from formal.prove import find_proofs, prove

LONG = {"frame_fifo:long"}


@pytest.mark.parametrize("proof", [proof for proof in find_proofs() if proof not in LONG])
def test_proof(proof: str) -> None:
    prove(proof)
