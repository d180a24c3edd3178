//! The morning after: the night as it is settled, its run directories and reports written.

use std::path::PathBuf;

use jiff::{Timestamp, tz::TimeZone};

use crate::history::{Key, Store, StoreError};
use crate::night::Night;
use crate::plan::Plan;
use crate::reports::{self, ReportError};
use crate::runs::{self, RunsError};
use crate::settle::settle;

/// A night, and what was written of it.
#[derive(Debug)]
pub struct Morning {
    /// What it came to.
    pub night: Night,
    /// Folder of its reports.
    pub written: PathBuf,
}

/// Why a night cannot be reported.
#[derive(Debug, thiserror::Error)]
pub enum MorningError {
    /// Results cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Run directories cannot be written.
    #[error(transparent)]
    Runs(#[from] RunsError),
    /// Reports cannot be written.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// There is no such night.
    #[error("there is no night {0}")]
    Missing(String),
}

/// Settles a night, and writes what there is to be read of it.
///
/// # Errors
/// When results cannot be read, or files not be written.
pub async fn morning(plan: &Plan, store: &Store, key: &Key) -> Result<Morning, MorningError> {
    let missing = || MorningError::Missing(key.label.clone());
    let mut night = store.night(key, &plan.reports).await?.ok_or_else(missing)?;
    let cleared = runs::clear(&plan.reports, plan.disk, &key.label)?;
    if cleared > 0 {
        let plural = if cleared == 1 { "night" } else { "nights" };
        night.notes.push(format!(
            "run directories of {cleared} older {plural} were removed, as all would take more than the plan's `disk`"
        ));
    }
    runs::write(store, key, plan).await?;
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    settle(&mut night, plan, today);
    let folder = plan.reports.join(runs::file_name(&key.label));
    reports::write_all(&night, &folder)?;
    Ok(Morning { night, written: folder })
}
