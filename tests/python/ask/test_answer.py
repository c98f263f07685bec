"""The answer: sizes, changes and the recommendation, against hand-computed numbers."""

import random
from dataclasses import replace

import polars as pl
import pytest

from hull.ask.answer import (
    ALL,
    CHANGED,
    OTHERS,
    Row,
    choose_sizes,
    rows_of,
)
from hull.ask.capacity import Load, check_capacity, loads
from hull.ask.command import deploy_commands
from hull.ask.deployment import changed_hosts, with_transports
from hull.ask.fit import compare, draw
from hull.ask.network import read_network
from hull.ask.question import Question, hull_name, read_give_up, read_today, settings_for
from hull.ask.verdict import Advice, Verdict, advise, verdict
from hull.changes import Change, Value, change
from hull.errors import UsageError

NETWORK = read_network("2x2@10G,1x40G")


BUSY = Load("the link into h0", 0.5)


def question(partly: bool = False) -> Question:
    return Question(NETWORK, (0.02, 0.05, 0.1), ("dctcp",), settings_for(NETWORK), partly)


def around(percent: float, spread: float = 0.01) -> dict[tuple[str, int], float | None]:
    """Six seeds of a number that differs from 100 by this, and between seeds."""
    ratio = 1 + percent / 100
    return {("", seed): 100 * ratio * (1 + spread * (seed % 3 - 1)) for seed in range(6)}


def row(part: float | None, gain: float, loss: float | None, spread: float = 0.01) -> Row:
    times, base = Value(1.0, 0.1), around(0.0, 0.0)
    if part is None:
        return Row("dctcp", ALL, 1000, 100, times, times, times, None, None, None, 0)
    gained = around(gain, spread)
    gains, losses = change(gained, base), None if loss is None else change(around(loss), base)
    name = hull_name(part)
    return Row(name, ALL, 1000, 100, times, times, times, gains, gains, losses, 0, gained)


def rows(*changes: tuple[float, float], spread: float = 0.01) -> list[Row]:
    parts = (0.02, 0.05, 0.1)
    pairs = zip(parts, changes, strict=True)
    return [row(None, 0.0, None), *(row(part, *pair, spread) for part, pair in pairs)]


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
    base = replace(row(None, 0, None), scheme="cubic")
    alone = replace(of_seeds(row(0.02, -80, -40)), scheme="dctcp")
    dear = [of_seeds(row(part, gain, 10)) for part, gain in ((0.02, -81), (0.05, -84), (0.1, -85))]
    found = advise(today, [base, alone, *dear], 0.1, BUSY)
    assert found.scheme == "dctcp"
    assert found.sentence.startswith(
        "Use DCTCP, and give up no bandwidth: the 99th percentile of small flows falls by 80"
    )
    assert "against CUBIC" in found.sentence
    assert "With HULL, 2% given up, the 99th percentile of small flows" in found.sentence
    cheap = [
        of_seeds(row(part, gain, -39)) for part, gain in ((0.02, -81), (0.05, -92), (0.1, -93))
    ]
    found = advise(today, [base, alone, *cheap], 0.1, BUSY)
    assert found.scheme == "hull-10"
    assert "against DCTCP" in found.sentence


@pytest.mark.parametrize(
    ("scheme", "last"),
    [
        ("dctcp", "hull linux dctcp on"),
        ("bbr", "sysctl -w net.ipv4.tcp_congestion_control=bbr"),
    ],
)
def test_commands_of_a_scheme_without_headroom(scheme: str, last: str) -> None:
    today = replace(question(), today=("cubic", "dctcp", "bbr"))
    assert deploy_commands(today, Advice(scheme, "", ()))[-1] == last


def of_seeds(one: Row) -> Row:
    """With the numbers behind its changes, which vary between seeds on their own."""
    assert one.large_mean_change is not None
    draw = random.Random(one.scheme)
    smalls = {
        key: us and us * draw.uniform(0.99, 1.01) for key, us in one.small_p99_by_seed.items()
    }
    larges = {key: 100 * one.large_mean_change.ratio * draw.uniform(0.99, 1.01) for key in smalls}
    return replace(one, small_p99_by_seed=smalls, large_mean_by_seed=larges)


def test_undecided_where_the_seeds_vary() -> None:
    found = advise(question(), rows((-20, 1), (-25, 1), (-20, 1), spread=0.6), 0.1, BUSY)
    assert found.scheme is None
    assert found.sentence.startswith("Undecided: the seeds vary too much")
    # The upper end of the loss counts, not its mean, and the lower end does not exclude it.
    loss = around(9.7, 0.01)
    assert verdict(row(0.02, -50, 9.7), 0.1, 3) is Verdict.UNDECIDED, loss


def test_no_advice_without_variation() -> None:
    found = advise(question(), rows((-50, 1), (-60, 1), (-60, 1), spread=0.0), 0.1, BUSY)
    assert (found.scheme, found.sentence.split(":")[0]) == (None, "Cannot tell")
    assert "--fit" in found.sentence
    few = [
        replace(one, small_p99_change=few_seeds(one)) for one in rows((-50, 1), (-60, 1), (-60, 1))
    ]
    found = advise(question(), few, 0.1, BUSY)
    assert found.sentence == "Cannot tell with 2 seeds: give --seeds 5 or more."


def test_no_advice_on_idle_links_or_from_few_flows() -> None:
    all_rows = rows((-50, 1), (-60, 1), (-60, 1))
    found = advise(question(), all_rows, 0.1, Load("the link into h0", 0.004))
    assert found.sentence.startswith(
        "Cannot tell: the link into h0 is the busiest and carries 0.4% of its rate"
    )
    few = [replace(one, small_flows=299) for one in all_rows]
    found = advise(question(), few, 0.1, BUSY)
    assert found.sentence.startswith("Cannot tell: a 99th percentile needs 300 small flows in each")
    assert "there are 299." in found.sentence


def few_seeds(of: Row) -> Change | None:
    gain = of.small_p99_change
    return None if gain is None else replace(gain, seeds=2)


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
    # The geometric mean of a half and a quarter, not 5 relative to the mean of 10 and 20.
    assert hull.small_p99_change.ratio == pytest.approx((0.5 * 0.25) ** 0.5)
    assert hull.large_mean_change is not None
    assert hull.large_mean_change.ratio == pytest.approx((1.1 * 1.3) ** 0.5)
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
