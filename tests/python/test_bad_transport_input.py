"""Invalid settings of message transports and of two data centres, on the command line.

Exit status 2 and a message with the key, the value found and the expected form.
"""

from pathlib import Path

import pytest

from conftest import Hull
from hull import scenarios


@pytest.mark.parametrize(
    ("name", "setting", "key", "found", "expected"),
    [
        ("uec", "transport.message.paths=5000", "paths", "5000", "1 to 4096"),
        ("uno-fig4", "transport.message.paths=0", "paths", "0", "1 to 4096"),
        (
            "uno-fig4",
            'transport.message={load_balancing="subflows",paths=8,subflows=9}',
            "subflows",
            "9",
            "1 to 8, as paths",
        ),
        ("uno-fig4", "transport.message.erasure={parity=0}", "parity", "0", "1 to 63 packets"),
        ("uno-fig4", "transport.message.erasure={data=0}", "data", "0", "1 to 63 packets"),
        (
            "uno-fig4",
            "topology.two_datacentres.border_rate=400Gbps",
            "border_rate",
            '"400Gbps"',
            'at most "100Gbps"',
        ),
        ("static", "switch.trimming={}", "switch.trimming", "a table", "understands trimmed"),
    ],
)
def test_invalid_key_is_named(
    hull: Hull, place: Path, name: str, setting: str, key: str, found: str, expected: str
) -> None:
    (place / "scenario.toml").write_text(scenarios.text(name), encoding="utf-8")
    done = hull("run", "scenario.toml", "--set", setting, "--out", "out")
    assert done.returncode == 2, done.stderr
    assert not done.stdout
    assert not (place / "out").exists()
    for part in (f"{key}: ", found, expected):
        assert part in done.stderr


def test_no_max_window_note_for_messages(hull: Hull, place: Path) -> None:
    """`max_window` does not apply to messages: 1000 packets are below the BDP of Uno's borders."""
    (place / "scenario.toml").write_text(scenarios.text("uno-fig4"), encoding="utf-8")
    done = hull("run", "scenario.toml", "--set", "run.duration=1ms", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "max_window" not in done.stderr
