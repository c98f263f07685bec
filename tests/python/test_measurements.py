"""Measurement does not perturb the simulation and agrees with independent results."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hull
from hull.results.fairness import convergence_time, jain, throughput

EVERYTHING = [
    'measure.ports=["switch-host"]',
    "measure.queue_changes=true",
    "measure.flows={count=9,interval='30us'}",
    "measure.pacers={interval='70us'}",
    'measure.capture={ports=["switch-host","host-switch"]}',
]
SCHEMES = {
    "tcp": {},
    "dctcp": {
        "transport": {"congestion_control": "dctcp", "ecn": True},
        "switch": {"marking": {"threshold": "30KB"}},
    },
    "hull": {
        "transport": {"congestion_control": "dctcp", "ecn": True},
        "switch": {"phantom_queue": {"drain": "950Mbps", "threshold": "1KB"}},
        "pacer": {},
    },
}
BULK = {"bulk": {"flows": 3}}
REQUESTS = {"requests": {"load": "60%", "classes": [{"size": "20KB", "share": "100%"}]}}


def scenario(workload: dict[str, Any], **tables: Any) -> dict[str, Any]:
    """A star of 1 Gbps with four hosts."""
    return {
        "name": "measured",
        "run": {"duration": "30ms", "warmup": "5ms"},
        "topology": {"star": {"hosts": 4}},
        "host": {"rate": "1Gbps", "delay": "5us", "queue": "fifo"},
        "switch": {"rate": "1Gbps", "delay": "5us", "buffer": "100KB"},
        "transport": {"min_rto": "5ms"},
        "workload": workload,
        **tables,
    }


@pytest.mark.parametrize("workload", [BULK, REQUESTS], ids=["bulk", "requests"])
def test_measurements_change_no_result(workload: dict[str, Any], tmp_path: Path) -> None:
    table = scenario(workload, schemes=SCHEMES)
    bare = hull.run(table, tmp_path / "bare")
    full = hull.run(table, tmp_path / "full", set=EVERYTHING)
    for one, other in zip(bare.summary["parts"], full.summary["parts"], strict=True):
        same = set(one) - {"cpu_seconds", "wall_seconds", "peak_rss_bytes"}
        same -= {"queues", "fairness"}
        assert {key: one[key] for key in same} == {key: other[key] for key in same}
    for name in ("flows", "latency", "links"):
        files = [(run.folder / f"{name}.parquet").read_bytes() for run in (bare, full)]
        assert files[0] == files[1]
    assert full.queues.height > 100
    assert full.series.height > 100
    assert set(full.pacers["scheme"]) == {"hull"}
    with pytest.raises(hull.UsageError, match=r"measure\.flows"):
        _ = bare.series


def test_queue_changes_reproduce_its_mean(tmp_path: Path) -> None:
    result = hull.run(
        scenario(BULK), tmp_path / "out", set=['measure={ports=["switch->h0"],queue_changes=true}']
    )
    [part] = result.summary["parts"]
    rows = result.queues
    assert set(rows["port"]) == {"switch->h0"}
    assert rows["time_ps"].is_sorted()
    assert rows["time_ps"][0] == 5 * 10**9
    ends = rows["time_ps"].shift(-1, fill_value=35 * 10**9)
    byte_ps = int((rows["bytes"] * (ends - rows["time_ps"])).sum())
    mean_us = byte_ps / (30 * 10**9) * 8e-3
    assert part["queues"]["switch->h0"]["mean_us"] == pytest.approx(mean_us, rel=1e-9)
    assert part["queues"]["switch->h0"] == part["switch_latency"]["occupancy"]
    assert ((rows["bytes"] == 0) == (rows["packets"] == 0)).all()
    assert rows["bytes"].max() == rows["packets"].max() * 1500  # type: ignore[operator]


def test_samples_agree_with_the_queue(tmp_path: Path) -> None:
    result = hull.run(
        scenario(BULK),
        tmp_path / "out",
        set=['measure={ports=["switch-host","h2--switch"],sample_interval="100us"}'],
    )
    ports = {f"switch->h{host}" for host in range(4)} | {"h2->switch"}
    assert set(result.queues["port"]) == ports
    assert set(result.summary["parts"][0]["queues"]) == ports
    mine = result.queues.filter(pl.col("port") == "switch->h0")
    assert mine["bytes"].to_list() == result.latency["queue_bytes"].to_list()
    assert mine["time_ps"].diff().drop_nulls().unique().to_list() == [10**8]


@pytest.mark.parametrize("scheme", ["tcp", "dctcp"])
def test_series_add_up(scheme: str, tmp_path: Path) -> None:
    table = scenario(BULK, schemes={scheme: SCHEMES[scheme]})
    result = hull.run(table, tmp_path / "out", set=["measure.flows.interval=100us"])
    [part] = result.summary["parts"]
    series = result.series
    ends = series.filter(pl.col("time_ps").is_in([5 * 10**9, 35 * 10**9]))
    gained = ends.group_by("flow").agg(
        pl.col("delivered_bytes").last() - pl.col("delivered_bytes").first()
    )
    total_bps = int(gained["delivered_bytes"].sum()) * 8 / 0.03
    # Goodput counts only the part after the warm-up of a packet that straddles its end, and also
    # counts bytes received beyond a hole.
    packets = {"tcp": 3, "dctcp": 1}[scheme]
    total_goodput_bps = part["throughput"]["total_goodput_bps"]
    assert total_bps == pytest.approx(total_goodput_bps, abs=packets * 1460 * 8 / 0.03)
    assert part["fairness"]["flows"] == 3
    assert part["fairness"]["jain"] == pytest.approx(jain(gained["delivered_bytes"]))
    rates = throughput(series, 1e-3)
    per_interval = rates.group_by("time_ps").agg(pl.col("bps").sum(), pl.len())
    assert per_interval["len"].unique().to_list() == [3]
    assert (series["alpha"].is_null().all()) == (scheme == "tcp")
    if scheme == "dctcp":  # no losses: filling a hole delivers more in order than the link carries
        assert per_interval["bps"].max() <= 1e9 * 1460 / 1500 * 1.02  # type: ignore[operator]
        assert series["alpha"].is_between(0, 1).all()
    srtt = series["srtt_ps"].drop_nulls()
    assert srtt.min() >= 4 * 5 * 10**6  # type: ignore[operator]
    assert series["in_flight_bytes"].max() <= series["cwnd_bytes"].max()  # type: ignore[operator]


def test_short_flow_is_sampled_at_its_end(tmp_path: Path) -> None:
    table = scenario({"bulk": {"flows": 3, "size": "10KB", "start_interval": "300us"}})
    result = hull.run(table, tmp_path / "out", set=["measure.flows.interval=1ms", "run.warmup=0s"])
    last = result.series.group_by("flow").agg(pl.col("delivered_bytes").max())
    assert sorted(last.rows()) == [(flow, 10_000) for flow in range(3)]


def test_messages_are_sampled(tmp_path: Path) -> None:
    """Two senders share a receiver's link; packets that arrive out of order count."""
    table = scenario(
        {"bulk": {"flows": 2, "size": "1MB"}},
        host={"rate": "100Gbps", "delay": "1us"},
        switch={"rate": "100Gbps", "delay": "1us", "buffer": "1MB"},
        transport={"congestion_control": "nscc", "ecn": True, "mtu": "4150B"},
    )
    table["switch"]["trimming"] = {}
    table["switch"]["marking"] = {"threshold": "100KB"}
    result = hull.run(table, tmp_path / "out", set=["measure.flows.interval=10us", "run.warmup=0s"])
    last = result.series.group_by("flow").agg(pl.col("delivered_bytes").max())
    assert sorted(last.rows()) == [(0, 1_000_000), (1, 1_000_000)]
    begun = result.series.filter(pl.col("delivered_bytes") > 0)
    assert begun["cwnd_bytes"].min() >= 4150  # type: ignore[operator]
    assert begun["delivered_bytes"].n_unique() > 10
    assert begun["in_flight_bytes"].max() > 4150  # type: ignore[operator]
    assert begun["srtt_ps"].is_null().all()


def test_pacers_stay_within_their_settings(tmp_path: Path) -> None:
    table = scenario(BULK, schemes={"hull": SCHEMES["hull"]})
    result = hull.run(table, tmp_path / "out", set=["measure.pacers={}"])
    rows = result.pacers
    assert sorted(set(rows["host"])) == [0, 1, 2, 3]
    assert rows["time_ps"].unique().sort().to_list() == [ms * 10**9 for ms in range(35)]
    assert rows["rate_bps"].is_between(500_000, 10**9).all()
    assert rows["backlog_bytes"].max() <= 128_000  # type: ignore[operator]
    assert ((rows["backlog_bytes"] == 0) == (rows["backlog_packets"] == 0)).all()
    busy = rows.filter((pl.col("host") > 0) & (pl.col("time_ps") > 5 * 10**9))
    total_bps = busy.group_by("time_ps").agg(pl.col("rate_bps").sum())["rate_bps"].mean()
    assert total_bps == pytest.approx(0.95e9, rel=0.15)  # the phantom queue's drain rate


def test_queries_are_counted(tmp_path: Path) -> None:
    table = scenario({"incast": {"servers": 3, "queries": 20}})
    result = hull.run(table, tmp_path / "out", set=["run.duration=1s", "run.warmup=0s"])
    [part] = result.summary["parts"]
    queries = result.queries
    assert part["queries"]["count"] == part["queries"]["completed"] == queries.height == 20
    mean_us = queries["completion_ps"].mean() * 1e-6  # type: ignore[operator]
    assert part["queries"]["mean_us"] == pytest.approx(mean_us)
    assert part["queries"]["in_time_share"] == 1
    late = queries.filter(pl.col("timeouts") > 0).height
    assert part["queries"]["timeout_share"] == late / 20


def test_links_add_up(tmp_path: Path) -> None:
    table = scenario({"bulk": {"flows": 3, "size": "100KB"}})
    settings = ["run.duration=1s", "run.warmup=0s", "switch.buffer=12KB"]
    result = hull.run(table, tmp_path / "out", set=settings)
    [part] = result.summary["parts"]
    links = result.links
    packets = part["packets"]
    up = links.filter(pl.col("tier") == "host-switch")
    # Packets in flight have crossed zero, one or two links.
    rest = packets["in_flight"]
    assert packets["sent"] - rest <= up["packets"].sum() <= packets["sent"]
    down = links.filter(pl.col("tier") == "switch-host")["packets"].sum()
    assert packets["delivered"] <= down <= packets["delivered"] + rest
    assert links["drops"].sum() == packets["dropped"] > 0
    for tier, of_tier in links.group_by("tier"):
        summed = part["links"][str(tier[0])]
        assert summed["packets"] == of_tier["packets"].sum()
        assert summed["max_utilization"] == of_tier["utilization"].max()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ('measure.ports=["switch->h9"]', r"measure\.ports\[0\].*no node is named .h9"),
        ('measure.ports=["h0->h1"]', r"measure\.ports\[0\].*no link joins"),
        ('measure.ports=["core-agg"]', r"measure\.ports\[0\].*a tier: .*switch-host"),
        ("measure.flows={count=0}", r"measure\.flows\.count: 0 is invalid"),
        ("measure.flows={interval='1ns'}", r"measure\.flows\.interval.*at least 1us"),
        ("measure.pacers={interval='1ns'}", r"measure\.pacers\.interval.*at least 1us"),
        ("measure.capture={ports=[]}", r"measure\.capture\.ports: found none"),
        ('measure.capture={ports=["switch->h0"],file="../x.pcapng"}', r"capture\.file.*letters"),
        ('measure.capture={ports=["switch->h0"],file="flows.parquet"}', r"capture\.file"),
        ('measure.capture={ports=["switch->h0"],start="2s",stop="1s"}', r"capture\.stop"),
        ('measure.capture={ports=["switch->h0"],snap_length="20B"}', r"snap_length.*94B"),
        ('measure.capture={ports=["switch->h0"],max_packets=0}', r"max_packets: 0 is invalid"),
    ],
)
def test_impossible_measurements_are_rejected(setting: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(hull.ScenarioError, match=message):
        hull.run(scenario(BULK), tmp_path / "out", set=[setting])


def test_jain() -> None:
    assert jain([3, 3, 3]) == 1
    assert jain([5, 0, 0, 0]) == 0.25
    assert jain([1, 3]) == 0.8
    for wrong in ([], [0, 0], [1, -1]):
        with pytest.raises(ValueError, match="is invalid; expected"):
            jain(wrong)


def hand_made() -> pl.DataFrame:
    """Two flows sampled every millisecond: the second starts at 2 ms, has its fair share at 6 ms,
    not at 7 ms, and again from 8 ms on; the fair share is 1000 bytes/ms."""
    rates = {
        0: [0, 2, 2, 2, 1.8, 1.5, 1.05, 1.2, 1, 1, 1],
        1: [0, 0, 0, 0, 0.2, 0.5, 0.95, 0.8, 1, 1, 1],
    }
    rows = []
    for flow, per_ms in rates.items():
        total = 0.0
        for ms, rate in enumerate(per_ms):
            total += 1000 * rate
            if flow == 0 or ms >= 2:
                rows.append((ms * 10**9, flow, round(total), round(10_000 * rate)))
    return pl.DataFrame(rows, ["time_ps", "flow", "delivered_bytes", "cwnd_bytes"], orient="row")


def test_throughput_over_time() -> None:
    rates = throughput(hand_made(), 1e-3)
    first = rates.filter(pl.col("flow") == 0)["bps"].to_list()
    assert first == pytest.approx([16e6, 16e6, 16e6, 14.4e6, 12e6, 8.4e6, 9.6e6, 8e6, 8e6, 8e6])
    second = rates.filter(pl.col("flow") == 1)
    assert second["time_ps"].to_list() == [ms * 10**9 for ms in range(3, 11)]
    longer = throughput(hand_made(), 2e-3).filter(pl.col("flow") == 0)
    assert longer["time_ps"].to_list() == [ms * 10**9 for ms in (2, 4, 6, 8, 10)]
    assert longer["bps"].to_list() == pytest.approx([16e6, 15.2e6, 10.2e6, 8.8e6, 8e6])
    with pytest.raises(ValueError, match="interval"):
        throughput(hand_made(), 0)


def test_convergence_time() -> None:
    series = hand_made()
    # Measured from the second flow's start at 2 ms: first fair at 6 ms, permanently from 8 ms.
    assert convergence_time(series, 10_000) == pytest.approx(4e-3)
    assert convergence_time(series, 8e6, interval=1e-3) == pytest.approx(4e-3)
    assert convergence_time(series, 10_000, hold=2e-3) == pytest.approx(6e-3)
    assert convergence_time(series, 10_000, hold=2e-3, start=0.0) == pytest.approx(8e-3)
    assert convergence_time(series, 10_000, tolerance=0.25, hold=2e-3) == pytest.approx(4e-3)
    assert convergence_time(series, 10_000, hold=3e-3) is None
    assert convergence_time(series, 99_000) is None
    two_runs = pl.concat([series.with_columns(seed=pl.lit(seed)) for seed in (1, 2)])
    with pytest.raises(ValueError, match="several runs"):
        convergence_time(two_runs, 1)


def test_summary_has_means_of_measurements(tmp_path: Path) -> None:
    result = hull.run(
        scenario(BULK), tmp_path / "out", set=["run.seeds=2", "measure.flows={}"], jobs=1
    )
    summary = json.loads((result.folder / "summary.json").read_text())
    [cell] = summary["cells"]
    assert cell["fairness"]["jain"]["mean"] == summary["parts"][0]["fairness"]["jain"]
    assert cell["queues"]["switch->h0"]["mean_us"]["ci95"] == 0
    assert cell["queries"] is None


@pytest.mark.parametrize("queue", [{}, {"queue": "fifo"}])
def test_losses_of_a_failure_have_a_place_and_a_warning(
    queue: dict[str, str], tmp_path: Path
) -> None:
    scenario = {
        "name": "failure",
        "run": {"duration": "20ms"},
        "topology": {
            "star": {"hosts": 2},
            "failures": [{"link": "switch--h0", "at": "5ms", "until": "6ms"}],
        },
        "host": {"rate": "1Gbps", "delay": "50us", **queue},
        "switch": {"rate": "1Gbps", "delay": "50us"},
        "workload": {"long_lived": {"flows": [{"src": 1, "dst": 0}]}},
    }
    summary = hull.run(scenario, out=tmp_path / "failure").summary
    (part,) = summary["parts"]
    places = part["drops_by_place"]
    assert sum(places.values()) == part["drops"] > 0
    assert places["nic"] == 0
    assert sum(part["failure_drops"].values()) == places["failed_links"] > 0
    (link,) = part["failure_drops"]
    (warning,) = [text for text in summary["warnings"] if "failed links" in text]
    assert link in warning
    assert not any("NIC" in text for text in summary["warnings"])
