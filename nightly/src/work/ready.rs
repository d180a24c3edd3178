//! Makes a program that is built ready for its trials: finds it, and runs it without injection.

use std::fs::File;
use std::path::Path;

use bugaroo_harness::error::Class;
use bugaroo_harness::progress::Silent;
use bugaroo_harness::{
    Baseline, DriverLibrary, Error, Interrupt, Oracle, Session, Settings, StandardInput, Target,
};

use crate::night::{NotRun, Stage};
use crate::plan::{CellKind, PlanProgram};

/// A program that trials can be run of.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Where it is, and how it is started.
    pub target: Target,
    /// Settings of trials that look for failures.
    pub settings: Settings,
    /// What it does without injection.
    pub baseline: Baseline,
}

impl Ready {
    /// Settings of a cell's trials.
    pub fn settings(&self, kind: CellKind, program: &PlanProgram) -> Settings {
        match kind {
            // That a program fails at times is a reason to look, and no answer.
            CellKind::Races => Settings {
                oracle: Oracle::None,
                take_failing: true,
                suppressions: program.suppressions.clone(),
                ..self.settings.clone()
            },
            CellKind::Trials | CellKind::Explore => self.settings.clone(),
        }
    }
}

/// Why a program cannot be started as it is; None: it is there, with what it reads.
pub fn absent(program: &PlanProgram) -> Option<String> {
    let (app, args) = program.run.split_first()?;
    if let Err(error) = Target::resolve_in(&program.directory, app, args.to_vec()) {
        return Some(error.to_string());
    }
    let path = program.stdin.as_ref()?;
    File::open(path).err().map(|error| format!("{}: {error}", path.display()))
}

/// Finds a program, and runs it without injection.
///
/// # Errors
/// Why it cannot be run; or, inside, that the user wants to stop.
pub async fn ready(
    program: &PlanProgram,
    seed: u64,
    jobs: Option<usize>,
    library: &DriverLibrary,
    interrupt: &Interrupt,
) -> Result<Result<Ready, NotRun>, Error> {
    let failed = |stage, message| Ok(Err(NotRun { stage, message, expected: None }));
    let (app, args) = program.run.split_first().expect("plans name a program");
    let target = match Target::resolve_in(&program.directory, app, args.to_vec()) {
        Ok(target) => Target { variables: program.variables.clone(), ..target },
        Err(error) => return failed(Stage::Start, error.to_string()),
    };
    let input = match program.stdin.as_ref().map(|path| File::open(path).map(StandardInput::read)) {
        None => None,
        Some(Ok(Ok(input))) => input,
        Some(Ok(Err(error))) => return failed(Stage::Start, error.to_string()),
        Some(Err(error)) => {
            let path = program.stdin.as_deref().unwrap_or(Path::new(""));
            return failed(Stage::Start, format!("{}: {error}", path.display()));
        }
    };
    let settings = Settings {
        seed,
        jobs,
        timeout: None,
        oracle: program.oracle.clone(),
        warp_synchronous: program.warp_synchronous,
        devices: program.devices,
        ignore_faults: program.ignore_faults,
        input,
        ..Settings::default()
    };
    let started =
        Session::start(target.clone(), settings.clone(), library.clone(), interrupt.clone(), &Silent).await;
    match started {
        Ok(session) => {
            let baseline = session.baseline().clone();
            let took =
                std::time::Duration::try_from_secs_f64(baseline.duration_ms / 1000.0).unwrap_or_default();
            let settings = Settings { timeout: Some(program.timeout.of(took)), ..settings };
            Ok(Ok(Ready { target, settings, baseline }))
        }
        Err(error) => match error.class() {
            Class::Interrupted => Err(error),
            Class::Finding | Class::Baseline => failed(Stage::Baseline, error.to_string()),
            Class::Unsupported => failed(Stage::Unsupported, error.to_string()),
            Class::Usage | Class::Internal => failed(Stage::Start, error.to_string()),
        },
    }
}
