"""Generated parts of the pages on claims: the gallery's cards and counts, every claim with its
verdict, and what became of the frozen claims.

The verdicts are those of docs/gallery/record.json; wording, kind and bound are today's.
"""

from collections import Counter
from typing import get_args

from frozen_claims import STATES, fates, frozen
from page_text import plain, table

from hull.experiments import all_experiments
from hull.experiments.common.claims import (
    BOUND_WORDS,
    KIND_WORDS,
    KINDS,
    UNSHIPPED,
    Bound,
    counts,
    headline,
)

GALLERY = (
    ("The HULL paper", ("paper", "slides")),
    ("The EPFL report", ("report",)),
    ("The thesis: DCTCP", ("thesis 1", "thesis 2")),
    ("The thesis: theory of DCTCP", ("thesis 3", "thesis appendix")),
    ("The thesis: QCN, RCP and averaging", ("thesis 5",)),
    ("Ultra Ethernet, Uno, L4S", ("uet", "Uno", "L4S")),
    ("Other sources", ("",)),
)
"""Headings, and how the sources below each begin; an experiment is below the first that fits."""


def gallery(record):
    """The gallery's cards with the experiments' pages, and its numbers as a table."""
    cards, rows, everything = [], [], []
    left = dict(all_experiments())
    for heading, beginnings in GALLERY:
        ids = [id_ for id_, found in left.items() if found.source.startswith(beginnings)]
        if not ids:
            continue
        left = {id_: found for id_, found in left.items() if id_ not in ids}
        below = "".join(_card(id_, record[id_]) for id_ in ids)
        cards.append(f"## {heading}\n\n::::{{container}} cards\n{below}::::\n")
        judged = [claim for id_ in ids for claim in _judged(id_, record[id_])]
        rows.append((heading, len(ids), *_held(judged)))
        everything += judged
    rows.append(("all", len(record), *_held(everything)))
    by_source = table(["source", "experiments", *KINDS], rows)
    bounds = [
        (bound, *_held([claim for claim in everything if claim["bound"] == bound]))
        for bound in get_args(Bound)
    ]
    by_bound = table(["bound", *KINDS], bounds)
    counted = f"{headline(everything)}.\n\n"
    said = f"{KIND_WORDS}\n\n{by_source}\n{BOUND_WORDS}\n\n{by_bound}"
    pages = "\n".join(f"experiments/{id_}" for id_ in all_experiments())
    cards.append(f"```{{toctree}}\n:hidden:\n\n{pages}\n```\n")
    return counted + "\n".join(cards), counted + said


def all_claims(record):
    """Every claim, a table for each experiment, and below it what was tried where one fails."""
    sections = []
    for id_, experiment in all_experiments().items():
        holds = record[id_]["claims"]
        rows = [
            (plain(claim.claim), claim.kind, claim.bound, verdict(holds[claim.id]))
            for claim in experiment.claims
        ]
        tried = "".join(_tried(c) for c in experiment.claims if c.tried and not holds[c.id])
        found = table(["claim", "kind", "bound", "holds"], rows)
        sections.append(f"## [{id_}](experiments/{id_}.md)\n\n{found}\n{tried}")
    return "\n".join(sections)


def frozen_claims(record):
    """Counts of the frozen claims by state, those that are not kept with the reason, and the rest.

    The verdict now is that of the claims that stand in the place of the frozen one.
    """
    holds = {id_: held for entry in record.values() for id_, held in entry["claims"].items()}
    claims = {
        claim.id: vars(claim)
        for experiment in all_experiments().values()
        for claim in experiment.claims
    }
    old, found = frozen(), fates(claims)
    held, of = Counter(), Counter()
    for id_, fate in found.items():
        of[fate.state] += 1
        held[fate.state] += old[id_]["holds"]
    numbers = [(state, of[state], held[state]) for state in STATES]
    numbers.append(("all", sum(of.values()), sum(held.values())))
    parts = [table(["state", "claims", "of these held at a307986c"], numbers)]
    for state in STATES[1:] + STATES[:1]:
        ids = [id_ for id_, fate in found.items() if fate.state == state]
        if not ids:
            continue
        rows = [_frozen_row(old[id_], found[id_], claims, holds) for id_ in ids]
        header = ["claim at a307986c", "source", "bound", "held", "now"]
        parts.append(f"## {state.capitalize()}\n\n{table(header, rows)}")
    return "\n".join(parts)


def verdict(holds):
    """A claim's verdict in a table."""
    return "yes" if holds else "**no**"


def _frozen_row(old, fate, claims, holds):
    wording = f"{old['id']}: {plain(old['claim'])}"
    if fate.state == "kept":
        now = verdict(holds[old["id"]])
    else:
        successors = "; ".join(
            f"{id_} ({claims[id_]['kind']}, bound {claims[id_]['bound']}: "
            f"{plain(claims[id_]['claim'])}): {verdict(holds[id_])}"
            for id_ in fate.now
        )
        now = " ".join(filter(None, (plain(fate.why), successors)))
    return (wording, plain(old["source"]), old["bound"], verdict(old["holds"]), now)


def _judged(id_, entry):
    """The claims of an experiment as the record has them, with kind and bound as they are now."""
    return [
        {"kind": claim.kind, "bound": claim.bound, "holds": entry["claims"][claim.id]}
        for claim in all_experiments()[id_].claims
    ]


def _card(id_, entry):
    title = all_experiments()[id_].title
    size = "" if entry["size"] == "full" else " (short run)"
    return f""":::{{container}} card
[![{title}](gallery/{id_}.webp)](experiments/{id_}.md)

[{id_}](experiments/{id_}.md): {title}

*{headline(_judged(id_, entry))}{size}*
:::
"""


def _held(judged):
    """One cell for each kind: how many hold, of how many."""
    return [f"{holding} of {of}" if of else "" for holding, of in counts(judged).values()]


def _tried(claim):
    shown = "; ".join(
        entry if entry.startswith(UNSHIPPED) else f"`{entry}`" for entry in claim.shown_by
    )
    return f"- {claim.id}: {plain(claim.tried)} *Shown by:* {shown}.\n"
