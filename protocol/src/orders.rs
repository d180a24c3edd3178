//! Orders to one trial.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::choices::{Backend, Model};
use crate::fork_server::ForkServer;
use crate::insertion::Insertion;
use crate::variation::Variation;

/// Version of the orders and of the report. Raised whenever either changes shape.
pub const VERSION: u32 = 18;

/// The environment variable that carries the orders.
pub const ORDERS_VARIABLE: &str = "BUGAROO_ORDERS";

/// Everything that a trial depends on besides the program itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Orders {
    /// [`VERSION`] of the sender.
    pub version: u32,
    /// Seed of the coin flips and of the scheduler.
    pub seed: u64,
    /// Whether kernels run as `variation` says. False: the original PTX without injection (the baseline), by its scheduler and
    /// before its detectors. The scheduler is seeded all the same.
    pub injects: bool,
    /// How kernels run.
    pub variation: Variation,
    /// Insertions of which each module that is loaded is to say what they become in it; nothing of them is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check_insert: Vec<Insertion>,
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
    /// Report the sites of every module that is loaded.
    pub report_sites: bool,
    /// Report the conflicts of every launch ([`crate::Conflict`]). Only where the virtual GPU simulates the model itself.
    #[serde(default)]
    pub conflicts: bool,
    /// Report every launch as it is when it starts ([`crate::RecordedLaunch`]), with what it takes to look at its kernel elsewhere.
    #[serde(default)]
    pub launches: bool,
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

impl Orders {
    /// The memory model that is shown; None without injection.
    pub fn model(&self) -> Option<Model> {
        self.injects.then_some(self.variation.model)
    }

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
