"""The command that answers for your own traffic: `hull ask`."""

import json
import sys
from pathlib import Path
from typing import Annotated

from hull.cli.command import Argument, Option
from hull.cli.common import Force, Format, Jobs, Strict, command, count, say_warnings
from hull.errors import UsageError


@command()
def ask(
    trace: Annotated[
        Path,
        Argument(
            help="Flows: CSV, JSON lines, Parquet, nfdump -o csv, Zeek's conn.log, pcap or pcapng."
        ),
    ],
    topology: Annotated[
        str,
        Option(
            metavar="NETWORK",
            help="2x20@25G,2x100G (leaves x hosts, spines), 20@10G (one switch), a shipped "
            "scenario, a scenario file or a graph.",
        ),
    ],
    give_up: Annotated[
        str, Option(metavar="SHARES", help="Shares of the bandwidth to give up.")
    ] = "2%,5%,10%",
    out: Annotated[Path, Option(metavar="DIR", help="Folder to create.")] = Path("results", "ask"),
    today: Annotated[
        str | None,
        Option(
            metavar="NAMES",
            help="Schemes in use today, of dctcp, cubic and bbr; the first is the baseline "
            "(default: cubic,dctcp; cubic is Linux's default).",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        Option(
            metavar="ROLE=COLUMN,...", help="Roles of columns: start=ts,src=src_ip,bytes=octets."
        ),
    ] = None,
    time_unit: Annotated[
        str | None,
        Option(metavar="UNIT", help="Unit of times: s, ms, us, ns or ps (default: inferred)."),
    ] = None,
    sampling: Annotated[
        str | None,
        Option(
            metavar="N",
            help="Multiply sizes: the collector saw one packet of N (default: the trace's column).",
        ),
    ] = None,
    place: Annotated[
        list[str] | None,
        Option(
            metavar="TABLE|PREFIX=HOSTS",
            help="Hosts of addresses: a CSV with address and host, or 10.1.0.0/24=0-19.",
        ),
    ] = None,
    gateway: Annotated[
        str | None,
        Option(metavar="HOST", help="Host that represents all other addresses."),
    ] = None,
    group: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=FLOWS",
            help="Group of flows: backups=src:10.2.0.0/16, rpc=bytes<10KB; may be repeated.",
        ),
    ] = None,
    window: Annotated[
        str | None, Option(metavar="START,LENGTH", help="Part of the trace: 10s,2s.")
    ] = None,
    fit: Annotated[
        bool, Option("--fit", help="Draw new flows for each seed from the trace's (the default).")
    ] = False,
    replay: Annotated[
        bool, Option("--replay", help="Replay the recorded flows in each seed instead.")
    ] = False,
    as_fast_as_possible: Annotated[
        bool,
        Option(
            "--as-fast-as-possible",
            help="Replay paced transfers as fast as the network allows, not at recorded rates.",
        ),
    ] = False,
    deployed: Annotated[
        str | None,
        Option(metavar="SHARE|GROUP", help="Deploy on these hosts only: 50%, or a group."),
    ] = None,
    rtt: Annotated[
        str | None,
        Option(metavar="TIME", help="Round trip between idle hosts (default: 30us)."),
    ] = None,
    buffer: Annotated[
        str | None,
        Option(metavar="SIZE", help="Buffer of a port (default: 20 KB per Gbps)."),
    ] = None,
    small: Annotated[
        str | None, Option(metavar="SIZE", help="Largest small flow (default: from the trace).")
    ] = None,
    large: Annotated[
        str | None, Option(metavar="SIZE", help="Smallest large flow (default: from the trace).")
    ] = None,
    most_loss: Annotated[
        str,
        Option(metavar="SHARE", help="Largest acceptable slowdown of large flows."),
    ] = "10%",
    seeds: Annotated[
        str | None,
        Option("--seeds", metavar="N", help="Runs per scheme; unset: 5, or 20 if undecided."),
    ] = None,
    jobs: Jobs = None,
    format: Annotated[Format, Option(help="Output format.")] = Format.TABLE,
    force: Force = False,
    strict: Strict = False,
) -> int:
    """Predict from a trace what HULL gains small flows and costs large flows on your network."""
    from hull import _core
    from hull.ask.answer import as_json
    from hull.ask.command import Request
    from hull.ask.command import ask as answer_of
    from hull.ask.terminal import print_answer, print_traffic
    from hull.ask.traffic import TrafficOptions
    from hull.ask.trial_warnings import StrictError

    if fit and replay:
        raise UsageError("--replay: must not be given with --fit; expected one of them")

    def size(text: str | None) -> int | None:
        return None if text is None else int(_core.quantity("size", text))

    request = Request(
        traffic=TrafficOptions(
            trace=trace,
            columns=columns,
            unit=time_unit,
            sampling=count("--sampling", sampling),
            place=tuple(place or ()),
            gateway=gateway,
            groups=tuple(group or ()),
            window=window,
            as_fast_as_possible=as_fast_as_possible,
        ),
        topology=topology,
        out=out,
        give_up=give_up,
        today=today,
        rtt=rtt,
        buffer=buffer,
        deployed=deployed,
        replay=replay,
        seeds=count("--seeds", seeds),
        small=size(small),
        large=size(large),
        most_loss=_core.quantity("share", most_loss),
        jobs=count("--jobs", jobs),
        force=force,
        strict=strict,
    )
    try:
        answer = answer_of(request)
    except StrictError as error:
        return say_warnings(error.warnings, strict=True)
    if format is Format.JSON:
        print(json.dumps(as_json(answer.rows), indent=1))
        print_traffic(answer, sys.stderr)
    else:
        print_answer(answer)
        print(answer.page)
    # The table has them as sentences.
    told = answer.warnings if strict or format is Format.JSON else ()
    return say_warnings(told, strict=strict)
