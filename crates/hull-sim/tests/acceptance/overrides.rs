//! Which schemes an override changes (docs/scenario.md): those that have its table, all if none has
//! it, and the named one. Compared with tables that the file itself gives to each scheme.

use hull_sim::scenario::{Scenario, expand};

use super::scenario_errors::GOOD;

const SCHEMES: &str = r#"
[schemes.tcp]
[schemes.dctcp]
transport = { congestion_control = "dctcp", ecn = true }
switch.marking.threshold = "30KB"
[schemes.hull]
transport = { congestion_control = "dctcp", ecn = true }
switch.phantom_queue = { drain = "950Mbps", threshold = "1KB" }
pacer = { beta = 20, fifo = "50KB" }
"#;

/// The scenarios of tcp, dctcp and hull.
fn schemes(tail: &str, settings: &[&str]) -> Vec<Scenario> {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    match expand(&format!("{GOOD}{SCHEMES}{tail}"), "my.toml", &settings) {
        Ok(cells) => cells
            .iter()
            .map(|cell| Scenario::clone(&cell.scenario))
            .collect(),
        Err(error) => panic!("{error}"),
    }
}

/// T_r (ps) and beta of each scheme's pacer.
fn pacers(tail: &str, settings: &[&str]) -> Vec<Option<(u64, u32)>> {
    let of = |scenario: &Scenario| {
        let pacer = scenario.pacer.as_ref()?;
        Some((pacer.update_interval?.0, pacer.beta?))
    };
    schemes(tail, settings).iter().map(of).collect()
}

const US: u64 = 1_000_000;

#[test]
fn table_and_key_overrides_reach_the_same_schemes() {
    let only_hull = vec![None, None, Some((3 * US, 20))];
    assert_eq!(pacers("", &["pacer={update_interval=\"3us\"}"]), only_hull);
    assert_eq!(pacers("", &["pacer.update_interval=3us"]), only_hull);
    let both = "pacer={update_interval=\"3us\",beta=7}";
    assert_eq!(pacers("", &[both]), [None, None, Some((3 * US, 7))]);
    let drain = "switch.phantom_queue={drain=\"900Mbps\"}";
    let found = schemes("", &[drain]);
    let drains = |s: &Scenario| s.switch.phantom_queue.as_ref().map(|q| q.threshold.0);
    let thresholds: Vec<_> = found.iter().map(drains).collect();
    assert_eq!(thresholds, [None, None, Some(1000)]);
}

#[test]
fn a_sweep_follows_the_rule() {
    let swept = "[sweep]\npacer = [{ update_interval = \"3us\" }, { update_interval = \"5us\" }]\n";
    let hull = |us| Some((us * US, 20));
    let expected = [None, None, hull(3), None, None, hull(5)];
    assert_eq!(pacers(swept, &[]), expected);
    let swept = "[sweep]\n\"pacer.update_interval\" = [\"3us\", \"5us\"]\n";
    assert_eq!(pacers(swept, &[]), expected);
}

#[test]
fn the_sweep_can_be_set() {
    let hull = |us| Some((us * US, 20));
    let expected = [None, None, hull(3), None, None, hull(5)];
    let swept = "[sweep]\n\"pacer.update_interval\" = [\"7us\"]\n";
    let values = "[\"3us\",\"5us\"]";
    for name in [
        "pacer.update_interval",
        "\"pacer.update_interval\"",
        "'pacer.update_interval'",
    ] {
        let setting = format!("sweep.{name}={values}");
        assert_eq!(pacers("", &[&setting]), expected, "{setting}");
        assert_eq!(pacers(swept, &[&setting]), expected, "{setting}");
    }
}

#[test]
fn scheme_value_of_a_swept_key_is_read() {
    let file = format!("{GOOD}{SCHEMES}").replace("\"950Mbps\"", "\"950Mbqs\"");
    let swept = "[sweep]\n\"switch.phantom_queue.drain\" = [\"900Mbps\", \"800Mbps\"]\n";
    let error = expand(&format!("{file}{swept}"), "my.toml", &[]).expect_err("a wrong unit");
    let message = error.to_string();
    assert!(
        message.contains("switch.phantom_queue.drain: \"950Mbqs\""),
        "{message}"
    );
    assert!(message.contains("(scheme hull)"), "{message}");
}

#[test]
fn named_scheme_gets_a_missing_table() {
    let found = pacers(
        "",
        &["schemes.dctcp.pacer={update_interval=\"3us\",beta=7}"],
    );
    assert_eq!(found[..2], [None, Some((3 * US, 7))]);
    assert_eq!(found[2].map(|hull| hull.1), Some(20));
    let found = pacers(
        "",
        &["schemes.hull.pacer.beta=9", "pacer.update_interval=3us"],
    );
    assert_eq!(found, [None, None, Some((3 * US, 9))]);
    let resolved = schemes("", &["schemes.hull.pacer.beta=9"]);
    assert!(resolved.iter().all(|scenario| scenario.schemes.is_empty()));
}

#[test]
fn key_in_no_scheme_sets_the_base_scenario() {
    let of = |scenarios: Vec<Scenario>| -> Vec<bool> {
        scenarios.iter().map(|s| s.host.receive.is_some()).collect()
    };
    assert_eq!(of(schemes("", &["host.receive.frames=4"])), [true; 3]);
    assert_eq!(of(schemes("", &["host.receive={frames=4}"])), [true; 3]);
    let alone = |setting: &str| {
        let cells = expand(GOOD, "my.toml", &[setting.to_owned()]);
        cells.map(|cells| cells[0].scenario.pacer.as_ref().and_then(|p| p.beta))
    };
    assert_eq!(alone("pacer={beta=7}"), Ok(Some(7)));
    assert_eq!(alone("pacer.beta=7"), Ok(Some(7)));
}

/// Every scenario has a transport, whether or not the scheme writes `transport`.
#[test]
fn mandatory_sections_exist_implicitly() {
    for setting in ["transport.max_window=77", "transport={max_window=77}"] {
        let found = schemes("", &[setting]);
        assert!(
            found.iter().all(|s| s.transport.max_window == 77),
            "{setting}"
        );
        let ecn: Vec<bool> = found.iter().map(|s| s.transport.ecn).collect();
        assert_eq!(ecn, [false, true, true], "{setting}");
    }
}
