use super::*;

fn line(one: &str, other: &str) -> (Option<u64>, [String; 2]) {
    differing_line(one.as_bytes(), other.as_bytes())
}

#[test]
fn the_first_line_that_differs() {
    let two = |one: &str, other: &str| [one.to_owned(), other.to_owned()];
    assert_eq!(line("a\nb\nc\n", "a\nx\nc\n"), (Some(2), two("b", "x")));
    assert_eq!(line("a\n", "a\nb\n"), (Some(2), two("(nothing more)", "b")));
    assert_eq!(line("", "b"), (Some(1), two("(nothing more)", "b")));
    assert_eq!(line("a\u{7}\n", "b\n"), (Some(1), two("a\u{fffd}", "b")));
    assert_eq!(line("same\n", "same\n").0, None);
}
