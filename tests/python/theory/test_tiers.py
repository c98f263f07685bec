"""Thresholds by rate of the ports: by hand, as `hull ask` simulates them, and in the output."""

import json
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from hull.ask.network import read_network
from hull.ask.question import settings_for
from hull.theory.design import Setting, design, with_ports
from hull.theory.tiers import port_classes

Hull = Callable[..., CompletedProcess[str]]


def test_by_hand() -> None:
    # 25 Gbps for 30 us are 93,750 bytes: 17% of them, and a fortieth.
    hosts, uplinks = port_classes(
        [100e9, 25e9], [25e9] * 40, rtt_s=30e-6, mtu_bytes=1500, gamma=0.95
    )
    assert (hosts.name, hosts.ports) == ("25 Gbps", "to hosts")
    assert (hosts.k_bytes, hosts.phantom_bytes) == (15_938, 2_344)
    assert (hosts.k_packets, hosts.phantom_packets) == pytest.approx((10.625, 1.5625), abs=1e-3)
    assert (uplinks.name, uplinks.ports) == ("100 Gbps", "between switches")
    assert (uplinks.k_bytes, uplinks.phantom_bytes) == (4 * 93_750 * 17 // 100, 9_375)
    assert (hosts.drain_bps, uplinks.drain_bps) == pytest.approx((23.75e9, 95e9))


@pytest.mark.parametrize(
    "form", ["2x20@25G,2x100G", "20@10G", "4x4@10G,2x40G", "2x4@100M,2x1G", "phantom-everywhere"]
)
def test_same_thresholds_as_hull_ask(form: str) -> None:
    network = read_network(form)
    found = port_classes(
        network.rates_bps,
        [host.in_bps for host in network.hosts],
        rtt_s=network.round_trip_s,
        mtu_bytes=network.mtu_bytes,
        gamma=0.9,
    )
    settings = settings_for(network)
    assert {one.rate_bps: one.k_bytes for one in found} == settings.thresholds
    slowest = next(one for one in found if one.rate_bps == network.rate_bps)
    assert slowest.phantom_bytes == settings.phantom_threshold_bytes


def test_ports_of_one_rate() -> None:
    (found,) = port_classes([10e9, 10e9], [10e9], rtt_s=1e-6, mtu_bytes=1500, gamma=0.9)
    assert found.ports == "all ports"
    # 17% of 1250 bytes would mark each packet.
    assert found.k_bytes == 1500


def test_k_leaves_room_in_the_buffer() -> None:
    here = Setting(25e9, 30e-6, 2, 0.4, buffer_bytes=18_000)
    hosts, uplinks = with_ports(design(here), [25e9, 100e9], [25e9]).ports
    # 12 packets less the two flows.
    assert hosts.k_packets == uplinks.k_packets == 10


def test_output(hull: Hull) -> None:
    done = hull("design", "2x20@25G,2x100G")
    assert done.returncode == 0, done.stderr
    for row in (
        "25 Gbps, to hosts           15,938 B (10.6 packets)  23.75 Gbps (95%)   2,344 B (1.56",
        "100 Gbps, between switches  63,750 B (42.5 packets)  95 Gbps (95%)      9,375 B (6.25",
    ):
        assert row in done.stdout
    ports = json.loads(hull("design", "2x20@25G,2x100G", "--format", "json").stdout)["ports"]
    assert [(one["k_bytes"], one["ports"]) for one in ports] == [
        (15_938, "to hosts"),
        (63_750, "between switches"),
    ]
    assert "by rate" not in hull("design", "--rate", "25Gbps", "--rtt", "30us").stdout
