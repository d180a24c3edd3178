//! What stands for values that change from round to round.
//!
//! Values that have moved by the same in each period (a counter, what is computed from it, whatever thread has it) are told by one number
//! that nobody knows, each with its distance from that: they go on together. Of a number that moves by a multiple of a power of two so many
//! low bits are known, and its remainders by divisors of its step as long as it does not come round (`symbol/quotient.rs`). How numbers with
//! different steps go together is kept, too (`symbol/ties.rs`). Values that have changed in another way, but have been the same for all threads of a warp, are a number
//! of their own, and the same one wherever the same values have been. The others are plainly unknown.

use bugaroo_simulator::alu::Width;
use rustc_hash::{FxHashMap, FxHashSet};

use super::seen::Target;
use super::state::{Cut, Row, held, may_point, moved, rows};
use crate::emulate::flow::Flow;
use crate::emulate::machine::Machine;
use crate::emulate::registers::{Why, lanes};
use crate::emulate::residue::Low;
use crate::emulate::symbol::{Change, Changing, Moving, Node, Source, Symbol, Symbols};

/// A row's bytes.
fn bytes(width: Width) -> u8 {
    match width {
        Width::Pred | Width::W16 => 2,
        Width::W32 => 4,
        Width::W64 => 8,
    }
}

/// An expression as a sum with a constant; a constant as one with nothing.
fn sum(symbols: &Symbols, source: Source, width: Width) -> (Option<Symbol>, u64) {
    match source {
        Source::Known(value) => (None, value),
        Source::Symbol(symbol) => match symbols.node(symbol) {
            Node::Sum { of, plus, bytes: same } if same == bytes(width) => (Some(of), plus),
            _ => (Some(symbol), 0),
        },
    }
}

/// The width of a value of so many bytes in shared memory.
fn width_of(size: usize) -> Width {
    if size == 8 { Width::W64 } else { Width::W32 }
}

/// What is left of a number in so many bytes.
fn cut_off(value: u64, width: Width) -> u64 {
    value & (u64::MAX >> (64 - 8 * u32::from(bytes(width))))
}

/// By how much values have moved each time, from what on, and how far the last one is from there.
fn steps(symbols: &Symbols, history: &[Source], width: Width) -> Option<(Change, u64)> {
    let sums: Vec<_> = history.iter().map(|source| sum(symbols, *source, width)).collect();
    let from = sums.first()?.0;
    let step = |pair: &[(Option<Symbol>, u64)]| cut_off(pair[1].1.wrapping_sub(pair[0].1), width);
    let first = sums.windows(2).map(step).next()?;
    let steady = sums.iter().all(|sum| sum.0 == from) && sums.windows(2).all(|pair| step(pair) == first);
    steady.then(|| (Change::Steps { from, step: first }, sums[sums.len() - 1].1))
}

impl<'a> Machine<'a> {
    /// Makes unknown what is not the same as in all of `history`; the state has to come back.
    pub(super) fn aim(
        &mut self,
        number: usize,
        (round, period): (u32, u32),
        (history, now): (&[&Cut<'a>], &Cut<'a>),
    ) {
        let states: Vec<&Cut<'a>> = history.iter().copied().chain([now]).collect();
        let before = history.last().expect("there is a state before this one");
        let behind = self.ways.rounds.heads[number].at.iter().find(|pc| **pc != u32::MAX);
        let why = Why::at(behind.map_or(0, |pc| pc - 1));
        let at = self.ways.rounds.heads[number].at.clone();
        let mut numbers = Numbers { at, round, found: FxHashSet::default(), moving: Vec::new() };
        let mut all_made = FxHashMap::default();
        for row in rows(now, self.set.code.flows) {
            let all = now.lanes(&row);
            let lost = moved(&row, all, &states);
            if lost == 0 {
                continue;
            }
            let points =
                lanes(lost).any(|lane| states.iter().any(|s| may_point(s.registers(&row), &row, lane)));
            let of_lane = |lane| -> Option<Vec<Source>> {
                states.iter().map(|state| held(state.registers(&row), &row, lane)).collect()
            };
            let histories: Vec<_> = lanes(lost).map(|lane| (lane, of_lane(lane))).collect();
            let uniform = lost == all && histories.iter().all(|(_, history)| *history == histories[0].1);
            let mut made = Vec::new();
            for (lane, history) in &histories {
                let symbol = history
                    .as_ref()
                    .and_then(|history| numbers.symbol(&mut self.known.symbols, history, row.width, uniform));
                made.extend(symbol.map(|symbol| (*lane, symbol)));
            }
            self.make_unknown(&row, lost, why.tainted(points), &made);
            all_made.extend(made.iter().map(|(lane, symbol)| ((row, *lane), *symbol)));
        }
        for rank in 0..self.ctas.len() {
            let made = numbers.contents(&mut self.known.symbols, &states, rank);
            let shared = &mut self.ctas[rank].shared;
            shared.join(&before.shared[rank], why.tainted(true));
            made.into_iter().for_each(|((at, size), symbol)| shared.set_content(at, size, symbol));
        }
        for (warp, before) in self.warps.iter_mut().zip(&before.warps) {
            warp.local.join(&before.local, before.lanes, why.tainted(true));
        }
        if !std::mem::replace(&mut self.ways.rounds.widening.widened, true) {
            self.ways.rounds.widening.exact = self.out.warps().iter().map(|warp| warp.len()).collect();
        }
        numbers.moving.sort_unstable();
        numbers.moving.dedup();
        for moving in numbers.moving.iter().filter(|moving| moving.is_rising()) {
            self.known.symbols.relate(moving, &self.ways.rounds.heads[number].lost);
        }
        self.known.symbols.tie(&numbers.moving);
        let state = self.cut_now();
        let known =
            (self.known.symbols.distances(&numbers.found), self.known.symbols.ties_of(&numbers.found));
        self.ways.rounds.widening.aims.push(state.print(self.set.code.flows, &all_made, known));
        let marks = if self.ways.rounds.has_stations() { vec![self.mark()] } else { Vec::new() };
        let target = Target { state, period, due: round + period, numbers: numbers.found, marks };
        self.ways.rounds.heads[number].target = Some(target);
    }

    /// Makes lanes of a row unknown, but for these expressions.
    fn make_unknown(&mut self, row: &Row, lost: u32, why: Why, made: &[(usize, Symbol)]) {
        self.registers_with(row).mark(row.row, lost, 0, why);
        for (lane, symbol) in made {
            let decided = if row.width == Width::Pred { self.known.symbols.decided(*symbol) } else { None };
            let registers = self.registers_with(row);
            match decided {
                Some(holds) => {
                    registers.write(row.row, Width::Pred, *lane, u64::from(holds));
                    registers.mark(row.row, 1 << lane, !0, Why::NEVER);
                }
                None => registers.set_symbol(row.row, *lane, *symbol),
            }
        }
    }
}

/// The numbers of a target.
struct Numbers {
    at: Vec<u32>,
    round: u32,
    found: FxHashSet<Symbol>,
    /// Those that move step by step.
    moving: Vec<Moving>,
}

impl Numbers {
    /// What tells the values in shared memory that are not known in the last state and in all states the same for whoever reads them: each a number, if
    /// it changes.
    fn contents(
        &mut self,
        symbols: &mut Symbols,
        states: &[&Cut<'_>],
        rank: usize,
    ) -> Vec<((usize, usize), Symbol)> {
        let mut places: Vec<(usize, usize)> =
            states.iter().flat_map(|state| state.shared[rank].places()).collect();
        places.sort_unstable();
        places.dedup();
        let mut made = Vec::new();
        for (at, size) in places {
            let history: Option<Vec<Source>> =
                states.iter().map(|state| state.shared[rank].held(at, size)).collect();
            let Some(history) = history.filter(|history| history.iter().any(|held| *held != history[0]))
            else {
                continue;
            };
            let (width, change) = (width_of(size), Change::Other(history));
            let changing = Changing { at: self.at.clone(), round: self.round, width, change };
            let number = symbols.round(changing, 1);
            self.found.insert(number);
            made.push(((at, size), number));
        }
        made
    }

    /// What tells a value with this history.
    fn symbol(
        &mut self,
        symbols: &mut Symbols,
        history: &[Source],
        width: Width,
        uniform: bool,
    ) -> Option<Symbol> {
        let steps = if width == Width::Pred { None } else { steps(symbols, history, width) };
        let (change, plus) = match steps {
            Some(steps) => steps,
            None if uniform => (Change::Other(history.to_vec()), 0),
            None => return None,
        };
        let moving = match &change {
            Change::Steps { from, step } if *step != 0 => Some((*from, *step)),
            _ => None,
        };
        let multiple = match moving {
            Some((from, step)) => {
                // One that goes down is below nought, which is a multiple of powers of two alone.
                let is_rising = step <= cut_off(u64::MAX, width) >> 1;
                let step = if is_rising { step } else { 1 << step.trailing_zeros() };
                from.map_or(step, |from| common_divisor(symbols.multiple(from), step))
            }
            None => 1,
        };
        let changing = Changing { at: self.at.clone(), round: self.round, width, change };
        let number = symbols.round(changing, multiple);
        self.found.insert(number);
        self.moving.extend(moving.map(|(from, step)| Moving { number, from, step, bytes: bytes(width) }));
        Some(symbols.sum(number, plus, bytes(width)))
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// What numbers are: sums.
pub(super) type Instances = FxHashMap<Symbol, (Option<Symbol>, u64)>;

/// If a state is one of those that the target stands for: what each of the target's numbers is there.
pub(super) fn covers(
    Target { state: target, numbers, .. }: &Target<'_>,
    now: &Cut<'_>,
    (symbols, flows): (&Symbols, &[Flow]),
) -> Option<Instances> {
    let mut shared = target.shared.iter().zip(&now.shared);
    if !target.is_alike(now) || !shared.all(|(before, after)| before.covers(after)) {
        return None;
    }
    let mut warps = target.warps.iter().zip(&now.warps);
    if !warps.all(|(before, after)| before.local.covers(&after.local, after.lanes)) {
        return None;
    }
    let mut instances = Instances::default();
    for (before, after) in target.shared.iter().zip(&now.shared) {
        for (at, size) in before.places() {
            let (was, is) = (before.content(at, size)?, after.held(at, size)?);
            let instance = sum(symbols, is, width_of(size));
            let holds = match numbers.contains(&was) {
                true => *instances.entry(was).or_insert(instance) == instance,
                false => is == Source::Symbol(was),
            };
            if !holds {
                return None;
            }
        }
    }
    let holds = rows(now, flows).all(|row| {
        let (before, after) = (target.registers(&row), now.registers(&row));
        lanes(now.lanes(&row)).all(|lane| {
            let known = before.known(row.row as i32) >> lane & 1 != 0;
            if !known && may_point(after, &row, lane) && !may_point(before, &row, lane) {
                return false;
            }
            let Some(was) = held(before, &row, lane) else { return true };
            let Some(is) = held(after, &row, lane) else { return false };
            let (from, plus) = sum(symbols, was, row.width);
            let Some(number) = from.filter(|number| numbers.contains(number)) else { return was == is };
            let (of, is_plus) = sum(symbols, is, row.width);
            let instance = (of, cut_off(is_plus.wrapping_sub(plus), row.width));
            let low = of.map_or(Low::all(0), |of| symbols.low(of)).plus(instance.1);
            let aligned = symbols.low(number).bits();
            *instances.entry(number).or_insert(instance) == instance && low.is_multiple_of(aligned)
        })
    });
    (holds && symbols.stay_multiples(&instances) && symbols.stay_tied(&instances)).then_some(instances)
}
