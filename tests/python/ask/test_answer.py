"""The answer: sizes, changes and the recommendation, against hand-computed numbers."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from hull.ask.answer import (
    ALL,
    CHANGED,
    LARGE_MEAN,
    LARGE_P99,
    OTHERS,
    SMALL_MEAN,
    SMALL_P99,
    SMALL_P999,
    BySeed,
    Count,
    Row,
    Statistic,
    rows_of,
)
from hull.ask.capacity import Load, check_capacity, loads
from hull.ask.deployment import changed_hosts, with_transports
from hull.ask.fit import compare, draw
from hull.ask.network import read_network
from hull.ask.question import Question, hull_name, read_give_up, read_today, settings_for
from hull.ask.sizes import Sizes, choose_sizes
from hull.ask.trace import read_trace
from hull.ask.verdict import Verdict, advise, verdict
from hull.errors import UsageError

NETWORK = read_network("2x2@10G,1x40G")
BUSY = Load("the link into h0", 0.5)
SMALL, LARGE = Count(6000, 6000, runs=6), Count(600, 600, runs=6)


def question(partly: bool = False) -> Question:
    return Question(NETWORK, (0.02, 0.05, 0.1), ("dctcp",), settings_for(NETWORK), partly)


def around(percent: float, spread: float = 0.01, seed: object = 0) -> BySeed:
    """Six seeds of a number that differs from 100 by this, and between seeds."""
    draw = random.Random(str(seed))
    ratio = 1 + percent / 100
    steps = draw.sample((-1, -0.5, -0.2, 0.2, 0.5, 1), 6)
    return {("", run): 100 * ratio * (1 + spread * step) for run, step in enumerate(steps)}


def samples(**percent: float) -> dict[str, BySeed]:
    spread = percent.pop("spread", 0.01)
    return {name: around(of, spread, (name, of)) for name, of in percent.items()}


BASE = samples(small_p99=0, large_mean=0, small_mean=0, small_p999=0, large_p99=0, spread=0)


def row(name: str | float, gain: float, loss: float, spread: float = 0.01, **more: float) -> Row:
    """Of a scheme, or of HULL with this headroom."""
    name = name if isinstance(name, str) else hull_name(name)
    of = samples(small_p99=gain, spread=spread) | samples(large_mean=loss, **more)
    return Row(name, ALL, SMALL, LARGE, of, BASE)


def rows(*changes: tuple[float, float], spread: float = 0.01) -> list[Row]:
    pairs = zip((0.02, 0.05, 0.1), changes, strict=True)
    base = Row("dctcp", ALL, SMALL, LARGE, BASE)
    return [base, *(row(part, *pair, spread) for part, pair in pairs)]


def test_largest_gain_at_acceptable_cost() -> None:
    found = advise(question(), rows((-10, 1), (-60, 5), (-80, 20)), 0.1, BUSY)
    assert found.scheme == "hull-5"
    assert found.sentence.startswith(
        "Give up 5% of the bandwidth: the 99th percentile of small flows falls by 60.0% ("
    )
    assert ", the mean of large flows grows by 5.0% (" in found.sentence


def test_least_headroom_within_a_tenth_of_the_best() -> None:
    assert advise(question(), rows((-58, 1), (-60, 5), (-61, 6)), 0.1, BUSY).scheme == "hull-2"
    assert advise(question(), rows((-50, 1), (-60, 5), (-61, 6)), 0.1, BUSY).scheme == "hull-5"


def test_leaves_what_all_headrooms_make_worse() -> None:
    found = advise(question(), rows((-1, 0), (-1, 0), (-2, 0)), 0.1, BUSY)
    assert found.scheme is None
    assert found.sentence == (
        "Leave DCTCP as it is: no headroom shortens the small flows by 5% or more."
    )
    found = advise(question(), rows((-50, 30), (-50, 30), (-60, 40)), 0.1, BUSY)
    assert found.sentence.startswith("Leave DCTCP as it is: each headroom that shortens small")
    assert "--most-loss" in found.sentence


def test_a_scheme_without_headroom_comes_first() -> None:
    """DCTCP alone does what headrooms do, and they are judged against it."""
    today = replace(question(), today=("cubic", "dctcp"))
    base = Row("cubic", ALL, SMALL, LARGE, BASE)
    alone = row("dctcp", -80, -40)
    dear = [row(0.02, -81, 10), row(0.05, -84, 10), row(0.1, -85, 10)]
    found = advise(today, [base, alone, *dear], 0.1, BUSY)
    assert (found.scheme, found.base) == ("dctcp", "cubic")
    assert found.sentence.startswith(
        "Use DCTCP, and give up no bandwidth: the 99th percentile of small flows falls by 80"
    )
    assert "against CUBIC" in found.sentence
    assert "With HULL, 2% given up, the 99th percentile of small flows" in found.sentence
    cheap = [row(0.02, -81, -39), row(0.05, -92, -39), row(0.1, -93, -39)]
    found = advise(today, [base, alone, *cheap], 0.1, BUSY)
    assert (found.scheme, found.base) == ("hull-10", "dctcp")
    assert "against DCTCP" in found.sentence


def test_undecided_where_the_seeds_vary() -> None:
    found = advise(question(), rows((-20, 1), (-25, 1), (-20, 1), spread=0.6), 0.1, BUSY)
    assert (found.scheme, found.base, found.is_undecided) == (None, None, True)
    assert found.sentence.startswith("Undecided: the seeds vary too much")
    # The upper end of the loss counts, not its mean, and the lower end does not exclude it.
    assert verdict(row(0.02, -50, 9.7), 0.1, 3) is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("statistic", "percent", "expected"),
    [
        (SMALL_MEAN, 3.0, Verdict.FITS),
        (SMALL_MEAN, 9.0, Verdict.RULED_OUT),
        (SMALL_P999, 9.0, Verdict.RULED_OUT),
        (LARGE_P99, 8.0, Verdict.FITS),
        (LARGE_P99, 20.0, Verdict.RULED_OUT),
    ],
)
def test_no_other_statistic_may_get_worse(
    statistic: Statistic, percent: float, expected: Verdict
) -> None:
    assert verdict(row(0.02, -50, 2, **{statistic.name: percent}), 0.1, 3) is expected


def test_no_advice_without_variation() -> None:
    all_rows = rows((-50, 1), (-60, 1), (-60, 1), spread=0.0)
    found = advise(question(), all_rows, 0.1, BUSY)
    assert (found.scheme, found.sentence.split(":")[0]) == (None, "Cannot tell")
    assert "--replay" in found.sentence
    few = [
        replace(one, samples={k: first_two(v) for k, v in one.samples.items()})
        for one in rows((-50, 1), (-60, 1), (-60, 1))
    ]
    found = advise(question(), few, 0.1, BUSY)
    assert found.sentence == "Cannot tell with 2 seeds: give --seeds 5 or more."


def first_two(of: BySeed) -> BySeed:
    return dict(list(of.items())[:2])


def test_no_advice_on_idle_links_or_from_few_flows() -> None:
    all_rows = rows((-50, 1), (-60, 1), (-60, 1))
    found = advise(question(), all_rows, 0.1, Load("the link into h0", 0.004))
    assert found.sentence.startswith(
        "Cannot tell: the link into h0 is the busiest and carries 0.4% of its rate"
    )
    few = [replace(one, small=Count(6 * 299, 6 * 299, runs=6)) for one in all_rows]
    found = advise(question(), few, 0.1, BUSY)
    assert found.sentence.startswith("Cannot tell: a 99th percentile needs 300 small flows in each")
    assert "there are 299." in found.sentence


def test_no_advice_from_single_packets(tmp_path: Path) -> None:
    for lone, doubt in ((91, True), (90, False)):
        rows = [
            f"{i / 1000},10.0.0.1,10.0.0.2,{1500 * (1 + (i >= lone))},{1 + (i >= lone)}"
            for i in range(100)
        ]
        path = tmp_path / f"{lone}.csv"
        path.write_text("\n".join(["ts,src_ip,dst_ip,bytes,packets", *rows]), encoding="utf-8")
        found = read_trace(path).counts.doubt
        assert bool(found) is doubt
        if doubt:
            assert found.startswith("91 of 100 flows are a single packet")
            advice = advise(question(), rows_of_test(), 0.1, BUSY, found)
            assert advice.sentence.startswith("Cannot tell: 91 of 100 flows")


def rows_of_test() -> list[Row]:
    return rows((-50, 1), (-60, 1), (-60, 1))


def test_no_advice_from_one_per_cent_of_unfinished_flows() -> None:
    all_rows = rows((-50, 1), (-60, 1), (-60, 1))
    some = [replace(all_rows[0], large=Count(600, 595, runs=6)), *all_rows[1:]]
    assert advise(question(), some, 0.1, BUSY).is_known
    late = [replace(all_rows[0], large=Count(600, 594, runs=6)), *all_rows[1:]]
    found = advise(question(), late, 0.1, BUSY)
    assert found.sentence.startswith(
        "Cannot tell: with DCTCP, 6 of 600 large flows had not completed"
    )
    # One run in which the slowest hundredth has not completed is enough.
    tail = dict(all_rows[1].samples)
    tail["small_p99"] = {**tail["small_p99"], ("", 0): math.inf}
    found = advise(
        question(), [all_rows[0], replace(all_rows[1], samples=tail), *all_rows[2:]], 0.1, BUSY
    )
    assert found.sentence.startswith("Cannot tell: with HULL, 2% given up")


def flows(**columns: list[int]) -> pl.DataFrame:
    return pl.DataFrame(columns)


def finished(scheme: str, seed: int, us: Sequence[float], sizes: list[int]) -> pl.DataFrame:
    count = len(us)
    return pl.DataFrame(
        {
            "condition": [""] * count,
            "scheme": [scheme] * count,
            "seed": [seed] * count,
            "bytes": sizes,
            "fct_ps": [round(one * 1_000_000) for one in us],
            "timeouts": [int(one >= 1000) for one in us],
            "group": ["b" if size > 10_000 else "a" for size in sizes],
        }
    )


def test_rows_pair_the_seeds() -> None:
    sizes = [1000] * 400 + [5_000_000]
    group = ["a"] * 400 + ["b"]
    asked = pl.DataFrame({"group": group, "bytes": sizes, "condition": "", "seeds": 2})
    whole = pl.concat(
        [
            finished("dctcp", 1, [10] * 400 + [100], sizes),
            finished("dctcp", 2, [20] * 400 + [100], sizes),
            finished("hull-2", 1, [5] * 400 + [110], sizes),
            finished("hull-2", 2, [5] * 400 + [130], sizes),
        ]
    )
    bounds = choose_sizes(pl.Series(sizes), None, None)
    found = {(r.scheme, r.group): r for r in rows_of(question(), whole, asked, bounds)}
    hull = found["hull-2", ALL]
    # The geometric mean of a half and a quarter, not 5 relative to the mean of 10 and 20.
    gain, loss = hull.change(SMALL_P99), hull.change(LARGE_MEAN)
    assert gain is not None
    assert gain.ratio == pytest.approx((0.5 * 0.25) ** 0.5)
    assert loss is not None
    assert loss.ratio == pytest.approx((1.1 * 1.3) ** 0.5)
    assert found["dctcp", ALL].change(SMALL_P99) is None
    assert found["hull-2", "a"].value(LARGE_MEAN) is None
    assert found["hull-2", "b"].value(SMALL_P99) is None
    # 400 flows are too few for a 99.9th percentile, one large flow for a 99th.
    assert hull.value(SMALL_P999) is None
    assert hull.value(LARGE_P99) is None
    # No flow finished with the other schemes.
    none = found["hull-5", ALL]
    assert (none.small.unfinished, none.large.unfinished) == (800, 2)
    assert none.value(SMALL_P99) == none.value(LARGE_MEAN)
    assert none.as_json()["small_p99_us"] is None


def test_unfinished_flows_rank_last() -> None:
    """Of 1,000 flows that took 1, 2, ... us the last nine have not completed, then the last 11."""
    sizes = [1000] * 1000
    asked = pl.DataFrame({"group": "a", "bytes": sizes, "condition": "", "seeds": 1})
    for done, expected in ((1000, 990.01), (991, 990.01), (989, math.inf)):
        us = [float(one) for one in range(1, done + 1)]
        whole = finished("dctcp", 1, us, sizes[:done])
        found = rows_of(question(), whole, asked, Sizes(1000, 10**6, ""))[0]
        value = found.value(SMALL_P99)
        assert value is not None
        assert value.mean == pytest.approx(expected)
        assert (found.small.started, found.small.completed) == (1000, done)
        assert found.small.timed_out == int(done == 1000)


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
    asked = pl.DataFrame(
        {
            "group": ["other"] * 2,
            "bytes": [1, 2],
            "condition": "",
            "seeds": 1,
            "changed": [True, False],
        }
    )
    none = pl.DataFrame(
        schema={
            "condition": pl.String,
            "scheme": pl.String,
            "seed": pl.Int64,
            "bytes": pl.Int64,
            "fct_ps": pl.Int64,
            "timeouts": pl.Int32,
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
