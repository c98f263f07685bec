"""Commands about your own network: `hull design`, `hull lab`, `hull linux`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hull.cli.command import Argument, Option
from hull.cli.common import Format, command
from hull.errors import UsageError
from hull.terminal.messages import say

if TYPE_CHECKING:
    from hull.ask.network import Network


@command(keeps_words=True)
def linux(words: list[str]) -> None:
    """Run HULL on Linux: eBPF programs, a rack of namespaces, real traffic."""
    from hull.linux.programs import hand_over

    hand_over(words or ["--help"])


@command()
def design(
    network: Annotated[
        str | None,
        Argument(
            metavar="[NETWORK]",
            help="A scenario file, a shipped scenario, a graph, or 2x20@25G,2x100G; sets rate, "
            "round trip and MTU from its slowest host link and longest path.",
        ),
    ] = None,
    rate: Annotated[
        str | None,
        Option(metavar="RATE", help="Link rate, 10Mbps to 6.4Tbps, such as 10Gbps."),
    ] = None,
    rtt: Annotated[
        str | None,
        Option(
            metavar="TIME",
            help="Round trip without queueing, 1us to 1s, such as 300us; at most 400 MB and "
            "400,000 packets in flight.",
        ),
    ] = None,
    flows: Annotated[
        str,
        Option(
            metavar="N",
            help="Large flows that share a port, 1 to 4095, each with more than 2 packets in "
            "flight.",
        ),
    ] = "2",
    load: Annotated[
        str,
        Option(
            metavar="SHARE",
            help="Offered load as a share of the rate, from 0% to below the rate that HULL leaves "
            "to flows (below 95%).",
        ),
    ] = "40%",
    mtu: Annotated[
        str | None,
        Option(
            metavar="SIZE",
            help="Packet size with headers, 300B to 9000B (default: the network's, or 1500B).",
        ),
    ] = None,
    buffer: Annotated[
        str | None,
        Option(
            metavar="SIZE",
            help="Buffer of a port: more than a packet per flow, up to 1000000GB (default: "
            "enough).",
        ),
    ] = None,
    check: Annotated[
        bool,
        Option("--check", help="Simulate the setting and print measured beside predicted values."),
    ] = False,
    format: Annotated[Format, Option(help="Output format.")] = Format.TABLE,
    scenario: Annotated[
        Path | None, Option(metavar="FILE", help="Write a scenario for hull run.")
    ] = None,
) -> None:
    """Recommend DCTCP and HULL settings for a network, and predict their effect."""
    from hull.theory.design import design as recommend
    from hull.theory.design import with_ports
    from hull.theory.options import read_setting
    from hull.theory.report import print_design, write_scenario

    read = None
    if network is not None:
        read = _read_network(network, rtt)
        rate = rate or f"{read.rate_bps:.0f}bps"
        rtt = rtt or f"{read.round_trip_s * 1e12:.0f}ps"
        mtu = mtu or f"{read.mtu_bytes}B"
    if rate is None or rtt is None:
        raise UsageError(
            "--rate, --rtt: required without a network, such as hull design --rate 25Gbps "
            "--rtt 60us, or hull design 2x20@25G,2x100G"
        )
    found = recommend(read_setting(rate, rtt, flows, load, mtu or "1500B", buffer))
    if read is not None:
        found = with_ports(found, read.rates_bps, [host.in_bps for host in read.hosts])
    measured = None
    if check:
        from hull.ask.design_check import measure, read_plans

        plans = read_plans(found)
    if scenario is not None:
        write_scenario(found, scenario)
    if check:
        measured = measure(found, plans)
    if format is Format.JSON:
        content = found.as_json()
        print(
            json.dumps(content if measured is None else {**content, "measured": measured}, indent=1)
        )
    else:
        print_design(found, measured)


def _read_network(network: str, rtt: str | None) -> "Network":
    """The network, after what was guessed of it is said."""
    from hull.ask.network import is_short, read_network

    if rtt is not None and is_short(network):
        read = read_network(network, rtt)
    else:
        read = read_network(network)
    for sentence in read.guessed:
        say(sentence)
    return read


@command()
def lab(
    file: Annotated[
        Path | None,
        Argument(
            metavar="[FILE]",
            help="A scenario file: runs its network, traffic and schemes live, and a star with its "
            "rate, round trip, buffer and thresholds.",
        ),
    ] = None,
    host: Annotated[
        str,
        Option(
            metavar="ADDR",
            help="Address to listen on; addresses beyond this machine require the token.",
        ),
    ] = "127.0.0.1",
    port: Annotated[int, Option(metavar="N", help="Port; 0 takes a free one.")] = 8765,
    no_open: Annotated[bool, Option("--no-open", help="Do not open a browser.")] = False,
) -> int:
    """Watch schemes on a local page while the simulator runs."""
    from hull.lab.command import serve

    return serve(host, port, None if file is None else str(file), open_browser=not no_open)
