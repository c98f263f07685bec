"""The command that answers for your own traffic: `hull ask`."""

import json
from pathlib import Path
from typing import Annotated

from hull.cli.command import Argument, Option
from hull.cli.common import Force, Format, Jobs, command, count


@command()
def ask(
    trace: Annotated[
        Path,
        Argument(help="Flows: CSV, Parquet, nfdump -o csv, pcap or pcapng."),
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
        str, Option(metavar="SHARES", help="Parts of the bandwidth to try.")
    ] = "2%,5%,10%",
    out: Annotated[Path, Option(metavar="DIR", help="Folder to make.")] = Path("results", "ask"),
    today: Annotated[
        str | None,
        Option(
            metavar="NAMES",
            help="What runs today, the first is compared with (default: dctcp,cubic; with "
            "--deployed cubic,dctcp).",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        Option(metavar="ROLE=COLUMN,...", help="start=ts,src=src_ip,bytes=octets."),
    ] = None,
    time_unit: Annotated[
        str | None,
        Option(metavar="UNIT", help="Of times: s, ms, us, ns or ps (default: by the data)."),
    ] = None,
    place: Annotated[
        list[str] | None,
        Option(
            metavar="TABLE|PREFIX=HOSTS",
            help="Where addresses are: a CSV of address and host, or 10.1.0.0/24=0-19.",
        ),
    ] = None,
    gateway: Annotated[
        str | None,
        Option(metavar="HOST", help="Host that stands for addresses outside."),
    ] = None,
    group: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=FLOWS", help="backups=src:10.2.0.0/16, rpc=bytes<10KB; may be repeated."
        ),
    ] = None,
    window: Annotated[
        str | None, Option(metavar="START,LENGTH", help="A part of the trace: 10s,2s.")
    ] = None,
    fit: Annotated[
        bool, Option("--fit", help="Draw new flows for each seed from those recorded.")
    ] = False,
    deployed: Annotated[
        str | None,
        Option(metavar="SHARE|GROUP", help="Only these hosts change: 50%, or a group."),
    ] = None,
    rtt: Annotated[
        str | None,
        Option(metavar="TIME", help="Round trip between idle hosts (default: 30us)."),
    ] = None,
    buffer: Annotated[
        str | None,
        Option(metavar="SIZE", help="Buffer of a port (default: 20 KB for each Gbps)."),
    ] = None,
    small: Annotated[
        str | None, Option(metavar="SIZE", help="Largest small flow (default: by trace).")
    ] = None,
    large: Annotated[
        str | None, Option(metavar="SIZE", help="Smallest large flow (default: by trace).")
    ] = None,
    most_loss: Annotated[
        str,
        Option(metavar="SHARE", help="How much longer large flows may take."),
    ] = "10%",
    seeds: Annotated[str, Option("--seeds", metavar="N", help="Runs of each scheme.")] = "5",
    jobs: Jobs = None,
    format: Annotated[Format, Option(help="What to write to stdout.")] = Format.TABLE,
    force: Force = False,
) -> None:
    """What small flows would gain and large ones lose on your network, from your own trace."""
    from hull import _core
    from hull.ask.answer import as_json
    from hull.ask.command import Request
    from hull.ask.command import ask as answer_of
    from hull.ask.terminal import print_answer
    from hull.ask.traffic import TrafficOptions

    def size(text: str | None) -> int | None:
        return None if text is None else int(_core.quantity("size", text))

    request = Request(
        traffic=TrafficOptions(
            trace=trace,
            columns=columns,
            unit=time_unit,
            place=tuple(place or ()),
            gateway=gateway,
            groups=tuple(group or ()),
            window=window,
        ),
        topology=topology,
        out=out,
        give_up=give_up,
        today=today,
        rtt=rtt,
        buffer=buffer,
        deployed=deployed,
        fit=fit,
        seeds=count("--seeds", seeds) or 1,
        small=size(small),
        large=size(large),
        most_loss=_core.quantity("share", most_loss),
        jobs=count("--jobs", jobs),
        force=force,
    )
    answer = answer_of(request)
    if format is Format.JSON:
        print(json.dumps(as_json(answer.rows), indent=1))
    else:
        print_answer(answer)
        print(answer.page)
