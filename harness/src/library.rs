//! Where Bugaroo's libraries are, and the folder by which programs under test find them: `libcuda.so.1`; the
//! CUDA runtime over it, with a `libcudart.so` for each version of the API; what stands for NVIDIA's libraries of
//! functions, as `libcublas.so`; and the library that is preloaded to redirect a runtime that was linked into the program.

mod embedded;
mod environment;
mod folder;
mod jax;
mod pools;
mod triton;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs, io};

use bugaroo_protocol::Backend;
use bugaroo_shims::{IMPLEMENTATION, LIBRARIES, LIBRARY_SHIMS, SHIMS};

use crate::limits::explanation;
pub use embedded::Embedded;
use embedded::FILE;
use environment::before;
use folder::Folder;

/// Names the driver library, or the folder that holds it, where it does not stand beside us.
pub const DRIVER_VARIABLE: &str = "BUGAROO_DRIVER";

/// The names by which programs load the driver.
const NAMES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

/// The part of the folder that shows the runtime.
const RUNTIME: &str = "runtime";

/// The library that is preloaded.
const PRELOAD: &str = "libbugaroo_preload.so";

/// What stands beside the driver.
const PARTS: [&str; 3] = [IMPLEMENTATION, LIBRARIES, PRELOAD];

/// Why the libraries cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// It is nowhere.
    #[error(
        "Bugaroo's driver library {FILE} is missing; looked at {}. `cargo build --workspace` builds it beside \
         bugaroo; {DRIVER_VARIABLE} may name it elsewhere", paths(.0)
    )]
    Missing(Vec<PathBuf>),
    /// A part of the runtime is nowhere.
    #[error(
        "Bugaroo's library {file} is missing beside {}. `cargo build --workspace` builds it there", driver.display()
    )]
    MissingRuntime {
        /// Its file.
        file: &'static str,
        /// The driver library.
        driver: PathBuf,
    },
    /// Those within the executable cannot be written to where programs can load them.
    #[error(
        "cannot write Bugaroo's libraries into the cache folder: {source}{}. {DRIVER_VARIABLE} may name {FILE} elsewhere",
        explanation(source)
    )]
    Unpack {
        /// Why not.
        source: io::Error,
    },
    /// The folder for it cannot be made.
    #[error("cannot make a folder for the driver library: {source}{}", explanation(source))]
    Folder {
        /// Why not.
        #[from]
        source: io::Error,
    },
}

/// Paths in a row.
pub(crate) fn paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// A folder that shows the libraries under the names that programs load, for as long as this lives.
#[derive(Clone, Debug)]
pub struct DriverLibrary {
    folder: Arc<Folder>,
    /// Whether the runtime is there, too.
    runtime: bool,
    /// Whether Triton's assembler is there, too.
    ptxas: bool,
}

impl DriverLibrary {
    /// Finds the libraries: the driver where [`DRIVER_VARIABLE`] says, beside this executable, in `../lib/bugaroo`, or, for
    /// what cargo builds for tests, in `deps`; the runtime beside it. Where the variable names a driver, the
    /// runtime may be missing. Without the variable, libraries that are part of the executable are taken before all others.
    ///
    /// # Errors
    /// When one is nowhere, or the folder cannot be made.
    pub fn find(embedded: Option<&Embedded>) -> Result<Self, LibraryError> {
        let named = env::var_os(DRIVER_VARIABLE).map(PathBuf::from);
        let must_be_whole = named.is_none();
        if let (Some(embedded), None) = (embedded, &named) {
            return Self::at(&embedded.unpack().map_err(|source| LibraryError::Unpack { source })?);
        }
        let candidates = match named {
            Some(path) if path.is_dir() => vec![path.join(FILE)],
            Some(path) => vec![path],
            None => {
                let executable = env::current_exe()?;
                let folder = executable.parent().unwrap_or(Path::new("/"));
                vec![
                    folder.join(FILE),
                    folder.join("../lib/bugaroo").join(FILE),
                    folder.join("deps").join(FILE),
                ]
            }
        };
        let Some(driver) = candidates.iter().find(|path| path.is_file()) else {
            return Err(LibraryError::Missing(candidates));
        };
        let missing = PARTS.into_iter().find(|file| !driver.with_file_name(file).is_file());
        match missing {
            Some(file) if must_be_whole => Err(LibraryError::MissingRuntime { file, driver: driver.clone() }),
            _ => Self::at(driver),
        }
    }

    /// Shows the driver at this path, and the runtime if it is beside it.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn at(driver: &Path) -> Result<Self, LibraryError> {
        let driver = driver.canonicalize()?;
        let folder = Folder::new()?;
        for name in NAMES {
            symlink(&driver, folder.path().join(name))?;
        }
        let parts = PARTS.map(|file| driver.with_file_name(file));
        let runtime = parts.iter().all(|part| part.is_file());
        if runtime {
            let folder = folder.path().join(RUNTIME);
            fs::create_dir(&folder)?;
            // Here, and not beside the driver: before a real GPU, NVML is the real one's. Where that is installed, programs may need all of it.
            if !jax::has_nvml() {
                symlink(&driver, folder.join(jax::NVML))?;
            }
            for (file, part) in PARTS.into_iter().zip(&parts) {
                symlink(part, folder.join(file))?;
            }
            for shim in SHIMS.into_iter().chain(LIBRARY_SHIMS) {
                fs::write(folder.join(shim.name), shim.bytes)?;
            }
        }
        Ok(Self { folder: Arc::new(folder), runtime, ptxas: false })
    }

    /// Shows a program that answers as `ptxas`, when it is started by that name, to Triton and to JAX.
    ///
    /// # Errors
    /// When it cannot be shown.
    pub fn with_ptxas(self, program: &Path) -> Result<Self, LibraryError> {
        symlink(program, self.folder.path().join(triton::PTXAS))?;
        let toolkit = jax::toolkit(self.folder.path()).join("bin");
        fs::create_dir_all(&toolkit)?;
        symlink(program, toolkit.join(triton::PTXAS))?;
        Ok(Self { ptxas: true, ..self })
    }

    /// What a program's environment has to say, so that it loads these libraries: our folders before all
    /// that are named now, and our library preloaded before all that are preloaded now. Before a real GPU the
    /// program keeps its own runtime.
    ///
    /// `own` are the variables that the program has besides ours.
    pub fn environment(
        &self,
        backend: Backend,
        own: &BTreeMap<String, String>,
    ) -> Vec<(&'static str, OsString)> {
        let in_front = |variable, first: &[&Path]| before(variable, first, own);
        let driver = self.folder.path();
        let mut environment = if self.ptxas { triton::environment(driver, backend, own) } else { Vec::new() };
        if self.ptxas {
            environment.extend(jax::environment(driver, backend, own));
        }
        if backend == Backend::Sim {
            environment.extend(pools::environment(own));
        }
        if !self.runtime || backend == Backend::Cuda {
            environment.push(in_front("LD_LIBRARY_PATH", &[driver]));
            return environment;
        }
        let runtime = driver.join(RUNTIME);
        let preload = runtime.join(PRELOAD);
        environment.push(in_front("LD_LIBRARY_PATH", &[driver, &runtime]));
        environment.push(in_front("LD_PRELOAD", &[&preload]));
        environment
    }

    /// Where instrumented modules are cached: a run's own place, so that no module of another version
    /// of the injector is ever met there.
    pub fn module_cache(&self) -> PathBuf {
        self.folder.path().join("modules")
    }
}

#[cfg(test)]
mod tests;
