//! What a program's driver has told of its launches: each distinct one once, with how often it was.

use std::collections::BTreeMap;

use bugaroo_protocol::RecordedLaunch;

/// Distinct launches that are kept; a program may make millions, each with pointers of its own.
const MOST: usize = 100_000;
/// Things that the driver could not do that are kept.
const MOST_REFUSED: usize = 100;

/// When a launch was first seen, and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Its place among all launches, from 0.
    pub first: u64,
    /// How often it was made.
    pub count: u64,
}

/// All launches of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collected {
    /// Modules' texts by their digests.
    pub(super) texts: BTreeMap<String, String>,
    /// What variables held, by the digests.
    pub(super) contents: BTreeMap<String, Vec<u8>>,
    pub(super) launches: BTreeMap<RecordedLaunch, Seen>,
    /// Launches that differ from all that are kept, by kernel.
    pub(super) more: BTreeMap<String, u64>,
    total: u64,
    /// What the driver could not do, in its words, each once.
    pub(super) refused: Vec<String>,
}

impl Collected {
    /// How many launches there were of these kernels; None: of all.
    pub fn of(&self, kernels: Option<&[String]>) -> u64 {
        let Some(kernels) = kernels else { return self.total };
        let is_one = |kernel: &String| kernels.contains(kernel);
        let kept = self.launches.iter().filter(|(launch, _)| is_one(&launch.kernel));
        let more = self.more.iter().filter(|(kernel, _)| is_one(kernel));
        kept.map(|(_, seen)| seen.count).sum::<u64>() + more.map(|(_, count)| count).sum::<u64>()
    }

    /// Takes them away, to be verified.
    pub fn take(&mut self) -> Collected {
        std::mem::take(self)
    }

    /// Names of the kernels that were launched, in order of the names.
    pub fn kernels(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.launches.keys().map(|launch| launch.kernel.as_str()).collect();
        names.extend(self.more.keys().map(String::as_str));
        names.sort_unstable();
        names.dedup();
        names
    }

    pub(crate) fn text(&mut self, digest: String, text: String) {
        self.texts.entry(digest).or_insert(text);
    }

    pub(crate) fn content(&mut self, digest: String, bytes: Vec<u8>) {
        self.contents.entry(digest).or_insert(bytes);
    }

    pub(crate) fn launch(&mut self, launch: RecordedLaunch) {
        let first = self.total;
        self.total += 1;
        if self.launches.len() < MOST || self.launches.contains_key(&launch) {
            self.launches.entry(launch).or_insert(Seen { first, count: 0 }).count += 1;
        } else {
            *self.more.entry(launch.kernel).or_default() += 1;
        }
    }

    pub(crate) fn refuse(&mut self, what: &str) {
        if self.refused.len() < MOST_REFUSED && !self.refused.iter().any(|known| known == what) {
            self.refused.push(what.to_owned());
        }
    }
}
