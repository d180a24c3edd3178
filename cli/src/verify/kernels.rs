//! Which kernels of a file are meant (`--kernel`).

use bugaroo_harness::names::demangled;
use regex::Regex;

/// Pairs of lines with races, and barriers used again too early, that are listed of a kernel without `--all`.
pub const LISTED: usize = 20;

/// The kernels that an option names: the one of exactly this name; else all whose names begin with it; else all in whose names it is found as
/// a regular expression. Names are those of the PTX text and those in C++.
///
/// # Errors
/// In words, with the names, where there is none.
pub fn named<'t>(all: &[&'t str], given: &str) -> Result<Vec<&'t str>, String> {
    let names: Vec<(&str, String)> = all.iter().map(|name| (*name, demangled(name))).collect();
    let of = |holds: &dyn Fn(&str) -> bool| -> Vec<&'t str> {
        // Of a template, the name in C++ begins with what it returns.
        let fits = |readable: &str| holds(readable) || readable.strip_prefix("void ").is_some_and(holds);
        names.iter().filter(|(name, readable)| holds(name) || fits(readable)).map(|(name, _)| *name).collect()
    };
    let exact = all.iter().find(|name| **name == given).map(|name| vec![*name]);
    let found = exact.unwrap_or_else(|| of(&|name| name == given));
    let found = if found.is_empty() { of(&|name| name.starts_with(given)) } else { found };
    if !found.is_empty() {
        return Ok(found);
    }
    let (found, why) = match Regex::new(given) {
        Ok(pattern) => (of(&|name| pattern.is_match(name)), String::new()),
        Err(error) => (Vec::new(), format!("; as a regular expression: {error}")),
    };
    if found.is_empty() {
        let known: Vec<&str> = names.iter().map(|(_, readable)| readable.as_str()).collect();
        return Err(format!("no kernel `{given}` (there are: {}){why}", known.join(", ")));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::named;

    const ALL: [&str; 5] = ["scan", "scan_large", "_Z3dotPfi", "_Z3sumIiEvPT_", "_Z3sumIfEvPT_"];

    #[test]
    fn names_are_exact_or_begin_or_match() {
        for (given, wanted) in [
            ("scan", &["scan"][..]),
            ("sca", &["scan", "scan_large"]),
            ("dot(float*, int)", &["_Z3dotPfi"]),
            ("dot", &["_Z3dotPfi"]),
            ("_Z3d", &["_Z3dotPfi"]),
            ("sum<int>", &["_Z3sumIiEvPT_"]),
            ("void sum", &["_Z3sumIiEvPT_", "_Z3sumIfEvPT_"]),
            ("float", &["_Z3dotPfi", "_Z3sumIfEvPT_"]),
            ("^scan$|dot", &["scan", "_Z3dotPfi"]),
        ] {
            assert_eq!(named(&ALL, given).unwrap(), wanted, "{given}");
        }
    }

    #[test]
    fn where_nothing_fits_the_names_are_said() {
        let error = named(&ALL, "nobody").unwrap_err();
        assert!(
            error.starts_with("no kernel `nobody` (there are: scan, scan_large, dot(float*, int), "),
            "{error}"
        );
        let error = named(&ALL, "(").unwrap_err();
        assert!(error.contains("as a regular expression: "), "{error}");
    }
}
