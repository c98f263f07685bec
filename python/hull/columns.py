"""The columns of flows.parquet and latency.parquet: unit and meaning.

Written into the files themselves (Parquet key-value metadata, key "hull.columns", JSON) and into
the documentation.
"""

_CELL = {
    "condition": ("", 'values of the swept keys, as "load=20%"; empty where nothing is swept'),
    "scheme": ("", "name of the scheme in the scenario"),
    "seed": ("", "seed of the run"),
}

COLUMNS: dict[str, dict[str, tuple[str, str]]] = {
    "flows": {
        **_CELL,
        "start_ps": ("ps", "simulated time of the request"),
        "fct_ps": ("ps", "flow completion time: until the last byte was delivered"),
        "bytes": ("byte", "bytes of the response, without headers"),
        "class": ("", 'size class, as "10MB"'),
        "src": ("", "number of the host that sends the response"),
        "dst": ("", "number of the host that receives it"),
        "connection": ("", "number of the connection"),
    },
    "latency": {
        **_CELL,
        "time_ps": ("ps", "simulated time of the probe or the sample"),
        "probe_ps": (
            "ps",
            "queueing latency of the probe at the client's port, the unloaded latency "
            "subtracted; null in rows without a probe that got through",
        ),
        "queue_bytes": ("byte", "bytes waiting at the client's port; null in rows of a probe only"),
    },
}
"""Table name -> column name -> (unit, meaning)."""


def described(table: str) -> dict[str, dict[str, str]]:
    """The columns of a table as {"name": {"unit": ..., "meaning": ...}}."""
    return {
        name: {"unit": unit, "meaning": meaning} for name, (unit, meaning) in COLUMNS[table].items()
    }
