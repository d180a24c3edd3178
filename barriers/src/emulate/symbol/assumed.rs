//! What is assumed of predicates, and the bounds that follow from that.

use super::bounds::{Bounds, signed};
use super::symbols::Symbols;
use super::terms::{Node, Order, Source, Symbol};

impl Symbols {
    /// Assumes a predicate to be true or false.
    pub fn assume(&mut self, symbol: Symbol, holds: bool) {
        self.choices.assumptions += 1;
        let holds = holds ^ symbol.is_negated();
        self.choices.assumed.insert(symbol.index() as u32, holds);
        let Node::Compare { order, bytes, a, b } = self.node(symbol) else { return };
        match (order, a, b) {
            (Order::Less { signed: true }, Source::Symbol(x), Source::Known(c)) => {
                let c = signed(c, bytes);
                let bounds = self.bounds_mut(x, bytes);
                if holds {
                    bounds.signed.1 = bounds.signed.1.min(c.saturating_sub(1));
                } else {
                    bounds.signed.0 = bounds.signed.0.max(c);
                }
            }
            (Order::Less { signed: true }, Source::Known(c), Source::Symbol(x)) => {
                let c = signed(c, bytes);
                let bounds = self.bounds_mut(x, bytes);
                if holds {
                    bounds.signed.0 = bounds.signed.0.max(c.saturating_add(1));
                } else {
                    bounds.signed.1 = bounds.signed.1.min(c);
                }
            }
            (Order::Less { signed: false }, Source::Symbol(x), Source::Known(c)) => {
                let bounds = self.bounds_mut(x, bytes);
                if holds {
                    bounds.unsigned.1 = bounds.unsigned.1.min(c.saturating_sub(1));
                } else {
                    bounds.unsigned.0 = bounds.unsigned.0.max(c);
                }
            }
            (Order::Less { signed: false }, Source::Known(c), Source::Symbol(x)) => {
                let bounds = self.bounds_mut(x, bytes);
                if holds {
                    bounds.unsigned.0 = bounds.unsigned.0.max(c.saturating_add(1));
                } else {
                    bounds.unsigned.1 = bounds.unsigned.1.min(c);
                }
            }
            (Order::Equal, Source::Symbol(x), Source::Known(c)) => {
                let bounds = self.bounds_mut(x, bytes);
                let s = signed(c, bytes);
                if holds {
                    *bounds = Bounds { bytes, signed: (s, s), unsigned: (c, c) };
                } else {
                    bounds.signed.0 += i64::from(bounds.signed.0 == s && s < i64::MAX);
                    bounds.signed.1 -= i64::from(bounds.signed.1 == s && s > i64::MIN);
                    bounds.unsigned.0 += u64::from(bounds.unsigned.0 == c && c < u64::MAX);
                    bounds.unsigned.1 -= u64::from(bounds.unsigned.1 == c && c > 0);
                }
            }
            _ => {}
        }
    }

    pub(super) fn follows(&self, symbol: Symbol) -> Option<bool> {
        let Node::Compare { order, bytes, a, b } = self.node(symbol) else { return None };
        let of = |symbol: Symbol| self.limits.bounds.get(&symbol.bits());
        match (order, a, b) {
            (Order::Less { signed: true }, Source::Symbol(x), Source::Known(c)) => {
                let (c, (low, high)) = (signed(c, bytes), of(x)?.signed);
                if high < c { Some(true) } else { (low >= c).then_some(false) }
            }
            (Order::Less { signed: true }, Source::Known(c), Source::Symbol(x)) => {
                let (c, (low, high)) = (signed(c, bytes), of(x)?.signed);
                if low > c { Some(true) } else { (high <= c).then_some(false) }
            }
            (Order::Less { signed: false }, Source::Symbol(x), Source::Known(c)) => {
                let (low, high) = of(x)?.unsigned;
                if high < c { Some(true) } else { (low >= c).then_some(false) }
            }
            (Order::Less { signed: false }, Source::Known(c), Source::Symbol(x)) => {
                let (low, high) = of(x)?.unsigned;
                if low > c { Some(true) } else { (high <= c).then_some(false) }
            }
            (Order::Equal, Source::Symbol(x), Source::Known(c)) => {
                let (bounds, s) = (of(x)?, signed(c, bytes));
                let outside = s < bounds.signed.0
                    || s > bounds.signed.1
                    || c < bounds.unsigned.0
                    || c > bounds.unsigned.1;
                let only = bounds.signed == (s, s) || bounds.unsigned == (c, c);
                if outside { Some(false) } else { only.then_some(true) }
            }
            (order, Source::Symbol(a), Source::Symbol(b)) => self.by_reach(order, bytes, a, b),
            _ => None,
        }
    }
}
