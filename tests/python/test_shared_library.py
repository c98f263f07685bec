"""What tells builds of the simulator's library apart, against readelf and objcopy."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hull import _core
from hull.process.shared_library import build_of

LIBRARY = Path(_core.__file__)
needs_binutils = pytest.mark.skipif(
    None in (shutil.which("readelf"), shutil.which("objcopy")), reason="no readelf, no objcopy"
)


def readelf(option: str, path: Path) -> str:
    # A library whose notes were removed is a warning to it.
    told = subprocess.run(["readelf", option, path], capture_output=True, text=True, check=False)
    return told.stdout


@needs_binutils
def test_the_build_id() -> None:
    told = re.search(r"Build ID: (\w+)", readelf("-nW", LIBRARY))
    if told is None:
        pytest.skip("the linker wrote no build ID")
    assert build_of(LIBRARY).hex() == told[1]


@needs_binutils
def test_without_a_build_id_the_loaded_segments(tmp_path: Path) -> None:
    path = tmp_path / "library.so"
    section = ".note.gnu.build-id"
    subprocess.run(
        ["objcopy", "--remove-section", section, str(LIBRARY), str(path)],
        capture_output=True,
        check=True,
    )
    assert "Build ID" not in readelf("-nW", path)
    pattern = r"^ *LOAD +(0x\w+) +0x\w+ +0x\w+ +(0x\w+) "
    found = re.findall(pattern, readelf("-lW", path), flags=re.MULTILINE)
    content = path.read_bytes()
    expected = [content[int(at, 16) :][: int(size, 16)] for at, size in found]
    assert len(expected) > 2
    assert build_of(path) == b"".join(expected)


def test_other_formats_are_read_whole(tmp_path: Path) -> None:
    for content in (b"", b"\x7fELF\x02\x01", b"\xcf\xfa\xed\xfe" + bytes(200)):
        (tmp_path / "library").write_bytes(content)
        assert build_of(tmp_path / "library") == content
