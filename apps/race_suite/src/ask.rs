//! One program: built, looked at by detectors, and their answers compared with its label.

use std::time::Instant;

use anyhow::Result;

use crate::judge::differences;
use crate::suite::LabelledProgram;
use crate::table::DetectorAnswer;
use crate::tools::{BuiltProgram, RaceTools};

/// An answer for each detector, in their order. What cannot be built or asked about differs, too.
pub fn ask(
    tools: &RaceTools,
    program: &LabelledProgram,
    detectors: &[&str],
    trials: u32,
) -> Vec<DetectorAnswer> {
    ask_built(tools, program, &tools.build(program), detectors, trials)
}

/// The same of a program that has been built, or could not be.
pub fn ask_built(
    tools: &RaceTools,
    program: &LabelledProgram,
    built: &Result<BuiltProgram>,
    detectors: &[&str],
    trials: u32,
) -> Vec<DetectorAnswer> {
    let answer = |detector: &&str| {
        let mut answer = DetectorAnswer::new(program, detector);
        let asked = match built {
            Ok(built) => fill(&mut answer, tools, program, built, trials),
            Err(why) => Err(anyhow::anyhow!("{why:#}")),
        };
        if let Err(why) = asked {
            answer.differences.push(format!("{why:#}"));
        }
        answer
    };
    detectors.iter().map(answer).collect()
}

fn fill(
    answer: &mut DetectorAnswer,
    tools: &RaceTools,
    program: &LabelledProgram,
    built: &BuiltProgram,
    trials: u32,
) -> Result<()> {
    let verdict = program.label.verdict(&answer.detector);
    for own in program.runs() {
        let begun = Instant::now();
        let asked = tools.race(program, built, &own, (&answer.detector, trials));
        answer.seconds += begun.elapsed().as_secs_f64();
        let (races, report) = asked?;
        answer.reported += races.len();
        if !(races.is_empty() && program.may_be_silent(&own)) {
            let of = if own.is_empty() { String::new() } else { format!("with {}: ", own.join(" ")) };
            answer
                .differences
                .extend(differences(verdict, &races).into_iter().map(|what| format!("{of}{what}")));
        }
        answer.report = report;
    }
    Ok(())
}
