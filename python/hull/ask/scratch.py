"""A temporary folder that is removed with its owner."""

import shutil
import tempfile
import weakref
from pathlib import Path


class Scratch:
    """A folder for a trace's rows in one form, removed when nothing uses it or hull ends."""

    def __init__(self, inside: Path | None) -> None:
        """Inside a folder, else inside the system's for temporary files. Raises OSError."""
        self.path = Path(tempfile.mkdtemp(prefix="hull-trace-", dir=inside))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
