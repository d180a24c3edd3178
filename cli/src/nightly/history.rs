//! `bugaroo history`.

use bugaroo_harness::{block_on, clopper_pearson};
use bugaroo_nightly::history::{Key, NightRow, Store};
use bugaroo_nightly::night::{Change, Night};
use serde::Serialize;

use crate::args::{Format, HistoryArgs};
use crate::exit::{Exit, UsageError};
use crate::output::{print, print_json, table, thousands};

#[derive(Serialize)]
struct Json {
    schema: u32,
    plan: String,
    nights: Vec<NightLine>,
    cells: Vec<CellLine>,
}

#[derive(Serialize)]
struct NightLine {
    label: String,
    began_ms: i64,
    ended_ms: Option<i64>,
    complete: bool,
    seed: u64,
}

#[derive(Serialize)]
struct CellLine {
    program: String,
    cell: String,
    night: String,
    told: u64,
    failures: u64,
    rate: Option<f64>,
    ci95: [f64; 2],
    /// Of the last night only.
    change: Option<Change>,
}

/// Shows how programs fared over the nights.
pub fn history(args: &HistoryArgs) -> anyhow::Result<Exit> {
    let plan = super::shared::plan(&args.plan)?;
    if !plan.database.contains("://") && !std::path::Path::new(&plan.database).exists() {
        let what = format!("{}: there is no night yet (`bugaroo nightly` runs one)", plan.database);
        return Err(UsageError(what).into());
    }
    if let Some(name) = args.program.as_ref().filter(|name| plan.program(name).is_none()) {
        let names: Vec<&str> = plan.programs.iter().map(|program| program.name.as_str()).collect();
        let what = format!("the plan has no program `{name}`: {} are there", names.join(", "));
        return Err(UsageError(what).into());
    }
    let (nights, last) = block_on(async {
        let store = Store::open(&plan.database).await?;
        let nights = store.nights(Some(&plan.name)).await?;
        let last = match nights.last() {
            Some(night) => store.night(&night.key.clone(), &plan.reports).await?,
            None => None,
        };
        store.close().await;
        anyhow::Ok((nights, last))
    })??;
    let lines = last.as_ref().map(|night| lines(night, args.program.as_deref())).unwrap_or_default();
    match args.format {
        Format::Json => print_json(&Json {
            schema: 1,
            plan: plan.name.clone(),
            nights: nights.iter().map(night_line).collect(),
            cells: lines,
        })?,
        Format::Human if args.program.is_some() => print(&cells(&lines))?,
        Format::Human => print(&list(&nights))?,
    }
    Ok(Exit::Clean)
}

fn night_line(night: &NightRow) -> NightLine {
    let Key { label, .. } = night.key.clone();
    NightLine {
        label,
        began_ms: night.began,
        ended_ms: night.ended,
        complete: night.complete,
        seed: night.seed,
    }
}

fn lines(night: &Night, only: Option<&str>) -> Vec<CellLine> {
    let mut lines = Vec::new();
    for program in night.programs.iter().filter(|program| only.is_none_or(|only| only == program.name)) {
        for cell in &program.cells {
            let line = |label: &str, told: u64, failures: u64, change| CellLine {
                program: program.name.clone(),
                cell: cell.key.clone(),
                night: label.to_owned(),
                told,
                failures,
                rate: (told > 0).then(|| failures as f64 / told as f64),
                ci95: clopper_pearson(failures, told),
                change,
            };
            lines.extend(cell.before.iter().map(|past| line(&past.label, past.told, past.failures, None)));
            let told = cell.outcomes.iter().filter(|(outcome, _)| outcome.tells()).map(|(_, n)| n).sum();
            lines.push(line(&night.label, told, cell.failures, Some(cell.change)));
        }
    }
    lines
}

fn cells(lines: &[CellLine]) -> String {
    let header = ["cell", "night", "trials", "failures", "rate", "95 % interval", ""];
    let mut last = "";
    let rows = lines.iter().map(|line| {
        let name = if line.cell == last { String::new() } else { line.cell.clone() };
        last = &line.cell;
        let [low, high] = line.ci95;
        let change = match &line.change {
            None | Some(Change::First) => String::new(),
            Some(Change::None) => "as before".to_owned(),
            Some(Change::New { .. }) => "new".to_owned(),
            Some(Change::Changed { before, p }) => format!("changed from {before:.4} (p {p:.1e})"),
            Some(Change::Cured { before, p }) => format!("cured, {before:.4} before (p {p:.1e})"),
        };
        vec![
            name,
            line.night.clone(),
            thousands(line.told),
            thousands(line.failures),
            line.rate.map_or("-".to_owned(), |rate| format!("{rate:.4}")),
            format!("{low:.4}–{high:.4}"),
            change,
        ]
    });
    table(&header, &[2, 3, 4], rows.collect::<Vec<_>>())
}

fn list(nights: &[NightRow]) -> String {
    let rows = nights.iter().map(|night| {
        let state = match (night.complete, night.ended) {
            (true, _) => "complete",
            (false, Some(_)) => "stopped, or shards are missing",
            (false, None) => "runs, or was killed",
        };
        vec![night.key.label.clone(), night.seed.to_string(), state.to_owned()]
    });
    table(&["night", "seed", ""], &[], rows.collect::<Vec<_>>())
}
