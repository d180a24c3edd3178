//! What logs in SARIF have in common, whatever they tell of.
//!
//! Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".

use serde_json::{Value, json};

/// Where the format is defined.
pub const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// A rule whose results are errors.
pub fn rule(id: &str, text: &str) -> Value {
    json!({
        "id": id,
        "name": id,
        "shortDescription": { "text": text },
        "defaultConfiguration": { "level": "error" },
    })
}

/// A line of a file, counted from 1.
pub fn physical(path: &str, line: u32) -> Value {
    json!({
        "artifactLocation": { "uri": uri(path) },
        "region": { "startLine": line.max(1) },
    })
}

/// A path as a reference: what has a meaning in such is written by its number.
pub fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for &byte in path.as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b'+' => {
                uri.push(char::from(byte));
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}
