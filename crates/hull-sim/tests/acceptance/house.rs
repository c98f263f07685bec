//! The structure of the crate: permitted module dependencies and the length of files. The tests
//! read imports from the sources and skip the test modules in them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each module of the crate with the modules that it may use: only earlier ones, so that there are
/// no cycles.
const MAY_USE: [(&str, &[&str]); 21] = [
    ("damaged", &[]),
    ("prefetch", &[]),
    ("quote", &[]),
    ("random", &[]),
    ("spelling", &[]),
    ("text_file", &[]),
    ("engine", &["prefetch"]),
    ("units", &["quote"]),
    ("limits", &["engine"]),
    ("problem", &["quote", "units"]),
    ("memory", &["problem", "quote", "units"]),
    ("service_time", &["problem", "random", "units"]),
    // An event carries the location of its packet.
    (
        "network",
        &[
            "engine", "memory", "prefetch", "problem", "quote", "random", "units",
        ],
    ),
    ("transport", &["network", "prefetch", "problem", "units"]),
    (
        "host",
        &["memory", "network", "prefetch", "random", "service_time"],
    ),
    (
        "topology",
        &[
            "limits",
            "memory",
            "problem",
            "quote",
            "spelling",
            "text_file",
            "units",
        ],
    ),
    // Handles flows, not packets.
    (
        "workload",
        &[
            "damaged",
            "limits",
            "memory",
            "problem",
            "quote",
            "random",
            "service_time",
            "text_file",
            "topology",
            "units",
        ],
    ),
    // Describes a run by the settings of each mechanism, which are in the mechanism's file.
    (
        "scenario",
        &[
            "host",
            "limits",
            "memory",
            "network",
            "problem",
            "quote",
            "service_time",
            "spelling",
            "topology",
            "transport",
            "units",
            "workload",
        ],
    ),
    // Passive: other modules report to it.
    (
        "measure",
        &["damaged", "limits", "memory", "network", "workload"],
    ),
    (
        "simulation",
        &[
            "engine",
            "host",
            "limits",
            "measure",
            "memory",
            "network",
            "prefetch",
            "problem",
            "quote",
            "random",
            "scenario",
            "service_time",
            "topology",
            "transport",
            "units",
            "workload",
        ],
    ),
    (
        "part",
        &[
            "measure",
            "network",
            "problem",
            "scenario",
            "simulation",
            "transport",
        ],
    ),
];

/// The files whose code may access everything in a run, and why. Code that needs one part of the
/// run is that part's method; code that needs two or three takes them as arguments.
const MAY_TOUCH_ALL: [(&str, &str); 10] = [
    ("mod.rs", "serves the events"),
    (
        "forwarding.rs",
        "takes packets from link to link, to a host, or to where they are lost",
    ),
    (
        "host_path.rs",
        "takes packets from the transport to a port and from a port to the transport",
    ),
    (
        "tcp.rs",
        "what arrives lets a flow send, and tells the workload",
    ),
    ("timers.rs", "a timer that is due lets a flow send"),
    (
        "message/mod.rs",
        "the same for the message transport, whose hosts also grant credit",
    ),
    (
        "message/admission.rs",
        "a request, or what arrives, lets a receiver send grants",
    ),
    (
        "message/nic.rs",
        "a link that is free, or a pause that ends, lets a connection send",
    ),
    (
        "message/timers.rs",
        "a timer that is due lets a connection or its receiver send",
    ),
    (
        "traffic.rs",
        "what the workload wants is sent, and tells the workload again",
    ),
];

/// The methods of a run that may access more than three of its components, and why.
const MAY_TOUCH_MANY: [(&str, &str); 2] = [
    ("begin", "schedules what each component begins with"),
    ("run", "hands all components over to the results"),
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The code of a file without comments and tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("text");
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The modules of the crate that `code` names.
fn used(code: &str) -> BTreeSet<&str> {
    let after = code.split("crate::").skip(1);
    let names = after.filter_map(|rest| {
        rest.split(|c: char| !c.is_alphanumeric() && c != '_')
            .next()
    });
    names
        .filter(|name| MAY_USE.iter().any(|(module, _)| module == name))
        .collect()
}

#[test]
fn dependencies_go_one_way() {
    for (at, (module, may_use)) in MAY_USE.iter().enumerate() {
        let earlier = |name: &&str| MAY_USE[..at].iter().any(|(module, _)| module == name);
        assert!(may_use.iter().all(earlier), "{module}");
        let (file, folder) = (source().join(format!("{module}.rs")), source().join(module));
        let mut files = Vec::new();
        match file.exists() {
            true => files.push(file),
            false => files_below(&folder, &mut files),
        }
        for path in files {
            let is_test = path.ends_with("tests.rs") || path.ends_with("test_network.rs");
            let code = code(&path);
            let found = used(&code);
            let wrong: Vec<_> = found
                .iter()
                .filter(|name| *name != module && !may_use.contains(name))
                .collect();
            assert!(
                is_test || wrong.is_empty(),
                "{} uses {wrong:?}",
                path.display()
            );
        }
    }
}

/// Every module is in the table.
#[test]
fn no_module_is_left_out() {
    let text = fs::read_to_string(source().join("lib.rs")).expect("text");
    let declared = text
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod "));
    for module in declared.map(|name| name.trim_end_matches(';')) {
        assert!(MAY_USE.iter().any(|(name, _)| *name == module), "{module}");
    }
}

/// The files of a folder by module, such as `build/tcp`, each with the modules that it imports from
/// the folder. The module of the folder itself, which names all of them, is left out.
fn uses_within(folder: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut files = Vec::new();
    files_below(folder, &mut files);
    let named = files
        .iter()
        .filter(|path| !path.ends_with("tests.rs"))
        .map(|path| {
            let name = path
                .strip_prefix(folder)
                .expect("below it")
                .with_extension("");
            let name = name.display().to_string();
            let name = name
                .strip_suffix("/mod")
                .map_or(name.clone(), str::to_owned);
            (name, code(path))
        });
    let codes: BTreeMap<String, String> = named.filter(|(name, _)| name != "mod").collect();
    let of_crate = folder.file_name().expect("a name").to_string_lossy();
    let of_crate = format!("use crate::{of_crate}::");
    let uses = codes.iter().map(|(name, code)| {
        let above: Vec<&str> = name.split('/').collect();
        let relative = code.split("use super::").skip(1).map(|rest| {
            let path = rest.split(';').next().unwrap_or_default();
            let up = 1 + path.matches("super::").count();
            let below = above[..above.len().saturating_sub(up)].join("::");
            (below, path.trim_start_matches("super::"))
        });
        let absolute = code.split(of_crate.as_str()).skip(1);
        let absolute =
            absolute.map(|rest| (String::new(), rest.split(';').next().unwrap_or_default()));
        let found = relative.chain(absolute).flat_map(|(below, path)| {
            let (room, names) = match path.split_once('{') {
                Some((room, names)) => (room.trim_end_matches("::"), names.trim_end_matches('}')),
                None => ("", path),
            };
            let names = names.split(',').map(str::trim);
            let paths = names.map(|name| {
                let parts = [below.as_str(), room, name];
                let parts = parts.into_iter().filter(|part| !part.is_empty());
                parts.collect::<Vec<_>>().join("/").replace("::", "/")
            });
            paths.collect::<Vec<_>>()
        });
        let known = found.filter_map(|path| {
            // The module is the longest beginning of the path that is one.
            let ends = path.match_indices('/').map(|(end, _)| end);
            let ends = ends.chain([path.len()]).collect::<Vec<_>>();
            let mut beginnings = ends.iter().rev().map(|&end| &path[..end]);
            beginnings
                .find(|path| codes.contains_key(*path))
                .map(str::to_owned)
        });
        (
            name.clone(),
            known.filter(|used| used != name).collect::<BTreeSet<_>>(),
        )
    });
    uses.collect()
}

/// The modules that one uses, directly or by others.
fn reached<'a>(from: &'a str, uses: &'a BTreeMap<String, BTreeSet<String>>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut next = vec![from];
    while let Some(name) = next.pop() {
        for used in uses.get(name).into_iter().flatten() {
            if found.insert(used.as_str()) {
                next.push(used);
            }
        }
    }
    found
}

#[test]
fn no_files_of_the_simulation_use_each_other_in_a_circle() {
    let uses = uses_within(&source().join("simulation"));
    assert!(uses["flow_table/opening"].contains("flow"), "{uses:?}");
    let in_circle = uses
        .keys()
        .filter(|name| reached(name, &uses).contains(name.as_str()));
    assert_eq!(in_circle.collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn few_files_may_access_the_whole_simulation() {
    let folder = source().join("simulation");
    let mut files = Vec::new();
    files_below(&folder, &mut files);
    let mut found: Vec<String> = Vec::new();
    for path in files {
        let has_methods = |line: &str| line.starts_with("impl") && line.ends_with(" Simulation {");
        if code(&path).lines().any(has_methods) {
            let path = path.strip_prefix(&folder).expect("below it");
            found.push(path.display().to_string());
        }
    }
    found.sort();
    let mut named = MAY_TOUCH_ALL.map(|(file, _)| file);
    named.sort();
    assert_eq!(found, named);
}

/// The methods of `Simulation` in a file, each with the fields that it names.
fn fields_named(code: &str, fields: &[&str]) -> Vec<(String, Vec<String>)> {
    let blocks = code.split("\nimpl Simulation {\n").skip(1);
    let blocks = blocks.map(|rest| rest.split("\n}").next().unwrap_or_default());
    let methods = blocks.flat_map(|block| block.split("\n    }"));
    let named = methods.filter_map(|method| {
        let (_, from_name) = method.split_once("fn ")?;
        let name = from_name.split(['(', '<']).next()?.to_owned();
        let is_layout = |c: char| c.is_whitespace() || "()".contains(c);
        let text: String = method.chars().filter(|&c| !is_layout(c)).collect();
        let accessed: BTreeSet<&str> = (text.split("self.").skip(1))
            .filter_map(|rest| {
                rest.split(|c: char| !c.is_alphanumeric() && c != '_')
                    .next()
            })
            .collect();
        let found = fields.iter().filter(|field| accessed.contains(*field));
        Some((name, found.map(|field| (*field).to_owned()).collect()))
    });
    named.collect()
}

#[test]
fn few_methods_may_access_more_than_three_components() {
    let folder = source().join("simulation");
    let whole = code(&folder.join("mod.rs"));
    let fields = whole.split("pub struct Simulation {").nth(1).expect("it");
    let fields = fields.split('}').next().unwrap_or_default().lines();
    let fields: Vec<&str> = fields
        .filter_map(|line| Some(line.trim().split_once(':')?.0))
        .collect();
    assert!(fields.contains(&"clock"), "{fields:?}");
    let mut files = Vec::new();
    files_below(&folder, &mut files);
    let methods = files
        .iter()
        .flat_map(|path| fields_named(&code(path), &fields));
    let mut many: Vec<_> = methods.filter(|(_, named)| named.len() > 3).collect();
    many.sort();
    let names: Vec<&str> = many.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, MAY_TOUCH_MANY.map(|(name, _)| name), "{many:?}");
}

#[test]
fn a_file_stays_below_500_lines_and_says_what_it_is() {
    let mut files = Vec::new();
    files_below(&source(), &mut files);
    for path in files {
        let text = fs::read_to_string(&path).expect("text");
        let lines = text.lines().count();
        assert!(lines < 500, "{} has {lines} lines", path.display());
        assert!(text.starts_with("//!"), "{}", path.display());
    }
}
