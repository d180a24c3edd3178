//! The GPU vendor's own driver library, which ours forwards to when a real GPU is to execute the kernels.

use std::env;
use std::path::PathBuf;

/// Names the library where it stands somewhere else.
pub const REAL_DRIVER_VARIABLE: &str = "BUGAROO_REAL_DRIVER";

/// Where distributions, containers and WSL put it.
const PLACES: [&str; 8] = [
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/usr/lib/libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1",
    "/usr/local/cuda/compat/libcuda.so.1",
    "/run/opengl-driver/lib/libcuda.so.1",
    "/opt/cuda/lib64/libcuda.so.1",
];

/// The library, or where it was looked for.
///
/// # Errors
/// The paths that hold none.
pub fn real_driver() -> Result<PathBuf, Vec<PathBuf>> {
    let candidates: Vec<PathBuf> = match env::var_os(REAL_DRIVER_VARIABLE) {
        Some(path) => vec![path.into()],
        None => PLACES.iter().map(PathBuf::from).collect(),
    };
    let found = candidates.iter().find(|path| path.is_file()).and_then(|path| path.canonicalize().ok());
    found.ok_or(candidates)
}
