"""The hosts' part of a runbook: sysctl and module files, routes, units, checks and the way back.

Names are Linux's: sysctls of Documentation/networking/ip-sysctl.rst, DCTCP of dctcp.rst beside it,
routes of ip-route(8), counters of nstat(8), what a socket shows of ss(8). HULL's options belong to
`hull linux attach` (docs/linux/attach.md).
"""

import math

from hull.ask.question import percent
from hull.ask.rollout import EXAMPLE_PREFIX, Rollout
from hull.ask.steps import Block, Section

MODULES = {"dctcp": "tcp_dctcp", "cubic": "tcp_cubic", "bbr": "tcp_bbr"}
"""Congestion control -> kernel module."""
DEVICE = "eth0"
GATEWAY = "10.0.0.1"
COUNTERS = ("IpExtInCEPkts", "TcpExtTCPDeliveredCE", "TcpRetransSegs", "TcpExtTCPTimeouts")
"""Of nstat: marks that arrived here, marks that peers reported, retransmissions, timeouts."""
SAVED = "/etc/before-congestion-control.conf"
UNIT = """\
# HULL on a device from boot on: systemctl enable --now hull@eth0.
# Numbers go to /etc/hull/eth0.conf, as HULL_OPTIONS="--rate 10Gbps --drain 9.5Gbps".
[Unit]
Description=HULL on %i: phantom queue, flow association and pacer
After=sys-subsystem-net-devices-%i.device network-pre.target
BindsTo=sys-subsystem-net-devices-%i.device

[Service]
Type=oneshot
RemainAfterExit=yes
EnvironmentFile=-/etc/hull/%i.conf
ExecStart=/usr/local/bin/hull-linux attach %i $HULL_OPTIONS
ExecReload=/usr/local/bin/hull-linux set %i $HULL_OPTIONS
ExecStop=/usr/local/bin/hull-linux detach %i

[Install]
WantedBy=multi-user.target"""
"""linux/systemd/hull@.service."""
_ROUTES_UNIT = """\
[Unit]
Description=Congestion control of routes within the data centre
Wants=network-online.target
After=network-online.target systemd-modules-load.service

[Service]
Type=oneshot
RemainAfterExit=yes
{starts}
{stops}

[Install]
WantedBy=multi-user.target"""
_OURS_UNIT = """\
[Unit]
Description=hull's DCTCP, for a kernel without tcp_dctcp
Before=congestion-routes.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/bin/hull-linux dctcp on
ExecStop=/usr/local/bin/hull-linux dctcp off

[Install]
WantedBy=multi-user.target"""
_SHIFT = 4
"""dctcp_shift_g of the kernel: g is 1/16."""


def host_sections(rollout: Rollout) -> tuple[Section, ...]:
    """Before, the control, HULL's programs, the check and the way back."""
    sections = [_saving(rollout), _control(rollout)]
    if rollout.scheme == "hull":
        sections.append(_attaching(rollout))
    return (*sections, _checking(rollout), _back(rollout))


def route(rollout: Rollout, prefix: str, *, changed: bool = True) -> str:
    """The command for the route of a prefix, with the control or without it."""
    version = "-6 " if ":" in prefix else ""
    gateway = "fe80::1" if version else GATEWAY
    ecn = " features ecn" if rollout.marks else ""
    control = f" congctl {rollout.control}{ecn}" if changed else ""
    return f"ip {version}route replace {prefix} via {gateway} dev {DEVICE}{control}"


def hull_options(rollout: Rollout) -> str:
    """The options of `hull linux attach` that were simulated."""
    pacer = rollout.pacer
    drain_bps = rollout.host_rate_bps * (1 - rollout.part)
    return (
        f"--rate {rollout.host_rate_bps / 1e9:.10g}Gbps --drain {drain_bps / 1e9:.10g}Gbps "
        f"--threshold {rollout.phantom_bytes}B "
        f"--update-interval {pacer['update_interval_s'] * 1e9:.0f}ns "
        f"--eta {percent(pacer['eta'])} --beta {pacer['beta']:.0f} "
        f"--bucket {pacer['bucket_bytes']:.0f}B --fifo {pacer['fifo_bytes']:.0f}B "
        f"--association-probability {percent(pacer['association_probability'])} "
        f"--association-timeout {pacer['association_timeout_s'] * 1e9:.0f}ns"
    )


def _saving(rollout: Rollout) -> Section:
    names = "net.ipv4.tcp_congestion_control net.ipv4.tcp_ecn"
    fair = rollout.host_queue != "fifo"
    queue = (
        "The simulated hosts have a queue per flow. Expect fq or fq_codel at the root or below mq; "
        "with pfifo_fast, small flows also wait behind large ones in their own host."
        if fair
        else "The simulated hosts have one FIFO, as pfifo_fast is. With fq or fq_codel small flows "
        "do not wait behind large ones in their own host, so the gain is smaller than simulated."
    )
    return Section(
        "Hosts: keep the present settings",
        (
            "As root on each host of the rack; sysctl -p reads this file later.",
            Block("sh", f"sysctl {names} > {SAVED}\nip route show\ntc qdisc show dev {DEVICE}"),
            queue,
        ),
    )


def _control(rollout: Rollout) -> Section:
    module = MODULES[rollout.control]
    items: list[str | Block] = [
        *(_gain(rollout) if rollout.marks else ()),
        "Load the congestion control at boot, and now:",
        Block("text", module, "/etc/modules-load.d/congestion-control.conf"),
        Block("sh", f"modprobe {module}\nsysctl net.ipv4.tcp_available_congestion_control"),
    ]
    if rollout.marks:
        items += [
            "If modprobe does not find tcp_dctcp, this kernel lacks it. hull has its own, named "
            "hull_dctcp: enable this unit, and write hull_dctcp for dctcp in the routes below. "
            "(sysctl files are read before the unit starts, so they cannot name it.)",
            Block("ini", _OURS_UNIT, "/etc/systemd/system/hull-dctcp.service"),
        ]
    known = EXAMPLE_PREFIX not in rollout.prefixes
    items += [
        "Choose one of two. Per route, only connections within the data centre change, and those "
        "to the internet keep their control: prefer it unless the host talks to nothing else. "
        f"Replace {'' if known else f'{EXAMPLE_PREFIX} by your prefixes, '}{GATEWAY} by the "
        f"gateway and {DEVICE} by the device, and add a line for the rack's own subnet, which has "
        "a route of its own (ip route show).",
        Block("ini", _routes_unit(rollout), "/etc/systemd/system/congestion-routes.service"),
        Block("sh", "systemctl daemon-reload\nsystemctl enable --now congestion-routes.service"),
        "Or for all connections of the host:",
        Block("ini", _sysctls(rollout), "/etc/sysctl.d/90-congestion-control.conf"),
        Block("sh", "sysctl --system"),
        "Connections that are open keep their control: restart the services, or wait until they "
        "have reconnected. An application that sets TCP_CONGESTION itself overrides both; "
        f"congctl lock {rollout.control} on the route forbids it.",
    ]
    if rollout.scheme == "dctcp":
        items.append("DCTCP gives up no bandwidth.")
    if rollout.scheme == "bbr":
        items.append("BBR paces its packets. Since Linux 4.13 TCP does so without fq, too.")
    return Section(f"Hosts: {rollout.control} as congestion control", tuple(items))


def _gain(rollout: Rollout) -> list[str | Block]:
    """The module's parameter for g, if it differs."""
    shift = min(10, max(0, round(-math.log2(rollout.g))))
    told = f"The page simulates g = {rollout.g:.3g}"
    if shift == _SHIFT:
        return [f"{told}; the kernel's default, 1/16, is the nearest power of two."]
    return [
        f"{told}. The kernel has powers of two, 1/16 by default; the nearest is 1/{2**shift}:",
        Block("text", f"options tcp_dctcp dctcp_shift_g={shift}", "/etc/modprobe.d/tcp_dctcp.conf"),
    ]


def _routes_unit(rollout: Rollout) -> str:
    tool = "/usr/sbin/"
    starts = "\n".join(f"ExecStart={tool}{route(rollout, prefix)}" for prefix in rollout.prefixes)
    stops = "\n".join(
        f"ExecStop={tool}{route(rollout, prefix, changed=False)}" for prefix in rollout.prefixes
    )
    return _ROUTES_UNIT.format(starts=starts, stops=stops)


def _sysctls(rollout: Rollout) -> str:
    ecn = (
        "# ECN on connections that this host opens, too; 2 only answers.\nnet.ipv4.tcp_ecn = 1"
        if rollout.marks
        else "# ECN only where the peer asks for it, as before.\nnet.ipv4.tcp_ecn = 2"
    )
    return f"net.ipv4.tcp_congestion_control = {rollout.control}\n{ecn}"


def _attaching(rollout: Rollout) -> Section:
    return Section(
        "Hosts: phantom queue and pacer",
        (
            "make linux builds hull-linux, a single program: copy it to "
            "/usr/local/bin. Its phantom queue sits behind the switch's port to this host and "
            "marks in its place, so that switch needs no change.",
            Block("sh", f'HULL_OPTIONS="{hull_options(rollout)}"', f"/etc/hull/{DEVICE}.conf"),
            Block("ini", UNIT, "/etc/systemd/system/hull@.service"),
            Block("sh", f"systemctl daemon-reload\nsystemctl enable --now hull@{DEVICE}.service"),
            f"It costs {percent(rollout.part)} of the rate, and processor time: 85 to 104 ns a "
            "packet for the phantom queue, 61 to 105 ns for the association of flows and 169 to "
            "187 ns for the pacer (two virtual cores, kernel 6.18). Segmentation by the NIC is "
            "off, so each packet passes the stack by itself; --keep-gso keeps it and paces "
            "bursts of up to 64 KB.",
            f"The pacer needs fq: attach puts it at the root of {DEVICE}, and refuses to displace "
            "another queue unless --replace is given.",
        ),
    )


def _checking(rollout: Rollout) -> Section:
    prefix = rollout.prefixes[0]
    items: list[str | Block] = [
        f"Each connection names its control ({rollout.control}):",
        Block("sh", f"ss -tin dst {prefix}"),
    ]
    if rollout.marks:
        items += [
            "It also shows ecn, once packets arrived ecnseen, and of the kernel's DCTCP "
            "dctcp:(ce_state:0,alpha:...). dctcp:fallback_mode means that the peer did not agree "
            "on ECN: it is not changed yet, or a middlebox cleared the bits.",
            "Marks that arrived here, marks that peers reported, retransmissions and timeouts "
            "since the last call:",
        ]
    else:
        items.append("Retransmissions and timeouts since the last call (the first two stay 0):")
    items.append(Block("sh", f"nstat -z {' '.join(COUNTERS)}"))
    if rollout.scheme == "hull":
        items += [
            "What phantom queue, association and pacer count:",
            Block("sh", f"hull-linux status\nhull-linux stats {DEVICE} --watch"),
        ]
    return Section("Hosts: see that it works", tuple(items))


def _back(rollout: Rollout) -> Section:
    units = [f"hull@{DEVICE}"] if rollout.scheme == "hull" else []
    units += ["congestion-routes", *(["hull-dctcp"] if rollout.marks else [])]
    stops = "\n".join(f"systemctl disable --now {unit}.service" for unit in units)
    return Section(
        "Hosts: take it back",
        (
            "In this order; what was not installed is not there to remove. Open connections keep "
            "their control until they end.",
            Block(
                "sh",
                f"{stops}\nrm -f /etc/sysctl.d/90-congestion-control.conf "
                "/etc/modules-load.d/congestion-control.conf /etc/modprobe.d/tcp_dctcp.conf\n"
                f"sysctl -p {SAVED}\nip route show",
            ),
        ),
    )
