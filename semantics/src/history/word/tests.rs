use super::*;
use crate::history::table::HistoryMachine;

#[test]
fn no_state_of_the_machine_says_that_a_word_has_moved() {
    assert!(HistoryMachine::get().states() <= usize::from(MOVED));
}
