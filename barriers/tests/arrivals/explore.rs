//! All interleavings. Lanes of a warp that execute the same lines are one runner.

use std::collections::{BTreeMap, HashSet};

use super::{Cta, What};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Status {
    Runs,
    /// Has come to this barrier, and waits for its warp.
    Comes(usize),
    /// Waits for the other warps.
    Waits(usize),
    Gone,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Barrier {
    uses: u32,
    /// Counts that were given in this use.
    counts: Vec<Option<u32>>,
    /// The warps, in the order in which they arrived.
    arrived: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// For each runner: its next line, and what it does.
    runners: Vec<(usize, Status)>,
    barriers: Vec<Barrier>,
}

/// Lanes of a warp that do the same, and the lines that they execute.
struct Runner {
    warp: usize,
    lines: Vec<usize>,
}

/// What can happen.
#[derive(Debug, Default)]
pub struct Everything {
    /// All threads come to their end.
    pub completes: bool,
    pub deadlocks: bool,
    /// Two counts for one use, or an aligned barrier at two places.
    pub misuse: bool,
    /// Some line belongs to different uses of its barrier in different executions.
    pub ambiguous: bool,
    /// What somebody had exited for before mattered: time orders that, the memory model does not.
    pub by_exit: bool,
    /// A warp arrived twice at one use for all threads.
    pub twice: bool,
}

impl Everything {
    pub fn well_synchronised(&self) -> bool {
        self.completes && !self.deadlocks && !self.misuse && !self.ambiguous
    }
}

struct Explorer<'a> {
    cta: &'a Cta,
    runners: Vec<Runner>,
    uses: BTreeMap<(usize, usize), u32>,
    found: Everything,
}

/// Everything that can happen; None if there are more than so many states.
pub fn explore(cta: &Cta, limit: usize) -> Option<Everything> {
    let mut runners = Vec::new();
    for (warp, lines) in cta.warps.iter().enumerate() {
        let mut seen = Vec::new();
        for lane in (0..32).filter(|lane| cta.lanes(warp) >> lane & 1 != 0) {
            let own: Vec<usize> = (0..lines.len()).filter(|l| lines[*l].lanes >> lane & 1 != 0).collect();
            if !seen.contains(&own) {
                seen.push(own);
            }
        }
        runners.extend(seen.into_iter().map(|lines| Runner { warp, lines }));
    }
    let start =
        State { runners: vec![(0, Status::Runs); runners.len()], barriers: vec![Barrier::default(); 16] };
    let mut explorer = Explorer { cta, runners, uses: BTreeMap::new(), found: Everything::default() };
    let mut seen = HashSet::from([start.clone()]);
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        let mut stuck = true;
        for runner in 0..state.runners.len() {
            if state.runners[runner].1 != Status::Runs {
                continue;
            }
            stuck = false;
            match explorer.step(&state, runner) {
                Some(next) => {
                    if seen.insert(next.clone()) {
                        open.push(next);
                    }
                }
                None => explorer.found.misuse = true,
            }
        }
        if stuck {
            let all = state.runners.iter().all(|(_, status)| *status == Status::Gone);
            explorer.found.completes |= all;
            explorer.found.deadlocks |= !all;
        }
        if seen.len() > limit {
            return None;
        }
    }
    Some(explorer.found)
}

impl Explorer<'_> {
    fn what(&self, runner: usize, at: usize) -> Option<What> {
        let own = &self.runners[runner];
        own.lines.get(at).map(|line| self.cta.warps[own.warp][*line].what)
    }

    /// A runner executes its next line; None for misuse.
    fn step(&mut self, state: &State, runner: usize) -> Option<State> {
        let mut next = state.clone();
        let warp = self.runners[runner].warp;
        match self.what(runner, state.runners[runner].0) {
            Some(What::Barrier { id, .. }) => next.runners[runner].1 = Status::Comes(id),
            Some(What::Exit) | None => {
                next.runners[runner].1 = Status::Gone;
                let before = next.clone();
                self.arrival(&mut next, warp)?;
                self.completion(&mut next);
                self.found.by_exit |= next != before;
                return Some(next);
            }
        }
        self.arrival(&mut next, warp)?;
        self.completion(&mut next);
        Some(next)
    }

    /// If all that a warp has left have come to one barrier, it arrives.
    fn arrival(&mut self, state: &mut State, warp: usize) -> Option<()> {
        let own: Vec<usize> = (0..self.runners.len())
            .filter(|r| self.runners[*r].warp == warp && state.runners[*r].1 != Status::Gone)
            .collect();
        let Some(Status::Comes(id)) = own.first().map(|r| state.runners[*r].1) else { return Some(()) };
        if own.iter().any(|r| state.runners[*r].1 != Status::Comes(id)) {
            return Some(());
        }
        let mut places = Vec::new();
        for r in own {
            let at = state.runners[r].0;
            let Some(What::Barrier { count, waits, aligned, .. }) = self.what(r, at) else { unreachable!() };
            places.push((self.runners[r].lines[at], aligned));
            state.barriers[id].counts.push(count);
            let number = state.barriers[id].uses;
            if *self.uses.entry((r, at)).or_insert(number) != number {
                self.found.ambiguous = true;
            }
            state.runners[r] = if waits { (at, Status::Waits(id)) } else { (at + 1, Status::Runs) };
        }
        let full = self.cta.warps.len() as u32 * 32;
        let counts = &mut state.barriers[id].counts;
        counts.sort_unstable();
        counts.dedup();
        if counts.iter().any(|count| count.unwrap_or(full) != counts[0].unwrap_or(full)) {
            return None;
        }
        if places.iter().any(|(_, aligned)| *aligned) && places.iter().any(|(line, _)| *line != places[0].0) {
            return None;
        }
        let for_all = counts[0].is_none();
        state.barriers[id].arrived.push(warp);
        let arrived = &mut state.barriers[id].arrived;
        arrived.sort_unstable();
        self.found.twice |= for_all && arrived.windows(2).any(|pair| pair[0] == pair[1]);
        Some(())
    }

    /// Ends the uses of barriers at which all have arrived.
    fn completion(&self, state: &mut State) {
        for id in 0..state.barriers.len() {
            let barrier = &state.barriers[id];
            let warps = 0..self.cta.warps.len();
            let gone = |warp: usize| {
                (0..self.runners.len())
                    .all(|r| self.runners[r].warp != warp || state.runners[r].1 == Status::Gone)
            };
            let complete = match barrier.counts.first() {
                None => false,
                Some(None) => {
                    let missing = warps.clone().filter(|w| !barrier.arrived.contains(w) && gone(*w)).count();
                    barrier.arrived.len() + missing >= warps.len()
                }
                Some(Some(count)) => barrier.arrived.len() as u32 * 32 >= *count,
            };
            if complete {
                state.barriers[id] = Barrier { uses: barrier.uses + 1, ..Barrier::default() };
                for runner in &mut state.runners {
                    if runner.1 == Status::Waits(id) {
                        *runner = (runner.0 + 1, Status::Runs);
                    }
                }
            }
        }
    }
}
