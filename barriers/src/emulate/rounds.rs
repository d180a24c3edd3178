//! Loops around barriers that nobody knows the number of rounds of: by induction over the state at a barrier.
//!
//! Where all threads that are left wait at one barrier and nothing else is under way (no copy, no arrival at another barrier), all that
//! came before happens before all that follows. Such a moment is a *cut*: what follows depends on the state alone, and races with nothing
//! before it that would not have been there in an earlier round as well. A cut that has been assumed to be reached again is a *head*.
//!
//! The first rounds are followed as they are. Then everything that has not come back with some period (a counter, an address that
//! advances, values kept in shared memory) is made unknown. If the rounds of one period lead from there to a state that is one of those,
//! every further round does what these do, and the case ends: it is *covered*. Where not, what stands in the way is made unknown, too.
//! Numbers that have been the same all along, for all threads of a warp and wherever they are kept, are one number that nobody knows
//! ([`Node::Round`]), so that a loop ends for all threads together. That they are still the same one period later is a part of the proof.
//!
//! Source: induction over an invariant that is found by widening, as in abstract interpretation (Cousot and Cousot, POPL 1977); the
//! invariant is checked, so that how it is found does not matter.
//!
//! # What it can miss
//! Nothing that is proven is wrong by it. It knows cuts only: where some threads wait for others without all of them meeting (named barriers of
//! producers and consumers, mbarriers), where copies are under way from one round to the next, in clusters, and behind early returns there are none.
//! What goes wrong behind widened values need not happen in any launch ([`crate::findings`] takes none of it for an error).
//!
//! [`Node::Round`]: super::symbol::Node::Round

use bugaroo_simulator::SHARED_WINDOW;
use bugaroo_simulator::alu::Width;
use rustc_hash::FxHashMap;

use super::barrier::Named;
use super::flow::Flow;
use super::local::Local;
use super::machine::{Machine, ROOT};
use super::registers::{Registers, Why, lanes};
use super::shared::Shared;
use super::symbol::{Source, Symbol};
use super::warp::{State, Warp};

/// Times that what was made unknown may not have been enough.
const PATIENCE: u32 = 8;

/// How rounds are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Induction {
    /// Rounds that are followed as they are: at least twice as many as the longest period has.
    pub exact: u32,
    /// Rounds of the longest period that is tried.
    pub longest: u32,
}

/// What is known of the rounds of an emulation.
#[derive(Default)]
pub(super) struct Rounds<'a> {
    /// None: all are followed as they are.
    induction: Option<Induction>,
    /// Something is under way that no barrier ends for all, from here on.
    pub under_way: bool,
    /// The most often that a head was reached.
    pub most: u32,
    /// Values have been made unknown.
    pub widened: bool,
    /// What follows has been seen.
    pub covered: bool,
    heads: Vec<Head<'a>>,
}

impl Rounds<'_> {
    /// Those of an emulation that begins.
    pub fn new(induction: Option<Induction>) -> Self {
        Rounds { induction, ..Rounds::default() }
    }
}

/// A barrier that all threads have met at.
struct Head<'a> {
    /// The instruction behind it, by warp.
    at: Vec<u32>,
    /// Predicates that had been decided by assumption then.
    decisions: u64,
    /// Times that it was reached.
    times: u32,
    /// The state each time.
    states: Vec<Cut<'a>>,
    target: Option<Target<'a>>,
    patience: u32,
}

/// The state that has to come back.
struct Target<'a> {
    state: Cut<'a>,
    /// Rounds of the period.
    period: u32,
    /// When it has to be there again.
    due: u32,
    /// Its unknown numbers.
    numbers: Vec<Symbol>,
}

/// All that what follows depends on.
struct Cut<'a> {
    warps: Vec<Waiting<'a>>,
    shared: Shared,
    escaped: bool,
}

/// A warp at a barrier.
struct Waiting<'a> {
    lanes: u32,
    /// Its calls, the innermost first.
    calls: Vec<Call<'a>>,
    local: Local,
}

/// A call in progress.
struct Call<'a> {
    function: u32,
    return_pc: u32,
    local_base: u32,
    grown: u32,
    registers: Registers<'a>,
}

impl Cut<'_> {
    /// Whether the same threads are in the same calls.
    fn is_alike(&self, other: &Cut<'_>) -> bool {
        let same = |(a, b): (&Waiting<'_>, &Waiting<'_>)| {
            let place = |c: &Call<'_>| (c.function, c.return_pc, c.local_base, c.grown);
            a.lanes == b.lanes && a.calls.iter().map(place).eq(b.calls.iter().map(place))
        };
        self.escaped == other.escaped && self.warps.iter().zip(&other.warps).all(same)
    }
}

/// A row of one of a warp's calls.
#[derive(Clone, Copy)]
struct Row {
    warp: usize,
    call: usize,
    row: u32,
    width: Width,
}

/// What a lane of a row holds, if it is a number or an expression.
fn held(registers: &Registers<'_>, row: &Row, lane: usize) -> Option<Source> {
    let slot = row.row as i32;
    if registers.known(slot) >> lane & 1 != 0 {
        return Some(Source::Known(registers.read(slot, row.width, lane)));
    }
    registers.symbol(slot, lane).map(Source::Symbol)
}

/// Whether an address of shared memory may be in a lane of a row.
fn may_point(registers: &Registers<'_>, row: &Row, lane: usize) -> bool {
    let slot = row.row as i32;
    if registers.known(slot) >> lane & 1 == 0 {
        return registers.why(slot).is_tainted();
    }
    let in_window = |value: u64| value.wrapping_sub(SHARED_WINDOW) < 1 << 32;
    row.width == Width::W64 && in_window(registers.read(slot, Width::W64, lane))
}

/// All rows of a state.
fn rows<'s>(state: &'s Cut<'_>, flows: &'s [Flow]) -> impl Iterator<Item = Row> + 's {
    let of_call = |warp, (call, of): (usize, &Call<'_>)| {
        let rows = flows[of.function as usize].rows.iter();
        rows.map(move |(row, width)| Row { warp, call, row: *row, width: *width })
    };
    let of_warp = move |(warp, waiting): (usize, &'s Waiting<'_>)| {
        waiting.calls.iter().enumerate().flat_map(move |call| of_call(warp, call))
    };
    state.warps.iter().enumerate().flat_map(of_warp)
}

impl<'s, 'a> Cut<'a> {
    fn registers(&'s self, row: &Row) -> &'s Registers<'a> {
        &self.warps[row.warp].calls[row.call].registers
    }
}

/// Lanes of a row that do not hold the same in all of these states. What is unknown in all of them is the same.
fn moved(row: &Row, lanes_of: u32, states: &[&Cut<'_>]) -> u32 {
    let moved = |lane: &usize| {
        let mut held = states.iter().map(|state| held(state.registers(row), row, *lane));
        let first = held.next().flatten();
        held.any(|other| other != first)
    };
    lanes(lanes_of).filter(moved).fold(0, |mask, lane| mask | 1 << lane)
}

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
        let arrived = self.cluster_arrived.iter().any(|lanes| *lanes != 0);
        let quiet = !arrived && !self.rounds.under_way && cta.mbarriers.is_empty() && self.doubt.depth == 0;
        quiet && self.warps.iter().all(waits) && cta.barriers.iter().enumerate().all(idle)
    }

    /// All threads have met, and are about to go on.
    pub fn cut(&mut self) {
        let pc = |warp: &Warp| warp.fragments.first().map_or(u32::MAX, |only| only.pc);
        let at: Vec<u32> = self.warps.iter().map(pc).collect();
        let known = self.rounds.heads.iter().position(|head| head.at == at);
        let number = known.unwrap_or_else(|| {
            let states = Vec::new();
            self.rounds.heads.push(Head {
                at,
                decisions: 0,
                times: 0,
                states,
                target: None,
                patience: PATIENCE,
            });
            self.rounds.heads.len() - 1
        });
        let decisions = self.symbols.decisions();
        let head = &mut self.rounds.heads[number];
        if head.times > 0 && head.decisions == decisions {
            // A round of a loop whose end is known.
            return;
        }
        head.decisions = decisions;
        head.times += 1;
        let times = head.times;
        self.rounds.most = self.rounds.most.max(times);
        if let Some(induction) = self.rounds.induction {
            self.round(number, times - 1, induction);
        }
    }

    /// A head was reached; `round` counts from 0.
    fn round(&mut self, number: usize, round: u32, induction: Induction) {
        let now = self.cut_now();
        let flows = self.set.flows;
        let head = &mut self.rounds.heads[number];
        let Some(target) = &head.target else {
            if round < induction.exact {
                head.states.push(now);
                return;
            }
            let states = std::mem::take(&mut head.states);
            if let Some(period) = period(&states, &now, induction.longest, flows) {
                let before = &states[states.len() - period];
                let earlier = states.len().checked_sub(2 * period).map(|at| &states[at]);
                let history: Vec<&Cut<'a>> = earlier.into_iter().chain([before]).collect();
                self.aim(number, (round, period as u32), (&history, &now));
            }
            return;
        };
        if round < target.due {
            return;
        }
        if covers(target, &now, flows) {
            self.rounds.covered = true;
            return;
        }
        let target = head.target.take().expect("it was there just now");
        head.patience -= 1;
        if head.patience > 0 && target.state.is_alike(&now) {
            self.aim(number, (round, target.period), (&[&target.state], &now));
        }
    }

    /// Makes unknown what is not the same as in all of `history`; the state has to come back.
    fn aim(&mut self, number: usize, (round, period): (u32, u32), (history, now): (&[&Cut<'a>], &Cut<'a>)) {
        let states: Vec<&Cut<'a>> = history.iter().copied().chain([now]).collect();
        let before = history.last().expect("there is a state before this one");
        let why =
            Why::at(self.rounds.heads[number].at.iter().find(|pc| **pc != u32::MAX).map_or(0, |pc| pc - 1));
        let mut numbers: FxHashMap<(Width, Vec<Option<Source>>), Symbol> = FxHashMap::default();
        for row in rows(now, self.set.flows) {
            let all = now.warps[row.warp].lanes;
            let lost = moved(&row, all, &states);
            if lost == 0 {
                continue;
            }
            let points =
                lanes(lost).any(|lane| states.iter().any(|s| may_point(s.registers(&row), &row, lane)));
            let holds = |lane| states.iter().map(|s| held(s.registers(&row), &row, lane)).collect::<Vec<_>>();
            let first = holds(lost.trailing_zeros() as usize);
            let one = lost == all
                && first.iter().all(Option::is_some)
                && lanes(lost).all(|lane| holds(lane) == first);
            let next = numbers.len() as u32;
            let symbol = one.then(|| {
                let made = || self.symbols.round((number as u32, round), next);
                *numbers.entry((row.width, first)).or_insert_with(made)
            });
            let decided = symbol.filter(|_| row.width == Width::Pred).and_then(|it| self.symbols.decided(it));
            let registers = self.registers_of(&row);
            registers.mark(row.row, lost, 0, why.tainted(points));
            for lane in lanes(lost) {
                match (decided, symbol) {
                    (Some(holds), _) => {
                        registers.write(row.row, Width::Pred, lane, u64::from(holds));
                        registers.mark(row.row, 1 << lane, !0, Why::NEVER);
                    }
                    (None, Some(symbol)) => registers.set_symbol(row.row, lane, symbol),
                    (None, None) => {}
                }
            }
        }
        self.ctas[0].shared.join(&before.shared, why.tainted(true));
        for (warp, before) in self.warps.iter_mut().zip(&before.warps) {
            warp.local.join(&before.local, before.lanes, why.tainted(true));
        }
        self.rounds.widened = true;
        let (state, numbers) = (self.cut_now(), numbers.into_values().collect());
        self.rounds.heads[number].target = Some(Target { state, period, due: round + period, numbers });
    }

    /// The registers of a row, as they are now.
    fn registers_of(&mut self, row: &Row) -> &mut Registers<'a> {
        let mut frame = self.warps[row.warp].fragments[0].frame;
        for _ in 0..row.call {
            frame = self.frames[frame as usize].parent;
        }
        &mut self.frames[frame as usize].registers
    }

    fn cut_now(&self) -> Cut<'a> {
        let waiting = |warp: &Warp| {
            let mut calls = Vec::new();
            let mut frame = warp.fragments.first().map_or(ROOT, |only| only.frame);
            while frame != ROOT {
                let of = &self.frames[frame as usize];
                calls.push(Call {
                    function: of.function,
                    return_pc: of.return_pc,
                    local_base: of.local_base,
                    grown: of.grown,
                    registers: of.registers.clone(),
                });
                frame = of.parent;
            }
            Waiting { lanes: warp.alive, calls, local: warp.local.clone() }
        };
        let warps = self.warps.iter().map(waiting).collect();
        Cut { warps, shared: self.ctas[0].shared.clone(), escaped: self.escaped }
    }
}

/// The number of rounds after which the most comes back, the smallest of those; None where the calls differ.
fn period(states: &[Cut<'_>], now: &Cut<'_>, longest: u32, flows: &[Flow]) -> Option<usize> {
    let fits = (1..=longest as usize).filter(|period| 2 * period <= states.len());
    let differ = |period: usize| {
        let (before, earlier) = (&states[states.len() - period], &states[states.len() - 2 * period]);
        let alike = before.is_alike(now) && earlier.is_alike(now);
        let moves = |row: &Row| moved(row, now.warps[row.warp].lanes, &[earlier, before, now]) != 0;
        alike.then(|| (rows(now, flows).filter(moves).count(), period))
    };
    fits.filter_map(differ).min().map(|(_, period)| period)
}

/// Whether a state is one of those that the target stands for.
fn covers(target: &Target<'_>, now: &Cut<'_>, flows: &[Flow]) -> bool {
    let state = &target.state;
    if !state.is_alike(now) || !state.shared.covers(&now.shared) {
        return false;
    }
    let local = |(before, now): (&Waiting<'_>, &Waiting<'_>)| before.local.covers(&now.local, now.lanes);
    if !state.warps.iter().zip(&now.warps).all(local) {
        return false;
    }
    // What each of the target's numbers is now.
    let mut numbers: FxHashMap<Symbol, Source> = FxHashMap::default();
    rows(now, flows).all(|row| {
        let (before, after) = (state.registers(&row), now.registers(&row));
        lanes(now.warps[row.warp].lanes).all(|lane| {
            let known = before.known(row.row as i32) >> lane & 1 != 0;
            let points = may_point(after, &row, lane) && !may_point(before, &row, lane);
            let holds = held(after, &row, lane);
            let same = match held(before, &row, lane) {
                None => true,
                Some(Source::Symbol(number)) if target.numbers.contains(&number) => {
                    holds.is_some_and(|holds| *numbers.entry(number).or_insert(holds) == holds)
                }
                other => holds == other,
            };
            same && (known || !points)
        })
    })
}
