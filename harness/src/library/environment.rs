//! The variables of the program's environment.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::Path;

/// Whether the program's environment gives a variable a value.
pub(super) fn is_said(name: &str, own: &BTreeMap<String, String>) -> bool {
    own.contains_key(name) || env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// A variable of the environment that lists paths, with some more before them.
pub(super) fn before(
    variable: &'static str,
    first: &[&Path],
    own: &BTreeMap<String, String>,
) -> (&'static str, OsString) {
    let mut paths: Vec<OsString> = first.iter().map(|path| path.as_os_str().to_owned()).collect();
    let rest = own.get(variable).map(OsString::from).or_else(|| env::var_os(variable));
    paths.extend(rest.filter(|rest| !rest.is_empty()));
    (variable, paths.join(":".as_ref()))
}
