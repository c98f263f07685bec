"""Jobs on the command line: `hull run JOB` with and without packets, and `hull convert`."""

import json
from pathlib import Path

import pytest

from conftest import Hull

PING = """num_ranks 2
rank 0 {
a: send 1000b to 1 tag 1
b: recv 1000b from 1 tag 2
}
rank 1 {
a: recv 1000b from 0 tag 1
b: send 1000b to 0 tag 2
b requires a
}
"""
STUCK = """num_ranks 2
rank 0 {
a: recv 8b from 1
b: send 8b to 1
b requires a
}
rank 1 {
a: recv 8b from 0
b: send 8b to 0
b requires a
}
"""
CLUSTER = """name = "cluster"
run.duration = "10ms"
topology.star.hosts = 2
host = { queue = "fifo", rate = "100Gbps", delay = "1us" }
switch = { rate = "100Gbps", delay = "1us" }
workload.job.overhead = "0ns"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("ping.goal", PING), ("stuck.goal", STUCK), ("cluster.toml", CLUSTER)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_loggp_has_the_closed_form(hull: Hull, folder: Path) -> None:
    """Two messages, each o + L + o + (s - 1) G."""
    network = "loggp:L=1000ns,o=100ns,g=0ns,G=0.5ns"
    done = hull("run", "ping.goal", "--network", network, "--format", "json")
    assert done.returncode == 0, done.stderr
    message = 100 + 1000 + 100 + 499
    assert json.loads(done.stdout)["end_ns"] == [2 * message, message + 100]
    told = hull("run", "ping.goal", "--network", network).stdout
    assert "step" in told
    assert "rank 0 ends last" in told


def test_packets_have_the_closed_form(hull: Hull, folder: Path) -> None:
    """Each message is one packet of 1000 bytes and 40 of headers over two links, which it passes
    one after the other.
    """
    done = hull("run", "ping.goal", "--on", "cluster.toml", "--out", "out", "-q")
    assert done.returncode == 0, done.stderr
    job = json.loads((folder / "out" / "summary.json").read_text())["parts"][0]["job"]
    assert job["step_us"] == pytest.approx(2 * (2 * 1.0 + 2 * 1040 * 8e-5), rel=1e-6)
    assert (job["ranks"], job["operations"], job["ended"]) == (2, 4, 4)


@pytest.mark.parametrize("network", [("--network", "loggp:"), ("--on", "cluster.toml")])
def test_a_job_that_cannot_end_says_who_waits(
    hull: Hull, folder: Path, network: tuple[str, str]
) -> None:
    done = hull("run", "stuck.goal", *network)
    assert done.returncode == 1
    assert "rank 0 in operation 0 for a message of rank 1 with tag 0" in done.stderr
    assert "rank 1 in operation 0 for a message of rank 0 with tag 0" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_job_that_cannot_end_ends_the_run(hull: Hull, folder: Path) -> None:
    """Beside traffic for 1000 s: some hours."""
    traffic = 'workload.flows={load="50%",sizes={fixed="100KB"}}'
    long = ("--set", "run.duration=1000s", "--set", traffic)
    done = hull("run", "stuck.goal", "--on", "cluster.toml", *long)
    assert done.returncode == 1
    assert "rank 0 in operation 0" in done.stderr


def test_forms_are_converted(hull: Hull, folder: Path) -> None:
    for source, target in (
        *(("ping.goal", "one.bin"), ("one.bin", "text.goal")),
        ("text.goal", "two.bin"),
    ):
        done = hull("convert", source, target)
        assert (done.returncode, done.stdout.strip()) == (0, target), done.stderr
    assert (folder / "one.bin").read_bytes() == (folder / "two.bin").read_bytes()
    again = hull("convert", "ping.goal", "one.bin")
    assert again.returncode == 2
    assert "one.bin: it exists; expected a new file" in again.stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n",
            "operations that wait for each other",
        ),
        ("num_ranks 2\nrank 0 {\nrecv 1b from 1\n}\nrank 1 {\n}\n", "without a send"),
        ("num_ranks 2\nrank 0 {\n}\n", "line 3"),
        ("hello\n", "expected a job"),
    ],
)
def test_bad_schedules_are_refused(hull: Hull, folder: Path, text: str, told: str) -> None:
    (folder / "bad.goal").write_text(text, encoding="utf-8")
    for network in (("--network", "loggp:"), ("--on", "cluster.toml")):
        done = hull("run", "bad.goal", *network)
        assert done.returncode == 2, done.stderr
        assert "bad.goal" in done.stderr
        assert told in done.stderr
        assert not (folder / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("none.goal", "--network", "loggp:"), "none.goal"),
        (("ping.goal", "--network", "loggp:X=1ns"), "found 'X=1ns'"),
        (("ping.goal", "--network", "logp"), "expected loggp:"),
        (("ping.goal", "--network", "loggp:", "--on", "cluster.toml"), "one of the two"),
        (("ping.goal", "--network", "loggp:L=fast"), "L"),
    ],
)
def test_bad_arguments_are_refused(
    hull: Hull, folder: Path, arguments: tuple[str, ...], told: str
) -> None:
    done = hull("run", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
