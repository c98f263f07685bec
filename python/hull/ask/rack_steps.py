"""The order of a deployment: one rack first, the numbers before and after, and when to stop."""

from hull.ask.host_steps import COUNTERS
from hull.ask.rollout import Rollout
from hull.ask.steps import Block, Section

_BEFORE = (
    "Take a trace of a busy period with the same collector as the one of this page, and keep it: "
    "the same hull ask command on the trace of afterwards compares like with like.",
    "On each host over the same period: retransmissions, timeouts and marks, and the sockets' "
    "round trips (rtt and minrtt of ss, each a mean and a least).",
    Block(
        "sh",
        f"nstat -n\nsleep 3600\nnstat -z TcpOutSegs {' '.join(COUNTERS)}\nss -tin",
    ),
)


def rack_sections(rollout: Rollout) -> tuple[Section, ...]:
    """What to expect, the first rack, the measurement and the limits."""
    return (_first(rollout), _comparing(rollout), _stopping(rollout))


def measuring() -> Section:
    """How to measure again, where nothing is to be changed."""
    return Section(
        "Measure again",
        (
            "Repeat this when the traffic, the number of hosts or the rates change.",
            *_BEFORE,
        ),
    )


def _first(rollout: Rollout) -> Section:
    both = (
        "A connection uses ECN only if both of its hosts do, so change whole racks. "
        if rollout.marks
        else ""
    )
    order = (
        "Order: hosts, then the switches of their paths. Hosts with DCTCP and no marks behave "
        "like Reno; switches that mark before the hosts use ECN may drop instead."
        if rollout.marked_ports
        else "Only hosts change."
    )
    return Section(
        "One rack first",
        (
            rollout.expected,
            f"{both}Choose the rack with the most bytes between its own hosts, of ordinary load "
            "and without the only copy of a service. hull ask with --deployed and a group of its "
            "hosts predicts what a part gains: flows to unchanged hosts stay with "
            f"{rollout.today} and share the queues.",
            order,
            "Keep the first rack for a day with its daily peak, then change racks that exchange "
            "the most bytes with it.",
        ),
    )


def _comparing(rollout: Rollout) -> Section:
    marks = (
        "IpExtInCEPkts and TcpExtTCPDeliveredCE rise above 0 under load; "
        if rollout.marks
        else "IpExtInCEPkts and TcpExtTCPDeliveredCE stay as they were; "
    )
    return Section(
        "Compare before and after",
        (
            *_BEFORE,
            "Compare the completion time of small requests as the application records it, at the "
            "99th percentile with at least 300 requests on each side, and the mean of large "
            "transfers: the page's two numbers. Flow records with steps of a millisecond cannot "
            "show the first.",
            f"Expect: {marks}the share of retransmissions (TcpRetransSegs of TcpOutSegs) and "
            "TcpExtTCPTimeouts do not rise; the peak length of the switches' queues falls.",
        ),
    )


def _stopping(rollout: Rollout) -> Section:
    items = [
        "Take the rack back if one of these holds for an hour at ordinary load:",
        "The 99th percentile of small requests is above its value before, or large transfers take "
        "longer than the page's limit (--most-loss, 10% by default).",
        "The share of retransmissions is twice its value before, or timeouts rise on more than one "
        "host.",
    ]
    if rollout.marks:
        items += [
            "TcpExtTCPDeliveredCE stays 0 while links are busy: marks do not reach the senders.",
            "Hosts that did not change lose more packets than before: the switch drops what has no "
            "ECN.",
        ]
    if rollout.scheme == "hull":
        items.append("The pacer drops packets (hull-linux stats): its FIFO is full.")
    return Section("When to stop", tuple(items))
