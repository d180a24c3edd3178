//! The verifier: every invariant of instrumented text, stated on the text itself.
//!
//! It parses the output again and shares nothing with the passes but the site table, so that an error
//! of theirs does not hide itself. In general ([`general`]): the program's statements all stay, byte for
//! byte, in order and in their blocks; what is injected writes no register of the program (but a
//! load's own destinations), jumps only within its place, and waits for nobody. For each pass
//! ([`invariants`]): each place that it answers for asks the right handler the right question, and
//! takes the answer to the right register.

mod general;
mod hirace;
mod invariants;
mod logging;
mod looking;
mod places;
mod questions;
mod scord;
mod view;
mod violation;

pub use violation::Violation;

use bugaroo_ptx::ast::Module;

use crate::collect_sites::SiteTable;
use crate::kits::Pass;
use crate::logging::Log;
use view::View;

/// Checks the output of `passes` against the original and its table.
///
/// # Errors
/// The first violation.
pub fn verify(
    original: &Module,
    table: &SiteTable,
    passes: &[Pass<SiteTable>],
    output: &str,
) -> Result<(), Violation> {
    check((original, table), passes, output, general::May::Ask, invariants::check)
}

/// Checks the output of `passes` of those that make a module log.
///
/// # Errors
/// The first violation.
pub fn verify_log(original: &Module, log: &Log, passes: &[Pass<Log>], output: &str) -> Result<(), Violation> {
    let owed = |pass, view: &View<'_>| logging::check(pass, view, log);
    check((original, &log.sites), passes, output, general::May::Log, owed)
}

/// Checks the output of `passes` of those that have HiRace look at a module.
///
/// # Errors
/// The first violation.
pub fn verify_hirace(
    original: &Module,
    log: &Log,
    passes: &[Pass<Log>],
    output: &str,
) -> Result<(), Violation> {
    let owed = |pass, view: &View<'_>| looking::check(pass, view, log, &hirace::LOOKING);
    check((original, &log.sites), passes, output, general::May::Ask, owed)
}

/// Checks the output of `passes` of those that have ScoRD look at a module.
///
/// # Errors
/// The first violation.
pub fn verify_scord(
    original: &Module,
    log: &Log,
    passes: &[Pass<Log>],
    output: &str,
) -> Result<(), Violation> {
    let owed = |pass, view: &View<'_>| looking::check(pass, view, log, &scord::LOOKING);
    check((original, &log.sites), passes, output, general::May::Ask, owed)
}

/// What holds in general, then what each pass owes.
fn check<T>(
    (original, table): (&Module, &SiteTable),
    passes: &[Pass<T>],
    output: &str,
    may: general::May,
    owed: impl Fn(&'static str, &View<'_>) -> Result<(), Violation>,
) -> Result<(), Violation> {
    let parsed =
        bugaroo_ptx::parse(output).map_err(|error| Violation { rule: "parses", what: error.to_string() })?;
    let view = View::new(original, table, &parsed)?;
    // Until guards are closed, jumps past a place have nowhere to land.
    let closed = passes.iter().any(|pass| pass.name == "close-guards");
    general::check(&view, closed, may)?;
    passes.iter().try_for_each(|pass| owed(pass.name, &view))
}
