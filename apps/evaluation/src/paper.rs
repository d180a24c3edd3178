//! What the paper reports: Islam and Muzahid, "Bugaroo: Exposing Memory Model Bugs in Many-core Systems", section IV.
//! Facts alone; all that we measure ourselves is elsewhere.
//!
//! Measured on an NVIDIA Tesla K80 with CUDA 7, 1000 runs of each application, 60 s time limit, write buffers of
//! 256 entries. The counts are of SASS, the machine code of that GPU.

use crate::verdict::Verdict;

/// Entries of each write buffer (IV.A).
pub const BUFFER_ENTRIES: u32 = 256;

/// Probabilities with which a store is buffered, in the order of Table IV's columns.
pub const PW: [f64; 4] = [1.0, 0.75, 0.5, 0.25];

/// A row of Table I, shortened.
#[derive(Clone, Copy, Debug)]
pub struct Application {
    /// Name.
    pub program: &'static str,
    /// How its threads communicate.
    pub communication: &'static str,
    /// What makes a run a good one.
    pub check: &'static str,
}

/// Table I.
pub const TABLE_I: [Application; 7] = [
    Application {
        program: "cbe_dot",
        communication: "final sum over all blocks in global memory, under a custom mutex",
        check: "GPU result equals a CPU reference",
    },
    Application {
        program: "ct_octree",
        communication: "concurrent access to non-blocking queues",
        check: "every particle is in the final octree",
    },
    Application {
        program: "sdk_red",
        communication: "the last block, by an atomic counter, combines the blocks' results",
        check: "GPU result equals a CPU reference",
    },
    Application {
        program: "cub_scan",
        communication: "blocks hand partial results on, message-passing style",
        check: "GPU result equals a CPU reference",
    },
    Application {
        program: "kmeans",
        communication: "within blocks only, by __syncthreads()",
        check: "relative distance of clusters equals the reference's",
    },
    Application {
        program: "streamcluster",
        communication: "none",
        check: "relative distance of clusters equals the reference's",
    },
    Application {
        program: "hotspot",
        communication: "within blocks only, by __syncthreads()",
        check: "results equal those without instrumentation",
    },
];

/// A row of Table II.
#[derive(Clone, Copy, Debug)]
pub struct Metadata {
    /// Program.
    pub program: &'static str,
    /// Variant, by our name.
    pub variant: &'static str,
    /// Dynamic instructions (SASS).
    pub instructions: u64,
    /// Dynamic `__threadfence()`.
    pub fences: u64,
    /// `__threadfence()` in the code.
    pub static_fences: u64,
    /// Dynamic shared stores.
    pub shared_stores: u64,
    /// Dynamic global stores.
    pub global_stores: u64,
}

/// Table II. The paper says `simsmall` of streamcluster alone. Its ct_octree counts a fence, so that it must be
/// the variant with the fence.
pub const TABLE_II: [Metadata; 8] = [
    metadata("cbe_dot", "original_2_fence", 1_076_216, (64, 2), (16_352, 32)),
    metadata("cbe_dot", "1_fence", 1_075_828, (32, 1), (16_352, 32)),
    metadata("ct_octree", "1_fence", 31_362_438, (41, 1), (1_372_676, 15_623)),
    metadata("sdk_red", "original_1_fence", 999_846, (8192, 1), (49_600, 130)),
    metadata("cub_scan", "original_all_3_fence", 2_769_764, (10_529, 3), (83_185, 62_435)),
    metadata("kmeans", "original", 306_772, (0, 0), (0, 3600)),
    metadata("streamcluster", "original", 2_294_132_736, (0, 0), (0, 5_519_623)),
    metadata("hotspot", "original", 1_841_064, (0, 0), (29_160, 4096)),
];

const fn metadata(
    program: &'static str,
    variant: &'static str,
    instructions: u64,
    (fences, static_fences): (u64, u64),
    (shared_stores, global_stores): (u64, u64),
) -> Metadata {
    Metadata { program, variant, instructions, fences, static_fences, shared_stores, global_stores }
}

/// Share of flushes of length 1 over all programs, percent: Figure 3, global stores.
pub const GLOBAL_LENGTH_1: f64 = 69.71;
/// The same of Figure 4, shared stores.
pub const SHARED_LENGTH_1: f64 = 72.24;
/// The longest flush of all (global stores of kmeans). The figures' other numbers stand in no text.
pub const LONGEST_FLUSH: (&str, u32) = ("kmeans", 34);

/// A row of Table III.
#[derive(Clone, Copy, Debug)]
pub struct RunTime {
    /// Program.
    pub program: &'static str,
    /// Variant, by our name.
    pub variant: &'static str,
    /// Average seconds of the process, native.
    pub native: f64,
    /// The same, instrumented.
    pub instrumented: f64,
    /// Overhead as printed, percent.
    pub overhead: f64,
}

/// Table III. Of ct_octree the paper does not say which variant it is.
pub const TABLE_III: [RunTime; 8] = [
    run_time("cbe_dot", "original_2_fence", 2.760, 3.009, 9.02),
    run_time("cbe_dot", "1_fence", 2.447, 2.546, 4.05),
    run_time("ct_octree", "1_fence", 2.792, 3.117, 11.64),
    run_time("sdk_red", "original_1_fence", 2.335, 2.658, 13.83),
    run_time("cub_scan", "original_all_3_fence", 2.761, 3.024, 9.53),
    run_time("kmeans", "original", 2.765, 2.907, 5.14),
    run_time("streamcluster", "original", 3.623, 7.895, 117.91),
    run_time("hotspot", "original", 2.654, 3.004, 13.91),
];

const fn run_time(
    program: &'static str,
    variant: &'static str,
    native: f64,
    instrumented: f64,
    overhead: f64,
) -> RunTime {
    RunTime { program, variant, native, instrumented, overhead }
}

/// The median overhead that the paper states, percent. It is the ratio of the median times, 3.007 s to 2.761 s;
/// the median of the eight overheads of its table is 10.6 %.
pub const MEDIAN_OVERHEAD: f64 = 8.91;

/// A row of Table IV.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// Program.
    pub program: &'static str,
    /// Variant.
    pub variant: &'static str,
    /// Failure probability at each of [`PW`], of 1000 runs.
    pub rates: [f64; 4],
    /// What the paper calls it; None where it is not in the table but only in the text.
    pub verdict: Option<Verdict>,
    /// Whether the paper calls the finding new.
    pub new: bool,
}

/// Table IV; and, by the text of IV.D, the three programs that it leaves out because they never failed.
pub const TABLE_IV: [Finding; 15] = [
    finding("cbe_dot", "original_2_fence", [0.0; 4], Some(Verdict::Overfenced), true),
    finding("cbe_dot", "1_fence", [0.0; 4], Some(Verdict::Optimal), true),
    finding("cbe_dot", "no_fence", [1.0; 4], Some(Verdict::Underfenced), true),
    finding("ct_octree", "original_no_fence", [1.0; 4], Some(Verdict::Underfenced), false),
    finding("ct_octree", "1_fence", [0.0; 4], Some(Verdict::Optimal), false),
    finding("sdk_red", "original_1_fence", [0.0; 4], Some(Verdict::Optimal), false),
    finding("sdk_red", "no_fence", [1.0; 4], Some(Verdict::Underfenced), false),
    finding("cub_scan", "original_all_3_fence", [0.0; 4], Some(Verdict::Optimal), true),
    finding("cub_scan", "f1_f2_fence", [0.002, 0.0, 0.0, 0.0], Some(Verdict::Underfenced), true),
    finding("cub_scan", "f1_f3_fence", [0.857, 0.714, 0.29, 0.0], Some(Verdict::Underfenced), true),
    finding("cub_scan", "f2_f3_fence", [0.001, 0.0, 0.0, 0.0], Some(Verdict::Underfenced), true),
    finding("cub_scan", "no_fence", [0.861, 0.51, 0.285, 0.0], Some(Verdict::Underfenced), true),
    finding("kmeans", "original", [0.0; 4], None, false),
    finding("streamcluster", "original", [0.0; 4], None, false),
    finding("hotspot", "original", [0.0; 4], None, false),
];

const fn finding(
    program: &'static str,
    variant: &'static str,
    rates: [f64; 4],
    verdict: Option<Verdict>,
    new: bool,
) -> Finding {
    Finding { program, variant, rates, verdict, new }
}

/// Threads that IV.E reckons memory for.
pub const MEMORY_THREADS: u64 = 65_535;
/// GB of the write buffers of one space for so many threads. Both together: "slightly less than 1 GB".
pub const MEMORY_GB_A_SPACE: f64 = 0.45;

/// The row of a variant in Table IV.
pub fn finding_of(program: &str, variant: &str) -> Option<&'static Finding> {
    TABLE_IV.iter().find(|row| (row.program, row.variant) == (program, variant))
}

#[cfg(test)]
mod tests;
