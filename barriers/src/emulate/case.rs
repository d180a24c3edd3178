//! A case of a kernel: what is assumed where barriers depend on what is the same for all threads.

use super::rounds::seen::Induction;
use super::symbol::{Symbol, Symbols};

/// What is assumed of predicates that are the same for all threads, and what has to be assumed, too.
#[derive(Clone, Debug, Default)]
pub struct AssumedCase {
    pub(super) symbols: Symbols,
    pub(super) asked: Option<Symbol>,
    /// The predicate that was assumed last.
    assumed: Option<Symbol>,
    pub(crate) widening: CaseWidening,
    /// Parameters in these predicates, as they can be given.
    pub params: Vec<String>,
    pub(crate) looking: CaseLooking,
    pub(crate) seen: CaseSeen,
    /// Strong reads that have to be not known, as a warp waits for what they read: instructions.
    pub polled: Vec<u32>,
}

/// What of a case was taken for that of any round.
#[derive(Clone, Debug, Default)]
pub(crate) struct CaseWidening {
    /// States that had to come back when that was not assumed yet, by what tells them apart.
    pub(super) aims: Vec<u64>,
    /// They are not the same now: what is assumed says more about how they are reached.
    pub strays: bool,
    /// What goes wrong need not happen in any launch: values of the first rounds were taken for those of any.
    pub widened: bool,
    /// Commands of each warp before that.
    pub exact: Vec<usize>,
    /// Something races possibly before that already.
    pub races_early: bool,
}

/// How a case is looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct CaseLooking {
    pub(super) induction: Option<Induction>,
    /// Where rounds begin for which warps wait: instructions.
    pub(super) stations: Vec<u32>,
    /// Arms that a warp runs together may hold exchanges: their ways are joined, and are no cases.
    pub(super) joins: bool,
}

/// What was seen of a case.
#[derive(Clone, Debug, Default)]
pub(crate) struct CaseSeen {
    /// The most rounds in which all threads meet of a loop in it that something was assumed for.
    pub rounds: u32,
    /// The most rounds of any loop in it that something was assumed for, as a warp has them; not of those where pauses are.
    pub turns: u32,
    /// Where the rounds of such loops begin: instructions.
    pub found: Vec<u32>,
    /// There were such arms.
    pub joined: bool,
    /// Warp instructions that were executed in it.
    pub work: u64,
}

/// A predicate that is assumed to be true or false from the beginning.
#[derive(Clone, Copy, Debug)]
pub struct Early(Symbol);

impl AssumedCase {
    /// All that there are, with rounds of loops looked at in this way.
    pub fn all(induction: Option<Induction>) -> AssumedCase {
        let mut case = AssumedCase::default();
        case.looking.induction = induction;
        case
    }

    /// The same, where the ways of a warp that exchanges values on them are joined, or are cases.
    pub fn joining(mut self, joins: bool) -> AssumedCase {
        self.looking.joins = joins;
        self
    }

    /// The same with a pause before each round that begins at one of these instructions.
    pub fn with_pauses(mut self, stations: &[u32]) -> AssumedCase {
        self.looking.stations = stations.to_vec();
        self
    }

    /// Whether there are pauses.
    pub fn has_pauses(&self) -> bool {
        !self.looking.stations.is_empty()
    }

    /// Whether not all rounds of a loop need be followed.
    pub fn is_by_induction(&self) -> bool {
        self.looking.induction.is_some()
    }

    /// How many predicates are assumed to be true or false.
    pub fn assumptions(&self) -> u32 {
        self.symbols.assumptions()
    }

    /// Cases like `first` in which each of these predicates and the one that was assumed last is assumed from the beginning; None if that is one of
    /// a round. Answers the predicates, too.
    pub fn assumed_first(
        &self,
        first: &AssumedCase,
        mut before: Vec<Early>,
    ) -> Option<(Vec<AssumedCase>, Vec<Early>)> {
        let last = self.assumed.filter(|symbol| !self.symbols.is_of_rounds(*symbol))?;
        before.push(Early(last));
        let root = AssumedCase { symbols: self.symbols.without_assumptions(), ..first.clone() };
        let mut cases = vec![root];
        for Early(symbol) in &before {
            let asked = |case: AssumedCase| AssumedCase { asked: Some(*symbol), ..case };
            cases = cases.into_iter().filter_map(|case| asked(case).parted()).flatten().collect();
        }
        Some((cases, before))
    }

    /// Whether there is a predicate without which a kernel was refused.
    pub fn is_parted(&self) -> bool {
        self.asked.is_some()
    }

    /// Both cases of the predicate without which a kernel was refused; None if there is no such predicate.
    pub fn parted(mut self) -> Option<[AssumedCase; 2]> {
        let asked = self.asked.take()?;
        self.assumed = Some(asked);
        let mut other = self.clone();
        self.symbols.assume(asked, true);
        other.symbols.assume(asked, false);
        Some([self, other])
    }
}
