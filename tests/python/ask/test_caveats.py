"""What must be said beside an answer, from rows that are made up."""

import math
from dataclasses import replace

import polars as pl

from hull.ask.answer import ALL, Count, Row
from hull.ask.caveats import caveats, drift_sentences
from hull.ask.network import read_network
from hull.ask.question import Question, settings_for
from hull.ask.sizes import Sizes
from hull.ask.verdict import Advice

NETWORK = read_network("2x2@10G,1x40G")
QUESTION = Question(NETWORK, (0.02, 0.05, 0.1), ("cubic",), settings_for(NETWORK))


def row(scheme: str, us: list[float], small: Count, large: Count) -> Row:
    of = {("", seed): value for seed, value in enumerate(us)}
    base = {("", seed): 100.0 for seed in range(len(us))}
    return Row(scheme, ALL, small, large, {"small_p99": of}, {"small_p99": base})


def told(
    rows: list[Row], advice: Advice, *, given: bool = True, question: Question = QUESTION
) -> str:
    return "\n".join(caveats(question, rows, advice, (), today_is_given=given))


FULL = Count(1500, 1500, runs=5)
BASE = row("cubic", [99.0, 100.0, 101.0, 100.0, 100.0], FULL, FULL)
HULL = row("hull-5", [49.0, 50.0, 51.0, 50.0, 50.0], FULL, FULL)
ADVICE = Advice("hull-5", "", "cubic")


def test_the_baseline_is_an_assumption_unless_it_was_given() -> None:
    assert "--today names what they have" in told([BASE, HULL], ADVICE, given=False)
    assert "--today" not in told([BASE, HULL], ADVICE)


def test_the_range_of_another_period() -> None:
    # Logarithms of 49/99, 50/100 and 51/101 vary by 0.00707; t is 2.776, sqrt(1 + 1/5) 1.095.
    assert (
        "In another such period, the 99th percentile of small flows changes by -51 to -49% against "
        "CUBIC (95%)." in told([BASE, HULL], ADVICE)
    )


def test_what_varies_between_seeds_is_always_said() -> None:
    replayed = replace(QUESTION, replays=True)
    for advice in (ADVICE, Advice(None, "", None)):
        drawn = told([BASE, HULL], advice)
        assert "Each seed draws new flows" in drawn
        assert ("In another such period" in drawn) is (advice is ADVICE)
        recorded = told([BASE, HULL], advice, question=replayed)
        assert "All seeds replay the recorded flows" in recorded
        assert "draws new flows" not in recorded
        assert "In another such period" not in recorded


def test_the_end_of_what_was_tried() -> None:
    assert "headroom that was tried" not in told([BASE, HULL], ADVICE)
    most = row("hull-10", [49.0, 50.0, 51.0, 50.0, 50.0], FULL, FULL)
    text = told([BASE, most], Advice("hull-10", "", "cubic"))
    assert "10% is the most headroom that was tried: more may do as well" in text


def test_unfinished_flows_and_timeouts() -> None:
    late = row("cubic", [100.0, 100.0, 350.0, math.inf, 100.0], Count(1500, 1498, 15, 5), FULL)
    text = told([late, HULL], ADVICE)
    assert "With CUBIC, 2 of 1,500 small flows had not completed" in text
    assert (
        "With CUBIC, the 99th percentile of small flows is 100 to 350 us between runs: 1% of these "
        "flows waited for a retransmission timeout." in text
    )
    none = row("hull-5", [50.0] * 5, FULL, Count(0, 0))
    unknown = told([row("cubic", [100.0] * 5, FULL, Count(0, 0)), none], ADVICE)
    assert "the cost for large flows is unknown" in unknown


def test_drift_names_scheme_and_class() -> None:
    rows = [
        ("", "cubic", seed, start, 100 if start < 500 else 300 + seed, 1000)
        for seed in range(5)
        for start in range(0, 1000, 10)
    ]
    columns = ("condition", "scheme", "seed", "start_ps", "fct_ps", "bytes")
    finished = pl.DataFrame(rows, schema=columns, orient="row")
    (text,) = drift_sentences(QUESTION, finished, Sizes(1000, 10**6, ""))
    assert text.startswith(
        "The second half of the runs differs from the first: with CUBIC the mean of small flows is "
        "3 times as long"
    )
