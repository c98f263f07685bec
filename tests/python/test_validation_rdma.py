"""validation/rdma/compare.py: recorded runs, faults that exclude a run, bad tables."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HULL = Path(sys.executable).parent / "hull"
# rdma-runs.toml: P/single.dctcp and P/single.none, and what they need.
TABLE = """
[scenario.single]
links = "star: hosts 0, 1, switch 2; 100 Gbps, 1 us"
window_ns = 100000
stop_ns = 4000000
flows = [[0, 1, 10000000, 0, 0, 10000, 100]]
[base]
min_rate = "1000Mb/s"
buffer_bytes = 33554432
pfc_alpha = 0.125
ack_prio = 0
nack_interval_us = { P = 500, H = 500, C = 4 }
ecn_map = "100 Gbps: kmin 400 KB, kmax 1600 KB, pmax 0.2"
[cc.dctcp]
has_win = 1
ewma_gain = 0.0625
dctcp_rate_ai = "615Mb/s"
ecn_map = "100000000000 300 300 1.0"
[cc.powertcp]
has_win = 1
[run."P/single.dctcp"]
simulator = "P"
scenario = "single"
cc = "dctcp"
flows_done = 1
flows = 1
fct_ns = [834091]
goodput_gbps = 95.91
queue = { switch = 2, port = 2, max_bytes = 1048, mean_bytes = 0.0 }
pfc_total = { pause = 0, resume = 0, paused_ns = 0 }
drops = { ingress = 0, egress = 0 }
[run."P/single.dctcp".resolved]
base_rtt_ns = 4160
window_bytes = 52000
payload_bytes = 1000
int_bytes = 0
wire_bytes = 1048
ack_bytes = 60
nic_tx_ns = 83
[run."P/single.powertcp"]
simulator = "P"
scenario = "single"
cc = "powertcp"
flows_done = 1
flows = 1
queue = { switch = 2, port = 2, max_bytes = 1090, mean_bytes = 0.0 }
pfc_total = { pause = 0, resume = 0, paused_ns = 0 }
drops = { ingress = 0, egress = 0 }
[run."P/single.powertcp".resolved]
base_rtt_ns = 4160
window_bytes = 52000
payload_bytes = 1000
int_bytes = 42
wire_bytes = 1090
ack_bytes = 88
nic_tx_ns = 87
"""


def compare(folder: Path, table: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    file = folder / "table.toml"
    file.write_text(table, encoding="utf-8")
    command = [sys.executable, str(ROOT / "validation/rdma/compare.py"), str(file)]
    command += ["--out", str(folder / "out"), "--hull", str(HULL), "--jobs", "1", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_recorded_flow_agrees_and_a_fault_excludes_a_run(tmp_path: Path) -> None:
    done = compare(tmp_path, TABLE, "--format", "json")
    assert done.returncode == 1, done.stderr  # half of two runs is excluded
    assert "excluded: P/single.powertcp: PowerTCP's first ACK" in done.stderr
    told = json.loads(done.stdout)
    (dctcp, powertcp) = told["rows"]
    assert powertcp["status"] == "excluded"
    assert dctcp["agrees"]
    fct = dctcp["quantities"]["fct"]
    assert fct["measured"] == pytest.approx(fct["recorded"], rel=1e-4)
    summary = told["summary"]
    assert (summary["compared"], summary["excluded"], summary["agree"]) == (1, 1, 1)
    only = compare(tmp_path, TABLE, "--only", "dctcp")
    assert only.returncode == 0, only.stderr
    assert "1 of 1 runs agree" in only.stdout


def test_a_run_that_differs_exits_with_status_1(tmp_path: Path) -> None:
    done = compare(tmp_path, TABLE.replace("[834091]", "[934091]"), "--only", "dctcp")
    assert done.returncode == 1, done.stderr
    assert "| P/single.dctcp | no | fct 934091, 8340" in done.stdout


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[base]", "[basis]", "base: missing; expected the tables"),
        ("[base]", "[base", "expected TOML"),
    ],
)
def test_bad_tables_are_reported(tmp_path: Path, old: str, new: str, told: str) -> None:
    done = compare(tmp_path, TABLE.replace(old, new, 1))
    assert done.returncode == 2, done.stdout
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('cc = "dctcp"', 'cc = "cubic"', "run.\"P/single.dctcp\".cc: 'cubic' is invalid"),
        ("star: hosts 0, 1, switch 2", "ring", "scenario.single.links: "),
        ("nic_tx_ns = 83\n", "", "'nic_tx_ns': missing"),
        ('dctcp_rate_ai = "615Mb/s"', 'dctcp_rate_ai = "fast"', "another form"),
        ("drops = { ingress = 0, egress = 0 }\n", "", "'drops': missing"),
    ],
)
def test_a_row_of_another_form_fails_alone(tmp_path: Path, old: str, new: str, told: str) -> None:
    done = compare(tmp_path, TABLE.replace(old, new, 1), "--format", "json")
    assert done.returncode == 1, done.stderr
    dctcp, powertcp = json.loads(done.stdout)["rows"]
    assert dctcp["status"] == "failed"
    assert told in dctcp["reason"]
    assert powertcp["status"] == "excluded"
    assert "Traceback" not in done.stderr


def test_keys_that_are_not_read_are_listed(tmp_path: Path) -> None:
    """A setting that the control would read, one of another control, and a recorded quantity."""
    own = 'differs = { sample_feedback = 1, rp_timer = "900" }\nhops = 2\nfct_ns'
    table = TABLE.replace("fct_ns", own, 1).replace("min_rate", "rp_timer = 300\nmin_rate", 1)
    done = compare(tmp_path, table, "--only", "dctcp", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert "not read: P/single.dctcp: differs.sample_feedback\n" in done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert row["unread"] == ["differs.sample_feedback", "flows_done", "flows", "hops"]


def test_the_clock_of_whole_ns_explains_a_run(tmp_path: Path) -> None:
    """`P/dumbbell2.timely.ackprio`: with whole ns the model repeats what was recorded."""
    links = "hosts 0, 1 on switch 4; hosts 2, 3 on switch 5; one link 4-5; all 100 Gbps, 1 us"
    scenario = (
        f'[scenario.two]\nlinks = "{links}"\nwindow_ns = 100000\nstop_ns = 4000001\n'
        "flows = [[0, 2, 2000000000, 0, 0, 1, 2], [1, 3, 2000000000, 200000, 0, 1, 3]]\n"
        '[cc.timely]\nhas_win = 0\nrate_ai = "100Mb/s"\nrate_hai = "500Mb/s"\n'
        '[run."P/dumbbell2.timely"]\nsimulator = "P"\nscenario = "two"\ncc = "timely"\n'
        'differs = { ack_prio = "2" }\nflows_done = 0\nflows = 2\n'
        "gbps_2_to_4ms = [43.35, 43.61]\n"
        "queue = { switch = 4, port = 3, max_bytes = 1209120, mean_bytes = 184233.0 }\n"
        "pfc_total = { pause = 0, resume = 0, paused_ns = 0 }\n"
        "drops = { ingress = 0, egress = 0 }\n"
        "resolved = { base_rtt_ns = 6240, window_bytes = 0, payload_bytes = 1000, int_bytes = 8, "
        "wire_bytes = 1056, ack_bytes = 60, nic_tx_ns = 84 }\n"
    )
    done = compare(tmp_path, TABLE + scenario, "--only", "timely", "--format", "json")
    assert done.returncode == 1, done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    told = "the model with it and without: gbps_2_to_4ms[1] 43.612 and 40.044"
    assert row["cause"] == f"the clock of whole ns; {told}"


def test_an_unknown_row_is_reported(tmp_path: Path) -> None:
    done = compare(tmp_path, TABLE, "--only", "quic")
    assert done.returncode == 2
    assert "--only: quic is invalid" in done.stderr
