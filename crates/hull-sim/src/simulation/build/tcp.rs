//! TCP's settings become senders and receivers.

use hull_core::dctcp::{DctcpConfig, ONE};
use hull_core::qcn_reaction_point::{Increase, ReactionPointConfig};

use crate::quote;
use crate::scenario::{self, CongestionControl, Transport};
use crate::simulation::flows::Template;
use crate::topology::Problem;
use crate::transport::{
    Bic, BicConfig, Controller, Cubic, DctcpControl, EchoKind, NewReno, Own, OwnControl, RateBased,
    Receiver, ReceiverConfig, RtoConfig, Sender, SenderConfig, Vegas, VegasConfig, Window,
};
use crate::units::Rate;

/// What flows of a transport begin as.
pub(super) fn template(tcp: &Transport, own: Option<&dyn Own>) -> Result<Template, Problem> {
    Ok(Template {
        sender: Sender::new(&sender(tcp, own)?),
        receiver: Receiver::new(&receiver(tcp, own)),
        paced: tcp.paced,
        class: tcp.priority,
    })
}

/// What senders are made of. `own` is the congestion control from outside, where the scenario names one.
fn sender(tcp: &Transport, own: Option<&dyn Own>) -> Result<SenderConfig, Problem> {
    let mss = (tcp.mtu.0 - tcp.header.0) as u32;
    let bytes = |segments: u32| u64::from(segments) * u64::from(mss);
    let rcp = tcp.congestion_control == CongestionControl::Rcp;
    let initial = if rcp || tcp.congestion_control.is_qcn() {
        tcp.max_window
    } else {
        tcp.initial_window
    };
    Ok(SenderConfig {
        window: Window::new(
            bytes(initial),
            mss,
            bytes(tcp.min_window),
            bytes(tcp.max_window),
            tcp.byte_counting,
        ),
        controller: match &tcp.congestion_control {
            CongestionControl::NewReno => Controller::NewReno(NewReno::default()),
            CongestionControl::Cubic => Controller::Cubic(Cubic::default()),
            CongestionControl::Bic => Controller::Bic(Bic::new(&bic(&tcp.bic))),
            CongestionControl::Dctcp => Controller::Dctcp(dctcp(&tcp.dctcp)),
            CongestionControl::Vegas => Controller::Vegas(Vegas::new(&VegasConfig {
                alpha: tcp.vegas.alpha,
                beta: tcp.vegas.beta,
                gamma: tcp.vegas.gamma,
            })),
            CongestionControl::Qcn | CongestionControl::QcnAimd | CongestionControl::Rcp => {
                Controller::RateBased(RateBased)
            }
            CongestionControl::Own(name) => {
                Controller::Own(OwnControl::new(own.ok_or_else(|| {
                    let key = "transport.congestion_control".to_owned();
                    (
                        key,
                        format!(
                            "found {}, but no such class was handed over",
                            quote::text(name)
                        ),
                    )
                })?))
            }
        },
        rto: RtoConfig {
            initial_ps: tcp.initial_rto.0,
            min_ps: tcp.min_rto.0,
            max_ps: tcp.max_rto.0,
            granularity_ps: tcp.rto_granularity.0,
        },
        receive_window: bytes(tcp.receive_window),
        idle_restart: tcp.idle_restart,
        idle_decay: tcp.idle_decay,
        cwnd_validation: tcp.cwnd_validation,
        tso_win_divisor: tcp.tso_win_divisor,
        ecn: tcp.ecn,
        limited_transmit: tcp.limited_transmit,
        handshake: tcp.handshake,
    })
}

fn bic(settings: &scenario::Bic) -> BicConfig {
    BicConfig {
        decrease: settings.decrease.scaled(BicConfig::ONE) as u16,
        max_increment: settings.max_increment,
        min_increment: settings.min_increment.scaled(1000) as u16,
        low_window: settings.low_window,
        fast_convergence: settings.fast_convergence,
    }
}

fn dctcp(settings: &scenario::Dctcp) -> DctcpControl {
    let one = u64::from(ONE);
    let config = DctcpConfig {
        g: settings.g.scaled(one) as u32,
        initial_alpha: settings.initial_alpha.scaled(one) as u32,
    };
    if settings.rtt_fair {
        DctcpControl::rtt_fair(&config)
    } else if settings.hold_after_cut {
        DctcpControl::holding(&config)
    } else {
        DctcpControl::new(&config)
    }
}

/// What the rates of sources are made of, where they have one; `link` is that of hosts.
pub(super) fn reaction(tcp: &Transport, link: Rate) -> Option<ReactionPointConfig> {
    let settings = &tcp.qcn;
    let increase = match tcp.congestion_control {
        CongestionControl::Qcn => Increase::Averaging,
        CongestionControl::QcnAimd => Increase::Additive,
        _ => return None,
    };
    Some(ReactionPointConfig {
        line_rate_bps: link.0,
        initial_rate_bps: settings.initial_rate.unwrap_or(link).0,
        min_rate_bps: settings.min_rate.0,
        decrease: u32::try_from(settings.decrease.scaled(1 << 32)).unwrap_or(u32::MAX),
        increase_bps: settings.increase.0,
        cycle_bytes: settings.cycle.0 as u32,
        recovery_cycles: settings.recovery_cycles,
        timer_ps: settings.timer.map(|time| time.0),
        extra_fast_recovery: settings.extra_fast_recovery,
        target_rate_reduction: settings.target_rate_reduction,
        hyper_increase_bps: settings.hyper_increase.map(|rate| rate.0),
        increase,
    })
}

/// What receivers are made of; `own` as for senders.
fn receiver(tcp: &Transport, own: Option<&dyn Own>) -> ReceiverConfig {
    ReceiverConfig {
        ack_every: tcp.ack_every,
        delayed_ack_ps: tcp.delayed_ack.0,
        quick_acks: tcp.quick_acks,
        echo: match (&tcp.congestion_control, own) {
            (CongestionControl::Dctcp, _) => EchoKind::Dctcp,
            (CongestionControl::Own(_), Some(own)) => own.echo(),
            _ => EchoKind::Classic,
        },
    }
}
