//! Compares what a detector has reported with what its label demands.

use crate::label::{Expected, Kind, Place, Verdict};
use crate::report::Reported;

/// Whether this report is that race.
fn is(expected: &Expected, reported: &Reported) -> bool {
    let places = (reported.first.place, reported.second.place);
    let wanted = (Some(expected.first), Some(expected.second));
    let there = match reported.kind {
        Kind::WriteRead => places == wanted,
        Kind::WriteWrite | Kind::BranchOrder => places == wanted || places == (wanted.1, wanted.0),
        Kind::BarrierDivergence => {
            [wanted.0, wanted.1].iter().any(|one| *one == places.0 || *one == places.1)
        }
    };
    there && expected.kinds.contains(&reported.kind) && expected.classes.contains(&reported.class)
}

fn told(place: Place) -> String {
    match place {
        Place::Line(line) => format!("line {line}"),
        Place::Host => "the host".to_owned(),
    }
}

/// What differs, a sentence each; nothing where all is as it should be.
pub fn differences(verdict: &Verdict, reported: &[Reported]) -> Vec<String> {
    match verdict {
        Verdict::Any => Vec::new(),
        Verdict::None => reported.iter().map(|one| format!("false: {}", one.told())).collect(),
        Verdict::Races { expected, places } => {
            let missing = expected.iter().filter(|race| !reported.iter().any(|one| is(race, one)));
            let missing = missing.map(|race| {
                let (first, second) = (told(race.first), told(race.second));
                format!("missing: {:?} {:?} {first} and {second}", race.kinds, race.classes)
            });
            let known = |place: Option<Place>| place.is_some_and(|place| places.contains(&place));
            let odd = reported.iter().filter(|one| !known(one.first.place) || !known(one.second.place));
            missing.chain(odd.map(|one| format!("elsewhere: {}", one.told()))).collect()
        }
    }
}
