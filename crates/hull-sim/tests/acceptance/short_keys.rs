//! Short forms of keys, `scheme.X` and `workload.X`, in a file's sweep and in settings give the
//! same cells as the full names.

use hull_sim::scenario::expand;

use super::scenario_errors::GOOD;

const SCHEMES: &str = r#"
[schemes.dctcp]
transport = { congestion_control = "dctcp", ecn = true }
switch.marking.threshold = "30KB"
[schemes.hull]
transport = { congestion_control = "dctcp", ecn = true }
switch.phantom_queue = { drain = "950Mbps", threshold = "1KB" }
"#;

fn cells(text: &str, settings: &[&str]) -> Result<Vec<String>, String> {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let cells = expand(text, "my.toml", &settings).map_err(|error| error.to_string())?;
    let shown = |cell: &hull_sim::scenario::Cell| {
        let scenario = serde_json::to_string(&*cell.scenario).unwrap_or_default();
        format!("{} {} {scenario}", cell.condition, cell.scheme)
    };
    Ok(cells.iter().map(shown).collect())
}

fn file() -> String {
    format!("{GOOD}{SCHEMES}")
}

fn swept(keys: &str) -> String {
    format!("{}\n[sweep]\n{keys}\n", file())
}

#[test]
fn short_names_sweep_like_full_names() {
    let short =
        swept("\"scheme.drain\" = \"800Mbps:950Mbps:50Mbps\"\n\"workload.load\" = [0.2, 0.4]");
    let full = swept(
        "\"switch.phantom_queue.drain\" = \"800Mbps:950Mbps:50Mbps\"\n\
         \"workload.requests.load\" = [0.2, 0.4]",
    );
    let found = cells(&short, &[]);
    assert_eq!(found, cells(&full, &[]));
    assert_eq!(found.map(|cells| cells.len()), Ok(2 * 4 * 2));
    // Overridden by either name, the key is no longer swept.
    for set in ["workload.load=30%", "workload.requests.load=30%"] {
        assert_eq!(cells(&short, &[set]).map(|cells| cells.len()), Ok(2 * 4));
    }
}

#[test]
fn short_name_sets_like_the_full_name() {
    for (short, full) in [
        ("workload.load=30%", "workload.requests.load=30%"),
        ("scheme.drain=900Mbps", "switch.phantom_queue.drain=900Mbps"),
        ("scheme.k=20KB", "switch.marking.threshold=20KB"),
        ("scheme.min_rto=5ms", "transport.min_rto=5ms"),
        ("scheme.g=0.1", "transport.dctcp.g=0.1"),
    ] {
        let found = cells(&file(), &[short]);
        assert!(found.is_ok(), "{found:?}");
        assert_eq!(found, cells(&file(), &[full]));
        assert_ne!(found, cells(&file(), &[]));
    }
    // A full table name means that table, even if other tables' keys end in the same name.
    let requests = "workload.requests={load=\"20%\",classes=[{size=\"1KB\",share=\"100%\"}]}";
    assert_ne!(cells(&file(), &[requests]), cells(&file(), &[]));
    let flows = cells(&file(), &["workload.flows=list.csv"]);
    assert!(!flows.err().unwrap_or_default().contains("could mean"));
    // An override may also set the table that the short name refers to.
    let whole = "switch.marking={threshold=\"9KB\"}";
    assert!(cells(&file(), &[whole, "scheme.marking.threshold=8KB"]).is_ok());
}

#[test]
fn ambiguous_and_unmatched_keys_are_rejected() {
    let problem = |text: &str, settings: &[&str]| cells(text, settings).err().unwrap_or_default();
    assert_eq!(
        problem(&file(), &["scheme.threshold=9KB"]),
        "my.toml: --set scheme.threshold: could mean switch.marking.threshold or \
         switch.phantom_queue.threshold; expected one of them"
    );
    assert_eq!(
        problem(&swept("\"scheme.token_tick\" = [\"1us\"]"), &[]),
        "my.toml:26:23: sweep.\"scheme.token_tick\": could mean pacer.token_tick, but nothing in this file \
         has that table; expected a key of a table that is there"
    );
    let twice = swept("\"workload.load\" = [0.2]\n\"workload.requests.load\" = [0.3]");
    assert!(problem(&twice, &[]).contains("workload.requests.load is swept twice"));
    assert_eq!(
        problem(&swept("\"SWITCH.buffer\" = [\"9KB\"]"), &[]),
        "my.toml:26:1: sweep.\"SWITCH.buffer\": there is no key SWITCH; did you mean switch?"
    );
    assert!(problem(&file(), &["scheme.nonsense=1"]).contains("scheme: there is no such key"));
}
