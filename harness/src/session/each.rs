//! Trials each of which has a variation of its own.

use std::collections::BTreeMap;
use std::panic;
use std::sync::Arc;

use tokio::task::JoinSet;

use bugaroo_protocol::Variation;

use super::{FullTrial, Session};
use crate::error::Error;
use crate::progress::Reporter;

impl Session {
    /// Runs these trials, by their variations and indices, as many at a time as the settings allow; in the order in which they were
    /// given. Their records say what variation they had.
    ///
    /// # Errors
    /// When one cannot be run at all, or on the user's wish to stop; none of them counts then.
    pub async fn each(
        &self,
        trials: impl IntoIterator<Item = (Variation, u64)>,
        reporter: &dyn Reporter,
    ) -> Result<Vec<FullTrial>, Error> {
        let mut left = trials.into_iter().enumerate();
        let mut interrupt = self.interrupt.clone();
        let jobs = self.jobs(reporter);
        let mut ended = BTreeMap::new();
        // Dropped, it aborts its tasks, and those kill their processes.
        let mut tasks = JoinSet::new();
        loop {
            while tasks.len() < jobs[usize::from(self.fork_server().used)] {
                let Some((place, (variation, index))) = left.next() else { break };
                self.admit(&variation).await?;
                let shared = Arc::clone(&self.shared);
                tasks.spawn(async move {
                    let full = shared.trial(&variation, index).await;
                    (place, variation, full)
                });
            }
            let done = tokio::select! {
                done = tasks.join_next() => done,
                () = interrupt.wait() => return Err(Error::Interrupted),
            };
            let (place, variation, full) = match done {
                None => return Ok(ended.into_values().collect()),
                Some(Ok(done)) => done,
                Some(Err(error)) => panic::resume_unwind(error.into_panic()),
            };
            let mut full = full?;
            full.record.variation = Some(Box::new(variation));
            ended.insert(place, full);
        }
    }
}
