//! Explorations of real programs: `apps/rare_bugs`, with their bugs and without.

use std::fs;
use std::path::PathBuf;

use bugaroo_harness::progress::Silent;
use bugaroo_harness::replay::Replay;
use bugaroo_harness::{DriverLibrary, FullTrial, Interrupt, RunDir, Session, Settings, Target, Variation};
use bugaroo_nightly::begin::{Wanted, begin};
use bugaroo_nightly::explore::{Choice, Explorer, ExplorerKnown, TrialShown, arms};
use bugaroo_nightly::night::Night;
use bugaroo_nightly::plan::cells::PlanGrid;
use bugaroo_nightly::plan::{CellKind, Plan};
use bugaroo_nightly::runs;
use bugaroo_nightly::work::{Job, Tell, run};

/// What `cargo build --release --workspace` has left.
fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test has a file");
    let folder = test.parent().and_then(|deps| deps.parent()).expect("it lies in deps");
    let path = folder.join(name);
    assert!(path.is_file(), "{} is not there: cargo build --release --workspace", path.display());
    path
}

fn library() -> DriverLibrary {
    DriverLibrary::at(&built("libcuda.so")).expect("the driver")
}

async fn session(arguments: &[&str], jobs: usize) -> Session {
    let app = built("rare_bugs").display().to_string();
    let target = Target::resolve(&app, arguments.iter().map(|word| (*word).to_owned()).collect())
        .expect("it is there");
    let settings = Settings { seed: 5, jobs: Some(jobs), ..Settings::default() };
    Session::start(target, settings, library(), Interrupt::never(), &Silent).await.expect("it passes")
}

/// Explores for so many trials: what is known then, and all trials with their choices.
async fn explore(session: &Session, seed: u64, trials: u64) -> (ExplorerKnown, Vec<(Choice, FullTrial)>) {
    let mut explorer = Explorer::new(arms::all(&PlanGrid::to_explore(), &Variation::default()), seed, None);
    let mut all = Vec::new();
    while explorer.known().trials < trials {
        let choices = explorer.choose(explorer.round());
        let next: Vec<_> =
            choices.iter().map(|choice| explorer.variation(*choice)).zip(explorer.known().trials..).collect();
        let ended = session.each(next, &Silent).await.expect("they run");
        for (full, choice) in ended.into_iter().zip(choices) {
            let things: Vec<u32> = full.coverage.iter().copied().collect();
            let meetings: Vec<u32> = full.meetings.iter().copied().collect();
            let (trial, failed) = (full.record.trial, full.record.outcome.is_failure());
            explorer
                .take(choice, &TrialShown { trial, failed, things: &things, meetings: &meetings, more: 0 });
            all.push((choice, full));
        }
    }
    (explorer.known().clone(), all)
}

#[tokio::test]
async fn the_same_seed_explores_the_same_whatever_runs_side_by_side() {
    let (one, four) = (session(&["--bug", "seqlock"], 1).await, session(&["--bug", "seqlock"], 4).await);
    let (known, trials) = explore(&one, 3, 120).await;
    let (again, others) = explore(&four, 3, 120).await;
    assert_eq!(known, again);
    for ((choice, full), (other_choice, other)) in trials.iter().zip(&others) {
        assert_eq!((choice, full.record.seed), (other_choice, other.record.seed));
        assert!(full.record.agrees_with(&other.record));
    }
    let (different, _) = explore(&one, 4, 120).await;
    assert_ne!(known, different);
    assert!(!known.holds.is_empty() && known.holds.values().any(|score| score.trials > 0));
    assert!(known.switched.trials > 0 && known.swarm.trials > 0);
}

#[tokio::test]
async fn programs_that_are_right_never_fail() {
    for bug in [
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
        "late_look",
        "hazard",
        "marks",
        "both_in",
        "two_copies",
        "steal",
        "early_ack",
        "two_counts",
    ] {
        let session = session(&["--bug", bug, "--fixed"], 2).await;
        let (_, trials) = explore(&session, 1, 160).await;
        let failed = trials.iter().find(|(_, full)| full.record.outcome.is_failure());
        assert!(failed.is_none(), "{bug}: {failed:?}");
    }
}

struct Nobody;

impl Tell for Nobody {
    fn line(&self, _: &str) {}
    fn trials(&self, _: u64, _: Option<u64>) {}
}

/// Runs a night of this plan to its end.
async fn night(plan: &Plan, label: &str) -> Night {
    let wanted = Wanted { label: Some(label.to_owned()), ..Wanted::default() };
    let begun = begin(plan, &wanted).await.expect("it begins");
    let job = Job {
        plan,
        key: begun.key.clone(),
        seed: begun.seed,
        shard: begun.shard,
        jobs: Some(2),
        store: &begun.store,
        began: begun.began,
        progress: None,
    };
    let done = run(&job, library(), Interrupt::never(), &Nobody).await.expect("it runs");
    assert!(done.complete);
    runs::write(&begun.store, &begun.key, plan).await.expect("directories");
    begun.store.night(&begun.key, &plan.reports).await.expect("it is there").expect("it is there")
}

#[tokio::test]
async fn a_night_explores_and_its_failing_trials_replay() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plan.toml");
    let app = built("rare_bugs").display().to_string();
    let text = format!(
        "[night]\nseed = 2\nsearch = false\n[[program]]\nrun = [{app:?}, \"--bug\", \"seqlock\"]\n\
         models = []\ndetectors = []\nexplore = true\ntrials = 400\n[explore]\npw = [0.5, 0.75]\n"
    );
    fs::write(&path, text).expect("it can be written");
    let plan = Plan::read(&path).expect("a plan");
    let night_one = night(&plan, "one").await;
    let [program] = &night_one.programs[..] else { panic!("{night_one:?}") };
    assert_eq!(program.error, None);
    let [cell] = &program.cells[..] else { panic!("{:?}", program.cells) };
    assert_eq!((cell.kind, cell.trials), (CellKind::Explore, 400));
    assert!(cell.failures > 0, "{cell:?}");
    let explored = program.explored.as_ref().expect("it explored");
    assert_eq!((explored.trials, explored.arms.len()), (400, 24));
    assert_eq!(explored.arms.iter().map(|arm| arm.failures).sum::<u64>(), cell.failures);
    let first = explored.first_failure.as_ref().expect("it failed");
    assert_eq!(Some(first.trial), cell.first_failing_trial);
    // The line of a replay says directory and trial.
    let directory = runs::of_cell(&plan.reports, "one", &program.name, &cell.key);
    let (_directory, recorded) = RunDir::open(&directory).expect("it is there");
    let recorded = recorded.expect("it has trials");
    let replay = Replay::new(&directory, recorded, 0, first.trial).expect("the trial is kept");
    let record = replay.record().clone();
    assert_eq!(replay.variation(), *record.variation.clone().expect("it chose its own"));
    let again = replay.run(library(), Interrupt::never()).await.expect("it runs");
    assert!(again.record.agrees_with(&record), "{again:?}\n{record:?}");
    // Another night of the same seed does the same.
    let again = night(&plan, "two").await;
    assert_eq!(again.programs[0].explored, program.explored);
}
