//! A flow list in a CSV file; lines that begin with `#` are comments.

use std::fs::File;

use super::csv_rows::CsvRows;
use super::flow_list::FlowList;
use super::flow_list_rows::{Cell, RowReader, places};

/// Adds the rows to `list`. An error names line and column.
pub(super) fn read(
    file: File,
    rows: &mut RowReader<'_>,
    list: &mut FlowList,
) -> Result<(), String> {
    let mut source = CsvRows::new(file);
    let Some(header) = source.next()? else {
        return Ok(());
    };
    let header: Vec<String> = header
        .iter()
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect();
    let place = places(&header).map_err(|problem| source.at_line(format!(", {problem}")))?;
    while let Some(row) = source.next()? {
        match rows.row(place.map(|index| Cell::Text(&row[index]))) {
            Ok(row) => list.push(row)?,
            Err((column, problem)) => {
                return Err(source.at_line(format!(", column {column}: {problem}")));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;

    use super::super::flow_list::ListedFlow;
    use super::super::test_network::hosts;
    use super::super::{Groups, HostNames};
    use super::*;

    /// Reads a file with this text, given the transports tcp and dctcp and the group rpc.
    fn list(name: &str, text: &str) -> Result<FlowList, String> {
        list_between(&hosts(4, 1), name, text)
    }

    fn list_between(hosts: &HostNames, name: &str, text: &str) -> Result<FlowList, String> {
        let path = std::env::temp_dir().join(format!("hull-{}-{name}.csv", std::process::id()));
        std::fs::write(&path, text).expect("a temporary file");
        let transports = ["tcp", "dctcp"].map(str::to_owned);
        let rules = IndexMap::from([("rpc".to_owned(), "bytes<10KB".to_owned())]);
        let groups = Groups::new(&rules, hosts).expect("a group");
        let list = FlowList::read(&path.display().to_string(), hosts, &transports, &groups);
        std::fs::remove_file(&path).expect("file exists");
        list
    }

    #[test]
    fn hosts_by_number_and_name_columns_in_any_order_rows_sorted() {
        let text = "# made by hand\nbytes,start_ps,src,note,dst\n500, 20,h1,x,2\n600,10,0,y,h3\n700,20,3,,0\n";
        let list = list("good", text).expect("good");
        let row = |start_ps, bytes, src, dst| ListedFlow {
            start_ps,
            bytes,
            src,
            dst,
        };
        assert_eq!(
            list.flows(),
            [row(10, 600, 0, 3), row(20, 500, 1, 2), row(20, 700, 3, 0)]
        );
        assert_eq!(size_of::<ListedFlow>(), 24);
        assert!(list.transports().is_empty());
    }

    /// A text is a host's name before it is a host's number.
    #[test]
    fn a_name_may_be_a_number() {
        let mut named = hosts(4, 1);
        named.names[3] = "1".to_owned();
        let text = "start_ps,src,dst,bytes\n1,1,\t2 ,5\n";
        for (hosts, src) in [(hosts(4, 1), 1), (named, 3)] {
            let list = list_between(&hosts, "numbers", text).expect("good");
            let flow = list.flows()[0];
            assert_eq!((flow.src, flow.dst), (src, 2));
        }
    }

    #[test]
    fn a_row_names_its_transport() {
        let text = "transport,start_ps,src,dst,bytes\ndctcp,9,0,1,5\n,8,0,1,6\ntcp,7,0,1,7\n\
                    default,6,0,1,8\ndctcp,5,0,1,9\n";
        let list = list("transports", text).expect("good");
        let rows = |list: &FlowList| -> Vec<(u64, u16)> {
            let row = |(i, flow): (usize, &ListedFlow)| (flow.bytes, list.transport(i));
            list.flows().iter().enumerate().map(row).collect()
        };
        assert_eq!(rows(&list), [(9, 2), (8, 0), (7, 1), (6, 0), (5, 2)]);
        assert_eq!(list.transports(), [0, 1, 2]);
        assert_eq!(list.count_before(7), 2);
    }

    #[test]
    fn a_row_has_its_label() {
        let text = "start_ps,src,dst,bytes,group,transport\n9,0,1,5,web search,tcp\n8,0,1,6,,\n\
                    7,0,1,7,rpc,dctcp\n6,0,1,8,other,\n5,0,1,9,log,tcp\n4,0,1,10,web search,\n";
        let list = list("groups", text).expect("good");
        assert_eq!(list.group_names(), ["rpc", "web search", "log"]);
        let rows = |list: &FlowList| -> Vec<(u64, u16, u16)> {
            let row =
                |(i, flow): (usize, &ListedFlow)| (flow.bytes, list.group(i), list.transport(i));
            list.flows().iter().enumerate().map(row).collect()
        };
        let all = [
            (10, 2, 0),
            (9, 3, 1),
            (8, 0, 0),
            (7, 1, 2),
            (6, 0, 0),
            (5, 2, 1),
        ];
        assert_eq!(rows(&list), all);
        assert_eq!(list.count_before(6), 2);
    }

    #[test]
    fn bad_input_is_refused_with_line_and_column() {
        let good = "start_ps,src,dst,bytes\n1,0,1,5\n";
        for (name, text, parts) in [
            (
                "start",
                format!("{good}x,0,1,5\n"),
                ["line 3", "column start_ps", "\"x\""],
            ),
            (
                "negative",
                format!("{good}-1,0,1,5\n"),
                ["line 3", "column start_ps", "\"-1\""],
            ),
            (
                "late",
                format!("{good}2000000000000000000,0,1,5\n"),
                ["line 3", "start_ps", "to 1000000000000000000"],
            ),
            (
                "fraction",
                format!("{good}1,0,1,5.5\n"),
                ["line 3", "column bytes", "\"5.5\""],
            ),
            (
                "nothing",
                format!("{good}1,0,1,0\n"),
                ["line 3", "column bytes", "from 1 to"],
            ),
            (
                "host",
                format!("{good}\n1,0,h9,5\n"),
                ["line 4", "column dst", "\"h9\""],
            ),
            (
                "number",
                format!("{good}1,4,0,5\n"),
                ["line 3", "column src", "0 to 3"],
            ),
            (
                "itself",
                format!("{good}1,2,h2,5\n"),
                ["line 3", "column dst", "the source \"h2\""],
            ),
            (
                "short",
                format!("{good}1,2\n"),
                ["line 3", "2 cells", "4 as"],
            ),
            (
                "header",
                "start,src,dst,bytes\n".to_owned(),
                [
                    "line 1, header",
                    "start_ps,src,dst,bytes",
                    "start_ps is missing",
                ],
            ),
            (
                "twice",
                "start_ps,src,bytes,dst,bytes\n1,0,5,1,7\n".to_owned(),
                [
                    "line 1",
                    "start_ps,src,bytes,dst,bytes",
                    "bytes is repeated",
                ],
            ),
            (
                "unknown",
                "start_ps,src,dst,bytes,transport\n1,0,1,5,tcp\n1,0,1,5,reno\n".to_owned(),
                [
                    "line 3, column transport",
                    "\"reno\" is invalid",
                    "default, tcp, dctcp, or an empty cell",
                ],
            ),
            (
                "transports",
                "start_ps,src,dst,bytes,transport,transport\n1,0,1,5,tcp,tcp\n".to_owned(),
                ["line 1, header", "transport,transport", "at most once"],
            ),
            (
                "label",
                "start_ps,src,dst,bytes,group\n1,0,1,5,rpc\n1,0,1,5,a\tb\n".to_owned(),
                [
                    "line 3, column group",
                    "\"a\\tb\" is invalid",
                    "at most 100",
                ],
            ),
            (
                "long",
                format!(
                    "start_ps,src,dst,bytes,group\n1,0,1,5,{}\n",
                    "x".repeat(101)
                ),
                [
                    "line 2, column group",
                    "(101 characters)\" is invalid",
                    "100 characters",
                ],
            ),
            (
                "many",
                (0..1000).fold(
                    "start_ps,src,dst,bytes,group\n".to_owned(),
                    |text, label| text + &format!("1,0,1,5,g{label}\n"),
                ),
                [
                    "line 1001, column group",
                    "\"g999\" is invalid",
                    "at most 1000 groups",
                ],
            ),
            (
                "labels",
                "start_ps,src,dst,bytes,group,group\n1,0,1,5,rpc,rpc\n".to_owned(),
                ["line 1, header", "group,group", "at most once"],
            ),
            (
                "empty",
                "start_ps,src,dst,bytes\n".to_owned(),
                ["no flows", "at least one", "empty"],
            ),
        ] {
            let problem = list(name, &text).expect_err(name);
            assert!(problem.contains(&format!("-{name}.csv: ")), "{problem}");
            for part in parts {
                assert!(problem.contains(part), "{name}: {problem}");
            }
        }
    }

    #[test]
    fn unused_column_may_be_repeated() {
        let flows = list("notes", "note,start_ps,src,dst,bytes,note\nx,1,0,1,5,y\n").expect("good");
        assert_eq!(flows.flows().len(), 1);
    }

    #[test]
    fn missing_file() {
        let problem = FlowList::read("no/such.csv", &hosts(4, 1), &[], &Groups::default());
        let problem = problem.expect_err("not there");
        assert!(
            problem.contains("\"no/such.csv\"") && problem.contains("expected"),
            "{problem}"
        );
    }
}
