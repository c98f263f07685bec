"""Addresses become hosts: by table, prefix and guess."""

from pathlib import Path

import polars as pl
import pytest

from ask.generator import collector_csv, some_flows
from hull.ask.placement import Placed, place
from hull.ask.trace import read_trace
from hull.errors import UsageError

RACKS = [[0, 1, 2], [3, 4, 5]]
INSIDE = "10.0.0.0/24=rack:0;10.0.1.0/24=3-5"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def placed(
    folder: Path, rows: str, racks: list[list[int]] = RACKS, header: str = "", **options: object
) -> Placed:
    path = folder / "trace.csv"
    path.write_text((header or "start_us,src,dst,bytes") + "\n" + rows.replace(" ", "\n") + "\n")
    return place(read_trace(path), racks, **options)  # type: ignore[arg-type]


def hosts(found: Placed) -> dict[str, int]:
    return dict(found.addresses.select("address", "host").rows())


def refusal(folder: Path, rows: str, **options: object) -> str:
    with pytest.raises(UsageError) as caught:
        placed(folder, rows, **options)  # type: ignore[arg-type]
    return str(caught.value)


def test_prefixes(folder: Path) -> None:
    rows = (
        "1,10.0.0.9,10.0.1.2,10 2,10.0.0.3,10.0.0.9,20 3,8.8.8.8,10.0.0.3,40 4,8.8.8.8,9.9.9.9,80"
    )
    found = placed(folder, rows, prefixes=[INSIDE])
    assert hosts(found) == {"8.8.8.8": 5, "9.9.9.9": 5, "10.0.0.3": 0, "10.0.0.9": 1, "10.0.1.2": 3}
    flows = found.flows.collect()
    assert flows.select("start_ps", "src", "dst", "bytes").rows() == [
        (0, 1, 3, 10),
        (10**6, 0, 1, 20),
        (2 * 10**6, 5, 0, 40),
    ]
    assert flows.schema["src"] == pl.UInt32
    assert [(d.rows, d.bytes) for d in found.counts.unplaced] == [(1, 80)]
    assert (found.counts.rows, found.counts.flows, found.counts.bytes) == (4, 3, 70)
    assert found.how == (
        "Addresses are placed by 2 prefixes. 2 addresses outside the network are host 5."
    )
    assert "between the network and outside pass host 5, the gateway: 1 flow, 40 B." in " ".join(
        found.counts.guessed
    )


def test_spellings_of_an_address_are_one_host(folder: Path) -> None:
    rows = (
        "1,::ffff:10.0.0.9,10.0.1.2,10 2,10.0.0.9,::FFFF:10.0.1.2,20 3,::ffff:a00:9,10.0.1.2,30 "
        "4,2001:DB8::0001,10.0.0.9,40 5,10.0.0.9,2001:db8:0::1,50"
    )
    found = placed(folder, rows)
    assert hosts(found).keys() == {"10.0.0.9", "10.0.1.2", "2001:db8::1"}
    assert found.addresses.select("address", "bytes").rows()[0] == ("10.0.0.9", 150)


def test_longest_prefix_wins_and_hosts_are_shared(folder: Path) -> None:
    rows = "1,10.0.0.1,10.0.0.2,5 2,10.0.0.3,10.0.0.200,5 3,10.0.0.1,10.0.0.3,5"
    found = placed(folder, rows, prefixes=["10.0.0.0/16=0,1", "10.0.0.200=4"], gateway=3)
    assert hosts(found) == {"10.0.0.1": 0, "10.0.0.2": 1, "10.0.0.3": 0, "10.0.0.200": 4}
    assert "3 addresses in 10.0.0.0/16 share 2 hosts." in found.counts.guessed
    assert found.counts.unplaced[0].why == "flows that begin and end at the same host"


def test_a_table_of_hosts(folder: Path) -> None:
    table = folder / "table.csv"
    table.write_text("# ours\naddress,host\n10.0.0.1,2\nweb-1,h4\n2001:db8:0::1,0\n10.9.9.9,1\n")
    rows = "1,10.0.0.1,web-1,5 2,2001:db8::1,10.7.7.7,6"
    found = placed(folder, rows, table=table, names={"h4": 4})
    assert hosts(found) == {"10.0.0.1": 2, "web-1": 4, "2001:db8::1": 0, "10.7.7.7": 5}
    assert "1 address of the table is not in the trace." in found.counts.guessed
    assert dict(found.addresses.select("address", "how").rows())["10.7.7.7"] == "gateway"


def test_a_table_of_racks(folder: Path) -> None:
    table = folder / "table.csv"
    table.write_text("rack,address\n1,10.0.0.1\n0,10.0.0.2\n1,10.0.0.4\n1,10.0.0.3\n")
    found = placed(folder, "1,10.0.0.1,10.0.0.2,5 2,10.0.0.3,10.0.0.2,6", table=table)
    assert hosts(found) == {"10.0.0.1": 3, "10.0.0.2": 0, "10.0.0.3": 4}


def test_a_guess_keeps_blocks_together(folder: Path) -> None:
    rows = (
        "1,10.0.7.1,10.0.9.1,100 2,10.0.7.2,10.0.9.2,900 3,10.0.9.3,10.0.9.2,9000 "
        "4,10.0.7.3,10.0.9.1,1"
    )
    found = placed(folder, rows)
    assert hosts(found) == {
        "10.0.9.2": 0,
        "10.0.9.3": 1,
        "10.0.9.1": 2,
        "10.0.7.2": 3,
        "10.0.7.1": 4,
        "10.0.7.3": 5,
    }
    assert found.counts.guessed[1:] == (
        "Places are guessed: 6 addresses in 2 blocks (/24, /64 of IPv6), the busiest first, each "
        "block in one rack where it fits; set them with --place.",
    )


def test_a_guess_with_more_addresses_than_hosts(folder: Path) -> None:
    path = collector_csv(folder / "flows.csv", some_flows(300, racks=3, hosts=4))
    found = place(read_trace(path), RACKS)
    assert found.addresses.height == 12
    assert set(found.addresses["host"]) == set(range(6))
    assert "More addresses than hosts: 12 addresses share 6 hosts." in found.counts.guessed


def test_public_addresses_are_outside_if_private_exist(folder: Path) -> None:
    found = placed(folder, "1,10.0.0.1,8.8.8.8,5 2,10.0.0.2,10.0.0.1,6")
    assert hosts(found) == {"10.0.0.1": 0, "10.0.0.2": 1, "8.8.8.8": 5}
    assert "Public addresses count as outside the network: 1." in " ".join(found.counts.guessed)
    only = placed(folder, "1,8.8.4.4,8.8.8.8,5")
    assert set(only.addresses["how"]) == {"guess"}


def test_ports_and_groups_stay(folder: Path) -> None:
    header = "start_us,src,dst,bytes,sport,dport,group"
    found = placed(folder, "1,10.0.0.1,10.0.0.2,5,7,80,web", header=header)
    row = found.flows.collect().row(0, named=True)
    assert (row["src_port"], row["dst_port"], row["group"]) == (7, 80, "web")


ROW = "1,10.0.0.1,10.0.0.2,5"


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("10.0.0.0/24", "--place: 10.0.0.0/24 is invalid; expected PREFIX=HOSTS"),
        ("10.0.0/24=0", "--place: 10.0.0/24 is invalid; expected an address or a prefix"),
        ("10.0.0.0/24=rack:2", "--place: rack 2 is invalid; expected a rack from 0 to 1"),
        ("10.0.0.0/24=pod:2", "--place: pod:2 is invalid; expected PREFIX=HOSTS"),
        ("10.0.0.0/24=0-9", "--place: host 9 is invalid; expected a host from 0 to 5"),
        ("10.0.0.0/24=4-2", "--place: 4-2 is invalid; expected the lower host first"),
        ("10.0.0.0/24=h1", "--place: h1 is invalid"),
        (
            "10.3.0.0/24=0",
            "--place: none of 2 addresses of the trace (10.0.0.1, 10.0.0.2, ...) is in the network",
        ),
        (
            "10.0.0.0/24=3",
            "no flow can be replayed: of 1 flow, 0 are between addresses outside and 1 begin",
        ),
    ],
)
def test_bad_prefixes(folder: Path, rule: str, message: str) -> None:
    assert message in refusal(folder, ROW, prefixes=[rule])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ip,host\n", "header: ip,host is invalid; expected address,host or address,rack"),
        ("", "header:  is invalid"),
        ("address,host\n10.0.0.1,6\n", "line 2, column host: 6 is invalid; expected a host from"),
        ("address,rack\n10.0.0.1,2\n", "line 2, column rack: 2 is invalid; expected a rack from"),
        ("address,host\n10.0.0.1,1\n10.0.0.1,2\n", "line 3: 10.0.0.1 is given twice"),
        ("address,host\n10.0.0.1\n", "line 2: 10.0.0.1 is invalid; expected 2 cells"),
    ],
)
def test_bad_tables(folder: Path, text: str, message: str) -> None:
    table = folder / "table.csv"
    table.write_text(text)
    assert message in refusal(folder, ROW, table=table)


def test_nearly_all_outside(folder: Path) -> None:
    rows = " ".join(["1,9.9.9.9,8.8.8.8,5"] * 19 + [ROW])
    told = refusal(folder, rows, prefixes=["10.0.0.0/24=0-5"])
    assert told.startswith("--place: 19 of 20 flows (95.0%) are between addresses outside")
    assert "expected at most 90%" in told


def test_other_bad_calls(folder: Path) -> None:
    assert "--gateway: 9 is invalid; expected a host, 0 to 5" in refusal(folder, ROW, gateway=9)
    both = refusal(folder, ROW, table=folder / "t.csv", prefixes=["10.0.0.0/8=0"])
    assert "as a table and as prefixes" in both
    assert "No such file" in refusal(folder, ROW, table=folder / "none.csv")
    assert "1 host; expected at least 2" in refusal(folder, ROW, racks=[[0]])
