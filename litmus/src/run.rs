//! Trials of many tests, on as many processors as there are.
//!
//! A trial is a copy of a test in a launch. Its launch, its place there, its schedule and its coins follow from the seed and
//! its number, so what is seen does not depend on who runs it and when.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::error::RunError;
use crate::key::OutcomeKey;
use crate::launch::{COPIES, Compiled, Loaded};
use crate::options::Options;
use crate::test::Test;

/// A final state that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenState {
    /// In so many trials.
    pub count: u64,
    /// The first of them, from 0.
    pub first: u64,
}

/// What was seen of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenOutcomes {
    /// Trials that were run.
    pub trials: u64,
    /// Final states, by the values of the keys asked for.
    pub states: BTreeMap<Vec<u64>, SeenState>,
}

impl SeenOutcomes {
    fn add(&mut self, state: &[u64], trial: u64, count: u64) {
        match self.states.get_mut(state) {
            Some(sighting) => {
                sighting.count += count;
                sighting.first = sighting.first.min(trial);
            }
            None => {
                self.states.insert(state.to_vec(), SeenState { count, first: trial });
            }
        }
    }

    fn join(&mut self, other: &SeenOutcomes) {
        self.trials += other.trials;
        for (state, sighting) in &other.states {
            self.add(state, sighting.first, sighting.count);
        }
    }
}

/// A test to run, and what its final states are told by.
#[derive(Clone, Copy, Debug)]
pub struct TestJob<'a> {
    /// The test.
    pub test: &'a Test,
    /// The keys.
    pub keys: &'a [OutcomeKey],
}

/// Launches that one worker does at a time, where there are few tests.
const LAUNCHES: u64 = 64;

/// Some launches of a test.
struct Unit {
    job: usize,
    launches: std::ops::Range<u64>,
}

/// What is known of a job so far.
struct Progress {
    compiled: OnceLock<Result<Compiled, RunError>>,
    result: Mutex<(Result<SeenOutcomes, RunError>, usize)>,
}

/// Runs all trials of all tests; those that `stop` comes before are left out. `done` is told the index of each test that is
/// through, by whichever thread.
pub fn run(
    jobs: &[TestJob<'_>],
    options: &Options,
    stop: &AtomicBool,
    done: &(dyn Fn(usize, &Result<SeenOutcomes, RunError>) + Sync),
) -> Vec<Result<SeenOutcomes, RunError>> {
    let launches = options.trials.div_ceil(COPIES);
    // A worker stays with a test where there are enough of them, as getting it ready takes its time.
    let size = if jobs.len() >= 8 * options.jobs { launches.max(1) } else { LAUNCHES };
    let mut units = Vec::new();
    let mut progress = Vec::new();
    for job in 0..jobs.len() {
        let before = units.len();
        let mut start = 0;
        while start < launches {
            let end = launches.min(start + size);
            units.push(Unit { job, launches: start..end });
            start = end;
        }
        let left = units.len() - before;
        let result = Mutex::new((Ok(SeenOutcomes::default()), left));
        progress.push(Progress { compiled: OnceLock::new(), result });
    }
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut loaded: Option<(usize, Loaded<'_>)> = None;
        while !stop.load(Ordering::Relaxed)
            && let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let (job, of) = (&jobs[unit.job], &progress[unit.job]);
            let seen = run_unit(unit, job, of, options, stop, &mut loaded);
            let mut state = of.result.lock().unwrap_or_else(PoisonError::into_inner);
            let (result, left) = &mut *state;
            match (&mut *result, seen) {
                (Ok(all), Ok(seen)) => all.join(&seen),
                (Ok(_), Err(error)) => *result = Err(error),
                (Err(_), _) => {}
            }
            *left -= 1;
            if *left == 0 {
                done(unit.job, result);
            }
        }
    };
    std::thread::scope(|scope| {
        (1..options.jobs).for_each(|_| drop(scope.spawn(worker)));
        worker();
    });
    let result = |of: Progress| of.result.into_inner().unwrap_or_else(PoisonError::into_inner).0;
    progress.into_iter().map(result).collect()
}

fn run_unit<'a>(
    unit: &Unit,
    job: &TestJob<'a>,
    progress: &'a Progress,
    options: &'a Options,
    stop: &AtomicBool,
    loaded: &mut Option<(usize, Loaded<'a>)>,
) -> Result<SeenOutcomes, RunError> {
    let compiled = progress.compiled.get_or_init(|| Compiled::new(job.test, options));
    let compiled = compiled.as_ref().map_err(Clone::clone)?;
    if loaded.as_ref().is_none_or(|(index, _)| *index != unit.job) {
        *loaded = None;
        *loaded = Some((unit.job, Loaded::new(job.test, compiled, options)?));
    }
    let Some((_, machine)) = loaded else { unreachable!("it was just loaded") };
    let mut seen = SeenOutcomes::default();
    let mut state = vec![0; job.keys.len()];
    for ordinal in unit.launches.clone() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let copies = COPIES.min(options.trials - ordinal * COPIES);
        machine.launch(ordinal, copies)?;
        for (copy, bytes) in
            machine.bytes.chunks_exact(machine.copy_bytes()).take(copies as usize).enumerate()
        {
            for (value, key) in state.iter_mut().zip(job.keys) {
                *value = machine.value(bytes, *key);
            }
            seen.add(&state, ordinal * COPIES + copy as u64, 1);
        }
        seen.trials += copies;
    }
    Ok(seen)
}
