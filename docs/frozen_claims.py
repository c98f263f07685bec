"""The document claims of an earlier revision, and what became of each.

claims-frozen.json holds the predicted claims of paper, thesis, report and slides at revision
a307986c, with the verdicts of that revision's full runs; nothing changes it. claims-changed.json
says for each claim that is not kept why ("why") and which claims replace it ("by").
"""

import json
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parent
STATES = ("kept", "restated", "moved to another kind", "withdrawn")


class Fate(NamedTuple):
    """What became of a frozen claim."""

    state: str
    """One of STATES."""
    why: str = ""
    """The reason; empty for a kept claim."""
    now: tuple[str, ...] = ()
    """IDs of the claims that stand in its place."""


def frozen():
    """The frozen claims by their IDs."""
    content = json.loads((DOCS / "claims-frozen.json").read_text(encoding="utf-8"))
    return {claim["id"]: claim for claim in content["claims"]}


def changed():
    """Reason and replacements of each claim that is not kept, by its ID."""
    return json.loads((DOCS / "claims-changed.json").read_text(encoding="utf-8"))


def fate(old, claims, entry):
    """The state of a frozen claim among today's claims (by ID), with its entry of changed()."""
    now = claims.get(old["id"])
    by = () if now is None else (old["id"],)
    by += tuple(entry.get("by", ())) if entry else ()
    if now is not None and _form(now) == _form(old):
        state = "kept" if now["kind"] == old["kind"] else "moved to another kind"
    else:
        state = "restated" if by else "withdrawn"
    return Fate(state, entry["why"] if entry else "", by)


def fates(claims):
    """The fate of every frozen claim by its ID; `claims` are today's, by ID."""
    entries = changed()
    return {id_: fate(old, claims, entries.get(id_)) for id_, old in frozen().items()}


def _form(claim):
    return claim["source"], claim["claim"], claim["bound"]
