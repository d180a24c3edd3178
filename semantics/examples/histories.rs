//! Prints the state machine of histories: its states, and where each access leads from each of them.

use bugaroo_semantics::history::table::Machine;

fn main() {
    print!("{}", Machine::get().describe());
}
