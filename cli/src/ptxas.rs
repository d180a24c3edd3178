//! `bugaroo` under the name `ptxas`: what Triton and XLA assemble their PTX with, so that PTX comes to the driver in the place of
//! machine code.
//!
//! Triton's NVIDIA backend asks `ptxas --version` for a text with `release MAJOR.MINOR`, from which it takes the version of PTX
//! to write, and then runs `ptxas OPTIONS --gpu-name=sm_NN FILE.ptx -o FILE` for each kernel (`triton/backends/nvidia/compiler.py`
//! and `triton/knobs.py`, Triton 3.9). What stands in the output goes to `cuModuleLoadData`, which takes PTX as well.
//!
//! XLA (JAX 0.10) asks for the version in the same way, and runs `ptxas FILE -o FILE -arch=sm_NN OPTIONS`, where neither file's name
//! has an ending. It hands the bytes of the output to `cuModuleLoadData` with nothing behind them, and the driver reads PTX
//! up to a zero: so one ends the output.
//!
//! What differs from NVIDIA's: options are read for the output alone, so that `--maxrregcount` and the like say nothing; and
//! what is checked is that the text is PTX. Whether the virtual GPU knows all of it, the driver says when the kernel is loaded.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::output::print;

/// The name that we answer to.
const NAME: &str = "ptxas";

/// The version of the CUDA toolkit that is told. Triton derives 8.7 from it, which Tritons before 3.5 write, too; they refuse 13.
const RELEASE: &str = "12.8";

/// What went wrong, in the words for standard error.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("no PTX file among the arguments")]
    NoInput,
    #[error("more than one PTX file: {} and {}", .0.display(), .1.display())]
    Inputs(PathBuf, PathBuf),
    #[error("no file for the output: -o names one")]
    NoOutput,
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{}: {error}", path.display())]
    NotPtx { path: PathBuf, error: bugaroo_ptx::ParseError },
}

/// What the arguments ask for.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    Version,
    Copy { from: PathBuf, to: PathBuf },
}

/// Whether we were started by that name.
pub fn is_meant(words: &[OsString]) -> bool {
    words.first().is_some_and(|word| Path::new(word).file_name() == Some(OsStr::new(NAME)))
}

/// Does what `ptxas` is asked for; `words` begin with its name.
pub fn ptxas(words: &[OsString]) -> ExitCode {
    let done = asked(words.get(1..).unwrap_or_default()).and_then(|asked| match asked {
        Asked::Version => {
            let text = version();
            print(&text).map_err(|error| Error::File {
                path: "standard output".into(),
                source: io::Error::other(error.to_string()),
            })
        }
        Asked::Copy { from, to } => copy(&from, &to),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ptxas (bugaroo): {error}");
            // 255 would be taken for a fault of Triton's own.
            ExitCode::FAILURE
        }
    }
}

/// What `--version` answers. Our own version is in it, as Triton's key for what it caches holds this text.
fn version() -> String {
    format!(
        "ptxas: hands PTX on as it is (bugaroo {})\nCuda compilation tools, release {RELEASE}, V{RELEASE}.0\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// Reads the arguments.
fn asked(words: &[OsString]) -> Result<Asked, Error> {
    let (mut from, mut to) = (None, None);
    // Without an ending, a name can be told from the value of an option only where no option stands before it.
    let first = words.first().filter(|word| !word.to_string_lossy().starts_with('-'));
    let first = first.filter(|word| Path::new(word).extension().is_none()).map(PathBuf::from);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if text == "--version" || text == "-V" {
            return Ok(Asked::Version);
        } else if text == "-o" || text == "--output-file" {
            to = words.next().map(PathBuf::from);
        } else if let Some(path) = text.strip_prefix("--output-file=").or_else(|| text.strip_prefix("-o=")) {
            to = Some(path.into());
        } else if Path::new(word).extension() == Some(OsStr::new("ptx"))
            && !text.starts_with('-')
            && let Some(first) = from.replace(PathBuf::from(word))
        {
            return Err(Error::Inputs(first, word.into()));
        }
    }
    Ok(Asked::Copy { from: from.or(first).ok_or(Error::NoInput)?, to: to.ok_or(Error::NoOutput)? })
}

/// Copies a file that is PTX, with a zero at its end.
fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    let mut text =
        fs::read_to_string(from).map_err(|source| Error::File { path: from.to_owned(), source })?;
    bugaroo_ptx::parse(&text).map_err(|error| Error::NotPtx { path: from.to_owned(), error })?;
    text.push('\0');
    fs::write(to, text).map_err(|source| Error::File { path: to.to_owned(), source })
}

#[cfg(test)]
mod tests;
