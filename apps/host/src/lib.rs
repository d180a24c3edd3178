//! What the programs under test have in common on the host.
//!
//! Each of them runs its kernels once, compares the result with the host's own, and says so with its
//! exit code: 0 when it is right, 1 with one line on stderr when it is wrong, 2 when the device could
//! not be used at all.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, CudaStream, LaunchConfig};
use cudarc::nvrtc::Ptx;

mod noise;

pub use noise::noise;

/// Device 0 with a program's kernels on it.
pub struct Device {
    /// The stream that everything runs on.
    pub stream: Arc<CudaStream>,
    module: Arc<CudaModule>,
}

impl Device {
    /// Loads the kernels.
    ///
    /// # Errors
    /// When there is no driver, no device, or the kernels do not load.
    pub fn open(ptx: &str) -> anyhow::Result<Device> {
        // SAFETY: it only asks the loader whether a library of that name exists.
        let driver = unsafe { cudarc::driver::sys::is_culib_present() };
        ensure!(driver, "no CUDA driver (libcuda.so) here; `bugaroo run` brings a virtual GPU");
        let context = CudaContext::new(0).context("no CUDA device")?;
        let stream = context.default_stream();
        let module = context.load_module(Ptx::from_src(ptx)).context("the kernels do not load")?;
        Ok(Device { stream, module })
    }

    /// A kernel by its name in the PTX.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn kernel(&self, name: &str) -> anyhow::Result<CudaFunction> {
        self.module.load_function(name).with_context(|| format!("there is no kernel {name}"))
    }
}

/// A one-dimensional launch without dynamic shared memory.
pub fn shape(blocks: u32, threads_per_block: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (threads_per_block, 1, 1), shared_mem_bytes: 0 }
}

/// What a program's check says of the device's result: `Ok` with what was right, `Err` with what was
/// wrong; one line each.
pub type CheckVerdict = Result<String, String>;

/// Says what came out, and gives the exit code for it.
pub fn conclude(program: &str, outcome: anyhow::Result<CheckVerdict>) -> ExitCode {
    match outcome {
        Ok(Ok(right)) => {
            println!("{program}: {right}");
            ExitCode::SUCCESS
        }
        Ok(Err(wrong)) => {
            eprintln!("{program}: wrong result: {wrong}");
            ExitCode::from(1)
        }
        Err(error) => {
            eprintln!("{program}: {error:#}");
            ExitCode::from(2)
        }
    }
}
