//! What is asked of a program's sites and source, checked before any trial.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;

use bugaroo_protocol::{Backend, Insertion, Model, Placed, Site, SiteKind, Variation};
use regex::Regex;

use super::Session;
use crate::error::Error;
use crate::trial::Plan;

/// Bytes of insertions in one run's orders: what one variable of the environment holds is 128 KiB.
const MOST_ASKED: usize = 64 << 10;

/// Why nothing can be inserted beside a stretch of which the program has no site.
const NOTHING: &str = "nothing of it is in the PTX";

/// Whether an access, an atomic or a fence acts at less than the device's scope, as far as its text says; where there are several
/// devices, whether a fence acts at less than the system's.
fn is_narrow(site: &Site, several: bool) -> bool {
    let scope = match &site.scope {
        Some(scope) => scope.as_str(),
        // A load or store says it in its modifiers, or is weak.
        None => match site
            .instruction
            .split_whitespace()
            .find(|word| word.starts_with("ld") || word.starts_with("st"))
        {
            Some(opcode) => {
                let modifiers: Vec<&str> = opcode.split('.').collect();
                let has = |word| modifiers.contains(&word);
                if has("gpu") || has("sys") || has("volatile") || has("mmio") { "gpu" } else { "cta" }
            }
            None => "gpu",
        },
    };
    match site.kind {
        SiteKind::Barrier => false,
        SiteKind::Fence if several => scope != "sys",
        _ => matches!(scope, "cta" | "cluster"),
    }
}

impl Session {
    /// Checks that the sites and kernels that a variation names are the program's.
    ///
    /// # Errors
    /// When one is not, or is of the wrong kind.
    pub async fn check(&self, variation: &Variation) -> Result<(), Error> {
        if let Some(pattern) = &variation.kernel {
            let kernels = &self.baseline().kernels;
            // What is no regular expression selects nothing.
            let matches = |regex: Regex| kernels.iter().any(|kernel| regex.is_match(kernel));
            if !Regex::new(pattern).is_ok_and(matches) {
                let kernels = kernels.iter().cloned().collect();
                return Err(Error::UnknownKernel { pattern: pattern.clone(), kernels });
            }
        }
        self.admit(variation).await?;
        let named = [&variation.without_fence, &variation.with_fence, &variation.narrow_fence];
        if named.iter().all(|sites| sites.is_empty()) {
            return Ok(());
        }
        let kinds: BTreeMap<_, _> = self.sites().await?.iter().map(|site| (site.id, site.kind)).collect();
        let kind = |site| kinds.get(&site).copied().ok_or(Error::UnknownSite { site });
        for &site in &variation.without_fence {
            let kind = kind(site)?;
            if kind != SiteKind::Fence {
                return Err(Error::NotAFence { site, kind });
            }
        }
        for &site in &variation.with_fence {
            let kind = kind(site)?;
            if !kind.takes_fence() {
                return Err(Error::TakesNoFence { site, kind });
            }
        }
        for &site in variation.narrow_fence.difference(&variation.with_fence) {
            let kind = kind(site)?;
            if kind != SiteKind::Fence {
                return Err(Error::NotAFence { site, kind });
            }
        }
        Ok(())
    }

    /// What each of these insertions becomes, in all modules that the program loads.
    ///
    /// # Errors
    /// When the program cannot be run for it.
    pub async fn check_insertions(&self, insertions: &[Insertion]) -> Result<Vec<Placed>, Error> {
        let wanted: BTreeSet<&Insertion> = insertions.iter().collect();
        let unknown: Vec<Insertion> = {
            let known = self.placed.lock().unwrap_or_else(PoisonError::into_inner);
            wanted.into_iter().filter(|insertion| !known.contains_key(insertion)).cloned().collect()
        };
        let mut rest = &unknown[..];
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |insertion: &&Insertion| {
                // What stands around the path is less than that.
                bytes += insertion.span.file.len() + 200;
                bytes <= MOST_ASKED
            };
            let count = rest.iter().take_while(fits).count().max(1);
            let (now, later) = rest.split_at(count);
            let placed = self.ask(now).await?;
            let mut known = self.placed.lock().unwrap_or_else(PoisonError::into_inner);
            known.extend(now.iter().cloned().zip(placed));
            rest = later;
        }
        let known = self.placed.lock().unwrap_or_else(PoisonError::into_inner);
        // All that were not known have been asked for.
        Ok(insertions.iter().map(|insertion| known.get(insertion).cloned().unwrap_or_default()).collect())
    }

    /// Runs the program once without injection, and asks its modules.
    async fn ask(&self, insertions: &[Insertion]) -> Result<Vec<Placed>, Error> {
        let plan = Plan {
            seed: self.shared.seeds.baseline(0),
            variation: None,
            report_sites: false,
            check_insert: insertions,
            conflicts: false,
            reference: None,
            step_budget: Some(self.settings().step_budget(self.baseline())),
            passed_in: Some(self.baseline().duration()),
            known: None,
            cannot_fork: None,
            warp_synchronous: self.settings().warp_synchronous,
        };
        let mut stop = self.interrupt.clone();
        let ran = tokio::select! {
            done = self.shared.ground.run(plan) => done?,
            () = stop.wait() => return Err(Error::Interrupted),
        };
        let mut all = vec![Placed::default(); insertions.len()];
        for placed in ran.report.placed.into_values() {
            for (sum, more) in all.iter_mut().zip(placed) {
                sum.places += more.places;
                sum.sites += more.sites;
                sum.refused = sum.refused.take().or(more.refused);
            }
        }
        for placed in all.iter_mut().filter(|placed| placed.sites == 0) {
            placed.refused = Some(NOTHING.to_owned());
        }
        Ok(all)
    }

    /// Whether trials can do what a variation asks for beside fences at sites.
    ///
    /// # Errors
    /// When the model is not one that the virtual GPU simulates itself, or something cannot be inserted.
    pub(super) async fn admit(&self, variation: &Variation) -> Result<(), Error> {
        if variation.insert.is_empty() && variation.widen.is_empty() {
            return Ok(());
        }
        let handlers = variation.handlers && variation.model == Model::StoreBuffer;
        if handlers || variation.model == Model::Bugaroo || self.settings().backend == Backend::Cuda {
            return Err(Error::NotSimulated);
        }
        for &site in &variation.widen {
            let sites = self.sites().await?;
            let at = sites.iter().find(|known| known.id == site).ok_or(Error::UnknownSite { site })?;
            if !is_narrow(at, self.settings().devices > 1) {
                return Err(Error::NotNarrow { site, kind: at.kind });
            }
        }
        let insertions: Vec<Insertion> = variation.insert.iter().cloned().collect();
        let placed = self.check_insertions(&insertions).await?;
        for (insertion, placed) in insertions.into_iter().zip(placed) {
            if let Some(why) = placed.refused {
                return Err(Error::CannotInsert { insertion: Box::new(insertion), why });
            }
        }
        Ok(())
    }
}
