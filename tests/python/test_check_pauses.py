"""What `hull check` says about pauses: by hand the same numbers as pause_kinds.rs of hull-sim."""

import json
from pathlib import Path

import tomli_w

from conftest import Hull

STAR = {
    "name": "checked",
    "run": {"duration": "1ms"},
    "topology": {"star": {"hosts": 4}},
    "host": {"rate": "10Gbps", "delay": "1us"},
    "switch": {"rate": "10Gbps", "delay": "1us", "pfc": {}},
    "transport": {"congestion_control": "line-rate", "framing": "38B"},
    "workload": {"long_lived": {"flows": [{"src": 1, "dst": 0}]}},
}
DEFAULT = "switch.pfc.reaction = 614.4ns is hull's default and of no standard"


def lines(hull: Hull, *settings: str) -> list[str]:
    """The lines about pauses."""
    Path("own.toml").write_text(tomli_w.dumps(STAR), encoding="utf-8")
    done = hull("check", "own.toml", *(part for one in settings for part in ("--set", one)))
    assert (done.returncode, done.stderr) == (0, "")
    kept = (line for line in done.stdout.splitlines() if line.startswith(("pauses", "headroom")))
    return [line.split(maxsplit=1)[1] for line in kept]


def test_each_kind_of_port_has_its_sizes_and_their_terms(hull: Hull) -> None:
    sizes, terms, decided, reaction = lines(hull)
    assert sizes == "host-switch, 4 at 10Gbps: XOFF 10.79KB, XON 7.788KB, headroom 7.788KB"
    assert terms == (
        "host-switch: 7.788KB for a packet and 1.23us a packet of its own + 81.6ns the pause frame "
        "+ 1us its delay + 614.4ns the peer's reaction + 1.23us a packet of the peer "
        "+ 1us its delay = 5.157us"
    )
    assert decided == "XOFF by default: computed headroom and hysteresis; headroom as computed"
    assert reaction.startswith(DEFAULT)


def test_what_decides_is_named(hull: Hull) -> None:
    own = lines(hull, "switch.pfc.xoff=20KB", "switch.pfc.headroom=9KB", "switch.pfc.reaction=0s")
    assert own[0] == "host-switch, 4 at 10Gbps: XOFF 20KB, XON 17KB, headroom 9KB"
    assert "reaction" not in own[1]
    assert own[2:] == ["XOFF by switch.pfc.xoff = 20KB; headroom by switch.pfc.headroom = 9KB"]
    rules = lines(hull, "switch.memory.size=1MB", "switch.pfc.rules=hpcc")
    assert rules[0].endswith("headroom 3.75KB")  # three delays of 1 us
    told = "XOFF by the default alpha, 12.5%, alone in the switch's memory; headroom by "
    assert rules[2:] == [f"{told}switch.pfc.rules = hpcc"]
    alpha = lines(hull, "switch.memory.size=1MB", "switch.pfc.alpha=50%")
    assert alpha[2].startswith("XOFF by switch.pfc.alpha = 50%, alone in the switch's memory")


def test_schemes_have_their_own(hull: Hull) -> None:
    schemes = {
        "schemes": {"lossy": {"switch": {"buffer": "100KB"}}, "lossless": {"switch": {"pfc": {}}}}
    }
    content = {**STAR, "switch": {"rate": "10Gbps", "delay": "1us"}, **schemes}
    Path("own.toml").write_text(tomli_w.dumps(content), encoding="utf-8")
    found = json.loads(hull("check", "own.toml", "--format", "json").stdout)["pauses"]
    assert [entry["schemes"] for entry in found] == [["lossless"]]
    assert [kind["ports"] for entry in found for kind in entry["kinds"]] == [4]
    shown = hull("check", "own.toml").stdout
    assert "headroom 7.788KB (lossless)\n" in shown
