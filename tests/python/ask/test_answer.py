"""The answer: sizes, changes and the recommendation, against hand-computed numbers."""

import polars as pl
import pytest

from hull.ask.answer import (
    ALL,
    CHANGED,
    OTHERS,
    Row,
    advise,
    choose_sizes,
    rows_of,
)
from hull.ask.capacity import check_capacity, loads
from hull.ask.deployment import changed_hosts, with_transports
from hull.ask.fit import compare, draw
from hull.ask.network import read_network
from hull.ask.question import Question, hull_name, read_give_up, read_today, settings_for
from hull.changes import Value, in_words, told
from hull.errors import UsageError

NETWORK = read_network("2x2@10G,1x40G")


def question(partly: bool = False) -> Question:
    return Question(NETWORK, (0.02, 0.05, 0.1), ("dctcp",), settings_for(NETWORK), partly)


def row(part: float | None, gain: Value | None, loss: Value | None) -> Row:
    times = Value(1.0, 0.1)
    name = "dctcp" if part is None else hull_name(part)
    return Row(name, ALL, 1000, 100, times, times, times, gain, gain, loss, 0)


def rows(*changes: tuple[Value, Value]) -> list[Row]:
    parts = (0.02, 0.05, 0.1)
    base = row(None, None, None)
    return [base, *(row(p, *c) for p, c in zip(parts, changes, strict=True))]


def test_largest_gain_at_acceptable_cost() -> None:
    found = advise(
        question(),
        rows(
            (Value(-0.1, 0.02), Value(0.01, 0.01)),
            (Value(-0.6, 0.02), Value(0.05, 0.01)),
            (Value(-0.8, 0.02), Value(0.2, 0.01)),
        ),
        0.1,
    )
    assert found.scheme == "hull-5"
    assert "Give up 5%" in found.sentence
    assert "falls by 60 ± 2%" in found.sentence
    assert "grows by 5 ± 1%" in found.sentence


def test_overlapping_intervals_favour_less_headroom() -> None:
    found = advise(
        question(),
        rows(
            (Value(-0.58, 0.03), Value(0.01, 0.01)),
            (Value(-0.6, 0.02), Value(0.05, 0.01)),
            (Value(-0.61, 0.02), Value(0.06, 0.01)),
        ),
        0.1,
    )
    assert found.scheme == "hull-2"


def test_no_advice_if_useless_or_too_costly() -> None:
    useless = (Value(-0.01, 0.05), Value(0.0, 0.01))
    assert advise(question(), rows(useless, useless, useless), 0.1).scheme is None
    dear = (Value(-0.5, 0.05), Value(0.3, 0.01))
    found = advise(question(), rows(dear, dear, dear), 0.1)
    assert found.scheme is None
    assert "--most-loss" in found.sentence
    # The upper end of the interval counts, not the mean.
    unsure = (Value(-0.5, 0.05), Value(0.08, 0.03))
    assert advise(question(), rows(unsure, unsure, unsure), 0.1).scheme is None


def test_changes_as_text() -> None:
    assert told(Value(-0.427, 0.066)) == "-42.7 ± 6.6%"
    assert told(Value(1.7, 0.1)) == "2.7 ± 0.1 times"
    assert told(None) == "-"
    assert in_words(Value(0.05, None)) == "grows by 5%"
    assert in_words(Value(2.0, None)) == "grows 3 times"


def flows(**columns: list[int]) -> pl.DataFrame:
    return pl.DataFrame(columns)


def finished(scheme: str, seed: int, times: list[int], group: list[str]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "condition": [""] * len(times),
            "scheme": [scheme] * len(times),
            "seed": [seed] * len(times),
            "bytes": [1000] * (len(times) - 1) + [5_000_000],
            "fct_ps": times,
            "group": group,
        }
    )


def test_rows_average_per_seed_changes() -> None:
    group = ["a"] * 10 + ["b"]
    asked = pl.DataFrame({"group": group, "seeds": [2] * 11})
    us = 1_000_000
    whole = pl.concat(
        [
            finished("dctcp", 1, [10 * us] * 10 + [100 * us], group),
            finished("dctcp", 2, [20 * us] * 10 + [100 * us], group),
            finished("hull-2", 1, [5 * us] * 10 + [110 * us], group),
            finished("hull-2", 2, [5 * us] * 10 + [130 * us], group),
        ]
    )
    sizes = choose_sizes(pl.Series([1000] * 10 + [5_000_000]), None, None)
    found = {(r.scheme, r.group): r for r in rows_of(question(), whole, asked, sizes)}
    hull = found["hull-2", ALL]
    assert hull.small_p99_change is not None
    # The mean of -50% and -75%, not 5 relative to the mean of 10 and 20.
    assert hull.small_p99_change.mean == pytest.approx(-0.625)
    assert hull.large_mean_change is not None
    assert hull.large_mean_change.mean == pytest.approx(0.2)
    assert found["dctcp", ALL].small_p99_change is None
    assert found["hull-2", "a"].large_mean_us is None
    assert found["hull-2", "b"].small_p99_us is None
    # No flow finished with the other schemes.
    assert found["hull-5", ALL].unfinished == 22


def test_unusual_traces_set_the_size_bounds() -> None:
    web = pl.Series([500] * 900 + [2_000_000] * 100)
    assert (choose_sizes(web, None, None).small, choose_sizes(web, None, None).large) == (
        14_600,
        1_000_000,
    )
    medium = pl.Series([100_000] * 500 + [200_000] * 500)
    found = choose_sizes(medium, None, None)
    assert (found.small, found.large) == (100_000, 200_000)
    assert "the smallest tenth" in found.why
    assert choose_sizes(web, 10, 20).why == ""


def test_give_up_and_today_options() -> None:
    assert read_give_up("10%,2%, 0.05") == (0.02, 0.05, 0.1)
    assert read_today("CUBIC, dctcp") == ("cubic", "dctcp")
    assert read_today("bbr") == ("bbr",)
    for text in ("0%", "60%", "x", ""):
        with pytest.raises(UsageError, match="--give-up"):
            read_give_up(text)
    with pytest.raises(UsageError, match="--today: reno"):
        read_today("reno")


def test_overloaded_link_is_named_with_its_factor() -> None:
    # 40 Gbit in a second into a host at 10 Gbps, from both hosts of the other rack.
    heavy = flows(src=[0, 1] * 500, dst=[2] * 1000, bytes=[5_000_000] * 1000)
    found = loads(NETWORK, heavy, 10**12, 0)
    assert found[0].link == "the link into h2"
    assert found[0].part == pytest.approx(4 * 1500 / 1460, rel=0.02)
    assert {load.link for load in found} >= {
        "the link out of h0",
        "the uplinks out of leaf0 together",
    }
    with pytest.raises(UsageError, match=r"the link into h2 would carry 4\.\d+ times its rate"):
        check_capacity(found)
    check_capacity(loads(NETWORK, heavy, 10**13, 0))


def test_hosts_that_change() -> None:
    racks = {"a": list(range(10)), "b": list(range(10, 20))}
    some = flows(src=[0, 1, 12], dst=[1, 12, 13], bytes=[1, 1, 1]).with_columns(
        pl.Series("group", ["x", "y", "y"])
    )
    half = changed_hosts("50%", racks, some)
    assert sum(host < 10 for host in half) == 5
    assert half == changed_hosts("50%", racks, some)
    assert changed_hosts("y", racks, some) == {1, 12, 13}
    marked = with_transports(some, frozenset({1, 12}), "unchanged")
    assert marked["changed"].to_list() == [False, True, False]
    assert marked["transport"].to_list() == ["unchanged", "default", "unchanged"]
    for given in ("0%", "100%", "z", "1%"):
        with pytest.raises(UsageError, match="--deployed"):
            changed_hosts(given, racks, some)


def test_groups_of_changed_hosts() -> None:
    asked = pl.DataFrame({"group": ["other"] * 2, "seeds": [1] * 2, "changed": [True, False]})
    none = pl.DataFrame(
        schema={
            "condition": pl.String,
            "scheme": pl.String,
            "seed": pl.Int64,
            "bytes": pl.Int64,
            "fct_ps": pl.Int64,
            "group": pl.String,
            "changed": pl.Boolean,
        }
    )
    sizes = choose_sizes(pl.Series([1, 2]), None, None)
    found = rows_of(question(partly=True), none, asked, sizes)
    assert {r.group for r in found} == {ALL, CHANGED, OTHERS}


def test_drawn_flows_match_observed_sizes_and_gaps() -> None:
    seen = flows(
        start_ps=list(range(0, 2_000_000, 1000)),
        src=[0] * 2000,
        dst=[1] * 2000,
        bytes=[100] * 1000 + [200] * 1000,
    )
    one, two = draw(seen, 1), draw(seen, 2)
    assert one.height == 2000
    assert not one.equals(two)
    assert one.equals(draw(seen, 1))
    fit = compare(seen, one)
    # Kolmogorov-Smirnov at 0.1%: 1.95 sqrt(2/n).
    assert fit.sizes_ks < 1.95 * (2 / 2000) ** 0.5
    assert fit.load == pytest.approx(1, abs=0.05)
    assert fit.seen_dispersion < 0.1
