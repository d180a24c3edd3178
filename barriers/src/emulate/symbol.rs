//! Values that are not known but the same wherever they are computed alike: expressions over the kernel's parameters and what else a
//! launch fixes for all threads.
//!
//! What one thread has written to shared memory for all, and what a warp has agreed on, is a value of that kind as well, by a name of its own
//! ([`Symbols::content`]): whoever reads the same write reads the same.
//!
//! Expressions are numbered as they are made, equal ones once (value numbering). Lanes whose predicates have the same number go the same
//! way at a branch, whatever the parameters are. A case of the kernel assumes some predicates to be true or false ([`Symbols::assume`]);
//! comparisons with constants that follow from these are decided, too, and those of numbers of rounds with their limits ([`reach`]). What does not follow in this simple way is taken for open: a case
//! may contradict itself, so that what goes wrong in it is an error of the kernel only if there are parameters with which it
//! does ([`crate::findings`]).

mod assumed;
mod bounds;
mod distance;
mod division;
mod quotient;
mod reach;
mod symbols;
mod terms;
mod tie;
mod ties;

pub(super) use distance::Lost;
pub(super) use division::Division;
pub(super) use symbols::Symbols;
pub(super) use terms::{Change, Changing, Node, Order, RowShape, Source, Symbol};
pub(super) use tie::Moving;

use ties::Related;

impl Symbols {
    /// A comparison of two numbers of `bytes` bytes, if its outcome is not known.
    pub fn compared(&mut self, order: Order, bytes: u8, a: Source, b: Source) -> Source {
        match self.related(order, bytes, a, b) {
            Some(Related::Known(holds)) => Source::Known(u64::from(holds)),
            Some(Related::Compare { a, b, negated }) => {
                let symbol = self.compare(order, bytes, a, b);
                Source::Symbol(if negated { symbol.not() } else { symbol })
            }
            None => Source::Symbol(self.compare(order, bytes, a, b)),
        }
    }

    /// Whether a predicate is known by what is assumed.
    pub fn decided(&mut self, symbol: Symbol) -> Option<bool> {
        if self.choices.assumptions == 0 {
            return None;
        }
        let known = self.choices.assumed.get(&(symbol.index() as u32)).copied();
        let decided = known.or_else(|| self.follows(symbol))?;
        self.choices.decisions += 1;
        self.choices.decided_last = Some(symbol);
        Some(decided ^ symbol.is_negated())
    }
}
