"""`hull keys`: one key per line, names never truncated, at any width; shell completion."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import COMMAND, Hull
from hull import _core, scenarios
from hull.cli.keys import key_lines, key_row, keys_like
from hull.errors import UsageError

ALL = [row["key"] for row in json.loads(_core.keys())]


def test_each_key_is_on_one_line(hull: Hull) -> None:
    for columns in ("", "40", "80", "200", "nonsense", "0"):
        done = subprocess.run(
            [*COMMAND, "keys"],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "COLUMNS": columns},
        )
        head, *lines = done.stdout.splitlines()
        assert head.startswith("key")
        assert [line.split()[0] for line in lines] == ALL, columns
        if columns.isdecimal() and int(columns) >= 80:
            assert max(map(len, lines)) <= int(columns)
    assert hull("keys").stdout.count("uplink_rate") == 6


def test_narrow_terminal_omits_columns() -> None:
    rows = [*map(key_row, keys_like("pacer.eta")), *map(key_row, keys_like("run.threads"))]
    [_, eta, threads] = key_lines(rows, None)
    assert " ".join(eta.split()) == "pacer.eta share 20% 12.5% Weight of a new rate sample (eta)."
    assert threads.endswith("The results are the same.")
    meaning = "Weight of a new rate sample (eta)."
    for width, line in (
        (80, f"pacer.eta    share    20%      12.5%    {meaning}"),
        (70, "pacer.eta    share    20%      12.5%    Weight of a new rate sample (…"),
        (64, "pacer.eta    share    12.5%    Weight of a new rate sample (eta…"),
        (60, f"pacer.eta    12.5%    {meaning}"),
        (47, f"pacer.eta    {meaning}"),
        (20, "pacer.eta    Weight…"),
    ):
        assert key_lines(rows, width)[1] == line


@pytest.mark.parametrize(
    ("pattern", "some", "count"),
    [
        ("uplink_rate", "topology.tree.uplink_rate", 6),
        ("UPLINK", "topology.tree.uplink_rate", 12),
        ("pacer.*", "pacer.fifo", 18),
        ("switch.*.threshold", "switch.marking.threshold", 4),
        ("run.see?", "run.seed", 1),
    ],
)
def test_pattern_selects_keys(pattern: str, some: str, count: int) -> None:
    found = [row["key"] for row in keys_like(pattern)]
    assert some in found
    assert len(found) == count


def test_a_pattern_without_keys(hull: Hull) -> None:
    with pytest.raises(UsageError, match=r"no key has 'treshold' in it; did you mean .*threshold"):
        keys_like("treshold")
    done = hull("keys", "nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("hull: error: PATTERN: no key has 'nonsense' in it; expected")


def complete(hull: Hull, *words: str) -> list[str]:
    done = hull("completion", "words", "--", *words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_command_line_is_completed(hull: Hull) -> None:
    assert {"run", "check", "keys"} <= set(complete(hull, ""))
    assert complete(hull, "ch") == ["check"]
    assert complete(hull, "scenarios", "copy", "epfl-t") == ["epfl-table2"]
    assert complete(hull, "scenarios", "copy", "") == scenarios.names()
    assert complete(hull, "run", "--se") == ["--seeds", "--set"]
    assert complete(hull, "run", "x.toml", "--set", "pacer.fi") == ["pacer.fifo="]
    assert complete(hull, "sweep", "x.toml", "--force", "--over", "run.seeds") == ["run.seeds="]
    assert complete(hull, "check", "x.toml", "--format", "") == ["json", "table"]
    values = ["host.queue=fair", "host.queue=fifo", "host.queue=fq", "host.queue=fq_codel"]
    assert complete(hull, "run", "x.toml", "--set", "host.queue=") == values
    assert complete(hull, "run", "x.toml", "--set", "host.queue", "=", "fa") == values[:1]
    assert complete(hull, "run", "x.toml", "--set", "host.queue", "=") == values
    assert complete(hull, "check", "x.toml", "--set", "transport.ecn=") == [
        *("transport.ecn=false", "transport.ecn=true")
    ]
    assert complete(hull, "sweep", "x.toml", "--over", "host.queue=fifo,fa") == [
        "host.queue=fifo,fair"
    ]
    assert complete(hull, "run", "x.toml", "--set", "host.rate=") == []
    assert complete(hull, "run", "x.toml", "--set", "host.queue=fifo", "--se") == [
        *("--seeds", "--set")
    ]
    assert complete(hull, "keys", "transport.header") == ["transport.header"]
    assert complete(hull, "completion", "") == ["bash", "fish", "zsh"]
    assert "table4" in complete(hull, "reproduce", "fig2", "table")
    # The shell completes file names.
    assert complete(hull, "run", "") == []
    assert complete(hull, "run", "x.toml", "--out", "") == []
    assert complete(hull, "nonsense", "--what", "\x1b", "") != ["\x1b"]
    assert complete(hull) != []


def test_completion_scripts_are_valid(hull: Hull, place: Path) -> None:
    for shell in ("bash", "zsh", "fish"):
        script = hull("completion", shell).stdout
        assert "hull completion words" in script
        if shutil.which(shell):
            subprocess.run([shell, "-n"], input=script, text=True, check=True)
    done = hull("completion", "tcsh")
    assert done.returncode == 2
    assert done.stderr == "hull: error: SHELL: 'tcsh' is invalid; expected bash, zsh, fish\n"


def test_bash_completes(hull: Hull, place: Path) -> None:
    command = place / "hull"
    command.write_text(f'#!/bin/sh\nexec {" ".join(COMMAND)} "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    script = hull("completion", "bash").stdout
    script += 'PATH="$PWD:$PATH"; COMP_WORDS=(hull run x.toml --set run.warm); COMP_CWORD=4\n'
    script += 'compopt() { echo "options $1 $2"; }; _hull; echo "${COMPREPLY[@]}"\n'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "options -o nospace\nrun.warmup=\n"
    words = "COMP_WORDS=(hull run x.toml --set transport.ecn = {}); COMP_CWORD={}; _hull\n"
    script += "COMPREPLY=(); " + words.format("t", 6) + 'echo "${COMPREPLY[@]}"\n'
    script += words.format("", 5) + 'echo "${COMPREPLY[@]}"\n'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[2:] == ["true", "false true"]
