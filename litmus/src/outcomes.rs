//! Tables of what a memory model allows: `outcomes.json`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

/// What a table says about a test.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct KnownOutcomes {
    /// Registers (`P1:r0`) and locations (`x`) that final states are told by.
    pub keys: Vec<String>,
    /// Every final state that the model allows.
    pub allowed: Vec<Vec<u64>>,
    /// Those of them that no sequentially consistent interleaving gives.
    #[serde(default)]
    pub weak: Vec<Vec<u64>>,
    /// What the test's own condition is: `forbidden`, `allowed-weak` or `allowed-sc`.
    #[serde(default)]
    pub target: Option<ConditionTarget>,
}

/// What the final states of a test's own condition are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConditionTarget {
    /// The model forbids them.
    Forbidden,
    /// The model allows them; no interleaving gives them.
    AllowedWeak,
    /// Some interleaving gives them.
    AllowedSc,
}

impl ConditionTarget {
    /// As in the table.
    pub fn name(self) -> &'static str {
        match self {
            ConditionTarget::Forbidden => "forbidden",
            ConditionTarget::AllowedWeak => "allowed-weak",
            ConditionTarget::AllowedSc => "allowed-sc",
        }
    }
}

/// A table, by the names of tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct OutcomeTable {
    tests: BTreeMap<String, KnownOutcomes>,
}

impl OutcomeTable {
    /// Reads a table.
    ///
    /// # Errors
    /// When it is none, with the place.
    pub fn parse(json: &str) -> Result<OutcomeTable, String> {
        let table: OutcomeTable = serde_json::from_str(json).map_err(|error| error.to_string())?;
        for (name, known) in &table.tests {
            let states = known.allowed.iter().chain(&known.weak);
            if let Some(state) = states.into_iter().find(|state| state.len() != known.keys.len()) {
                return Err(format!("{name}: {state:?} has not as many values as there are keys"));
            }
        }
        Ok(table)
    }

    /// Reads a table's file.
    ///
    /// # Errors
    /// When it cannot be read, or is none.
    pub fn read(path: &Path) -> Result<OutcomeTable, String> {
        crate::files::read(path)
            .map_err(|error| error.to_string())
            .and_then(|bytes| String::from_utf8(bytes).map_err(|_| "it is no text".to_owned()))
            .and_then(|text| OutcomeTable::parse(&text))
            .map_err(|error| format!("{}: {error}", path.display()))
    }

    /// What it says about a test.
    pub fn get(&self, name: &str) -> Option<&KnownOutcomes> {
        self.tests.get(name)
    }

    /// All of it.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &KnownOutcomes)> {
        self.tests.iter().map(|(name, known)| (name.as_str(), known))
    }

    /// Number of tests.
    pub fn len(&self) -> usize {
        self.tests.len()
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }
}
