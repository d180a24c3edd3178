//! Trials of a program under a model and a scheduler.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::expert::ExpertModel;
use crate::tools::{AdviceTools, Copy};

/// Who runs next on the virtual GPU.
pub const SCHEDULERS: [&str; 2] = ["random", "pct"];

/// Under which circumstances how many trials are run.
#[derive(Clone, Copy, Debug)]
pub struct SuiteTrials<'a> {
    /// The memory model.
    pub model: ExpertModel,
    /// One of [`SCHEDULERS`].
    pub scheduler: &'a str,
    /// How many.
    pub trials: u32,
    /// Whether the first failure is enough.
    pub until_failure: bool,
    /// How many at the same time; none for `bugaroo`'s own choice.
    pub jobs: Option<u32>,
}

/// A hang is told after so many warp instructions of a launch; no program of the suite comes near it.
const STEPS: &str = "3000000";

/// How many trials failed.
pub fn failures(tools: &AdviceTools, copy: &Copy, what: SuiteTrials) -> Result<u64> {
    let trials = what.trials.to_string();
    let jobs = what.jobs.map(|jobs| jobs.to_string());
    let mut arguments =
        vec!["run", "--format", "json", "--seed", "17", "--pw", "0.75", "--step-budget", STEPS];
    arguments.extend(["--trials", &trials, "--model", what.model.name(), "--scheduler", what.scheduler]);
    arguments.extend(what.until_failure.then_some("--until-failure"));
    arguments.extend(jobs.iter().flat_map(|jobs| ["--jobs", jobs.as_str()]));
    let ran = tools.run(copy, &arguments)?;
    let errors = || String::from_utf8_lossy(&ran.stderr).trim().to_owned();
    // What fails without injection under some schedules has told so in its cells; any other exit code is no answer.
    ensure!(matches!(ran.status.code(), Some(0 | 1)), "bugaroo run: {}: {}", ran.status, errors());
    let report: Value = serde_json::from_slice(&ran.stdout).with_context(errors)?;
    let cells = report["cells"].as_array().context("a report has cells")?;
    let failures = |cell: &Value| cell["failures"].as_u64().context("a cell has failures");
    cells.iter().map(failures).sum()
}

/// The first setting in which a cured program still fails, of so many trials under each model.
pub fn still_fails(
    tools: &AdviceTools,
    copy: &Copy,
    trials: [(ExpertModel, u32); 2],
    jobs: Option<u32>,
) -> Result<Option<String>> {
    for (model, trials) in trials {
        for scheduler in SCHEDULERS {
            let failures =
                failures(tools, copy, SuiteTrials { model, scheduler, trials, until_failure: false, jobs })?;
            if failures > 0 {
                let model = model.name();
                return Ok(Some(format!("{failures} of {trials} fail under {model}, {scheduler}")));
            }
        }
    }
    Ok(None)
}
