//! What stands for values that change from round to round.
//!
//! Values that have moved by the same in each period (a counter, what is computed from it, whatever thread has it) are told by one number
//! that nobody knows, each with its distance from that: they go on together. Of a number that moves by a multiple of a power of two so many
//! low bits are known. Values that have changed in another way, but have been the same for all threads of a warp, are a number
//! of their own, and the same one wherever the same values have been. The others are plainly unknown.

use bugaroo_simulator::alu::Width;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Target;
use super::state::{Cut, Row, held, may_point, moved, rows};
use crate::emulate::flow::Flow;
use crate::emulate::machine::Machine;
use crate::emulate::registers::{Why, lanes};
use crate::emulate::residue::Low;
use crate::emulate::symbol::{Change, Changing, Node, Source, Symbol, Symbols};

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
        let behind = self.rounds.heads[number].at.iter().find(|pc| **pc != u32::MAX);
        let why = Why::at(behind.map_or(0, |pc| pc - 1));
        let at = self.rounds.heads[number].at.clone();
        let mut numbers = Numbers { at, round, found: FxHashSet::default(), rising: Vec::new() };
        let mut all_made = FxHashMap::default();
        for row in rows(now, self.set.flows) {
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
                    .and_then(|history| numbers.symbol(&mut self.symbols, history, row.width, uniform));
                made.extend(symbol.map(|symbol| (*lane, symbol)));
            }
            self.make_unknown(&row, lost, why.tainted(points), &made);
            all_made.extend(made.iter().map(|(lane, symbol)| ((row, *lane), *symbol)));
        }
        self.ctas[0].shared.join(&before.shared, why.tainted(true));
        for (warp, before) in self.warps.iter_mut().zip(&before.warps) {
            warp.local.join(&before.local, before.lanes, why.tainted(true));
        }
        self.rounds.widened = true;
        numbers.rising.sort_unstable();
        numbers.rising.dedup();
        for (rising, from, bytes) in &numbers.rising {
            self.symbols.relate(*rising, *from, *bytes, &self.rounds.heads[number].lost);
        }
        let state = self.cut_now();
        let distances = self.symbols.distances(&numbers.found);
        self.rounds.aims.push(state.print(self.set.flows, &all_made, distances));
        let marks = if self.rounds.has_stations() { vec![self.mark()] } else { Vec::new() };
        let target = Target { state, period, due: round + period, numbers: numbers.found, marks };
        self.rounds.heads[number].target = Some(target);
    }

    /// Makes lanes of a row unknown, but for these expressions.
    fn make_unknown(&mut self, row: &Row, lost: u32, why: Why, made: &[(usize, Symbol)]) {
        self.registers_with(row).mark(row.row, lost, 0, why);
        for (lane, symbol) in made {
            let decided = if row.width == Width::Pred { self.symbols.decided(*symbol) } else { None };
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
    /// Those that go up step by step, from where, and their bytes.
    rising: Vec<(Symbol, Option<Symbol>, u8)>,
}

impl Numbers {
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
        let aligned = match &change {
            Change::Steps { from: None, step } => step.trailing_zeros(),
            Change::Steps { from: Some(from), step } => match symbols.node(*from) {
                Node::Round { aligned, .. } => step.trailing_zeros().min(aligned),
                _ => 0,
            },
            Change::Other(_) => 0,
        };
        let rising = match &change {
            Change::Steps { from, step } if *step != 0 && *step <= cut_off(u64::MAX, width) >> 1 => {
                Some(*from)
            }
            _ => None,
        };
        let changing = Changing { at: self.at.clone(), round: self.round, width, change };
        let number = symbols.round(changing, aligned.min(63));
        self.found.insert(number);
        self.rising.extend(rising.map(|from| (number, from, bytes(width))));
        Some(symbols.sum(number, plus, bytes(width)))
    }
}

/// What numbers are: sums.
pub(super) type Instances = FxHashMap<Symbol, (Option<Symbol>, u64)>;

/// If a state is one of those that the target stands for: what each of the target's numbers is there.
pub(super) fn covers(
    Target { state: target, numbers, .. }: &Target<'_>,
    now: &Cut<'_>,
    (symbols, flows): (&Symbols, &[Flow]),
) -> Option<Instances> {
    if !target.is_alike(now) || !target.shared.covers(&now.shared) {
        return None;
    }
    let mut warps = target.warps.iter().zip(&now.warps);
    if !warps.all(|(before, after)| before.local.covers(&after.local, after.lanes)) {
        return None;
    }
    let mut instances = Instances::default();
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
    holds.then_some(instances)
}
