"""The runbook: each line that can be tried here is, and thresholds equal the simulation's."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hull.ask.host_steps import COUNTERS, UNIT, hull_options
from hull.ask.network import read_network
from hull.ask.question import Question, settings_for
from hull.ask.rollout import Rollout, rollout_of
from hull.ask.runbook import Runbook, html, markdown, runbook, terminal_line
from hull.ask.steps import Block
from hull.ask.verdict import Advice

ROOT = Path(__file__).parents[3]
FORM = "2x20@25G,2x100G"
SCHEMES = ("cubic", "bbr", "dctcp", "hull-5")


def asked(form: str = FORM, today: tuple[str, ...] = ("cubic", "dctcp")) -> Question:
    network = read_network(form)
    return Question(network, (0.02, 0.05), today, settings_for(network))


def advice(scheme: str | None) -> Advice:
    return Advice(scheme, "The 99th percentile falls by 50%.")


def book(scheme: str | None, form: str = FORM, **options: object) -> Runbook:
    today = ("dctcp",) if scheme == "cubic" else ("cubic", "dctcp")
    return runbook(asked(form, today), advice(scheme), **options)  # type: ignore[arg-type]


def rollout(scheme: str, form: str = FORM) -> Rollout:
    found = rollout_of(asked(form), advice(scheme), ())
    assert found is not None
    return found


def blocks(found: Runbook) -> list[Block]:
    return [block for section in found.sections for block in section.blocks]


def named(found: Runbook, end: str) -> str:
    (text,) = (block.text for block in blocks(found) if block.name.endswith(end))
    return text


def titles(found: Runbook) -> list[str]:
    return [section.title for section in found.sections]


def test_nothing_to_change() -> None:
    for scheme in (None, "cubic"):
        found = runbook(asked(), advice(scheme))
        assert titles(found) == ["Measure again"]
    assert "sysctl -w" not in markdown(found)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_order_and_content(scheme: str) -> None:
    found = book(scheme)
    marks = scheme in ("dctcp", "hull-5")
    control = "dctcp" if marks else scheme
    assert titles(found)[:3] == ["One rack first", "Compare before and after", "When to stop"]
    assert found.sections[0].items[0] == "The 99th percentile falls by 50%."
    assert f"net.ipv4.tcp_congestion_control = {control}\n" in named(
        found, "sysctl.d/90-congestion-control.conf"
    )
    routes = named(found, "congestion-routes.service")
    assert f"congctl {control}{' features ecn' if marks else ''}\n" in routes
    told = "Switches: no change" in titles(found)
    assert told is not marks
    assert ("Hosts: phantom queue and pacer" in titles(found)) is (scheme == "hull-5")
    assert all(item for section in found.sections for item in section.items)
    saved, restored = re.findall(r"\S+/before-congestion-control\.conf", markdown(found))
    assert saved == restored == "/etc/before-congestion-control.conf"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_sysctls_and_counters_are_the_kernels(scheme: str) -> None:
    found = book(scheme)
    lines = named(found, "90-congestion-control.conf").splitlines()
    names = [line.partition(" = ")[0] for line in lines if not line.startswith("#")]
    assert names == ["net.ipv4.tcp_congestion_control", "net.ipv4.tcp_ecn"]
    for name in names:
        assert Path("/proc/sys", *name.split(".")).exists()
    known: set[str] = set()
    for file in ("netstat", "snmp"):
        text = Path("/proc/net", file).read_text(encoding="ascii").splitlines()
        for line in text[::2]:
            group, *fields = line.split()
            known |= {group.removesuffix(":") + field for field in fields}
    assert {*COUNTERS, "TcpOutSegs"} <= known


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_units_are_valid(tmp_path: Path, scheme: str) -> None:
    units = [block for block in blocks(book(scheme)) if block.name.endswith(".service")]
    assert len(units) == {"cubic": 1, "bbr": 1, "dctcp": 2, "hull-5": 3}[scheme]
    for block in units:
        name = Path(block.name).name.replace("@", "@eth0")
        # The programs may not be here; their arguments are tried elsewhere.
        text = re.sub(r"=/\S+/(?:ip|hull-linux) ", "=/bin/true ", block.text)
        (tmp_path / name).write_text(text, encoding="utf-8")
        done = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", str(tmp_path / name)],
            capture_output=True,
            text=True,
            check=False,
        )
        mine = [line for line in done.stderr.splitlines() if name in line]
        assert not mine, mine


def test_unit_is_the_one_of_the_package() -> None:
    assert (ROOT / "linux/systemd/hull@.service").read_text(encoding="utf-8") == UNIT + "\n"


def test_routes_are_accepted_by_ip() -> None:
    tried = subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False)
    if tried.returncode or shutil.which("ip") is None:
        pytest.skip("needs a network namespace and ip")
    found = book("dctcp", prefixes=("10.1.0.0/16", "fd00:1::/32"))
    lines = re.findall(
        r"^Exec(?:Start|Stop)=(/\S+/ip .*)$",
        "\n".join(block.text for block in blocks(found)),
        re.MULTILINE,
    )
    assert len(lines) == 4
    assert sum("congctl dctcp features ecn" in line for line in lines) == 2
    # Reno is in every kernel; DCTCP may not be in this one.
    script = "set -e\nip link add eth0 type veth peer name peer\nip addr add 10.0.0.2/8 dev eth0\n"
    script += "ip link set dev eth0 up\nip link set dev peer up\n"
    script += "\n".join(line.replace("congctl dctcp", "congctl reno") for line in lines)
    done = subprocess.run(
        ["unshare", "-rn", "sh", "-c", script], capture_output=True, text=True, check=False
    )
    if "type" in done.stderr:
        pytest.skip("needs veth")
    assert done.returncode == 0, done.stderr


def test_hulls_options_are_those_of_the_program() -> None:
    source = (ROOT / "linux/hull-linux/src/command.rs").read_text(encoding="utf-8")
    fields = re.findall(r"^    (\w+): (?:Option<|bool)", source, re.MULTILINE)
    options = {f"--{field.replace('_', '-')}" for field in fields}
    words = hull_options(rollout("hull-5")).split()
    assert set(words[::2]) <= options
    values = dict(zip(words[::2], words[1::2], strict=True))
    assert (values["--rate"], values["--drain"]) == ("25Gbps", "23.75Gbps")
    assert values["--threshold"] == "2344B"
    assert (values["--update-interval"], values["--eta"]) == ("18000ns", "12.5%")


def test_sonic_configuration_has_the_simulated_thresholds() -> None:
    found = json.loads(named(book("dctcp"), ".json"))
    profiles, queues = found["WRED_PROFILE"], found["QUEUE"]
    thresholds = settings_for(read_network(FORM)).thresholds
    assert {
        name: {
            profile[f"{colour}_{end}_threshold"]
            for colour in ("green", "yellow", "red")
            for end in ("min", "max")
        }
        for name, profile in profiles.items()
    } == {f"DCTCP_{rate / 1e9:g}G": {str(k)} for rate, k in thresholds.items()}
    assert {queue["wred_profile"] for queue in queues.values()} == set(profiles)
    assert all(re.fullmatch(r"Ethernet\d+\|[0-7]", name) for name in queues)
    assert all(
        isinstance(value, str) for profile in profiles.values() for value in profile.values()
    )


def test_lines_of_eos_and_nxos() -> None:
    found = book("dctcp")
    text = markdown(found)
    eos = re.findall(
        r"random-detect ecn minimum-threshold (\d+) bytes maximum-threshold \1 bytes "
        r"max-mark-probability 100 weight 0$",
        text,
        re.MULTILINE,
    )
    nxos = re.findall(
        r"random-detect minimum-threshold (\d+) bytes maximum-threshold \1 bytes "
        r"drop-probability 100 weight 0 ecn$",
        text,
        re.MULTILINE,
    )
    assert eos == nxos == ["15938", "63750"]
    assert text.count("not tried on a switch by hull") == 3
    defined = set(
        re.findall(r"^(?:qos profile|policy-map type queuing) (\S+)$", text, re.MULTILINE)
    )
    used = set(re.findall(r"(?:service-profile|queuing output) (\S+)$", text, re.MULTILINE))
    assert defined == used == {"DCTCP-25G", "DCTCP-100G"}
    for block in (
        "25 Gbps, to hosts: K = 15,938 bytes (10.6 packets of 1,500 bytes)",
        "100 Gbps, between switches: K = 63,750 bytes (42.5 packets of 1,500 bytes)",
    ):
        assert block in text


def test_hull_marks_between_switches_only() -> None:
    result = "With a threshold on the real queue instead, the 99th percentile is 40 us."
    text = markdown(book("hull-5", switch_result=result))
    assert result in text
    assert "63750 bytes" in text
    assert "15938 bytes" not in text
    star = book("hull-5", "20@10G", switch_result=result)
    assert "All ports lead to hosts" in markdown(star)
    assert result in markdown(star)
    # Uplinks with the rate of the hosts' links.
    assert "10 Gbps, all ports" in markdown(book("hull-5", "2x4@10G,2x10G"))


def test_forms_hold_the_same(tmp_path: Path) -> None:
    for scheme in SCHEMES:
        found = book(scheme)
        text, page = markdown(found), html(found)
        assert text.count("```") == 2 * len(blocks(found))
        assert text.count("\n## ") == page.count("<details>") == len(found.sections)
        assert page.count("<pre>") == len(blocks(found))
        assert "&lt;" not in text
    assert terminal_line(found, "answer/runbook.md") == (
        f"Deploy HULL with 5% of the rate given up: answer/runbook.md has the steps "
        f"({len(found.sections)} sections)."
    )


def test_given_prefixes_replace_the_example() -> None:
    text = markdown(book("dctcp", prefixes=("10.1.0.0/16", "fd00:1::/32")))
    assert "10.0.0.0/8" not in text
    assert "ip -6 route replace fd00:1::/32 via fe80::1 dev eth0 congctl dctcp" in text
