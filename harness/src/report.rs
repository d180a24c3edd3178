//! What the driver said in one trial, summed up as it comes in: a program may launch millions of
//! kernels, so nothing is kept per launch.
//!
//! A line that is no message is counted and passed over: a program that was killed leaves half a line,
//! and processes of one program may write across each other.

use std::collections::{BTreeMap, BTreeSet};

use bugaroo_protocol::{
    FlushLengths, Launch, LaunchCounts, LaunchEnd, Message, ModuleReport, Placed, StaleRead, VERSION,
};
use serde::{Deserialize, Serialize};

use crate::conflicts::Conflicts;
use crate::incident::{FailedLaunch, Incidents};
use crate::launches::collected::Collected;
use crate::oracle::memory::MemoryEnds;
use crate::race::trial::Gathered;

/// Longest line taken; a longer one is passed over.
const LONGEST_LINE: usize = 256 << 20;

/// How often a kernel was launched, and what that executed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelUse {
    /// Launches.
    pub launches: u64,
    /// Place of the first of them among all launches of the trial, from 0.
    pub first_launch: u64,
    /// What they executed, all together; of `buffer_bytes` the largest.
    pub counts: LaunchCounts,
}

/// Adds what was executed to what was executed before; of `buffer_bytes` the larger stays, as buffers of
/// one launch are given back before the next.
pub fn add_counts(sum: &mut LaunchCounts, more: &LaunchCounts) {
    // Taken apart, so that no count is ever forgotten here.
    let LaunchCounts {
        warp_instructions,
        thread_instructions,
        delayed_stores,
        fences,
        barriers,
        shared_stores,
        global_stores,
        flush_lengths: FlushLengths { global, shared },
        buffer_bytes,
        forgotten,
    } = more;
    sum.warp_instructions += warp_instructions;
    sum.thread_instructions += thread_instructions;
    sum.delayed_stores += delayed_stores;
    sum.fences += fences;
    sum.barriers += barriers;
    sum.shared_stores += shared_stores;
    sum.global_stores += global_stores;
    for (lengths, more) in [(&mut sum.flush_lengths.global, global), (&mut sum.flush_lengths.shared, shared)]
    {
        for (&length, count) in more {
            *lengths.entry(length).or_default() += count;
        }
    }
    sum.buffer_bytes = sum.buffer_bytes.max(*buffer_bytes);
    sum.forgotten += forgotten;
}

/// Kinds of stale reads that are kept of a trial.
const MOST_STALE: usize = 64;

/// Things that launches have shown that are kept of a trial.
const MOST_COVERAGE: usize = 1 << 14;

/// The sum of a trial's messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Version of the driver that spoke; None: the program never initialised it.
    pub driver: Option<u32>,
    /// Modules, as they were first loaded: one for each number.
    pub modules: Vec<ModuleReport>,
    /// What insertions become in these, where they were asked.
    pub placed: BTreeMap<u32, Vec<Placed>>,
    /// Kernels that were launched.
    pub kernels: BTreeMap<String, KernelUse>,
    /// Launches.
    pub launches: u64,
    /// Most warp instructions of any launch.
    pub largest_launch: u64,
    /// Stores that were delayed, over all launches.
    pub delayed_stores: u64,
    /// Writes that model `ptx` forgot for lack of memory, over all launches.
    pub forgotten: u64,
    /// What its memory held at the end, where that was asked.
    pub ends: MemoryEnds,
    /// Digest of device memory after the last launch.
    pub digest: Option<String>,
    /// Loads that read older values than memory held, of the first launches that had such.
    pub stale_reads: Vec<StaleRead>,
    /// Accesses whose order nothing settles.
    pub conflicts: Conflicts,
    /// What its launches have shown.
    pub coverage: BTreeSet<u32>,
    /// How often there was something for which these had no room.
    pub more_coverage: u64,
    /// Instructions that met others.
    pub meetings: BTreeSet<u32>,
    /// What its detectors told.
    pub races: Gathered,
    /// Launches as they were, where they were recorded.
    pub recorded: Collected,
    /// The first launch that did not complete: of those that left threads waiting, or else of all.
    pub failed_launch: Option<FailedLaunch>,
    /// Errors of launches, each once.
    pub incidents: Incidents,
    /// The first thing that the driver cannot do.
    pub unsupported: Option<String>,
    /// The first panic in the driver.
    pub panicked: Option<String>,
    /// What the driver said at the first launch, where it was asked: what forbids to fork the program there,
    /// if anything, and how many bytes it had written.
    pub first_launch: Option<Option<String>>,
    /// Lines that were no messages.
    pub unreadable_lines: u64,
}

impl Report {
    /// Takes a message; answers whether it tells of device work.
    fn take(&mut self, message: Message) -> bool {
        let works = matches!(message, Message::Launch(_) | Message::Progress);
        match message {
            Message::Hello { version, .. } => {
                // One of another version decides: its other messages cannot be trusted.
                if self.driver.is_none_or(|seen| seen == VERSION) {
                    self.driver = Some(version);
                }
            }
            // A program may load the same text over and over.
            Message::Module(module) => {
                match self.modules.iter_mut().find(|seen| seen.module == module.module) {
                    Some(seen) => seen.sites = seen.sites.take().or(module.sites),
                    None => self.modules.push(module),
                }
            }
            Message::Progress => {}
            Message::Ends { ends, last } => self.ends.take(ends, last),
            Message::Races(races) => self.races.take(races),
            Message::Placed { module, placed } => {
                self.placed.entry(module).or_insert(placed);
            }
            Message::Panicked { what } => {
                self.panicked.get_or_insert(what);
            }
            Message::FirstLaunch { cannot_fork } => {
                self.first_launch.get_or_insert(cannot_fork);
            }
            Message::Launch(launch) => self.take_launch(launch),
            Message::ModuleText { digest, text } => self.recorded.text(digest, text),
            Message::VariableBytes { digest, bytes } => self.recorded.content(digest, bytes.0),
            Message::Recorded(launch) => self.recorded.launch(launch),
            Message::Unsupported { what } => {
                self.recorded.refuse(&what);
                self.unsupported.get_or_insert(what);
            }
        }
        works
    }

    fn take_launch(&mut self, launch: Launch) {
        self.largest_launch = self.largest_launch.max(launch.counts.warp_instructions);
        self.delayed_stores += launch.counts.delayed_stores;
        self.forgotten += launch.counts.forgotten;
        if launch.digest.is_some() {
            self.digest = launch.digest;
        }
        self.conflicts.take(launch.conflicts, launch.more_conflicts);
        self.more_coverage += launch.more_coverage;
        let room = MOST_COVERAGE.saturating_sub(self.meetings.len());
        self.meetings.extend(launch.meetings.into_iter().take(room));
        for thing in launch.coverage {
            if self.coverage.len() < MOST_COVERAGE {
                self.coverage.insert(thing);
            } else if !self.coverage.contains(&thing) {
                self.more_coverage += 1;
            }
        }
        let room = MOST_STALE.saturating_sub(self.stale_reads.len());
        self.stale_reads.extend(launch.stale_reads.into_iter().take(room));
        if launch.end != LaunchEnd::Complete {
            let failed =
                FailedLaunch { ordinal: launch.ordinal, kernel: launch.kernel.clone(), end: launch.end };
            self.incidents.take(&failed);
            let is_fault = |failed: &FailedLaunch| matches!(failed.end, LaunchEnd::Fault(_));
            if self.failed_launch.as_ref().is_none_or(|first| is_fault(first) && !is_fault(&failed)) {
                self.failed_launch = Some(failed);
            }
        }
        let first_launch = self.launches;
        self.launches += 1;
        let first = || KernelUse { first_launch, ..KernelUse::default() };
        let kernel = self.kernels.entry(launch.kernel).or_insert_with(first);
        kernel.launches += 1;
        add_counts(&mut kernel.counts, &launch.counts);
    }
}

/// Puts the pieces that come out of a pipe together to a report.
#[derive(Clone, Debug, Default)]
pub struct ReportReader {
    line: Vec<u8>,
    too_long: bool,
    report: Report,
}

impl ReportReader {
    /// Takes what came next; answers whether any of it tells of device work.
    pub fn push(&mut self, mut bytes: &[u8]) -> bool {
        let mut works = false;
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            self.extend(&bytes[..end]);
            works |= self.end_line();
            bytes = &bytes[end + 1..];
        }
        self.extend(bytes);
        works
    }

    /// No more will come.
    pub fn finish(mut self) -> Report {
        if !self.line.is_empty() || self.too_long {
            self.end_line();
        }
        self.report
    }

    fn extend(&mut self, bytes: &[u8]) {
        if self.line.len() + bytes.len() > LONGEST_LINE {
            self.too_long = true;
        }
        if !self.too_long {
            self.line.extend_from_slice(bytes);
        }
    }

    fn end_line(&mut self) -> bool {
        let works = match serde_json::from_slice(&self.line) {
            Ok(message) if !self.too_long => self.report.take(message),
            _ => {
                self.report.unreadable_lines += 1;
                false
            }
        };
        self.line.clear();
        self.too_long = false;
        works
    }
}

#[cfg(test)]
mod tests;
