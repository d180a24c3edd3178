//! The program's memory under several schedules without injection: what is the same in all of them is what trials are held against.

use std::time::{Duration, Instant};

use super::{Baseline, RUNS};
use crate::error::{Error, MemoryTrouble};
use crate::oracle::memory::{MemoryEnds, names};
use crate::oracle::memory::{Piece, ReferenceMemory};
use crate::outcome::Outcome;
use crate::progress::{ProgressEvent, Reporter};
use crate::schedules::{COMPARED, variations};
use crate::seeds::Seeds;
use crate::trial::{Ground, Plan};

/// No more runs are begun after this time.
const ENOUGH: Duration = Duration::from_secs(90);

/// What memory holds without injection, by what the baseline's runs told and [`COMPARED`] more, half of them by each scheduler.
///
/// # Errors
/// When a run cannot be made or tells nothing of its memory, or when nothing is left to compare.
pub(super) async fn memory(
    ground: &Ground,
    seeds: Seeds,
    baseline: &Baseline,
    told: &[MemoryEnds],
    reporter: &dyn Reporter,
) -> Result<ReferenceMemory, Error> {
    let trouble = |trouble| Error::Memory { app: ground.target.app.clone(), trouble };
    let unknown = |why| trouble(MemoryTrouble::Unknown(why));
    let [first, others @ ..] = told else { return Err(unknown("no run was made")) };
    let mut memory = ReferenceMemory::of(first).map_err(unknown)?;
    for ends in others {
        memory.narrow(ends).map_err(unknown)?;
    }
    let variations = variations();
    let started = Instant::now();
    reporter.report(ProgressEvent::BatchStarted { what: "memory without injection", trials: COMPARED });
    for index in 0..COMPARED {
        let plan = Plan {
            seed: seeds.baseline(RUNS + index),
            variation: Some(&variations[index as usize % variations.len()]),
            report_sites: false,
            check_insert: &[],
            conflicts: false,
            reference: Some(&baseline.reference),
            step_budget: Some(ground.settings.step_budget(baseline)),
            passed_in: Some(baseline.duration()),
            known: Some(&baseline.incidents),
            cannot_fork: baseline.cannot_fork.as_deref(),
            warp_synchronous: ground.settings.warp_synchronous,
        };
        let ran = ground.run(plan).await?;
        // One that fails by itself is told as such by its trial.
        if ran.outcome == Outcome::Pass {
            memory.narrow(&ran.report.ends).map_err(unknown)?;
        }
        if started.elapsed() > ENOUGH {
            break;
        }
    }
    reporter.report(ProgressEvent::BatchEnded);
    let differing: Vec<&Piece> = memory.differing.iter().collect();
    if memory.compared.is_empty() {
        return Err(trouble(MemoryTrouble::Nothing(differing.len())));
    }
    if !differing.is_empty() {
        let names = names(&differing);
        let note = format!(
            "memory that differs between {} runs without injection is not compared: {names}",
            memory.runs
        );
        reporter.report(ProgressEvent::Note(&note));
    }
    Ok(memory)
}
