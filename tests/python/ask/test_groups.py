"""Groups of flows by address, port and size."""

import polars as pl
import pytest

from hull.ask.groups import label
from hull.errors import UsageError

FLOWS = pl.DataFrame(
    {
        "src_address": ["10.2.0.1", "10.20.0.1", "2001:db8::1", "web-1", "10.2.0.9"],
        "dst_address": ["10.1.0.1", "10.2.3.4", "10.1.0.1", "10.1.0.1", "10.3.0.1"],
        "bytes": pl.Series([100, 10_000, 2_000_000, 10_001, 9_999], dtype=pl.UInt64),
        "src_port": [1000, 2000, 3000, 4000, 443],
        "dst_port": [443, 80, 8080, 22, 5000],
    }
)


def groups(*texts: str) -> list[str]:
    return label(FLOWS, texts)["group"].to_list()


@pytest.mark.parametrize(
    ("condition", "places"),
    [
        ("src:10.2.0.0/16", [0, 4]),
        ("dst:10.2.0.0/16", [1]),
        ("host:10.2.0.0/16", [0, 1, 4]),
        ("src:10.2.0.1", [0]),
        ("src:2001:db8::/32", [2]),
        ("src:2001:0db8::1", [2]),
        ("src:web-1", [3]),
        ("bytes<10KB", [0, 4]),
        ("bytes<=10KB", [0, 1, 4]),
        ("bytes>10KB", [2, 3]),
        ("bytes >= 1MB", [2]),
        ("port:443", [0, 4]),
        ("dst_port:443", [0]),
        ("src_port:1000-2000", [0, 1]),
        ("src:10.2.0.0/16&bytes<1KB", [0]),
        ("host:10.2.0.0/16 & bytes>=9KB & port:80", [1]),
    ],
)
def test_conditions(condition: str, places: list[int]) -> None:
    found = groups(f"one={condition}")
    assert [index for index, group in enumerate(found) if group == "one"] == places
    assert set(found) <= {"one", "other"}


def test_first_matching_group_wins() -> None:
    found = groups("small=bytes<1KB", "backups=src:10.2.0.0/16", "big=bytes>=1MB")
    assert found == ["small", "other", "big", "other", "backups"]


def test_trace_groups_are_kept() -> None:
    own = FLOWS.with_columns(pl.Series("group", ["a", "b", None, "d", "e"]))
    assert label(own, ["big=bytes>=10KB"])["group"].to_list() == ["a", "big", "big", "big", "e"]
    assert label(own, [])["group"].to_list() == ["a", "b", "other", "d", "e"]
    empty = own.with_columns(pl.Series("group", ["a", "", None, "other", "e"]))
    assert label(empty, [])["group"].to_list() == ["a", "other", "other", "other", "e"]


def test_labels_beyond_flow_list_limits() -> None:
    long = FLOWS.with_columns(group=pl.lit("x" * 101))
    with pytest.raises(UsageError, match=r"column group: x+.* is invalid; expected at most 100"):
        label(long, [])
    many = pl.concat([FLOWS] * 201).with_row_index().with_columns(group=pl.col("index").cast(str))
    with pytest.raises(UsageError, match=r"1,005 different labels .* at most 1,000"):
        label(many, [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("backups", "--group: backups is invalid; expected NAME=CONDITION, such as"),
        ("x y=bytes<1KB", "the name x y is invalid"),
        ("other=bytes<1KB", "the name other is invalid"),
        ("a=size<1KB", "size<1KB in a=size<1KB is invalid; expected src:, dst:, host:"),
        ("a=bytes<ten", "ten in a=bytes<ten is invalid; expected a size, such as 10KB"),
        ("a=src:10.2.0.0/40", "10.2.0.0/40 is invalid; expected an address or a prefix"),
        ("a=port:99999", "99999 in a=port:99999 is invalid; expected a port or a range"),
        ("a=bytes<1KB&", " in a=bytes<1KB& is invalid"),
        ("a=src:10.9.0.0/16", "a=src:10.9.0.0/16 fits none of 5 flows"),
    ],
)
def test_bad_groups(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        groups(text)
    assert message in str(caught.value)


def test_other_bad_groups() -> None:
    with pytest.raises(UsageError, match="a is given twice"):
        groups("a=bytes<1KB", "a=bytes>1KB")
    with pytest.raises(UsageError, match="needs ports, which the trace does not have"):
        label(FLOWS.drop("src_port"), ["a=port:443"])
