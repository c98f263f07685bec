//! Reads a connection matrix: a header with counts, then one flow, trigger or failed link a line.

use std::collections::{HashMap, HashSet};

use super::{Begin, Flow, Matrix, Trigger, TriggerKind};
use crate::problem::Problem;
use crate::text::{number, refuse};

/// Counts of the header: name, line and value.
#[derive(Default)]
struct Header<'a>(Vec<(&'a str, u64, u64)>);

/// Reads a file.
///
/// # Errors
/// The line, what was found and what was expected.
pub fn read(text: &str) -> Result<Matrix, Problem> {
    let mut matrix = Matrix::default();
    let mut header = Header::default();
    for (line, text) in (1..).zip(text.lines()) {
        let mut words = text.split_ascii_whitespace();
        let Some(first) = words.next() else {
            continue;
        };
        if first.starts_with('#') {
            continue;
        }
        if first.contains("->") {
            matrix.flows.push(flow(line, first, words)?);
        } else if first.eq_ignore_ascii_case("trigger") {
            matrix.triggers.push(trigger(line, words)?);
        } else if first.eq_ignore_ascii_case("failure") {
            failure(line, words)?;
            matrix.failures += 1;
        } else {
            let has_begun = !matrix.flows.is_empty() || !matrix.triggers.is_empty();
            header.add(line, first, words, has_begun || matrix.failures > 0)?;
        }
    }
    let counts = [
        ("Connections", matrix.flows.len() as u64),
        ("Triggers", matrix.triggers.len() as u64),
        ("Failures", matrix.failures),
    ];
    for (name, found) in counts {
        let (line, told) = header.get(name).unwrap_or((1, 0));
        if told != found {
            let told = format!("`{name} {told}`; expected {found}, as many as there are entries");
            return Err(Problem::new(format!("line {line}"), told));
        }
    }
    let Some((line, nodes)) = header.get("Nodes") else {
        return Err(Problem::new(
            "line 1",
            "no `Nodes N`; expected the number of hosts before the flows",
        ));
    };
    let nodes = u32::try_from(nodes).ok().filter(|&nodes| nodes > 0);
    matrix.nodes = nodes.ok_or_else(|| {
        Problem::new(
            format!("line {line}"),
            "`Nodes`; expected a number from 1 to 2^32 - 1",
        )
    })?;
    check(&matrix)?;
    Ok(matrix)
}

impl<'a> Header<'a> {
    fn get(&self, name: &str) -> Option<(u64, u64)> {
        let mut lines = self.0.iter();
        lines.find_map(|&(known, line, value)| {
            known.eq_ignore_ascii_case(name).then_some((line, value))
        })
    }

    fn add(
        &mut self,
        line: u64,
        first: &'a str,
        mut words: impl Iterator<Item = &'a str>,
        is_late: bool,
    ) -> Result<(), Problem> {
        let names = ["Nodes", "Connections", "Triggers", "Failures"];
        let is_name = names.iter().any(|name| name.eq_ignore_ascii_case(first));
        if is_late || !is_name {
            let more = if is_late {
                ""
            } else {
                "Nodes, Connections, Triggers, Failures, "
            };
            let expected = format!("{more}`SRC->DST ...`, `trigger id ...` or `failure ...`");
            return Err(refuse(line, Some(first), &expected));
        }
        if self.get(first).is_some() {
            return Err(refuse(line, Some(first), "each count once"));
        }
        let value = number(line, words.next(), "a number")?;
        end(line, words)?;
        self.0.push((first, line, value));
        Ok(())
    }
}

fn end<'a>(line: u64, mut words: impl Iterator<Item = &'a str>) -> Result<(), Problem> {
    match words.next() {
        None => Ok(()),
        found => Err(refuse(line, found, "the end of the line")),
    }
}

/// Reads a number that is not 0.
fn id(line: u64, word: Option<&str>) -> Result<u64, Problem> {
    match number(line, word, "a number from 1")? {
        0 => Err(refuse(line, word, "a number from 1")),
        id => Ok(id),
    }
}

fn flow<'a>(line: u64, ends: &str, words: impl Iterator<Item = &'a str>) -> Result<Flow, Problem> {
    let hosts = "two different hosts, such as `3->7`";
    let (from, to) = ends.split_once("->").unwrap_or((ends, ""));
    let from: u32 = number(line, Some(from), hosts)?;
    let to: u32 = number(line, Some(to), hosts)?;
    if from == to || from.max(to) == u32::MAX {
        return Err(refuse(line, Some(ends), hosts));
    }
    let mut flow = Flow {
        line,
        from,
        to,
        id: None,
        is_message: false,
        begin: Begin::Start(0.0),
        bytes: 0,
        when_sent: None,
        when_received: None,
        has_priority: false,
    };
    let mut known: Vec<&str> = Vec::new();
    let mut words = words.peekable();
    while let Some(key) = words.next() {
        if known.contains(&key) {
            return Err(refuse(line, Some(key), "each key once"));
        }
        known.push(key);
        match key {
            "id" => flow.id = Some(id(line, words.next())?),
            "msg" => {
                flow.is_message = true;
                // Its number may be missing.
                words.next_if(|word| word.bytes().all(|digit| digit.is_ascii_digit()));
            }
            "start" => {
                let expected = "a time from 0";
                let word = words.next();
                let start: f64 = number(line, word, expected)?;
                if !(0.0..1e18).contains(&start) {
                    return Err(refuse(line, word, expected));
                }
                flow.begin = Begin::Start(start);
            }
            "trigger" => flow.begin = Begin::Trigger(id(line, words.next())?),
            "size" => flow.bytes = number(line, words.next(), "a size in bytes")?,
            "send_done_trigger" => flow.when_sent = Some(id(line, words.next())?),
            "recv_done_trigger" => flow.when_received = Some(id(line, words.next())?),
            "prio" => {
                number::<u32>(line, words.next(), "a priority from 0")?;
                flow.has_priority = true;
            }
            _ => {
                let expected =
                    "id, msg, start, trigger, size, send_done_trigger, recv_done_trigger or prio";
                return Err(refuse(line, Some(key), expected));
            }
        }
    }
    let has = |key: &&str| known.contains(key);
    if has(&"start") == has(&"trigger") {
        return Err(refuse(
            line,
            Some(ends),
            "one of `start TIME` and `trigger ID` behind it",
        ));
    }
    if !has(&"size") {
        return Err(refuse(line, Some(ends), "`size BYTES` behind it"));
    }
    let needs_id = ["msg", "trigger", "send_done_trigger", "recv_done_trigger"];
    if flow.id.is_none() && needs_id.iter().any(has) {
        return Err(refuse(
            line,
            Some(ends),
            "`id NUMBER` behind it, as it has a trigger or `msg`",
        ));
    }
    Ok(flow)
}

fn trigger<'a>(line: u64, mut words: impl Iterator<Item = &'a str>) -> Result<Trigger, Problem> {
    let form = "`trigger id NUMBER oneshot|multishot|barrier [count NUMBER]`";
    let word = words.next();
    if word != Some("id") {
        return Err(refuse(line, word, form));
    }
    let number = id(line, words.next())?;
    let kind = words.next();
    let count = match words.next() {
        None => 1,
        Some("count") => id(line, words.next())?,
        found => return Err(refuse(line, found, form)),
    };
    end(line, words)?;
    Ok(Trigger {
        line,
        id: number,
        kind: match kind {
            Some("oneshot") => TriggerKind::OneShot,
            Some("multishot") => TriggerKind::MultiShot,
            Some("barrier") => TriggerKind::Barrier(count),
            found => return Err(refuse(line, found, form)),
        },
    })
}

fn failure<'a>(line: u64, words: impl Iterator<Item = &'a str>) -> Result<(), Problem> {
    let form = "`failure switch_type TOR|AGG|CORE switch_id NUMBER link_id NUMBER`";
    let words = Vec::from_iter(words.take(7));
    let is_right = match words[..] {
        [
            "switch_type",
            "TOR" | "AGG" | "CORE",
            "switch_id",
            switch,
            "link_id",
            link,
        ] => switch.parse::<u32>().is_ok() && link.parse::<u32>().is_ok(),
        _ => false,
    };
    if is_right {
        return Ok(());
    }
    Err(refuse(line, Some("failure"), form))
}

/// Each trigger is declared once, and each number has one flow, or messages between the same hosts.
fn check(matrix: &Matrix) -> Result<(), Problem> {
    let mut declared = HashSet::new();
    for trigger in &matrix.triggers {
        if !declared.insert(trigger.id) {
            let found = format!("trigger id {}", trigger.id);
            return Err(refuse(trigger.line, Some(&found), "each trigger once"));
        }
    }
    let mut seen: HashMap<u64, &Flow> = HashMap::new();
    for flow in &matrix.flows {
        let begin = match flow.begin {
            Begin::Start(_) => None,
            Begin::Trigger(trigger) => Some(trigger),
        };
        for trigger in [begin, flow.when_sent, flow.when_received]
            .into_iter()
            .flatten()
        {
            if !declared.contains(&trigger) {
                let found = format!("trigger {trigger}");
                return Err(refuse(
                    flow.line,
                    Some(&found),
                    "a trigger that the file declares",
                ));
            }
        }
        let Some(id) = flow.id else {
            continue;
        };
        let first = *seen.entry(id).or_insert(flow);
        if first.line == flow.line {
            continue;
        }
        let are_messages = first.is_message && flow.is_message;
        if !are_messages || (first.from, first.to) != (flow.from, flow.to) {
            let expected = format!(
                "another id than line {}, or a message between the same hosts",
                first.line
            );
            return Err(refuse(flow.line, Some(&format!("id {id}")), &expected));
        }
    }
    Ok(())
}
