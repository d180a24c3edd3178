//! What verifying a kernel has found, as findings of the night: one for each pair of lines that race, and one for each other error, so
//! that the plan can expect them one by one.

use std::path::Path;

use bugaroo_barriers::findings::{CommandPlace, KernelFindings, LineRace};
use bugaroo_harness::findings::Share;
use bugaroo_harness::names::demangled;
use bugaroo_protocol::SourceLine;

use crate::finding::{place_name, source};
use crate::night::{NightFinding, NightPlace};
use crate::plan::expect::Expected;

/// What stands in the findings of a kernel.
struct Kernel<'a> {
    /// Demangled.
    name: String,
    /// Of the program: paths of sources are relative to it.
    folder: &'a Path,
    /// Command that verifies it again.
    again: &'a str,
}

/// The errors of a kernel. `folder` is the program's, `again` the command that shows them again.
pub fn findings(found: &KernelFindings, folder: &Path, again: &str) -> Vec<NightFinding> {
    let kernel = Kernel { name: demangled(&found.kernel), folder, again };
    let mut all: Vec<NightFinding> = found.pairs().filter_map(|races| kernel.race(races)).collect();
    if let Some(deadlock) = &found.deadlock {
        let waits = deadlock.waiting.iter().map(|waits| kernel.at("threads wait here", &waits.at));
        let said = deadlock.waiting.iter().map(|waits| {
            format!("{} of {} threads have come to {}", waits.arrived, waits.expected, waits.barrier)
        });
        let said: Vec<String> = said.collect();
        all.push(kernel.finding("deadlock", &said.join("\n"), waits.collect()));
    }
    if let Some(misuse) = &found.misuse {
        let places = [("misused here", Some(&misuse.at)), ("concerned", misuse.other.as_ref())];
        let places = places.into_iter().filter_map(|(role, at)| Some(kernel.at(role, at?))).collect();
        all.push(kernel.finding("misuse of a barrier", &misuse.what, places));
    }
    for early in &found.recycling {
        let said =
            format!("{}: use {} may begin before use {} is over", early.barrier, early.later, early.earlier);
        let places =
            [("used again here", Some(&early.at)), ("last known from here", early.knows_from.as_ref())];
        let places = places.into_iter().filter_map(|(role, at)| Some(kernel.at(role, at?))).collect();
        all.push(kernel.finding("barrier used again too early", &said, places));
    }
    if all.is_empty() && !found.is_clean() && !found.is_open() {
        let refusal = found.refusal.as_ref();
        let said = refusal.map(|refused| refused.reason.clone()).unwrap_or_default();
        let at = refusal.and_then(|refused| refused.at.as_ref());
        all.push(kernel.finding(
            found.verdict,
            &said,
            at.map(|at| kernel.at("here", at)).into_iter().collect(),
        ));
    }
    all
}

/// That a pattern of the plan names no kernel: what it was to show is not shown.
pub fn no_such_kernel(pattern: &str, kernels: &[String]) -> NightFinding {
    let launched = match kernels {
        [] => "The program launches no kernel.".to_owned(),
        names => format!("The program launches {}.", names.join(", ")),
    };
    let title = format!("no kernel is called like `{pattern}`, which the plan's `verify` names");
    NightFinding { message: launched, ..empty(format!("verify no kernel {pattern}"), title) }
}

fn empty(fingerprint: String, title: String) -> NightFinding {
    NightFinding {
        fingerprint,
        kind: Expected::Verify,
        title,
        message: String::new(),
        places: Vec::new(),
        cells: Vec::new(),
        trials: Share::default(),
        replay: String::new(),
        patch: String::new(),
        patch_note: String::new(),
        new: false,
        expected: None,
    }
}

impl Kernel<'_> {
    /// Races of one pair of lines.
    fn race(&self, races: &[LineRace]) -> Option<NightFinding> {
        let race = races.first()?;
        let possible = races.iter().all(|race| race.possible);
        let what = if possible { "possible race" } else { "race" };
        let side = |access: &bugaroo_barriers::findings::RaceAccess| {
            let kind = serde_json::to_value(access.kind).ok();
            let kind = kind.as_ref().and_then(|kind| kind.as_str()).unwrap_or("access").to_owned();
            format!("{kind} of {} bytes: {}", access.size, access.at.instruction)
        };
        let said = format!("first: {}\nsecond: {}", side(&race.first), side(&race.second));
        let places = vec![self.at("first access", &race.first.at), self.at("second access", &race.second.at)];
        Some(self.finding(what, &said, places))
    }

    fn finding(&self, what: &str, said: &str, places: Vec<NightPlace>) -> NightFinding {
        let mut names: Vec<String> = places.iter().map(place_name).filter(|name| !name.is_empty()).collect();
        names.sort();
        names.dedup();
        let at = if names.is_empty() { String::new() } else { format!(" at {}", names.join(" and ")) };
        let title = format!("{what} in kernel {}{at}", self.name);
        let fingerprint = format!("verify {what} {} {}", self.name, names.join(" ")).trim_end().to_owned();
        let places = match places.is_empty() {
            // Whose it is stands in its places.
            true => vec![NightPlace { kernel: self.name.clone(), ..source("kernel", None, self.folder) }],
            false => places,
        };
        NightFinding {
            message: said.to_owned(),
            places,
            replay: self.again.to_owned(),
            ..empty(fingerprint, title)
        }
    }

    fn at(&self, role: &str, at: &CommandPlace) -> NightPlace {
        let line = match (&at.file, at.line) {
            (Some(file), Some(line)) => Some(SourceLine { file: file.clone(), line }),
            _ => None,
        };
        NightPlace {
            kernel: self.name.clone(),
            ptx_line: Some(at.ptx_line),
            ..source(role, line.as_ref(), self.folder)
        }
    }
}

#[cfg(test)]
mod tests;
