//! What a program executes, per kernel: Table II of the Bugaroo paper, and the data of its Figures 3 and 4.
//!
//! The counts are those of the session's baseline: a store that is delayed is not executed, and what the
//! injected code does is not the program's. The flush lengths are those of injected trials, summed up.
//! Instructions count once for each thread of the group that executes them, whether or not a thread's
//! guard holds; they and the spinning in them depend on the schedule, stores and fences mostly do not.
//!
//! What it misses: a launch that a trial's time limit cut off reports nothing, so the flushes of that launch
//! are not in the histogram.

use std::collections::{BTreeMap, BTreeSet};

use bugaroo_protocol::{FlushLengths, LaunchCounts, Site, SiteId, SiteKind, Variation};
use serde::Serialize;

use crate::error::Error;
use crate::outcome::Outcome;
use crate::progress::{ProgressEvent, Reporter};
use crate::report::{KernelUse, add_counts};
use crate::session::{Session, Stop};

/// What a program executes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// Injected trials that the flush lengths are of.
    pub trials: u64,
    /// How many of these did not pass. Theirs count as far as they got.
    pub failed_trials: u64,
    /// Whether the user stopped it before all trials were done.
    pub interrupted: bool,
    /// Kernels in the order of their first launch without injection; after them, by name, those that only
    /// injected trials launched.
    pub kernels: Vec<KernelProfile>,
    /// All of them together; its name is `total`.
    pub total: KernelProfile,
    /// What the user should know, one line each.
    pub warnings: Vec<String>,
}

/// What the launches of one kernel execute, together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KernelProfile {
    /// As the PTX names it.
    pub name: String,
    /// Launches.
    pub launches: u64,
    /// Thread instructions.
    pub dynamic_instructions: u64,
    /// Executions of fences by threads.
    pub fences: u64,
    /// Executions of CTA barriers by threads.
    pub barriers: u64,
    /// Executions of shared stores by threads.
    pub shared_stores: u64,
    /// Executions of global stores by threads.
    pub global_stores: u64,
    /// Fences that stand in the kernel itself. Of the total: also those in device functions that the
    /// launched kernels may call (any in their modules; who calls whom is not looked at).
    pub static_fences: u64,
    /// Stores that were delayed, in all trials together.
    pub delayed_stores: u64,
    /// How many entries buffers held when all of them drained, in all trials together.
    pub flush_lengths: FlushLengths,
    /// Most device memory that the store buffers of a launch took, bytes.
    pub buffer_bytes: u64,
}

impl Profile {
    /// Profiles a session's program: counts by its baseline, flush lengths by so many trials.
    ///
    /// # Errors
    /// When the variation names sites or kernels that are not the program's, or a trial cannot be run at
    /// all. A failing trial is no error; and when the user stops it, what was found comes back.
    pub async fn of(
        session: &Session,
        variation: &Variation,
        trials: u64,
        reporter: &dyn Reporter,
    ) -> Result<Self, Error> {
        session.check(variation).await?;
        let launched = &session.baseline().launched;
        let mut sums = Sums::default();
        if trials > 0 && !launched.is_empty() {
            let what = format!("p_w {}", variation.pw);
            reporter.report(ProgressEvent::BatchStarted { what: &what, trials });
            let on_end = |full: &crate::session::FullTrial| {
                sums.add(full.record.outcome != Outcome::Pass, &full.kernels);
                Ok(())
            };
            let done = session.full_trials_with(variation, 0..trials, Stop::Never, reporter, on_end).await;
            reporter.report(ProgressEvent::BatchEnded);
            match done {
                Ok(_) => {}
                Err(Error::Interrupted) => sums.interrupted = true,
                Err(error) => return Err(error),
            }
        }
        let sites = session.sites().await?;
        let mut profile = put_together(launched, &sums, sites);
        profile.warnings = warnings(&profile, variation);
        Ok(profile)
    }
}

/// What the trials say, summed up as they end, in whatever order.
#[derive(Debug, Default)]
struct Sums {
    trials: u64,
    failed: u64,
    interrupted: bool,
    kernels: BTreeMap<String, LaunchCounts>,
}

impl Sums {
    fn add(&mut self, failed: bool, kernels: &BTreeMap<String, KernelUse>) {
        self.trials += 1;
        self.failed += u64::from(failed);
        for (name, kernel) in kernels {
            add_counts(self.kernels.entry(name.clone()).or_default(), &kernel.counts);
        }
    }
}

fn put_together(launched: &BTreeMap<String, KernelUse>, sums: &Sums, sites: &[Site]) -> Profile {
    let mut order: Vec<&String> = launched.keys().collect();
    order.sort_by_key(|&name| launched[name].first_launch);
    order.extend(sums.kernels.keys().filter(|name| !launched.contains_key(*name)));
    let (without, with) = (KernelUse::default(), LaunchCounts::default());
    let kernel = |name: &&String| {
        let (without, with) =
            (launched.get(*name).unwrap_or(&without), sums.kernels.get(*name).unwrap_or(&with));
        let fences = fence_sites(sites, |site| site.in_kernel && site.function == **name);
        KernelProfile::new(name, without, with, fences.len())
    };
    let kernels: Vec<KernelProfile> = order.iter().map(kernel).collect();

    let (mut all_without, mut all_with) = (KernelUse::default(), LaunchCounts::default());
    for kernel in launched.values() {
        all_without.launches += kernel.launches;
        add_counts(&mut all_without.counts, &kernel.counts);
    }
    sums.kernels.values().for_each(|counts| add_counts(&mut all_with, counts));
    let reachable = fence_sites(sites, |site| may_run(site, sites, &order));
    Profile {
        trials: sums.trials,
        failed_trials: sums.failed,
        interrupted: sums.interrupted,
        total: KernelProfile::new("total", &all_without, &all_with, reachable.len()),
        kernels,
        warnings: Vec::new(),
    }
}

impl KernelProfile {
    fn new(name: &str, without: &KernelUse, with: &LaunchCounts, static_fences: usize) -> Self {
        Self {
            name: name.to_owned(),
            launches: without.launches,
            dynamic_instructions: without.counts.thread_instructions,
            fences: without.counts.fences,
            barriers: without.counts.barriers,
            shared_stores: without.counts.shared_stores,
            global_stores: without.counts.global_stores,
            static_fences: static_fences as u64,
            delayed_stores: with.delayed_stores,
            flush_lengths: with.flush_lengths.clone(),
            buffer_bytes: with.buffer_bytes,
        }
    }
}

/// Fence sites that fulfil a condition. A module that is loaded twice has its sites but once.
fn fence_sites(sites: &[Site], condition: impl Fn(&Site) -> bool) -> BTreeSet<SiteId> {
    let fences = sites.iter().filter(|site| site.kind == SiteKind::Fence);
    fences.filter(|site| condition(site)).map(|site| site.id).collect()
}

/// Whether a site is in a launched kernel, or in a device function that one may call: any, unless its
/// module's kernels are known and none of them is launched.
fn may_run(site: &Site, sites: &[Site], launched: &[&String]) -> bool {
    let runs = |site: &Site| launched.contains(&&site.function);
    if site.in_kernel {
        return runs(site);
    }
    let mut kernels = sites.iter().filter(|other| other.in_kernel && other.id.module == site.id.module);
    kernels.clone().next().is_none() || kernels.any(runs)
}

fn warnings(profile: &Profile, variation: &Variation) -> Vec<String> {
    let mut warnings = Vec::new();
    if profile.kernels.is_empty() {
        warnings.push("the program launches no kernel: there is nothing to profile".to_owned());
    } else if profile.trials > 0 && variation.pw > 0.0 && profile.total.delayed_stores == 0 {
        warnings.push(
            "no store was ever delayed, so that there are no flush lengths: its kernels store nothing but by \
             atomics and matrix instructions, or --kernel and --space leave their stores out"
                .to_owned(),
        );
    }
    if profile.failed_trials > 0 {
        warnings.push(format!(
            "{} of {} trials failed; their flush lengths count as far as they got (`bugaroo run` says how they \
             failed)",
            profile.failed_trials, profile.trials
        ));
    }
    warnings
}

#[cfg(test)]
mod tests;
