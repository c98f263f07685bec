"""Traffic while programs are loaded, replaced and removed; `HULL_SOAK_SECONDS=600` runs longer."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

HULL = Path(sys.executable).with_name("hull-linux")
TRAFFIC = Path(sys.executable).with_name("hull-traffic")
SECONDS = float(os.environ.get("HULL_SOAK_SECONDS", "10"))
PORT = 7800

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not HULL.exists() or not TRAFFIC.exists(),
    reason="the rack needs root and `make linux`",
)


def run(*arguments: str | Path) -> str:
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def programs_and_maps() -> tuple[int, int]:
    """Count our programs and maps in the kernel by name; (0, 0) if bpftool is missing."""
    counts = []
    for kind in ("prog", "map"):
        try:
            listed = json.loads(run("bpftool", "-j", kind, "show"))
        except FileNotFoundError:
            return (0, 0)
        ours = ("phantom", "pacer", "association", "meter_")
        counts.append(sum(entry.get("name", "").startswith(ours) for entry in listed))
    return counts[0], counts[1]


@pytest.fixture
def rack() -> Iterator[None]:
    subprocess.run([HULL, "rack", "down"], capture_output=True, check=False)
    run(HULL, "rack", "up", "--hosts", "4", "--rate", "200Mbps", "--delay", "0us")
    yield
    run(HULL, "rack", "down")


def traffic_control() -> str:
    shown = [run("tc", "-n", "hull-switch", "qdisc", "show")]
    shown += [run("tc", "-n", f"hull-h{host}", "qdisc", "show") for host in range(4)]
    return "".join(shown)


def test_nothing_is_lost_or_left_behind(rack: None, tmp_path: Path) -> None:
    congestion = run(HULL, "dctcp", "on").strip()
    before, queues = programs_and_maps(), traffic_control()
    children = []
    for host in (1, 2, 3):
        serve = ["serve", "--listen", f"10.77.0.{host + 1}:{PORT}"]
        serve += ["--congestion-control", congestion]
        children.append(
            subprocess.Popen(
                ["ip", "netns", "exec", f"hull-h{host}", TRAFFIC, *serve],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
    time.sleep(0.5)
    servers = [word for host in (1, 2, 3) for word in ("--server", f"10.77.0.{host + 1}:{PORT}")]
    servers += ["--congestion-control", congestion]
    mixed = ["dynamic", "--load", "40%", "--rate", "200Mbps", "--class", "1KB:95%"]
    mixed += ["--class", "1MB:5%", "--duration", f"{SECONDS:.0f}s", "--warmup", "0ms"]
    long = ["long", "--duration", f"{SECONDS:.0f}s", "--warmup", "0ms"]
    clients = [
        subprocess.Popen(
            [
                "ip",
                "netns",
                "exec",
                "hull-h0",
                TRAFFIC,
                *load,
                *servers,
                "--out",
                tmp_path / load[0],
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for load in (mixed, long)
    ]
    draw = random.Random(1)
    end = time.monotonic() + SECONDS
    rounds = 0
    while time.monotonic() < end:
        numbers = ["--rate", "200Mbps", "--pacer", "off"]
        numbers += ["--drain", f"{draw.randrange(100, 200)}Mbps"]
        numbers += ["--threshold", f"{draw.randrange(500, 30_000)}B"]
        where = ["--phantom", draw.choice(["ingress", "egress"])]
        spot = draw.choice([("hull-h0", "eth0"), ("hull-switch", "p0")])
        run(HULL, "--netns", spot[0], "attach", spot[1], *numbers, *where)
        time.sleep(draw.random() * 0.3)
        numbers[5] = f"{draw.randrange(100, 200)}Mbps"
        run(HULL, "--netns", spot[0], "set", spot[1], *numbers, *where)
        time.sleep(draw.random() * 0.3)
        run(HULL, "--netns", spot[0], "detach", spot[1])
        rounds += 1
    for process in clients:
        _, words = process.communicate(timeout=60)
        assert process.returncode == 0, words
    for child in children:
        child.kill()
        child.wait()
    summary = json.loads((tmp_path / "dynamic" / "summary.json").read_text())
    assert all(entry["count"] == 0 for entry in summary["unanswered"]), summary["unanswered"]
    assert len(json.loads((tmp_path / "long" / "summary.json").read_text())["long_flows"]) == 3
    assert rounds >= SECONDS / 2
    assert traffic_control() == queues
    # The kernel frees programs shortly after their last user has gone.
    patience = time.monotonic() + 10
    while programs_and_maps() != before and time.monotonic() < patience:
        time.sleep(0.2)
    assert programs_and_maps() == before
