//! The compiler, `bugaroo` and `patch`: where they are, and what is done with them.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

/// The compiler that `apps/rebuild-ptx --install` installs.
pub fn nvcc() -> Option<PathBuf> {
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/cuda-toolchain/V/lib");
    let folders = fs::read_dir(lib).into_iter().flatten().flatten();
    let mut compilers = folders.map(|entry| entry.path().join("site-packages/nvidia/cu13/bin/nvcc"));
    compilers.find(|nvcc| nvcc.is_file())
}

/// `bugaroo` as built beside this program, or beside the folder of this test.
pub fn bugaroo() -> Result<PathBuf> {
    let this = env::current_exe().context("this program does not know where it stands")?;
    let found =
        this.ancestors().skip(1).take(2).map(|folder| folder.join("bugaroo")).find(|path| path.is_file());
    found.with_context(|| format!("no bugaroo beside {}: build the whole workspace first", this.display()))
}

/// What is needed to build and to run.
#[derive(Clone, Debug)]
pub struct AdviceTools {
    /// The compiler.
    pub nvcc: PathBuf,
    /// `bugaroo`
    pub bugaroo: PathBuf,
}

/// A copy of a program's sources, in a temporary folder.
#[derive(Debug)]
pub struct Copy {
    folder: TempDir,
}

/// Whether a file is part of the program, and not of what is said about it.
fn is_source(path: &Path) -> bool {
    let kind = path.extension().and_then(OsStr::to_str);
    matches!(kind, Some("cu" | "cuh" | "h"))
}

/// The sources in a folder, in the order of their names.
pub fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.retain(|path| is_source(path));
    paths.sort();
    Ok(paths)
}

impl Copy {
    /// Of the program in a folder.
    pub fn of(program: &Path) -> Result<Copy> {
        let folder = tempfile::Builder::new().prefix("fence_suite-").tempdir()?;
        for source in sources(program)? {
            fs::copy(&source, folder.path().join(source.file_name().unwrap_or_default()))?;
        }
        Ok(Copy { folder })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The built program.
    pub fn app(&self) -> PathBuf {
        self.path().join("app")
    }

    /// Applies a unified diff as `patch -p1` does.
    pub fn patch(&self, diff: &str) -> Result<()> {
        let mut patch = Command::new("patch")
            .args(["-p1", "--batch", "--no-backup-if-mismatch"])
            .current_dir(self.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("patch cannot be started")?;
        if let Some(mut input) = patch.stdin.take() {
            // One that has given up reads no further; its exit code says so.
            let _ = input.write_all(diff.as_bytes());
        }
        let done = patch.wait_with_output()?;
        ensure!(done.status.success(), "the patch does not apply: {}", said(&done));
        Ok(())
    }

    /// Builds it as its author would, with lines for device and host.
    pub fn build(&self, nvcc: &Path) -> Result<()> {
        let library = nvcc.parent().and_then(Path::parent).context("nvcc stands in bin/")?.join("lib");
        let sources = sources(self.path())?;
        let done = Command::new(nvcc)
            .current_dir(self.path())
            .args(["-O2", "-g", "-lineinfo", "-arch=sm_75", "-o", "app"])
            .args(
                sources
                    .iter()
                    .filter(|path| path.extension() == Some(OsStr::new("cu")))
                    .filter_map(|path| path.file_name()),
            )
            .arg("-L")
            .arg(library)
            .output()
            .context("nvcc cannot be started")?;
        if !done.status.success() {
            bail!("it does not build: {}", said(&done));
        }
        Ok(())
    }
}

/// What a command printed.
fn said(done: &Output) -> String {
    let text = [&done.stdout[..], &done.stderr[..]].concat();
    String::from_utf8_lossy(&text).trim().to_owned()
}

impl AdviceTools {
    /// Runs `bugaroo ARGUMENTS… ./app` where a program was built, in a state folder that is forgotten.
    pub fn run(&self, copy: &Copy, arguments: &[&str]) -> Result<Output> {
        let state = tempfile::tempdir()?;
        let mut command = Command::new(&self.bugaroo);
        command.current_dir(copy.path()).env("XDG_STATE_HOME", state.path()).env_remove("BUGAROO_DRIVER");
        command.args(arguments).arg("./app").output().context("bugaroo cannot be started")
    }
}
