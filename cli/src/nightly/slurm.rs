//! `bugaroo nightly --executor slurm`.

use std::path::PathBuf;

use bugaroo_harness::{Interrupt, block_on};
use bugaroo_nightly::begin::named;
use bugaroo_nightly::executors::slurm::{self, POLL, SlurmCollected, SlurmProgress, SlurmRequest, Tell};
use bugaroo_nightly::history::Store;
use bugaroo_nightly::merge;
use bugaroo_nightly::night::NightVerdict;
use bugaroo_nightly::plan::Plan;

use super::shared::{merge_error, report, show, wanted};
use crate::args::NightlyArgs;
use crate::exit::{Exit, UsageError};
use crate::output::{note, thousands};

/// Tells how the job goes, a line where something has changed.
struct Lines;

impl Tell for Lines {
    fn line(&self, line: &str) {
        note(line);
    }

    fn progress(&self, now: &SlurmProgress) {
        let of = now.planned.map_or(String::new(), |planned| format!(" of {}", thousands(planned)));
        let reason = if now.reason.is_empty() { String::new() } else { format!(" ({})", now.reason) };
        note(format_args!(
            "job {}: {} shards wait{reason}, {} run, {} of {} are done; {}{of} trials",
            now.job,
            now.waiting,
            now.running,
            now.done,
            now.shards,
            thousands(now.trials)
        ));
    }
}

/// Runs a night as a job of Slurm, and collects it.
pub fn slurm(args: &NightlyArgs, plan: &Plan) -> anyhow::Result<Exit> {
    let (label, seed) = named(plan, &wanted(args));
    let bugaroo = std::env::current_exe()?;
    let request = SlurmRequest { bugaroo, label, seed, again: args.again, poll: POLL };
    let night = block_on(async {
        let interrupt = Interrupt::on_signals()?;
        let collected = match slurm::run(plan, &request, interrupt, &Lines).await {
            Ok(collected) => collected,
            Err(error) if error.is_interrupt() => {
                note(&error);
                return Ok(None);
            }
            Err(error) => return Err(UsageError(error.to_string()).into()),
        };
        let SlurmCollected { done, missing, .. } = collected;
        for (shard, why) in &missing {
            note(format_args!("shard {shard} is missing: {why}"));
        }
        let files: Vec<PathBuf> = done.into_iter().map(|(_, file)| file).collect();
        let store = Store::open(&plan.database).await?;
        let keys = merge::merge(plan, &files, &store).await.map_err(merge_error)?;
        let Some(key) = keys.first() else {
            let what =
                "no shard of the night is complete: their logs, in the plan's folder for Slurm, say why";
            return Err(UsageError(what.to_owned()).into());
        };
        let night = report(plan, &store, key).await?;
        store.close().await;
        anyhow::Ok(Some(night))
    })??;
    let Some(night) = night else { return Ok(Exit::Interrupted) };
    show(&night, args.format)?;
    Ok(match night.verdict {
        NightVerdict::Green => Exit::Clean,
        NightVerdict::Red => Exit::Findings(args.error_exitcode),
    })
}
