//! What launches of a kernel have in common: all that is taken for known when they are verified together.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use bugaroo_protocol::RecordedLaunch;

use super::collected::Seen;

/// A distinct launch.
pub(super) type One<'a> = (&'a RecordedLaunch, Seen);

/// What some launches have in common. Beyond that they agree in module, kernel, block, cluster and dynamic shared memory.
#[derive(Clone, Debug)]
pub(super) struct Common<'a> {
    pub first: &'a RecordedLaunch,
    pub grid: Option<[u32; 3]>,
    /// Bytes of the parameters in which they differ.
    pub open: Vec<Range<usize>>,
    /// Variables in constant memory, by name: the digest of what each holds; None where launches differ in it.
    pub constants: BTreeMap<&'a str, Option<&'a str>>,
    /// Variables in global memory of which nothing is known, in some launch at least.
    pub changed: BTreeSet<&'a str>,
    /// Tensor maps that copy alike in all of them.
    pub tensors: Vec<(u32, u32)>,
    /// They differ in constants, changed variables or tensor maps.
    pub differs_in_memory: bool,
}

impl<'a> Common<'a> {
    /// Of these launches; None where there are none.
    pub fn of(launches: &[One<'a>]) -> Option<Common<'a>> {
        let (first, _) = *launches.first()?;
        let all = || launches.iter().map(|(launch, _)| *launch);
        let mut constants = BTreeMap::new();
        for (name, digest) in all().flat_map(|launch| &launch.constants) {
            constants.entry(name.as_str()).or_insert(Some(digest.as_str()));
        }
        for (name, digest) in &mut constants {
            let same = |launch: &RecordedLaunch| {
                launch.constants.iter().any(|(other, held)| other == name && Some(held.as_str()) == *digest)
            };
            if !all().all(same) {
                *digest = None;
            }
        }
        let in_all = |tensor: &&(u32, u32)| all().all(|launch| launch.tensors.contains(tensor));
        Some(Common {
            first,
            grid: Some(first.grid).filter(|grid| all().all(|launch| launch.grid == *grid)),
            open: differing(launches),
            constants,
            changed: all().flat_map(|launch| launch.changed.iter().map(String::as_str)).collect(),
            tensors: first.tensors.iter().filter(in_all).copied().collect(),
            differs_in_memory: !all().all(|launch| memory(launch) == memory(first)),
        })
    }

    /// Whether the launches do not differ at all.
    pub fn is_exact(&self) -> bool {
        self.grid.is_some() && self.open.is_empty() && !self.differs_in_memory
    }
}

/// What is in memory at a launch.
pub(super) fn memory(launch: &RecordedLaunch) -> impl Ord + '_ {
    (&launch.constants, &launch.changed, &launch.tensors)
}

/// Bytes of the parameters that are not the same in all launches.
fn differing(launches: &[One<'_>]) -> Vec<Range<usize>> {
    let longest = launches.iter().map(|(launch, _)| launch.params.0.len()).max().unwrap_or(0);
    let mut found: Vec<Range<usize>> = Vec::new();
    for at in 0..longest {
        let mut bytes = launches.iter().map(|(launch, _)| launch.params.0.get(at));
        let first = bytes.next().flatten();
        if bytes.all(|byte| byte == first) {
            continue;
        }
        match found.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => found.push(at..at + 1),
        }
    }
    found
}

/// Launches parted by what `of` says of them, in the order of the first of each part.
pub(super) fn parted<'a, K: Ord>(
    launches: &[One<'a>],
    of: impl Fn(&'a RecordedLaunch) -> K,
) -> Vec<Vec<One<'a>>> {
    let mut places: BTreeMap<K, usize> = BTreeMap::new();
    let mut parts: Vec<Vec<One<'a>>> = Vec::new();
    for one in launches {
        let place = *places.entry(of(one.0)).or_insert(parts.len());
        if place == parts.len() {
            parts.push(Vec::new());
        }
        parts[place].push(*one);
    }
    parts
}
