//! What was measured, as a table and in sum.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use serde::Serialize;

use crate::expert::ExpertKind;
use crate::measure::{AdviceOutcome, Measured};

/// Sums over programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SuiteTotals {
    /// Programs measured.
    pub programs: usize,
    /// Those that are as they should be in every respect.
    pub right: usize,
    /// Those for which there is a cure by a patch: all but what is not a fence.
    pub patchable: usize,
    /// Of those: cured, or rightly left alone.
    pub cured: usize,
    /// Of those: refused with a reason that counts.
    pub refused: usize,
    /// Of those: what was advised is the expert's patch.
    pub same_line: usize,
    /// Programs that got more fences than the expert's.
    pub too_many: usize,
    /// Programs that no fence cures.
    pub not_a_fence: usize,
    /// Of those: the cause was named, with its two lines.
    pub named: usize,
    /// Half of the searches took no longer.
    pub median_search_seconds: f64,
}

impl SuiteTotals {
    /// Over all that was measured.
    pub fn of(all: &[Measured]) -> SuiteTotals {
        let count = |is: &dyn Fn(&&Measured) -> bool| all.iter().filter(is).count();
        let fence = |one: &Measured| one.kind != ExpertKind::NotAFence;
        let well = |one: &Measured| matches!(one.outcome, AdviceOutcome::Cured | AdviceOutcome::NothingToDo);
        let same = |one: &Measured| one.same_line.unwrap_or(one.outcome == AdviceOutcome::NothingToDo);
        SuiteTotals {
            programs: all.len(),
            right: count(&|one| one.right()),
            patchable: count(&|one| fence(one)),
            cured: count(&|one| fence(one) && well(one)),
            refused: count(&|one| fence(one) && matches!(one.outcome, AdviceOutcome::Refused(_))),
            same_line: count(&|one| fence(one) && same(one)),
            too_many: count(&|one| one.too_many()),
            not_a_fence: count(&|one| !fence(one)),
            named: count(&|one| {
                !fence(one) && matches!(one.outcome, AdviceOutcome::Named | AdviceOutcome::Cured)
            }),
            median_search_seconds: median(all.iter().map(|one| one.search_seconds).collect()),
        }
    }

    /// In words.
    pub fn told(&self) -> String {
        let SuiteTotals {
            programs,
            right,
            patchable,
            cured,
            refused,
            same_line,
            too_many,
            not_a_fence,
            named,
            ..
        } = self;
        format!(
            "cured: {cured} of {patchable} ({refused} refused with reason); the expert's patch: {same_line} of \
             {patchable}; more fences than the expert: {too_many}\n\
             not a fence, named with both lines: {named} of {not_a_fence}\n\
             median search: {:.1} s; as they should be: {right} of {programs}",
            self.median_search_seconds
        )
    }
}

/// The middle of some numbers, or the mean of the two in the middle; 0 of none.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    match numbers.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => numbers[middle],
        _ => (numbers[middle - 1] + numbers[middle]) / 2.0,
    }
}

/// A row for each program.
pub fn table(all: &[Measured]) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(["program", "kind", "cured", "same line", "fences ours/expert", "search s"]);
    for one in all {
        let cured = match &one.outcome {
            AdviceOutcome::Cured => "yes".to_owned(),
            AdviceOutcome::NothingToDo => "nothing to do".to_owned(),
            AdviceOutcome::Named => "named".to_owned(),
            AdviceOutcome::Refused(why) => format!("refused: {}", short(why)),
            AdviceOutcome::Wrong(why) => format!("NO: {}", short(why)),
        };
        let same = one.same_line.map_or("–", |same| if same { "yes" } else { "NO" });
        let ours = one.ours.map_or("–".to_owned(), |ours| format!("{ours:+}"));
        let kind = one.kind.name().to_owned();
        let fences = format!("{ours}/{:+}", one.expert);
        table.add_row([
            one.program.clone(),
            kind,
            cured,
            same.to_owned(),
            fences,
            format!("{:.1}", one.search_seconds),
        ]);
    }
    for right in [4, 5] {
        if let Some(column) = table.column_mut(right) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// As much of a reason as a table bears.
fn short(why: &str) -> String {
    let line = why.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(160) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
#[path = "table/tests.rs"]
mod tests;
