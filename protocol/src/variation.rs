//! How the kernels of a trial run: all that differs between trials of one program besides the seed. What a command asks for, a
//! run directory keeps, and the driver is told is this.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::choices::{DelayedSpace, Model, Scheduler};
use crate::insertion::Insertion;
use crate::race::Detector;
use crate::race_settings::RaceSettings;
use crate::site::SiteId;
use crate::turns::{Turn, Turns};

/// What [`Variation::pct_depth`] is where nobody says.
pub const PCT_DEPTH: u32 = 3;

/// How a program's stores are delayed in a trial. The instrumented module is the same for all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variation {
    /// Which memory behaviour is shown.
    pub model: Model,
    /// Probability, 0 to 1, with which a store is delayed.
    pub pw: f64,
    /// Model `ptx`: probability, 0 to 1, with which a load reads an older value than it has to.
    #[serde(default = "pr")]
    pub pr: f64,
    /// Model `ptx`: bytes that a launch's histories may take.
    #[serde(default = "model_memory")]
    pub model_memory: u64,
    /// Entries of each per-thread store buffer, at least 1.
    pub buffer: u32,
    /// Which space's stores are delayed.
    pub space: DelayedSpace,
    /// Who runs next on the virtual GPU.
    #[serde(default)]
    pub scheduler: Scheduler,
    /// [`Scheduler::Pct`]: ordering constraints of the bugs that are looked for, at least 1; one more than there are changes.
    #[serde(default = "pct_depth", skip_serializing_if = "is_pct_depth")]
    pub pct_depth: u32,
    /// Every other trial, by its index, is scheduled by [`Scheduler::Pct`], so that failures of either kind of schedule show.
    #[serde(default)]
    pub by_turns: bool,
    /// Only kernels whose name matches this regular expression have their stores delayed.
    pub kernel: Option<String>,
    /// Fence sites of the program that do nothing.
    pub without_fence: BTreeSet<SiteId>,
    /// Access sites that a fence is executed right after.
    pub with_fence: BTreeSet<SiteId>,
    /// Fence sites of the program, and sites of `with_fence`, whose fence acts at CTA scope only, as
    /// `__threadfence_block()` does.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub narrow_fence: BTreeSet<SiteId>,
    /// What is put in beside stretches of the source. Only where the virtual GPU simulates the model itself.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub insert: BTreeSet<Insertion>,
    /// Fences and atomics of the program that act at GPU scope where theirs is narrower, and plain loads and stores that
    /// are relaxed ones of that scope. Only where the virtual GPU simulates the model itself.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub widen: BTreeSet<SiteId>,
    /// Stores are delayed by handlers that are injected into the program's PTX, also where the virtual GPU could do
    /// it itself.
    #[serde(default)]
    pub handlers: bool,
    /// Detectors that look for races ([`crate::Races`]). Only where the virtual GPU simulates the model itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub race: Vec<Detector>,
    /// What HiRace and ScoRD look at, and how much they keep.
    #[serde(default, skip_serializing_if = "RaceSettings::is_default")]
    pub race_settings: RaceSettings,
    /// Only races between threads of one block count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub within_blocks: bool,
    /// Detectors, model and scheduler take turns by a trial's index, whatever is said above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Turns>,
    /// Trials say what of their threads' communication they have shown ([`crate::Launch::coverage`]). They do the same without. Only
    /// where the virtual GPU simulates the model itself, as the next three.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub coverage: bool,
    /// A place of [`crate::Launch::meetings`]: warps that come by there are held back for a while, by the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<u32>,
    /// Places of [`crate::Launch::meetings`]: who runs next is chosen behind accesses there alone, whatever `scheduler` says. None: as
    /// that says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switches: Vec<u32>,
    /// Which instructions' accesses are delayed, or answered with older values, is drawn once for a launch, and is so each time; those
    /// of the others never are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub swarm: bool,
}

/// What it is where nobody says.
fn pct_depth() -> u32 {
    PCT_DEPTH
}

/// Whether it is what it is where nobody says.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_pct_depth(depth: &u32) -> bool {
    *depth == PCT_DEPTH
}

/// What `--pr` is without being given.
fn pr() -> f64 {
    0.5
}

/// What `--model-memory` is without being given: a gibibyte.
fn model_memory() -> u64 {
    1 << 30
}

impl Default for Variation {
    fn default() -> Self {
        Self {
            model: Model::StoreBuffer,
            pw: 0.75,
            pr: pr(),
            model_memory: model_memory(),
            buffer: 256,
            space: DelayedSpace::Both,
            scheduler: Scheduler::Random,
            pct_depth: pct_depth(),
            by_turns: false,
            kernel: None,
            without_fence: BTreeSet::new(),
            with_fence: BTreeSet::new(),
            narrow_fence: BTreeSet::new(),
            insert: BTreeSet::new(),
            widen: BTreeSet::new(),
            handlers: false,
            race: Vec::new(),
            race_settings: RaceSettings::default(),
            within_blocks: false,
            turns: None,
            coverage: false,
            hold: None,
            switches: Vec::new(),
            swarm: false,
        }
    }
}

impl Variation {
    /// The variation as the trial of this index has it: with the scheduler, and all else, whose turn it is.
    pub fn of_trial(&self, index: u64) -> Cow<'_, Variation> {
        if let Some(turns) = &self.turns {
            return Cow::Owned(self.with(turns.of_trial(self.handlers, index)));
        }
        match self.by_turns && index % 2 == 1 {
            true => Cow::Owned(Variation { scheduler: Scheduler::Pct, ..self.clone() }),
            false => Cow::Borrowed(self),
        }
    }

    /// The same, as this turn has it.
    fn with(&self, turn: Turn) -> Variation {
        let Turn { detectors: race, model, scheduler } = turn;
        let weak = Variation { turns: None, by_turns: false, race, scheduler, ..self.clone() };
        match model {
            Some(model) => Variation { model, ..weak },
            None => Variation { model: Model::StoreBuffer, pw: 0.0, pr: 0.0, ..weak },
        }
    }
}
