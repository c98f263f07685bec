"""A real Slurm cluster: Debian's munged, slurmctld and slurmd on this one machine."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from conftest import COMMAND, Hull
from hull import UsageError, scenarios
from hull.sweeps.slurm import open_slurm
from sweep_help import GRID, SHORT, runs

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel")
CONFIGURATION = """
ClusterName=hull
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ctld}
SlurmdPort={d}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/d.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
KillWait=1
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName=localhost NodeAddr=127.0.0.1 CPUs=2 RealMemory=500 State=UNKNOWN
PartitionName=main Nodes=localhost Default=YES MaxTime=60 State=UP
"""


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        servers = [
            stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)
        ]
        return [server.getsockname()[1] for server in servers]


@pytest.fixture
def slurm(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cluster of one machine; SLURM_CONF names it."""
    pytest.importorskip("submitit", reason="needs hullnet[slurm]")
    path = f"{os.environ['PATH']}:/usr/sbin"
    missing = [name for name in PROGRAMS if shutil.which(name, path=path) is None]
    if missing or os.geteuid() != 0:
        pytest.skip("no Slurm can be started here: needs root; Debian: slurm-wlm munge")
    ctld, d = free_ports(2)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hull-slurm-")))
        folder.chmod(0o755)
        for name in ("munge", "state", "spool"):
            (folder / name).mkdir(mode=0o755)
        key = folder / "munge.key"
        key.touch(mode=0o400)
        key.write_bytes(os.urandom(128))
        conf = folder / "slurm.conf"
        conf.write_text(CONFIGURATION.format(folder=folder, ctld=ctld, d=d))
        monkeypatch.setenv("SLURM_CONF", str(conf))
        munge = [
            *("munged", "--foreground", "--force", f"--key-file={key}"),
            *(f"--{what}-file={folder}/munge/{what}" for what in ("pid", "log", "seed")),
            f"--socket={folder}/munge/socket",
        ]
        for command in (munge, ["slurmctld", "-D"], ["slurmd", "-D", "-N", "localhost"]):
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PATH": path},
            )
            stack.enter_context(process)
            stack.callback(process.terminate)
            if command is munge:
                wait_until(lambda: (folder / "munge/socket").exists())
        wait_until(lambda: "idle" in told("sinfo", "--noheader", "--format=%T"))
        yield


def wait_until(there: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 40
    while not there():
        assert time.monotonic() < deadline, "Slurm does not start"
        time.sleep(0.1)


def told(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def hosts(store: str) -> list[str]:
    log = Path(store, "log.jsonl")
    lines = log.read_text().splitlines() if log.exists() else []
    return [json.loads(line)["host"] for line in lines]


def test_jobs_match_threads_despite_a_cancelled_job(slurm: None, hull: Hull, place: Path) -> None:
    Path("table4.toml").write_text(scenarios.text("table4"), encoding="utf-8")
    command = ["sweep", "table4.toml", *GRID, "--seeds", "4"]
    command += ["--set", "run.duration=4s", "--set", "run.warmup=20ms"]
    options = ["--executor", "slurm", "--jobs", "2", "--slurm", "partition=main"]
    with subprocess.Popen(
        [*COMMAND, *command, *options, "--slurm", "time=5", "--store", "s", "--out", "s.parquet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as sweep:
        wait_until(lambda: len(hosts("s")) >= 4)
        # The batch script as Slurm stores it.
        job = told("squeue", "--noheader", "--array", "--format=%i", "--states=R").split()[0]
        script = told("scontrol", "write", "batch_script", job.partition("_")[0], "-")
        subprocess.run(["scancel", job], check=True)
        said = sweep.communicate(timeout=150)
    assert sweep.returncode == 0, said
    assert "#SBATCH --partition=main\n" in script
    assert "#SBATCH --time=5\n" in script
    assert "#SBATCH --array=0-1%2\n" in script
    assert "60 runs made" in said[1]
    assert 2 <= len(set(hosts("s"))) <= 6
    threads = hull(*command, "--store", "t", "--out", "t.parquet")
    assert threads.returncode == 0, threads.stderr
    assert Path("s.parquet").read_bytes() == Path("t.parquet").read_bytes()
    assert runs(Path("s")) == runs(Path("t"))
    assert told("squeue", "--noheader") == ""

    refused = hull(*command, "--store", "u", "--executor", "slurm", "--slurm", "partition=none")
    assert refused.returncode == 1
    assert "Slurm takes no job: " in refused.stderr
    assert "invalid partition" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_slurm_not_installed(hull: Hull, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("submitit", reason="needs hullnet[slurm]")
    monkeypatch.setenv("PATH", "/nowhere")
    refused = hull("sweep", "scenario.toml", *SHORT, "--executor", "slurm")
    assert refused.returncode == 2
    assert "--executor slurm: no sbatch and srun here" in refused.stderr


@pytest.mark.parametrize("option", ["time=2:00:00", "time=0", "nodes=x"])
def test_invalid_options(option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("submitit", reason="needs hullnet[slurm]")
    monkeypatch.setattr(shutil, "which", lambda name: name)
    key, _, value = option.partition("=")
    with pytest.raises(UsageError, match=f"^slurm {key}: {value} is invalid; expected a whole n"):
        open_slurm(1, {key: value}, tmp_path)
