"""The options of `hull design`, limited to values that a scenario accepts.

`hull run` accepts the scenario of every design within these limits: with 400 MB in flight the
largest window stays below the scenario's 1 GiB. `hull design --help` states the limits too.
"""

from hull import _core
from hull.errors import UsageError, check_count
from hull.theory.design import Setting

_MOST_FLOWS = 4095
"""Hosts of a star but the receiver."""
_MOST_BYTES = 400e6
_MOST_PACKETS = 400_000


def read_setting(
    rate: str, rtt: str, flows: str, load: str, mtu: str, buffer: str | None
) -> Setting:
    """The options of `hull design`; UsageError names the option that cannot be used."""
    count = check_count("--flows", flows)
    _check(count <= _MOST_FLOWS, "--flows", flows, f"1 to {_MOST_FLOWS}, such as 2")
    share = _quantity("--load", "share", load)
    _check(share < 1, "--load", load, "0% to below 100%, such as 40%")
    mtu_bytes = _quantity("--mtu", "size", mtu)
    _check(300 <= mtu_bytes <= 9000, "--mtu", mtu, "300B to 9000B, such as 1500B")
    rate_bps = _quantity("--rate", "rate", rate)
    _check(
        10e6 <= rate_bps <= 6.4e12, "--rate", rate, "a rate from 10Mbps to 6.4Tbps, such as 10Gbps"
    )
    return Setting(
        rate_bps=rate_bps,
        rtt_s=read_rtt(rtt, rate_bps, mtu_bytes),
        flows=count,
        load=share,
        mtu_bytes=mtu_bytes,
        buffer_bytes=None if buffer is None else _quantity("--buffer", "size", buffer),
    )


def read_rtt(rtt: str, rate_bps: float, mtu_bytes: float) -> float:
    """The round trip of `--rtt`, s, on a link of that rate; else UsageError."""
    rtt_s = _quantity("--rtt", "time", rtt)
    _check(1e-6 <= rtt_s <= 1, "--rtt", rtt, "a time from 1us to 1s, such as 300us")
    in_flight = rate_bps * rtt_s / 8
    most = min(_MOST_BYTES, _MOST_PACKETS * mtu_bytes)
    _check(
        in_flight <= most,
        "--rtt",
        f"{rtt}, with {in_flight / 1e6:,.6g} MB in flight at {rate_bps / 1e9:g} Gbps,",
        f"at most {most / 1e6:g} MB, such as --rate 10Gbps --rtt 300us",
    )
    return rtt_s


def _check(holds: bool, option: str, found: str, expected: str) -> None:
    if not holds:
        raise UsageError(f"{option}: {found} is invalid; expected {expected}")


def _quantity(option: str, kind: str, text: str) -> float:
    try:
        return _core.quantity(kind, text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None
