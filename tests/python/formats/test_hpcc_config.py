"""`hull convert`: no key of a configuration is lost, and the scenario equals one made by hand."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import hull
from conftest import Hull
from hull import scenarios
from hull.cli import converting
from hull.errors import UsageError
from hull.formats.hpcc_scenario import Control, Dialect, convert

SHARED = [folder / "shared" / "formats" for folder in Path(__file__).parents[3:6]]
FORMATS = next((folder for folder in SHARED if folder.is_dir()), None)
TOPOLOGY = """4 1 3
3
0 3 25Gbps 1000ns 0
1 3 25Gbps 1000ns 0
2 3 25Gbps 1000ns 0
"""
FLOWS = "2\n0 2 3 100 100000 0\n1 2 3 100 100000 0.00001\n"
HPCC = """ENABLE_QCN 1
USE_DYNAMIC_PFC_THRESHOLD 1

PACKET_PAYLOAD_SIZE 1000

TOPOLOGY_FILE mix/topology.txt
FLOW_FILE mix/flow.txt {input file}
TRACE_FILE mix/trace.txt
TRACE_OUTPUT_FILE mix/mix.tr
FCT_OUTPUT_FILE mix/fct.txt
PFC_OUTPUT_FILE mix/pfc.txt
SIMULATOR_STOP_TIME 0.004
CC_MODE 3
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER 900
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 10Mb/s
RATE_HAI 100Mb/s
MIN_RATE 100Mb/s
DCTCP_RATE_AI 1000Mb/s
ERROR_RATE_PER_LINK 0.0000
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
L2_BACK_TO_ZERO 0
HAS_WIN 1
GLOBAL_T 1
VAR_WIN 1
FAST_REACT 1
U_TARGET 0.95
MI_THRESH 0
INT_MULTI 1
MULTI_RATE 0
SAMPLE_FEEDBACK 0
PINT_LOG_BASE 1.05
PINT_PROB 1.0
RATE_BOUND 1
ACK_HIGH_PRIO 0
LINK_DOWN 0 0 0
ENABLE_TRACE 1
KMAX_MAP 2 25000000000 400 50000000000 800
KMIN_MAP 2 25000000000 100 50000000000 200
PMAX_MAP 2 25000000000 0.2 50000000000 0.2
BUFFER_SIZE 4
QLEN_MON_FILE mix/qlen.txt
QLEN_MON_START 2000000000
QLEN_MON_END 2010000000
DATA_RATE 1Gb/s
LINK_DELAY 1us
PAUSE_TIME 5
"""
CONWEAVE = (
    HPCC.replace("SIMULATOR_STOP_TIME 0.004", "FLOWGEN_STOP_TIME 0.004").replace(
        "ACK_HIGH_PRIO 0\n", ""
    )
    + "ENABLE_PFC 1\nENABLE_IRN 0\nLB_MODE 0\nRANDOM_SEED 1\nLOAD 50\nFLOWGEN_START_TIME 2\n"
    "SW_MONITORING_INTERVAL 10000\nCONWEAVE_TX_EXPIRY_TIME 300\nVOQ_MON_FILE voq.txt\n"
)
OTHERS = {
    "1Gb/s": "2Gb/s",
    "10Mb/s": "20Mb/s",
    "100Mb/s": "200Mb/s",
    "1000Mb/s": "2000Mb/s",
    "1us": "2us",
    "0 0 0": "10 0 3",
    "2 25000000000 400 50000000000 800": "2 25000000000 401 50000000000 800",
    "2 25000000000 100 50000000000 200": "2 25000000000 101 50000000000 200",
    "2 25000000000 0.2 50000000000 0.2": "2 25000000000 0.3 50000000000 0.2",
}
"""Another value that a key may have."""
MODES = {"dcqcn": 1, "hpcc": 3, "timely": 7, "dctcp-rate": 8}


def files(folder: Path, text: str, topology: str = TOPOLOGY) -> Path:
    """The configuration, with what it names where these programs run."""
    mix = folder / "mix"
    mix.mkdir(exist_ok=True)
    (mix / "topology.txt").write_text(topology)
    (mix / "flow.txt").write_text(FLOWS)
    config = mix / "config.txt"
    config.write_text(text)
    return config


def of_mode(text: str, mode: int) -> str:
    return text.replace("CC_MODE 3", f"CC_MODE {mode}")


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize("text", [HPCC, CONWEAVE], ids=["hpcc", "conweave"])
def test_each_key_has_an_effect_or_is_listed(text: str, mode: int, tmp_path: Path) -> None:
    """With another value of any key the scenario differs, or the key is listed or rejected."""
    text = of_mode(text, mode)
    whole = convert(files(tmp_path, text))
    listed = {sentence.split()[2].rstrip(":") for sentence in whole.left}
    kept = []
    for line in filter(None, text.splitlines()):
        key, _, value = line.partition(" {")[0].partition(" ")
        if key.endswith("_FILE") or key in listed:
            continue
        number = {"0": "1", "1": "0", "0.0000": "0.001"}.get(value)
        other = OTHERS.get(value) or number or f"{float(value) * 2:g}"
        told: list[str] = []
        try:
            found = convert(files(tmp_path, text.replace(line, f"{key} {other}")))
        except UsageError as error:
            told = [str(error)]
        else:
            told = found.left if found.scenario == whole.scenario else [f" {key} {other}"]
        assert any(f" {key} {other}" in sentence for sentence in told), key
        kept.append(key)
    assert {"PACKET_PAYLOAD_SIZE", "MIN_RATE", "BUFFER_SIZE", "LINK_DOWN"} <= {*kept}
    assert ("RATE_AI" in listed) == (mode == MODES["dctcp-rate"])


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize("text", [HPCC, CONWEAVE], ids=["hpcc", "conweave"])
def test_the_scenario_runs(text: str, mode: int, tmp_path: Path) -> None:
    converting.convert(files(tmp_path, of_mode(text, mode)), tmp_path / "own.toml")
    result = hull.run(tmp_path / "own.toml", out=tmp_path / "run")
    assert result.flows["bytes"].to_list() == [100_000, 100_000]
    # 100 packets to each, which leave their hosts back to back or slower.
    assert all(slowdown >= 1 for slowdown in result.flows["slowdown"].to_list())


def part(table: dict[str, Any], key: str) -> Any:
    for name in key.split("."):
        table = table[name]
    return table


@pytest.mark.parametrize(("scheme", "control"), [("hpcc", None), ("powertcp", Control.POWERTCP)])
def test_a_scenario_made_by_hand_is_the_same(
    scheme: str, control: Control | None, tmp_path: Path
) -> None:
    """The shipped scenario of PowerTCP's incast was made from its files by hand."""
    powertcp = TOPOLOGY.replace("4 1 3", "4 1 1 3")
    found = convert(files(tmp_path, HPCC, powertcp), control=control)
    assert found.dialect is Dialect.POWERTCP
    by_hand = tomllib.loads(scenarios.text("powertcp-incast"))
    of_scheme = by_hand["schemes"][scheme]
    for key in ("switch.memory", "switch.pfc", "transport.mtu", "transport.header", "host.queue"):
        assert part(found.scenario, key) == part(by_hand, key)
    message = found.scenario["transport"]["message"]
    assert message["ack_size"] == by_hand["transport"]["message"]["ack_size"]
    assert found.scenario["switch"]["telemetry"] == of_scheme["switch"]["telemetry"]
    assert found.scenario["transport"]["congestion_control"] == scheme
    assert found.scenario["transport"][scheme]["min_rate"] == "100000000bps"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            ("CC_MODE 3", "CC_MODE 10"),
            "line 13: CC_MODE 10 is invalid; expected 1 (dcqcn), 3 (hpcc)",
        ),
        (("HAS_WIN 1", "HAS_WIN 0"), "line 28: HAS_WIN 0 is invalid; expected 1 with hpcc"),
        (("VAR_WIN 1", "VAR_WIN 0"), "line 30: VAR_WIN 0 is invalid; expected 1"),
        (("INT_MULTI 1", "CC_MODE 1"), "line 34: CC_MODE 1 is invalid; expected 3 as in line 13"),
        (("MIN_RATE 100Mb/s", "MIN_RATE 100"), ""),
        (
            ("MIN_RATE 100Mb/s", "MIN_RATE fast"),
            "line 22: MIN_RATE fast is invalid; expected MIN_RATE",
        ),
        (
            ("GLOBAL_T 1", "GLOBAL_T 2"),
            "line 29: GLOBAL_T 2 is invalid; expected GLOBAL_T with 0 or 1",
        ),
        (("KMAX_MAP 2 2", "KMAX_MAP 3 2"), "line 43: KMAX_MAP 3 25000000000 400"),
        (("LINK_DOWN 0 0 0", "LINK_DOWN 0 0"), "line 41: LINK_DOWN 0 0 is invalid"),
        (("mix/flow.txt", "mix/none.txt"), "line 7: FLOW_FILE mix/none.txt is invalid; expected a"),
        (("U_TARGET 0.95\n", ""), "config.txt: lacks U_TARGET; expected it in a line"),
    ],
)
def test_contradictions_are_refused(change: tuple[str, str], told: str, tmp_path: Path) -> None:
    config = files(tmp_path, HPCC.replace(*change))
    if not told:
        assert convert(config).scenario["transport"]["hpcc"]["min_rate"] == "100bps"
        return
    with pytest.raises(UsageError) as caught:
        convert(config)
    assert told in str(caught.value)


def test_thresholds_of_marking(tmp_path: Path) -> None:
    """One rate of links, two in proportion, and two of which no rule makes one table."""
    text = of_mode(HPCC, 1)
    ramp = {"max_threshold": "400KB", "max_probability": "20%", "on": "dequeue"}
    one = convert(files(tmp_path, text)).scenario["switch"]["marking"]
    assert one == {"threshold": "100KB", **ramp}
    two = TOPOLOGY.replace("2 3 25Gbps", "2 3 50000000000.0")
    scaled = convert(files(tmp_path, text, two)).scenario["switch"]["marking"]
    assert scaled == {"threshold": "100KB", **ramp, "at_rate": "25000000000bps"}
    with pytest.raises(UsageError, match=r"line 44: KMIN_MAP .* in proportion to them"):
        convert(files(tmp_path, text.replace("50000000000 200", "50000000000 150"), two))
    with pytest.raises(UsageError, match=r"a value for each rate in .*, also 40000000000"):
        convert(files(tmp_path, text, TOPOLOGY.replace("2 3 25Gbps", "2 3 40Gbps")))
    low = text.replace("KMAX_MAP 2 25000000000 400", "KMAX_MAP 2 25000000000 40")
    with pytest.raises(UsageError, match=r"line 43: KMAX_MAP .* at least 100, as in KMIN_MAP"):
        convert(files(tmp_path, low))


def test_irn_or_pauses(tmp_path: Path) -> None:
    irn = CONWEAVE.replace("ENABLE_PFC 1\nENABLE_IRN 0", "ENABLE_PFC 0\nENABLE_IRN 1")
    found = convert(files(tmp_path, of_mode(irn, 1)))
    assert found.scenario["transport"]["message"]["recovery"] == "selective_go_back"
    assert "pfc" not in found.scenario["switch"]
    assert any("max_in_flight" in sentence for sentence in found.left)
    both = CONWEAVE.replace("ENABLE_IRN 0", "ENABLE_IRN 1")
    with pytest.raises(UsageError, match="ENABLE_IRN 1 is invalid; expected either ENABLE_PFC 1"):
        convert(files(tmp_path, both))


@pytest.mark.skipif(FORMATS is None, reason="needs shared/formats")
def test_powertcps_burst_is_the_recorded_one(tmp_path: Path) -> None:
    """The configuration, topology and flows of ns3-datacenter as they are: ten flows join one. Its
    program, with a first ACK that only stores its record, had a queue of at most 328,090 bytes,
    13.18 us after the burst.
    """
    source = Path(str(FORMATS), "hpcc")
    text = (source / "powertcp-config-burst.txt").read_text()
    config = files(tmp_path, text, (source / "powertcp-topology-256.txt").read_text())
    flows = (source / "powertcp-flow-burstExp-10.txt").read_text()
    for name, content in (
        ("topology-256", config.with_name("topology.txt").read_text()),
        ("flow-burstExp-256", flows),
    ):
        config.with_name(f"{name}.txt").write_text(content)
    converting.convert(config, tmp_path / "own.toml", control=Control.POWERTCP)
    measured = 'measure={ports=["n256->n16"],queue_changes=true}'
    settings = ["run.warmup=149990us", "run.duration=100us", measured]
    queues = hull.run(tmp_path / "own.toml", out=tmp_path / "run", set=settings).queues
    order = queues.sort("bytes", "time_ps", descending=[True, False])
    most = order.row(0, named=True)
    assert most["bytes"] == pytest.approx(328_090, abs=1090)
    assert most["time_ps"] == pytest.approx(150_013_180_000, abs=100_000)


def test_the_command(hull: Hull, tmp_path: Path) -> None:
    config = files(tmp_path, HPCC)
    done = hull("convert", str(config), "own.toml")
    assert (done.returncode, done.stdout) == (0, "own.toml\n")
    assert "EWMA_GAIN 0.00390625: has no effect with hpcc" in done.stderr
    assert (
        Path("own.toml").read_text().startswith("# From config.txt by hull convert, read as hpcc")
    )
    again = hull("convert", str(config), "own.toml")
    assert (again.returncode, "exists" in again.stderr) == (2, True)
