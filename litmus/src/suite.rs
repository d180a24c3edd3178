//! Tests from files, each with what a table says of it, run together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::case::{Case, Skipped};
use crate::error::RunError;
use crate::files::{find, table_for};
use crate::options::Options;
use crate::outcomes::OutcomeTable;
use crate::report::{LitmusReport, TestReport};
use crate::run::{SeenOutcomes, TestJob, run};
use crate::verdict::TestVerdict;

/// Many tests.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    /// Those that can be run.
    pub cases: Vec<Case>,
    /// Those that cannot.
    pub skipped: Vec<Skipped>,
}

impl Suite {
    /// Reads the tests that these paths name, and the tables: this one for all of them, or that of each
    /// ([`table_for`]).
    ///
    /// # Errors
    /// When a path or a table cannot be read, or there is no test at all. A test that is none, or that has something
    /// that this version does not, is [`Suite::skipped`].
    pub fn read(paths: &[PathBuf], outcomes: Option<&Path>) -> Result<Suite, String> {
        let given = outcomes.map(OutcomeTable::read).transpose()?.map(Arc::new);
        let mut tables: BTreeMap<PathBuf, Arc<OutcomeTable>> = BTreeMap::new();
        let mut files = Vec::new();
        for path in paths {
            let found = find(path).map_err(|error| error.to_string())?;
            if found.is_empty() {
                return Err(format!("{}: there is no .litmus file in it", path.display()));
            }
            // The same file may be named twice.
            files.extend(found.into_iter().filter(|file| !files.contains(file)).collect::<Vec<_>>());
        }
        let mut suite = Suite::default();
        for path in files {
            let table = match (&given, table_for(&path)) {
                (Some(given), _) => Some(Arc::clone(given)),
                (None, None) => None,
                (None, Some(at)) => {
                    if !tables.contains_key(&at) {
                        tables.insert(at.clone(), Arc::new(OutcomeTable::read(&at)?));
                    }
                    tables.get(&at).cloned()
                }
            };
            match Case::read(&path, table.as_deref()) {
                Ok(case) => suite.cases.push(case),
                Err(skipped) => suite.skipped.push(skipped),
            }
        }
        Ok(suite)
    }

    /// Runs all of it. `done` is told how many tests are through.
    pub fn run(&self, options: &Options, stop: &AtomicBool, done: &(dyn Fn(usize) + Sync)) -> LitmusReport {
        let start = Instant::now();
        let jobs: Vec<_> =
            self.cases.iter().map(|case| TestJob { test: &case.test, keys: &case.keys }).collect();
        let through = std::sync::atomic::AtomicUsize::new(0);
        let count = |_: usize, _: &Result<SeenOutcomes, RunError>| {
            done(through.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1);
        };
        let seen = run(&jobs, options, stop, &count);
        let seconds = start.elapsed().as_secs_f64();
        let mut skipped = self.skipped.clone();
        let mut tests = Vec::new();
        for (case, seen) in self.cases.iter().zip(seen) {
            match seen {
                Ok(seen) if seen.trials > 0 => {
                    let verdict = TestVerdict::new(&case.test, &case.keys, case.known.as_ref(), &seen);
                    tests.push(TestReport::new(case, &verdict));
                }
                // Nothing was run of it: stopped before.
                Ok(_) => {}
                Err(error) => skipped.push(Skipped {
                    path: case.path.clone(),
                    unsupported: matches!(error, RunError::Unsupported(_)),
                    error: format!("{}: {error}", case.path.display()),
                }),
            }
        }
        LitmusReport::new(tests, skipped, options, seconds)
    }
}
