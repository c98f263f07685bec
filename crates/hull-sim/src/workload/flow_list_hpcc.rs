//! A flow list of HPCC's simulator (alibaba-edu/High-Precision-Congestion-Control, `mix/flow.txt`) and of its
//! forks: the number of flows, then a line for each with source, destination, priority group, destination port,
//! size in bytes and start in seconds. The fork conweave-ns3 has no port. What follows the announced flows is
//! ignored, as by these programs.
//!
//! Ends are ids of nodes: in a network from a file of HPCC's, whose node 17 is called `n17`, those; in any
//! other the numbers of hosts. Priority group and port have no effect: the keys of a scenario decide the class.

use std::fs::File;
use std::io::{BufRead, BufReader};

use super::bounded_lines::BoundedLines;
use super::flow_list::{Beyond, FlowList};
use super::flow_list_rows::{Cell, Columns, Row, RowReader};
use crate::quote;

/// Whether a text of this beginning is such a list: its first line is a number alone.
pub(super) fn is_of(start: &[u8]) -> bool {
    let start = start
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(start)
        .trim_ascii_start();
    let line = start
        .split(|&byte| byte == b'\n')
        .next()
        .unwrap_or_default();
    let line = line.trim_ascii();
    !line.is_empty() && line.iter().all(u8::is_ascii_digit)
}

/// Adds the announced flows to `list`. An error names line and column.
pub(super) fn read(
    file: File,
    rows: &mut RowReader<'_>,
    list: &mut FlowList,
) -> Result<(), String> {
    let mut lines = Lines {
        source: BufReader::new(BoundedLines::new(file)),
        text: String::new(),
        number: 0,
    };
    let first = match lines.next()? {
        true => lines.text.trim_start_matches('\u{feff}').trim(),
        false => "",
    };
    let count: u64 = (first.parse()).map_err(|_| {
        let shown = quote::text(first);
        format!(
            "line {}: {shown} is invalid; expected the number of flows",
            lines.number
        )
    })?;
    let mut columns = None;
    for found in 0..count {
        if !lines.next()? {
            return Err(format!("announces {count} flows; found {found}"));
        }
        let words = Vec::from_iter(lines.text.split_whitespace());
        let flow = flow(&words, &mut columns, rows);
        let flow = flow.map_err(|problem| format!("line {}{problem}", lines.number))?;
        list.push(flow)?;
    }
    let line = lines.number;
    let mut flows = 0;
    // What cannot be read as text is no flow.
    while let Ok(true) = lines.next() {
        flows += u64::from(is_flow(&lines.text));
    }
    list.beyond = (flows > 0).then_some(Beyond {
        announced: count,
        line,
        flows,
    });
    Ok(())
}

/// Whether a line has the form of a flow.
fn is_flow(line: &str) -> bool {
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let count = line.split_whitespace().count();
    matches!(count, 5 | 6) && line.split_whitespace().take(3).all(is_number)
}

/// Lines that are not blank.
struct Lines {
    source: BufReader<BoundedLines<File>>,
    text: String,
    number: u64,
}

impl Lines {
    /// Reads the next line; `false` at the end.
    fn next(&mut self) -> Result<bool, String> {
        loop {
            self.text.clear();
            self.number += 1;
            self.source.get_mut().begin_row();
            let read = self.source.read_line(&mut self.text);
            match read.map_err(|error| format!("line {}: {error}", self.number))? {
                0 => return Ok(false),
                _ if !self.text.trim().is_empty() => return Ok(true),
                _ => {}
            }
        }
    }
}

/// Parses a flow; `columns` is the number of words of the first one.
fn flow(
    words: &[&str],
    columns: &mut Option<usize>,
    rows: &mut RowReader<'_>,
) -> Result<Row, String> {
    let (src, dst, bytes, start) = match *words {
        [src, dst, _, _, bytes, start] | [src, dst, _, bytes, start]
            if columns.is_none_or(|of_first| of_first == words.len()) =>
        {
            (src, dst, bytes, start)
        }
        _ => {
            let expected = match columns {
                Some(5) => "5 as before: source, destination, group, bytes and seconds",
                _ => {
                    "6: source, destination, group, port, bytes and seconds (or 5, without the port)"
                }
            };
            return Err(format!(
                ": found {} columns; expected {expected}",
                words.len()
            ));
        }
    };
    *columns = Some(words.len());
    let seconds: Option<f64> = start.parse().ok().filter(|&seconds| seconds >= 0.0);
    let start_ps = seconds.map(|seconds| (seconds * 1e12).round() as i128);
    let start_ps = start_ps.ok_or_else(|| {
        let shown = quote::text(start);
        format!(", column start: {shown} is invalid; expected seconds from 0 on, such as 0.15")
    })?;
    let host = |column: &str, id: &str| {
        let host = rows.host_of_node(id).map(|host| Cell::Number(host.into()));
        host.ok_or_else(|| {
            format!(
                ", column {column}: {} is invalid; expected the id of a host",
                quote::text(id)
            )
        })
    };
    let cells = Columns {
        needed: [
            Cell::Number(start_ps),
            host("src", src)?,
            host("dst", dst)?,
            Cell::Text(bytes.as_bytes()),
        ],
        transport: None,
        group: None,
        after: None,
        reuse: None,
        via: None,
    };
    let row = rows.row(cells);
    row.map_err(|(column, problem)| format!(", column {column}: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::super::flow_list::ListedFlow;
    use super::super::test_network::hosts;
    use super::super::{Groups, HostNames};
    use super::*;

    fn list(hosts: &HostNames, name: &str, text: &str) -> Result<FlowList, String> {
        let path =
            std::env::temp_dir().join(format!("hull-hpcc-{}-{name}.txt", std::process::id()));
        std::fs::write(&path, text).expect("a temporary folder");
        let list = FlowList::read(&path.display().to_string(), hosts, &[], &Groups::default());
        std::fs::remove_file(&path).expect("just written");
        list
    }

    /// The start of HPCC's own list: two flows announced, more behind them, and a note.
    const OWN: &str = "2\n2 1 3 100 200000000 2\n3 1 3 100 200000000 2\n0 1 3 100 5000000 2\n\n\
                       First line: # of flows\n";

    #[test]
    fn the_announced_flows_count() {
        let list = list(&hosts(4, 1), "own", OWN).expect("good");
        let flow = |src| ListedFlow {
            start_ps: 2_000_000_000_000,
            bytes: 200_000_000,
            src,
            dst: 1,
        };
        assert_eq!(list.flows(), [flow(2), flow(3)]);
        let beyond = Beyond {
            announced: 2,
            line: 3,
            flows: 1,
        };
        assert_eq!(list.beyond(), Some(beyond));
    }

    /// Notes behind the announced flows are no flows.
    #[test]
    fn notes_are_no_flows() {
        for (name, notes) in [
            ("nothing", ""),
            (
                "words",
                "notes: src dst group port bytes seconds\nfive words that are none\n1 2\n",
            ),
            ("long", "1 2 3 4 5 6 7\n"),
        ] {
            let text = format!("1\n0 1 3 100 5 0\n{notes}");
            let list = list(&hosts(4, 1), name, &text).expect("good");
            assert_eq!(list.beyond(), None, "{name}");
        }
    }

    /// Six columns and conweave's five, blank lines, CRLF, no end of line, starts to the picosecond.
    #[test]
    fn dialects() {
        for (name, text) in [
            ("six", "1\n0 3 3 10000 1000000000000 0.13\n"),
            ("five", "1\r\n\r\n0 3 3 1000000000000 0.13"),
            ("power", "1\n0 3 3 10000 1000000000000 1.3e-1\n"),
        ] {
            let list = list(&hosts(4, 1), name, text).expect("good");
            assert_eq!(list.flows()[0].start_ps, 130_000_000_000, "{name}");
            assert_eq!(list.flows()[0].bytes, 1_000_000_000_000, "{name}");
        }
    }

    /// Nodes n0, n1, n2 and n5 are hosts: node 5 is host 3, and node 3 a switch.
    #[test]
    fn ids_are_those_of_nodes() {
        let mut nodes = hosts(4, 1);
        nodes.names = ["n0", "n1", "n2", "n5"].map(str::to_owned).to_vec();
        let good = list(&nodes, "nodes", "1\n5 1 3 100 7 0\n").expect("good");
        assert_eq!((good.flows()[0].src, good.flows()[0].dst), (3, 1));
        let told = list(&nodes, "switch", "1\n3 1 3 100 7 0\n").expect_err("a switch");
        assert!(
            told.ends_with("line 2, column src: \"3\" is invalid; expected the id of a host"),
            "{told}"
        );
    }

    #[test]
    fn bad_lists_are_refused_with_line_and_column() {
        for (name, text, told) in [
            ("few", "3\n0 1 3 100 5 0\n", "announces 3 flows; found 1"),
            ("words", "1\n0 1 3 100 5\nx\n0 1", ""),
            (
                "columns",
                "2\n0 1 3 100 5 0\n0 1 3 5 0\n",
                "line 3: found 5 columns; expected 6",
            ),
            ("short", "1\n0 1 3\n", "line 2: found 3 columns; expected 6"),
            (
                "host",
                "1\n0 4 3 100 5 0\n",
                "line 2, column dst: \"4\" is invalid",
            ),
            (
                "itself",
                "1\n1 1 3 100 5 0\n",
                "line 2, column dst: found the source",
            ),
            (
                "size",
                "1\n0 1 3 100 0 0\n",
                "line 2, column bytes: \"0\" is invalid; expected an integer",
            ),
            (
                "start",
                "1\n0 1 3 100 5 -1\n",
                "line 2, column start: \"-1\" is invalid; expected seconds",
            ),
            ("none", "0\n", "found no flows"),
        ] {
            match list(&hosts(4, 1), name, text) {
                Ok(_) => assert_eq!(told, "", "{name}"),
                Err(found) => assert!(!told.is_empty() && found.contains(told), "{name}: {found}"),
            }
        }
    }
}
