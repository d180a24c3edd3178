//! What the environment says to Triton, so that its kernels come as PTX.
//!
//! The names and what they mean are those of `triton/knobs.py` (Triton 3.9). Triton has a program assemble the PTX of each
//! kernel; ours hands it on as it is. Other programs do not look at these variables.
//!
//! On the virtual GPU Triton is told to compile as for compute capability 8.9, although the device says 9.0: for 9.0 it multiplies
//! matrices with `wgmma`, which the virtual GPU does at once, so that trials show less; for 8.9 with `mma.sync`, of all types that 9.0
//! has. (Triton 3.9 names the device's own architecture as the PTX's target all the same.)

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use bugaroo_protocol::Backend;

use super::environment::is_said;

/// The name of the assembler, in the folder of the libraries.
pub(super) const PTXAS: &str = "ptxas";

/// Where Triton keeps what it compiled, there: nothing of a real GPU is ever met in it.
const CACHE: &str = "triton";

/// The generation of GPUs that Triton writes for.
const ARCHITECTURE: &str = "sm89";

/// The variables, for a folder that shows our driver and our `ptxas`.
///
/// What leads to machine code or to another driver is replaced, whatever the user says. A cache and a generation of the user's
/// own stand: the key of what is cached holds what our `ptxas` tells as its version.
pub(super) fn environment(
    folder: &Path,
    backend: Backend,
    own: &BTreeMap<String, String>,
) -> Vec<(&'static str, OsString)> {
    let ptxas = || folder.join(PTXAS).into_os_string();
    let mut environment = vec![
        ("TRITON_PTXAS_PATH", ptxas()),
        // For 9.0 and above.
        ("TRITON_PTXAS_BLACKWELL_PATH", ptxas()),
        // Otherwise it asks `ldconfig`, which knows of a real driver alone.
        ("TRITON_LIBCUDA_PATH", folder.as_os_str().to_owned()),
    ];
    let mut unless_said = |name: &'static str, value: OsString| {
        if !is_said(name, own) {
            environment.push((name, value));
        }
    };
    unless_said("TRITON_CACHE_DIR", folder.join(CACHE).into_os_string());
    if backend == Backend::Sim {
        unless_said("TRITON_OVERRIDE_ARCH", ARCHITECTURE.into());
    }
    environment
}

#[cfg(test)]
mod tests;
