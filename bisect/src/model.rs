//! Models of programs for tests: which fences they need, and how often they fail without.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::Future;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bugaroo_harness::{Conflicts, Error, Outcome, Variation};
use bugaroo_protocol::{DelayedSpace, Model, Site, SiteId, SiteKind, SourceLine};

use crate::memo::Memo;
use crate::outcomes::key;
use crate::places::lines;
use crate::report::SearchReport;
use crate::search::search;
use crate::subject::Subject;
use crate::syntax::FenceScope;
use crate::trials::{LookedAt, OnEnd, Shown, Trials};

/// A bug: it fails at `rate` as long as stores of its space and kernel are delayed and no alternative
/// has all its fences.
#[derive(Clone)]
pub struct Bug {
    pub space: DelayedSpace,
    pub kernel: &'static str,
    /// Sites, of which all of one alternative cure it.
    pub cures: Vec<Vec<u32>>,
    pub rate: f64,
}

/// Fences of the program's own: it fails at `rate` unless all of one alternative stay.
#[derive(Clone)]
pub struct Own {
    pub keep: Vec<Vec<u32>>,
    pub rate: f64,
}

/// How the coin of a trial depends on its variation.
#[derive(Clone, Copy, PartialEq)]
pub enum Coins {
    /// Not at all: the same seed fails again.
    Same,
    /// Another coin for each variation, as where a fence changes the schedule.
    Fresh,
}

/// A program.
pub struct Program {
    pub bugs: Vec<Bug>,
    pub own: Vec<Own>,
    /// Fences, the program's own and missing ones, that are needed under model `ptx` alone.
    pub load_side: Vec<u32>,
    /// Fences that do at CTA scope; others are as good as none there.
    pub narrow_does: Vec<u32>,
    /// Those of them that do not under model `ptx`.
    pub wide_under_ptx: Vec<u32>,
    pub seed: u64,
    pub coins: Coins,
    /// One in so many trials is slow.
    pub slow: Option<u64>,
    /// The memory model forgets something in every trial.
    pub forgets: bool,
    /// Trials after which the program cannot be run any more.
    pub dies_after: u64,
    pub ran: Cell<u64>,
    /// Rates by variation: they take long to find out.
    rates: RefCell<HashMap<String, Vec<f64>>>,
}

impl Program {
    pub fn new(seed: u64, coins: Coins, bugs: Vec<Bug>) -> Self {
        Self {
            bugs,
            own: Vec::new(),
            load_side: Vec::new(),
            narrow_does: Vec::new(),
            wide_under_ptx: Vec::new(),
            seed,
            coins,
            slow: None,
            forgets: false,
            dies_after: u64::MAX,
            ran: Cell::new(0),
            rates: RefCell::default(),
        }
    }

    /// The rates of what is wrong in a variation.
    fn rates(&self, variation: &Variation) -> Vec<f64> {
        if variation.pw == 0.0 {
            return Vec::new();
        }
        let narrow_does = |fence: &u32| {
            let under_ptx = variation.model != Model::Ptx || !self.wide_under_ptx.contains(fence);
            self.narrow_does.contains(fence) && under_ptx
        };
        let wide = |fence: &u32| !variation.narrow_fence.contains(&id(*fence)) || narrow_does(fence);
        let has = |fence: &u32| variation.with_fence.contains(&id(*fence)) && wide(fence);
        let stays = |fence: &u32| !variation.without_fence.contains(&id(*fence)) && wide(fence);
        let shows = |alternatives: &[Vec<u32>]| {
            let delayed = |fence: &u32| !self.load_side.contains(fence);
            variation.model == Model::Ptx
                || alternatives.is_empty()
                || alternatives.iter().flatten().any(delayed)
        };
        let bugs = self.bugs.iter().filter(|bug| {
            let space = variation.space == DelayedSpace::Both || variation.space == bug.space;
            let kernel = variation.kernel.as_ref().is_none_or(|kernel| kernel.contains(bug.kernel));
            space && kernel && shows(&bug.cures) && !bug.cures.iter().any(|cure| cure.iter().all(has))
        });
        let own = self
            .own
            .iter()
            .filter(|own| shows(&own.keep) && !own.keep.iter().any(|keep| keep.iter().all(stays)));
        bugs.map(|bug| bug.rate).chain(own.map(|own| own.rate)).collect()
    }

    fn fails(&self, variation: &Variation, index: u64) -> bool {
        let name = key(variation);
        let mut rates = self.rates.borrow_mut();
        let rates = rates.entry(name.clone()).or_insert_with(|| self.rates(variation));
        rates.iter().enumerate().any(|(bug, rate)| {
            let mut hash = DefaultHasher::new();
            (self.seed, index, bug).hash(&mut hash);
            if self.coins == Coins::Fresh {
                name.hash(&mut hash);
            }
            ((hash.finish() >> 11) as f64 / (1u64 << 53) as f64) < *rate
        })
    }
}

impl Trials for Program {
    async fn run(
        &self,
        variation: &Variation,
        indices: Vec<u64>,
        until_failure: bool,
        ended: OnEnd<'_>,
    ) -> Result<(), Error> {
        for index in indices {
            if self.ran.get() == self.dies_after {
                return Err(Error::Interrupted);
            }
            self.ran.set(self.ran.get() + 1);
            let failed = self.fails(variation, index);
            let slow = self.slow.is_some_and(|nth| self.ran.get().is_multiple_of(nth));
            let outcome = match failed {
                _ if slow => Outcome::Slow,
                true => Outcome::WrongResult,
                false => Outcome::Pass,
            };
            ended(index, Shown { outcome, forgot: self.forgets })?;
            let failed = failed && !slow;
            if failed && until_failure {
                break;
            }
        }
        Ok(())
    }

    async fn look(&self, variation: &Variation, index: u64) -> Result<LookedAt, Error> {
        let outcome = if self.fails(variation, index) { Outcome::WrongResult } else { Outcome::Pass };
        Ok(LookedAt { outcome, conflicts: Conflicts::default(), races: Vec::new() })
    }
}

pub fn id(index: u32) -> SiteId {
    SiteId { module: 0, index }
}

pub fn site(index: u32, kind: SiteKind, function: &str, space: Option<&str>) -> Site {
    Site {
        id: id(index),
        kind,
        function: function.to_owned(),
        in_kernel: true,
        space: space.map(str::to_owned),
        scope: (kind == SiteKind::Fence).then(|| "gpu".to_owned()),
        ptx_line: 100 + index,
        instruction: String::new(),
        source: Some(SourceLine { file: "kernel.cu".to_owned(), line: index }),
        inlined_at: Vec::new(),
        columns: Vec::new(),
    }
}

/// Kernels `alpha` (sites 0 to 39) and `beta` (40 to 79), global and shared stores in turn, each on a
/// line of its own, with fences at 80 and 81 (alpha), 82 and 83 (beta).
pub fn subject() -> Subject {
    let mut sites: Vec<Site> = (0..80)
        .map(|index| {
            let space = if index % 2 == 0 { "global" } else { "shared" };
            site(index, SiteKind::Store, if index < 40 { "alpha" } else { "beta" }, Some(space))
        })
        .collect();
    for (index, kernel) in [(80, "alpha"), (81, "alpha"), (82, "beta"), (83, "beta")] {
        sites.push(site(index, SiteKind::Fence, kernel, None));
    }
    let kernels = vec!["alpha".to_owned(), "beta".to_owned()];
    Subject {
        places: lines(&sites, &kernels),
        sites,
        kernels,
        models: vec![Model::StoreBuffer],
        trials: 1000,
        whole: Variation::default(),
        wide: FenceScope::Gpu,
        ptx_runs: true,
    }
}

/// Runs a future that never waits.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("nothing in these tests waits"),
    }
}

/// The answer for a program of [`subject`]'s shape.
pub fn report(program: &Program) -> SearchReport {
    report_on(program, &subject())
}

/// The answer for a program of this shape.
pub fn report_on(program: &Program, subject: &Subject) -> SearchReport {
    let memo = Memo::new(program, Default::default(), None);
    let models = match subject.models.contains(&subject.whole.model) {
        true => subject.models.clone(),
        false => vec![subject.whole.model],
    };
    // Tests change sites.
    let places = lines(&subject.sites, &subject.kernels);
    let subject = &Subject { places, models, ..subject.clone() };
    now(search(&memo, subject, &|_| ())).expect("the program can be run").report
}

/// The missing fences: site, space, kernel.
pub fn found(report: &SearchReport) -> Vec<(u32, &str, Option<&str>)> {
    report
        .missing
        .iter()
        .map(|fence| (fence.site.index, fence.space.as_str(), fence.kernel.as_deref()))
        .collect()
}
