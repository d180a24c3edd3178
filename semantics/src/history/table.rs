//! The state machine of histories: derived from [`Summary::step`], made as small as it can be, and laid out for a lookup.
//!
//! States are found by trying all inputs from the first access on. Two states are one where no further accesses tell them
//! apart (Moore's partition refinement): what is left is the smallest machine. Host and device look up the same table.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use super::{Action, Apart, Kinds, Since, Summary};

/// A state's number. Below `1 << STATE_BITS`.
pub type StateNumber = u8;

/// Bits of a state.
pub const STATE_BITS: u32 = 5;

/// The state of a location that nobody has accessed.
pub const UNTOUCHED: StateNumber = 0;

/// Bits of an input: action, apart, since; two each, from the highest on.
pub const INPUT_BITS: u32 = 6;

/// Places of the table: by state, then input. Inputs that there are not lead nowhere and stay.
pub const PLACES: usize = 1 << (STATE_BITS + INPUT_BITS);

/// An input's number.
#[inline]
pub fn input(action: Action, apart: Apart, since: Since) -> usize {
    (action as usize) << 4 | (apart as usize) << 2 | since as usize
}

/// All inputs that there are.
pub fn inputs() -> impl Iterator<Item = (Action, Apart, Since)> {
    let pairs = |action| Apart::ALL.into_iter().map(move |apart| (action, apart));
    let all = |(action, apart)| Since::ALL.into_iter().map(move |since| (action, apart, since));
    Action::ALL.into_iter().flat_map(pairs).flat_map(all)
}

/// The machine.
#[derive(Clone, Debug)]
pub struct HistoryMachine {
    /// The next state, by state and input.
    pub next: [StateNumber; PLACES],
    /// A history of each state; None of [`UNTOUCHED`] and of the last one, a race.
    pub histories: Vec<Option<Summary>>,
    /// Histories that were told apart before the machine was made small, and those two.
    pub before: usize,
}

impl HistoryMachine {
    /// The one that there is.
    pub fn get() -> &'static HistoryMachine {
        static MACHINE: LazyLock<HistoryMachine> = LazyLock::new(HistoryMachine::derive);
        &MACHINE
    }

    /// How many states it has.
    pub fn states(&self) -> usize {
        self.histories.len()
    }

    /// The state of a location that has had a race. It stays.
    #[inline]
    pub fn race(&self) -> StateNumber {
        (self.histories.len() - 1) as StateNumber
    }

    /// The state behind one more access.
    #[inline]
    pub fn step(&self, state: StateNumber, input: usize) -> StateNumber {
        self.next[(usize::from(state) << INPUT_BITS | input) & (PLACES - 1)]
    }

    fn derive() -> HistoryMachine {
        let (histories, steps) = explore();
        let classes = refine(&steps);
        let states = classes.iter().max().map_or(0, |last| last + 1);
        let mut next = [0; PLACES];
        let mut kept = vec![None; states];
        for (history, class) in histories.iter().zip(&classes).rev() {
            kept[*class] = *history;
        }
        for state in 0..states {
            let of = classes.iter().position(|class| *class == state).unwrap_or_default();
            for (at, (action, apart, since)) in inputs().enumerate() {
                next[state << INPUT_BITS | input(action, apart, since)] =
                    classes[steps[of][at]] as StateNumber;
            }
        }
        assert!(states <= 1 << STATE_BITS, "a state fits its bits");
        HistoryMachine { next, histories: kept, before: histories.len() }
    }

    /// The machine as text: its states, then for each where each input leads.
    pub fn describe(&self) -> String {
        let mut text = String::new();
        let inputs: Vec<_> = inputs().collect();
        let transitions = self.states() * inputs.len();
        let _ = writeln!(text, "{} states, {transitions} transitions", self.states());
        for (state, history) in self.histories.iter().enumerate() {
            let _ = writeln!(text, "\n{state}: {}", self.name(state, *history));
            let mut leads: BTreeMap<StateNumber, Vec<String>> = BTreeMap::new();
            for (action, apart, since) in &inputs {
                let to = self.step(state as StateNumber, input(*action, *apart, *since));
                leads.entry(to).or_default().push(said(*action, *apart, *since));
            }
            for (to, by) in leads {
                let _ = writeln!(text, "  -> {to}: {}", shortened(&by));
            }
        }
        text
    }

    /// A state in words.
    fn name(&self, state: usize, history: Option<Summary>) -> String {
        let Some(history) = history else {
            return if state == usize::from(UNTOUCHED) { "untouched" } else { "race" }.to_owned();
        };
        let by = match history.spread {
            Apart::Thread => "one thread",
            Apart::Warp => "threads of a warp",
            Apart::Block => "threads of a block",
            Apart::Grid => "threads of several blocks",
        };
        let mut name = format!("{by}: {}", words(history.warp));
        if history.block != history.warp {
            let _ = write!(name, "; the warp before: {}", words(history.block));
        }
        if history.all != history.block {
            let _ = write!(name, "; the block before: {}", words(history.all));
        }
        name
    }
}

fn words(kinds: Kinds) -> &'static str {
    match kinds {
        Kinds::Reads => "reads",
        Kinds::GridAtomics => "atomics",
        Kinds::Atomics => "atomics, some of block scope",
        Kinds::Mixed => "writes",
    }
}

fn said(action: Action, apart: Apart, since: Since) -> String {
    let action = match action {
        Action::Read => "R",
        Action::Write => "W",
        Action::BlockAtomic => "BA",
        Action::GridAtomic => "GA",
    };
    let apart = match apart {
        Apart::Thread => "thread",
        Apart::Warp => "warp",
        Apart::Block => "block",
        Apart::Grid => "grid",
    };
    let since = match since {
        Since::Nothing => "",
        Since::WarpBarrier => "+warp-barrier",
        Since::BlockBarrier => "+block-barrier",
    };
    format!("{action}({apart}{since})")
}

/// All inputs of one action are said as the action alone.
fn shortened(by: &[String]) -> String {
    let each = Apart::ALL.len() * Since::ALL.len();
    let mut parts = Vec::new();
    for action in ["R", "W", "BA", "GA"] {
        let of: Vec<&String> =
            by.iter().filter(|one| one.split('(').next().is_some_and(|name| name == action)).collect();
        if of.len() == each {
            parts.push(format!("{action}(any)"));
        } else {
            parts.extend(of.into_iter().cloned());
        }
    }
    parts.join(" ")
}

/// All histories that can be come to, untouched first and a race last; and for each where each input of [`inputs`] leads.
fn explore() -> (Vec<Option<Summary>>, Vec<Vec<usize>>) {
    let mut found: Vec<Option<Summary>> = vec![None];
    let mut steps: Vec<Vec<Option<Summary>>> = Vec::new();
    let mut at = 0;
    while at < found.len() {
        let of = |(action, apart, since)| match found[at] {
            None => Some(Summary::first(action)),
            Some(history) => history.step(action, apart, since),
        };
        let leads: Vec<Option<Summary>> = inputs().map(of).collect();
        for next in &leads {
            if next.is_some() && !found.contains(next) {
                found.push(*next);
            }
        }
        steps.push(leads);
        at += 1;
    }
    let race = found.len();
    let place = |next: &Option<Summary>| match next {
        None => race,
        // Each was put there when it was first seen.
        Some(_) => found.iter().position(|one| one == next).unwrap_or(race),
    };
    let mut numbers: Vec<Vec<usize>> = steps.iter().map(|leads| leads.iter().map(place).collect()).collect();
    numbers.push(vec![race; inputs().count()]);
    found.push(None);
    (found, numbers)
}

/// The class of each state: states of one class cannot be told apart. Classes are numbered in the order of their first states,
/// and the last state's class comes last.
fn refine(steps: &[Vec<usize>]) -> Vec<usize> {
    let race = steps.len() - 1;
    let mut classes: Vec<usize> = (0..steps.len()).map(|state| usize::from(state == race)).collect();
    loop {
        let mut known: BTreeMap<(usize, Vec<usize>), usize> = BTreeMap::new();
        let mut finer = Vec::with_capacity(classes.len());
        for (state, leads) in steps.iter().enumerate() {
            let signature = (classes[state], leads.iter().map(|next| classes[*next]).collect());
            let count = known.len();
            finer.push(*known.entry(signature).or_insert(count));
        }
        if known.len() == classes.iter().max().map_or(0, |last| last + 1) {
            return finer;
        }
        classes = finer;
    }
}

#[cfg(test)]
mod tests;
