//! How far numbers that change from round to round are from what they may not pass: `i < n` in one warp's loop and `i != n` in another one's end
//! both together.
//!
//! Of a number and a limit it is known that the number and some distance are at most the limit, as integers (PTX ISA, "Comparison and
//! Selection Instructions": signed or unsigned). Each comparison that is assumed may make the distance longer: what is at most the limit and does not equal
//! it is less. What the limit is at most, is known in the same way. That such a distance is there before each round is a part of the induction ([`Symbols::lost`]).
//!
//! # What it can miss
//! A limit that is one of the 64 largest numbers of its type is taken not to be given: `i + 2 < n` would come round there, after two thousand
//! million rounds.

use rustc_hash::{FxHashMap, FxHashSet};

use super::bounds::mask;
use super::distance::{Distance, Lost, Pair};
use super::symbols::Symbols;
use super::terms::{Node, Order, Source, Symbol};
use super::tie::Moving;

/// Comparisons that are followed from a distance on.
const LONGEST: u64 = 4096;
/// How far a limit is taken to be from the largest number.
pub(super) const ROOM: u64 = 64;

impl Symbols {
    /// A number that goes up begins at nought, or at `from`: notes how far it is from what has a least value, or from what `from` is far from.
    /// In all cases of one that has noted it, it is the same: each of them has to lead back to that. What was `lost` is left out.
    pub fn relate(&mut self, moving: &Moving, lost: &FxHashSet<Lost>) {
        let Moving { number, from, step, bytes } = *moving;
        self.limits.steps.insert(number, step);
        if let Some(noted) = self.limits.noted.get(&number) {
            self.limits.reach.extend(noted.iter().copied());
            return;
        }
        let mut found = Vec::new();
        match from {
            None => {
                for (limit, bounds) in &self.limits.bounds {
                    let Some(limit) = Symbol::from_bits(*limit) else { continue };
                    if bounds.bytes == bytes && !self.is_of_rounds(limit) {
                        let signed = u64::try_from(bounds.signed.0).ok();
                        // What is not negative is the same as signed and as unsigned.
                        let unsigned = Some(signed.unwrap_or(0).max(bounds.unsigned.0));
                        let distance = Distance { bytes, unsigned, signed };
                        found.push((Pair { number, limit }, distance));
                    }
                }
            }
            Some(from) => {
                for (pair, known) in self.limits.reach.iter().filter(|(pair, _)| pair.number == from) {
                    let of = |signed| known.of(signed).map(|_| self.distance(*pair, *known, signed));
                    let distance =
                        Distance { unsigned: of(false).flatten(), signed: of(true).flatten(), ..*known };
                    found.push((Pair { number, limit: pair.limit }, distance));
                }
            }
        }
        for (pair, distance) in &mut found {
            distance.unsigned = distance
                .unsigned
                .filter(|_| !lost.contains(&Lost { limit: pair.limit, signed: false, step }));
            distance.signed =
                distance.signed.filter(|_| !lost.contains(&Lost { limit: pair.limit, signed: true, step }));
        }
        self.limits.reach.extend(found.iter().copied());
        self.limits.noted.insert(number, found);
    }

    /// What is known of numbers, in an order of its own.
    pub fn distances(&self, of: &FxHashSet<Symbol>) -> Vec<(Pair, Distance)> {
        let mut all: Vec<(Pair, Distance)> = self
            .limits
            .reach
            .iter()
            .filter(|(pair, _)| of.contains(&pair.number))
            .map(|(pair, known)| (*pair, *known))
            .collect();
        all.sort_unstable();
        all
    }

    /// What is known of numbers and does not hold of what they have become: sums.
    pub fn lost(&self, instances: &FxHashMap<Symbol, (Option<Symbol>, u64)>) -> Vec<Lost> {
        let mut lost = Vec::new();
        for (pair, known) in &self.limits.reach {
            let Some((of, plus)) = instances.get(&pair.number) else { continue };
            for signed in [false, true] {
                let Some(distance) = known.of(signed) else { continue };
                let now = self.distance(*pair, *known, signed);
                let needed = distance.checked_add(*plus).filter(|_| *of == Some(pair.number));
                if needed.is_none_or(|needed| now.is_none_or(|now| now < needed)) {
                    let step = self.limits.steps.get(&pair.number).copied().unwrap_or(0);
                    lost.push(Lost { limit: pair.limit, signed, step });
                }
            }
        }
        lost
    }

    /// Whether a number and something more is at most some limit, as integers: it has not come round.
    pub(super) fn stays_below(&self, number: Symbol, plus: u64, bytes: u8, signed: bool) -> bool {
        let holds = |(pair, known): (&Pair, &Distance)| {
            let far = |signed| self.distance(*pair, *known, signed).is_some_and(|distance| distance >= plus);
            // What is not negative as a signed number is the same as an unsigned one.
            far(true) || !signed && far(false)
        };
        self.limits
            .reach
            .iter()
            .filter(|(pair, known)| pair.number == number && known.bytes == bytes)
            .any(holds)
    }

    /// Whether numbers that have not come round still are multiples of what they were multiples of, for numbers that are sums with themselves.
    pub fn stay_multiples(&self, instances: &FxHashMap<Symbol, (Option<Symbol>, u64)>) -> bool {
        let bounded = |number: &Symbol| self.limits.reach.keys().any(|pair| pair.number == *number);
        instances
            .iter()
            .filter(|(number, (of, _))| *of == Some(**number) && bounded(number))
            .all(|(number, (_, plus))| plus.is_multiple_of(self.multiple(*number)))
    }

    /// How far a number is known to be from any of its limits, as signed or as unsigned.
    pub(super) fn farthest(&self, number: Symbol, bytes: u8, signed: bool) -> Option<u64> {
        let of = |(pair, known): (&Pair, &Distance)| self.distance(*pair, *known, signed);
        self.limits
            .reach
            .iter()
            .filter(|(pair, known)| pair.number == number && known.bytes == bytes)
            .filter_map(of)
            .max()
    }

    /// How far a number is known to be from a limit, as signed or as unsigned.
    pub(super) fn known_distance(
        &self,
        number: Symbol,
        limit: Symbol,
        bytes: u8,
        signed: bool,
    ) -> Option<u64> {
        let pair = Pair { number, limit };
        let known = self.limits.reach.get(&pair).filter(|known| known.bytes == bytes)?;
        self.distance(pair, *known, signed)
    }

    /// The longest distance that follows from what is assumed.
    fn distance(&self, pair: Pair, known: Distance, signed: bool) -> Option<u64> {
        let mut distance = known.of(signed)?;
        let most = mask(known.bytes) >> u32::from(signed);
        for _ in 0..LONGEST {
            let there = self.at(pair, known, distance).filter(|_| distance < most);
            let Some(there) = there else { break };
            if self.less(there, pair, known, signed) != Some(true)
                && self.equal(there, pair.limit, known.bytes) != Some(false)
            {
                break;
            }
            distance += 1;
        }
        Some(distance)
    }

    /// From the longest distance on, the first one that is known to reach the limit or to pass it.
    fn enough(&self, pair: Pair, known: Distance, signed: bool) -> Option<u64> {
        let least = self.distance(pair, known, signed)?;
        let reaches = |distance: &u64| {
            let there = self.at(pair, known, *distance);
            there.is_some_and(|there| {
                self.less(there, pair, known, signed) == Some(false)
                    || self.equal(there, pair.limit, known.bytes) == Some(true)
            })
        };
        let mut enough = (least..=least + ROOM).find(reaches)?;
        let differs = |distance: u64| {
            let there = self.at(pair, known, distance);
            there.is_some_and(|there| self.equal(there, pair.limit, known.bytes) == Some(false))
        };
        while enough > least && differs(enough) {
            enough -= 1;
        }
        Some(enough)
    }

    /// The expression of the number and a distance.
    fn at(&self, pair: Pair, known: Distance, distance: u64) -> Option<Symbol> {
        match distance {
            0 => Some(pair.number),
            plus => self.known_node(&Node::Sum { of: pair.number, plus, bytes: known.bytes }),
        }
    }

    /// Whether an expression that is no further than the limit, or not far from there, is assumed to be less.
    fn less(&self, there: Symbol, pair: Pair, known: Distance, signed: bool) -> Option<bool> {
        let (bytes, a, b) = (known.bytes, Source::Symbol(there), Source::Symbol(pair.limit));
        let assumed = |signed| self.assumed_of(&Node::Compare { order: Order::Less { signed }, bytes, a, b });
        // Between nought and what is not negative, both orders are the same.
        let least = self.limits.bounds.get(&pair.limit.bits()).map(|bounds| bounds.signed.0);
        let is_same = !signed && least.is_some_and(|least| least >= 0);
        assumed(signed).or_else(|| assumed(!signed).filter(|_| is_same))
    }

    fn known_node(&self, node: &Node) -> Option<Symbol> {
        self.table.numbers.get(node).map(|index| Symbol::new(*index as usize))
    }

    fn assumed_of(&self, node: &Node) -> Option<bool> {
        self.table.numbers.get(node).and_then(|index| self.choices.assumed.get(index)).copied()
    }

    fn equal(&self, a: Symbol, b: Symbol, bytes: u8) -> Option<bool> {
        let (a, b) = (Source::Symbol(a.min(b)), Source::Symbol(a.max(b)));
        self.assumed_of(&Node::Compare { order: Order::Equal, bytes, a, b })
    }

    /// A comparison of two expressions, if one of them is a number with something added and the other one its limit.
    pub(super) fn by_reach(&self, order: Order, bytes: u8, a: Symbol, b: Symbol) -> Option<bool> {
        if self.limits.reach.is_empty() {
            return None;
        }
        let parted = |symbol: Symbol| match self.node(symbol) {
            Node::Sum { of, plus, bytes: same } if same == bytes => (of, plus),
            _ => (symbol, 0),
        };
        let found = |number: Symbol, limit: Symbol, signed: bool| {
            let pair = Pair { number, limit };
            let known = self.limits.reach.get(&pair).filter(|known| known.bytes == bytes)?;
            Some((self.distance(pair, *known, signed)?, self.enough(pair, *known, signed)))
        };
        // How the number and something more is to the limit.
        let order_of = |number, plus: u64, limit, signed: bool| {
            let (least, most) = found(number, limit, signed)?;
            let near = plus.saturating_sub(least) <= ROOM;
            let (less, passes) = (plus < least, near && most.is_some_and(|most| plus > most));
            let reaches = near && most.is_some_and(|most| plus >= most);
            Some((less, reaches, passes, plus <= least, most == Some(least) && plus == least))
        };
        let ((number, plus), (other, more)) = (parted(a), parted(b));
        match order {
            Order::Less { signed } => {
                if let Some((less, reaches, ..)) = order_of(number, plus, b, signed) {
                    return if less { Some(true) } else { reaches.then_some(false) };
                }
                let (_, _, passes, stays, _) = order_of(other, more, a, signed)?;
                if passes { Some(true) } else { stays.then_some(false) }
            }
            Order::Equal => {
                let of = |number, plus, limit| {
                    [false, true].iter().find_map(|signed| {
                        let (less, _, passes, _, equals) = order_of(number, plus, limit, *signed)?;
                        if less || passes { Some(false) } else { equals.then_some(true) }
                    })
                };
                of(number, plus, b).or_else(|| of(other, more, a))
            }
        }
    }
}
