//! The suite of `tests/*.litmus`, against its table.
//!
//! `BUGAROO_LITMUS_TRIALS` sets the trials of each test.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use bugaroo_litmus::{
    ConditionTarget, KnownOutcomes, Options, OutcomeTable, Strategy, Test, TestJob, TestModel, TestVerdict,
    find, keys, parse, run, shape, table_for,
};

/// Trials of each test where nobody says otherwise.
const TRIALS: u64 = 320;

struct Suite {
    tests: Vec<Test>,
    table: OutcomeTable,
}

impl Suite {
    fn read() -> Suite {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
        let files = find(&folder).expect("the folder of tests");
        let test = |path: &std::path::PathBuf| {
            let text = std::fs::read_to_string(path).expect("a test can be read");
            parse(&text).unwrap_or_else(|error| panic!("{}:{error}", path.display()))
        };
        let table = OutcomeTable::read(&table_for(&files[0]).expect("the table")).expect("it is a table");
        let suite = Suite { tests: files.iter().map(test).collect(), table };
        assert_eq!((suite.tests.len(), suite.table.len()), (582, 582));
        suite
    }

    fn known(&self, test: &Test) -> &KnownOutcomes {
        self.table.get(&test.name).expect("the table has every test")
    }

    /// Runs those tests that are wanted, and compares.
    fn run(&self, options: &Options, wanted: impl Fn(&Test) -> bool) -> Vec<(&Test, TestVerdict)> {
        let tests: Vec<_> = self.tests.iter().filter(|test| wanted(test)).collect();
        let keys: Vec<_> =
            tests.iter().map(|test| keys(test, Some(self.known(test))).expect("the table fits")).collect();
        let jobs: Vec<_> = tests.iter().zip(&keys).map(|(test, keys)| TestJob { test, keys }).collect();
        let seen = run(&jobs, options, &AtomicBool::new(false), &|_, _| {});
        let verdict = |(job, seen): (&TestJob<'_>, &Result<_, bugaroo_litmus::RunError>)| {
            let seen = seen.as_ref().unwrap_or_else(|error| panic!("{}: {error}", job.test.name));
            TestVerdict::new(job.test, job.keys, Some(self.known(job.test)), seen)
        };
        let verdicts: Vec<_> = jobs.iter().zip(&seen).map(verdict).collect();
        tests.into_iter().zip(verdicts).collect()
    }
}

fn trials() -> u64 {
    std::env::var("BUGAROO_LITMUS_TRIALS").ok().and_then(|value| value.parse().ok()).unwrap_or(TRIALS)
}

/// Runs the tests that can be run so, and sees to it that nothing forbidden shows.
fn is_sound<'a>(suite: &'a Suite, options: &Options) -> Vec<(&'a Test, TestVerdict)> {
    let verdicts = suite.run(options, |test| !options.shared || test.ctas() == 1);
    for (test, verdict) in &verdicts {
        assert_eq!(verdict.trials, options.trials, "{}", test.name);
        let forbidden: Vec<_> = verdict.states.iter().filter(|state| state.allowed == Some(false)).collect();
        assert!(forbidden.is_empty(), "{} shows {forbidden:?} under {options:?}", test.name);
    }
    let shown = targets_shown(&verdicts);
    println!("{} tests, {:?}, {:?}: {shown} targets shown", verdicts.len(), options.model, options.strategy);
    verdicts
}

/// How many of the allowed weak targets were seen.
fn targets_shown(verdicts: &[(&Test, TestVerdict)]) -> usize {
    let shown = |verdict: &TestVerdict| {
        verdict.target == Some(ConditionTarget::AllowedWeak) && verdict.first_fulfilled.is_some()
    };
    verdicts.iter().filter(|(_, verdict)| shown(verdict)).count()
}

/// Shapes whose weak outcome is a store that comes late: without any fence they have to show it.
fn has_to_show(test: &Test) -> bool {
    let late = ["SB", "MP", "R", "2+2W"].contains(&shape(&test.name));
    let plain = test.name.contains("+weak+") || test.name.contains("+rlx");
    late && plain && test.name.ends_with("+n-n")
}

#[test]
fn interleavings_show_nothing_weak() {
    let suite = Suite::read();
    for strategy in [Strategy::Random, Strategy::Pct] {
        let options = Options { model: TestModel::Sc, trials: trials(), strategy, ..Options::default() };
        assert_eq!(targets_shown(&is_sound(&suite, &options)), 0);
    }
}

#[test]
fn store_buffers_show_only_what_is_allowed() {
    let suite = Suite::read();
    let both = |model| [(model, Strategy::Random), (model, Strategy::Pct)];
    let forms = [TestModel::StoreBufferHandlers, TestModel::StoreBuffer];
    for (model, strategy) in forms.into_iter().flat_map(both) {
        let options = Options { model, trials: trials(), strategy, ..Options::default() };
        let verdicts = is_sound(&suite, &options);
        let shown = targets_shown(&verdicts);
        assert!(shown >= 100, "{shown} of 391 targets");
        for (test, verdict) in verdicts.iter().filter(|(test, _)| has_to_show(test)) {
            assert!(verdict.weak_seen() > 0, "{} shows no weak outcome", test.name);
        }
    }
}

#[test]
fn store_buffers_in_shared_memory() {
    let suite = Suite::read();
    for model in [TestModel::StoreBufferHandlers, TestModel::StoreBuffer] {
        let options = Options { model, trials: trials(), shared: true, ..Options::default() };
        let verdicts = is_sound(&suite, &options);
        assert!(verdicts.len() > 200, "{}", verdicts.len());
        for (test, verdict) in verdicts.iter().filter(|(test, _)| has_to_show(test)) {
            assert!(verdict.weak_seen() > 0, "{} shows no weak outcome", test.name);
        }
    }
}

/// The machine of the PTX memory model shows nothing forbidden, and most of what is allowed within few trials.
#[test]
fn the_ptx_machine_shows_only_what_is_allowed() {
    let suite = Suite::read();
    for strategy in [Strategy::Random, Strategy::Pct] {
        for shared in [false, true] {
            let options =
                Options { model: TestModel::Ptx, trials: trials(), strategy, shared, ..Options::default() };
            let shown = targets_shown(&is_sound(&suite, &options));
            // Of 391, and of those within one CTA.
            assert!(shown >= if shared { 100 } else { 300 }, "{shown} targets");
        }
    }
}

/// Loads of memory that nobody writes, between all instructions, are left to no model, and let nothing else be seen.
#[test]
fn loads_of_untouched_memory_change_nothing_that_is_allowed() {
    let suite = Suite::read();
    for (model, least) in [(TestModel::StoreBuffer, 100), (TestModel::Ptx, 300)] {
        for strategy in [Strategy::Random, Strategy::Pct] {
            let options =
                Options { model, trials: trials(), strategy, untouched: true, ..Options::default() };
            let shown = targets_shown(&is_sound(&suite, &options));
            assert!(shown >= least, "{model:?}: {shown} targets");
        }
    }
}

/// Where instructions are delayed each time or never, nothing else is shown than by coins for each execution.
#[test]
fn swarms_show_only_what_is_allowed() {
    let suite = Suite::read();
    for model in [TestModel::StoreBuffer, TestModel::Ptx] {
        for strategy in [Strategy::Random, Strategy::Pct] {
            let options = Options { model, trials: trials(), strategy, swarm: true, ..Options::default() };
            let shown = targets_shown(&is_sound(&suite, &options));
            assert!(shown >= if model == TestModel::Ptx { 200 } else { 80 }, "{model:?}: {shown} targets");
        }
    }
}

/// The paper's algorithm shows outcomes that PTX forbids: the tests in the list, by the first of its trials; and nothing on
/// tests that are not there, which are those where it has nothing to go wrong with.
#[test]
fn the_papers_algorithm_shows_what_is_forbidden() {
    let listed: BTreeSet<&str> =
        include_str!("bugaroo_forbidden.txt").lines().filter(|line| !line.starts_with('#')).collect();
    let suite = Suite::read();
    let options = Options { model: TestModel::Bugaroo, trials: TRIALS, ..Options::default() };
    let verdicts = suite.run(&options, |_| true);
    let forbidden = verdicts.iter().filter(|(_, verdict)| verdict.forbidden > 0);
    let seen: BTreeSet<&str> = forbidden.map(|(test, _)| test.name.as_str()).collect();
    // The first trials of the run that made the list, so never more than that showed.
    let unlisted: Vec<_> = seen.difference(&listed).collect();
    assert!(unlisted.is_empty(), "{unlisted:?}");
    assert!(seen.len() * 4 >= listed.len() * 3, "{} of {}", seen.len(), listed.len());
    for shape_of in ["2+2W", "BAR-MP", "BAR-SB", "CoRR", "MP", "R", "S", "WRC"] {
        assert!(seen.iter().any(|name| shape(name) == shape_of), "{shape_of}");
    }
}

/// What is seen depends on neither the number of workers nor on which tests run beside.
#[test]
fn workers_do_not_matter() {
    let suite = Suite::read();
    let few = |test: &Test| test.name.ends_with("+weak+n-n") || test.name.ends_with("+weak+ag-n");
    let run = |jobs, strategy, some: &dyn Fn(&Test) -> bool| {
        let options = Options { jobs, strategy, trials: 3000, ..Options::default() };
        suite.run(&options, some)
    };
    for strategy in [Strategy::Random, Strategy::Pct] {
        let alone = run(1, strategy, &few);
        assert!(alone.len() > 10);
        assert_eq!(alone, run(3, strategy, &few));
        let one = alone[0].0.name.clone();
        assert_eq!(alone[..1], run(2, strategy, &|test| test.name == one));
    }
}
