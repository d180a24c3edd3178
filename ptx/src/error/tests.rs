use super::ParseError;

#[test]
fn places_count_from_one_and_in_characters() {
    let error = ParseError::new("a\né b\n", 5, 6, "expected c");
    assert_eq!((error.line, error.column), (2, 3));
    assert_eq!(error.to_string(), r#"2:3: expected c, at "b""#);
}

#[test]
fn the_end_of_the_text_has_no_text() {
    let error = ParseError::new("a\n", 2, 2, "expected b");
    assert_eq!(error.to_string(), "2:1: expected b, at the end of the text");
}

#[test]
fn long_and_odd_texts_stay_on_one_line() {
    let source = format!("\n\t{}", "x\n".repeat(100));
    let error = ParseError::new(&source, 0, source.len(), "no");
    assert_eq!(error.text.chars().count(), 40);
    assert!(!error.to_string().contains('\n'));
}
