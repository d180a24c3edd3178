//! Races that somebody has looked at and wants to hear of no more: rules from TOML files, each with its reason.
//!
//! ```toml
//! [[suppress]]
//! kernel = "^histogram"       # regular expression, on the kernel's name as it is written in C++ or in the PTX
//! file = "vendor/*.cuh"       # the end of a path; * and ? stand for anything but /, ** for anything
//! line = 12
//! symbol = "hits"             # the variable that the memory belongs to
//! detector = "barracuda"
//! reason = "the count may be off by a few"
//! ```
//!
//! A rule suppresses a race when all that it names holds: `kernel`, `file` and `line` of one of the two accesses, `symbol` and
//! `detector` of the race. Two rules that a race fits: the first counts.

use std::path::{Path, PathBuf};

use bugaroo_protocol::{Detector, Race, RaceParty};
use regex::Regex;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::names::demangled;
use crate::user_file::{self, FileError, Text};

/// What a rule says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleText {
    /// The file that it stands in, and the line where it begins.
    pub at: String,
    /// See the head of this file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detector: Option<Detector>,
    /// Why nobody wants to hear of it.
    pub reason: String,
}

#[derive(Clone, Debug)]
struct Rule {
    text: RuleText,
    kernel: Option<Regex>,
    file: Option<Regex>,
}

/// The rules of all files.
#[derive(Clone, Debug, Default)]
pub struct Suppressions {
    rules: Vec<Rule>,
}

/// A file, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    suppress: Vec<Spanned<Written>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    kernel: Option<Spanned<String>>,
    file: Option<Spanned<String>>,
    line: Option<u32>,
    symbol: Option<String>,
    detector: Option<Spanned<String>>,
    reason: Spanned<String>,
}

impl Suppressions {
    /// Reads files, in this order.
    ///
    /// # Errors
    /// When one cannot be read, or something in it is wrong.
    pub fn read(paths: &[PathBuf]) -> Result<Self, FileError> {
        let mut all = Suppressions::default();
        for path in paths {
            all.add(path, &user_file::read("--suppressions", path)?)?;
        }
        Ok(all)
    }

    /// Takes the rules of one file in.
    ///
    /// # Errors
    /// When something in it is wrong.
    pub fn add(&mut self, path: &Path, text: &str) -> Result<(), FileError> {
        let whole = Text { path, text };
        let file: File = whole.parse()?;
        for written in file.suppress {
            let span = written.span();
            let starts = whole.line(span.start);
            let Written { kernel, file, line, symbol, detector, reason } = written.into_inner();
            if reason.get_ref().trim().is_empty() {
                return Err(whole.wrong(reason.span(), "a rule needs a reason that says something"));
            }
            let detector = match &detector {
                None => None,
                Some(name) => match Detector::ALL.into_iter().find(|known| known.name() == name.get_ref()) {
                    None => {
                        let all = Detector::ALL.map(Detector::name).join(", ");
                        let what = format!("'{}' is no detector: {all} are", name.get_ref());
                        return Err(whole.wrong(name.span(), what));
                    }
                    known => known,
                },
            };
            if kernel.is_none() && file.is_none() && line.is_none() && symbol.is_none() && detector.is_none()
            {
                let what = "a rule needs one of kernel, file, line, symbol and detector, or it would suppress everything";
                return Err(whole.wrong(span, what));
            }
            let regex = |text: &Option<Spanned<String>>, of: fn(&str) -> String| match text {
                None => Ok(None),
                Some(text) => match Regex::new(&of(text.get_ref())) {
                    Ok(regex) => Ok(Some(regex)),
                    Err(error) => Err(whole.wrong(text.span(), error.to_string())),
                },
            };
            self.rules.push(Rule {
                kernel: regex(&kernel, str::to_owned)?,
                file: regex(&file, glob)?,
                text: RuleText {
                    at: format!("{}:{starts}", path.display()),
                    kernel: kernel.map(Spanned::into_inner),
                    file: file.map(Spanned::into_inner),
                    line,
                    symbol,
                    detector,
                    reason: reason.into_inner(),
                },
            });
        }
        Ok(())
    }

    /// What each rule says.
    pub fn texts(&self) -> impl Iterator<Item = &RuleText> {
        self.rules.iter().map(|rule| &rule.text)
    }

    /// The first rule that suppresses a race, by its place among the rules.
    pub fn of(&self, race: &Race) -> Option<usize> {
        self.rules.iter().position(|rule| rule.fits(race))
    }
}

impl Rule {
    fn fits(&self, race: &Race) -> bool {
        let RuleText { line, symbol, detector, .. } = &self.text;
        let variable = || race.allocation.as_ref().and_then(|near| near.variable.as_deref());
        let is_symbol = |symbol: &String| {
            variable().is_some_and(|name| name == symbol.as_str() || demangled(name) == *symbol)
        };
        let by_access = self.kernel.is_some() || self.file.is_some() || line.is_some();
        detector.is_none_or(|detector| detector == race.detector)
            && symbol.as_ref().is_none_or(is_symbol)
            && (!by_access || [&race.first, &race.second].into_iter().any(|party| self.fits_access(party)))
    }

    fn fits_access(&self, party: &RaceParty) -> bool {
        let source = party.at.as_ref().and_then(|at| at.source.as_ref());
        let host = || party.called_at.first().and_then(|frame| frame.source.as_ref());
        let source = source.or_else(|| if party.at.is_none() { host() } else { None });
        let names =
            |kernel: &Regex| kernel.is_match(&party.kernel) || kernel.is_match(&demangled(&party.kernel));
        self.kernel.as_ref().is_none_or(names)
            && self.file.as_ref().is_none_or(|file| source.is_some_and(|at| file.is_match(&at.file)))
            && self.text.line.is_none_or(|line| source.is_some_and(|at| at.line == line))
    }
}

/// The end of a path, as a regular expression.
fn glob(pattern: &str) -> String {
    let mut regex = String::from("(?:^|/)");
    let mut rest = pattern.trim_start_matches("./").chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '*' if rest.peek() == Some(&'*') => {
                rest.next();
                if rest.peek() == Some(&'/') {
                    rest.next();
                    regex.push_str("(?:.*/)?");
                } else {
                    regex.push_str(".*");
                }
            }
            '*' => regex.push_str("[^/]*"),
            '?' => regex.push_str("[^/]"),
            c => regex.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    regex + "$"
}

#[cfg(test)]
mod tests;
