//! What holds of every spot of every text.

use proptest::prelude::*;

use super::cases::cases;
use super::insertions::{STATEMENTS, position};
use super::*;
use crate::patch::EditsByFile;
use crate::syntax::tree::Parsed;

/// Places that the grammar did not understand.
fn errors(text: &str) -> usize {
    let parsed = Parsed::new(text.to_owned(), "\n".into(), text.len());
    let mut errors = 0;
    // The grammar does not know an assignment before a comma in parentheses; the compiler does.
    let parsed = match text.contains("= (cnt = 2,") {
        true => Parsed::new(text.replace("= (cnt = 2,", "= (2,"), "\n".into(), text.len()),
        false => parsed,
    };
    parsed.visit(parsed.root(), &mut |node| errors += usize::from(node.is_error() || node.is_missing()));
    errors
}

/// A text without white space, braces, and what continues a line.
fn words(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '{' | '}' | '\\')).collect()
}

/// All spots of a text.
fn all_spots(file: &SourceFile) -> Vec<Spot> {
    let mut spots: Vec<Spot> = Vec::new();
    for line in 1..=file.text().lines().count() {
        for spot in file.spots_at(Position { line: line as u32, column: 0 }).into_iter().flatten() {
            if !spots.contains(&spot) {
                spots.push(spot);
            }
        }
    }
    spots
}

#[test]
fn an_insertion_changes_nothing_but_what_it_inserts() {
    let mut seen = 0;
    for case in cases(STATEMENTS) {
        let file = SourceFile::parse("a.cu", case.text.as_str());
        for spot in all_spots(&file) {
            let edited = apply(&case.text, &spot.write("__threadfence();")).expect("no overlap");
            assert!(errors(&edited) <= errors(&case.text), "{}: {spot:?}\n{edited}", case.name);
            // A value that is taken apart gets a name, which is used once.
            let apart = edited.matches("result").count() > case.text.matches("result").count();
            let without = words(&edited).replacen("__threadfence();", "", 1);
            if apart {
                assert!(without.len() > words(&case.text).len(), "{}: {edited}", case.name);
            } else if !edited.contains("return;") {
                assert_eq!(without, words(&case.text), "{}: {spot:?}\n{edited}", case.name);
            }
            seen += 1;
        }
    }
    assert!(seen > 500, "{seen} spots");
}

#[test]
fn the_line_of_an_insertion_stands_on_its_side_of_the_stretch() {
    for case in cases(STATEMENTS) {
        let file = SourceFile::parse("a.cu", case.text.as_str());
        for spot in all_spots(&file).into_iter().filter(|spot| spot.in_macro.is_none()) {
            // The fence, in words that come before and behind it.
            let edited = apply(&case.text, &spot.write("__threadfence();")).expect("no overlap");
            let words_before = words(&edited[..edited.find("__threadfence();").expect("it is there")]);
            let stretch = words(&case.text[..spot.bytes.start]);
            let behind = words(&case.text[..spot.bytes.end]);
            if spot.form == Form::Return && spot.side == Side::Behind {
                continue;
            }
            let expected = if spot.side == Side::Before { stretch } else { behind };
            // A pragma or a comment goes with its statement.
            let fits = words_before == expected
                || words_before.starts_with(&expected) && spot.side == Side::Behind
                || expected.starts_with(&words_before) && spot.side == Side::Before;
            assert!(fits, "{}: {spot:?}\n{edited}", case.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever spots are written at together, the text parses as well as before, and the order of asking decides
    /// nothing but the order of lines at one place.
    #[test]
    fn several_insertions_at_once_parse(which in 0..100usize, picks in prop::collection::vec(any::<prop::sample::Index>(), 1..5)) {
        let all = cases(STATEMENTS);
        let case = &all[which % all.len()];
        let file = SourceFile::parse("a.cu", case.text.as_str());
        let spots = all_spots(&file);
        prop_assume!(!spots.is_empty());
        let mut edits = EditsByFile::new();
        for pick in &picks {
            edits.add(file.path(), file.text(), pick.get(&spots).insert(Inserted::Fence));
        }
        // Two that rewrite the same words are refused, never mixed.
        if let Ok(patch) = edits.patch(std::path::Path::new("/nowhere")) {
            let edited = &patch.files[0].edited;
            prop_assert!(errors(edited) <= errors(&case.text), "{}\n{}", case.name, edited);
            prop_assert_eq!(edited.matches("__threadfence();").count(), picks.len() + case.text.matches("__threadfence();").count());
        }
    }

    /// Parsing never fails, nor does asking for any place of what comes of a cut text.
    #[test]
    fn any_text_can_be_asked_about(which in 0..100usize, from in any::<prop::sample::Index>(), length in 0..40usize) {
        let all = cases(STATEMENTS);
        let text = &all[which % all.len()].text;
        let from = from.index(text.len());
        let cut = format!("{}{}", &text[..from], &text[(from + length).min(text.len())..]);
        let file = SourceFile::parse("a.cu", cut.as_str());
        for at in 0..=cut.len() {
            let at = position(&cut, at);
            for spot in file.spots_at(at).into_iter().flatten() {
                prop_assert!(apply(&cut, &spot.write("x();")).is_ok());
            }
            let _ = (file.fences_at(at), file.widenings_at(at));
        }
    }
}
