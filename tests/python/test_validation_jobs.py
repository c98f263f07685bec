"""validation/jobs/compare.py: recorded runs of schedules, outcomes, order of events, bad tables."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
JOBS = ROOT / "validation" / "jobs"
HULL = Path(sys.executable).parent / "hull"
SHARED = ROOT.parent / "shared"
# collectives-runs.toml: recorded values of single runs, the sets and configurations as there.
TABLE = """
[logp_sets]
A = { L = 2500, o = 1500, g = 1000, G = 6, O = 0, S = 65535 }
B = { L = 1000, o = 0, g = 0, G = 1, O = 0, S = 1000000000 }
B2 = { L = 1000, o = 0, g = 0, G = 1, O = 0, S = 1000000000 }

[htsim_config.H3]
options = "-sender_cc_only -nodes 32 -tiers 2 -linkspeed 200000"
queue_bytes = 219950
ecn_low_bytes = 45650
ecn_high_bytes = 178450
[htsim_config.H2]
options = "-sender_cc_only -nodes 32 -tiers 2 -linkspeed 400000"
[htsim_config.H2g]
options = "as H2"
[htsim_config.H9]
options = "-sender_cc_algo constant -sender_cc_only -nodes 32 -tiers 2 -linkspeed 200000"

[[run]]
tool = "LogGOPSim"
goal = "pingpong_8B"
set = "A"
end_ns = [11084, 7042]
max_ns = 11084
closed_ns = [11084, 7042]

[[run]]
tool = "LogGOPSim"
goal = "cpus_cross_dep"
set = "B"
end_ns = [50000, 1999]
max_ns = 50000

[[run]]
tool = "LogGOPSim of ATLAHS (HTSIM lgs)"
goal = "bintree_bcast_16_8B"
set = "B2"
end_ns = [
  7, 1014, 1021, 2021, 2028, 2028, 2035, 3021, 3028, 3035, 3028, 3028, 3035, 3035, 3042, 4028
]
max_ns = 4028

[[run]]
tool = "htsim_uec -goal"
goal = "pingpong_8B"
config = "H3"
end_ns = [8021, 8021]
max_ns = 8021
messages = 2
message_us = { min = 4.010880, mean = 4.010880, median = 4.010880, max = 4.010880 }
packets = 2
retransmitted = 0
nacks = 0

[[run]]
tool = "htsim_uec -goal"
goal = "pingpong_8B"
config = "H9"
max_ns = 8021

[[run]]
tool = "htsim_uec -goal"
goal = "tags_reversed"
config = "H2g"
end_ns = [0, 0]
max_ns = 0
messages = 1

[[run]]
tool = "htsim_uec -goal"
goal = "tags_wildcard"
config = "H3"
max_ns = 10000
messages = 2

[[run]]
tool = "htsim_uec -goal"
goal = "held_back"
config = "H3"
max_ns = 1
"""
PINGPONG = """num_ranks 2
rank 0 {
a: send 8b to 1 tag 0
b: recv 8b from 1 tag 1
}
rank 1 {
a: recv 8b from 0 tag 0
b: send 8b to 0 tag 1
b requires a
}
"""
CROSS = """num_ranks 2
rank 0 {
a: calc 50000 cpu 1
b: send 1000b to 1 tag 0
b requires a
}
rank 1 {
a: recv 1000b from 0 tag 0
}
"""
REVERSED = """num_ranks 2
rank 0 {
a: send 1000b to 1 tag 1
b: send 2000b to 1 tag 2
b requires a
}
rank 1 {
a: recv 2000b from 0 tag 2
b: recv 1000b from 0 tag 1
b requires a
}
"""
WILDCARD = """num_ranks 2
rank 0 {
a: send 1000b to 1 tag 1
b: send 2000b to 1 tag 2
}
rank 1 {
a: recv 1000b from -1 tag -1
b: recv 2000b from 0 tag -1
c: send 8b to 0 tag 7
c requires a
}
"""
TREE = "num_ranks 16\n" + "".join(
    f"rank {rank} {{\n"
    + (f"a: recv 8b from {(rank - 1) // 2} tag 0\n" if rank else "")
    + "".join(
        f"s{child}: send 8b to {child} tag 0\n" + (f"s{child} requires a\n" if rank else "")
        for child in (2 * rank + 1, 2 * rank + 2)
        if child < 16
    )
    + "}\n"
    for rank in range(16)
)
SCHEDULES = {
    "pingpong_8B": PINGPONG,
    "cpus_cross_dep": CROSS,
    "tags_reversed": REVERSED,
    "tags_wildcard": WILDCARD,
    "bintree_bcast_16_8B": TREE,
}


def compare(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(JOBS / "compare.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def inputs(folder: Path, table: str = TABLE) -> list[str | Path]:
    (folder / "table.toml").write_text(table, encoding="utf-8")
    (folder / "goal-own").mkdir()
    for name, text in SCHEDULES.items():
        (folder / "goal-own" / f"{name}.goal").write_text(text, encoding="utf-8")
    out: list[str | Path] = ["--out", folder / "out", "--hull", HULL, "--jobs", "2"]
    return [folder / "table.toml", "--formats", folder, *out]


def test_recorded_runs_agree(tmp_path: Path) -> None:
    done = compare(*inputs(tmp_path), "--format", "json", "--write", tmp_path / "results.md")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    rows = {row["id"]: row for row in told["rows"]}
    exact = rows["pingpong_8B/A"]
    assert (exact["agrees"], exact["end_ns"]["measured"]) == (True, [11084, 7042])
    # By its meaning: 50000 of computation, 1000 of latency, 999 bytes.
    assert rows["cpus_cross_dep/B"]["end_ns"]["measured"] == [50000, 51999]
    assert rows["cpus_cross_dep/B"]["agrees"]
    tree = rows["bintree_bcast_16_8B/B2"]
    assert not tree["agrees"]
    assert tree["max_ns"]["ratio"] == 1
    assert tree["cause"].startswith("the order of events at one time")
    ping = rows["pingpong_8B/H3"]
    # One packet over two links, and its acknowledgment: recorded to the ps.
    assert round(ping["message_mean_us"]["measured"], 6) == 4.01088
    assert (ping["packets"]["ratio"], ping["nacks"]["measured"]) == (1, 0)
    assert (rows["pingpong_8B/H9"]["agrees"], rows["pingpong_8B/H9"]["within"]) == (None, None)
    for name in ("tags_reversed/H2g", "tags_wildcard/H3"):
        outcome = {"published": "stopped", "measured": "stopped"}
        assert (rows[name]["outcome"], rows[name]["agrees"]) == (outcome, True)
    assert "tag 2147483646" in rows["tags_wildcard/H3"]["reason"]
    assert rows["held_back/H3"]["reason"].startswith("held_back.goal is not in ")
    assert (told["summary"]["skipped"], told["summary"]["holds"]) == (1, True)
    assert "the goals are reached" in (tmp_path / "results.md").read_text(encoding="utf-8")


def test_far_times_and_other_outcomes_exit_with_status_1(tmp_path: Path) -> None:
    given = inputs(tmp_path, TABLE.replace("max_ns = 8021", "max_ns = 9000"))
    done = compare(*given, "--only", "pingpong_8B/H3")
    assert done.returncode == 1, done.stderr
    assert "| 9.000        | 8.022    | 0.8913 | 3%" in done.stdout
    table = TABLE.replace("messages = 2\nmessage_us", "messages = 1\nmessage_us")
    (tmp_path / "table.toml").write_text(table, encoding="utf-8")
    done = compare(*given, "--only", "pingpong_8B/H3", "--format", "json")
    assert done.returncode == 1, done.stderr
    outcome = json.loads(done.stdout)["rows"][0]["outcome"]
    assert outcome == {"published": "stopped", "measured": "ended"}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("max_ns = 11084", 'max_ns = "x"', "run[0].max_ns: x is invalid; expected a number"),
        ('goal = "pingpong_8B"', "goal = 3", "run[0].goal: 3 is invalid; expected a text"),
        ('set = "A"', 'set = "Z"', "run[0].set: Z is invalid; expected one of A, B, B2"),
        ('set = "A"', 'set = "A"\nconfig = "H3"', "run[0]: ['set', 'config'] is invalid"),
        ("[11084, 7042]", '["x"]', "expected a number for each rank"),
        ("[[run]]", "[[ran]]", "run: None is invalid; expected recorded runs"),
        ("[logp_sets]", "[logp_sets", "expected TOML"),
    ],
)
def test_bad_tables_are_reported(tmp_path: Path, old: str, new: str, told: str) -> None:
    limit = -1 if old == "[[run]]" else 1
    done = compare(*inputs(tmp_path, TABLE.replace(old, new, limit)))
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_bad_options_are_reported(tmp_path: Path) -> None:
    given = inputs(tmp_path)
    for option, value, told in (
        ("--only", "nothing", "--only: nothing is invalid"),
        ("--jobs", "0", "--jobs: 0 is invalid; expected at least 1"),
        ("--formats", str(tmp_path / "none"), "none is invalid; expected a folder"),
    ):
        done = compare(*given, option, value)
        assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def test_models_of_the_queues_have_the_recorded_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    table, formats = SHARED / "published" / "collectives-runs.toml", SHARED / "formats"
    if not table.is_file():
        pytest.skip("the recorded runs are not here")
    monkeypatch.syspath_prepend(str(JOBS))
    models = import_module("event_order")
    read: Any = import_module("recorded").read(table, formats)
    for row in read.rows:
        # The models have no receives from any rank.
        if row.is_of_packets or row.schedule.has_wildcards:
            continue
        of_wire = "ATLAHS" in row.given["tool"]
        ends = models.ends(row.schedule.path, read.sets[row.parameters], of_wire=of_wire)
        wanted = row.given.get("end_ns")
        assert ends == wanted if wanted else max(ends) == row.given["max_ns"], row.name


def test_recorded_queues_are_the_derived_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    table, formats = SHARED / "published" / "collectives-runs.toml", SHARED / "formats"
    if not table.is_file():
        pytest.skip("the recorded runs are not here")
    monkeypatch.syspath_prepend(str(JOBS))
    networks: Any = import_module("networks")
    read: Any = import_module("recorded").read(table, formats)
    for name, given in read.configurations.items():
        switch: Any = networks.of_configuration(name, read, formats)[0]["switch"]
        assert switch["buffer"] == f"{given['queue_bytes']}B", name
        marking = switch["marking"]
        assert marking["threshold"] == f"{given['ecn_low_bytes']}B", name
        assert marking["max_threshold"] == f"{given['ecn_high_bytes']}B", name
