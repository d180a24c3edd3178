//! What variables hold, from files (`--global NAME=FILE`).

use std::path::Path;

use bugaroo_barriers::emulate::KernelText;
use bugaroo_harness::names::demangled;

use crate::exit::UsageError;
use crate::input;

/// Gives a text what the options say.
pub fn give(text: &mut KernelText, options: &[String]) -> Result<(), UsageError> {
    for option in options {
        let error = |message: String| UsageError(format!("--global {option}: {message}"));
        let Some((name, path)) = option.split_once('=') else {
            return Err(error("a variable is given as NAME=FILE".to_owned()));
        };
        let name = variable(text, name.trim()).map_err(error)?;
        let bytes = input::read(Path::new(path)).map_err(|failed| error(format!("{path}: {failed}")))?;
        text.give(&name, bytes).map_err(|refusal| error(refusal.to_string()))?;
    }
    Ok(())
}

/// The variable of this name, mangled or in C++.
fn variable(text: &KernelText, given: &str) -> Result<String, String> {
    let all: Vec<(&str, String)> = text.variables().map(|name| (name, demangled(name))).collect();
    let fits: Vec<&str> = match all.iter().find(|(name, _)| *name == given) {
        Some((name, _)) => vec![name],
        None => all.iter().filter(|(_, readable)| readable == given).map(|(name, _)| *name).collect(),
    };
    match fits[..] {
        [name] => Ok(name.to_owned()),
        [] => {
            let closest = all.iter().min_by_key(|(_, readable)| distance(given, readable));
            let hint = match closest {
                Some((_, readable)) => format!(" (did you mean `{readable}`?)"),
                None => ": the module has no variable there".to_owned(),
            };
            Err(format!("no variable `{given}` in global or constant memory{hint}"))
        }
        _ => Err(format!("several variables are called `{given}`: {}", fits.join(", "))),
    }
}

/// Letters to change, add or remove between two names (Levenshtein's distance).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in to.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn names_that_differ_little_are_close() {
        assert_eq!((distance("table", "table"), distance("tabel", "table"), distance("", "abc")), (0, 2, 3));
        assert_eq!((distance("kitten", "sitting"), distance("ab", "b")), (3, 1));
    }
}
