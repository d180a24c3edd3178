//! Barriers of a block (rule BAR).
//!
//! At one that all threads of the block come to, the latest of their times is broadcast as everybody's block clock
//! (section 4.3.2). The paper has no others. Those with a thread count join the threads that have come, and `bar.arrive` is a release to
//! those who wait.

use std::rc::Rc;

use super::clock::Inside;
use super::sparse::{Sparse, join};
use super::warp::Warp;

/// A barrier between its completions.
#[derive(Debug, Default)]
pub(super) struct Barrier {
    /// Who waits: slot of the warp in the block, lanes.
    waiting: Vec<(u32, u32)>,
    /// What those know who have arrived and gone on.
    passed: Option<Rc<Sparse>>,
}

/// What is left of threads that have exited.
#[derive(Clone, Debug, Default)]
pub(super) struct Gone {
    /// The latest time of any of them.
    pub latest: u32,
    /// What they knew of others.
    pub foreign: Option<Rc<Sparse>>,
}

impl Barrier {
    /// Lanes come and wait.
    pub fn wait(&mut self, warp: u32, lanes: u32) {
        match self.waiting.iter_mut().find(|(of, _)| *of == warp) {
            Some((_, mask)) => *mask |= lanes,
            None => self.waiting.push((warp, lanes)),
        }
    }

    /// Lanes come and go on.
    pub fn pass(&mut self, warp: &mut Warp, lanes: u32) {
        let home = warp.home;
        for group in warp.groups.iter_mut().filter(|group| group.mask & lanes != 0) {
            join(&mut self.passed, &group.knowledge(home, group.mask & lanes));
            group.local += 1;
        }
    }

    /// It has completed. `apart`: lanes of a warp that are apart stay so. Says nothing when that is known already.
    pub fn complete(&mut self, warps: &mut [Warp], gone: &Gone, apart: bool) {
        let waiting = std::mem::take(&mut self.waiting);
        let passed = self.passed.take();
        if waiting.is_empty() {
            return;
        }
        let here =
            |slot: usize| waiting.iter().find(|(of, _)| *of as usize == slot).map_or(0, |(_, lanes)| *lanes);
        let all =
            passed.is_none() && warps.iter().enumerate().all(|(slot, warp)| warp.alive & !here(slot) == 0);
        if all {
            broadcast(warps, gone, apart);
            return;
        }
        let mut known = passed;
        for (slot, lanes) in &waiting {
            let Some(warp) = warps.get(*slot as usize) else { continue };
            for group in warp.groups.iter().filter(|group| group.mask & lanes != 0) {
                join(&mut known, &group.knowledge(warp.home, group.mask & lanes));
            }
        }
        let Some(known) = known else { return };
        for (slot, lanes) in &waiting {
            let Some(warp) = warps.get_mut(*slot as usize) else { continue };
            if !apart {
                warp.join(*lanes);
            }
            let (home, all) = (warp.home, warp.lanes);
            for group in warp.groups.iter_mut().filter(|group| group.mask & lanes != 0) {
                group.learn(home, &known, all);
                group.local += 1;
            }
        }
    }
}

/// All threads of a block meet.
fn broadcast(warps: &mut [Warp], gone: &Gone, apart: bool) {
    let Some(first) = warps.first().map(|warp| warp.home) else { return };
    let mut latest = gone.latest;
    let mut foreign = gone.foreign.clone();
    for group in warps.iter().flat_map(|warp| &warp.groups) {
        latest = latest.max(group.local);
        if let Some(known) = &group.foreign {
            join(&mut foreign, known);
        }
    }
    let range = first.warp..first.warp.saturating_add(warps.len() as u32);
    // What it says of this block is below the block clock.
    let foreign = foreign.and_then(|foreign| foreign.without(first.block, range));
    for warp in warps {
        if !apart && warp.groups.len() > 1 {
            warp.join(warp.alive);
        }
        for group in &mut warp.groups {
            group.local = latest + 1;
            group.block = latest;
            group.inside =
                if group.mask == warp.lanes { Inside::Converged } else { Inside::Diverged(latest) };
            group.foreign.clone_from(&foreign);
        }
    }
}
