//! What is asked about launches, and what is said of them.

use bugaroo_barriers::findings::KernelFindings;
use serde::Serialize;

use super::common::{Common, One};

/// What is to be verified, and how.
#[derive(Clone, Debug)]
pub struct VerifyWanted {
    /// Kernels, as the PTX names them; None: all.
    pub kernels: Option<Vec<String>>,
    /// Verdicts of a kernel: launches beyond that many forms that have to be verified by themselves are left out.
    pub most: usize,
    /// Warps run in lockstep.
    pub warp_synchronous: bool,
    /// Warp instructions after which a kernel counts as one without an end.
    pub max_steps: u64,
}

/// Blocks that a verdict is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Blocks {
    /// Every block of the grid.
    Every,
    /// These; of a cluster its first block, and the whole cluster is meant.
    Some(Vec<[u32; 3]>),
}

/// A verdict, and the launches that it is of.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What was found.
    #[serde(flatten)]
    pub findings: KernelFindings,
    /// Digest of the module's PTX.
    pub module: String,
    /// CTAs of the grid, where it is the same in all launches.
    pub grid: Option<[u32; 3]>,
    /// CTAs of a cluster.
    pub cluster: Option<[u32; 3]>,
    /// Threads of a CTA.
    pub threads: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// How many launches there were.
    pub launches: u64,
    /// Of how many different kinds.
    pub forms: u64,
    /// Blocks that were looked at.
    pub blocks: Blocks,
    /// Place of the first of the launches among all of the program, from 0.
    pub first_launch: u64,
}

impl Row {
    pub(super) fn new(
        common: &Common<'_>,
        launches: &[One<'_>],
        blocks: Blocks,
        findings: KernelFindings,
    ) -> Row {
        Row {
            findings,
            module: common.first.module.clone(),
            grid: common.grid,
            cluster: common.first.cluster,
            threads: common.first.block,
            dynamic_shared: common.first.dynamic_shared,
            launches: launches.iter().map(|(_, seen)| seen.count).sum(),
            forms: launches.len() as u64,
            blocks,
            first_launch: launches.iter().map(|(_, seen)| seen.first).min().unwrap_or_default(),
        }
    }
}

/// Launches of a kernel that nothing is said of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The kernel, as the PTX names it.
    pub kernel: String,
    /// How many launches.
    pub launches: u64,
    /// Of how many different kinds, as far as they were kept apart.
    pub forms: u64,
}

impl LeftOut {
    pub(super) fn new(kernel: &str) -> LeftOut {
        LeftOut { kernel: kernel.to_owned(), launches: 0, forms: 0 }
    }
}

/// What comes of it, as it comes.
#[derive(Clone, Debug)]
pub(super) enum Told {
    /// A verdict.
    Row(Box<Row>),
    /// Launches that are left out.
    LeftOut(LeftOut),
}
