//! HiRace's state machine: its size beside the paper's, and the whole of it as a file.

use bugaroo_semantics::history::table::{HistoryMachine, inputs};

use crate::markdown::{Table, thousands};
use crate::races::papers;

/// The file.
pub const FILE: &str = "hirace-machine.txt";

/// What the file holds.
pub fn table() -> String {
    HistoryMachine::get().describe()
}

/// The section's text.
pub fn section() -> String {
    let machine = HistoryMachine::get();
    let (states, transitions) = papers::MACHINE;
    let mut table = Table::new(&["state machine"], &["states", "inputs", "transitions"]);
    let row = |name: &str, states: usize, inputs: usize, transitions: usize| {
        let numbers = [states, inputs, transitions].map(|number| thousands(number as u64));
        [vec![name.to_owned()], numbers.to_vec()].concat()
    };
    table.row(row("ours", machine.states(), inputs().count(), machine.states() * inputs().count()));
    table.row(row("the paper's", states, transitions / states, transitions));
    format!("{}All of ours: [{FILE}]({FILE}). {}\n\n", table.render(), cause(machine))
}

/// Why the two differ.
fn cause(machine: &HistoryMachine) -> String {
    format!(
        "Both have {} inputs: four accesses (read, write, atomic of block scope, wider atomic), by four distances of threads and three \
         kinds of barrier between. The paper does not list its states, so that they cannot be compared one by one. Ours are derived \
         from the rules of happens-before and made as few as can be: the rules tell {} histories apart, the untouched location and \
         the race among them, and {} states answer all that can come after alike.",
        inputs().count(),
        machine.before,
        machine.states(),
    )
}

#[cfg(test)]
mod tests;
