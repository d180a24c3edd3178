//! Races in words.

use bugaroo_protocol::{Race, RaceKind, RaceParty, SourceLine};

use crate::names::demangled;

/// A race in a few words: `write-read race between k.cu:3 and k.cu:9`.
pub(crate) fn one_line(race: &Race) -> String {
    let what = match race.kind {
        RaceKind::BarrierDivergence => "barrier divergence".to_owned(),
        kind => format!("{} race", kind.name()),
    };
    format!("{what} between {} and {}", place(&race.first), place(&race.second))
}

fn place(party: &RaceParty) -> String {
    match &party.at {
        None => demangled(&party.kernel),
        Some(at) => match (&at.source, at.ptx_line) {
            (Some(SourceLine { file, line }), _) => {
                format!("{}:{line}", file.rsplit(['/', '\\']).next().unwrap_or(file))
            }
            (None, Some(line)) => format!("PTX line {line}"),
            (None, None) => demangled(&at.function),
        },
    }
}
