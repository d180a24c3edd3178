//! Measures whatever is missing in the results, a piece at a time; each is saved as it is done.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, bail};
use bugaroo_protocol::Model;
use serde::Deserialize;

use crate::catalog::Program;
use crate::markdown;
use crate::memory;
use crate::paper;
use crate::results::{Cell, Counts, Evaluation, Profiled, Rated, Row, Timed, model_name};
use crate::tools::Tools;

/// Table IV takes the small sizes in both forms: thousands of trials, each of many seconds, say no more.
const RATES_SMALL: bool = true;

/// Folder of the records of all trials, under that of the results.
const RUNS: &str = "runs";

/// What is to be measured, and where the results go.
#[derive(Debug)]
pub struct Plan<'a> {
    /// What is run.
    pub tools: &'a Tools,
    /// Programs.
    pub programs: Vec<&'static Program>,
    /// Models.
    pub models: Vec<Model>,
    /// Directory of the results.
    pub out: PathBuf,
}

impl Plan<'_> {
    /// Measures all of it.
    ///
    /// # Errors
    /// When something cannot be measured, or the user wants to stop. What was measured is saved.
    pub async fn measure(&self, results: &mut Evaluation) -> anyhow::Result<()> {
        for program in &self.programs {
            for variant in program.measured() {
                self.profiles(results, program, variant).await?;
                self.times(results, program, variant).await?;
            }
        }
        make_runs(&self.out)?;
        // Last, since it is what takes long.
        for program in &self.programs {
            for variant in program.variants {
                for &model in &self.models {
                    self.rates(results, program, variant.name, model).await?;
                }
            }
        }
        Ok(())
    }

    async fn profiles(
        &self,
        results: &mut Evaluation,
        program: &Program,
        variant: &str,
    ) -> anyhow::Result<()> {
        // Flush lengths are those of buffers that stand for themselves.
        for &model in self.models.iter().filter(|&&model| model != Model::Ptx) {
            if results.profile(program.name, variant, model).is_some() {
                continue;
            }
            let step =
                Step::begin(format!("{} {variant}: profile under {}", program.name, model_name(model)));
            let settings = &results.settings;
            let mut arguments = vec!["profile".to_owned(), "--format".into(), "json".into()];
            arguments.extend(["--model".into(), model_name(model).into(), "--pw".into(), "1".into()]);
            // What the buffers take is of interest where they lie in a GPU's memory.
            if model == Model::StoreBuffer {
                arguments.push("--handlers".into());
            }
            // Of the paper's size, an injected streamcluster can take longer than a trial's usual minute.
            arguments.extend([
                "--trials".into(),
                repetitions(program, settings.short, settings.profile_trials).to_string(),
                "--timeout".into(),
                "600s".into(),
            ]);
            arguments.extend(self.common(settings.seed));
            arguments.push(self.tools.program(program.name));
            arguments.extend(program.args(variant, settings.short));
            let profile: ProfileJson = self.tools.bugaroo(&arguments).await?;
            if profile.interrupted {
                bail!("bugaroo profile of {} was interrupted", program.name);
            }
            let total = profile.total;
            let launch = program.launch(settings.short);
            if total.buffer_bytes != memory::of_launch(launch) {
                bail!(
                    "{}: its buffers take {} bytes, but a launch of {} CTAs of {} threads would take {}: the \
                     evaluation's catalogue of programs is out of date",
                    program.name,
                    total.buffer_bytes,
                    launch.0,
                    launch.1,
                    memory::of_launch(launch),
                );
            }
            step.end(&format!("{} stores delayed", markdown::thousands(total.delayed_stores)));
            results.profiles.push(Profiled { row: Row::new(program.name, variant), model, total });
            results.save(&self.out)?;
        }
        Ok(())
    }

    async fn times(&self, results: &mut Evaluation, program: &Program, variant: &str) -> anyhow::Result<()> {
        let done = results.timed(program.name, variant);
        if self
            .models
            .iter()
            .all(|&model| done.is_some_and(|it| it.instrumented_ms.contains_key(model_name(model))))
        {
            return Ok(());
        }
        let step = Step::begin(format!("{} {variant}: run time", program.name));
        let args = program.args(variant, results.settings.short);
        // The module's instrumentation comes out of the cache afterwards, as the paper's comes out of the compiler.
        for &model in &self.models {
            self.tools.time(program.name, &args, results.settings.seed, Some(model)).await?;
        }
        let mut native_ms = Vec::new();
        let mut instrumented_ms = BTreeMap::new();
        for round in 0..repetitions(program, results.settings.short, results.settings.timings) {
            let seed = results.settings.seed.wrapping_add(round);
            // In turn, and in turning order, so that what changes on the machine meanwhile meets all alike.
            let mut kinds: Vec<Option<Model>> = vec![None];
            kinds.extend(self.models.iter().map(|&model| Some(model)));
            let count = kinds.len();
            kinds.rotate_left(usize::try_from(round).unwrap_or(0) % count);
            for kind in kinds {
                let ms = self.tools.time(program.name, &args, seed, kind).await?;
                match kind {
                    None => native_ms.push(ms),
                    Some(model) => {
                        instrumented_ms.entry(model_name(model).to_owned()).or_insert_with(Vec::new).push(ms);
                    }
                }
            }
        }
        results.timings.retain(|it| !it.row.is(program.name, variant));
        results.timings.push(Timed { row: Row::new(program.name, variant), native_ms, instrumented_ms });
        step.end("");
        results.save(&self.out)
    }

    async fn rates(
        &self,
        results: &mut Evaluation,
        program: &Program,
        variant: &str,
        model: Model,
    ) -> anyhow::Result<()> {
        if results.rated(program.name, variant, model).is_some() {
            return Ok(());
        }
        let settings = &results.settings;
        let name = model_name(model);
        let step = Step::begin(format!(
            "{} {variant}: {} x {} trials under {name}",
            program.name,
            paper::PW.len(),
            settings.trials
        ));
        let mut arguments = vec!["run".to_owned(), "--format".into(), "json".into()];
        arguments.extend([
            "--model".into(),
            name.into(),
            "--pw".into(),
            paper::PW.map(|pw| pw.to_string()).join(","),
        ]);
        arguments.extend([
            "--trials".into(),
            settings.trials.to_string(),
            "--error-exitcode".into(),
            "0".into(),
        ]);
        arguments.extend(self.common(settings.seed));
        arguments.extend(["--out".into(), run_dir(&self.out, program.name, variant, name)?]);
        arguments.push(self.tools.program(program.name));
        arguments.extend(program.args(variant, RATES_SMALL));
        let run: RunJson = self.tools.bugaroo(&arguments).await?;
        if run.interrupted || run.cells.iter().any(|cell| cell.trials < settings.trials) {
            bail!("bugaroo run of {} {variant} ended before its time", program.name);
        }
        let rated = Rated { row: Row::new(program.name, variant), model, cells: run.cells };
        step.end(&rated.cells.iter().map(|cell| markdown::rate(cell.rate())).collect::<Vec<_>>().join(", "));
        results.rates.push(rated);
        results.save(&self.out)
    }

    fn common(&self, seed: u64) -> [String; 4] {
        ["--seed".into(), seed.to_string(), "--buffer".into(), paper::BUFFER_ENTRIES.to_string()]
    }
}

/// How often a program is profiled or timed: less often where it takes a minute each time.
fn repetitions(program: &Program, short: bool, usual: u64) -> u64 {
    if program.small.is_some() && !short { usual.div_ceil(3) } else { usual }
}

/// Makes the folder of all records, which no version control needs to keep.
fn make_runs(out: &Path) -> anyhow::Result<()> {
    let path = out.join(RUNS);
    let make = || {
        fs::create_dir_all(&path)?;
        fs::write(path.join(".gitignore"), "*\n")
    };
    make().with_context(|| path.display().to_string())
}

/// Where the records of a row's trials lie.
fn run_dir(out: &Path, program: &str, variant: &str, model: &str) -> anyhow::Result<String> {
    let path = std::path::absolute(out.join(RUNS).join(format!("{program}-{variant}-{model}")))?;
    path.into_os_string().into_string().ok().context("the output directory's path is no UTF-8")
}

/// What is read of `bugaroo profile --format json`.
#[derive(Debug, Deserialize)]
struct ProfileJson {
    interrupted: bool,
    total: Counts,
}

/// What is read of `bugaroo run --format json`.
#[derive(Debug, Deserialize)]
struct RunJson {
    interrupted: bool,
    cells: Vec<Cell>,
}

/// A line of progress on standard error.
struct Step {
    started: Instant,
}

impl Step {
    fn begin(what: String) -> Self {
        eprint!("{what} … ");
        Self { started: Instant::now() }
    }

    fn end(self, result: &str) {
        let seconds = self.started.elapsed().as_secs_f64();
        let colon = if result.is_empty() { "" } else { ": " };
        eprintln!("{seconds:.1} s{colon}{result}");
    }
}

#[cfg(test)]
mod tests;
