//! Reads the table: an optional first line with the ranks, the header, and 12 columns a row. Commas within parentheses, as in the
//! shapes of a computation's matrices, do not end a column.

use super::{Call, Pass, Row, Table};
use crate::groups::Group;
use crate::problem::Problem;
use crate::text::{amount, number, refuse};

/// The columns.
const COLUMNS: &str = "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,\
    _elapsed_time,algbw,busbw,count";

/// Reads a file.
///
/// # Errors
/// The line, what was found and what was expected.
pub fn read(text: &str) -> Result<Table, Problem> {
    let mut lines = (1_u64..).zip(text.lines());
    let mut first = lines.next();
    let mut table = Table {
        ranks: None,
        rows: Vec::new(),
    };
    if let Some((line, text)) = first.filter(|(_, text)| text.starts_with('[')) {
        table.ranks = Some(ranks(line, text)?);
        first = lines.next();
    }
    let (line, header) = first.unwrap_or((1, ""));
    if header.trim() != COLUMNS {
        return Err(refuse(
            line,
            Some(header),
            &format!("the columns `{COLUMNS}`"),
        ));
    }
    for (line, text) in lines {
        if !text.trim().is_empty() {
            table.rows.push(row(line, text.trim())?);
        }
    }
    Ok(table)
}

/// Reads `[rank0 ~ rank127]`: the number of ranks from the first to the last.
fn ranks(line: u64, text: &str) -> Result<u32, Problem> {
    let inner = text.trim().strip_prefix('[');
    let inner = inner.and_then(|inner| inner.strip_suffix(']'));
    let ends = inner.and_then(|inner| inner.split_once('~'));
    let rank = |word: &str| word.trim().strip_prefix("rank")?.parse::<u32>().ok();
    let ends = ends.and_then(|(first, last)| Some((rank(first)?, rank(last)?)));
    let count = ends.and_then(|(first, last)| last.checked_sub(first)?.checked_add(1));
    count.ok_or_else(|| refuse(line, Some(text), "ranks, such as `[rank0 ~ rank127]`"))
}

/// Splits a row at the commas outside parentheses.
fn columns(text: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    let is_end = |letter: char| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    };
    text.split(is_end).map(str::trim).collect()
}

fn row(line: u64, text: &str) -> Result<Row, Problem> {
    let columns = columns(text);
    let &[
        call,
        group,
        size,
        bytes,
        _stage,
        dst,
        _src,
        additional,
        time,
        _,
        _,
        count,
    ] = &columns[..]
    else {
        let told = format!("{} columns; expected 12", columns.len());
        return Err(Problem::new(format!("line {line}"), told));
    };
    let call = read_call(line, call, dst, additional)?;
    let named = !matches!(call, Call::Computation | Call::EpochEnd);
    let expected = "the number of ranks of the group, from 1";
    let group_size = match size {
        "None" | "" if !named => None,
        _ => Some(number(line, Some(size), expected)?),
    };
    if group_size == Some(0) {
        return Err(refuse(line, Some(size), expected));
    }
    Ok(Row {
        line,
        call,
        group: named.then(|| read_group(line, group)).transpose()?,
        group_size,
        bytes: match call {
            Call::Computation => 0,
            _ => amount(line, Some(bytes), "a size in bytes")?,
        },
        time_ns: match time {
            "None" | "" => None,
            _ => Some(time_of(line, time)?),
        },
        count: amount(line, Some(count), "how often the row is done")?,
    })
}

/// Reads a time, which may have a fraction of a ns.
fn time_of(line: u64, word: &str) -> Result<u64, Problem> {
    let expected = "`None` or a time in ns";
    let ns: f64 = number(line, Some(word), expected)?;
    if (0.0..1e18).contains(&ns) {
        return Ok(ns.round() as u64);
    }
    Err(refuse(line, Some(word), expected))
}

fn read_call(line: u64, word: &str, dst: &str, additional: &str) -> Result<Call, Problem> {
    Ok(match word.strip_prefix("CommType.").unwrap_or(word) {
        "all_reduce" => Call::AllReduce,
        "all_gather" | "all_gather_into_tensor" => Call::AllGather,
        "reduce_scatter" | "reduce_scatter_tensor" => Call::ReduceScatter,
        "all_to_all" => Call::AllToAll,
        "broadcast" => Call::Broadcast,
        "reduce" => Call::Reduce(number(
            line,
            Some(dst),
            "`dst`, a member of the group, from 0",
        )?),
        "barrier" => Call::Barrier,
        "isend" => Call::Pass(match additional {
            "send_next" => Pass::SendNext,
            "send_prev" => Pass::SendPrevious,
            _ => return Err(refuse(line, Some(additional), "`send_next` or `send_prev`")),
        }),
        "irecv" => Call::Pass(match additional {
            "recv_next" => Pass::ReceiveNext,
            "recv_prev" => Pass::ReceivePrevious,
            _ => return Err(refuse(line, Some(additional), "`recv_next` or `recv_prev`")),
        }),
        "computation" => Call::Computation,
        "epoch_end" => Call::EpochEnd,
        _ => {
            let expected = "`CommType.` and all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, \
                barrier, isend, irecv, computation or epoch_end";
            return Err(refuse(line, Some(word), expected));
        }
    })
}

fn read_group(line: u64, word: &str) -> Result<Group, Problem> {
    Ok(match word.strip_prefix("CommGroup.").unwrap_or(word) {
        "dp_group" => Group::Data,
        "tp_group" => Group::Tensor,
        "pp_group" => Group::Pipeline,
        "ep_group" => Group::Expert,
        "ep_dp_group" => Group::ExpertData,
        "ep_tp_group" => Group::ExpertTensor,
        "embedding_group" => Group::Ends,
        "all" | "all_nodes" => Group::All,
        _ => {
            let expected = "`CommGroup.` and dp_group, tp_group, pp_group, ep_group, ep_dp_group, ep_tp_group, \
                embedding_group or all";
            return Err(refuse(line, Some(word), expected));
        }
    })
}
