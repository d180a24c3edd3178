//! What the sections share.

use crate::races::asked::Asked;
use crate::races::causes::Odd;
use crate::races::questions::{self, Paper, Question};
use crate::results::Evaluation;

/// Where there are no answers.
pub const NOT_ASKED: &str = "Not measured.\n\n";

/// The programs of a suite with the answers about them, as far as they are there.
///
/// # Errors
/// When the suite cannot be read.
pub fn answered<'a>(
    results: &'a Evaluation,
    suite: &'static str,
) -> anyhow::Result<Vec<(Question, &'a Asked)>> {
    let questions = questions::of(suite, results.settings.short)?;
    let with = |question: Question| {
        let asked = results.asked(suite, &question.program.name)?;
        (asked.digest == question.digest).then_some((question, asked))
    };
    Ok(questions.into_iter().filter_map(with).collect())
}

/// The programs that could not be built: nobody could be asked about them.
pub fn unbuilt(paper: Paper, answered: &[(Question, &Asked)]) -> Vec<Odd> {
    let odd = |(question, asked): &(Question, &Asked)| {
        asked.unbuilt.as_ref()?;
        let name = &question.program.name;
        Some(Odd::new(paper, name, format!("{name} does not build")))
    };
    answered.iter().filter_map(odd).collect()
}

/// A share of the whole, in percent; None of nothing.
pub fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64 * 100.0)
}
