//! TCP's settings become senders and receivers.

use hull_core::dctcp::{DctcpConfig, ONE};

use crate::scenario::{self, CongestionControl, Transport};
use crate::transport::{
    Controller, Cubic, DctcpControl, EchoKind, NewReno, ReceiverConfig, RtoConfig, SenderConfig,
    Vegas, VegasConfig, Window,
};

/// What senders are made of.
pub(super) fn sender(tcp: &Transport) -> SenderConfig {
    let mss = (tcp.mtu.0 - tcp.header.0) as u32;
    let bytes = |segments: u32| u64::from(segments) * u64::from(mss);
    SenderConfig {
        window: Window::new(
            bytes(tcp.initial_window),
            mss,
            bytes(tcp.min_window),
            bytes(tcp.max_window),
            tcp.byte_counting,
        ),
        controller: match tcp.congestion_control {
            CongestionControl::NewReno => Controller::NewReno(NewReno::default()),
            CongestionControl::Cubic => Controller::Cubic(Cubic::default()),
            CongestionControl::Dctcp => Controller::Dctcp(dctcp(&tcp.dctcp)),
            CongestionControl::Vegas => Controller::Vegas(Vegas::new(&VegasConfig {
                alpha: tcp.vegas.alpha,
                beta: tcp.vegas.beta,
                gamma: tcp.vegas.gamma,
            })),
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

/// What receivers are made of.
pub(super) fn receiver(tcp: &Transport) -> ReceiverConfig {
    ReceiverConfig {
        ack_every: tcp.ack_every,
        delayed_ack_ps: tcp.delayed_ack.0,
        quick_acks: tcp.quick_acks,
        echo: match tcp.congestion_control {
            CongestionControl::Dctcp => EchoKind::Dctcp,
            _ => EchoKind::Classic,
        },
    }
}
