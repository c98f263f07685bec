//! What a scenario's types cannot say: ranges and how keys fit together.

use super::{CongestionControl, Requests, Scenario, Switch};
use crate::units::{Buffer, Rate, Share, Time};

/// Key and problem.
type Problem = (String, String);

fn refuse(key: &str, found: impl std::fmt::Display, allowed: &str) -> Result<(), Problem> {
    Err((
        key.to_owned(),
        format!("found {found}, allowed is {allowed}"),
    ))
}

fn require(
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

fn quoted(text: impl std::fmt::Display) -> String {
    format!("\"{text}\"")
}

const MIN_RATE: Rate = Rate(1_000_000);
const MAX_RATE: Rate = Rate(1_600_000_000_000);
const MAX_TIME: Time = Time(1_000_000_000_000_000_000);

/// Checks one resolved scenario.
pub(super) fn validate(s: &Scenario) -> Result<(), Problem> {
    let named = !s.name.is_empty()
        && s.name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    require(named, "name", quoted(&s.name), "letters, digits, - and _")?;
    require(
        s.run.duration.0 > 0,
        "run.duration",
        quoted(s.run.duration),
        "a time above 0",
    )?;
    for (key, time) in [
        ("run.duration", s.run.duration),
        ("run.warmup", s.run.warmup),
        ("run.drain", s.run.drain),
    ] {
        require(time <= MAX_TIME, key, quoted(time), "at most 1000000s")?;
    }
    require(s.run.seeds > 0, "run.seeds", s.run.seeds, "at least 1")?;
    let hosts = s.topology.star.hosts;
    require(
        (2..=4096).contains(&hosts),
        "topology.star.hosts",
        hosts,
        "2 to 4096",
    )?;
    rate("host.rate", s.host.rate)?;
    rate("switch.rate", s.switch.rate)?;
    let longest = Time(1_000_000_000_000);
    for (key, time) in [
        ("host.delay", s.host.delay),
        ("host.stack_delay", s.host.stack_delay),
        ("host.application_delay", s.host.application_delay),
        ("switch.delay", s.switch.delay),
    ] {
        require(time <= longest, key, quoted(time), "at most 1s")?;
    }
    transport(s)?;
    buffer("host.nic_buffer", s.host.nic_buffer, s.transport.mtu.0)?;
    buffer("switch.buffer", s.switch.buffer, s.transport.mtu.0)?;
    switch(&s.switch, s.transport.mtu.0)?;
    pacer(s)?;
    match (&s.workload.requests, &s.workload.bulk) {
        (Some(requests), None) => self::requests(requests)?,
        (None, Some(bulk)) => {
            require(
                bulk.flows > 0,
                "workload.bulk.flows",
                bulk.flows,
                "at least 1",
            )?;
            if let Some(size) = bulk.size {
                require(
                    size.0 > 0,
                    "workload.bulk.size",
                    quoted(size),
                    "at least 1B",
                )?;
            }
        }
        (None, None) => refuse("workload", "no traffic", "one of the tables requests, bulk")?,
        _ => refuse(
            "workload",
            "several tables",
            "one of the tables requests, bulk",
        )?,
    }
    let step = Time(1_000_000);
    let sample = s.measure.sample_interval;
    require(
        sample >= step,
        "measure.sample_interval",
        quoted(sample),
        "at least 1us",
    )?;
    if let Some(probe) = &s.measure.probe {
        let key = "measure.probe.interval";
        require(
            probe.interval >= step,
            key,
            quoted(probe.interval),
            "at least 1us",
        )?;
        let size = probe.size.0;
        require(
            (40..=9000).contains(&size),
            "measure.probe.size",
            quoted(probe.size),
            "40B to 9000B",
        )?;
    }
    Ok(())
}

fn rate(key: &str, rate: Rate) -> Result<(), Problem> {
    let fits = (MIN_RATE..=MAX_RATE).contains(&rate);
    require(fits, key, quoted(rate), "a rate from 1Mbps to 1.6Tbps")
}

fn buffer(key: &str, buffer: Buffer, mtu: u64) -> Result<(), Problem> {
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

fn transport(s: &Scenario) -> Result<(), Problem> {
    let t = &s.transport;
    let mtu = t.mtu.0;
    require(
        (300..=9000).contains(&mtu),
        "transport.mtu",
        quoted(t.mtu),
        "300B to 9000B",
    )?;
    let header = t.header.0;
    require(
        (20..=120).contains(&header),
        "transport.header",
        quoted(t.header),
        "20B to 120B",
    )?;
    for (key, value) in [
        ("transport.initial_window", t.initial_window),
        ("transport.min_window", t.min_window),
        ("transport.max_window", t.max_window),
        ("transport.receive_window", t.receive_window),
    ] {
        require(
            (1..=1_000_000).contains(&value),
            key,
            value,
            "1 to 1000000 segments",
        )?;
    }
    require(
        t.min_window <= t.max_window,
        "transport.min_window",
        t.min_window,
        "at most transport.max_window",
    )?;
    let floor = Time(1_000_000);
    require(
        t.min_rto >= floor,
        "transport.min_rto",
        quoted(t.min_rto),
        "at least 1us",
    )?;
    require(
        t.max_rto >= t.min_rto,
        "transport.max_rto",
        quoted(t.max_rto),
        "at least min_rto",
    )?;
    let initial = quoted(t.initial_rto);
    require(
        t.initial_rto.0 > 0,
        "transport.initial_rto",
        initial,
        "a time above 0",
    )?;
    require(
        (1..=64).contains(&t.ack_every),
        "transport.ack_every",
        t.ack_every,
        "1 to 64",
    )?;
    let delay = quoted(t.delayed_ack);
    require(
        t.ack_every == 1 || (t.delayed_ack.0 > 0 && t.delayed_ack < t.min_rto),
        "transport.delayed_ack",
        delay,
        "a time above 0 and below transport.min_rto, or each delayed ACK would be a timeout",
    )?;
    let dctcp = t.congestion_control == CongestionControl::Dctcp;
    require(
        t.ecn || !dctcp,
        "transport.ecn",
        t.ecn,
        "true with congestion_control = \"dctcp\"",
    )?;
    let g = t.dctcp.g;
    require(
        g.0 > 0 && g.0 <= Share::ONE,
        "transport.dctcp.g",
        quoted(g),
        "above 0 and at most 1",
    )?;
    let alpha = t.dctcp.initial_alpha;
    require(
        alpha.0 <= Share::ONE,
        "transport.dctcp.initial_alpha",
        quoted(alpha),
        "0 to 1",
    )
}

fn switch(switch: &Switch, mtu: u64) -> Result<(), Problem> {
    let room = match switch.buffer {
        Buffer::Unlimited => u64::MAX,
        Buffer::Bytes(bytes) => bytes,
        Buffer::Packets(packets) => packets.saturating_mul(mtu),
    };
    if let Some(marking) = &switch.marking {
        require(
            marking.threshold.0 < room,
            "switch.marking.threshold",
            quoted(marking.threshold),
            &format!("less than switch.buffer, \"{}\"", switch.buffer),
        )?;
    }
    if let Some(queue) = &switch.phantom_queue {
        let drain = queue.drain.of(switch.rate);
        require(
            (MIN_RATE..=switch.rate).contains(&drain),
            "switch.phantom_queue.drain",
            quoted(queue.drain),
            &format!("from 1Mbps to switch.rate, \"{}\"", switch.rate),
        )?;
        require(
            queue.threshold.0 <= 1_000_000_000,
            "switch.phantom_queue.threshold",
            quoted(queue.threshold),
            "at most 1GB",
        )?;
    }
    Ok(())
}

fn pacer(s: &Scenario) -> Result<(), Problem> {
    let Some(pacer) = &s.pacer else { return Ok(()) };
    let interval = pacer.update_interval;
    let shortest = Time(100_000);
    require(
        interval >= shortest && interval <= Time(1_000_000_000_000),
        "pacer.update_interval",
        quoted(interval),
        "100ns to 1s",
    )?;
    require(
        pacer.eta.0 <= Share::ONE,
        "pacer.eta",
        quoted(pacer.eta),
        "0 to 1",
    )?;
    require(
        pacer.beta <= 1_000_000,
        "pacer.beta",
        pacer.beta,
        "at most 1000000",
    )?;
    let probability = pacer.association_probability;
    require(
        probability.0 <= Share::ONE,
        "pacer.association_probability",
        quoted(probability),
        "0 to 1",
    )?;
    let entries = pacer.table_entries;
    require(
        (1..=65_536).contains(&entries),
        "pacer.table_entries",
        entries,
        "1 to 65536",
    )?;
    let bucket = pacer.bucket;
    require(
        (1..=1_000_000).contains(&bucket.0),
        "pacer.bucket",
        quoted(bucket),
        "1B to 1MB",
    )?;
    let fifo = pacer.fifo;
    require(
        fifo.0 >= s.transport.mtu.0 && fifo.0 <= 1_000_000_000,
        "pacer.fifo",
        quoted(fifo),
        "from one packet of transport.mtu to 1GB",
    )?;
    let step = pacer.rate_step;
    require(
        step.0 > 0 && step <= s.host.rate,
        "pacer.rate_step",
        quoted(step),
        "above 0, at most host.rate",
    )
}

fn requests(r: &Requests) -> Result<(), Problem> {
    require(
        r.load.0 > 0 && r.load.0 < Share::ONE,
        "workload.requests.load",
        quoted(r.load),
        "above 0 and below 100%, because the loop is open",
    )?;
    let connections = r.connections_per_server;
    require(
        (1..=10_000).contains(&connections),
        "workload.requests.connections_per_server",
        connections,
        "1 to 10000",
    )?;
    let size = r.request_size;
    require(
        size.0 > 0,
        "workload.requests.request_size",
        quoted(size),
        "at least 1B",
    )?;
    require(
        !r.classes.is_empty() && r.classes.len() <= 64,
        "workload.requests.classes",
        format!("{} classes", r.classes.len()),
        "1 to 64",
    )?;
    for (i, class) in r.classes.iter().enumerate() {
        let key = |name: &str| format!("workload.requests.classes[{i}].{name}");
        let share = quoted(class.share);
        require(class.share.0 > 0, &key("share"), share, "above 0")?;
        let size = quoted(class.size);
        require(
            (1..=1 << 40).contains(&class.size.0),
            &key("size"),
            size,
            "1B to 1TB",
        )?;
    }
    let sum: u64 = r.classes.iter().map(|class| class.share.0).sum();
    require(
        sum == Share::ONE,
        "workload.requests.classes",
        format!("shares that add up to {}", Share(sum)),
        "shares that add up to 100%",
    )
}
