//! What a scenario's types cannot say: ranges and how keys fit together. Each section's file has
//! the checks of its own keys; here is what they share.

pub(super) use super::problem::Problem;
use super::{Scenario, host, measure, pacer, qcn, rcp, run, switch, transport, transports};
use crate::quote;
use crate::topology;
use crate::units::{Buffer, Rate, Time};

/// Rejects a key whose problem is not one value: a missing table, or two that exclude each other.
pub(super) fn refuse(
    key: &str,
    found: impl std::fmt::Display,
    allowed: &str,
) -> Result<(), Problem> {
    let told = format!("found {found}; expected {allowed}");
    Err((key.to_owned(), told).into())
}

/// Rejects as `refuse` does unless `ok`.
pub(super) fn need(
    ok: bool,
    key: &str,
    found: impl std::fmt::Display,
    allowed: &str,
) -> Result<(), Problem> {
    if ok {
        Ok(())
    } else {
        refuse(key, found, allowed)
    }
}

/// Rejects the value of a key, read as `found`, unless `ok`.
pub(super) fn require(
    ok: bool,
    key: &str,
    found: impl std::fmt::Display,
    allowed: &str,
) -> Result<(), Problem> {
    ok.then_some(())
        .ok_or_else(|| Problem::of_value(key, found.to_string(), allowed))
}

pub(super) fn quoted(text: impl std::fmt::Display) -> String {
    quote::text(&text.to_string())
}

pub(super) const MIN_RATE: Rate = Rate(1_000_000);
const MAX_RATE: Rate = Rate(1_600_000_000_000);

pub(crate) fn rate(key: &str, rate: Rate) -> Result<(), Problem> {
    let fits = (MIN_RATE..=MAX_RATE).contains(&rate);
    require(fits, key, quoted(rate), "a rate from 1Mbps to 1.6Tbps")
}

pub(crate) fn delay(key: &str, delay: Time) -> Result<(), Problem> {
    let longest = Time(1_000_000_000_000);
    require(delay <= longest, key, quoted(delay), "at most 1s")
}

pub(super) fn buffer(key: &str, buffer: Buffer, mtu: u64) -> Result<(), Problem> {
    let holds_one = match buffer {
        Buffer::Unlimited => true,
        Buffer::Bytes(bytes) => bytes >= mtu,
        Buffer::Packets(packets) => packets >= 1,
    };
    require(
        holds_one,
        key,
        quoted(buffer),
        "room for at least one packet of transport.mtu",
    )
}

/// Checks one resolved scenario.
pub(super) fn check(s: &Scenario) -> Result<(), Problem> {
    let named = !s.name.is_empty()
        && s.name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    require(named, "name", quoted(&s.name), "letters, digits, - and _")?;
    let mtu = s.transport.mtu.0;
    run::check(&s.run)?;
    super::topology::check(&s.topology)?;
    host::check(&s.host, mtu)?;
    switch::check(&s.switch, mtu)?;
    transport::check(&s.transport)?;
    rcp::check(s)?;
    require(
        s.transport.tso_win_divisor == 0 || s.host.offload.is_some(),
        "transport.tso_win_divisor",
        s.transport.tso_win_divisor,
        "0 without host.offload",
    )?;
    qcn::check(s)?;
    if let Some(pacer) = &s.pacer {
        pacer::check(pacer, s.host.rate, mtu)?;
        require(
            s.host.nic_queues == 1,
            "host.nic_queues",
            s.host.nic_queues,
            "1 with a pacer, which takes packets from one queue",
        )?;
    }
    super::workload::check(&s.workload)?;
    transports::check(s)?;
    measure::check(&s.measure)?;
    let graph = topology::build(s)?;
    switch::check_ports(&s.switch, &graph)?;
    Ok(measure::check_ports(&s.measure, &graph)?)
}
