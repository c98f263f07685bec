"""The repository itself: locks, stubs, file sizes, module dependencies."""

import ast
import re
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from hull import scenarios
from hull.experiments import all_experiments

ROOT = Path(__file__).parents[2]
HULL = ROOT / "python" / "hull"
LOWEST = {"files", "inputs", "process", "terminal"}
EXPERIMENT = {"figures", "report", "results", "runs", "scenarios", "theory"}
IMPORTS: dict[str, set[str]] = {
    # A room, which is a folder below python/hull, or a module at its root: what it may import
    # besides itself and `errors`. No arrow leads back (test_arrows_lead_one_way).
    "errors": set(),
    "files": set(),
    "inputs": set(),
    "terminal": set(),
    "scenarios": set(),
    "process": {"terminal"},
    "formats": {"files"},
    "runs": {*LOWEST, "scenarios"},
    # Before a run, from its resolved scenario.
    "warnings": {"runs"},
    "results": {*LOWEST, "runs", "warnings"},
    "report": {"files", "results"},
    "figures": {"files", "process", "report"},
    "perfetto": {"files", "runs"},
    "theory": {"files", "runs", "terminal"},
    "linux": {"theory"},
    "jobs": {"terminal"},
    "experiments/common": EXPERIMENT,
    "experiments": {"experiments/common", *EXPERIMENT},
    # Finds the experiment that declares how the schemes of a run look.
    "styles": {"experiments", "report", "scenarios"},
    # An experiment's report has more.
    "run_report": {"experiments/common", "files", "report", "styles"},
    # The functions of `import hull`.
    "result": {*LOWEST, "figures", "perfetto", "results", "run_report", "styles"},
    "runner": {*LOWEST, "report", "result", "results", "runs", "styles"},
    "sweeps": {*LOWEST, "report", "results", "runner", "runs", "styles"},
    "__init__": {"inputs", "process", "result", "runner", "runs", "sweeps"},
    # The commands.
    "lab": {"results", "runs", "terminal", "theory", "warnings"},
    "ask": {
        *("files", "report", "result", "results", "runner", "runs", "scenarios", "terminal"),
        *("theory", "warnings"),
    },
    "reproduction": {
        *("experiments/common", "files", "report", "result", "runner", "runs", "terminal"),
    },
    "cli": {
        *LOWEST,
        *("ask", "experiments", "experiments/common", "formats", "jobs", "lab", "linux"),
        *("perfetto", "report", "reproduction", "result", "results", "runner", "runs"),
        *("scenarios", "sweeps", "theory", "warnings"),
    },
    "__main__": {"cli"},
}


def names(text: str) -> set[str]:
    lines = (line.strip() for line in text.splitlines())
    return {re.split(r"[^\w-]", line)[0] for line in lines if line and line[0] not in "#-"}


def test_requirements_match_the_dependencies() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    hardware = names("\n".join(extras.pop("rtl")))
    others = names("\n".join(line for lines in extras.values() for line in lines)) - {"hullnet"}
    assert names((ROOT / "requirements.in").read_text()) == names(
        "\n".join(project["dependencies"])
    )
    assert others <= names((ROOT / "requirements-dev.in").read_text())
    assert hardware == names((ROOT / "requirements-rtl.in").read_text())


@pytest.mark.parametrize(
    ("locked", "sources"),
    [
        ("requirements.lock", ("requirements.in", "requirements-dev.in")),
        ("requirements-rtl.lock", ("requirements-rtl.in",)),
        ("requirements-guided.lock", ("requirements-guided.in",)),
        ("requirements-release.lock", ("requirements-release.in",)),
    ],
)
def test_locks_pin_everything_without_urls(locked: str, sources: tuple[str, ...]) -> None:
    lock = (ROOT / locked).read_text()
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)", lock, flags=re.MULTILINE))
    for source in sources:
        assert names((ROOT / source).read_text()) <= set(pinned)
    assert not re.search(r"://|^--|\s@\s|file:\S", lock, flags=re.MULTILINE)
    entries = re.split(r"^(?=\S+==)", lock, flags=re.MULTILINE)[1:]
    assert len(entries) == len(pinned)
    assert not [entry for entry in entries if not re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry)]


def test_only_locked_packages_are_installed() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    assert len(re.findall(r"^(?:pip|pip-tools)==", lock, flags=re.MULTILINE)) == 2
    makefile = (ROOT / "Makefile").read_text()
    assert set(re.findall(r"\$\(PIP\) install.*", makefile)) == {
        f"$(PIP) install -q --require-hashes -r {lock}"
        for lock in ("requirements.lock", "requirements-rtl.lock", "requirements-release.lock")
    }


def test_a_python_without_ensurepip_gets_the_pinned_pip(tmp_path: Path) -> None:
    python, calls, folder = (tmp_path / name for name in ("python", "calls", "venv"))
    python.write_text(
        f'''#!/bin/sh
case "$*" in
*ensurepip*) exit 1 ;;
*venv*--without-pip*) mkdir "{folder}" ;;
*install*) echo "$*" >"{calls}" ;;
esac
'''
    )
    python.chmod(0o755)
    subprocess.run([ROOT / "tools" / "make-venv", python, folder], check=True)
    pinned = (folder / "pip.txt").read_text()
    assert calls.read_text().endswith(f" install --require-hashes -r {folder}/pip.txt\n")
    assert re.fullmatch(r"pip==[\d.]+( \\\n    --hash=sha256:[0-9a-f]{64})+\n", pinned)
    assert pinned in (ROOT / "requirements.lock").read_text()


@pytest.mark.parametrize(
    "pattern",
    ["python/**/*.py", "crates/**/*.rs", "linux/*/src/**/*.rs", "rtl/**/*.sv", "rtl/**/*.py"],
)
def test_sources_are_short_and_start_with_a_summary(pattern: str) -> None:
    for path in ROOT.glob(pattern):
        lines = path.read_text().splitlines()
        written_by_hand = path.name != "scenario_types.py" and "generated" not in path.parts
        assert len(lines) < 500 or not written_by_hand, path
        assert not lines or lines[0].startswith(('"""', "//!", "//")), path


def test_stubs_match_the_built_module(tmp_path: Path) -> None:
    # `make test` runs mypy on the rest of the package, which takes ten times as long.
    settings = tmp_path / "mypy.ini"
    settings.write_text("[mypy]\nfollow_imports = skip\n")
    stubtest = [sys.executable, "-m", "mypy.stubtest", "--mypy-config-file", str(settings)]
    done = subprocess.run(
        [*stubtest, "hull._core", "--concise"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_group_by_maintains_order() -> None:
    """Otherwise polars returns groups in any order, which changes the last digit of means."""
    folders = ("python", "examples", "tools")
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for call in re.findall(r"\.group_by\((?:[^()]|\([^()]*\))*\)", path.read_text()):
            assert "maintain_order=True" in call, f"{path}: {call}"


def imported(path: Path) -> set[Path]:
    """The modules of hull that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            parts = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {name for name in parts if module(name)}
            names |= modules if modules == parts else {node.module, *modules}
    return {place for name in names if (place := module(name)) and name != "hull"}


def module(name: str) -> Path | None:
    """The file of a module of hull."""
    place = ROOT / "python" / name.replace(".", "/")
    found = (place.with_suffix(".py"), place / "__init__.py")
    return next((file for file in found if name[:4] == "hull" and file.exists()), None)


def room(path: Path) -> str:
    """The folder of a module, or the name of a module at the root."""
    parts = path.relative_to(HULL).parts
    if len(parts) == 1:
        return path.stem
    return "/".join(parts[:2] if parts[:2] == ("experiments", "common") else parts[:1])


def test_import_rules() -> None:
    wrong = [
        f"{path.relative_to(HULL)} imports {other.relative_to(HULL)}"
        for path in HULL.rglob("*.py")
        for other in imported(path)
        if room(other) not in {"errors", room(path), *IMPORTS[room(path)]}
    ]
    assert wrong == []


def test_each_permission_is_used() -> None:
    used: dict[str, set[str]] = {name: set() for name in IMPORTS}
    for path in HULL.rglob("*.py"):
        used[room(path)] |= {room(other) for other in imported(path)}
    unused = {}
    for name, given in IMPORTS.items():
        # A list for several users is given as a whole.
        whole: set[str] = set().union(*(rooms for rooms in (LOWEST, EXPERIMENT) if rooms <= given))
        unused[name] = given - used[name] - whole
    assert {name: rooms for name, rooms in unused.items() if rooms} == {}


def test_arrows_lead_one_way() -> None:
    """Neither rooms nor modules import in a circle."""
    TopologicalSorter(IMPORTS).prepare()
    modules = {path: imported(path) - {path} for path in HULL.rglob("*.py")}
    TopologicalSorter(modules).prepare()


def test_no_experiment_imports_another() -> None:
    folder = HULL / "experiments"
    for path in folder.glob("*.py"):
        assert {other for other in imported(path) if other.parent == folder} <= {
            folder / "__init__.py"
        }, path


def test_experiment_consists_of_file_page_and_picture() -> None:
    ids = set(all_experiments())
    folder = HULL / "experiments"
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert files == {id_.replace("-", "_").lower() for id_ in ids}
    docs = ROOT / "docs"
    pages = {path.stem for path in (docs / "experiments").glob("*.md")}
    assert pages - {"adding", "common-hosts", "several-queues", "switch-memory"} == ids
    assert {path.stem for path in (docs / "gallery").glob("*.webp")} == ids


def test_no_other_file_names_an_experiment() -> None:
    """Scenarios and tables of published numbers may have the same names."""
    published = (HULL / "experiments" / "common" / "published").glob("*.toml")
    tables = {name for path in published for name in tomllib.loads(path.read_text())}
    names = set(all_experiments()) - set(scenarios.names()) - tables
    words = "|".join(re.escape(name) for name in sorted(names) if "-" in name)
    quoted = "|".join(map(re.escape, sorted(names)))
    pattern = re.compile(rf"(?<![\w.-])(?:{words})(?![\w-])|(?<=[\"'`])(?:{quoted})(?=[\"'`])")
    own = set((HULL / "experiments").glob("*.py"))
    found = [
        f"{path.relative_to(HULL)}: {name}"
        for path in HULL.rglob("*")
        if path.suffix in (".py", ".toml", ".js", ".css", ".html") and path not in own
        for name in pattern.findall(path.read_text(encoding="utf-8"))
    ]
    # A preset of that name, and a comment that links to a page.
    assert set(found) <= {
        "lab/page/presets.js: fig8",
        "scenarios/thesis-benchmark.toml: thesis-fig2-23",
    }


def test_processes_that_tests_interrupt_hear_ctrl_c() -> None:
    """tests/ctrl_c.py: `make test &` starts them with Ctrl-C ignored."""
    sending = re.compile(r"send_signal|os\.kill\(|raise_signal")
    deaf = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("*.py")
        if "SIGINT" in (text := path.read_text(encoding="utf-8"))
        and sending.search(text)
        and "ctrl_c." not in text
    ]
    # test_guard.py interrupts the process that lab_client.py started.
    assert deaf == ["tests/python/lab/test_guard.py"]
