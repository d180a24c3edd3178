//! Programs that nvcc built, run by the harness: for what no option of the command says.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use bugaroo_harness::progress::Silent;
use bugaroo_harness::{DriverLibrary, Error, FullTrial, Interrupt, Session, Settings, Target, Variation};
use bugaroo_protocol::{Inserted, Insertion, Position, Side, SourceSpan};

/// The stretches that a source marks, by name: between `//< NAME SIDE` and `//>`.
pub fn marked(path: &Path, what: Inserted) -> BTreeMap<String, Insertion> {
    let text = fs::read_to_string(path).expect("the program's source");
    let mut found = BTreeMap::new();
    let mut open: Option<(String, Side, Position)> = None;
    let mut lines = text.lines().zip(1..).peekable();
    while let Some((line, _)) = lines.next() {
        if let Some(mark) = line.trim().strip_prefix("//< ") {
            let (name, side) = mark.split_once(' ').expect("a name and a side");
            let side = if side == "before" { Side::Before } else { Side::Behind };
            let (next, number) = lines.peek().expect("something stands behind a mark");
            let column = (next.len() - next.trim_start().len()) as u32 + 1;
            open = Some((name.to_owned(), side, Position { line: *number, column }));
        }
        if line.trim() == "//>" {
            let (name, side, from) = open.take().expect("a mark");
            let (_, number) = lines.peek().expect("something stands behind a mark");
            let to = Position { line: *number, column: 1 };
            let span = SourceSpan { file: path.display().to_string(), from, to };
            found.insert(name, Insertion { span, side, what });
        }
    }
    found
}

/// A program with an argument, ready for trials.
pub async fn session(program: &Path, which: &str) -> Session {
    let target =
        Target::resolve(&program.display().to_string(), vec![which.to_owned()]).expect("it was built");
    let test = env::current_exe().expect("the test binary knows itself");
    let folder = test.parent().and_then(Path::parent).expect("it lies in target/PROFILE/deps");
    let library =
        || DriverLibrary::at(&folder.join("libcuda.so")).expect("the whole workspace was built first");
    let settings = Settings { seed: 5, digest: false, ..Settings::default() };
    let started = Session::start(target.clone(), settings.clone(), library(), Interrupt::never(), &Silent);
    match started.await {
        Ok(session) => session,
        // Trials of a program that fails without injection, too.
        Err(Error::Baseline(failure)) => {
            Session::resume(target, settings, library(), Interrupt::never(), failure.baseline.clone())
        }
        Err(why) => panic!("{which}: {why}"),
    }
}

/// Trials of a variation.
pub async fn trials(
    session: &Session,
    variation: &Variation,
    count: u64,
) -> Result<Vec<Arc<FullTrial>>, Error> {
    let mut all = Vec::new();
    let kept = |full: &FullTrial| {
        all.push(Arc::new(full.clone()));
        Ok(())
    };
    session.full_trials_with(variation, 0..count, bugaroo_harness::Stop::Never, &Silent, kept).await?;
    Ok(all)
}

/// How many of them failed.
pub fn failures(trials: &[Arc<FullTrial>]) -> usize {
    trials.iter().filter(|trial| trial.record.outcome.is_failure()).count()
}
