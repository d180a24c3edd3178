//! Where questions are asked: which trials a variation has had, what they showed, and what to run next.
//!
//! Seeds that have failed before go first, since the same seed tends to fail again. They say "fails"
//! sooner; but a failure of theirs says nothing about how often others fail, so it doesn't count
//! towards a rate.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};

use bugaroo_harness::{Error, Variation};

use crate::memo::Memo;
use crate::outcomes::key;
use crate::rates::{Rate, SearchLimits};
use crate::report::SearchStep;
use crate::trials::{LookedAt, Trials};

/// Trials that say nothing (slow ones, killed ones) after which a search gives up.
const MOST_UNTOLD: u64 = 20;

/// What the trials of one variation showed.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Trials, and failures among them.
    pub all: Rate,
    /// The same without the seeds that were asked because they had failed before.
    pub fresh: Rate,
    /// Seeds' indices that failed.
    pub failing: Vec<u64>,
    used: BTreeSet<u64>,
    /// The smallest index that may be unused.
    next: u64,
}

impl Evidence {
    /// Whether a trial failed: then the variation fails, for certain.
    pub fn fails(&self) -> bool {
        self.all.failures > 0
    }
}

/// An answer to "does it fail?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailsVerdict {
    /// A trial failed.
    Fails,
    /// So many trials passed that it is taken to pass.
    Passes,
}

/// Asks questions of trials.
pub struct Bench<'a, T> {
    memo: &'a Memo<'a, T>,
    /// How thorough to be.
    pub limits: SearchLimits,
    tell: &'a dyn Fn(&SearchStep),
    asked: RefCell<HashMap<String, Evidence>>,
    /// Seeds that failed in the round.
    hot: RefCell<Vec<u64>>,
    steps: RefCell<Vec<SearchStep>>,
    counts: Counts,
    concluded: RefCell<BTreeSet<String>>,
    short: RefCell<Vec<String>>,
}

/// Trials that were asked for.
struct Counts {
    spent: Cell<u64>,
    untold: Cell<u64>,
    forgetful: Cell<u64>,
}

impl<'a, T: Trials> Bench<'a, T> {
    /// A bench; `tell` hears each step as it is concluded.
    pub fn new(memo: &'a Memo<'a, T>, limits: SearchLimits, tell: &'a dyn Fn(&SearchStep)) -> Self {
        Self {
            memo,
            limits,
            tell,
            asked: RefCell::default(),
            hot: RefCell::default(),
            steps: RefCell::default(),
            counts: Counts { spent: Cell::new(0), untold: Cell::new(0), forgetful: Cell::new(0) },
            concluded: RefCell::default(),
            short: RefCell::default(),
        }
    }

    /// Trials that the search has asked for so far.
    pub fn spent(&self) -> u64 {
        self.counts.spent.get()
    }

    /// Trials that said nothing, in any question: conclusions from what others did not show do not hold then.
    pub fn untold(&self) -> u64 {
        self.counts.untold.get()
    }

    /// Trials that passed while the model forgot something: the same holds for them.
    pub fn forgetful(&self) -> u64 {
        self.counts.forgetful.get()
    }

    /// How often "passes" was concluded with the error [`crate::rates::ALPHA`].
    pub fn concluded(&self) -> u64 {
        self.concluded.borrow().len() as u64
    }

    /// The steps so far, and what was concluded from fewer trials than it should.
    pub fn finish(self) -> (Vec<SearchStep>, Vec<String>) {
        (self.steps.into_inner(), self.short.into_inner())
    }

    /// What the trials of a variation have shown so far.
    pub fn evidence(&self, variation: &Variation) -> Evidence {
        self.asked.borrow().get(&key(variation)).cloned().unwrap_or_default()
    }

    /// Seeds to ask first from now on: those that have failed under this variation.
    pub fn expect_failures_of(&self, variation: &Variation) {
        *self.hot.borrow_mut() = self.evidence(variation).failing;
    }

    /// No seeds are asked first from now on.
    pub fn expect_nothing(&self) {
        self.hot.borrow_mut().clear();
    }

    /// Runs `count` more trials of a variation, until one fails; returns what they showed, and adds it
    /// to the evidence.
    ///
    /// # Errors
    /// When trials cannot be run.
    pub async fn more(&self, variation: &Variation, count: u64) -> Result<Rate, Error> {
        let name = key(variation);
        let hot = self.hot.borrow().clone();
        let (indices, hot_ones) = {
            let mut asked = self.asked.borrow_mut();
            let evidence = asked.entry(name.clone()).or_default();
            let hot_ones: Vec<u64> =
                hot.into_iter().filter(|index| !evidence.used.contains(index)).take(count as usize).collect();
            let mut indices = hot_ones.clone();
            while evidence.used.contains(&evidence.next) {
                evidence.next += 1;
            }
            let rest = (evidence.next..)
                .filter(|index| !evidence.used.contains(index) && !hot_ones.contains(index))
                .take(count as usize - hot_ones.len());
            indices.extend(rest);
            (indices, hot_ones)
        };
        let tally = self.memo.run(variation, indices.clone(), true).await?;
        let mut asked = self.asked.borrow_mut();
        let evidence = asked.entry(name).or_default();
        self.counts.untold.set(self.counts.untold.get() + tally.untold.len() as u64);
        self.counts.forgetful.set(self.counts.forgetful.get() + tally.forgetful);
        if self.counts.untold.get() > MOST_UNTOLD {
            return Err(Error::TooManyUntold { trials: self.counts.untold.get() });
        }
        for index in indices.into_iter().take(tally.trials as usize + tally.untold.len()) {
            if tally.untold.contains(&index) {
                evidence.used.insert(index);
                continue;
            }
            let failed = u64::from(tally.failing.contains(&index));
            evidence.used.insert(index);
            evidence.failing.extend((failed > 0).then_some(index));
            evidence.all.trials += 1;
            evidence.all.failures += failed;
            if !hot_ones.contains(&index) {
                evidence.fresh.trials += 1;
                evidence.fresh.failures += failed;
            }
        }
        self.counts.spent.set(self.counts.spent.get() + tally.trials);
        Ok(Rate { failures: tally.failures(), trials: tally.trials })
    }

    /// Runs one trial again with its conflicts looked for.
    ///
    /// # Errors
    /// When it cannot be run at all.
    pub async fn look(&self, variation: &Variation, index: u64) -> Result<LookedAt, Error> {
        self.memo.look(variation, index).await
    }

    /// Runs trials of a variation until it has had so many failures, or so many trials, that count
    /// towards its rate.
    ///
    /// # Errors
    /// When trials cannot be run.
    pub async fn measure(&self, variation: &Variation, failures: u64, trials: u64) -> Result<Rate, Error> {
        loop {
            let Rate { failures: failed, trials: ran } = self.evidence(variation).fresh;
            if failed >= failures || ran >= trials {
                return Ok(Rate { failures: failed, trials: ran });
            }
            self.more(variation, trials - ran).await?;
        }
    }

    /// Whether a variation fails: one failing trial says so; so many passing ones as `enough`, including
    /// earlier ones, say that it passes.
    ///
    /// # Errors
    /// When trials cannot be run.
    pub async fn ask(&self, variation: &Variation, enough: u64) -> Result<FailsVerdict, Error> {
        // More than once only where trials say nothing.
        loop {
            let so_far = self.evidence(variation).all;
            if so_far.failures > 0 || so_far.trials >= enough {
                break;
            }
            self.more(variation, enough - so_far.trials).await?;
        }
        Ok(if self.evidence(variation).fails() { FailsVerdict::Fails } else { FailsVerdict::Passes })
    }

    /// Whether a variation fails, for the answer to rest on: "passes" has the error
    /// [`crate::rates::ALPHA`] for a failure of the rate [`SearchLimits::rare`].
    ///
    /// # Errors
    /// When trials cannot be run.
    pub async fn ask_for_good(
        &self,
        variation: &Variation,
        question: String,
        answers: [&str; 2],
    ) -> Result<FailsVerdict, Error> {
        let verdict = self.ask_aloud(variation, self.limits.full(), question, answers).await?;
        if verdict == FailsVerdict::Passes {
            self.concluded.borrow_mut().insert(key(variation));
        }
        Ok(verdict)
    }

    /// The same as a step, in words: the question, and what either verdict means.
    ///
    /// # Errors
    /// When trials cannot be run.
    pub async fn ask_aloud(
        &self,
        variation: &Variation,
        enough: u64,
        question: String,
        answers: [&str; 2],
    ) -> Result<FailsVerdict, Error> {
        let verdict = self.ask(variation, enough).await?;
        self.note(
            question,
            self.evidence(variation).all,
            answers[usize::from(verdict == FailsVerdict::Passes)],
        );
        Ok(verdict)
    }

    /// Trials that make "passes" by an observed rate, with this error; notes where the cap cuts them
    /// short.
    pub fn enough(&self, rate: Rate, error: f64, what: &str) -> u64 {
        let cap = self.limits.cap();
        let enough = rate.passes(error, cap);
        if enough == cap && rate.ln_unseen(cap) > error.ln() {
            let reached = 1.0 - rate.ln_unseen(cap).exp();
            let note = format!(
                "{what}: {} failures in {} trials call for more than {cap} trials; the confidence is {reached:.3}",
                rate.failures, rate.trials
            );
            let mut short = self.short.borrow_mut();
            if !short.contains(&note) {
                short.push(note);
            }
        }
        enough
    }

    /// Writes a step down.
    pub fn note(&self, question: String, seen: Rate, answer: &str) {
        let step =
            SearchStep { question, trials: seen.trials, failures: seen.failures, answer: answer.to_owned() };
        (self.tell)(&step);
        self.steps.borrow_mut().push(step);
    }
}
