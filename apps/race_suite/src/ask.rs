//! One program: built, looked at by detectors, and their answers compared with its label.

use std::time::Instant;

use anyhow::Result;

use crate::judge::differences;
use crate::suite::Program;
use crate::table::Answer;
use crate::tools::{Built, Tools};

/// An answer for each detector, in their order. What cannot be built or asked about differs, too.
pub fn ask(tools: &Tools, program: &Program, detectors: &[&str], trials: u32) -> Vec<Answer> {
    ask_built(tools, program, &tools.build(program), detectors, trials)
}

/// The same of a program that has been built, or could not be.
pub fn ask_built(
    tools: &Tools,
    program: &Program,
    built: &Result<Built>,
    detectors: &[&str],
    trials: u32,
) -> Vec<Answer> {
    let answer = |detector: &&str| {
        let mut answer = Answer::new(program, detector);
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

fn fill(answer: &mut Answer, tools: &Tools, program: &Program, built: &Built, trials: u32) -> Result<()> {
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
