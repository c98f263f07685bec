//! A scheme on the rack: a congestion control, and the place and rule of marking.

use clap::ValueEnum;
use serde::Serialize;

use super::{Rack, SWITCH, bump, host};
use crate::dctcp;
use crate::machine::call;
use crate::problem::{Problem, input};

/// Schemes of paper 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Scheme {
    /// CUBIC into a FIFO.
    TcpDroptail,
    /// DCTCP, marked above 30 KB in the switch's port.
    #[value(name = "dctcp_30k")]
    #[serde(rename = "dctcp_30k")]
    Dctcp30k,
    /// DCTCP and a phantom queue after each switch port, not paced.
    #[value(name = "dctcp_pq")]
    DctcpPq,
    /// DCTCP, phantom queues and pacers: HULL.
    #[value(name = "dctcp_pq_pacer")]
    DctcpPqPacer,
}

impl Scheme {
    /// Name in results, as in the shipped scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::TcpDroptail => "tcp_droptail",
            Scheme::Dctcp30k => "dctcp_30k",
            Scheme::DctcpPq => "dctcp_pq",
            Scheme::DctcpPqPacer => "dctcp_pq_pacer",
        }
    }

    /// Sets the rack up for this scheme. Returns the name of the congestion control, which sockets must
    /// select: as a namespace's default the kernel accepts only a control that any user may select.
    pub fn put_on(self, rack: &Rack) -> Result<&'static str, Problem> {
        let congestion = match self {
            Scheme::TcpDroptail => "cubic",
            _ => dctcp::on(false)?,
        };
        for number in 0..rack.hosts {
            self.attach(rack, number)?;
        }
        Ok(congestion)
    }

    fn attach(self, rack: &Rack, number: u32) -> Result<(), Problem> {
        let rate = format!("{}bps", rack.rate_bps);
        let drain = format!("{}bps", rack.rate_bps / 100 * 95);
        let port = format!("p{number}");
        // Far side of the switch's port.
        let (far, device) = match rack.has_boxes() {
            true => (bump(number), "toswitch"),
            false => (host(number), "eth0"),
        };
        let phantom = |pacer: &str| {
            this(&[
                "--netns",
                &far,
                "attach",
                device,
                "--rate",
                &rate,
                "--drain",
                &drain,
                "--threshold",
                "1KB",
                "--pacer",
                pacer,
            ])
        };
        match self {
            Scheme::TcpDroptail => Ok(()),
            Scheme::Dctcp30k => mark_in_port(rack, &port, &rate),
            Scheme::DctcpPq => phantom("off"),
            Scheme::DctcpPqPacer if rack.has_boxes() => {
                phantom("off")?;
                this(&[
                    "--netns",
                    &host(number),
                    "attach",
                    "eth0",
                    "--rate",
                    &rate,
                    "--phantom",
                    "off",
                ])
            }
            Scheme::DctcpPqPacer => phantom("on"),
        }
    }

    /// Detaches the scheme from the rack.
    pub fn take_off(rack: &Rack) -> Result<(), Problem> {
        for number in 0..rack.hosts {
            rack.plain_port(number)?;
            let places = [
                (SWITCH.to_owned(), format!("p{number}")),
                (bump(number), "toswitch".to_owned()),
                (host(number), "eth0".to_owned()),
            ];
            for (namespace, device) in places {
                if crate::record::attached_in(&namespace, &device) {
                    this(&["--netns", &namespace, "detach", &device])?;
                }
            }
        }
        Ok(())
    }
}

/// Marks above 30 KB in a switch port by a packet's waiting time (CoDel, only its `ce_threshold`).
/// In a kernel without CoDel, a phantom queue that drains at the port's rate marks instead; it is
/// inexact if the port does not keep that rate.
fn mark_in_port(rack: &Rack, port: &str, rate: &str) -> Result<(), Problem> {
    let threshold = format!("{}us", 30_000 * 8_000_000 / rack.rate_bps);
    let limit = (rack.buffer_bytes / 1514).to_string();
    let codel = [
        "-n",
        SWITCH,
        "qdisc",
        "replace",
        "dev",
        port,
        "parent",
        "1:1",
        "codel",
        "limit",
        &limit,
        "target",
        "100s",
        "interval",
        "100s",
        "ecn",
        "ce_threshold",
        &threshold,
    ];
    match call("tc", &codel) {
        Ok(_) => Ok(()),
        Err(problem) if !problem.to_string().contains("unknown") => Err(problem),
        Err(_) => this(&[
            "--netns",
            SWITCH,
            "attach",
            port,
            "--rate",
            rate,
            "--drain",
            rate,
            "--threshold",
            "30KB",
            "--phantom",
            "egress",
            "--pacer",
            "off",
        ]),
    }
}

/// Runs this program in another namespace.
fn this(arguments: &[&str]) -> Result<(), Problem> {
    let program = std::env::current_exe()?;
    let output = std::process::Command::new(program)
        .args(arguments)
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let text = words.trim().trim_start_matches("hull linux: ").to_owned();
    match output.status.code() {
        Some(2) => input(text),
        _ => Err(Problem::Failed(text)),
    }
}
