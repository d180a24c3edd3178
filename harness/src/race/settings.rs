//! The file of settings for HiRace and ScoRD ([`bugaroo_protocol::RaceSettings`]).

use std::path::Path;

use bugaroo_protocol::RaceSettings;
use regex::Regex;
use serde::Deserialize;
use toml::Spanned;

use crate::user_file::{self, FileError, Text};

/// Where the regular expressions stand.
#[derive(Deserialize)]
struct Places {
    #[serde(default)]
    watch: Watch,
}

#[derive(Default, Deserialize)]
struct Watch {
    #[serde(default)]
    kernels: Vec<Spanned<String>>,
}

/// Reads the file.
///
/// # Errors
/// When it cannot be read, or something in it is wrong.
pub fn settings(path: &Path) -> Result<RaceSettings, FileError> {
    parse(path, &user_file::read("--detector-config", path)?)
}

fn parse(path: &Path, text: &str) -> Result<RaceSettings, FileError> {
    let file = Text { path, text };
    let settings: RaceSettings = file.parse()?;
    let places: Places = file.parse()?;
    for pattern in places.watch.kernels {
        if let Err(error) = Regex::new(pattern.get_ref()) {
            return Err(file.wrong(pattern.span(), error.to_string()));
        }
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_their_line() {
        for (text, line, part) in [
            ("[watch\n", 1, "unclosed table"),
            ("[watch]\nblocks = [\"1\"]\nkernel = []\n", 3, "unknown field `kernel`"),
            ("[watch]\nblocks = [\n  \"1\",\n  \"9..3\",\n]\n", 2, "'9..3'"),
            ("[watch]\n\nkernels = [\"^a\",\n  \"(\"]\n", 4, "unclosed group"),
            ("[limits]\nshadow = \"1Q\"\n", 2, "no unit"),
            ("[scord]\nlayout = { block = 9, bloom = 5 }\n", 2, "bloom"),
            ("[scord]\ncache = \"four\"\n", 2, "invalid type"),
        ] {
            let error = parse("s.toml".as_ref(), text).unwrap_err().to_string();
            let start = format!("s.toml:{line}: ");
            assert!(error.starts_with(&start) && error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn an_empty_file_says_nothing() {
        assert!(parse("s.toml".as_ref(), "").unwrap().is_default());
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = settings("/no/such.toml".as_ref()).unwrap_err().to_string();
        assert!(error.starts_with("--detector-config /no/such.toml: "), "{error}");
    }
}
