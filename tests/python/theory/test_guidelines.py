"""The phantom queue's threshold: the paper's on the paper's network, higher at a larger C d."""

import pytest

from hull.errors import UsageError
from hull.theory.guidelines import phantom_threshold


@pytest.mark.parametrize(
    ("rate_bps", "rtt_s", "kilobytes"),
    [(1e9, 300e-6, 1.0), (10e9, 300e-6, 9.375), (100e9, 8e-6, 2.5), (100e9, 40e-6, 12.0)],
)
def test_threshold(rate_bps: float, rtt_s: float, kilobytes: float) -> None:
    """Table 3 has 1 KB at 1 Gbps; above that, C d / 40, at most 8 packets of 1500 bytes."""
    found = phantom_threshold(rate_bps * rtt_s / 8 / 1500)
    assert found * 1.5 == pytest.approx(kilobytes)


def test_without_a_network() -> None:
    with pytest.raises(UsageError):
        phantom_threshold(0.0)
