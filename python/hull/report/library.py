"""The Vega libraries as one script, for report.html.

vl-convert makes it in one to two seconds and 400 MB, always the same for its version, so it is
kept in the user's cache (XDG_CACHE_HOME or ~/.cache, folder hull). Without a cache that can be
written it is made each time.
"""

import contextlib
import functools
import os
from importlib.metadata import version
from pathlib import Path

from hull.files.output_file import write_text

_EXPORT = "window.vegaEmbed = vegaEmbed;"
_END = "/* end of the Vega libraries */"


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "hull" / f"vega-{version('vl-convert-python')}.js"


def _make() -> str:
    import vl_convert

    script = vl_convert.javascript_bundle(_EXPORT).replace("</script", "<\\/script")
    return f"{script}\n{_END}\n"


@functools.cache
def vega_library() -> str:
    """The script; a cached one that does not end as it should is made again."""
    with contextlib.suppress(OSError, RuntimeError, UnicodeDecodeError):
        script = _cache().read_text(encoding="utf-8")
        if script.endswith(f"{_END}\n"):
            return script
    script = _make()
    with contextlib.suppress(OSError, RuntimeError):
        path = _cache()
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, script)
    return script
