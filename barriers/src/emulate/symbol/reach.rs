//! How far numbers that change from round to round are from what they may not pass: `i < n` in one warp's loop and `i != n` in another one's end
//! both together.
//!
//! Of a number and a limit it is known that the number and some distance are at most the limit, as integers (PTX ISA, "Comparison and
//! Selection Instructions": signed or unsigned). Each comparison that is assumed may make the distance longer: what is at most the limit and does not equal
//! it is less. That such a distance is there before each round is a part of the induction ([`Symbols::keeps`]).

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Node, Order, Source, Symbol, Symbols, mask};

/// Comparisons that are followed from a distance on.
const LONGEST: u64 = 4096;

/// A number and its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::emulate) struct Pair {
    number: Symbol,
    limit: Symbol,
}

/// A distance from the number to the limit, each taken as signed or as unsigned, where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::emulate) struct Distance {
    bytes: u8,
    unsigned: Option<u64>,
    signed: Option<u64>,
}

impl Distance {
    fn of(&self, signed: bool) -> Option<u64> {
        if signed { self.signed } else { self.unsigned }
    }
}

impl Symbols {
    /// Nothing is known of any number.
    pub fn forget_reach(&mut self) {
        self.reach.clear();
    }

    /// A number of so many bytes begins at nought, or at `from`: notes how far it is from what has a least value, or from what `from` is far from.
    /// In all cases of one that has noted it, it is the same: each of them has to lead back to that.
    pub fn relate(&mut self, number: Symbol, from: Option<Symbol>, bytes: u8) {
        if let Some(noted) = self.noted.get(&number) {
            self.reach.extend(noted.iter().copied());
            return;
        }
        let mut found = Vec::new();
        match from {
            None => {
                for (limit, bounds) in &self.bounds {
                    let Some(limit) = Symbol::from_bits(*limit) else { continue };
                    if bounds.bytes == bytes && !self.is_of_rounds(limit) {
                        let signed = u64::try_from(bounds.signed.0).ok();
                        let distance = Distance { bytes, unsigned: Some(bounds.unsigned.0), signed };
                        found.push((Pair { number, limit }, distance));
                    }
                }
            }
            Some(from) => {
                for (pair, known) in self.reach.iter().filter(|(pair, _)| pair.number == from) {
                    let of = |signed| known.of(signed).map(|_| self.distance(*pair, *known, signed));
                    let distance =
                        Distance { unsigned: of(false).flatten(), signed: of(true).flatten(), ..*known };
                    found.push((Pair { number, limit: pair.limit }, distance));
                }
            }
        }
        self.reach.extend(found.iter().copied());
        self.noted.insert(number, found);
    }

    /// What is known of numbers, in an order of its own.
    pub fn distances(&self, of: &FxHashSet<Symbol>) -> Vec<(Pair, Distance)> {
        let mut all: Vec<(Pair, Distance)> = self
            .reach
            .iter()
            .filter(|(pair, _)| of.contains(&pair.number))
            .map(|(pair, known)| (*pair, *known))
            .collect();
        all.sort_unstable();
        all
    }

    /// Whether what is known of numbers holds of what they have become: sums.
    pub fn keeps(&self, instances: &FxHashMap<Symbol, (Option<Symbol>, u64)>) -> bool {
        self.reach.iter().all(|(pair, known)| {
            let Some((of, plus)) = instances.get(&pair.number) else { return true };
            let holds = |signed: bool| {
                let Some(distance) = known.of(signed) else { return true };
                let now = self.distance(*pair, *known, signed);
                distance.checked_add(*plus).is_some_and(|needed| now.is_some_and(|now| now >= needed))
            };
            *of == Some(pair.number) && holds(false) && holds(true)
        })
    }

    /// The longest distance that follows from what is assumed.
    fn distance(&self, pair: Pair, known: Distance, signed: bool) -> Option<u64> {
        let mut distance = known.of(signed)?;
        let most = mask(known.bytes) >> u32::from(signed);
        let bytes = known.bytes;
        for _ in 0..LONGEST {
            let there = match distance {
                0 => Some(pair.number),
                plus => self.known_node(&Node::Sum { of: pair.number, plus, bytes }),
            };
            let Some(there) = there.filter(|_| distance < most) else { break };
            let (a, b) = (Source::Symbol(there), Source::Symbol(pair.limit));
            let less = self.assumed_of(&Node::Compare { order: Order::Less { signed }, bytes, a, b });
            if less != Some(true) && self.equal(there, pair.limit, bytes) != Some(false) {
                break;
            }
            distance += 1;
        }
        Some(distance)
    }

    fn known_node(&self, node: &Node) -> Option<Symbol> {
        self.numbers.get(node).map(|index| Symbol::new(*index as usize))
    }

    fn assumed_of(&self, node: &Node) -> Option<bool> {
        self.numbers.get(node).and_then(|index| self.assumed.get(index)).copied()
    }

    fn equal(&self, a: Symbol, b: Symbol, bytes: u8) -> Option<bool> {
        let (a, b) = (Source::Symbol(a.min(b)), Source::Symbol(a.max(b)));
        self.assumed_of(&Node::Compare { order: Order::Equal, bytes, a, b })
    }

    /// A comparison of two expressions, if one of them is a number with something added and the other one its limit.
    pub(super) fn by_reach(&self, order: Order, bytes: u8, a: Symbol, b: Symbol) -> Option<bool> {
        if self.reach.is_empty() {
            return None;
        }
        let parted = |symbol: Symbol| match self.node(symbol) {
            Node::Sum { of, plus, bytes: same } if same == bytes => (of, plus),
            _ => (symbol, 0),
        };
        let found = |number: Symbol, limit: Symbol, signed: bool| {
            let pair = Pair { number, limit };
            let known = self.reach.get(&pair).filter(|known| known.bytes == bytes)?;
            self.distance(pair, *known, signed)
        };
        let ((number, plus), (other, more)) = (parted(a), parted(b));
        match order {
            Order::Less { signed } => {
                if let Some(distance) = found(number, b, signed) {
                    if plus < distance {
                        return Some(true);
                    }
                    return (plus == distance && self.equal(a, b, bytes) == Some(true)).then_some(false);
                }
                (more <= found(other, a, signed)?).then_some(false)
            }
            Order::Equal => {
                let apart = |number, plus, there: Symbol, limit: Symbol| {
                    [false, true].iter().find_map(|signed| {
                        let distance = found(number, limit, *signed)?;
                        if plus < distance {
                            return Some(false);
                        }
                        let (order, a, b) =
                            (Order::Less { signed: *signed }, Source::Symbol(there), Source::Symbol(limit));
                        let less = self.assumed_of(&Node::Compare { order, bytes, a, b });
                        (plus == distance && less == Some(false)).then_some(true)
                    })
                };
                apart(number, plus, a, b).or_else(|| apart(other, more, b, a))
            }
        }
    }
}
