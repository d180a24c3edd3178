//! Compares what a detector has reported with what its label demands.

use crate::label::{ExpectedRace, LabelKind, LabelPlace, LabelVerdict};
use crate::report::{Reported, ReportedParty};

/// Whether this report is that race.
fn is(expected: &ExpectedRace, reported: &Reported) -> bool {
    let at = |party: &ReportedParty, place: LabelPlace| party.anywhere || party.place == Some(place);
    let (one, other) = (&reported.first, &reported.second);
    let forward = at(one, expected.first) && at(other, expected.second);
    let backward = at(one, expected.second) && at(other, expected.first);
    let kinds = match reported.kind {
        LabelKind::AccessWrite => vec![LabelKind::WriteWrite, LabelKind::WriteRead],
        kind => vec![kind],
    };
    let there = match reported.kind {
        LabelKind::WriteRead => forward,
        LabelKind::WriteWrite | LabelKind::AccessWrite | LabelKind::BranchOrder => forward || backward,
        LabelKind::BarrierDivergence => {
            let either = |place| at(one, place) || at(other, place);
            either(expected.first) || either(expected.second)
        }
    };
    there
        && kinds.iter().any(|kind| expected.kinds.contains(kind))
        && expected.classes.contains(&reported.class)
}

fn told(place: LabelPlace) -> String {
    match place {
        LabelPlace::Line(line) => format!("line {line}"),
        LabelPlace::Host => "the host".to_owned(),
    }
}

/// Whether each race that a verdict demands is among the reports; so it is where it demands none.
pub fn seen(verdict: &LabelVerdict, reported: &[Reported]) -> bool {
    match verdict {
        LabelVerdict::Any | LabelVerdict::None => true,
        LabelVerdict::Races { expected, .. } => {
            expected.iter().all(|race| reported.iter().any(|one| is(race, one)))
        }
    }
}

/// What differs, a sentence each; nothing where all is as it should be.
pub fn differences(verdict: &LabelVerdict, reported: &[Reported]) -> Vec<String> {
    match verdict {
        LabelVerdict::Any => Vec::new(),
        LabelVerdict::None => reported.iter().map(|one| format!("false: {}", one.told())).collect(),
        LabelVerdict::Races { expected, places } => {
            let missing = expected.iter().filter(|race| !reported.iter().any(|one| is(race, one)));
            let missing = missing.map(|race| {
                let (first, second) = (told(race.first), told(race.second));
                format!("missing: {:?} {:?} {first} and {second}", race.kinds, race.classes)
            });
            let known = |party: &ReportedParty| {
                party.anywhere || party.place.is_some_and(|place| places.contains(&place))
            };
            let odd = reported.iter().filter(|one| !known(&one.first) || !known(&one.second));
            missing.chain(odd.map(|one| format!("elsewhere: {}", one.told()))).collect()
        }
    }
}
