//! What is meant where a value of a plan is of the wrong kind: the key as it is written right.

use std::sync::LazyLock;

use bugaroo_harness::user_file::{FileError, Text};
use regex::Regex;

/// Keys, with what stands behind them.
const KEYS: &[(&str, &str)] = &[
    ("name", "\"app\""),
    ("run", "[\"./app\", \"argument\"]"),
    ("directory", "\".\""),
    ("environment", "{ OMP_NUM_THREADS = \"1\" }"),
    ("build", "\"make app\""),
    ("build-timeout", "\"30m\""),
    ("stdin", "\"input.txt\""),
    ("models", "[\"store-buffer\", \"ptx\"]"),
    ("pw", "[0.5]"),
    ("pr", "[0.5]"),
    ("buffer", "[256]"),
    ("schedulers", "[\"random\"]"),
    ("kernel", "\"name.*\""),
    ("warp-synchronous", "true"),
    ("devices", "1"),
    ("ignore-faults", "true"),
    ("trials", "1000"),
    ("budget", "\"5m\""),
    ("explore", "true"),
    ("detectors", "[\"ptx\"]"),
    ("race-trials", "20"),
    ("suppressions", "[\"races.toml\"]"),
    ("verify", "true` or `verify = [\"kernel.*\"]"),
    ("oracle", "\"exit\""),
    ("ignore-lines", "[\"^time\"]"),
    ("tolerance", "1e-5"),
    ("timeout", "{ factor = 50, floor = \"60s\" }"),
    ("factor", "50"),
    ("floor", "\"60s\""),
    ("seed", "1"),
    ("jobs", "4"),
    ("database", "\"nightly.sqlite\""),
    ("reports", "\"nightly-reports\""),
    ("disk", "\"2G\""),
    ("search", "true"),
    ("finding", "\"wrong-result\""),
    ("model", "\"ptx\""),
    ("place", "\"kernel.cu:41\""),
    ("reason", "\"ticket 123\""),
    ("until", "2027-01-31"),
    ("shards", "8"),
    ("partition", "\"gpu\""),
    ("gres", "\"gpu:1\""),
    ("time", "\"02:00:00\""),
    ("memory", "\"8G\""),
    ("cpus", "4"),
    ("account", "\"name\""),
    ("qos", "\"name\""),
    ("options", "[\"--exclusive\"]"),
    ("at-a-time", "4"),
    ("folder", "\"shards\""),
];

/// Tables as they are written.
const TABLES: &[(&str, &str)] = &[
    ("night", "one table, [night], with one bracket"),
    ("defaults", "one table, [defaults], with one bracket"),
    ("program", "a list of tables: [[program]], with two brackets, for each program"),
    ("expect", "a list of tables: [[program.expect]], with two brackets, for each finding"),
    // In other places it is a key of a program.
    ("explore", "one table, [explore], with one bracket; of a program it is `explore = true`"),
    ("slurm", "one table, [slurm], with one bracket"),
];

/// The same error, with what is meant where a value is of the wrong kind.
pub fn meant(text: Text<'_>, error: FileError) -> FileError {
    let FileError::Wrong { path, line, what } = error else { return error };
    let what = said(text.text, line, &what).unwrap_or(what);
    FileError::Wrong { path, line, what }
}

/// What to say of an error of this kind; None: it says enough.
fn said(text: &str, line: usize, what: &str) -> Option<String> {
    let given = match what.strip_prefix("invalid type: ").or(what.strip_prefix("invalid value: ")) {
        Some(rest) => rest.split_once(", expected").map_or(rest, |(given, _)| given),
        None if what.starts_with("data did not match any variant") => "",
        None => return None,
    };
    let (key, headed) = named(text, line)?;
    if let Some((_, wanted)) =
        TABLES.iter().find(|(known, _)| *known == key).filter(|_| headed || key != "explore")
    {
        return Some(format!("`{key}` is {wanted}"));
    }
    let (_, example) = KEYS.iter().find(|(known, _)| *known == key)?;
    // What a large number must be below is told by its type alone.
    let most = if what.ends_with("expected u16") { ", at most 65535" } else { "" };
    Some(format!("`{key}` cannot be {}: `{key} = {example}` is wanted{most}", readable(given)))
}

/// Its kind, as a person calls it.
fn readable(given: &str) -> String {
    match given {
        "map" => "a table".to_owned(),
        "sequence" => "a list".to_owned(),
        "" => "what stands there".to_owned(),
        given => given
            .strip_prefix("integer")
            .or(given.strip_prefix("floating point"))
            .map_or_else(|| format!("the {given}"), |number| format!("the number{number}")),
    }
}

/// The key that a line belongs to, or the table, and whether it is that: the last one up to there that is known.
fn named(text: &str, line: usize) -> Option<(&str, bool)> {
    static KEY: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\s*(?:\[+\s*([A-Za-z0-9_.-]+)\s*\]|([A-Za-z0-9_.-]+)\s*=)")
            .expect("the expression is constant")
    });
    let known = |key: &str| {
        KEYS.iter().any(|(known, _)| *known == key) || TABLES.iter().any(|(known, _)| *known == key)
    };
    let lines: Vec<&str> = text.lines().take(line).collect();
    lines.into_iter().rev().find_map(|line| {
        let found = KEY.captures(line)?;
        let (name, headed) = match (found.get(1), found.get(2)) {
            (Some(table), _) => (table.as_str(), true),
            (None, key) => (key?.as_str(), false),
        };
        let last = name.rsplit('.').next()?;
        known(last).then_some((last, headed))
    })
}
