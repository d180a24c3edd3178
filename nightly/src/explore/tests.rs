use bugaroo_harness::Variation;
use bugaroo_protocol::Scheduler;

use super::draw::Draw;
use super::{Choice, Explorer, ExplorerKnown, SHARE, TrialShown, Way, arms};
use crate::plan::cells::PlanGrid;

fn explorer(seed: u64, known: Option<ExplorerKnown>) -> Explorer {
    Explorer::new(arms::all(&PlanGrid::to_explore(), &Variation::default()), seed, known)
}

/// A program with places 1 to 8 that all trials show: what else one shows depends on its choice and on chance. The bug needs threads switched
/// where they meet, or a hold at place 5 under `pct`.
fn run(explorer: &Explorer, choice: Choice, place: u64) -> (bool, Vec<u32>) {
    let mut draw = Draw::new(99, place);
    let pct = explorer.arms()[choice.arm].variation.scheduler == Scheduler::Pct;
    let mut things = vec![1, 2, 3];
    if pct {
        things.push(10 + u32::try_from(draw.below(4)).expect("small"));
    }
    if let Way::Held(hold) = choice.way {
        things.push(100 + hold);
        things.push(200 + hold * 50 + u32::try_from(draw.below(40)).expect("small"));
    }
    if choice.way == Way::Switched {
        things.push(1000 + u32::try_from(draw.below(100)).expect("small"));
    }
    let odds = match choice.way {
        Way::Held(5) if pct => 4,
        Way::Switched => 60,
        _ => 4000,
    };
    (draw.below(odds) == 0, things)
}

/// Explores for so many trials; the choices, in order.
fn explore(explorer: &mut Explorer, trials: u64) -> Vec<Choice> {
    let mut chosen = Vec::new();
    while explorer.known().trials < trials {
        for choice in explorer.choose(explorer.round()) {
            let place = explorer.known().trials;
            let (failed, things) = run(explorer, choice, place);
            let meetings: Vec<u32> = (1..=8).collect();
            let shown = TrialShown { trial: place, failed, things: &things, meetings: &meetings, more: 0 };
            explorer.take(choice, &shown);
            chosen.push(choice);
        }
    }
    chosen
}

#[test]
fn the_seed_and_what_was_shown_say_what_comes_next() {
    let [mut one, mut same, mut other] = [1, 1, 2].map(|seed| explorer(seed, None));
    let (first, again) = (explore(&mut one, 400), explore(&mut same, 400));
    assert_eq!(first, again);
    assert_eq!(one.known(), same.known());
    assert_ne!(first, explore(&mut other, 400));
}

#[test]
fn an_exploration_that_was_cut_off_goes_on_as_if_it_had_not_been() {
    let mut whole = explorer(7, None);
    let all = explore(&mut whole, 480);
    let mut part = explorer(7, None);
    let mut parts = explore(&mut part, 160);
    let text = serde_json::to_string(part.known()).expect("plain data");
    let mut rest = explorer(7, Some(serde_json::from_str(&text).expect("what was written")));
    parts.extend(explore(&mut rest, 480));
    assert_eq!(all, parts);
    assert_eq!(whole.known(), rest.known());
}

#[test]
fn no_arm_starves() {
    let mut explorer = explorer(3, None);
    let arms = explorer.arms().len() as u64;
    let chosen = explore(&mut explorer, 2 * arms * SHARE);
    for arm in 0..explorer.arms().len() {
        let even = chosen
            .iter()
            .step_by(usize::try_from(SHARE).expect("small"))
            .filter(|choice| choice.arm == arm)
            .count();
        assert_eq!(even, 2, "arm {arm}");
        assert!(explorer.known().arms[arm].trials >= 2);
    }
}

#[test]
fn what_needs_a_schedule_of_its_own_is_found_far_sooner_than_by_the_even_grid() {
    let sooner = (0..20).filter(|&seed| {
        let mut explorer = explorer(seed, None);
        while explorer.known().first_failure.is_none() && explorer.known().trials < 1000 {
            let trials = explorer.known().trials;
            explore(&mut explorer, trials + 1);
        }
        // The grid fails once in 4000.
        explorer.known().first_failure.as_ref().is_some_and(|first| first.after < 400)
    });
    assert!(sooner.count() >= 15);
}

#[test]
fn shards_add_up() {
    let [mut one, mut other] = [1, 2].map(|seed| explorer(seed, None));
    explore(&mut one, 80);
    explore(&mut other, 160);
    let mut both = one.known().clone();
    both.merge(other.known());
    let ways = |known: &ExplorerKnown| (known.switched.trials, known.swarm.trials);
    let (one_has, other_has) = (ways(one.known()), ways(other.known()));
    assert!(one_has.0 > 0 && one_has.1 > 0);
    assert_eq!(ways(&both), (one_has.0 + other_has.0, one_has.1 + other_has.1));
    assert_eq!(both.trials, 240);
    assert_eq!(both.arms.iter().map(|score| score.trials).sum::<u64>(), 240);
    let things = |known: &ExplorerKnown| known.things.values().map(|count| u64::from(*count)).sum::<u64>();
    assert_eq!(things(&both), things(one.known()) + things(other.known()));
}
