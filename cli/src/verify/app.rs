//! `bugaroo verify APP`: the kernels of a program, as it launches them.

mod human;
mod json;
mod shown;

use bugaroo_barriers::emulate::DEFAULT_MAX_STEPS;
use bugaroo_harness::launches::{Recording, VerifyWanted, record, verify as verify_launches};
use bugaroo_harness::{Error, Interrupt, Outcome, Settings, Target, block_on};

use super::kernels;
use crate::args::apart::options_among;
use crate::args::{Format, VerifyArgs};
use crate::exit::{Exit, UsageError};
use crate::output::{note, print, print_json};
use crate::{libraries, setup};
use shown::Shown;

/// Verdicts of a kernel, unless `--launches` says otherwise.
const LAUNCHES: u32 = 20;

/// Verifies what a program launches.
pub fn verify(args: &VerifyArgs) -> anyhow::Result<Exit> {
    refuse(args)?;
    let app = args.file.to_string_lossy();
    let target = Target::resolve(&app, args.args.clone()).map_err(Error::from)?;
    let library = libraries::find()?;
    for word in options_among(&args.args) {
        let program = target.name();
        note(format_args!(
            "warning: {word} stands behind {program} and is its own: options of verify stand before the program"
        ));
    }
    let settings = Settings {
        timeout: args.timeout,
        warp_synchronous: args.warp_synchronous,
        input: setup::input()?,
        ..Settings::default()
    };
    let (recording, verified, launches) = block_on(async {
        let interrupt = Interrupt::on_signals()?;
        note(format_args!("running {} on the virtual GPU", target.name()));
        let mut recording = record(target.clone(), settings, library, interrupt.clone()).await?;
        let wanted = wanted(args, &recording)?;
        let launches = recording.launches.of(wanted.kernels.as_deref());
        if launches > 0 {
            note(format_args!("{} has ended: verifying its launches", target.name()));
        }
        let collected = recording.launches.take();
        let verified = verify_launches(collected, wanted, interrupt).await?;
        anyhow::Ok((recording, verified, launches))
    })??;
    let shown =
        Shown { target: &target, recording: &recording, verified: &verified, launches, all: args.all };
    for warning in shown.warnings() {
        note(format_args!("warning: {warning}"));
    }
    match args.format {
        Format::Human => print(&human::describe(&shown))?,
        Format::Json => print_json(&json::report(&shown))?,
    }
    Ok(shown.exit(args.error_exitcode))
}

/// Refuses options that say what the program's launches say.
fn refuse(args: &VerifyArgs) -> Result<(), UsageError> {
    let given = [
        ("--block", !args.block.is_empty()),
        ("--cta", !args.cta.is_empty()),
        ("--grid", !args.grid.is_empty()),
        ("--cluster", !args.cluster.is_empty()),
        ("--param", !args.param.is_empty()),
        ("--params", args.params.is_some()),
        ("--global", !args.global.is_empty()),
        ("--tensor", !args.tensor.is_empty()),
        ("--shared", args.shared.is_some()),
        ("--graph", args.graph.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((name, _)) => Err(UsageError(format!(
            "{name} is for PTX files: kernels of a program are verified as it launches them"
        ))),
    }
}

/// What of the program's launches is to be verified.
fn wanted(args: &VerifyArgs, recording: &Recording) -> Result<VerifyWanted, UsageError> {
    let launched = recording.launches.kernels();
    let named = args.kernel.as_ref().filter(|_| !launched.is_empty());
    let named = named.map(|given| kernels::named(&launched, given)).transpose();
    let named = named.map_err(|error| UsageError(format!("of what the program launches: {error}")))?;
    Ok(VerifyWanted {
        kernels: named.map(|names| names.into_iter().map(str::to_owned).collect()),
        most: args.launches.unwrap_or(LAUNCHES) as usize,
        warp_synchronous: args.warp_synchronous,
        max_steps: args.max_steps.unwrap_or(DEFAULT_MAX_STEPS),
    })
}

impl Shown<'_> {
    /// Launches that a verdict was come to.
    fn told(&self) -> u64 {
        self.verified.rows.iter().map(|row| row.launches).sum()
    }

    /// Launches that were not looked at.
    fn left_out(&self) -> u64 {
        self.launches.saturating_sub(self.told())
    }

    /// What makes the rest less than it seems, a line each.
    fn warnings(&self) -> Vec<String> {
        let Shown { recording, .. } = self;
        let mut warnings = Vec::new();
        if self.launches == 0 {
            warnings.push("the program launches no kernel: there is nothing to verify".to_owned());
        }
        if let Some((outcome, reason)) = &recording.failed {
            warnings.push(format!(
                "the program failed ({outcome}: {reason}); what it launched all the same was looked at"
            ));
        }
        if recording.lost > 0 {
            warnings.push(format!(
                "{} lines of the driver's report could not be read: launches may be missing (a program of several processes?)",
                recording.lost
            ));
        }
        if self.verified.interrupted {
            warnings.push("interrupted: other launches were not looked at".to_owned());
        }
        warnings
    }

    /// The worst of all: findings first, then what is open.
    fn exit(&self, findings: u8) -> Exit {
        let Shown { recording, verified, .. } = self;
        let mut rows = verified.rows.iter().map(|row| &row.findings);
        if recording.is_finding || rows.clone().any(|findings| !findings.is_clean() && !findings.is_open()) {
            return Exit::Findings(findings);
        }
        if verified.interrupted {
            return Exit::Interrupted;
        }
        let missing = self.left_out() > 0 || !recording.refused.is_empty() || recording.lost > 0;
        match &recording.failed {
            _ if rows.any(|findings| findings.is_open()) || missing => Exit::Unsupported,
            Some((Outcome::Slow | Outcome::Killed, _)) => Exit::Internal,
            Some(_) => Exit::BaselineFails,
            None => Exit::Clean,
        }
    }
}
