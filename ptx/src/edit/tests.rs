use proptest::prelude::*;

use super::{EditError, Edits, LineMap};
use crate::ast::Span;

fn span(start: usize, end: usize) -> Span {
    Span { start, end }
}

#[test]
fn no_change_gives_the_same_text_and_lines() {
    let edited = Edits::new().apply("a\nb\n").expect("nothing to go wrong");
    assert_eq!(edited.text, "a\nb\n");
    assert_eq!(edited.lines.lines(), [1, 2, 3]);
    assert!(Edits::new().is_empty());
}

#[test]
fn what_is_put_after_comes_before_what_is_put_before() {
    let mut edits = Edits::new();
    edits.insert_before(1, "3");
    edits.insert_after(1, "1");
    edits.insert_before(1, "4");
    edits.insert_after(1, "2");
    edits.replace(span(1, 2), "X");
    edits.insert_after(2, "5");
    edits.insert_before(2, "6");
    assert_eq!(edits.apply("abc").expect("no overlap").text, "a1234X56c");
}

#[test]
fn inserted_lines_stem_from_where_they_were_inserted() {
    let source = "one\n\ttwo;\nthree\n";
    let mut edits = Edits::new();
    edits.insert_before(5, "x;\n\t");
    edits.insert_after(9, "\n\ty;");
    edits.insert_before(10, "z\n");
    edits.insert_after(source.len(), "end 1\nend 2\n");
    let edited = edits.apply(source).expect("no overlap");
    assert_eq!(edited.text, "one\n\tx;\n\ttwo;\n\ty;\nz\nthree\nend 1\nend 2\n");
    assert_eq!(edited.lines.lines(), [1, 2, 2, 2, 3, 3, 4, 4, 4]);
    assert_eq!(edited.lines.original(0), None);
    assert_eq!(edited.lines.original(5), Some(3));
    assert_eq!(edited.lines.original(10), None);
    assert_eq!(LineMap::from_lines(edited.lines.lines().to_vec()), edited.lines);
}

#[test]
fn replaced_lines_still_count() {
    let mut edits = Edits::new();
    edits.replace(span(0, 4), "");
    edits.replace(span(6, 8), "\n\n\n");
    let edited = edits.apply("a\nb\nc\nd\ne").expect("no overlap");
    assert_eq!(edited.text, "c\n\n\n\ne");
    assert_eq!(edited.lines.lines(), [3, 4, 4, 4, 5]);
}

#[test]
fn changes_inside_of_a_replaced_span_are_refused() {
    let overlap = EditError::Overlap { start: 2, end: 2, outer_start: 1, outer_end: 3 };
    let mut edits = Edits::new();
    edits.replace(span(1, 3), "x");
    edits.insert_before(2, "y");
    assert_eq!(edits.apply("abcd"), Err(overlap));
    let mut edits = Edits::new();
    edits.replace(span(1, 3), "x");
    edits.replace(span(1, 2), "y");
    assert!(matches!(edits.apply("abcd"), Err(EditError::Overlap { .. })));
}

#[test]
#[allow(clippy::reversed_empty_ranges, reason = "the point of the test")]
fn places_that_the_text_lacks_are_refused() {
    for bad in [span(2, 9), span(9, 9), span(2, 1), span(1, 2), span(2, 3)] {
        let mut edits = Edits::new();
        edits.replace(bad, "x");
        let refused = EditError::NoSuchPlace { start: bad.start, end: bad.end };
        assert_eq!(edits.apply("aé\n"), Err(refused), "{bad:?}");
    }
}

proptest! {
    /// Against the slow way: from the last change to the first, on the text itself.
    #[test]
    fn applying_is_what_it_says(
        source in "[a-c\n]{0,40}",
        places in prop::collection::vec((0usize..41, "[x\n]{0,4}", any::<bool>()), 0..8),
    ) {
        let mut edits = Edits::new();
        let mut slow: Vec<(usize, bool, String)> = Vec::new();
        for (at, text, before) in places {
            let at = at.min(source.len());
            if before { edits.insert_before(at, text.clone()) } else { edits.insert_after(at, text.clone()) }
            slow.push((at, before, text));
        }
        slow.sort_by_key(|(at, before, _)| (*at, *before));
        let mut expected = source.clone();
        for (at, _, text) in slow.iter().rev() {
            expected.insert_str(*at, text);
        }
        let edited = edits.apply(&source).expect("insertions cannot overlap");
        prop_assert_eq!(&edited.text, &expected);
        prop_assert_eq!(edited.lines.lines().len(), expected.split('\n').count());
        prop_assert!(edited.lines.lines().is_sorted());
        // Every original byte is on a line that maps at or before its own.
        for (line, text) in (1u32..).zip(edited.text.split('\n')) {
            if let Some(at) = text.find(['a', 'b', 'c']) {
                let original = edited.lines.original(line).expect("a line of the text");
                prop_assert!(original as usize <= source.split('\n').count());
                prop_assert!(source.split('\n').skip(original as usize - 1).any(|l| l.contains(&text[at..=at])));
            }
        }
    }
}
