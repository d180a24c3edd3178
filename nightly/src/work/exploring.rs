//! Trials of a cell that explores: what each runs is chosen by what those before have shown ([`crate::explore`]).
//!
//! What is known is written with the trials that it stems from, in one transaction: a night that was killed goes on from there.

use std::time::{Duration, Instant};

use bugaroo_harness::progress::Silent;

use super::batch::Making;
use super::{Work, WorkError};
use crate::explore::{Explorer, TrialShown, arms};
use crate::shard::Shard;
use crate::study::{Explored, explored};

/// Seed of a shard's choices.
fn seed(program: u64, shard: Shard) -> u64 {
    program << 16 | u64::from(shard.index)
}

impl Work<'_> {
    /// Runs about so many trials, and writes what they come to. How many there were, how many failed, how long they
    /// took.
    pub(super) async fn explore(
        &mut self,
        (at, place): (usize, usize),
        first: u64,
        count: u64,
    ) -> Result<(u64, u64, Duration), WorkError> {
        let (plan, store, key, shard) = (self.job.plan, self.job.store, &self.job.key, self.job.shard);
        let program = &plan.programs[at];
        let cell = &program.cells[place];
        let Some(space) = &cell.space else { return Ok((0, 0, Duration::ZERO)) };
        let mut explorer = match self.programs.explorers.remove(&at) {
            Some(explorer) => explorer,
            None => {
                let there = store.explored(key, &program.name, &explored(shard)).await?;
                let arms = arms::all(space, &cell.variation);
                Explorer::new(arms, seed(self.seed(at), shard), there.map(|there| there.known))
            }
        };
        let Some(session) = self.session(at, cell.kind) else { return Ok((0, 0, Duration::ZERO)) };
        let began = Instant::now();
        let mut making =
            Making::new((&program.name, &cell.key), shard, first, &program.suppressions, &program.directory);
        let most = cell.trials.map_or(u64::MAX, |trials| shard.share(trials)).saturating_sub(first);
        let mut done = 0;
        while done < count.min(most) {
            // What is chosen next depends on where a round ends. Where the number of trials is fixed, rounds are whole, whatever
            // the time, so that the same plan shows the same. Where time is the limit, no round goes beyond what fits.
            let left = if cell.trials.is_some() { most } else { count.min(most) } - done;
            let round = explorer.round();
            let choices = explorer.choose(usize::try_from(left).map_or(round, |left| left.min(round)));
            let trials = choices.iter().zip(first + done..);
            let trials: Vec<_> =
                trials.map(|(choice, place)| (explorer.variation(*choice), shard.trial(place))).collect();
            let ended = session.each(trials, &Silent).await?;
            for (full, choice) in ended.iter().zip(choices) {
                let things: Vec<u32> = full.coverage.iter().copied().collect();
                let meetings: Vec<u32> = full.meetings.iter().copied().collect();
                let (failed, trial) = (full.record.outcome.is_failure(), full.record.trial);
                let more = full.more_coverage;
                explorer
                    .take(choice, &TrialShown { trial, failed, things: &things, meetings: &meetings, more });
                making.take(&full.record);
            }
            done += ended.len() as u64;
        }
        let (session, configuration) = (session.fork_server(), Self::run_file(session, cell));
        let known = self.cells.known.entry((at, place)).or_default();
        let batch = making.finish(known);
        if batch.trials.iter().any(|trial| trial.record.is_some()) {
            self.keep_run(at, cell, &configuration).await?;
        }
        let kept = Explored {
            arms: explorer.arms().iter().map(|arm| arm.key.clone()).collect(),
            known: explorer.known().clone(),
        };
        if !store.count_explored(key, &batch, (&explored(shard), &kept)).await? {
            return Err(self.taken(at));
        }
        self.programs.explorers.insert(at, explorer);
        self.tell_fork_server(at, session).await?;
        Ok((batch.tally.trials(), batch.tally.failures(), began.elapsed()))
    }
}
