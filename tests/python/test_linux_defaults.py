"""Arguments that `hull linux attach` adds, compared with the papers' numbers."""

from pathlib import Path

import pytest

from hull.errors import UsageError
from hull.linux import defaults as linux_defaults
from hull.linux.defaults import with_defaults


@pytest.fixture(autouse=True)
def devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, mbps in {"one0": "1000", "ten0": "10000", "ten1": "10000", "down0": "-1"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "speed").write_text(f"{mbps}\n")
    monkeypatch.setattr(linux_defaults, "_DEVICES", tmp_path)


def added(*arguments: str) -> dict[str, str]:
    found = with_defaults(list(arguments))
    assert found[: len(arguments)] == list(arguments)
    rest = iter(found[len(arguments) :])
    return dict(zip(rest, rest, strict=True))


# Paper 6.1, equation 5: at 1 Gbps 2 flows need 2/25 of a round trip's 25 packets; at 10 Gbps
# table 3's 5% is larger. The threshold is a fortieth of that round trip, 1 KB at least.
@pytest.mark.parametrize(
    ("device", "drain", "threshold"),
    [("one0", "920000000bps", "1000B"), ("ten0", "9500000000bps", "9375B")],
)
def test_phantom_queue_defaults_follow_the_papers(
    device: str, drain: str, threshold: str, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = {"--drain": drain, "--threshold": threshold}
    assert added("attach", device) == expected
    said = capsys.readouterr().err
    assert "assumed" in said
    for word in ("--drain", "paper 6.1, equation 5", "--threshold", "paper table 3"):
        assert word in said
    rate = {"one0": "1Gbps", "ten0": "10Gbps"}[device]
    assert added("--netns", "x", "set", "v0", "--rate", rate) == expected


def test_explicit_value_is_kept() -> None:
    assert added("attach", "ten0", "--drain", "9Gbps") == {"--threshold": "9375B"}
    assert added("attach", "ten0", "--drain=9Gbps", "--threshold", "3KB") == {}
    assert added("attach", "ten0", "--phantom", "off") == {}


def test_round_trip_sets_the_pacer_and_is_not_passed_on() -> None:
    found = with_defaults(["attach", "--rtt", "320us", "--replace", "ten0", "--eta", "10%"])
    assert found[:5] == ["attach", "--replace", "ten0", "--eta", "10%"]
    rest = iter(found[5:])
    more = dict(zip(rest, rest, strict=True))
    # T_r is 64 us, since 4.88 RTT / 8 is larger; T_i is 80 RTT = 25.6 ms, to two digits.
    assert more.pop("--update-interval") == "64000ns"
    assert more.pop("--association-timeout") == "26000000ns"
    assert set(more) == {"--drain", "--threshold", "--beta", "--association-probability"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("status",),
        ("detach", "ten0"),
        ("attach", "down0"),
        ("attach", "nosuch0"),
        ("attach", "one0", "ten0"),
        ("--netns", "x", "attach", "ten0"),
        ("attach", "--help"),
        ("rack", "up", "--rate", "1Gbps"),
    ],
)
def test_nothing_is_added(arguments: tuple[str, ...]) -> None:
    assert added(*arguments) == {}


def test_two_devices_of_one_rate() -> None:
    assert added("attach", "ten0", "ten1")["--drain"] == "9500000000bps"


def test_unusable_device_is_named() -> None:
    with pytest.raises(UsageError, match="--rtt"):
        with_defaults(["attach", "ten0", "--rtt", "soon"])
    with pytest.raises(UsageError, match="--rate"):
        with_defaults(["attach", "down0", "--rtt", "1ms"])
    with pytest.raises(UsageError, match="--rate"):
        with_defaults(["attach", "ten0", "--rate", "fast"])
