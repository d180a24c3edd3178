//! A case of a kernel: what is assumed where barriers depend on what is the same for all threads.

use super::rounds::Induction;
use super::symbol::{Symbol, Symbols};

/// What is assumed of predicates that are the same for all threads, and what has to be assumed, too.
#[derive(Clone, Debug, Default)]
pub struct Case {
    pub(super) symbols: Symbols,
    pub(super) asked: Option<Symbol>,
    /// Parameters in these predicates, as they can be given.
    pub params: Vec<String>,
    pub(super) induction: Option<Induction>,
    /// The most rounds of a loop in it that something was assumed for.
    pub rounds: u32,
    /// What goes wrong need not happen in any launch: values of the first rounds were taken for those of any.
    pub widened: bool,
}

impl Case {
    /// All that there are, with rounds of loops looked at in this way.
    pub fn all(induction: Option<Induction>) -> Case {
        Case { induction, ..Case::default() }
    }

    /// How many predicates are assumed to be true or false.
    pub fn assumptions(&self) -> u32 {
        self.symbols.assumptions()
    }

    /// Both cases of the predicate without which a kernel was refused; None if there is no such predicate.
    pub fn parted(mut self) -> Option<[Case; 2]> {
        let asked = self.asked.take()?;
        let mut other = self.clone();
        self.symbols.assume(asked, true);
        other.symbols.assume(asked, false);
        Some([self, other])
    }
}
