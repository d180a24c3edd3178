//! What is known of a launch.

use std::ops::Range;

/// Warp instructions after which a kernel counts as one without an end.
pub const DEFAULT_MAX_STEPS: u64 = 200_000_000;

/// How a kernel is launched, as far as that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelOptions {
    /// Threads of a CTA; None: what the kernel requires (`.reqntid`), or else at most has (`.maxntid`).
    pub block: Option<[u32; 3]>,
    /// Which CTA; the first of a cluster is taken with its whole cluster.
    pub cta: [u32; 3],
    /// Any CTA of the grid: which one is not known, and the verdict is one of them all. For kernels without clusters.
    pub any_cta: bool,
    /// Whoever asks looks at every CTA of the grid, and whether all come to the grid's barrier equally often.
    pub whole_grid: bool,
    /// CTAs of the grid, if they are known.
    pub grid: Option<[u32; 3]>,
    /// CTAs of a cluster, where the kernel does not say (`.reqnctapercluster`).
    pub cluster: Option<[u32; 3]>,
    /// Parameters by `NAME[+OFFSET][:TYPE]`, the name or the number, and their values. What is not given is unknown.
    pub params: Vec<(String, String)>,
    /// The first bytes of the parameter buffer; `params` come after that.
    pub param_bytes: Option<Vec<u8>>,
    /// Ranges of `param_bytes` that are not known all the same.
    pub open_bytes: Vec<Range<usize>>,
    /// Tensor maps by the name or index of their parameter (`NAME+OFFSET` in a structure), and the bytes that a copy by them moves.
    pub tensors: Vec<(String, u32)>,
    /// Bytes of dynamic shared memory, if they are known.
    pub dynamic_shared: Option<u32>,
    /// Warps run in lockstep.
    pub warp_synchronous: bool,
    /// Warp instructions after which the kernel counts as one without an end.
    pub max_steps: u64,
    /// Warp instructions of all cases together after which nothing is known of the kernel.
    pub max_work: u64,
}

impl Default for KernelOptions {
    fn default() -> KernelOptions {
        KernelOptions {
            block: None,
            cta: [0; 3],
            any_cta: false,
            whole_grid: false,
            grid: None,
            cluster: None,
            params: Vec::new(),
            param_bytes: None,
            open_bytes: Vec::new(),
            tensors: Vec::new(),
            dynamic_shared: None,
            warp_synchronous: false,
            max_steps: DEFAULT_MAX_STEPS,
            max_work: u64::MAX,
        }
    }
}
