//! What every command takes that runs trials.

use std::time::Duration;

use bugaroo_harness::{Oracle, Variation};
use bugaroo_protocol::amount::{bytes, duration};
use bugaroo_protocol::{MOST_DEVICES, PCT_DEPTH, SiteId};
use clap::Args;

use super::values::*;
use crate::exit::UsageError;

/// The program under test. Everything after its name is its own.
#[derive(Clone, Debug, Args)]
pub struct Program {
    /// Program under test, then its arguments
    #[arg(required = true, trailing_var_arg = true, num_args = 1.., value_name = "APP")]
    command: Vec<String>,
}

impl Program {
    /// The program as it was named, and its arguments.
    pub fn split(&self) -> (&str, &[String]) {
        let (app, args) = self.command.split_first().expect("clap requires at least one value");
        (app, args)
    }
}

/// Options of all commands that run trials: how a trial goes.
#[derive(Clone, Debug, Args)]
pub struct TrialArgs {
    /// Seed that all else that is random stems from [default: random, or that of the run in --out; of
    /// bisect and profile: 0]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Trials that run at the same time [default: number of processors; three times that where trials are short and
    /// forked]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Wall-clock time that a trial may take, as 60s, 500ms, 2m [default: a minute, or 50 times what the program
    /// takes without injection, or 10 times the longest trial of its model, whichever is most; ten times that while its
    /// kernels get somewhere]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Warp instructions that one launch may execute [default: 1000 times the largest launch without
    /// injection, and 50 million more]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub step_budget: Option<u64>,
    /// Model ptx: probability with which a load reads an older value than it has to
    #[arg(long, value_name = "P", default_value = "0.5", value_parser = one_probability)]
    pub pr: f64,
    /// Model ptx: memory that a launch's histories may take, as 512M or 4G; what is forgotten beyond is told
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = bytes)]
    pub model_memory: u64,
    /// Entries of each thread's store buffers
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    pub buffer: u32,
    /// Which memory's stores are delayed
    #[arg(long, value_enum, default_value_t = Space::Both)]
    pub space: Space,
    /// Delay the stores of kernels with matching names only
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    pub kernel: Option<String>,
    /// Which memory behaviour is shown [default: store-buffer; of bisect: store-buffer first, then ptx; of race: none,
    /// store-buffer and ptx by turns]
    #[arg(long, value_enum)]
    pub model: Option<Model>,
    /// Who runs next on the virtual GPU [default: random; of bisect and race: both by turns]
    #[arg(long, value_enum)]
    pub scheduler: Option<Scheduler>,
    /// With --scheduler pct: how many orderings of instructions a bug may need to show, at least 1 [default: 3]
    #[arg(long, value_name = "N", requires = "scheduler", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub pct_depth: Option<u32>,
    /// Have warps run in lockstep, as before Volta: for programs that count on it, without __syncwarp(); on the
    /// virtual GPU
    #[arg(long, conflicts_with = "handlers")]
    pub warp_synchronous: bool,
    /// What executes the kernels
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    pub backend: Backend,
    /// Virtual GPUs that the program finds. With more than one, stores that are ordered at device scope alone may be late for
    /// the others
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_DEVICES)))]
    pub devices: u32,
    /// Omit this fence; may be repeated
    #[arg(long, value_name = "SITE", value_delimiter = ',')]
    pub without_fence: Vec<SiteId>,
    /// Insert a fence after this access; may be repeated
    #[arg(long, value_name = "SITE", value_delimiter = ',')]
    pub with_fence: Vec<SiteId>,
    /// Make this fence act at CTA scope only, as __threadfence_block() does; may be repeated
    #[arg(long, value_name = "SITE", value_delimiter = ',')]
    pub narrow_fence: Vec<SiteId>,
    /// Delay stores by handlers that are injected into the program's PTX, as on a real GPU, and not natively on the
    /// virtual one; of race: have injected code log what the program does, as BARRACUDA does, and look at that
    #[arg(long)]
    pub handlers: bool,
    /// What says whether a trial did right: exit (code 0), reference (prints the same as without
    /// injection), memory (device memory holds the same at the end), stdout:REGEX, cmd:CMD (a shell command that gets the output, and the exit code in
    /// BUGAROO_EXIT_CODE), none (whatever the program says), race (of bisect: no data race) [default: exit; of
    /// race: none]
    #[arg(long, value_name = "ORACLE")]
    pub oracle: Option<Oracle>,
    /// With --oracle reference: lines of the output that match count for nothing; may be repeated
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    pub ignore_lines: Vec<String>,
    /// With --oracle reference: numbers with a decimal point or an exponent may differ by this share of the larger one,
    /// as 1e-5
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub tolerance: Option<f64>,
    /// Take faults and traps of kernels for no findings: for programs that provoke them, to test how they handle errors
    #[arg(long)]
    pub ignore_faults: bool,
    /// Start a process for each trial, and not one that trials are forked from
    #[arg(long)]
    pub no_fork_server: bool,
}

impl TrialArgs {
    /// How stores are delayed, at one probability.
    ///
    /// # Errors
    /// Options that do not go together.
    pub fn variation(&self, pw: f64) -> Result<Variation, UsageError> {
        let model = self.model.unwrap_or(Model::StoreBuffer);
        if model == Model::Ptx && self.backend == Backend::Cuda {
            return Err(UsageError(
                "--model ptx is simulated: it needs the virtual GPU (--backend sim)".into(),
            ));
        }
        if model == Model::Ptx && self.handlers {
            return Err(UsageError(
                "--model ptx is simulated and has no handlers: leave --handlers out".into(),
            ));
        }
        if self.pct_depth.is_some() && self.scheduler != Some(Scheduler::Pct) {
            return Err(UsageError(
                "--pct-depth is the depth of --scheduler pct, and means nothing to another".into(),
            ));
        }
        // Injected code knows of no lockstep: lanes would not see what others of their warp have stored.
        let simulated = matches!(model, Model::StoreBuffer | Model::Ptx);
        if self.warp_synchronous && (!simulated || self.backend == Backend::Cuda) {
            let only =
                "--warp-synchronous needs model store-buffer or ptx, and the virtual GPU (--backend sim)";
            return Err(UsageError(only.into()));
        }
        Ok(Variation {
            model: model.into(),
            pw,
            pr: self.pr,
            model_memory: self.model_memory,
            buffer: self.buffer,
            space: self.space.into(),
            scheduler: self.scheduler.unwrap_or(Scheduler::Random).into(),
            pct_depth: self.pct_depth.unwrap_or(PCT_DEPTH),
            kernel: self.kernel.clone(),
            without_fence: self.without_fence.iter().copied().collect(),
            with_fence: self.with_fence.iter().copied().collect(),
            narrow_fence: self.narrow_fence.iter().copied().collect(),
            handlers: self.handlers,
            ..Variation::default()
        })
    }
}
