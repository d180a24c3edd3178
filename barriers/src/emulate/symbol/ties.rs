//! Loops that count in different ways and end together: one role counts up to `n` and the other one down from there, one goes round `n` times and
//! the other one `2·n` times, one takes its first round before the loop and goes round `n - 1` times.
//!
//! Numbers of rounds that have moved by different steps in the same period are tied to the one with the smallest step: each is a multiple of that
//! number, from nought or from a parameter on. That they are is a part of the induction ([`Symbols::stay_tied`]). A comparison of what is
//! tied is made one of the number and the limit that stand behind it, so that whoever asks first asks for all.
//!
//! The two sides of a comparison are sums t·N + l·P + c of a number N and a limit P. Whether they are equal is a matter of arithmetic modulo the
//! width; which one is less is known where both are what the sum is as an integer ([`super::reach`] for N and P).
//!
//! # What it can miss
//! A limit that comes round when it is multiplied by a small constant is taken not to be given: `2 * n` with an `n` beyond half of all numbers. Nor is one
//! of the 64 largest numbers of its type, as in [`super::reach`].

use rustc_hash::{FxHashMap, FxHashSet};

use super::bounds::{mask, signed};
use super::reach::ROOM;
use super::symbols::Symbols;
use super::terms::{Node, Order, Source, Symbol};
use super::tie::{Moving, Tie};

/// The largest ratio of steps, and of a limit and its parameter.
const MOST_TIMES: i64 = 16;

/// One side of a comparison, or the difference of both: a multiple of a number, one of a limit, and a constant.
#[derive(Clone, Copy, Debug, Default)]
struct Linear {
    number: Option<(Symbol, i64)>,
    limit: Option<(Symbol, i64)>,
    plus: i64,
}

impl Linear {
    fn times(self, by: i64) -> Option<Linear> {
        let scaled = |part: Option<(Symbol, i64)>| match part {
            Some((symbol, times)) => Some(Some((symbol, times.checked_mul(by)?))),
            None => Some(None),
        };
        Some(Linear {
            number: scaled(self.number)?,
            limit: scaled(self.limit)?,
            plus: self.plus.checked_mul(by)?,
        })
    }

    fn plus(self, other: Linear) -> Option<Linear> {
        let sum = |a: Option<(Symbol, i64)>, b: Option<(Symbol, i64)>| match (a, b) {
            (Some((x, m)), Some((y, n))) if x == y => {
                let times = m.checked_add(n)?;
                Some((times != 0).then_some((x, times)))
            }
            (Some(_), Some(_)) => None,
            (a, b) => Some(a.or(b)),
        };
        Some(Linear {
            number: sum(self.number, other.number)?,
            limit: sum(self.limit, other.limit)?,
            plus: self.plus.checked_add(other.plus)?,
        })
    }
}

/// A comparison that says the same.
pub(super) enum Related {
    Known(bool),
    /// `a` before `b` or equal to it; negated or not.
    Compare {
        a: Source,
        b: Source,
        negated: bool,
    },
}

impl Symbols {
    /// Ties numbers that move in the same periods to one of them.
    pub fn tie(&mut self, moving: &[Moving]) {
        for bytes in [4, 8] {
            let all = || moving.iter().filter(|one| one.bytes == bytes);
            let was_base = |symbol| self.rounds.ties.values().any(|tie| tie.base == symbol);
            let can_be = |one: &&Moving| one.is_rising() && one.from.is_none_or(was_base);
            let Some(base) =
                all().filter(can_be).min_by_key(|one| (one.from.is_some(), one.step, one.number))
            else {
                continue;
            };
            let found: Vec<(Symbol, Tie)> = all()
                .filter(|one| one.number != base.number)
                .filter_map(|one| Some((one.number, self.tied(one, base)?)))
                .collect();
            self.rounds.ties.extend(found);
        }
    }

    fn tied(&self, one: &Moving, base: &Moving) -> Option<Tie> {
        let (step, of) = (one.step_signed(), base.step_signed());
        let times = step.checked_div(of).filter(|times| times * of == step && times.abs() <= MOST_TIMES)?;
        let from = match (base.from, one.from) {
            (None, None) if times > 0 => None,
            (None, Some(from)) if !self.is_of_rounds(from) => Some(from),
            (Some(earlier), Some(from)) => {
                let tie = self.rounds.ties.get(&from)?;
                (tie.base == earlier && tie.times == times).then_some(tie.from)?
            }
            _ => return None,
        };
        Some(Tie { from, times, base: base.number, bytes: one.bytes })
    }

    /// What is tied of these numbers, in an order of its own.
    pub fn ties_of(&self, of: &FxHashSet<Symbol>) -> Vec<(Symbol, Tie)> {
        let mut all: Vec<(Symbol, Tie)> = self
            .rounds
            .ties
            .iter()
            .filter(|(number, _)| of.contains(number))
            .map(|(n, tie)| (*n, *tie))
            .collect();
        all.sort_unstable();
        all
    }

    /// Whether numbers that are tied still are, for what they have become: sums.
    pub fn stay_tied(&self, instances: &FxHashMap<Symbol, (Option<Symbol>, u64)>) -> bool {
        instances.iter().all(|(number, (of, plus))| {
            let Some(tie) = self.rounds.ties.get(number) else { return true };
            let moved = instances.get(&tie.base).filter(|(base, _)| *base == Some(tie.base));
            let goes_along = |(_, base): &(Option<Symbol>, u64)| {
                (tie.times as u64).wrapping_mul(*base) & mask(tie.bytes) == *plus
            };
            *of == Some(*number) && moved.is_some_and(goes_along)
        })
    }

    /// Notes that an expression is another one times a small constant.
    pub fn note_product(&mut self, symbol: Symbol, of: Symbol, by: u64) {
        if (2..=MOST_TIMES as u64).contains(&by) {
            self.quotients.products.insert(symbol.index() as u32, (of, by));
        }
    }

    /// An expression of so many bytes as a sum of a number, a limit and a constant.
    fn linear(&self, source: Source, bytes: u8) -> Option<Linear> {
        let symbol = match source {
            Source::Known(value) => return Some(Linear { plus: signed(value, bytes), ..Linear::default() }),
            Source::Symbol(symbol) => symbol,
        };
        let (of, plus) = self.parted(symbol, bytes);
        let plus = Linear { plus: signed(plus, bytes), ..Linear::default() };
        let found = match (self.rounds.ties.get(&of).filter(|tie| tie.bytes == bytes), self.node(of)) {
            (Some(Tie { from, times, base, .. }), _) => {
                let number = Linear { number: Some((*base, *times)), ..Linear::default() };
                match from {
                    Some(from) => number.plus(self.linear(Source::Symbol(*from), bytes)?)?,
                    None => number,
                }
            }
            (None, Node::Round { .. }) => Linear { number: Some((of, 1)), ..Linear::default() },
            _ => match self.quotients.products.get(&(of.index() as u32)) {
                Some((inner, by)) => self.linear(Source::Symbol(*inner), bytes)?.times(*by as i64)?,
                None => Linear { limit: Some((of, 1)), ..Linear::default() },
            },
        };
        found.plus(plus)
    }

    /// Whether an expression is one that another one may stand for.
    fn may_stand_for_another(&self, source: Source, bytes: u8) -> bool {
        let Source::Symbol(symbol) = source else { return false };
        let (of, plus) = self.parted(symbol, bytes);
        self.rounds.ties.contains_key(&of)
            || self.quotients.products.contains_key(&(of.index() as u32))
            || plus != 0 && !matches!(self.node(of), Node::Round { .. })
    }

    /// A comparison in the terms of the number and the limit behind it, if these are others.
    pub(super) fn related(&mut self, order: Order, bytes: u8, a: Source, b: Source) -> Option<Related> {
        if bytes < 4 || !self.may_stand_for_another(a, bytes) && !self.may_stand_for_another(b, bytes) {
            return None;
        }
        let (left, right) = (self.linear(a, bytes)?, self.linear(b, bytes)?);
        let difference = left.plus(right.times(-1)?)?;
        let related = match order {
            Order::Equal => self.related_equal(difference, bytes),
            Order::Less { signed } => {
                let whole = self.is_whole(left, bytes, signed) && self.is_whole(right, bytes, signed);
                if whole { self.related_less(difference, bytes, signed) } else { None }
            }
        }?;
        // What it says already need not be said again.
        let same = matches!(related, Related::Compare { a: x, b: y, negated: false } if (x, y) == (a, b));
        (!same).then_some(related)
    }

    /// Whether a difference is nought, modulo the width.
    fn related_equal(&mut self, Linear { number, limit, plus }: Linear, bytes: u8) -> Option<Related> {
        let (limit, times) = match (number, limit) {
            (None, None) => return Some(Related::Known(plus as u64 & mask(bytes) == 0)),
            (_, Some(limit)) => limit,
            (Some(_), None) => return None,
        };
        if number.is_some_and(|(_, other)| other != -times) {
            return None;
        }
        if times.abs() > 1 {
            // Where nothing comes round, it is what it is as an integer.
            let ahead = number.is_none_or(|(number, _)| {
                [false, true]
                    .iter()
                    .any(|signed| self.known_distance(number, limit, bytes, *signed).is_some())
            });
            if !ahead || plus.signum() == times.signum() {
                return None;
            }
        }
        if plus.checked_rem(times)? != 0 {
            return Some(Related::Known(false));
        }
        // t·(P - N) + c is nought if N - c / t is P.
        let rest = plus.checked_div(times)?.wrapping_neg() as u64 & mask(bytes);
        Some(match number {
            Some((number, _)) => {
                let there = self.sum(number, rest, bytes);
                Related::Compare { a: Source::Symbol(there), b: Source::Symbol(limit), negated: false }
            }
            None => Related::Compare { a: Source::Symbol(limit), b: Source::Known(rest), negated: false },
        })
    }

    /// Whether a difference of whole numbers is less than nought.
    fn related_less(&mut self, difference: Linear, bytes: u8, is_signed: bool) -> Option<Related> {
        let Linear { number, limit, plus } = difference;
        let (limit, times) = limit?;
        if number.is_some_and(|(_, other)| other != -times) {
            return None;
        }
        // k·N + c < k·P is N + ⌊c / k⌋ < P; and k·P < k·N + c is not k·N + (c - 1) < k·P.
        let (more, negated) = match times < 0 {
            true => (plus.div_euclid(-times), false),
            false => (plus.checked_neg()?.checked_sub(1)?.div_euclid(times), true),
        };
        let a = match number {
            Some((number, _)) => {
                let far = self.known_distance(number, limit, bytes, is_signed)?;
                if more < 0 {
                    return Some(Related::Known(!negated));
                }
                // Else the number with that much more may come round.
                let near = more as u64 <= far.saturating_add(ROOM);
                near.then(|| Source::Symbol(self.sum(number, more as u64, bytes)))?
            }
            None if more < 0 && !is_signed => return Some(Related::Known(!negated)),
            None => Source::Known(more as u64 & mask(bytes)),
        };
        Some(Related::Compare { a, b: Source::Symbol(limit), negated })
    }

    /// Whether a sum is as an integer what it is in so many bytes.
    fn is_whole(&self, sum: Linear, bytes: u8, is_signed: bool) -> bool {
        let Linear { number, limit, plus } = sum;
        let room = i64::try_from(ROOM).unwrap_or(i64::MAX);
        // How far the number is from any of its limits.
        let far = |number| self.farthest(number, bytes, is_signed).and_then(|far| i64::try_from(far).ok());
        match (number, limit) {
            (None, None) => is_signed || plus >= 0,
            (None, Some((limit, times))) if times > 0 => {
                let (least, most) = self.range(limit, bytes, is_signed);
                let largest = (mask(bytes) >> 1) as i64;
                match plus.signum() {
                    0 => true,
                    -1 => least.max(0).checked_mul(times).is_some_and(|least| least >= -plus),
                    _ => most.checked_mul(times).is_some_and(|most| most <= largest - plus),
                }
            }
            (Some((number, times)), None) if times > 0 => {
                let far = far(number).and_then(|far| far.checked_mul(times)?.checked_add(room));
                plus >= 0 && far.is_some_and(|far| plus <= far)
            }
            (Some((number, down)), Some((limit, times))) if times > 0 && down == -times => {
                let far = self.known_distance(number, limit, bytes, is_signed);
                let far = far.and_then(|far| i64::try_from(far).ok()?.checked_mul(times));
                far.is_some_and(|far| (-far..=room).contains(&plus))
            }
            _ => false,
        }
    }

    /// The least and the largest value of a limit; what is beyond signed numbers counts as the largest of these.
    fn range(&self, limit: Symbol, bytes: u8, is_signed: bool) -> (i64, i64) {
        let all = if is_signed { (i64::MIN, i64::MAX) } else { (0, i64::MAX) };
        let Some(bounds) = self.limits.bounds.get(&limit.bits()).filter(|bounds| bounds.bytes == bytes)
        else {
            return all;
        };
        let capped = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        match (is_signed, bounds.signed.0 >= 0) {
            (true, _) => bounds.signed,
            // What is not negative is the same as signed and as unsigned.
            (false, true) => (
                bounds.signed.0.max(capped(bounds.unsigned.0)),
                bounds.signed.1.min(capped(bounds.unsigned.1)),
            ),
            (false, false) => (capped(bounds.unsigned.0), capped(bounds.unsigned.1)),
        }
    }
}
