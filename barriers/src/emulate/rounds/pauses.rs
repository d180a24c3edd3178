//! Pauses: loops of an unknown number of rounds in which the threads of a block do not all meet.
//!
//! Producers and consumers go round in loops of their own, and hand over by named barriers or mbarriers; copies are under way from one
//! round to the next. There, each warp that comes to the beginning of a round waits (a *station*), until nobody can go on. The joint state of that
//! *pause* is what each thread knows, where it is, and who has come to which barrier. Then all of them begin their next round.
//!
//! # Why two periods are enough
//! As at a cut, what has not come back after a period is made unknown, and the joint state after a period must be one of those again. What
//! decides about barriers and places in shared memory is known all the same, so that the commands of a period are the same ones each time
//! (which is checked: [`crate::program`]), and the programs of all executions are P QQQ… E: a beginning, periods, an end from
//! any pause on, or out of the middle of a period. The checker sees P E and P Q E with all E, and P QQ. This is enough for any number of periods:
//!
//! Barriers stand alike in all pauses, so who takes part in which use is the same in each period, and so is what happens before what: an
//! edge leads from one period into the same or a later one, as a use of a barrier that Q takes part in is over within two periods. So whether
//! something of period i happens before something of period j depends on j - i alone. Each thread's period is followed by its next one: if e of
//! period i happens before f of period i + 1, it does before f of all later ones. So any two accesses that conflict are ordered if they are so within
//! a period and from each to the next. The rules of recycling are about neighbouring uses, which lie in the same or in neighbouring periods.
//! What threads and barriers know of P in a pause they know in all later ones, so that what E needs to know of P is known after any number of
//! periods if it is after none and after one. What E needs to know of a period it knows of the last; clocks count, so that it knows the same of all before.
//! Nothing of this holds for accesses that exclude each other: conditions are taken to be independent of each other here.
//!
//! The blocks of a cluster pause together, and the cluster's barrier stands alike, too. That the shared
//! memory of a block is touched before its end is looked at in the programs that have ends; of what a thread has done in several periods it is the
//! last that has to come before that.
//!
//! # What it can miss
//! Nothing that is proven is wrong by it. Refused are: early returns, counters and the setup of mbarriers within rounds, warps
//! whose rounds end by conditions of their own (each of them is assumed to end when it likes).

use super::seen::Mark;

use crate::chains::WARPGROUP;
use crate::emulate::held::cta::Cta;
use crate::emulate::held::warp::{Fragment, State};
use crate::emulate::machine::Machine;
use crate::emulate::refusal::{Refusal, RefusalKind};
use crate::program::{GroupKind, Opcode, RANK_SHIFT};

impl<'a> Machine<'a> {
    /// Whether lanes that come to a station may begin their round; else they wait.
    pub fn passes(&mut self, w: usize, fragment: usize, pc: u32) -> bool {
        let warp = &mut self.warps[w];
        let fragment = &mut warp.fragments[fragment];
        let passes = fragment.mask & !warp.passing == 0;
        warp.passing &= !fragment.mask;
        if !passes {
            (fragment.pc, fragment.state) = (pc, State::Pausing);
        }
        passes
    }

    /// Nobody can go on: begins the rounds of those who wait for that. Answers whether there are any.
    pub fn pause(&mut self) -> Result<bool, Refusal> {
        let pausing = |fragment: &Fragment| fragment.state == State::Pausing;
        if !self.warps.iter().any(|warp| warp.fragments.iter().any(pausing)) {
            return Ok(false);
        }
        let decisions = self.known.symbols.decisions();
        self.ways.rounds.time.pauses += u64::from(decisions != self.ways.rounds.time.decisions);
        self.ways.rounds.time.decisions = decisions;
        if self.is_quiet() {
            let mut at = Vec::new();
            for warp in &self.warps {
                let mut fragments: Vec<&Fragment> = warp.fragments.iter().collect();
                fragments.sort_unstable_by_key(|fragment| fragment.mask.trailing_zeros());
                at.extend(fragments.iter().map(|fragment| fragment.pc));
                at.push(u32::MAX);
            }
            self.reached(at);
        }
        if !self.ways.rounds.covered && (self.ways.rounds.given_up || self.ways.rounds.is_late()) {
            let message = "rounds of a loop that are not seen to come back";
            return Err(Refusal::new(RefusalKind::NotVerifiable, message));
        }
        for warp in &mut self.warps {
            for fragment in warp.fragments.iter_mut().filter(|fragment| pausing(fragment)) {
                fragment.state = State::Ready;
                warp.passing |= fragment.mask;
            }
        }
        Ok(true)
    }

    /// Whether the joint state is all that what follows depends on.
    fn is_quiet(&self) -> bool {
        self.known.counters.is_idle()
            && self.ways.doubt.depth == 0
            && self.warps.iter().all(|warp| warp.leavers.lanes == 0)
    }

    /// How far programs and barriers are now.
    pub(super) fn mark(&self) -> Mark {
        let commands = self.out.warps().iter().map(|warp| warp.len()).collect();
        let of = |(rank, cta): (u32, &Cta)| -> Vec<(u32, u32)> {
            cta.mbarriers.iter().map(|(at, phases)| (rank << RANK_SHIFT | *at, phases.phase)).collect()
        };
        let phases = (0..).zip(&self.ctas).flat_map(of).collect();
        Mark { commands, phases }
    }

    /// Whether the programs between marks are the same each time, and such that a use of a barrier is over within two periods.
    pub(super) fn periods_are_alike(&self, marks: &[Mark]) -> bool {
        let commands = |n: usize, w: usize| marks[n].commands[w]..marks[n + 1].commands[w];
        let alike = |n: usize, w: usize| self.out.repeats(w, commands(0, w), commands(n, w));
        let warps = 0..self.out.warps().len();
        warps.clone().all(|w| (1..marks.len() - 1).all(|n| alike(n, w)))
            && warps.clone().all(|w| {
                self.out.warps()[w].packed()[commands(0, w)].iter().all(|command| match command.opcode() {
                    Opcode::MbarrierInit | Opcode::MbarrierInval | Opcode::Exit => false,
                    Opcode::MbarrierArrive | Opcode::MbarrierCompleteTx | Opcode::CpAsyncArrive => {
                        over(marks, command.a)
                    }
                    Opcode::Access => command.completion().mbarrier().is_none_or(|at| over(marks, at)),
                    _ => true,
                })
            })
            && (0..2).all(|n| self.groups_are_even(&marks[n]))
    }

    /// Whether the warps of each warpgroup have committed as many groups: who waits for one waits for nothing that comes in a later period.
    fn groups_are_even(&self, mark: &Mark) -> bool {
        let groups = |w: usize| {
            let packed = &self.out.warps()[w].packed()[..mark.commands[w]];
            let commits = packed.iter().filter(|c| c.opcode() == Opcode::CommitGroup);
            commits.filter(|c| c.group() == GroupKind::Wgmma).count()
        };
        let groups: Vec<usize> = (0..mark.commands.len()).map(groups).collect();
        let of_cta = groups.chunks(groups.len() / self.ctas.len());
        let mut warpgroups = of_cta.flat_map(|cta| cta.chunks(WARPGROUP as usize));
        warpgroups.all(|group| group.iter().all(|n| *n == group[0]))
    }
}

/// Whether an mbarrier completes a phase in each period.
fn over(marks: &[Mark], at: u32) -> bool {
    marks.windows(2).all(|pair| pair[0].phases.get(&at) < pair[1].phases.get(&at))
}
