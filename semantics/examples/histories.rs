//! Prints the state machine of histories: its states, and where each access leads from each of them.

use bugaroo_semantics::history::table::HistoryMachine;

fn main() {
    print!("{}", HistoryMachine::get().describe());
}
