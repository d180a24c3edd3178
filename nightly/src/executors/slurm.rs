//! A night as one array job of Slurm's: each task runs a shard and writes its results into a folder that all nodes see.
//!
//! Bottom up: [`tool`] are Slurm's commands, [`error`] is what can go wrong. [`state`] reads what the commands print, [`folder`] is
//! what outlives the terminal, [`mod@script`] what a task runs. [`submit`] submits it once, [`judge`] says what becomes of a task
//! that has ended, [`watch`] waits for all of them.
//!
//! What it relies on: shards go on from their results when they are started again with the same words, whatever ended them. What it
//! does not see: that a node which is cut off goes on computing while its shard runs elsewhere. Results of both are the same
//! trials, and merging counts each once.

pub mod error;
pub mod folder;
pub mod judge;
mod request;
pub mod script;
pub mod state;
pub mod submit;
pub mod tool;
pub mod watch;

use std::collections::BTreeMap;

use bugaroo_harness::Interrupt;
use jiff::Timestamp;

pub use error::SlurmError;
use folder::{Folder, SlurmJob};
pub use request::{POLL, SlurmCollected, SlurmProgress, SlurmRequest, Tell};
use script::Spoken;
use tool::Tools;

use crate::plan::{Plan, Slurm};

/// Runs the shards of a plan on Slurm and waits for them. A night that was submitted before is taken up again.
///
/// # Errors
/// When it cannot be submitted, when Slurm says what this does not understand, and when the user wishes to stop. The job, once
/// submitted, goes on.
pub async fn run(
    plan: &Plan,
    request: &SlurmRequest,
    interrupt: Interrupt,
    tell: &dyn Tell,
) -> Result<SlurmCollected, SlurmError> {
    run_with(&Tools::in_path(), plan, request, interrupt, tell).await
}

/// [`run`] with commands of the caller's.
///
/// # Errors
/// As [`run`].
pub async fn run_with(
    tools: &Tools,
    plan: &Plan,
    request: &SlurmRequest,
    mut interrupt: Interrupt,
    tell: &dyn Tell,
) -> Result<SlurmCollected, SlurmError> {
    let slurm = plan.slurm.as_ref().ok_or_else(|| SlurmError::NoTable { plan: plan.path.clone() })?;
    script::check_label(&request.label)?;
    // An option that cannot be is told before anything is made.
    if let Some(option) = submit::reserved(&slurm.options) {
        return Err(SlurmError::Reserved { option: option.clone() });
    }
    let folder = Folder::make(&slurm.folder, &request.label)?;
    let (_lock, without) = folder.lock()?;
    if let Some(error) = without {
        tell.line(&format!(
            "{}: no locks on this file system ({error}); start no second process for this night",
            slurm.folder.display()
        ));
    }
    let record = match folder.job()? {
        Some(record) => {
            check(&record, plan)?;
            record
        }
        None => first(plan, slurm, request, &folder)?,
    };
    let record = match record.job {
        Some(id) if request.again => once_more(tools, id, record, &folder).await?,
        _ => record,
    };
    let (id, record) = match record.job {
        Some(id) => {
            tell.line(&format!("Night {} was submitted as job {id}; waiting for it", record.label));
            (id, record)
        }
        None => {
            let arguments = submit::arguments(plan, slurm, &folder)?;
            let id = number(tools, &arguments, &record, &folder, request, &mut interrupt, tell).await?;
            let record = SlurmJob { job: Some(id), ..record };
            folder.remember(&record)?;
            tell.line(&format!(
                "Night {} is job {id} of {} tasks; it goes on without this terminal. `scancel {id}` ends it",
                record.label, record.shards
            ));
            (id, record)
        }
    };
    watch::Watch::new(tools, &folder, record, id, request.poll, tell).until_all_ended(interrupt).await
}

/// The record of a night that was never submitted, with its script beside it.
fn first(
    plan: &Plan,
    slurm: &Slurm,
    request: &SlurmRequest,
    folder: &Folder,
) -> Result<SlurmJob, SlurmError> {
    let text = script::script(plan, slurm, request, request.seed, folder)?;
    folder.write(script::NAME, text.as_bytes())?;
    Ok(SlurmJob {
        schema: folder::SCHEMA,
        label: request.label.clone(),
        plan: plan.path.as_path().spoken()?.to_owned(),
        plan_sha256: plan.sha256.clone(),
        seed: request.seed,
        shards: slurm.shards,
        job: None,
        submitted: Timestamp::now().to_string(),
        restarts: BTreeMap::new(),
    })
}

/// The record for another job of the same night; two at a time would write the same results.
async fn once_more(
    tools: &Tools,
    id: u32,
    record: SlurmJob,
    folder: &Folder,
) -> Result<SlurmJob, SlurmError> {
    if submit::find(tools, &folder.file(script::NAME)).await?.is_some() {
        return Err(SlurmError::Runs { job: id });
    }
    let submitted = Timestamp::now().to_string();
    Ok(SlurmJob { job: None, submitted, restarts: BTreeMap::new(), ..record })
}

/// The job's number: it is submitted, unless that has happened and its number was not written down.
async fn number(
    tools: &Tools,
    arguments: &[String],
    record: &SlurmJob,
    folder: &Folder,
    request: &SlurmRequest,
    interrupt: &mut Interrupt,
    tell: &dyn Tell,
) -> Result<u32, SlurmError> {
    let before = folder.job()?;
    if before.as_ref().is_some_and(|before| before.job.is_none())
        && let Some(id) = submit::find(tools, &folder.file(script::NAME)).await?
    {
        return Ok(id);
    }
    // Whoever dies from here on, before the number is written down, leaves a job that is known by its script.
    folder.remember(record)?;
    let submitted = submit::submit(tools, arguments, record.shards, request, interrupt, tell).await;
    match (&submitted, before) {
        // It may have been taken all the same: the record stays, and the next start looks.
        (Ok(_) | Err(SlurmError::Unreadable { .. }), _) => {}
        (Err(_), Some(before)) => folder.remember(&before)?,
        (Err(_), None) => folder.forget()?,
    }
    submitted
}

/// Checks that a record is of this plan.
fn check(record: &SlurmJob, plan: &Plan) -> Result<(), SlurmError> {
    if record.plan_sha256 == plan.sha256 {
        return Ok(());
    }
    let job = record.job.map_or("(unknown)".into(), |job| job.to_string());
    Err(SlurmError::Changed { label: record.label.clone(), job })
}
