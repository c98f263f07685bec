"""Which keys of `[transport]` matter to a congestion control, by hull's list of controls."""

import json
from functools import cache
from typing import Any

from hull import _core


@cache
def _keys() -> dict[str, dict[str, bool]]:
    found: dict[str, dict[str, bool]] = json.loads(_core.controls())
    return found


def matters(key: str, transport: dict[str, Any]) -> bool:
    """Whether `max_window` or `min_rto` matters to the control of a transport; both matter to a
    class that is not hull's."""
    return _keys().get(transport["congestion_control"], {}).get(key, True)
