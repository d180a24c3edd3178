//! What a detector has found and could not look at, until somebody takes it.

use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::finding::{RaceFinding, Warning};

/// Findings, each key once with a count, and warnings.
#[derive(Debug)]
pub struct Collected<K> {
    findings: Vec<RaceFinding>,
    known: FxHashMap<K, usize>,
    warnings: Vec<Warning>,
    warned: Vec<&'static str>,
    limit: Option<Limit<K>>,
}

/// How many different findings there may be, over all times.
#[derive(Debug)]
struct Limit<K> {
    most: u64,
    told: FxHashSet<K>,
    /// What to say of the others.
    warning: &'static str,
}

impl<K> Default for Collected<K> {
    fn default() -> Collected<K> {
        Collected {
            findings: Vec::new(),
            known: FxHashMap::default(),
            warnings: Vec::new(),
            warned: Vec::new(),
            limit: None,
        }
    }
}

impl<K: Hash + Eq + Copy> Collected<K> {
    /// Keeps so many different findings, over all times, and warns of others so.
    pub fn limit(&mut self, most: u64, warning: &'static str) {
        self.limit = Some(Limit { most, told: FxHashSet::default(), warning });
    }

    /// Whether a finding that is new since somebody took the others has room.
    fn has_room(&mut self, key: K) -> bool {
        let Some(limit) = &mut self.limit else { return true };
        let room = limit.told.contains(&key) || (limit.told.len() as u64) < limit.most;
        if room {
            limit.told.insert(key);
        }
        room
    }

    /// Something was found so often. The finding is asked for where its key is new since somebody took the others.
    pub fn add(&mut self, key: K, count: u64, finding: impl FnOnce() -> RaceFinding) {
        if let Some(at) = self.known.get(&key) {
            self.findings[*at].count += count;
        } else if self.has_room(key) {
            self.known.insert(key, self.findings.len());
            self.findings.push(RaceFinding { count, ..finding() });
        } else if let Some(warning) = self.limit.as_ref().map(|limit| limit.warning) {
            self.warn(warning, count);
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
    pub fn take_findings(&mut self) -> Vec<RaceFinding> {
        self.known.clear();
        std::mem::take(&mut self.findings)
    }

    /// What was warned of since the last call.
    pub fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }
}
