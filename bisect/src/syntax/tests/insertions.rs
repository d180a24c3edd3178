//! Fences and barriers, written beside statements of all forms.

use super::cases::{Case, cases};
use super::*;

/// Statements.
pub const STATEMENTS: &str = include_str!("statements.txt");

/// The spot that a case asks for: side, form and depth, as far as they are said.
pub fn asked(spots: Vec<Spot>, asked: &str) -> Option<Spot> {
    let words: Vec<&str> = asked.split_whitespace().collect();
    let side = if words.contains(&"before") { Side::Before } else { Side::Behind };
    let number = words.iter().find_map(|word| word.parse::<u32>().ok());
    let form = words.iter().find_map(|word| match *word {
        "body" => Some(Form::BodyStart),
        "else" => Some(Form::ElseStart),
        "start" => Some(Form::FunctionStart),
        "end" => Some(Form::FunctionEnd),
        "loop" => Some(Form::EnclosingLoop),
        "branch" => Some(Form::EnclosingBranch),
        _ => None,
    });
    // `macro-2` is beside the second statement of a macro's body.
    let nth = words.iter().find_map(|word| word.strip_prefix("macro-")?.parse::<usize>().ok()).unwrap_or(1);
    let in_macro = words.iter().any(|word| word.starts_with("macro"));
    let mut spots = spots.into_iter().filter(|spot| {
        spot.side == side
            && spot.in_macro.is_some() == in_macro
            && form.is_none_or(|form| spot.form == form)
            && number.map_or(form.is_some() || spot.depth == 0, |number| spot.depth == number)
    });
    spots.nth(nth - 1)
}

/// What is written in a case.
pub fn what(asked: &str) -> Inserted {
    match asked {
        _ if asked.contains("__syncthreads") => Inserted::BlockBarrier,
        _ if asked.contains("__syncwarp") => Inserted::WarpBarrier,
        _ if asked.contains("__threadfence_block") => Inserted::BlockFence,
        _ => Inserted::Fence,
    }
}

/// The position of a byte.
pub fn position(text: &str, at: usize) -> Position {
    let line = text[..at].matches('\n').count();
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    Position { line: line as u32 + 1, column: (at - start) as u32 + 1 }
}

/// The edits of a case.
pub fn edits(case: &Case) -> Result<Vec<Edit>, String> {
    let file = SourceFile::parse("a.cu", case.text.as_str());
    let at = position(&case.text, case.at);
    if case.asked.starts_with("both") {
        let spots = file.spots_at(at).map_err(|refused| refused.to_string())?;
        let both = ["before", "behind"]
            .map(|side| asked(spots.clone(), side).expect("a spot").insert(what(case.asked)));
        return Ok(both.concat());
    }
    let spots = file.spots_at(at).map_err(|refused| refused.to_string())?;
    let spot = asked(spots, case.asked).ok_or("no such spot")?;
    Ok(spot.insert(what(case.asked)))
}

#[test]
fn what_is_written_beside_a_statement_stands_where_an_author_would_write_it() {
    assert_table(STATEMENTS, edits);
}

#[test]
fn carriage_returns_stay_and_come_with_new_lines() {
    for case in cases(STATEMENTS).iter().filter(|case| !case.expected.starts_with("refused")) {
        let at = case.at + case.text[..case.at].matches('\n').count();
        let returns = |text: &str| text.replace('\n', "\r\n");
        let crlf = Case { text: returns(&case.text), at, expected: returns(&case.expected), ..*case };
        let made = apply(&crlf.text, &edits(&crlf).expect(case.name)).expect("no overlap");
        assert_eq!(made, crlf.expected, "{}", case.name);
    }
}
