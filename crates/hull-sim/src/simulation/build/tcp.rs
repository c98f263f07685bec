//! Builds senders and receivers from TCP's settings.

use hull_core::rack::RackConfig;

use super::without_class;
use crate::problem::Problem;
use crate::scenario::{HostQueue, LossDetection, Scenario, Transport};
use crate::simulation::flow::ends::Initial;
use crate::simulation::flow::small_queue::SmallQueue;
use crate::simulation::flow::template::Template;
use crate::transport::{
    CongestionControl, Controller, EchoKind, External, Receiver, ReceiverConfig, RtoConfig, Sender,
    SenderConfig, Window,
};

/// Initial state of a transport's flows. `external` is the external congestion control, if the
/// scenario names one.
pub(super) fn template(
    scenario: &Scenario,
    tcp: &Transport,
    external: Option<&dyn External>,
) -> Result<Template, Problem> {
    let control = control(tcp, external)?;
    let echo = control.echo();
    let paces_windows = scenario.host.queue() == HostQueue::Fq;
    let offload_bytes = scenario.host.offload.map_or(0, |size| size.0 as u16);
    Ok(Template {
        has_pace: control.sets_pace() || paces_windows,
        paces_window: paces_windows && !control.sets_pace(),
        rate_limiters: (tcp.qcn.rate_limiters).filter(|_| tcp.congestion_control.is_qcn()),
        small_queue: SmallQueue::of(scenario, tcp, offload_bytes),
        spray: tcp.spray,
        asks: control.ask(0),
        // A pacer reads ECN-Echo, which in AccECN is one bit of the count.
        associates: tcp.paced && echo != EchoKind::Accurate,
        has_handshake: tcp.handshake && echo != EchoKind::Silent,
        acks_each: tcp.ack_every == 1,
        class: scenario.class_of(tcp),
        initial: Initial::Stream(Box::new((
            Sender::new(&sender(tcp, control.clone())),
            Receiver::new(&receiver(tcp, &control)),
        ))),
    })
}

fn control(tcp: &Transport, external: Option<&dyn External>) -> Result<Controller, Problem> {
    let name = &tcp.congestion_control;
    Controller::new(name, tcp, external).ok_or_else(|| without_class(name))
}

/// Configuration of senders.
fn sender(tcp: &Transport, controller: Controller) -> SenderConfig {
    let mss = (tcp.mtu.0 - tcp.header.0) as u32;
    let bytes = |segments: u32| u64::from(segments) * u64::from(mss);
    let samples_delivery = controller.samples_delivery();
    let acknowledged = controller.echo() != EchoKind::Silent;
    let initial = if controller.holds_window() {
        tcp.max_window
    } else {
        tcp.initial_window
    };
    SenderConfig {
        window: Window::new(
            bytes(initial),
            mss,
            bytes(tcp.min_window),
            bytes(tcp.max_window),
            tcp.byte_counting,
        ),
        samples_every_ack: controller.samples_every_ack(),
        samples_delivery,
        accurate_ecn: controller.is_l4s(),
        acknowledged,
        controller,
        rto: RtoConfig {
            initial_ps: tcp.initial_rto.0,
            min_ps: tcp.min_rto.0,
            max_ps: tcp.max_rto.0,
            granularity_ps: tcp.rto_granularity.0,
        },
        receive_window: bytes(tcp.receive_window),
        idle_restart: tcp.idle_restart && !samples_delivery,
        idle_decay: tcp.idle_decay,
        cwnd_validation: tcp.cwnd_validation,
        tso_win_divisor: tcp.tso_win_divisor,
        ecn: tcp.ecn,
        limited_transmit: tcp.limited_transmit,
        handshake: tcp.handshake && acknowledged,
        duplicate_threshold: tcp.duplicate_threshold,
        rack: match tcp.loss_detection {
            LossDetection::Duplicates => None,
            LossDetection::Rack => Some(RackConfig {
                duplicate_threshold: tcp.duplicate_threshold,
                expects_reordering: tcp.spray.is_some(),
            }),
        },
    }
}

/// Configuration of receivers.
fn receiver(tcp: &Transport, control: &Controller) -> ReceiverConfig {
    ReceiverConfig {
        ack_every: tcp.ack_every,
        delayed_ack_ps: tcp.delayed_ack.0,
        quick_acks: tcp.quick_acks,
        echo: control.echo(),
        reports_duplicates: tcp.loss_detection == LossDetection::Rack,
    }
}
