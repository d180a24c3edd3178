//! A test of a file, with what a table says of it.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::FileFault;
use crate::files::read;
use crate::key::OutcomeKey;
use crate::outcomes::{KnownOutcomes, OutcomeTable};
use crate::parse::parse;
use crate::test::Test;
use crate::verdict::keys;

/// A test that can be run.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its file.
    pub path: PathBuf,
    /// What it says.
    pub test: Test,
    /// What a table says of it.
    pub known: Option<KnownOutcomes>,
    /// What its final states are told by.
    pub keys: Vec<OutcomeKey>,
}

/// A test that was not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Its file.
    pub path: PathBuf,
    /// It is one, but has something that this version does not.
    pub unsupported: bool,
    /// Why, with the path.
    pub error: String,
}

impl Case {
    pub(crate) fn read(path: &Path, table: Option<&OutcomeTable>) -> Result<Case, Skipped> {
        let skipped = |unsupported, error: String| Skipped { path: path.to_owned(), unsupported, error };
        let name = path.display();
        let bytes = read(path).map_err(|error| skipped(false, format!("{name}: {error}")))?;
        let text = String::from_utf8(bytes).map_err(|_| skipped(false, format!("{name}: it is no text")))?;
        // `PATH:LINE:COLUMN: …`, which editors find.
        let test = parse(&text)
            .map_err(|error| skipped(error.fault == FileFault::Unsupported, format!("{name}:{error}")))?;
        let known = table.and_then(|table| table.get(&test.name)).cloned();
        let keys = keys(&test, known.as_ref()).map_err(|error| skipped(false, format!("{name}: {error}")))?;
        Ok(Case { path: path.to_owned(), test, known, keys })
    }
}
