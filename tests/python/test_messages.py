"""Error messages are short lines without control characters, for any content of arguments and
files: one line, or one for each error in a scenario.
"""

import json
import sys
import tomllib
from pathlib import Path

import pytest

import hull
from hull import cli
from hull.terminal.messages import escaped, one_line

RUDE = "a\nb\x1b[31m\x07\x9b2J\u202ec\u2028d"
LONG = "x" * 1_000_000
FLOWS = "workload.flows"

SCENARIO = """
name = "test"
run.duration = "1us"
host = { rate = "1Gbps", delay = "1us" }
switch = { rate = "1Gbps", delay = "1us" }
"""
STAR = 'topology.star.hosts = 4\nworkload.flows = { load = "1%", sizes.fixed = "1KB" }\n'

COMMANDS = [
    "run|{}",
    "run|s.toml|--set|{}",
    "run|s.toml|--set|{}=1",
    "check|s.toml|--set|{}=1",
    "check|s.toml|--set|pacer.fifo={0}|--set|switch.{0}=1",
    "keys|{}",
    "completion|{}",
    "run|s.toml|--set|run.{}=1",
    "run|s.toml|--set|run.duration={}",
    "run|s.toml|--set|name={}",
    "run|s.toml|--set|transport.congestion_control={}",
    "run|s.toml|--set|schemes.{}.pacer.beta=3",
    "run|s.toml|--set|workload.flows={}",
    "run|s.toml|--set|topology={{star.hosts=4,file.path='''{}'''}}",
    "run|s.toml|--seeds|{}",
    "run|s.toml|--jobs|{}",
    "run|s.toml|--out|s.toml/{}",
    "run|s.toml|--{}",
    "sweep|s.toml|--over|{}",
    "sweep|s.toml|--over|{}=1",
    "sweep|s.toml|--over|workload.load={}",
    "sweep|s.toml|--until|{}",
    "sweep|s.toml|--until|fct={}",
    "sweep|s.toml|--max-seeds|{}",
    "sweep|s.toml|--executor|{}",
    "sweep|s.toml|--slurm|{}",
    "sweep|s.toml|--store|s.toml/{}|--out|f.csv",
    "sweep|s.toml|--out|{}",
    "sweep|s.toml|--show|{}|--out|f.csv",
    "reproduce|{}",
    "reproduce|eq5|--set|{}",
    "reproduce|eq5|--format|{}",
    "reproduce|eq5|--out|s.toml/{}",
    "reproduce|eq5|--cache|s.toml/{}",
    "design|--rate|{}|--rtt|1us",
    "design|--rate|10Gbps|--rtt|1us|--flows|{}",
    "design|--rate|10Gbps|--rtt|300us|--scenario|s.toml/{}",
    "lab|--host|{}",
    "lab|--port|{}",
    "trace|{}",
    "trace|results|--seed|{}",
    "scenarios|copy|{}",
    "scenarios|copy|static|s.toml/{}",
    "{}",
]


def refusal(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """Returns the stderr of a command that must exit with status 1 or 2. Checks that it consists of
    short lines, one of which has the prefix `hull: error: ` and precedes the other errors.
    """
    monkeypatch.setattr(sys, "argv", ["hull", *arguments])
    monkeypatch.setattr(cli, "_give_up_stdout", lambda: None)  # pytest owns stdout
    assert cli.main() in (1, 2)
    said = capsys.readouterr().err
    lines = said.splitlines()
    assert said == "".join(f"{line}\n" for line in lines)
    assert all(line.isprintable() and len(line) < 2100 for line in lines), lines
    assert said.count("hull: error: ") == 1
    at = next(i for i, line in enumerate(lines) if line.startswith("hull: error: "))
    assert not [line for line in lines[:at] if not line.startswith("hull: ")]
    name = arguments[1] if len(arguments) > 1 else ""
    assert all(line.startswith(f"{name}:") for line in lines[at + 1 :]), lines
    return said


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SCENARIO + STAR, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("given", [RUDE, LONG], ids=["rude", "long"])
@pytest.mark.parametrize("command", COMMANDS)
def test_arguments(
    command: str,
    given: str,
    there: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    refusal(command.format(given).split("|"), monkeypatch, capsys)
    assert not (there / "results" / "test").exists()


@pytest.mark.parametrize("name", [RUDE, LONG], ids=["rude", "long"])
@pytest.mark.parametrize(
    ("file", "text", "keys"),
    [
        ("list.csv", 'start_ps,src,dst,bytes\n1,"{}",0,5\n', STAR),
        ("list.csv", 'start_ps,src,dst,"{}"\n1,1,0,5\n', STAR),
        ("graph.json", '{{"nodes": [{{"id": {json}}}], "edges": []}}', "topology.file"),
        ("graph.json", '{{"nodes": [{{"id": 1, "kind": {json}}}], "edges": []}}', "topology.file"),
        ("graph.json", '{{"nodes": [], "edges": [{{"source": {json}, "target": 1}}]}}', ""),
        ("graph.xml", '<graphml><graph edgedefault="{xml}"/></graphml>', ""),
        ("graph.xml", '<graphml><graph><node id="{xml}"/></graph></graphml>', ""),
    ],
)
def test_names_in_files(
    file: str,
    text: str,
    keys: str,
    name: str,
    there: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # XML cannot represent ESC and BEL.
    xml = "".join(f"&#{ord(c)};" for c in name if c not in "\x1b\x07") if name == RUDE else name
    made = text.format(name.replace("\n", "\r"), json=json.dumps(name), xml=xml)
    (there / file).write_text(made, encoding="utf-8", newline="")
    if keys == STAR:
        command = ["run", "s.toml", "--set", f"{FLOWS}={file}"]
    else:
        graph = f'topology.file.path = "{file}"\n{FLOWS} = "list.csv"\n'
        (there / "g.toml").write_text(SCENARIO + graph, encoding="utf-8")
        command = ["run", "g.toml"]
    assert file in refusal(command, monkeypatch, capsys)


@pytest.mark.parametrize("character", ["\u202e", "\u2066", "\u200f", "\u200b", "\ufeff"])
def test_invisible_characters_in_names_of_nodes(
    character: str,
    there: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    node = {"id": 1, "kind": "switch", "name": f"leaf{character}0"}
    (there / "graph.json").write_text(json.dumps({"nodes": [node], "edges": []}), encoding="utf-8")
    graph = f'topology.file.path = "graph.json"\n{FLOWS} = "list.csv"\n'
    (there / "g.toml").write_text(SCENARIO + graph, encoding="utf-8")
    told = refusal(["run", "g.toml"], monkeypatch, capsys)
    assert f'the name "leaf\\u{{{ord(character):x}}}0"; expected' in told


@pytest.mark.parametrize("name", [RUDE, LONG], ids=["rude", "long"])
@pytest.mark.parametrize("line", ["{} = 1", "run.{} = 1", "title = {}", "schemes.{} = 1", "{} = "])
def test_keys_in_files(
    line: str,
    name: str,
    there: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    key = json.dumps(name).replace("\x7f", "")
    text = SCENARIO + STAR + line.format(f"[{key}]" if line.startswith("title") else key)
    (there / "s.toml").write_text(text + "\n", encoding="utf-8")
    refusal(["run", "s.toml"], monkeypatch, capsys)


def test_scenario_in_the_results_is_readable(there: Path) -> None:
    """Its header names the file and the overrides, which may contain line breaks."""
    file = there / "a\nb.toml"
    (there / "s.toml").rename(file)
    result = hull.run(file, set=['title="""a\nb"""', "run.seeds=1"], out=there / "out")
    text = (result.folder / "scenario.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["name"] == "test"


def test_escapes() -> None:
    assert escaped("5 µs, ± 3 — “x”") == "5 µs, ± 3 — “x”"
    assert escaped("a\nb\x1b[0m\0\udcff") == "a\\nb\\x1b[0m\\x00\\udcff"
    line = one_line(f"--out: {LONG}; expected a folder")
    assert line.startswith("--out: xxx")
    assert line.endswith("x; expected a folder")
    assert "... (1000026 characters) ..." in line
