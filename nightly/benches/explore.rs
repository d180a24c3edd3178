//! Trials until the first failure: by exploration, and by the even grid over the same arms. `cargo bench -p bugaroo-nightly --bench explore`
//! (`cargo build --release --workspace` before).
//!
//! For each program and each of some seeds, both run until a trial fails, the grid arm after arm, each trial with a seed of its own in
//! both. Printed are the medians over the seeds, and their ratio; `>` where the median search found nothing within the limit.
//!
//! Exploration was not shaped after the five programs that come behind the ten ("further"), nor after the three behind these ("last"): each
//! of these sets has a median of its own.
//!
//! `--table N` measures no search: it tells how often trials of each way fail, by arm, N trials each, once 64 trials have shown where threads
//! meet. What is held back is each of these places in turn.
//!
//! Options, behind `--`: `--rate N` trials for the rate under the default settings (10000), `--seeds N` (20), `--from N`, the first of them (1), `--most N` trials of a search (20000), `--only NAME`, `--fixed` (the programs without their
//! bugs, where nothing must be found), `--program PATH ARGUMENT…` (another program; stands last).

use std::error::Error;
use std::path::PathBuf;

use bugaroo_harness::progress::Silent;
use bugaroo_harness::{DriverLibrary, Interrupt, Session, Settings, Target, Variation};
use bugaroo_nightly::explore::{Choice, Explorer, ROUND, TrialShown, Way, arms};
use bugaroo_nightly::plan::cells::PlanGrid;
use bugaroo_protocol::Backend;

/// The programs of `apps/rare_bugs`.
const BUGS: [&str; 10] = [
    "two_hops",
    "lost_update",
    "aba",
    "lost_wakeup",
    "double_checked",
    "ticket_wrap",
    "seqlock",
    "ring",
    "missing_acquire",
    "trailer",
];

/// Those that were written afterwards.
const FURTHER: [&str; 5] = ["late_look", "hazard", "marks", "both_in", "two_copies"];

/// Those that were written last.
const LAST: [&str; 3] = ["steal", "early_ack", "two_counts"];

struct Options {
    /// Trials that the rate under the default settings is measured by.
    rate: u64,
    seeds: u64,
    from: u64,
    most: u64,
    only: Option<String>,
    table: Option<u64>,
    fixed: bool,
    program: Option<(String, Vec<String>)>,
}

fn options() -> Result<Options, Box<dyn Error>> {
    let mut options = Options {
        rate: 10_000,
        seeds: 20,
        from: 1,
        most: 20_000,
        only: None,
        table: None,
        fixed: false,
        program: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--rate" => options.rate = value()?.parse()?,
            "--seeds" => options.seeds = value()?.parse()?,
            "--from" => options.from = value()?.parse()?,
            "--most" => options.most = value()?.parse()?,
            "--only" => options.only = Some(value()?),
            "--table" => options.table = Some(value()?.parse()?),
            "--fixed" => options.fixed = true,
            "--program" => options.program = Some((value()?, words.by_ref().collect())),
            // Cargo says it to every bench.
            "--bench" => {}
            other => return Err(format!("{other} is no option").into()),
        }
    }
    Ok(options)
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = options()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(compare(&options))
}

async fn compare(options: &Options) -> Result<(), Box<dyn Error>> {
    let mut programs: Vec<(String, PathBuf, Vec<String>)> = Vec::new();
    if let Some((path, arguments)) = &options.program {
        programs.push((arguments.join(" "), path.into(), arguments.clone()));
    } else {
        let app = std::env::current_exe()?.with_file_name("../rare_bugs");
        let wanted = |bug: &&str| options.only.as_ref().is_none_or(|only| only == bug);
        for bug in BUGS.into_iter().chain(FURTHER).chain(LAST).filter(wanted) {
            let mut arguments = vec!["--bug".to_owned(), bug.to_owned()];
            arguments.extend(options.fixed.then(|| "--fixed".to_owned()));
            programs.push((bug.to_owned(), app.clone(), arguments));
        }
    }
    let library = DriverLibrary::find(None)?;
    if options.table.is_none() {
        println!("{:18} {:>9} {:>9} {:>9} {:>6}", "program", "default", "grid", "explored", "ratio");
    }
    let mut ratios = [const { Vec::new() }; 3];
    for (name, path, arguments) in programs {
        let target = Target::resolve(&path.display().to_string(), arguments)?;
        let settings = |seed| Settings { seed, backend: Backend::Sim, ..Settings::default() };
        let first =
            Session::start(target.clone(), settings(0), library.clone(), Interrupt::never(), &Silent).await?;
        if let Some(trials) = options.table {
            table(&first, &name, trials).await?;
            continue;
        }
        let default = rate(&first, options.rate).await?;
        let (mut grid, mut explored) = (Vec::new(), Vec::new());
        for seed in options.from..options.from + options.seeds {
            let baseline = first.baseline().clone();
            let session = Session::resume(
                target.clone(),
                settings(seed),
                library.clone(),
                Interrupt::never(),
                baseline,
            );
            if !options.fixed {
                grid.push(by_grid(&session, options.most).await?);
            }
            explored.push(by_exploration(&session, seed, options.most).await?);
        }
        if options.fixed {
            let found = explored.iter().flatten().count();
            println!(
                "{name:18} {default:>9} {found} of {} explorations of {} trials fail",
                options.seeds, options.most
            );
            continue;
        }
        let [grid, explored] = [grid, explored].map(|found| median(found, options.most));
        println!(
            "{name:18} {default:>9} {:>9} {:>9} {:>6.2}",
            shown(grid),
            shown(explored),
            explored.0 / grid.0
        );
        let set = if LAST.contains(&&*name) { 2 } else { usize::from(FURTHER.contains(&&*name)) };
        ratios[set].push(explored.0 / grid.0);
    }
    for (what, mut ratios) in
        ["the programs", "the further programs", "the last programs"].into_iter().zip(ratios)
    {
        ratios.sort_by(f64::total_cmp);
        if let (Some(low), Some(high)) =
            (ratios.get((ratios.len().max(1) - 1) / 2), ratios.get(ratios.len() / 2))
        {
            println!("median ratio of {what}: {:.2}", f64::midpoint(*low, *high));
        }
    }
    Ok(())
}

/// Failures of trials under the default settings.
async fn rate(session: &Session, trials: u64) -> Result<String, Box<dyn Error>> {
    let stop = bugaroo_harness::Stop::Never;
    let records = session.trials(&Variation::default(), 0..trials, stop, &Silent).await?;
    let failures = records.iter().filter(|record| record.outcome.is_failure()).count();
    Ok(format!("{failures}/{trials}"))
}

/// How often trials of each way fail, by arm.
async fn table(session: &Session, name: &str, trials: u64) -> Result<(), Box<dyn Error>> {
    let all = arms::all(&PlanGrid::to_explore(), &Variation::default());
    let mut explorer = Explorer::new(all, 0, None);
    explore_until(session, &mut explorer, 64).await?;
    let places: Vec<u32> = explorer.known().holds.keys().copied().collect();
    let mut at = 1 << 20;
    for arm in 0..explorer.arms().len() {
        for (what, way) in [("free", Some(Way::Free)), ("switched", Some(Way::Switched)), ("held", None)] {
            for swarm in [false, true] {
                let place = |at: u64| places.get((at % places.len().max(1) as u64) as usize).copied();
                let next = (at..at + trials).map(|at| {
                    let way = way.or_else(|| place(at).map(Way::Held)).unwrap_or_default();
                    (explorer.variation(Choice { arm, way, swarm }), at)
                });
                let ended = session.each(next, &Silent).await?;
                at += trials;
                let failed = ended.iter().filter(|full| full.record.outcome.is_failure()).count();
                println!("{name}\t{what}\t{swarm}\t{}\t{failed}\t{trials}", explorer.arms()[arm].key);
            }
        }
    }
    Ok(())
}

/// Trials until the first failure; None: there is none among so many.
async fn by_grid(session: &Session, most: u64) -> Result<Option<u64>, Box<dyn Error>> {
    let arms = arms::all(&PlanGrid::to_explore(), &Variation::default());
    let mut place = 0;
    while place < most {
        let next = (place..place + ROUND as u64).map(|at| {
            let variation = arms[(at % arms.len() as u64) as usize].variation.clone();
            (variation, at)
        });
        for (full, at) in session.each(next, &Silent).await?.iter().zip(place..) {
            if full.record.outcome.is_failure() {
                return Ok(Some(at + 1));
            }
        }
        place += ROUND as u64;
    }
    Ok(None)
}

/// The same.
async fn by_exploration(session: &Session, seed: u64, most: u64) -> Result<Option<u64>, Box<dyn Error>> {
    let mut explorer = Explorer::new(arms::all(&PlanGrid::to_explore(), &Variation::default()), seed, None);
    while explorer.known().first_failure.is_none() && explorer.known().trials < most {
        let trials = explorer.known().trials;
        explore_until(session, &mut explorer, trials + 1).await?;
    }
    Ok(explorer.known().first_failure.as_ref().map(|first| first.after))
}

/// Explores, whole rounds, until there have been so many trials.
async fn explore_until(
    session: &Session,
    explorer: &mut Explorer,
    trials: u64,
) -> Result<(), Box<dyn Error>> {
    while explorer.known().trials < trials {
        let choices = explorer.choose(explorer.round());
        let first = explorer.known().trials;
        let next: Vec<_> = choices.iter().map(|choice| explorer.variation(*choice)).zip(first..).collect();
        for (full, choice) in session.each(next, &Silent).await?.iter().zip(choices) {
            let things: Vec<u32> = full.coverage.iter().copied().collect();
            let meetings: Vec<u32> = full.meetings.iter().copied().collect();
            let failed = full.record.outcome.is_failure();
            let (trial, more) = (full.record.trial, full.more_coverage);
            explorer.take(choice, &TrialShown { trial, failed, things: &things, meetings: &meetings, more });
        }
    }
    Ok(())
}

/// The median, and whether it is one: searches that found nothing count as longer than all others.
fn median(found: Vec<Option<u64>>, most: u64) -> (f64, bool) {
    let mut all: Vec<u64> = found.iter().map(|found| found.unwrap_or(u64::MAX)).collect();
    all.sort_unstable();
    let half = all.len() / 2;
    let middle = if all.len() % 2 == 1 { [all[half]; 2] } else { [all[half - 1], all[half]] };
    let known = middle.iter().all(|count| *count != u64::MAX);
    let value = |count: u64| count.min(most) as f64;
    (f64::midpoint(value(middle[0]), value(middle[1])), known)
}

fn shown((median, known): (f64, bool)) -> String {
    format!("{}{median:.0}", if known { "" } else { ">" })
}
