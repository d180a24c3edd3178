use super::{LONGEST_CHAIN, SourceLines};
use crate::ast::Loc;

fn loc(line: u32, column: u32, inlined_at: Option<(u32, u32)>) -> Loc {
    Loc { file: 1, line, column, inlined_at: inlined_at.map(|(line, column)| (1, line, column)) }
}

fn lines(state: &SourceLines) -> Vec<u32> {
    state.here().iter().map(|line| line.line).collect()
}

#[test]
fn nothing_is_known_before_the_first() {
    assert_eq!(SourceLines::default().here(), []);
}

#[test]
fn the_latest_holds() {
    let mut state = SourceLines::default();
    state.enter(&loc(3, 1, None));
    state.enter(&loc(4, 2, None));
    assert_eq!(lines(&state), [4]);
    assert_eq!((state.here()[0].file, state.here()[0].column), (1, 2));
}

/// As the compiler writes `outer` calling `middle` calling `inner`, all inlined.
#[test]
fn a_chain_of_inlining_is_followed() {
    let mut state = SourceLines::default();
    state.enter(&loc(21, 5, None));
    state.enter(&loc(16, 71, Some((21, 5))));
    state.enter(&loc(15, 71, Some((16, 71))));
    assert_eq!(lines(&state), [15, 16, 21]);
    state.enter(&loc(16, 71, Some((21, 5))));
    assert_eq!(lines(&state), [16, 21]);
    state.enter(&loc(21, 5, None));
    assert_eq!(lines(&state), [21]);
}

#[test]
fn one_position_inlined_twice_belongs_to_the_latest() {
    let mut state = SourceLines::default();
    state.enter(&loc(10, 1, Some((20, 1))));
    state.enter(&loc(10, 1, Some((30, 1))));
    state.enter(&loc(5, 1, Some((10, 1))));
    assert_eq!(lines(&state), [5, 10, 30]);
}

#[test]
fn a_call_site_without_a_loc_of_its_own_is_the_last_step() {
    let mut state = SourceLines::default();
    state.enter(&loc(5, 1, Some((77, 3))));
    assert_eq!(lines(&state), [5, 77]);
}

#[test]
fn line_zero_is_no_line() {
    let mut state = SourceLines::default();
    state.enter(&loc(0, 9, None));
    assert_eq!(state.here(), []);
    state.enter(&loc(0, 9, Some((20, 1))));
    assert_eq!(lines(&state), [20]);
}

#[test]
fn recursion_that_was_inlined_ends() {
    let mut state = SourceLines::default();
    for _ in 0..1000 {
        state.enter(&loc(5, 1, Some((5, 1))));
    }
    assert_eq!(lines(&state), [5; LONGEST_CHAIN]);
}
