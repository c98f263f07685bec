"""Mutates one key of a scenario (every scenario that hull ships, plus scenarios with the schema's
other keys): wrong type, sign, size, unit or alphabet, control characters, nesting, misspelling,
duplication, omission. The scenario is passed as a file, by `--set`, or as a dict.

hull must either reject it with a message that names the key, shows the value as written and has no
Rust terms, or accept it; an accepted scenario runs briefly, and the plan must differ from the
original's: no key is ignored.
"""

import copy
import json
import random
import re
import tomllib
from dataclasses import dataclass
from typing import Any

import tomli_w

from fuzz import messages, values
from fuzz.case import Outcome, draws
from fuzz.inside import MOMENT, Refused, plan_of, run_for_a_moment
from fuzz.places import Place, dotted, general, get, known_keys, places, replaced, texts
from hull import UsageError
from hull.runs.plan import Plan, read_scenario

NAME = "mutations"
OF_ANY_NAME = (("schemes",), ("groups",))
"""Tables whose keys are names of the user's choice."""


@dataclass(frozen=True)
class Mutation:
    """A scenario with one change."""

    scenario: str
    place: Place
    value: object
    way: str
    """`file`, `--set` or `dict`."""
    how: str
    changed: dict[str, Any]

    @property
    def must_be_refused(self) -> bool:
        if self.place[0] in ("title", "source"):
            return False
        spaced = isinstance(self.value, str) and self.value.strip() != self.value
        return (
            self.how in ("misspelled", "extra", "wrong unit", "control characters") and not spaced
        )

    @property
    def text(self) -> str:
        head = f"# {self.scenario}: {self.how}, given as {self.way}: {dotted(self.place)} = "
        head += repr(self.value)[:300] + "\n"
        try:
            return head + tomli_w.dumps(self.changed)
        except (TypeError, ValueError) as error:
            return head + f"# not TOML: {error}\n"


def make(seed: int, index: int) -> Mutation:
    """Return the case of this number. Places are taken in turn, so all are covered equally."""
    draw = draws(NAME, seed, index)
    all_places = places()
    order = random.Random(f"{NAME} {seed}").sample(range(len(all_places)), len(all_places))
    name, place = all_places[order[index % len(all_places)]]
    scenario = tomllib.loads(texts()[name])
    old = get(scenario, place)
    way = draw.choices(["file", "--set", "dict"], [6, 2, 2])[0]
    how, value = values.draw(draw, old, outside_toml=way == "dict")
    if how in ("misspelled", "extra") and not isinstance(place[-1], str):
        how, value = "wrong type", {}
    if how == "misspelled":
        return _misspelled(draw, name, scenario, place)
    if how == "extra":
        return _extra(draw, name, scenario, place)
    if how == "left out":
        changed = copy.deepcopy(scenario)
        del get(changed, place[:-1])[place[-1]]
        return Mutation(name, place, None, "file", how, changed)
    if way == "--set" and not all(isinstance(part, str) and "." not in part for part in place):
        way = "file"
    return Mutation(name, place, value, way, how, replaced(scenario, place, value))


def _misspelled(draw: random.Random, name: str, scenario: dict[str, Any], place: Place) -> Mutation:
    key = str(place[-1])
    wrong = draw.choice([key + "s", key[:-1] or "x", key.upper(), key.replace("_", "-") + "-", ""])
    if draw.random() < 0.2:
        wrong = values.UNICODE[draw.randrange(len(values.UNICODE))]
    changed = copy.deepcopy(scenario)
    table = get(changed, place[:-1])
    value = table.pop(key)
    known = general((*place[:-1], wrong)) in known_keys()
    if wrong in table or wrong == key or known:
        wrong = f"{key}_x"
    table[wrong] = value
    how = "renamed" if place[:-1] in OF_ANY_NAME else "misspelled"
    return Mutation(name, (*place[:-1], wrong), value, "file", how, changed)


def _extra(draw: random.Random, name: str, scenario: dict[str, Any], place: Place) -> Mutation:
    # Inside the table itself, or next to a value.
    inside = place if isinstance(get(scenario, place), dict) else place[:-1]
    if inside in OF_ANY_NAME:
        is_table = place != inside and isinstance(get(scenario, place), dict)
        inside = place if is_table else ()
    key = draw.choice(["colour", "rate2", "Name", "a b", "\u00b5", "__class__"])
    changed = copy.deepcopy(scenario)
    value = draw.choice([1, "1Gbps", True, {}, []])
    get(changed, inside)[key] = value
    return Mutation(name, (*inside, key), value, "file", "extra", changed)


def check(seed: int, index: int) -> Outcome:
    """Generate the case and classify hull's response."""
    made = make(seed, index)
    try:
        before = _plan(made, tomllib.loads(texts()[made.scenario]), ())
        after = _given(made, ())
    except Refused as refusal:
        message = str(refusal)
        return Outcome("rejected", made.text, message, _wrong_with(made, message))
    if made.must_be_refused:
        return Outcome("accepted", made.text, "", f"a key that is {made.how} is accepted")
    if _same(before, after) and not _may_be_the_same(made):
        return Outcome("accepted", made.text, "", "the value makes no difference: it is ignored")
    return _run(made, after, draws(f"{NAME} run", seed, index))


def _plan(made: Mutation, scenario: dict[str, Any], overrides: tuple[str, ...]) -> Plan:
    return plan_of(tomli_w.dumps(scenario), f"{made.scenario}.toml", list(overrides))


def _given(made: Mutation, overrides: tuple[str, ...]) -> Plan:
    if made.way == "file":
        return _plan(made, made.changed, overrides)
    if made.way == "--set":
        text = tomli_w.dumps({"v": made.value}) if not isinstance(made.value, dict) else ""
        shown = text.removeprefix("v = ").strip() if text else _inline(made.value)
        own = f"{dotted(made.place)}={shown}"
        return plan_of(texts()[made.scenario], f"{made.scenario}.toml", [own, *overrides])
    try:
        text, file = read_scenario(made.changed)
    except UsageError as error:
        raise Refused(str(error)) from None
    return plan_of(text, file, list(overrides))


def _inline(value: object) -> str:
    """A value as TOML on one line."""
    match value:
        case dict():
            members = (f"{json.dumps(key)} = {_inline(found)}" for key, found in value.items())
            return "{" + ", ".join(members) + "}"
        case list():
            return "[" + ", ".join(map(_inline, value)) + "]"
        case _:
            return tomli_w.dumps({"v": value}).removeprefix("v = ").strip()


def _wrong_with(made: Mutation, message: str) -> str:
    wrong = messages.foreign(message, case=repr(made.value))
    if wrong:
        return wrong
    if made.way == "file" and not messages.has_place(message, f"{made.scenario}.toml"):
        return "a line does not begin with its place"
    if made.how == "left out":
        return ""
    # A value that is valid alone may be rejected because of another key's requirement.
    of_another = not made.must_be_refused and messages.known_key(message)
    # Several keys of a workload together determine its memory.
    place = made.place[:-1] if "GB of memory" in message else made.place
    if not messages.names(message, dotted(place)) and not of_another:
        return "the message does not name the key"
    if made.how in ("misspelled", "extra"):
        return ""
    first = bool(re.search(rf"(: |--set ){re.escape(dotted(made.place))}: ", message))
    is_text = made.place == ("topology", "graph", "text")  # No message repeats a document.
    if first and not is_text and not messages.shows(message, made.value):
        return "the message does not show the value"
    return ""


def _same(one: Plan, other: Plan) -> bool:
    def told(plan: Plan) -> object:
        return (
            plan.name,
            plan.title,
            plan.seeds,
            [(c.condition, c.scheme, c.toml) for c in plan.cells],
        )

    return told(one) == told(other)


def _may_be_the_same(made: Mutation) -> bool:
    """Return whether a value is an omitted default, is only displayed, or is set in all schemes."""
    scenario = tomllib.loads(texts()[made.scenario])
    schemes = scenario.get("schemes", {}).values()
    return (
        made.place in (("title",), ("source",))
        or made.how == "left out"
        or values.is_like(get(scenario, made.place), made.value)
        or made.place[-1] in {key.rsplit(".")[-1] for key in scenario.get("sweep", {})}
        or (bool(schemes) and all(_has(scheme, made.place) for scheme in schemes))
    )


def _has(table: object, place: Place) -> bool:
    for part in place:
        if not isinstance(table, dict) or part not in table:
            return False
        table = table[part]
    return True


def _run(made: Mutation, plan: Plan, draw: random.Random) -> Outcome:
    number = draw.randrange(len(plan.cells))
    try:
        shortened = _given(made, () if made.place[0] == "run" else MOMENT)
        if len(shortened.cells) == len(plan.cells):
            plan = shortened
    except Refused:
        pass  # One of its own times exceeds that duration.
    try:
        summary = run_for_a_moment(plan.cells[number].scenario, draw.randrange(1000))
    except Refused as refusal:
        message = str(refusal)
        wrong = messages.foreign(message) or "rejected at the run, not when it was checked"
        return Outcome("rejected", made.text, message, wrong)
    if summary is None:
        return Outcome("stopped", made.text)
    packets = summary["packets"]
    whole = packets["delivered"] + packets["dropped"] + packets["in_flight"]
    lost = "" if packets["sent"] == whole else f"packets are lost or invented: {packets}"
    return Outcome("accepted", made.text, "", lost)
