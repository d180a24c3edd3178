//! What `reference` passes over when it compares an output with that of the run without injection.
//!
//! Lines that match an expression of `--ignore-lines` count for nothing. With `--tolerance T` two numbers are equal if they differ by at
//! most T times the larger of the two, and one of them has a decimal point or an exponent: counts have to be equal. What stands between
//! numbers is compared as it is, as are `nan` and `inf`.
//!
//! What it can miss: a wrong number that is near enough, and all that is in ignored lines.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::error::ParseOracleError;
use crate::capture::Output;

/// Bytes of an output that can be compared by lines.
pub const COMPARED_BYTES: u64 = 1 << 20;

/// A number.
pub(super) static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
        .expect("a constant expression, which a test compiles")
});

/// What is passed over.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    ignore_lines: Vec<Regex>,
    tolerance: Option<f64>,
}

/// The same as it was given, for a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ComparisonText {
    /// Expressions of lines that count for nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore_lines: Vec<String>,
    /// How far apart numbers may be, relative to the larger one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
}

impl ComparisonText {
    /// Whether nothing is passed over.
    pub fn is_exact(&self) -> bool {
        self.ignore_lines.is_empty() && self.tolerance.is_none()
    }
}

impl TryFrom<&ComparisonText> for Comparison {
    type Error = ParseOracleError;

    /// # Errors
    /// When an expression is none, or the tolerance is not between 0 and 1.
    fn try_from(text: &ComparisonText) -> Result<Self, Self::Error> {
        let ignore_lines = text.ignore_lines.iter().map(|line| Regex::new(line)).collect::<Result<_, _>>()?;
        match text.tolerance {
            Some(tolerance) if !(tolerance > 0.0 && tolerance < 1.0) => {
                Err(ParseOracleError::Tolerance(tolerance))
            }
            tolerance => Ok(Comparison { ignore_lines, tolerance }),
        }
    }
}

impl Comparison {
    /// Whether nothing is passed over.
    pub fn is_exact(&self) -> bool {
        self.ignore_lines.is_empty() && self.tolerance.is_none()
    }

    /// For a file.
    pub fn text(&self) -> ComparisonText {
        let ignore_lines = self.ignore_lines.iter().map(|line| line.as_str().to_owned()).collect();
        ComparisonText { ignore_lines, tolerance: self.tolerance }
    }

    /// The lines that count. None of an output that is too long.
    pub(crate) fn lines(&self, output: &Output) -> Option<String> {
        if output.bytes > COMPARED_BYTES || output.head_is_cut() {
            return None;
        }
        let text = String::from_utf8_lossy(&output.head);
        Some(text.lines().filter(|line| !self.ignores(line)).collect::<Vec<_>>().join("\n"))
    }

    fn ignores(&self, line: &str) -> bool {
        self.ignore_lines.iter().any(|ignored| ignored.is_match(line))
    }

    /// Whether there are lines, and all of them are ignored.
    pub(crate) fn ignores_all(&self, output: &Output) -> bool {
        let text = String::from_utf8_lossy(&output.head);
        !text.is_empty() && text.lines().all(|line| self.ignores(line))
    }

    /// Whether an output is that of the run without injection, whose lines that count these are.
    pub(crate) fn agrees(&self, reference: &str, output: &Output) -> bool {
        self.lines(output).is_some_and(|lines| self.agree(reference, &lines))
    }

    fn agree(&self, one: &str, other: &str) -> bool {
        let (mut ones, mut others) = (one.lines(), other.lines());
        loop {
            match (ones.next(), others.next()) {
                (None, None) => return true,
                (Some(one), Some(other)) if one == other => {}
                (Some(one), Some(other)) if self.tolerance.is_some_and(|most| apart(one, other) <= most) => {}
                _ => return false,
            }
        }
    }
}

/// How far apart the numbers of two lines are at most, relative to the larger one; infinitely far where something else differs.
pub(super) fn apart(one: &str, other: &str) -> f64 {
    let text = |line: &str| NUMBER.replace_all(line, "0").into_owned();
    if text(one) != text(other) {
        return f64::INFINITY;
    }
    let numbers = NUMBER.find_iter(one).zip(NUMBER.find_iter(other));
    numbers.map(|(one, other)| relative(one.as_str(), other.as_str())).fold(0.0, f64::max)
}

fn relative(one: &str, other: &str) -> f64 {
    if one == other {
        return 0.0;
    }
    let is_whole = |text: &str| !text.contains(['.', 'e', 'E']);
    let (Ok(a), Ok(b)) = (one.parse::<f64>(), other.parse::<f64>()) else { return f64::INFINITY };
    if is_whole(one) && is_whole(other) || !a.is_finite() || !b.is_finite() {
        return f64::INFINITY;
    }
    let apart = (a - b).abs();
    if apart == 0.0 { 0.0 } else { apart / a.abs().max(b.abs()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::printed;

    fn agree(ignore_lines: &[&str], tolerance: Option<f64>, one: &str, other: &str) -> bool {
        let ignore_lines = ignore_lines.iter().map(|line| (*line).to_owned()).collect();
        let comparison = Comparison::try_from(&ComparisonText { ignore_lines, tolerance }).unwrap();
        comparison.agrees(&comparison.lines(&printed(one)).unwrap(), &printed(other))
    }

    #[test]
    fn ignored_lines_count_for_nothing() {
        let (one, other) = ("sum 3\ntime 1.5 ms\nend\n", "sum 3\ntime 9.25 ms\nend\n");
        assert!(agree(&["^time"], None, one, other));
        assert!(!agree(&["^times"], None, one, other));
        // Wherever they are, and however many.
        assert!(agree(&["^time"], None, one, "time 3 ms\nsum 3\nend\ntime 4 ms\n"));
        assert!(!agree(&["^time"], None, one, "sum 4\ntime 1.5 ms\nend\n"));
        assert!(!agree(&["^time"], None, one, "sum 3\n"));
        // An end of the last line, and ends of another system, are no difference.
        assert!(agree(&["^time"], None, one, "sum 3\r\nend"));
    }

    #[test]
    fn empty_lines_are_lines() {
        let of = |line: &str| {
            let text = ComparisonText { ignore_lines: vec![line.to_owned()], tolerance: None };
            Comparison::try_from(&text).unwrap()
        };
        assert!(of(".").ignores_all(&printed("a\nb")) && of("^$").ignores_all(&printed("\n")));
        assert!(!of(".").ignores_all(&printed("a\n\n")) && !of(".").ignores_all(&printed("")));
        assert!(!Comparison::default().ignores_all(&printed("\n")));
    }

    #[test]
    fn numbers_may_be_near_each_other() {
        let near = |one, other| agree(&[], Some(1e-3), one, other);
        assert!(near("x = 1.0000 y = -2.5e-3", "x = 1.0005 y = -2.5001e-3"));
        assert!(!near("x = 1.0", "x = 1.01"));
        assert!(!near("x = 1.0", "y = 1.0"));
        assert!(!near("x = 1.0", "x = -1.0"));
        assert!(!near("x = 0.0", "x = 1e-30"));
        assert!(near("x = 0.0", "x = -0.0"));
        assert!(near("x = 1.5e3", "x = 1500"));
        // Counts are counts.
        assert!(!near("100000 elements", "100001 elements"));
        assert!(!near("a 1.0", "a 1.0 1.0"));
        assert!(!near("a nan", "a 1.0") && near("a nan", "a nan") && !near("a inf", "a 1e300"));
        assert!(!near("1e999", "1.5"));
        assert!(!agree(&[], None, "x = 1.0", "x = 1.00"));
    }

    #[test]
    fn long_outputs_cannot_be_compared() {
        let long = "x\n".repeat(COMPARED_BYTES as usize);
        let comparison = Comparison { ignore_lines: Vec::new(), tolerance: Some(0.1) };
        assert_eq!(comparison.lines(&printed(&long)), None);
        assert!(!comparison.agrees("x", &printed(&long)));
        for tolerance in [0.0, 1.0, -1.0, f64::NAN] {
            let text = ComparisonText { tolerance: Some(tolerance), ..ComparisonText::default() };
            assert!(Comparison::try_from(&text).is_err(), "{tolerance}");
        }
    }
}
