"""`pip install hullnet` is small, imports quickly and suffices for `hull run`."""

import re
import resource
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path

import pytest

import hull
from hull.process.extras import OF_COMMANDS, PACKAGES

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MODULES = {module for modules in PACKAGES.values() for module in modules}
SCENARIO = ROOT / "examples" / "headroom.toml"
COMMANDS = {
    "ask": ["{trace}", "--topology", "4@10G", "--seeds", "1", "--give-up", "5%"],
    "design": ["--rate", "10Gbps", "--rtt", "300us"],
    "report": ["{results}"],
    "reproduce": ["--list"],
    "sweep": ["{scenario}", "--seeds", "1", "--out", "sweep.csv"],
    "trace": ["{results}", "--out", "trace.pftrace"],
}


def packages_of(requirements: Iterable[str]) -> set[str]:
    """The modules of an extra, by the names of pyproject.toml."""
    found: set[str] = set()
    for requirement in requirements:
        name, extras = re.findall(r"^([\w-]+)(?:\[([\w,]+)\])?", requirement)[0]
        if name == "hullnet":
            inner = PROJECT["optional-dependencies"]
            found |= packages_of(one for extra in extras.split(",") for one in inner[extra])
        else:
            found.add(name.removesuffix("-python").replace("-", "_"))
    return found


def run_hull(
    allowed: Iterable[str], words: list[str], place: Path
) -> subprocess.CompletedProcess[str]:
    """Runs the command with only these modules of extras installed."""
    missing = sorted(MODULES - set(allowed))
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({missing})); "
        f"sys.argv = {['hull', *words]}; from hull.cli import main; sys.exit(main())"
    )
    return subprocess.run(
        [sys.executable, "-c", code], cwd=place, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of `hull run` without extras, and a trace."""
    folder = tmp_path_factory.mktemp("core")
    small = ["--set", "run.warmup=0s", "--set", "run.duration=20ms"]
    done = run_hull((), ["run", str(SCENARIO), *small, "--out", "results"], folder)
    assert done.returncode == 0, done.stderr
    (folder / "scenario.toml").write_text(SCENARIO.read_text(encoding="utf-8"), encoding="utf-8")
    lines = [f"{n * 50e-6:.6f},h{n % 3},h3,{1000 + 20000 * (n % 7)}" for n in range(200)]
    (folder / "trace.csv").write_text(
        "\n".join(["start,src,dst,bytes", *lines]) + "\n", encoding="utf-8"
    )
    return folder


def test_extras_bring_the_packages_that_messages_name() -> None:
    declared = {
        extra: packages_of(requirements)
        for extra, requirements in PROJECT["optional-dependencies"].items()
        if extra != "rtl"
    }
    assert declared == {extra: set(modules) for extra, modules in PACKAGES.items()}
    assert not MODULES & packages_of(PROJECT["dependencies"])


@pytest.mark.parametrize(
    "words",
    [
        ["show", "results"],
        ["check", str(SCENARIO)],
        ["keys", "run.*"],
        ["schema"],
        ["statistics"],
        ["scenarios"],
        ["--help"],
    ],
    ids=lambda words: words[0],
)
def test_the_core_has_the_commands_that_need_no_extra(words: list[str], place: Path) -> None:
    done = run_hull((), words, place)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", sorted(OF_COMMANDS))
def test_a_command_names_its_extra(command: str, place: Path) -> None:
    extra = OF_COMMANDS[command]
    words = [word for word in COMMANDS.get(command, ()) if "{" not in word]
    done = run_hull((), [command, *words], place)
    assert done.stderr == (
        f'hull: error: hull {command}: numpy is not installed; pip install "hullnet[{extra}]"\n'
    )
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_a_command_runs_with_its_extra(command: str, place: Path) -> None:
    files = {"results": "results", "scenario": "scenario.toml", "trace": "trace.csv"}
    words = [word.format(**files) for word in COMMANDS[command]]
    done = run_hull(PACKAGES[OF_COMMANDS[command]], [command, *words], place)
    assert done.returncode == 0, done.stderr


def test_missing_table_and_figure_packages_name_their_extra(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = hull.load(place / "results")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(hull.UsageError, match=r'Result\.flows: .*"hullnet\[tables\]"'):
        assert result.flows
    with pytest.raises(hull.UsageError, match=r'Result\.plot_fct: .*"hullnet\[plots\]"'):
        result.plot_fct()


def test_import_takes_less_than_300_ms() -> None:
    """CPU time, the minimum of five runs: other processes may occupy the CPUs."""
    times = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", "import hull"], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    assert min(times) < 0.3, times


def test_the_core_takes_less_than_150_mb() -> None:
    """Sums the files of pip, the dependencies and hull with its extension module as built."""
    wanted, sizes = ["pip", *PROJECT["dependencies"]], {"hull": 0}
    while wanted:
        name = re.split(r"[^\w-]", wanted.pop())[0].lower()
        if name not in sizes:
            one = distribution(name)
            files = [Path(str(one.locate_file(file))) for file in one.files or ()]
            sizes[name] = sum(file.stat().st_size for file in files if file.exists())
            wanted += [of for of in one.requires or () if "extra ==" not in of]
    sizes["hull"] = sum(file.stat().st_size for file in Path(hull.__file__).parent.rglob("*"))
    assert sum(sizes.values()) < 150e6, sizes
