"""Generated parts of the pages on claims: the gallery's cards and counts, every claim with its
verdict, and what became of the frozen claims.

Verdicts ("claims") and what the seeds decide ("states") come from docs/gallery/record.json;
wording, kind and bound are today's.
"""

from collections import Counter
from typing import get_args

from frozen_claims import STATES, fates, frozen
from page_text import plain, table

from hull.experiments import all_experiments
from hull.experiments.common.claims import (
    BOUND_WORDS,
    CAUSE_WORDS,
    DOCUMENTS,
    KIND_WORDS,
    KINDS,
    OTHERS,
    UNSHIPPED,
    Bound,
    by_cause,
    document,
    headline,
)
from hull.experiments.common.claims import STATES as DECIDED

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
        rows.append((heading, len(ids), *_by_kind(judged)))
        everything += judged
    rows.append(("all", len(record), *_by_kind(everything)))
    by_source = table(["source", "experiments", *KINDS], rows)
    counted = f"{headline(everything)}.\n\n"
    said = f"{KIND_WORDS} {BOUND_WORDS}\n\n{_by_document(everything)}\n{by_source}"
    pages = "\n".join(f"experiments/{id_}" for id_ in all_experiments())
    cards.append(f"```{{toctree}}\n:hidden:\n\n{pages}\n```\n")
    return counted + "\n".join(cards), counted + said


def all_claims(record):
    """Every claim, a table for each experiment, and below it what was tried where one fails."""
    sections = [_by_cause(record)]
    for id_, experiment in all_experiments().items():
        holds = record[id_]["claims"]
        rows = [
            (plain(claim.claim), claim.kind, claim.bound, _decided(claim.id, record[id_]))
            for claim in experiment.claims
        ]
        tried = "".join(_tried(c) for c in experiment.claims if c.tried and not holds[c.id])
        found = table(["claim", "kind", "bound", "state"], rows)
        sections.append(f"## [{id_}](experiments/{id_}.md)\n\n{found}\n{tried}")
    return "\n".join(sections)


def page_claims(id_, entry):
    """The claims of an experiment's page, with what the last recorded run measured for each.

    The gallery's verdict may be of a longer run than the measured values; where the verdict differs
    in the shorter one, the cell has both.
    """
    shown = entry["measured"]
    rows = []
    for claim in all_experiments()[id_].claims:
        found = shown["claims"][claim.id]
        holds = _decided(claim.id, entry)
        if found["holds"] != entry["claims"][claim.id]:
            holds += f" (as measured: {'yes' if found['holds'] else 'no'})"
        kinds = f"{claim.kind}, {claim.bound}"
        rows.append(
            (plain(claim.claim), plain(claim.source), kinds, plain(found["measured"]), holds)
        )
    same = (shown["size"], shown["seeds"]) == (entry["size"], entry["seeds"])
    runs = f"Claims: {_runs(entry)}."
    if not same:
        runs = f"Claims. Measured values: {_runs(shown)}. Verdicts: {_runs(entry)}."
    header = ["claim", "source", "kind, bound", "measured", "state"]
    return f"{runs}\n\n{table(header, rows)}"


def frozen_claims(record):
    """Counts of the frozen claims by state, those that are not kept with the reason, and the rest.

    The verdict now comes from the claims that replace the frozen one.
    """
    holds = {id_: held for entry in record.values() for id_, held in entry["claims"].items()}
    claims = {
        claim.id: vars(claim)
        for experiment in all_experiments().values()
        for claim in experiment.claims
    }
    old, found = frozen(), fates(claims)
    of, held, now = Counter(), Counter(), Counter()
    for id_, fate in found.items():
        of[fate.state] += 1
        held[fate.state] += old[id_]["holds"]
        now[fate.state] += bool(fate.now) and all(holds[new] for new in fate.now)
    numbers = [(state, of[state], held[state], now[state]) for state in STATES]
    numbers.append(("all", *(sum(counter.values()) for counter in (of, held, now))))
    parts = [table(["state", "claims", "held at a307986c", "hold today"], numbers)]
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


def _decided(id_, entry):
    """A claim's state by the seeds."""
    state = entry["states"][id_]
    return "**fails**" if state == "fails" else state


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


def _by_document(judged):
    """Two tables: what the seeds decide of each document's predicted claims, and by kind."""
    documents = [name for name in DOCUMENTS if any(c["document"] == name for c in judged)]
    groups = [(name, [c for c in judged if c["document"] == name]) for name in documents]
    groups.append(("all documents", [c for c in judged if c["document"] != OTHERS]))
    groups.append((OTHERS, [c for c in judged if c["document"] == OTHERS]))
    rows = []
    for name, claims in groups:
        predicted = [claim for claim in claims if claim["kind"] == "predicted"]
        of_bound = (
            _held([claim for claim in predicted if claim["bound"] == bound])
            for bound in get_args(Bound)
        )
        rows.append((name, *_in_states(predicted), *of_bound))
    bounds = (f"hold by a bound of {whose}" for whose in ("the document", "hull"))
    header = ["predicted claims of", "all", *DECIDED, *bounds]
    kinds = [(kind, [c for c in judged if c["kind"] == kind]) for kind in KINDS]
    by_kind = [(kind, *_in_states(claims)) for kind, claims in kinds]
    return f"{table(header, rows)}\n{table(['claims by kind', 'all', *DECIDED], by_kind)}"


def _in_states(claims):
    """Their number, and how many are in each state."""
    found = Counter(claim["state"] for claim in claims)
    return [len(claims), *(found[state] for state in DECIDED)]


def _judged(id_, entry):
    """The claims of an experiment as the record has them, with kind and bound as they are now."""
    return [
        {
            "source": claim.source,
            "document": document(claim.source),
            "kind": claim.kind,
            "bound": claim.bound,
            "holds": entry["claims"][claim.id],
            "state": entry["states"][claim.id],
        }
        for claim in all_experiments()[id_].claims
    ]


def _runs(entry):
    """The size of the runs and their seeds: "`--full`, 5 seeds"."""
    seeds = {0: "computed", 1: "one seed"}.get(entry["seeds"], f"{entry['seeds']} seeds")
    return f"`--{entry['size']}`, {seeds}"


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
    """How many hold by the seeds, of how many."""
    held = sum(claim["state"] == "holds" for claim in judged)
    return f"{held} of {len(judged)}" if judged else ""


def _by_kind(judged):
    """One cell for each kind."""
    return [_held([claim for claim in judged if claim["kind"] == kind]) for kind in KINDS]


def _tried(claim):
    shown = "; ".join(
        entry if entry.startswith(UNSHIPPED) else f"`{entry}`" for entry in claim.shown_by
    )
    return f"- {claim.id} ({claim.cause}): {plain(claim.tried)} *Shown by:* {shown}.\n"


def _by_cause(record):
    """A table: failing claims of the documents and of other sources by cause."""
    failing = [
        {"document": document(claim.source), "cause": claim.cause}
        for id_, experiment in all_experiments().items()
        for claim in experiment.claims
        if not record[id_]["claims"][claim.id]
    ]
    rows = []
    for cause, claims in by_cause(failing).items():
        others = sum(claim["document"] == OTHERS for claim in claims)
        rows.append((cause, len(claims) - others, others))
    rows.append(("all", *(sum(row[column] for row in rows) for column in (1, 2))))
    return f"{table(['failing claims', 'documents', OTHERS], rows)}\n{CAUSE_WORDS}\n"
