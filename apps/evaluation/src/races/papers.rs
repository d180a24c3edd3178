//! What the papers report: facts alone.
//!
//! - HiRace: Jacobson, Burtscher, Gopalakrishnan (SC'24), sections III and V. An RTX 2070 Super with CUDA 11.7; each of 580 programs that
//!   Indigo generates is run once with each of six graphs, and 346 of them have races.
//! - ScoRD: Kamath, George, Basu (ISCA'20), sections III and V. GPGPU-Sim.
//! - BARRACUDA: Eizenberg, Peng, Pigli, Mansky, Devietti (PLDI'17), section 6. A GTX Titan X with CUDA 7.5 and 8.

/// Races found and missed.
pub type Found = (u64, u64);

/// A row of HiRace's Table II.
#[derive(Clone, Copy, Debug)]
pub struct Graph {
    /// The graph, as ours are numbered.
    pub name: &'static str,
    /// Programs run with it.
    pub tests: u64,
    /// HiRace.
    pub hirace: Found,
    /// iGUARD.
    pub iguard: Found,
    /// Compute Sanitizer's racecheck, which looks at shared memory alone.
    pub racecheck: Found,
    /// Results that differ from those of a sequential program.
    pub sequential: Found,
}

/// HiRace's Table II, in the order of our graphs' numbers.
pub const GRAPHS: [Graph; 6] = [
    graph("DAG_5n_5e", (182, 164), (118, 228), (92, 254), (44, 302)),
    graph("DAG_100n_200e", (346, 0), (298, 48), (92, 254), (301, 45)),
    graph("DAG_200n_400e", (346, 0), (298, 48), (92, 254), (301, 45)),
    graph("counterDAG_5n_5e", (295, 51), (148, 198), (92, 254), (194, 152)),
    graph("counterDAG_200n_1000e", (346, 0), (298, 48), (56, 290), (282, 64)),
    graph("power_law_200n_1000e", (346, 0), (297, 49), (128, 218), (306, 40)),
];

const fn graph(
    name: &'static str,
    hirace: Found,
    iguard: Found,
    racecheck: Found,
    sequential: Found,
) -> Graph {
    Graph { name, tests: 580, hirace, iguard, racecheck, sequential }
}

/// Programs with races among those of each graph.
pub const RACY: u64 = 346;

/// States and transitions of HiRace's machine (section III).
pub const MACHINE: (usize, usize) = (25, 1200);

/// A row of ScoRD's Table VI.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// As the paper has it.
    pub name: &'static str,
    /// Our program; None: all microbenchmarks.
    pub program: Option<&'static str>,
    /// Races that are there.
    pub present: u64,
    /// Found by the base design, without the cache.
    pub base: u64,
    /// Found by ScoRD, with it.
    pub scord: u64,
    /// False positives with metadata for each 4, 8 and 16 bytes, and with the cache (Table VII); None: the table has no such row.
    pub false_positives: Option<[u64; 4]>,
}

/// ScoRD's Tables VI and VII.
pub const WORKLOADS: [Workload; 8] = [
    workload("MM", "matrix_product", [4, 4, 4], [0, 1, 3, 0]),
    workload("RED", "reduction", [2, 2, 2], [0, 1, 1, 0]),
    workload("R110", "rule_110", [2, 2, 1], [0, 2, 2, 0]),
    workload("GCOL", "graph_colouring", [6, 6, 6], [0, 27, 29, 0]),
    workload("GCON", "graph_connectivity", [5, 5, 5], [0, 28, 28, 0]),
    workload("1DC", "convolution", [1, 1, 1], [0, 1, 2, 0]),
    workload("UTS", "tree_search", [6, 6, 6], [0, 12, 23, 0]),
    Workload {
        name: "Microbenchmarks",
        program: None,
        present: 18,
        base: 18,
        scord: 18,
        false_positives: None,
    },
];

const fn workload(
    name: &'static str,
    program: &'static str,
    [present, base, scord]: [u64; 3],
    false_positives: [u64; 4],
) -> Workload {
    Workload { name, program: Some(program), present, base, scord, false_positives: Some(false_positives) }
}

/// A row of BARRACUDA's Table 1.
#[derive(Clone, Copy, Debug)]
pub struct Benchmark {
    /// As the paper has it.
    pub name: &'static str,
    /// Our program that does the same, if there is one.
    pub ours: Option<&'static str>,
    /// Static PTX instructions.
    pub instructions: u64,
    /// Threads of the largest kernel.
    pub threads: u64,
    /// Global memory, MB.
    pub megabytes: u64,
    /// Races found in global memory.
    pub global: u64,
    /// Races found in shared memory.
    pub shared: u64,
}

/// BARRACUDA's Table 1.
pub const BENCHMARKS: [Benchmark; 26] = [
    benchmark("BFS (Rodinia)", None, (281, 1_000_448, 155), (0, 0)),
    benchmark("Backprop", None, (272, 1_048_576, 9), (0, 0)),
    benchmark("DWT2D", None, (35_385, 2304, 6644), (3, 0)),
    benchmark("Gaussian", None, (246, 1_048_576, 124), (0, 0)),
    benchmark("Hotspot", Some("hotspot"), (338, 473_344, 119), (0, 0)),
    benchmark("Hybridsort", None, (906, 32_768, 252), (0, 1)),
    benchmark("Kmeans", Some("kmeans"), (384, 495_616, 252), (0, 0)),
    benchmark("Lavamd", None, (1320, 128_000, 965), (0, 0)),
    benchmark("Needle", None, (1006, 495_616, 64), (0, 0)),
    benchmark("Nn", None, (234, 43_008, 188), (0, 0)),
    benchmark("Pathfinder", None, (285, 118_528, 155), (0, 7)),
    benchmark("Streamcluster", Some("streamcluster"), (299, 65_536, 188), (0, 0)),
    benchmark("BFS (SHOC)", None, (770, 1024, 68), (3, 0)),
    benchmark("Hashtable", None, (193, 64, 103), (3, 0)),
    benchmark("dxtc", None, (1578, 1_048_576, 17), (0, 120)),
    benchmark("ThreadFenceRed", Some("sdk_red"), (5037, 16_384, 787), (0, 12)),
    benchmark("block_radix_sort", None, (2174, 128, 66), (0, 0)),
    benchmark("block_reduce", None, (2456, 1024, 70), (0, 0)),
    benchmark("block_scan", None, (4451, 128, 118), (0, 0)),
    benchmark("d_partition_flagged", None, (2834, 128, 66), (0, 0)),
    benchmark("d_reduce", None, (2397, 128, 66), (0, 0)),
    benchmark("d_scan", Some("cub_scan"), (1661, 128, 65), (0, 0)),
    benchmark("d_select_flagged", None, (2615, 128, 66), (0, 0)),
    benchmark("d_select_if", None, (2508, 128, 66), (0, 0)),
    benchmark("d_select_unique", None, (2484, 128, 66), (0, 0)),
    benchmark("d_sort_find_non_triv", None, (16_479, 128, 66), (0, 0)),
];

const fn benchmark(
    name: &'static str,
    ours: Option<&'static str>,
    (instructions, threads, megabytes): (u64, u64, u64),
    (global, shared): (u64, u64),
) -> Benchmark {
    Benchmark { name, ours, instructions, threads, megabytes, global, shared }
}

/// Programs of BARRACUDA's own suite, all of which it answers rightly (section 6.1).
pub const SUITE: u64 = 66;
/// Those that CUDA-racecheck answers rightly.
pub const SUITE_RACECHECK: u64 = 19;
/// Of the static instructions of a benchmark, BARRACUDA instruments less than this share, percent (section 6.2). Figure 9 has the shares
/// as bars without numbers.
pub const INSTRUMENTED_BELOW: f64 = 50.0;

#[cfg(test)]
mod tests;
