//! What is run: the built `bugaroo`, its driver library and the programs, all in one folder.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use bugaroo_harness::capture::{Keep, Output};
use bugaroo_harness::library::DRIVER_VARIABLE;
use bugaroo_harness::process::{Ended, NO_VARIABLES, Patience, ProgramCall};
use bugaroo_harness::{DriverLibrary, Exit, Interrupt};
use bugaroo_protocol::{Backend, Model, ORDERS_VARIABLE, Orders, VERSION, Variation};
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::catalog;
use crate::paper;

/// Wall-clock time of one timed run; the paper's limit for one run is 60 s on a K80.
const TIMEOUT: Duration = Duration::from_secs(600);

const BUGAROO: &str = "bugaroo";
const DRIVER: &str = "libcuda.so";

/// The user wants to stop.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Runs what is measured.
#[derive(Debug)]
pub struct Tools {
    folder: PathBuf,
    library: DriverLibrary,
    /// Where what we run keeps its temporary files, so that nothing is left when it is killed.
    scratch: TempDir,
    interrupt: Interrupt,
}

impl Tools {
    /// Looks for everything in a folder.
    ///
    /// # Errors
    /// When something is missing there.
    pub fn find(folder: &Path, interrupt: Interrupt) -> anyhow::Result<Self> {
        let folder = folder.canonicalize().with_context(|| folder.display().to_string())?;
        for file in files() {
            if !folder.join(file).is_file() {
                bail!("{file} is not in {}: cargo build --release --workspace makes it", folder.display());
            }
        }
        let library = DriverLibrary::at(&folder.join(DRIVER))?;
        let scratch = tempfile::Builder::new().prefix("bugaroo-evaluation-").tempdir()?;
        Ok(Self { folder, library, scratch, interrupt })
    }

    /// SHA-256 of all that is run, by file.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn built(&self) -> anyhow::Result<BTreeMap<String, String>> {
        let digest = |file: &'static str| {
            let content = fs::read(self.folder.join(file)).with_context(|| file.to_owned())?;
            let digest: String = Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
            Ok((file.to_owned(), digest))
        };
        files().map(digest).collect()
    }

    /// What asks detectors about the programs of `apps/race_suite`.
    pub fn race_suite(&self, nvcc: PathBuf) -> race_suite::tools::RaceTools {
        race_suite::tools::RaceTools {
            nvcc,
            bugaroo: self.folder.join(BUGAROO),
            handlers: false,
            settings: None,
        }
    }

    /// The user's wish to stop.
    pub fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    /// The path of a program.
    pub fn program(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Runs `bugaroo` and reads the object that it prints.
    ///
    /// # Errors
    /// When it fails, or prints something else; [`Interrupted`] when the user wants to stop.
    pub async fn bugaroo<T: DeserializeOwned>(&self, arguments: &[String]) -> anyhow::Result<T> {
        let keep = Keep { head: true, ..Keep::default() };
        let command = || format!("bugaroo {}", arguments.join(" "));
        let environment = [
            ("TMPDIR", self.scratch.path().as_os_str().to_owned()),
            (DRIVER_VARIABLE, self.folder.join(DRIVER).into_os_string()),
        ];
        let ended =
            self.run(BUGAROO, arguments, &environment, Duration::MAX, keep).await.with_context(command)?;
        if ended.exit != Exit::Code(0) {
            bail!("{}: {}{}", command(), ended.exit, said(&ended.stderr));
        }
        serde_json::from_slice(&ended.stdout.head).with_context(command)
    }

    /// Runs a program under the driver library and says how long its process took, in milliseconds. Without a
    /// model nothing is injected; with one, every store is delayed. All else is the same.
    ///
    /// # Errors
    /// When it does not exit with 0; [`Interrupted`] when the user wants to stop.
    pub async fn time(
        &self,
        program: &str,
        arguments: &[String],
        seed: u64,
        model: Option<Model>,
    ) -> anyhow::Result<f64> {
        let variation = Variation {
            model: model.unwrap_or(Model::StoreBuffer),
            pr: 0.0,
            pw: if model.is_some() { 1.0 } else { 0.0 },
            buffer: paper::BUFFER_ENTRIES,
            ..Variation::default()
        };
        let orders = Orders {
            injects: model.is_some(),
            variation,
            version: VERSION,
            seed,
            check_insert: Default::default(),
            warp_synchronous: false,
            backend: Backend::Sim,
            devices: 1,
            real_driver: None,
            step_budget: None,
            report_sites: false,
            conflicts: false,
            launches: false,
            ends: false,
            digest: false,
            cache: Some(self.library.module_cache()),
            // No pipe: nobody listens.
            report_fd: -1,
            fork_server: None,
        };
        let mut environment = self.library.environment(Backend::Sim, &BTreeMap::new());
        environment.push((ORDERS_VARIABLE, orders.to_json().into()));
        let ended = self
            .run(program, arguments, &environment, TIMEOUT, Keep::default())
            .await
            .with_context(|| program.to_owned())?;
        if ended.exit != Exit::Code(0) {
            bail!("{program} {}: {}{}", arguments.join(" "), ended.exit, said(&ended.stderr));
        }
        Ok(ended.duration.as_secs_f64() * 1e3)
    }

    async fn run(
        &self,
        file: &str,
        arguments: &[String],
        environment: &[(&str, OsString)],
        timeout: Duration,
        keep: Keep,
    ) -> anyhow::Result<Ended> {
        let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
        let program = ProgramCall {
            path: self.folder.join(file),
            arguments: &arguments,
            directory: self.folder.clone(),
            variables: &NO_VARIABLES,
            input: None,
            patience: Patience::exactly(timeout),
            keep,
        };
        let mut interrupt = self.interrupt.clone();
        // Dropped unfinished, it is killed, and its trials with it; what `bugaroo run` has recorded stays.
        tokio::select! {
            ended = program.run(environment) => Ok(ended?),
            () = interrupt.wait() => Err(Interrupted.into()),
        }
    }
}

/// All that is run.
fn files() -> impl Iterator<Item = &'static str> {
    [BUGAROO, DRIVER].into_iter().chain(catalog::PROGRAMS.iter().map(|program| program.name))
}

fn said(stderr: &Output) -> String {
    let text = stderr.last_lines(10, 2000);
    if text.is_empty() { text } else { format!("; it said:\n{text}") }
}
