//! Table IV, and what it says beside the paper's: differences in kind and in size, failures that must not be.

use std::fmt::Write;

use bugaroo_protocol::Model;

use crate::catalog::{self, PROGRAMS};
use crate::compare::{self, Difference};
use crate::kind::Kind;
use crate::markdown::{Table, or_nothing, rate};
use crate::paper;
use crate::results::{Cell, Evaluation, model_name};
use crate::tables::{or_not_measured, title};
use crate::verdict::{Verdict, verdict};

/// What stands below the table of model `ptx`.
const NO_PAPER: &str = "The paper delays stores and nothing else: a variant that fails here and not there lacks a fence on the side \
that reads.\n\n";

/// The table under one model, with all that it differs in.
pub fn section(results: &Evaluation, model: Model) -> String {
    let mut text = table(results, model);
    if model == Model::Ptx {
        text += NO_PAPER;
        return text;
    }
    let differences = compare::differences(results, model);
    let (size, kind): (Vec<_>, Vec<_>) = differences.iter().partition(|it| it.kind == Kind::Size);
    for (what, list) in [("kind (one fails, the other doesn't)", kind), ("size alone (both fail)", size)] {
        // Writing to a string cannot fail.
        if list.is_empty() {
            let _ = writeln!(text, "No difference in {what}.\n");
            continue;
        }
        let _ = writeln!(text, "Differences in {what}:\n\n{}", by_cause(&list));
    }
    text
}

/// Differences, each with its cause; those with the same one after the other are under one heading.
fn by_cause(differences: &[&Difference]) -> String {
    let mut text = String::new();
    for same in differences.chunk_by(|one, other| (one.kind, one.cause) == (other.kind, other.cause)) {
        let rows: Vec<String> = same.iter().map(|difference| place(difference)).collect();
        let _ = writeln!(text, "- {}: {}. {}", rows.join("; "), what(same[0].kind), cause(same[0]));
    }
    text
}

/// Differences in kind that no cause is known of, and failures of correct variants under models that are sound: a line
/// each. There should be none.
pub fn alarms(results: &Evaluation) -> Vec<String> {
    let mut alarms = Vec::new();
    for model in results.models() {
        let unexplained = compare::differences(results, model);
        let unexplained = unexplained.iter().filter(|it| it.kind != Kind::Size && it.cause.is_none());
        alarms.extend(unexplained.map(|it| format!("{}: {}", model_name(model), line(it))));
    }
    alarms.extend(compare::unsound(results).into_iter().map(|rated| {
        let failures: u64 = rated.cells.iter().map(|cell| cell.failures).sum();
        let title = title(&rated.row.program, &rated.row.variant);
        format!("{}: {title} is correct, but failed in {failures} trials", model_name(rated.model))
    }));
    alarms
}

fn table(results: &Evaluation, model: Model) -> String {
    let mut texts = vec!["variant".to_owned()];
    for pw in paper::PW {
        texts.extend([format!("p_w {pw}: ours (95 %)"), "paper".to_owned()]);
    }
    texts.extend(["ours", "paper", "new by the paper"].map(str::to_owned));
    let mut table = Table::new(&texts, &[]);
    let rows =
        PROGRAMS.iter().flat_map(|program| program.variants.iter().map(move |variant| (program, variant)));
    for (program, variant) in rows {
        let Some(rated) = results.rated(program.name, variant.name, model) else { continue };
        let finding = paper::finding_of(program.name, variant.name);
        let mut row = vec![title(program.name, variant.name)];
        for (at, &pw) in paper::PW.iter().enumerate() {
            row.push(or_nothing(rated.cells.iter().find(|cell| cell.pw == pw), with_interval));
            // As the paper prints it.
            row.push(or_nothing(finding, |finding| finding.rates[at].to_string()));
        }
        row.push(or_nothing(ours(results, program.name, variant.name, model), |it| it.to_string()));
        let papers = finding.and_then(|finding| Some((finding.verdict?, finding.new)));
        row.push(or_nothing(papers, |(verdict, _)| verdict.to_string()));
        row.push(or_nothing(papers, |(_, new)| if new { "yes" } else { "no" }.to_owned()));
        table.row(row);
    }
    or_not_measured(&table)
}

/// Our verdict on a variant.
pub fn ours(results: &Evaluation, program: &str, variant: &str, model: Model) -> Option<Verdict> {
    let fails = |variant: &str| Some(results.rated(program, variant, model)?.fails());
    verdict(catalog::program(program)?, variant, fails)
}

fn with_interval(cell: &Cell) -> String {
    let [low, high] = cell.ci95;
    format!("{} ({}–{})", rate(cell.rate()), rate(low), rate(high))
}

fn line(difference: &Difference) -> String {
    format!("{}: {}. {}", place(difference), what(difference.kind), cause(difference))
}

/// Row and p_w.
fn place(difference: &Difference) -> String {
    let Difference { finding, pw, .. } = difference;
    let pw: Vec<String> = pw.iter().map(f64::to_string).collect();
    format!("**{}** at p_w {}", title(finding.program, finding.variant), pw.join(", "))
}

fn what(kind: Kind) -> &'static str {
    match kind {
        Kind::OursAlone => "ours fails, the paper's doesn't",
        Kind::PapersAlone => "the paper's fails, ours doesn't",
        Kind::Size => "the rates differ",
    }
}

fn cause(difference: &Difference) -> &'static str {
    let unknown = if difference.kind == Kind::Size { "No cause is known." } else { "**Unexplained.**" };
    difference.cause.unwrap_or(unknown)
}

#[cfg(test)]
mod tests;
