//! Asks detectors about programs: those of the suites, several at a time, each saved as it is done; and those of `apps/`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use bugaroo_harness::Interrupt;
use race_suite::report::{Reported, races};
use race_suite::tools;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::catalog::Program;
use crate::races::asked::{AppAsked, Asked, Run, Said};
use crate::races::ptx;
use crate::races::questions::{PROGRAMS, Question, SCORD_CACHE, detector};
use crate::results::Evaluation;
use crate::tools::{Interrupted, Tools};

/// One entry for 16 words, as in the paper.
const SCORD_WITH_CACHE: &str = "[scord]\ncache = 4\n";

/// Executions of a program of `apps/`; fewer in the short form.
fn app_trials(short: bool) -> u64 {
    if short { 2 } else { 8 }
}

/// Drops answers about programs that are others today, and asks what is missing.
///
/// # Errors
/// When answers cannot be saved, or the user wants to stop. What was answered is saved.
pub async fn suite(
    questions: Vec<Question>,
    tools: tools::RaceTools,
    mut interrupt: Interrupt,
    results: &mut Evaluation,
    out: &Path,
) -> anyhow::Result<()> {
    let of = |asked: &Asked| {
        let is =
            |question: &&Question| question.suite == asked.suite && question.program.name == asked.program;
        questions.iter().find(is)
    };
    let is_answered = |asked: &Asked, question: &Question| {
        let by_all = |run: &Run| question.detectors.iter().all(|name| run.said.contains_key(*name));
        question.digest == asked.digest && asked.runs.iter().all(by_all)
    };
    results.races.retain(|asked| of(asked).is_none_or(|question| is_answered(asked, question)));
    let mut questions = questions;
    questions.retain(|question| results.asked(question.suite, &question.program.name).is_none());
    let count = questions.len();
    let (sender, mut answers) = mpsc::unbounded_channel();
    let stop = Arc::new(AtomicBool::new(false));
    let mut cache = tempfile::NamedTempFile::new().context("the settings of ScoRD's cache")?;
    cache.write_all(SCORD_WITH_CACHE.as_bytes()).context("the settings of ScoRD's cache")?;
    let cached = tools::RaceTools { settings: Some(cache.path().to_owned()), ..tools.clone() };
    let workers = Workers { questions, next: AtomicUsize::new(0), stop: stop.clone(), tools, cached };
    let workers = Arc::new(workers);
    let threads: Vec<_> = (0..results.processors)
        .map(|_| {
            let (workers, sender) = (workers.clone(), sender.clone());
            thread::spawn(move || workers.work(&sender))
        })
        .collect();
    drop(sender);
    let mut done = 0;
    let ended = loop {
        let asked = tokio::select! {
            biased;
            () = interrupt.wait() => break Err(Interrupted.into()),
            asked = answers.recv() => asked,
        };
        let Some(asked) = asked else { break Ok(()) };
        if asked.is_incomplete() {
            // What ended a child may be the same Ctrl-C, of which we are to hear in a moment.
            tokio::time::sleep(Duration::from_millis(100)).await;
            if interrupt.is_set() {
                break Err(Interrupted.into());
            }
        }
        done += 1;
        eprintln!("[{done}/{count}] {} {}: {}", asked.suite, asked.program, asked.told());
        results.races.push(asked);
        if let Err(error) = results.save(out) {
            break Err(error);
        }
    };
    stop.store(true, Ordering::Relaxed);
    for thread in threads {
        if thread.join().is_err() {
            bail!("a thread that asks detectors has panicked");
        }
    }
    results.races.sort_by(|one, other| (&one.suite, &one.program).cmp(&(&other.suite, &other.program)));
    results.save(out)?;
    ended
}

/// What the threads that ask share.
struct Workers {
    questions: Vec<Question>,
    next: AtomicUsize,
    stop: Arc<AtomicBool>,
    tools: tools::RaceTools,
    /// With settings for ScoRD's cache.
    cached: tools::RaceTools,
}

impl Workers {
    fn work(&self, sender: &mpsc::UnboundedSender<Asked>) {
        while let Some(question) = self.questions.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let Some(asked) = self.ask(question) else { return };
            if sender.send(asked).is_err() {
                return;
            }
        }
    }

    /// None: it was stopped.
    fn ask(&self, question: &Question) -> Option<Asked> {
        let program = &question.program;
        let mut asked = Asked {
            suite: question.suite.to_owned(),
            program: program.name.clone(),
            digest: question.digest.clone(),
            unbuilt: None,
            code: None,
            runs: Vec::new(),
        };
        let built = match self.tools.build(program) {
            Ok(built) => built,
            Err(why) => {
                asked.unbuilt = Some(format!("{why:#}"));
                return self.unless_stopped(asked);
            }
        };
        if question.suite == PROGRAMS {
            asked.code = built.ptx(program).and_then(|source| ptx::count(&source, &[])).ok();
        }
        for own in &question.runs {
            let mut said = BTreeMap::new();
            for name in question.detectors {
                self.unless_stopped(())?;
                let tools = if *name == SCORD_CACHE { &self.cached } else { &self.tools };
                let answer = tools.race(program, &built, own, (detector(name), question.trials));
                said.insert((*name).to_owned(), Said::of(answer));
            }
            asked.runs.push(Run { arguments: own.clone(), said });
        }
        self.unless_stopped(asked)
    }

    fn unless_stopped<T>(&self, value: T) -> Option<T> {
        (!self.stop.load(Ordering::Relaxed)).then_some(value)
    }
}

impl Said {
    fn of(answer: anyhow::Result<(Vec<Reported>, Value)>) -> Said {
        let read = answer.and_then(|(races, report)| {
            let facts = Facts::deserialize(&report)?;
            if facts.interrupted {
                bail!("it was interrupted");
            }
            let Facts { trials, exits, detector_bytes, .. } = facts;
            Ok(Said { refused: None, trials, races, exits, detector_bytes })
        });
        read.unwrap_or_else(|why| Said { refused: Some(format!("{why:#}")), ..Said::default() })
    }
}

/// What is read of `bugaroo race --format json` besides the races.
#[derive(Debug, Deserialize)]
struct Facts {
    trials: u64,
    exits: BTreeMap<String, u64>,
    detector_bytes: u64,
    interrupted: bool,
}

/// Asks BARRACUDA about a program of `apps/`, in all its variants.
///
/// # Errors
/// As [`suite`]; and when the program cannot be looked at.
pub async fn app(
    program: &'static Program,
    tools: &Tools,
    results: &mut Evaluation,
    out: &Path,
) -> anyhow::Result<()> {
    for variant in program.variants {
        if results.app(program.name, variant.name).is_some() {
            continue;
        }
        let of_trial = |command: &str, trials: u64| {
            let mut arguments = [command, "--format", "json", "--trials"].map(str::to_owned).to_vec();
            arguments.extend([trials.to_string(), "--seed".into(), results.settings.seed.to_string()]);
            arguments
        };
        let own = || {
            let mut own = vec![tools.program(program.name)];
            own.extend(program.args(variant.name, SMALL));
            own
        };
        let launched: Launched = tools.bugaroo(&[of_trial("profile", 0), own()].concat()).await?;
        let kernels: Vec<String> = launched.kernels.into_iter().map(|kernel| kernel.name).collect();
        let source = source_of(program.name)?;
        let code = ptx::count(&source, &kernels).with_context(|| format!("the PTX of {}", program.name))?;
        let mut arguments = of_trial("race", app_trials(results.settings.short));
        arguments.extend(["--detector", "barracuda", "--error-exitcode", "0"].map(str::to_owned));
        let report: Value = tools.bugaroo(&[arguments, own()].concat()).await?;
        let facts = Facts::deserialize(&report).context("what bugaroo race printed")?;
        if facts.interrupted {
            bail!("bugaroo race of {} was interrupted", program.name);
        }
        let found = races(&report, "kernel.cu").with_context(|| format!("races of {}", program.name))?;
        let shared = found.iter().filter(|race| race.shared).count() as u64;
        let kinds: BTreeSet<String> = found.iter().map(crate::races::barracuda::kind).collect();
        let asked = AppAsked {
            program: program.name.to_owned(),
            variant: variant.name.to_owned(),
            code,
            launch: program.launch(SMALL),
            races: (found.len() as u64 - shared, shared),
            kinds: kinds.into_iter().collect(),
            detector_bytes: facts.detector_bytes,
        };
        eprintln!("{} {}: {} races by barracuda", program.name, variant.name, found.len());
        results.apps.push(asked);
        results.save(out)?;
    }
    Ok(())
}

/// streamcluster's small size in both forms: races need no large one.
const SMALL: bool = true;

/// What is read of `bugaroo profile --format json`.
#[derive(Debug, Deserialize)]
struct Launched {
    kernels: Vec<Kernel>,
}

#[derive(Debug, Deserialize)]
struct Kernel {
    name: String,
}

/// The PTX of a program of `apps/`.
fn source_of(program: &str) -> anyhow::Result<String> {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", program, "kernel.ptx"].iter().collect();
    std::fs::read_to_string(&path).with_context(|| path.display().to_string())
}
