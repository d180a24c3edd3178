//! A trial that looks for conflicts.

use bugaroo_protocol::Variation;

use super::Session;
use crate::conflicts::Conflicts;
use crate::error::Error;
use crate::record::TrialRecord;

impl Session {
    /// Runs one trial, and looks for accesses whose order nothing settles. It is the trial that [`Self::trial`] runs, only slower.
    ///
    /// # Errors
    /// When it cannot be run at all; a failing trial is no error.
    pub async fn conflicts(
        &self,
        variation: &Variation,
        index: u64,
    ) -> Result<(TrialRecord, Conflicts), Error> {
        let mut stop = self.interrupt.clone();
        let (seed, ran) = tokio::select! {
            done = self.shared.run(variation, index, true) => done?,
            () = stop.wait() => return Err(Error::Interrupted),
        };
        Ok((ran.record(index, seed), ran.report.conflicts))
    }
}
