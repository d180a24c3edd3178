//! The compiler and `bugaroo`: where they are, and what is done with them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tempfile::TempDir;

use crate::report::{self, Reported};
use crate::suite::LabelledProgram;

pub use fence_suite::tools::{bugaroo, nvcc};

/// What is needed to build and to run.
#[derive(Clone, Debug)]
pub struct RaceTools {
    /// The compiler.
    pub nvcc: PathBuf,
    /// `bugaroo`
    pub bugaroo: PathBuf,
    /// Detectors are fed by device code (`race --handlers`).
    pub handlers: bool,
    /// What detectors are set to (`race --detector-config`).
    pub settings: Option<PathBuf>,
}

/// A program that was built, in a temporary folder of its own.
#[derive(Debug)]
pub struct BuiltProgram {
    folder: TempDir,
}

impl BuiltProgram {
    /// Where it was built.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its PTX, which the compiler has kept.
    pub fn ptx(&self, program: &LabelledProgram) -> Result<String> {
        let path = self.folder().join(program.file()).with_extension("ptx");
        fs::read_to_string(&path).with_context(|| path.display().to_string())
    }
}

/// What a command printed.
fn said(done: &Output) -> String {
    let text = [&done.stdout[..], &done.stderr[..]].concat();
    String::from_utf8_lossy(&text).trim().to_owned()
}

impl RaceTools {
    /// Builds a program, with lines for device and host.
    pub fn build(&self, program: &LabelledProgram) -> Result<BuiltProgram> {
        let folder = tempfile::Builder::new().prefix("race_suite-").tempdir()?;
        fs::copy(&program.path, folder.path().join(program.file()))?;
        let beside = program.path.parent().context("a program stands in a folder")?;
        let library = self.nvcc.parent().and_then(Path::parent).context("nvcc stands in bin/")?.join("lib");
        let done = Command::new(&self.nvcc)
            .current_dir(folder.path())
            .args(["-O3", "-g", "-lineinfo", "--keep", "-o", "app", &format!("-arch={}", program.label.arch)])
            .arg("-I")
            .arg(beside)
            .args(program.defines.iter().map(|define| format!("-D{define}")))
            .args(if program.label.children { &["-rdc=true", "-lcudadevrt"][..] } else { &[] })
            .arg(program.file())
            .arg("-L")
            .arg(library)
            .output()
            .context("nvcc cannot be started")?;
        if !done.status.success() {
            bail!("it does not build: {}", said(&done));
        }
        Ok(BuiltProgram { folder })
    }

    /// Runs `bugaroo ARGUMENTS… ./app OWN…` where a program was built, in a state folder that is forgotten.
    pub fn run(&self, built: &BuiltProgram, arguments: &[&str], own: &[String]) -> Result<Output> {
        let state = tempfile::tempdir()?;
        let mut command = Command::new(&self.bugaroo);
        command.current_dir(built.folder()).env("XDG_STATE_HOME", state.path()).env_remove("BUGAROO_DRIVER");
        command.args(arguments).arg("./app").args(own).output().context("bugaroo cannot be started")
    }

    /// What a detector reports about a program that is run with these arguments, and the whole of its report.
    pub fn race(
        &self,
        program: &LabelledProgram,
        built: &BuiltProgram,
        own: &[String],
        (detector, trials): (&str, u32),
    ) -> Result<(Vec<Reported>, Value)> {
        let trials = trials.max(program.label.trials).to_string();
        let mut arguments =
            vec!["race", "--format", "json", "--seed", "1", "--detector", detector, "--trials", &trials];
        if self.handlers {
            arguments.push("--handlers");
        }
        let settings = self.settings.as_ref().map(|file| file.display().to_string());
        if let Some(file) = &settings {
            arguments.extend(["--detector-config", file]);
        }
        let done = self.run(built, &arguments, own)?;
        let report: Value = serde_json::from_slice(&done.stdout)
            .with_context(|| format!("bugaroo prints no JSON ({}): {}", done.status, said(&done)))?;
        let races = report::races(&report, &program.file())?;
        Ok((races, report))
    }
}
