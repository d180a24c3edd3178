//! Orders to one trial.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::choices::{Backend, Model, Scheduler, Space};
use crate::fork_server::ForkServer;
use crate::insertion::Insertion;
use crate::race::Detector;
use crate::race_settings::RaceSettings;
use crate::site::SiteId;

/// Version of the orders and of the report. Raised whenever either changes shape.
pub const VERSION: u32 = 16;

/// The environment variable that carries the orders.
pub const ORDERS_VARIABLE: &str = "BUGAROO_ORDERS";

/// Everything that a trial depends on besides the program itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Orders {
    /// [`VERSION`] of the sender.
    pub version: u32,
    /// Seed of the coin flips and of the scheduler.
    pub seed: u64,
    /// None: run the original PTX without injection (the baseline). The scheduler is seeded all the same.
    pub model: Option<Model>,
    /// Probability, 0 to 1, with which a store is delayed.
    pub pw: f64,
    /// Model `ptx`: probability, 0 to 1, with which a load reads an older value than it has to.
    pub pr: f64,
    /// Model `ptx`: bytes that a launch's histories may take.
    pub model_memory: u64,
    /// Entries of each per-thread store buffer, at least 1.
    pub buffer: u32,
    /// Which space's stores are delayed.
    pub space: Space,
    /// Only kernels whose name matches this regular expression have their stores delayed.
    pub kernel: Option<String>,
    /// Fence sites of the program that do nothing in this trial.
    pub without_fence: BTreeSet<SiteId>,
    /// Access sites that a `__threadfence()` is executed right after.
    pub with_fence: BTreeSet<SiteId>,
    /// Fence sites of the program, and sites of `with_fence`, whose fence acts at CTA scope only, as
    /// `__threadfence_block()` does.
    pub narrow_fence: BTreeSet<SiteId>,
    /// What is put in beside stretches of the source.
    #[serde(default)]
    pub insert: BTreeSet<Insertion>,
    /// Fences and atomics of the program that act at GPU scope, where theirs is narrower, and loads and stores that do so
    /// as relaxed ones of that scope.
    #[serde(default)]
    pub widen: BTreeSet<SiteId>,
    /// Insertions of which each module that is loaded is to say what they become in it; nothing of them is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check_insert: Vec<Insertion>,
    /// Delay stores by handlers that are injected into the program's PTX, also where the virtual GPU could do it
    /// itself.
    pub handlers: bool,
    /// Warps run in lockstep, as before Volta: every instruction is done by all lanes before the next, and its
    /// stores are visible to the warp. Only on the virtual GPU.
    #[serde(default)]
    pub warp_synchronous: bool,
    /// What executes the kernels.
    pub backend: Backend,
    /// Virtual GPUs that the program finds, 1 to [`MOST_DEVICES`].
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub devices: u32,
    /// The GPU vendor's own driver library, for [`Backend::Cuda`].
    pub real_driver: Option<PathBuf>,
    /// Most warp instructions that one launch may execute (original or instrumented PTX, as it runs).
    pub step_budget: Option<u64>,
    /// Who runs next on the virtual GPU.
    pub scheduler: Scheduler,
    /// [`Scheduler::Pct`]: ordering constraints of the bugs that are looked for, at least 1; one more than there are changes.
    #[serde(default = "pct_depth", skip_serializing_if = "is_pct_depth")]
    pub pct_depth: u32,
    /// Report the sites of every module that is loaded.
    pub report_sites: bool,
    /// Report the conflicts of every launch ([`crate::Conflict`]). Only where the virtual GPU simulates the model itself.
    #[serde(default)]
    pub conflicts: bool,
    /// Report what of its threads' communication every launch has shown ([`crate::Launch::coverage`]). Only where the virtual GPU
    /// simulates the model itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub coverage: bool,
    /// A place of [`crate::Launch::meetings`]: warps that come by there are held back for a while, by the seed. Only where the virtual
    /// GPU simulates the model itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<u32>,
    /// Places of [`crate::Launch::meetings`]: who runs next is chosen behind accesses there alone, whatever [`Self::scheduler`] says. None:
    /// as that says. Only where the virtual GPU simulates the model itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switches: Vec<u32>,
    /// Which instructions' accesses are delayed, or answered with older values, is drawn once for a launch, and is so each time; those of
    /// the others never are. Only where the virtual GPU simulates the model itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub swarm: bool,
    /// Report every launch as it is when it starts ([`crate::RecordedLaunch`]), with what it takes to look at its kernel elsewhere.
    #[serde(default)]
    pub launches: bool,
    /// Detectors that look for races ([`crate::Races`]). Only where the virtual GPU simulates the model itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub race: Vec<Detector>,
    /// What HiRace and ScoRD look at, and how much they keep.
    #[serde(default, skip_serializing_if = "RaceSettings::is_default")]
    pub race_settings: RaceSettings,
    /// Report a digest of device memory after every launch.
    pub digest: bool,
    /// Report what each of the program's allocations holds at its end ([`crate::Message::Ends`]). Only on the virtual GPU.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends: bool,
    /// Where instrumented modules are cached by content; None: no cache.
    pub cache: Option<PathBuf>,
    /// Descriptor of the pipe's write end.
    pub report_fd: i32,
    /// Whether to become a fork server at the first launch, or to tell whether that were possible.
    pub fork_server: Option<ForkServer>,
}

/// Virtual GPUs that a program can be given.
pub const MOST_DEVICES: u32 = 16;

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_one(devices: &u32) -> bool {
    *devices == 1
}

/// What [`Orders::pct_depth`] is where nobody says.
pub const PCT_DEPTH: u32 = 3;

fn pct_depth() -> u32 {
    PCT_DEPTH
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_pct_depth(depth: &u32) -> bool {
    *depth == PCT_DEPTH
}

impl Orders {
    /// The form that the environment variable carries.
    pub fn to_json(&self) -> String {
        // Plain data with string keys: serialisation cannot fail.
        serde_json::to_string(self).expect("orders are plain data")
    }

    /// Reads what [`Self::to_json`] wrote, and refuses another version.
    ///
    /// # Errors
    /// When the text is not such orders, or of another version.
    pub fn from_json(text: &str) -> Result<Self, OrdersError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let Versioned { version } = serde_json::from_str(text)?;
        if version != VERSION {
            return Err(OrdersError::Version { theirs: version });
        }
        Ok(serde_json::from_str(text)?)
    }
}

/// Why orders were not taken.
#[derive(Debug, thiserror::Error)]
pub enum OrdersError {
    /// Not orders at all.
    #[error("{ORDERS_VARIABLE} does not hold orders: {0}")]
    Malformed(#[from] serde_json::Error),
    /// `bugaroo` and its `libcuda.so.1` are of different versions.
    #[error("orders of version {theirs}, but this libcuda.so.1 takes version {VERSION}: rebuild both")]
    Version {
        /// What the orders say.
        theirs: u32,
    },
}
