"""The extras of the distribution `hullnet`: their packages, and the message if one is missing.

`pip install hullnet` installs the requirements of `hull run`; pyproject.toml declares the extras.
"""

from importlib.util import find_spec

from hull.errors import UsageError

_TABLES = ("numpy", "polars")
_THEORY = (*_TABLES, "scipy")

PACKAGES = {
    "tables": _TABLES,
    "theory": _THEORY,
    "plots": (*_TABLES, "matplotlib"),
    "report": (*_TABLES, "vl_convert"),
    "lab": (*_THEORY, "fastapi", "uvicorn", "websockets"),
    "dask": (*_TABLES, "distributed"),
    "slurm": (*_TABLES, "submitit"),
    "all": (*_THEORY, "matplotlib", "vl_convert", "fastapi", "uvicorn", "websockets"),
}
"""The modules of each extra."""

OF_COMMANDS = {
    "ask": "all",
    "design": "theory",
    "lab": "lab",
    "report": "report",
    "reproduce": "all",
    "sweep": "report",
    "trace": "tables",
}
"""The commands that need an extra; of the others `hull run --report` alone."""


def require(extra: str, what: str) -> None:
    """Raise UsageError if a package of an extra is missing; `what` begins the message."""
    for package in PACKAGES[extra]:
        if find_spec(package) is None:
            raise UsageError(f'{what}: {package} is not installed; pip install "hullnet[{extra}]"')
