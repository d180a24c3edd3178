//! What the environment says to JAX, so that XLA's kernels come as PTX.
//!
//! JAX takes a CUDA toolkit's folder from `CUDA_ROOT` before it looks for NVIDIA's packages (`jax/_src/lib/__init__.py`, JAX 0.10), and XLA
//! has `bin/ptxas` there assemble the PTX of each module; ours hands it on as it is. What is not there, as libdevice, XLA looks for
//! in the other places that it knows.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use bugaroo_protocol::Backend;

use super::environment::is_said;

/// XLA's own options.
const FLAGS: &str = "XLA_FLAGS";

/// The option that says how much XLA measures before it chooses, and what is said of it. By the clock of the virtual GPU each trial would
/// choose otherwise.
const MEASURE: (&str, &str) = ("xla_gpu_autotune_level", "--xla_gpu_autotune_level=0");

/// The name by which programs load NVML, of which the driver holds a little.
pub(super) const NVML: &str = "libnvidia-ml.so.1";
/// Where NVIDIA's own is, with its driver.
const USUAL: [&str; 4] = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/lib/wsl/lib"];

/// Whether NVIDIA's own NVML is there, by the usual places and `LD_LIBRARY_PATH`.
pub(super) fn has_nvml() -> bool {
    let said = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    env::split_paths(&said).chain(USUAL.map(PathBuf::from)).any(|folder| folder.join(NVML).exists())
}

/// What JAX takes for a CUDA toolkit, in the folder of the libraries.
pub(super) fn toolkit(folder: &Path) -> PathBuf {
    folder.join("toolkit")
}

/// The variables, for a folder that shows our driver and our `ptxas`. What leads to machine code is replaced, whatever the user says.
pub(super) fn environment(
    folder: &Path,
    backend: Backend,
    own: &BTreeMap<String, String>,
) -> Vec<(&'static str, OsString)> {
    let mut environment = vec![("CUDA_ROOT", toolkit(folder).into_os_string())];
    if backend == Backend::Cuda {
        return environment;
    }
    let mut unless_said = |name: &'static str, value: &str| {
        if !is_said(name, own) {
            environment.push((name, value.into()));
        }
    };
    // It asks NVIDIA's libraries for their versions: CUPTI, among them, ends a program on a driver that is not NVIDIA's.
    unless_said("JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "1");
    // Pallas's other backend has machine code made, and takes the virtual GPU's generation for one of its own.
    unless_said("JAX_PALLAS_USE_MOSAIC_GPU", "0");
    // Three quarters of the memory at once otherwise.
    unless_said("XLA_PYTHON_CLIENT_PREALLOCATE", "false");
    let said = own.get(FLAGS).cloned().or_else(|| env::var(FLAGS).ok()).unwrap_or_default();
    environment.extend(flags(&said).map(|flags| (FLAGS, flags.into())));
    environment
}

/// The user's options and ours; None where nothing is to be added: what the user says stands, and a file that is named there.
fn flags(said: &str) -> Option<String> {
    let said = said.trim();
    let (name, option) = MEASURE;
    match said {
        "" => Some(option.to_owned()),
        _ if said.starts_with("--") && !said.contains(name) => Some(format!("{said} {option}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::OsString;
    use std::path::Path;

    use bugaroo_protocol::Backend;

    use super::{environment, flags};

    fn said(backend: Backend, own: &[(&str, &str)]) -> BTreeMap<&'static str, OsString> {
        let own = own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        environment(Path::new("/run"), backend, &own).into_iter().collect()
    }

    #[test]
    fn machine_code_is_out_of_reach_whatever_the_user_says() {
        for backend in [Backend::Sim, Backend::Cuda] {
            assert_eq!(said(backend, &[("CUDA_ROOT", "/usr/local/cuda")])["CUDA_ROOT"], "/run/toolkit");
        }
    }

    #[test]
    fn a_real_gpu_is_measured_and_checked() {
        assert_eq!(said(Backend::Cuda, &[]).len(), 1);
    }

    #[test]
    fn the_users_own_options_stand() {
        assert_eq!(flags("").as_deref(), Some("--xla_gpu_autotune_level=0"));
        assert_eq!(flags("--xla_dump_to=/d").as_deref(), Some("--xla_dump_to=/d --xla_gpu_autotune_level=0"));
        assert_eq!(flags("--xla_gpu_autotune_level=4"), None);
        assert_eq!(flags("/a/file"), None);
        let own = said(Backend::Sim, &[("JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "0")]);
        assert!(!own.contains_key("JAX_SKIP_CUDA_CONSTRAINTS_CHECK"), "{own:?}");
    }
}
