"""The loaded segments of the simulator's library, against readelf."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hull import _core
from hull.shared_library import loaded_parts


@pytest.mark.skipif(shutil.which("readelf") is None, reason="no readelf")
def test_the_loaded_segments() -> None:
    path = Path(_core.__file__)
    told = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True)
    pattern = r"^ *LOAD +(0x\w+) +0x\w+ +0x\w+ +(0x\w+) "
    found = re.findall(pattern, told.stdout, flags=re.MULTILINE)
    content = path.read_bytes()
    expected = [content[int(at, 16) :][: int(size, 16)] for at, size in found]
    assert len(expected) > 2
    assert [*loaded_parts(path)] == expected


def test_other_formats_are_read_whole(tmp_path: Path) -> None:
    for content in (b"", b"\xcf\xfa\xed\xfe" + bytes(200)):
        (tmp_path / "library").write_bytes(content)
        assert b"".join(loaded_parts(tmp_path / "library")) == content
