//! Loops around barriers that nobody knows the number of rounds of: by induction over the state at a barrier.
//!
//! Where all threads that are left wait at one barrier and nothing else is under way (no copy, no arrival at another barrier), all that
//! came before happens before all that follows. Such a moment is a *cut*: what follows depends on the state alone, and races with nothing
//! before it that would not have been there in an earlier round as well. A cut that has been assumed to be reached again is a *head*.
//!
//! The first rounds are followed as they are. Then everything that has not come back with some period (a counter, an address that
//! advances, values kept in shared memory) is made unknown. If the rounds of one period lead from there to a state that is one of those,
//! every further round does what these do, and the case ends: it is *covered*. Where not, what stands in the way is made unknown, too.
//! Numbers that have moved by the same in each period are told by one number that nobody knows ([`numbers`]), so that a loop ends for all
//! threads together. That they still move together is a part of the proof.
//!
//! All cases that part after a state was assumed to come back have to assume the same state: a case that knows more of what the parameters are may
//! know more of that state, which other cases do not lead back to. Then its assumption is made from the beginning ([`super::case`]).
//!
//! Source: induction over an invariant that is found by widening, as in abstract interpretation (Cousot and Cousot, POPL 1977); the
//! invariant is checked, so that how it is found does not matter.
//!
//! # What it can miss
//! Nothing that is proven is wrong by it, but for limits that no launch is taken to give (`symbol/reach.rs`). Where some threads wait for others without all of them meeting,
//! or copies are under way from one round to the next, there are no cuts, but [`pauses`]; so in clusters. Behind early returns there are neither.
//! What goes wrong behind widened values need not happen in any launch ([`crate::findings`] takes none of it for an error).

mod now;
mod numbers;
mod pauses;
mod print;
pub(super) mod seen;
mod standing;
mod state;
mod stations;

use super::flow::Flow;
use super::held::named::Named;
use super::held::warp::{State, Warp};
use super::machine::Machine;
use seen::{Head, Induction, Target};
use state::{Cut, Row, moved, rows};

/// Periods that are followed from a state with pauses.
const PERIODS: usize = 2;

impl<'a> Machine<'a> {
    /// Whether all threads that are left wait at this barrier, and nothing else is under way.
    pub fn meet_all(&self, id: u32) -> bool {
        let waits = |warp: &Warp| match &warp.fragments[..] {
            [] => warp.alive == 0,
            [only] => only.state == State::Barrier(id) && only.mask == warp.alive && warp.leavers.lanes == 0,
            _ => false,
        };
        let [cta] = &self.ctas[..] else { return false };
        let idle = |(at, barrier): (usize, &Named)| at == id as usize || barrier.is_idle();
        let arrived = self.course.cluster_arrived.iter().any(|lanes| *lanes != 0);
        let quiet = !arrived
            && !self.ways.rounds.under_way
            && self.known.counters.is_idle()
            && cta.mbarriers.is_empty()
            && self.ways.doubt.depth == 0;
        quiet && self.warps.iter().all(waits) && cta.barriers.iter().enumerate().all(idle)
    }

    /// All threads have met, and are about to go on.
    pub fn cut(&mut self) {
        if self.ways.rounds.has_stations() {
            return;
        }
        let pc = |warp: &Warp| warp.fragments.first().map_or(u32::MAX, |only| only.pc);
        let at: Vec<u32> = self.warps.iter().map(pc).collect();
        self.reached(at);
    }

    /// A head was reached.
    fn reached(&mut self, at: Vec<u32>) {
        let rounds = &mut self.ways.rounds;
        let known = rounds.heads.iter().position(|head| head.at == at);
        let number = known.unwrap_or_else(|| {
            rounds.heads.push(Head::new(at));
            rounds.heads.len() - 1
        });
        let decisions = self.known.symbols.decisions();
        let head = &mut rounds.heads[number];
        if head.times > 0 && head.decisions == decisions {
            // A round of a loop whose end is known.
            return;
        }
        rounds.time.clock += 1;
        (head.decisions, head.last) = (decisions, rounds.time.clock);
        head.times += 1;
        rounds.most = rounds.most.max(head.times);
        let Some(induction) = rounds.induction else { return };
        match head.target.take() {
            Some(target) => self.again(number, target),
            None => self.first_rounds(number, induction),
        }
    }

    /// A head was reached that has no target.
    fn first_rounds(&mut self, number: usize, induction: Induction) {
        let now = self.cut_now();
        let rounds = &mut self.ways.rounds;
        let clock = rounds.time.clock;
        let mut states = std::mem::take(&mut rounds.heads[number].states);
        if states.len() >= induction.exact as usize
            && let Some(period) = period(&states, &now, induction.longest, self.set.code.flows)
        {
            let (earlier, before) = (&states[states.len() - 2 * period], &states[states.len() - period]);
            // Another barrier of the same loop, which stands for it already.
            let other = |head: &Head<'_>| head.target.is_some() && head.last > earlier.0;
            if !rounds.heads.iter().any(other) {
                let round = rounds.heads[number].times;
                self.aim(number, (round, period as u32), (&[&earlier.1, &before.1], &now));
                return;
            }
        }
        if states.len() >= induction.exact as usize {
            states.remove(0);
        }
        states.push((clock, now));
        self.ways.rounds.heads[number].states = states;
    }

    /// A head was reached that has a target.
    fn again(&mut self, number: usize, mut target: Target<'a>) {
        let head = &mut self.ways.rounds.heads[number];
        let round = head.times;
        if round < target.due {
            head.target = Some(target);
            return;
        }
        let now = self.cut_now();
        let instances = numbers::covers(&target, &now, (&self.known.symbols, self.set.code.flows));
        let lost = instances.as_ref().map(|instances| self.known.symbols.lost(instances));
        let keeps = lost.as_ref().is_some_and(Vec::is_empty);
        self.ways.rounds.heads[number].lost.extend(lost.into_iter().flatten());
        if keeps {
            if !self.ways.rounds.has_stations() {
                self.ways.rounds.covered = true;
                return;
            }
            target.marks.push(self.mark());
            if target.marks.len() <= PERIODS {
                let due = round + target.period;
                self.ways.rounds.heads[number].target = Some(Target { due, ..target });
                return;
            }
            if self.periods_are_alike(&target.marks) {
                self.ways.rounds.covered = true;
                self.out.set_open_end();
                return;
            }
        }
        let head = &mut self.ways.rounds.heads[number];
        head.patience = head.patience.saturating_sub(1);
        if head.patience == 0 {
            self.ways.rounds.given_up = true;
        } else if target.state.is_alike(&now) {
            self.aim(number, (round, target.period), (&[&target.state], &now));
        }
    }
}

/// The number of rounds after which the most comes back, the smallest of those; None where the calls differ.
fn period(states: &[(u64, Cut<'_>)], now: &Cut<'_>, longest: u32, flows: &[Flow]) -> Option<usize> {
    let fits = (1..=longest as usize).filter(|period| 2 * period <= states.len());
    let differ = |period: usize| {
        let (before, earlier) = (&states[states.len() - period].1, &states[states.len() - 2 * period].1);
        let alike = before.is_alike(now) && earlier.is_alike(now);
        let moves = |row: &Row| moved(row, now.lanes(row), &[earlier, before, now]) != 0;
        alike.then(|| (rows(now, flows).filter(moves).count(), period))
    };
    fits.filter_map(differ).min().map(|(_, period)| period)
}
