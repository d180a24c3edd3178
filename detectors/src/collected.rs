//! What a detector has found and could not look at, until somebody takes it.

use std::hash::Hash;

use bugaroo_ptx::op::AtomOp;
use bugaroo_semantics::event::AccessKind;
use rustc_hash::FxHashMap;

use crate::finding::{Finding, Warning};

/// An atomic of which the detector has not kept which operation it was.
pub const SOME_ATOMIC: AccessKind = AccessKind::Atomic(AtomOp::Add);

/// Findings, each key once with a count, and warnings.
#[derive(Debug)]
pub struct Collected<K> {
    findings: Vec<Finding>,
    known: FxHashMap<K, usize>,
    warnings: Vec<Warning>,
    warned: Vec<&'static str>,
}

impl<K> Default for Collected<K> {
    fn default() -> Collected<K> {
        Collected {
            findings: Vec::new(),
            known: FxHashMap::default(),
            warnings: Vec::new(),
            warned: Vec::new(),
        }
    }
}

impl<K: Hash + Eq> Collected<K> {
    /// Something was found so often. The finding is asked for where its key is new since somebody took the others.
    pub fn add(&mut self, key: K, count: u64, finding: impl FnOnce() -> Finding) {
        match self.known.get(&key) {
            Some(at) => self.findings[*at].count += count,
            None => {
                self.known.insert(key, self.findings.len());
                self.findings.push(Finding { count, ..finding() });
            }
        }
    }

    /// Something could not be looked at: one sentence without its end, and how often.
    pub fn warn(&mut self, what: &str, count: u64) {
        match self.warnings.iter_mut().find(|warning| warning.what == what) {
            Some(warning) => warning.count += count,
            None => self.warnings.push(Warning { what: what.to_owned(), count }),
        }
    }

    /// As [`Collected::warn`], once for all times.
    pub fn warn_once(&mut self, what: &'static str) {
        if !self.warned.contains(&what) {
            self.warned.push(what);
            self.warn(what, 1);
        }
    }

    /// What was found since the last call.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        self.known.clear();
        std::mem::take(&mut self.findings)
    }

    /// What was warned of since the last call.
    pub fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }
}
