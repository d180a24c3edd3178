//! Exploration: which configuration each trial of a program runs, chosen by what trials have shown so far.
//!
//! A night's other cells run one configuration each, the same number of times. A cell that explores chooses the configuration of every
//! trial by what trials before have shown, as a fuzzer chooses its inputs. What a trial shows is told by
//! [`FullTrial::coverage`](bugaroo_harness::FullTrial::coverage).
//!
//! # The space
//! *Arms* are configurations: model, p_w, p_r or size of the buffers, scheduler and depth; the plan says which ([`arms`]). *Holds* are
//! instructions whose accesses have met those of other threads. They are not known from the start: each is found by a trial. A trial
//! goes one of three *ways*: its arm as it stands; warps that come by one of the holds are held back, which lets others come in between
//! at just that place; or warps are switched at the holds and nowhere else, by priorities that change there. Besides, it may be a
//! *swarm*: its arm's probabilities become certainty for some instructions, and nothing for the others; in every second one, for those
//! whose accesses are weak.
//!
//! # The rule
//! 1. Every [`SHARE`]th trial runs the next arm in turn, as it stands: no arm starves, and what the even grid finds in N trials is found
//!    in at most [`SHARE`] times N here.
//! 2. Of all others, one in [`HELD`] is held back at a hold, and the rest are switched at all of them. Which hold, and of every second
//!    trial the arm, is drawn by Thompson sampling (Thompson 1933; Chapelle and Li 2011): for each one a rate is drawn from the gamma
//!    distribution that its trials suggest, and the largest wins. The rest take the next arm in turn. One in [`SWARM`] is a swarm.
//! 3. A trial is worth 1 if it has shown something that no trial before has, and 1 / (1 + n) if the rarest of what it has shown was
//!    shown by n of them. Older trials of an arm count less, by one part in [`FADES`] with each new one.
//! 4. What an arm's trials are worth counts in part for its neighbours, which differ by one step in one value: where something new was
//!    shown, they are tried soon.
//!
//! # What it depends on
//! On the seed and on what its trials have shown, in the order in which they were chosen. Trials are chosen a round at a time
//! ([`Explorer::round`]), so that they can run side by side; nothing depends on how many do, or on any clock. So an exploration that is cut off goes on from what it
//! knows ([`ExplorerKnown`]) as if it had not been. Each shard of a night explores by itself, with a seed of its own; what they have shown is
//! added up.

pub mod arms;
mod draw;

use std::collections::BTreeMap;

use bugaroo_harness::Variation;
use serde::{Deserialize, Serialize};

use arms::Arm;
use draw::Draw;

/// One trial in so many belongs to the even share.
pub const SHARE: u64 = 4;
/// One trial in so many of the others is held back at one of the holds; the rest are switched at all of them.
pub const HELD: u64 = 6;
/// One trial in so many of the others is a swarm.
pub const SWARM: u64 = 2;
/// Trials that are chosen at a time.
pub const ROUND: usize = 8;
/// Trials that are chosen at a time before there have been [`ROUND`]: each of the first teaches a good deal. The very
/// first two, which begin to show where threads meet, are each alone.
const FIRST_ROUND: usize = 2;
/// Older trials fade by one part in this with each new one.
const FADES: u64 = 64;
/// Different things that are kept.
const MOST_THINGS: usize = 1 << 16;
/// Holds that are kept.
const MOST_HOLDS: usize = 256;
/// What a trial is worth that has shown something new.
const NEW: u64 = 1_000_000;

/// What trials of an arm, or with a hold, have come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// Trials.
    pub trials: u64,
    /// Those that failed.
    pub failures: u64,
    /// Those that have shown something that no trial before had.
    pub new: u64,
    /// What they are worth, in millionths; older ones have faded.
    worth: u64,
    /// How many they are, in millionths; older ones have faded.
    weight: u64,
}

impl Score {
    fn take(&mut self, worth: u64, failed: bool) {
        self.trials += 1;
        self.failures += u64::from(failed);
        self.new += u64::from(worth == NEW);
        // Behind each other: alone, the difference may be below zero.
        self.worth = self.worth - self.worth / FADES + worth;
        self.weight += NEW - self.weight / FADES;
    }

    /// Worth and number.
    fn seen(&self) -> (f64, f64) {
        (self.worth as f64 / NEW as f64, self.weight as f64 / NEW as f64)
    }
}

/// The first trial that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FirstFailure {
    /// Its index.
    pub trial: u64,
    /// How many trials of its shard had ended by then, itself included.
    pub after: u64,
    /// Its arm's name.
    pub arm: String,
    /// Which way it went.
    #[serde(default)]
    pub way: Way,
    /// Whether it was a swarm.
    #[serde(default)]
    pub swarm: bool,
}

/// All that an exploration knows: with the seed and the arms it says what comes next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExplorerKnown {
    /// Trials that have ended.
    pub trials: u64,
    /// By arm, in order.
    pub arms: Vec<Score>,
    /// By hold: those that were held back there.
    pub holds: BTreeMap<u32, Score>,
    /// Those that were switched at all of them.
    #[serde(default)]
    pub switched: Score,
    /// Swarms.
    #[serde(default)]
    pub swarm: Score,
    /// How many trials have shown each thing.
    pub things: BTreeMap<u32, u32>,
    /// How often there was something for which there was no room.
    pub more: u64,
    /// How many things were known after so many trials; at powers of two.
    pub growth: Vec<(u64, u64)>,
    /// The first failure.
    pub first_failure: Option<FirstFailure>,
}

/// What is done to a trial's schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Nothing: it is the arm's.
    #[default]
    Free,
    /// Warps are held back at this place.
    Held(u32),
    /// Warps are switched at all places that are known.
    Switched,
}

/// What a trial is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Place among the arms.
    pub arm: usize,
    /// What is done to its schedule.
    pub way: Way,
    /// Whether instructions are delayed each time or never.
    pub swarm: bool,
}

impl Choice {
    /// An arm as it stands.
    pub fn free(arm: usize) -> Choice {
        Choice { arm, way: Way::Free, swarm: false }
    }
}

/// What a trial has shown.
#[derive(Clone, Debug)]
pub struct TrialShown<'a> {
    /// Its index.
    pub trial: u64,
    /// Whether it failed.
    pub failed: bool,
    /// Things, each once.
    pub things: &'a [u32],
    /// Instructions that met others.
    pub meetings: &'a [u32],
    /// What it could not tell for lack of room.
    pub more: u64,
}

/// Chooses trials.
#[derive(Clone, Debug)]
pub struct Explorer {
    arms: Vec<Arm>,
    /// Neighbours of each arm, and how much of theirs counts.
    near: Vec<Vec<(usize, f64)>>,
    seed: u64,
    known: ExplorerKnown,
}

impl Explorer {
    /// With these arms, at least one, from the start or from what is known already.
    pub fn new(arms: Vec<Arm>, seed: u64, known: Option<ExplorerKnown>) -> Explorer {
        let near = arms.iter().map(|arm| arms::near(arm, &arms)).collect();
        let mut known = known.unwrap_or_default();
        known.arms.resize(arms.len(), Score::default());
        Explorer { arms, near, seed, known }
    }

    /// What is known.
    pub fn known(&self) -> &ExplorerKnown {
        &self.known
    }

    /// The arms.
    pub fn arms(&self) -> &[Arm] {
        &self.arms
    }

    /// What a trial of this choice runs, before what others have shown is taken.
    pub fn variation(&self, choice: Choice) -> Variation {
        let mut variation = Variation { coverage: true, ..self.arms[choice.arm].variation.clone() };
        variation.swarm = choice.swarm;
        match choice.way {
            Way::Free => {}
            Way::Held(place) => variation.hold = Some(place),
            Way::Switched => variation.switches = self.known.holds.keys().copied().collect(),
        }
        variation
    }

    /// How many trials are chosen at a time now.
    pub fn round(&self) -> usize {
        match self.known.trials {
            0 | 1 => 1,
            few if few < ROUND as u64 => FIRST_ROUND,
            _ => ROUND,
        }
    }

    /// What the next trials run, so many: to be taken before the next are chosen.
    pub fn choose(&self, count: usize) -> Vec<Choice> {
        let first = self.known.trials;
        (first..first + count as u64).map(|place| self.choice(place)).collect()
    }

    fn choice(&self, place: u64) -> Choice {
        let count = self.arms.len() as u64;
        // From arm to arm by a step that meets all of them: neighbours come far apart.
        let next = |turn: u64| {
            let turn = (turn % count) * stride(count) + self.seed % count;
            (turn % count) as usize
        };
        if place.is_multiple_of(SHARE) {
            return Choice::free(next(place / SHARE));
        }
        let mut draw = Draw::new(self.seed, place);
        let (worth, weight) = self.known.arms.iter().map(Score::seen).fold((0.0, 0.0), plus);
        // Before its first trials, one is taken to be like all.
        let usual = (worth + 1.0) / (weight + 1.0);
        let arm = if draw.below(2) == 0 {
            let near = |near: &Vec<(usize, f64)>| {
                let seen = near.iter().map(|&(arm, part)| {
                    let (worth, weight) = self.known.arms[arm].seen();
                    (part * worth, part * weight)
                });
                draw.rate(seen.fold((usual, 1.0), plus))
            };
            largest(&self.near.iter().map(near).collect::<Vec<f64>>())
        } else {
            next(place)
        };
        let swarm = draw.below(SWARM) == 0;
        let way = match draw.below(HELD) {
            _ if self.known.holds.is_empty() => Way::Free,
            0 => Way::Held(self.hold(&mut draw, usual)),
            _ => Way::Switched,
        };
        Choice { arm, way, swarm }
    }

    /// One of the holds, of which there is one at least.
    fn hold(&self, draw: &mut Draw, usual: f64) -> u32 {
        let scores = self.known.holds.values();
        let rates: Vec<f64> = scores.map(|score| draw.rate(plus((usual, 1.0), score.seen()))).collect();
        self.known.holds.keys().nth(largest(&rates)).copied().unwrap_or_default()
    }

    /// A trial has ended: the next one in the order in which they were chosen.
    pub fn take(&mut self, choice: Choice, shown: &TrialShown<'_>) {
        let known = &mut self.known;
        let mut rarest = None;
        for thing in shown.things {
            let full = known.things.len() >= MOST_THINGS;
            match known.things.get_mut(thing) {
                Some(count) => {
                    rarest = Some(rarest.map_or(*count, |rarest: u32| rarest.min(*count)));
                    *count = count.saturating_add(1);
                }
                None if full => known.more += 1,
                None => {
                    known.things.insert(*thing, 1);
                    rarest = Some(0);
                }
            }
        }
        let worth = rarest.map_or(0, |count| NEW / (1 + u64::from(count)));
        known.more += shown.more;
        known.trials += 1;
        known.arms[choice.arm].take(worth, shown.failed);
        match choice.way {
            Way::Free => {}
            Way::Held(hold) => known.holds.entry(hold).or_default().take(worth, shown.failed),
            Way::Switched => known.switched.take(worth, shown.failed),
        }
        if choice.swarm {
            known.swarm.take(worth, shown.failed);
        }
        for meeting in shown.meetings {
            if known.holds.len() < MOST_HOLDS {
                known.holds.entry(*meeting).or_default();
            } else if !known.holds.contains_key(meeting) {
                known.more += 1;
            }
        }
        if known.trials.is_power_of_two() {
            known.growth.push((known.trials, known.things.len() as u64));
        }
        if shown.failed && known.first_failure.is_none() {
            known.first_failure = Some(FirstFailure {
                trial: shown.trial,
                after: known.trials,
                arm: self.arms[choice.arm].key.clone(),
                way: choice.way,
                swarm: choice.swarm,
            });
        }
    }
}

impl ExplorerKnown {
    /// Adds what another shard has come to. Growth, which is of one shard alone, goes.
    pub fn merge(&mut self, other: &ExplorerKnown) {
        let add = |sum: &mut Score, more: &Score| {
            sum.trials += more.trials;
            sum.failures += more.failures;
            sum.new += more.new;
        };
        self.trials += other.trials;
        self.more += other.more;
        self.arms.resize(self.arms.len().max(other.arms.len()), Score::default());
        self.arms.iter_mut().zip(&other.arms).for_each(|(sum, more)| add(sum, more));
        add(&mut self.switched, &other.switched);
        add(&mut self.swarm, &other.swarm);
        for (hold, more) in &other.holds {
            add(self.holds.entry(*hold).or_default(), more);
        }
        for (thing, count) in &other.things {
            let sum = self.things.entry(*thing).or_default();
            *sum = sum.saturating_add(*count);
        }
        self.growth.clear();
        let earlier = |first: &FirstFailure| (first.after, first.trial);
        let failures = self.first_failure.iter().chain(&other.first_failure);
        self.first_failure = failures.min_by_key(|first| earlier(first)).cloned();
    }
}

fn plus(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0 + other.0, one.1 + other.1)
}

/// The place of the largest; the first of equals.
fn largest(rates: &[f64]) -> usize {
    let best = rates.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)));
    best.map_or(0, |(at, _)| at)
}

/// A step of about five eighths of the way round that has no factor in common with the whole.
fn stride(count: u64) -> u64 {
    let gcd = |mut a: u64, mut b: u64| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (count * 5 / 8..).find(|&step| step > 0 && gcd(step, count) == 1).unwrap_or(1)
}

#[cfg(test)]
mod tests;
