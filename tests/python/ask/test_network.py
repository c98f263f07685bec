"""Networks that `hull ask` accepts: hosts, racks, rates, round trip; and those it rejects."""

import pytest

from hull.ask.network import BUFFER_PER_GBPS, read_network, read_rate
from hull.errors import UsageError


def test_a_leaf_spine_in_short_form() -> None:
    network = read_network("2x20@25G,3x100G")
    assert len(network.hosts) == 40
    assert list(map(len, network.racks.values())) == [20, 20]
    assert network.rate_bps == 25e9
    assert network.rates_bps == (25e9, 100e9)
    # Each leaf has a link to each of the three spines.
    assert network.uplink_bps(network.hosts[0].switch) == (300e9, 300e9)
    assert network.round_trip_s == pytest.approx(30e-6, rel=1e-6)
    assert network.tables["switch"]["buffer"] == f"{25 * BUFFER_PER_GBPS}B"


def test_only_assumptions_are_reported() -> None:
    guessed = " ".join(read_network("20@10G").guessed)
    assert "--rtt" in guessed
    assert "--buffer" in guessed
    given = read_network("20@10Gbit/s", "50us", "1MB")
    assert "--rtt" not in " ".join(given.guessed)
    assert "--buffer" not in " ".join(given.guessed)
    assert given.round_trip_s == pytest.approx(50e-6, rel=1e-6)
    assert given.tables["switch"]["buffer"] == "1000000B"


def test_shipped_scenario_supplies_only_its_network() -> None:
    network = read_network("tree192")
    assert (len(network.hosts), len(network.racks)) == (192, 32)
    assert network.round_trip_s == pytest.approx(11.792e-6, rel=1e-9)
    assert "marking" not in network.tables["switch"]


@pytest.mark.parametrize(
    ("text", "rate_bps"),
    [("25G", 25e9), ("25Gbps", 25e9), ("25 Gbit/s", 25e9), ("25gbit", 25e9), ("0.1T", 100e9)],
)
def test_rates(text: str, rate_bps: float) -> None:
    assert read_rate(text, "--topology") == rate_bps


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("2x20@25G", "2 leaves without spines"),
        ("1x20@25G,2x100G", "spines without leaves"),
        ("1@25G", "two hosts or more"),
        ("2x0@25G,2x100G", "two hosts or more"),
        ("2x20@25X,2x100G", "expected"),
        ("2x20@0G,2x100G", "expected a rate"),
        ("nothing-like-this", "expected 2x20@25G,2x100G"),
    ],
)
def test_invalid_shorthand(form: str, told: str) -> None:
    with pytest.raises(UsageError, match="--topology") as caught:
        read_network(form)
    assert told in str(caught.value)


def test_round_trip_below_the_link_delays() -> None:
    with pytest.raises(UsageError, match="--rtt: 3us is below"):
        read_network("2x20@1G,2x10G", "3us")


def test_round_trip_with_explicit_delays() -> None:
    with pytest.raises(UsageError, match="--rtt: 30us is given with a network that has its own"):
        read_network("tree192", "30us")
