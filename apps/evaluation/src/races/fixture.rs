//! Canned answers for the tests of the sections: what the labels demand.

use std::collections::BTreeMap;

use race_suite::label::{ExpectedRace, LabelPlace, LabelVerdict};
use race_suite::report::{Reported, ReportedParty};

use crate::fixture;
use crate::races::asked::{Asked, Code, Run, Said, Told};
use crate::races::questions::{self, Question};
use crate::results::Evaluation;

/// Every program of a suite, answered as its label demands: with all graphs, and without the known gaps.
pub fn answered(suite: &'static str) -> Evaluation {
    let mut results = Evaluation::new(fixture::settings());
    results.races = questions::of(suite, false).unwrap().iter().map(as_demanded).collect();
    results
}

/// What a detector said about a program's run.
pub fn said<'a>(results: &'a mut Evaluation, program: &str, run: usize, detector: &str) -> &'a mut Said {
    let asked = results.races.iter_mut().find(|asked| asked.program == program).unwrap();
    asked.runs[run].said.get_mut(detector).unwrap()
}

fn as_demanded(question: &Question) -> Asked {
    let label = &question.program.label;
    let of = |detector: &&str| {
        let races = match label.verdict(questions::detector(detector)) {
            LabelVerdict::Races { expected, .. } => expected.iter().map(reported).collect(),
            LabelVerdict::None | LabelVerdict::Any => Vec::new(),
        };
        let exits = BTreeMap::from([("exit code 0".to_owned(), 1)]);
        ((*detector).to_owned(), Said { refused: None, trials: 1, races, exits, detector_bytes: 64 })
    };
    let run =
        |own: &Vec<String>| Run { arguments: own.clone(), said: question.detectors.iter().map(of).collect() };
    Asked {
        suite: question.suite.to_owned(),
        program: question.program.name.clone(),
        digest: question.digest.clone(),
        unbuilt: None,
        code: Some(Code { instructions: 40, told: Ok(Told { all: 10, pruned: 8 }) }),
        runs: question.runs.iter().map(run).collect(),
    }
}

/// A race as it is demanded.
fn reported(expected: &ExpectedRace) -> Reported {
    let party =
        |place: LabelPlace| ReportedParty { place: Some(place), anywhere: false, told: format!("{place:?}") };
    Reported {
        kind: expected.kinds[0],
        class: expected.classes[0],
        shared: false,
        first: party(expected.first),
        second: party(expected.second),
        trials: 1,
    }
}
