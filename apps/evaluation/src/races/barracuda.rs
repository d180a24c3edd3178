//! BARRACUDA's suite of small programs (section 6.1) and its Table 1, with the shares of Figure 9; ours beside the paper's.

use std::collections::BTreeMap;

use race_suite::judge::differences;
use race_suite::label::LabelVerdict;
use race_suite::report::Reported;

use crate::catalog::PROGRAMS as APPS;
use crate::markdown::{NOTHING, Table, or_nothing, percent, thousands};
use crate::races::asked::{AppAsked, Asked, Code, Told};
use crate::races::causes::{self, Odd};
use crate::races::papers::{self, BENCHMARKS};
use crate::races::questions::{PROGRAMS, Paper, Question};
use crate::races::shown::{self, share};
use crate::results::Evaluation;
use crate::statistics::median;
use crate::tables::title;

/// What a race is, in words.
pub fn kind(race: &Reported) -> String {
    format!("{} {}", race.kind.name(), race.class.name())
}

/// How a program was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Right,
    /// Not as its label demands, which is known.
    KnownGap,
    Wrong,
}

/// A program that BARRACUDA is judged by.
struct Judged<'a> {
    question: &'a Question,
    racy: bool,
    answer: Answer,
    /// What differs from its label.
    wrong: Vec<String>,
}

fn judged<'a>(answered: &'a [(Question, &'a Asked)]) -> Vec<Judged<'a>> {
    let judge = |(question, asked): &'a (Question, &'a Asked)| {
        let label = &question.program.label;
        let verdict = label.verdict("barracuda");
        if *verdict == LabelVerdict::Any || asked.unbuilt.is_some() {
            return None;
        }
        let wrong = match asked.said(&[], "barracuda") {
            None => vec!["not asked".to_owned()],
            Some(said) => match &said.refused {
                Some(why) => vec![format!("no answer: {why}")],
                None => differences(verdict, &said.races),
            },
        };
        let gap = label.gap.as_deref() == Some("barracuda");
        let answer = match (wrong.is_empty(), gap) {
            (true, _) => Answer::Right,
            (false, true) => Answer::KnownGap,
            (false, false) => Answer::Wrong,
        };
        Some(Judged { question, racy: matches!(verdict, LabelVerdict::Races { .. }), answer, wrong })
    };
    answered.iter().filter_map(judge).collect()
}

/// The text of the suite, and of Table 1.
pub fn section(results: &Evaluation) -> [String; 2] {
    let suite = match shown::answered(results, PROGRAMS) {
        Ok(answered) if answered.is_empty() => shown::NOT_ASKED.to_owned(),
        Ok(answered) => suite(&answered),
        Err(why) => format!("{why:#}\n\n"),
    };
    let apps = match results.apps.is_empty() {
        true => shown::NOT_ASKED.to_owned(),
        false => table_1(results) + TABLE_1 + &causes::told(&odd_apps(results)),
    };
    [suite, apps]
}

fn suite(answered: &[(Question, &Asked)]) -> String {
    let judged = judged(answered);
    let mut table = Table::new(
        &["suite"],
        &["programs", "right", "with races, right", "without, right", "known gaps", "wrong"],
    );
    let count = |is: &dyn Fn(&Judged<'_>) -> bool| judged.iter().filter(|one| is(one)).count() as u64;
    let of = |racy: bool| {
        let right = count(&|one| one.racy == racy && one.answer == Answer::Right);
        format!("{} of {}", thousands(right), thousands(count(&|one| one.racy == racy)))
    };
    table.row([
        "ours: BARRACUDA".to_owned(),
        thousands(judged.len() as u64),
        thousands(count(&|one| one.answer == Answer::Right)),
        of(true),
        of(false),
        thousands(count(&|one| one.answer == Answer::KnownGap)),
        thousands(count(&|one| one.answer == Answer::Wrong)),
    ]);
    for (name, right) in
        [("the paper's BARRACUDA", papers::SUITE), ("the paper's CUDA-racecheck", papers::SUITE_RACECHECK)]
    {
        let wrong = papers::SUITE - right;
        let [unknown, also, gaps] = [NOTHING; 3].map(str::to_owned);
        table.row([
            name.to_owned(),
            thousands(papers::SUITE),
            thousands(right),
            unknown,
            also,
            gaps,
            thousands(wrong),
        ]);
    }
    let mut text = table.render() + SUITE + &kinds(answered) + KINDS + &shares(answered);
    text += &causes::told(&odd_suite(answered));
    text
}

const SUITE: &str = "A program is answered rightly where all races that its label demands are reported, at their lines and with their kinds, and none \
    elsewhere. The paper's programs are not published; ours are those of `apps/race_suite/programs` by the same description, and by what CUDA \
    has got since (asynchronous copies, clusters, several streams), as far as BARRACUDA's rules say anything of it. A known gap is a race that the \
    label demands and that our BARRACUDA does not see yet.\n\n";

/// Races by kind and memory.
fn kinds(answered: &[(Question, &Asked)]) -> String {
    let mut kinds: BTreeMap<String, ([u64; 2], u64)> = BTreeMap::new();
    for (_, asked) in answered {
        let races = asked.said(&[], "barracuda").map_or(&[][..], |said| &said.races);
        let mut here: BTreeMap<String, [u64; 2]> = BTreeMap::new();
        for race in races {
            here.entry(kind(race)).or_default()[usize::from(race.shared)] += 1;
        }
        for (kind, [global, shared]) in here {
            let (sums, programs) = kinds.entry(kind).or_default();
            *sums = [sums[0] + global, sums[1] + shared];
            *programs += 1;
        }
    }
    let mut table = Table::new(&["kind"], &["programs", "races in global memory", "in shared memory"]);
    for (kind, ([global, shared], programs)) in kinds {
        table.row([kind, thousands(programs), thousands(global), thousands(shared)]);
    }
    table.render()
}

const KINDS: &str = "Different races that our BARRACUDA reports about these programs: pairs of instructions. The paper's are of the benchmarks \
    of Table 1 alone.\n\n";

/// How much of the programs is told.
fn shares(answered: &[(Question, &Asked)]) -> String {
    let codes: Vec<&Code> = answered.iter().filter_map(|(_, asked)| asked.code.as_ref()).collect();
    let told: Vec<(u64, Told)> =
        codes.iter().filter_map(|code| Some((code.instructions, code.told.clone().ok()?))).collect();
    let of = |which: fn(&Told) -> u64| -> Vec<f64> {
        told.iter().filter_map(|(instructions, told)| share(which(told), *instructions)).collect()
    };
    let [all, pruned] = [of(|told| told.all), of(|told| told.pruned)];
    let Some(((middle, less), most)) =
        median(&all).zip(median(&pruned)).zip(all.iter().copied().reduce(f64::max))
    else {
        return String::new();
    };
    format!(
        "Of the static PTX instructions of these programs BARRACUDA's logging tells {} in the median and at most {}, with its pruning {} \
         in the median; {} of {} programs have something that the log does not know. By the paper's Figure 9 it is less than {} of each \
         benchmark.\n\n",
        percent(middle),
        percent(most),
        percent(less),
        codes.len() - told.len(),
        codes.len(),
        percent(papers::INSTRUMENTED_BELOW),
    )
}

/// Table 1 with Figure 9: our programs, and behind each the paper's that does the same; then the paper's others.
fn table_1(results: &Evaluation) -> String {
    let numbers = [
        "static PTX instructions",
        "told",
        "told, pruned",
        "threads",
        "global memory, MB",
        "races: global",
        "shared",
        "detector's memory, MB",
    ];
    let mut table = Table::new(&["benchmark", "kinds"], &numbers);
    let unknown = || NOTHING.to_owned();
    for app in &APPS {
        for variant in app.variants {
            let Some(asked) = results.app(app.name, variant.name) else { continue };
            let share = |which: fn(&Told) -> u64| {
                let told = asked.code.told.as_ref().ok();
                or_nothing(told.and_then(|told| share(which(told), asked.code.instructions)), percent)
            };
            table.row([
                format!("ours: {}", title(app.name, variant.name)),
                if asked.kinds.is_empty() { unknown() } else { asked.kinds.join(", ") },
                thousands(asked.code.instructions),
                share(|told| told.all),
                share(|told| told.pruned),
                thousands(asked.launch.0 * asked.launch.1),
                unknown(),
                thousands(asked.races.0),
                thousands(asked.races.1),
                format!("{:.1}", asked.detector_bytes as f64 / 1e6),
            ]);
        }
        for row in BENCHMARKS.iter().filter(|row| row.ours == Some(app.name)) {
            table.row(papers_row(row));
        }
    }
    for row in BENCHMARKS.iter().filter(|row| row.ours.is_none()) {
        table.row(papers_row(row));
    }
    table.render()
}

fn papers_row(row: &papers::Benchmark) -> Vec<String> {
    let unknown = || NOTHING.to_owned();
    vec![
        format!("paper: {}", row.name),
        unknown(),
        thousands(row.instructions),
        unknown(),
        unknown(),
        thousands(row.threads),
        thousands(row.megabytes),
        thousands(row.global),
        thousands(row.shared),
        unknown(),
    ]
}

const TABLE_1: &str = "Ours are the programs of the Bugaroo paper, in all their variants (streamcluster with `--size 128 --gains 60`); of the \
    paper's benchmarks four do the same and stand behind them, the others have no counterpart here. Static instructions are those of the kernels that a \
    variant launches, the paper's those of the whole program. *Told* is the share of them that BARRACUDA's logging tells, before and \
    after pruning: Figure 9, which has no numbers but \"never more than half\". Threads are those of the largest launch. Global memory cannot be had: the virtual GPU's \
    driver reports launches, and no allocations; what the detector itself takes on the host stands in the last column. An empty place in \
    the paper's column of races is a 0 here. The paper has no second table: what is measured besides is in its Figures 9 and 10; the \
    overheads of Figure 10 are `cargo bench -p bugaroo-driver --bench race`.\n\n";

/// What is wrong in the suite: the paper answers all of its own rightly.
fn odd_suite(answered: &[(Question, &Asked)]) -> Vec<Odd> {
    let mut odd = shown::unbuilt(Paper::Barracuda, answered);
    for one in judged(answered).iter().filter(|one| one.answer == Answer::Wrong) {
        let name = &one.question.program.name;
        odd.push(Odd::new(Paper::Barracuda, name, format!("BARRACUDA on {name}: {}", one.wrong.join(", "))));
    }
    odd
}

/// Where one finds races in a benchmark, in global or in shared memory, and the other does not.
fn odd_apps(results: &Evaluation) -> Vec<Odd> {
    let mut odd = Vec::new();
    for row in &BENCHMARKS {
        let first = row.ours.and_then(|name| APPS.iter().find(|app| app.name == name));
        let asked = first.and_then(|app| results.app(app.name, app.variants.first()?.name));
        let Some(AppAsked { program, races: (global, shared), .. }) = asked else { continue };
        for (memory, ours, papers) in [("global", *global, row.global), ("shared", *shared, row.shared)] {
            if (ours > 0) != (papers > 0) {
                let what = format!("{}: {papers} races in {memory} memory; our {program}: {ours}", row.name);
                odd.push(Odd::new(Paper::Barracuda, program, what));
            }
        }
    }
    odd
}

/// What has no known cause.
pub fn alarms(results: &Evaluation) -> Vec<String> {
    let answered = shown::answered(results, PROGRAMS).unwrap_or_default();
    causes::unexplained(&[odd_suite(&answered), odd_apps(results)].concat())
}

#[cfg(test)]
mod tests;
