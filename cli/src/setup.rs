//! From options to what the harness wants: the same for all commands that run trials.

use bugaroo_harness::error::MemoryTrouble;
use bugaroo_harness::gpu::real_driver;
use bugaroo_harness::oracle::ComparisonText;
use bugaroo_harness::{Error, Oracle, Settings, StandardInput, Suppressions, Target};
use bugaroo_protocol::Backend as ProtocolBackend;

use crate::args::{Backend, Model, Program, TrialArgs};
use crate::exit::UsageError;
use crate::output::note;

/// Finds the program.
pub fn target(program: &Program) -> Result<Target, Error> {
    let (app, args) = program.split();
    Ok(Target::resolve(app, args.to_vec())?)
}

/// The settings of a session; without `--seed`, its seed is 0.
pub fn settings(args: &TrialArgs) -> anyhow::Result<Settings> {
    let oracle = args.oracle.clone().unwrap_or(Oracle::Exit);
    if matches!(oracle, Oracle::Race) {
        let only = "--oracle race is for bisect; bugaroo race looks for races, whatever the oracle";
        return Err(UsageError(only.to_owned()).into());
    }
    settings_with(args, oracle)
}

/// The same, with another oracle.
pub fn settings_with(args: &TrialArgs, oracle: Oracle) -> anyhow::Result<Settings> {
    let passed_over = ComparisonText { ignore_lines: args.ignore_lines.clone(), tolerance: args.tolerance };
    let oracle = oracle.passing_over(&passed_over).map_err(|error| UsageError(error.to_string()))?;
    if matches!((&oracle, args.backend), (Oracle::Memory, Backend::Cuda)) {
        return Err(UsageError(format!("--oracle memory: {}", MemoryTrouble::RealGpu)).into());
    }
    Ok(Settings {
        seed: args.seed.unwrap_or(0),
        jobs: args.jobs.map(usize::from),
        timeout: args.timeout,
        oracle,
        // Before a GPU's driver is looked for.
        devices: devices(args)?,
        backend: backend(args.backend)?,
        step_budget: args.step_budget,
        warp_synchronous: args.warp_synchronous,
        digest: true,
        ignore_faults: args.ignore_faults,
        schedules: true,
        take_failing: false,
        fork_server: !args.no_fork_server,
        // Read by [`input`], once all else is known to be well.
        input: None,
        suppressions: Suppressions::default(),
        record_launches: false,
    })
}

/// What the program finds on its standard input: what we find on ours.
pub fn input() -> Result<Option<StandardInput>, Error> {
    Ok(StandardInput::of_ours(|text| note(text))?)
}

/// Only on the virtual GPU can a trial be replayed, so a real one has to be asked for.
fn backend(backend: Backend) -> Result<ProtocolBackend, Error> {
    match backend {
        Backend::Auto | Backend::Sim => Ok(ProtocolBackend::Sim),
        Backend::Cuda => match real_driver() {
            Ok(_) => Ok(ProtocolBackend::Cuda),
            Err(looked_at) => Err(Error::NoRealDriver(looked_at)),
        },
    }
}

/// How many virtual GPUs there are: only these can be made more.
fn devices(args: &TrialArgs) -> Result<u32, UsageError> {
    let only = |with: &str| {
        UsageError(format!("--devices is for virtual GPUs whose memory is simulated: leave {with} out"))
    };
    match args.devices {
        1 => Ok(1),
        _ if args.backend == Backend::Cuda => Err(only("--backend cuda")),
        _ if args.handlers => Err(only("--handlers")),
        _ if args.model == Some(Model::Bugaroo) => Err(only("--model bugaroo")),
        devices => Ok(devices),
    }
}
