//! The kernels and how they are launched.

/// A kernel of `kernels.cu`. Its blocks have 256 threads.
pub struct Kernel {
    pub name: &'static str,
    /// What is said of it in the table.
    pub label: &'static str,
    pub blocks: u32,
    pub n: u32,
    pub rounds: u32,
    /// For kernels of matrix instructions: multiply-adds of each round, of all blocks.
    pub multiply_adds: Option<u64>,
}

const fn kernel(name: &'static str, blocks: u32, n: u32, rounds: u32) -> Kernel {
    Kernel { name, label: name, blocks, n, rounds, multiply_adds: None }
}

const fn matrices(name: &'static str, blocks: u32, rounds: u32, of_a_warp: u64) -> Kernel {
    Kernel { name, label: name, blocks, n: 0, rounds, multiply_adds: Some(of_a_warp * blocks as u64 * 8) }
}

/// A kernel again, with more turns of its loop: what a store costs shall not grow with the stores before it.
const fn longer(label: &'static str, of: Kernel, n: u32, rounds: u32) -> Kernel {
    Kernel { label, n, rounds, ..of }
}

/// All of them.
pub const KERNELS: &[Kernel] = &[
    kernel("dot", 32, 1 << 20, 0),
    kernel("fma_chain", 32, 0, 1000),
    kernel("copy", 32, 1 << 20, 0),
    longer("copy x 400", kernel("copy", 8, 0, 0), 400 * 8 * 256, 0),
    kernel("saxpy", 4096, 1 << 20, 0),
    kernel("copy_vec4", 1024, 1 << 20, 0),
    kernel("tiled", 64, 128, 0),
    kernel("blocked", 4, 128, 0),
    kernel("radix", 64, 0, 0),
    kernel("scan", 1024, 0, 0),
    kernel("histogram", 32, 1 << 18, 0),
    kernel("bitonic", 64, 0, 0),
    kernel("spmv", 128, 1 << 20, 0),
    kernel("nbody", 4, 1024, 0),
    kernel("mandelbrot", 256, 0, 200),
    kernel("sha", 64, 0, 64),
    kernel("half2_chain", 32, 0, 1000),
    matrices("mma", 4, 500, 2048),
    matrices("wmma_tiles", 4, 200, 4096),
    kernel("ldmatrix", 4, 0, 500),
    kernel("async_copy", 8, 0, 200),
    kernel("spin_lock", 8, 0, 20),
    kernel("divergence", 16, 0, 200),
    kernel("barriers", 8, 0, 200),
    kernel("volatile_accesses", 8, 0, 100),
    longer("volatile x 400", kernel("volatile_accesses", 8, 0, 0), 0, 400),
    kernel("conflicts", 4, 0, 100),
    longer("conflicts x 400", kernel("conflicts", 4, 0, 0), 0, 400),
];
