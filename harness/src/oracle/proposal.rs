//! Where outputs differ without injection: what to pass over, so that the rest can be compared.
//!
//! A line that varies is ignored by an expression with its text, and anything in place of its numbers. Where numbers alone vary, by
//! little, and the line says nothing of time, a tolerance is enough. A proposal is made only if all outputs agree with it.
//!
//! What it can miss: lines that vary beyond their numbers, lines with hardly any text, and more different lines than a command
//! has room for.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::comparison::{Comparison, ComparisonText, NUMBER, apart};
use crate::capture::{Output, printable};
use crate::hidden::tells_of_time;

/// Numbers that are further apart than this are no matter of rounding.
const ROUNDING: f64 = 1e-3;

/// Lines that a proposal has room for.
const LINES: usize = 4;

/// Letters that a line needs, so that its expression matches no other.
const LETTERS: usize = 3;

/// The options with which these outputs are the same, those that were given among them; None where none are known.
pub(crate) fn propose(outputs: &[Output], given: &Comparison) -> Option<String> {
    let texts: Vec<String> = outputs.iter().map(|output| given.lines(output)).collect::<Option<_>>()?;
    let lines: Vec<Vec<&str>> = texts.iter().map(|text| text.lines().collect()).collect();
    let (first, others) = lines.split_first()?;
    let (mut ignored, mut most) = (BTreeSet::new(), given.text().tolerance.unwrap_or(0.0));
    let mut tolerated = false;
    let mut varies = |line: &str, as_well: &[&str]| {
        let furthest = as_well.iter().map(|other| apart(line, other)).fold(0.0, f64::max);
        if furthest <= ROUNDING && !tells_of_time(line) {
            (tolerated, most) = (true, most.max(furthest));
        } else {
            ignored.extend(as_well.iter().chain([&line]).map(|line| expression(line)));
        }
    };
    if others.iter().all(|other| other.len() == first.len()) {
        for (at, line) in first.iter().enumerate() {
            let as_well: Vec<&str> =
                others.iter().map(|other| other[at]).filter(|other| other != line).collect();
            if !as_well.is_empty() {
                varies(line, &as_well);
            }
        }
    } else {
        // Those that not all have.
        let has = |lines: &Vec<&str>, line: &&str| lines.contains(line);
        for line in lines.iter().flatten().filter(|line| !lines.iter().all(|lines| has(lines, line))) {
            ignored.insert(expression(line));
        }
    }
    let ignored: Vec<String> = ignored.into_iter().collect::<Option<_>>()?;
    let mut text = given.text();
    text.ignore_lines.extend(ignored.iter().cloned());
    if tolerated {
        // A round number with room for more.
        text.tolerance = Some(10_f64.powi((most * 2.0).log10().ceil() as i32));
    }
    let proposed = Comparison::try_from(&text).ok()?;
    let left = proposed.lines(&outputs[0])?;
    let agree = outputs.iter().all(|output| proposed.agrees(&left, output));
    (agree && !left.trim().is_empty() && ignored.len() <= LINES).then(|| options(&text))
}

fn options(text: &ComparisonText) -> String {
    let mut options = String::new();
    for line in &text.ignore_lines {
        // Writing to a String does not fail.
        let _ = write!(options, " --ignore-lines '{}'", line.replace('\'', r"'\''"));
    }
    if let Some(tolerance) = text.tolerance {
        let _ = write!(options, " --tolerance {tolerance:e}");
    }
    options.trim_start().to_owned()
}

/// An expression for a line whatever its numbers; None where it has hardly any text, or none that can be typed.
fn expression(line: &str) -> Option<String> {
    let mut expression = String::from("^");
    let mut from = 0;
    for number in NUMBER.find_iter(line) {
        expression.push_str(&regex::escape(&line[from..number.start()]));
        expression.push_str(r"\S+");
        from = number.end();
    }
    expression.push_str(&regex::escape(&line[from..]));
    expression.push('$');
    let letters = NUMBER.replace_all(line, "").chars().filter(|c| c.is_alphabetic()).count();
    (letters >= LETTERS && printable(line) == line).then_some(expression)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::printed;

    fn proposed(texts: &[&str]) -> Option<String> {
        let outputs: Vec<Output> = texts.iter().map(|text| printed(text)).collect();
        propose(&outputs, &Comparison::default())
    }

    #[test]
    fn times_are_ignored_and_rounding_is_tolerated() {
        assert_eq!(
            proposed(&["sum 3.25\nkernel took 1.5 ms\n", "sum 3.25\nkernel took 1.7 ms\n"]).unwrap(),
            r"--ignore-lines '^kernel took \S+ ms$'"
        );
        assert_eq!(
            proposed(&["sum 3.2500000\n", "sum 3.2500004\n", "sum 3.2499999\n"]).unwrap(),
            "--tolerance 1e-6"
        );
        assert_eq!(
            proposed(&["sum 3.2500000\nit's 3 s\n", "sum 3.2500004\nit's 4 s\n"]).unwrap(),
            r"--ignore-lines '^it'\''s \S+ s$' --tolerance 1e-6"
        );
        let seeds = [13162449956783753726_u64, 15715005604373573095, 3];
        let texts = seeds.map(|seed| format!("took {seed} ms\nsum 4.2500{seed}\n"));
        let expected = r"--ignore-lines '^took \S+ ms$' --tolerance 1e-5";
        assert_eq!(proposed(&texts.each_ref().map(String::as_str)).unwrap(), expected);
        // With what was given already.
        let given = ComparisonText { ignore_lines: vec!["^took".to_owned()], tolerance: None };
        let outputs = texts.map(|text| printed(&text));
        assert_eq!(
            propose(&outputs, &Comparison::try_from(&given).unwrap()).unwrap(),
            "--ignore-lines '^took' --tolerance 1e-5"
        );
        // A line that comes at times.
        assert_eq!(
            proposed(&["done: yes\n", "retried 1 times\ndone: yes\n"]).unwrap(),
            r"--ignore-lines '^retried \S+ times$'"
        );
    }

    #[test]
    fn nothing_is_proposed_that_hides_the_result_or_does_not_help() {
        // Hardly any text, or nothing would be left.
        assert_eq!(proposed(&["1.5\nend\n", "2.5\nend\n"]), None);
        assert_eq!(proposed(&["the sum is 1\n", "the sum is 2\n"]), None);
        // Too many.
        let many =
            |by: u32| ["abc", "bcd", "cde", "def", "efg"].map(|word| format!("{word} {by}\n")).concat();
        assert_eq!(proposed(&[&format!("{}end\n", many(1)), &format!("{}end\n", many(2))]), None);
        // No two have the same text.
        assert_eq!(proposed(&["end\nabc\u{7}\n", "end\nabd\u{7}\n"]), None);
    }
}
