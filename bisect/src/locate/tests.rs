//! The place search by itself: right, and cheaper than halving.

use bugaroo_harness::Variation;
use bugaroo_protocol::DelayedSpace;

use super::{SearchedPlace, locate, with_fences};
use crate::bench::{Bench, FailsVerdict};
use crate::memo::Memo;
use crate::model::{Bug, Coins, Program, now, subject};
use crate::places::{SitePlace, candidates};
use crate::rates::SearchLimits;
use crate::round::measure_rate;

fn places() -> Vec<SitePlace> {
    candidates(&subject().places, &Variation::default())
}

fn program(seed: u64, cures: Vec<Vec<u32>>, rate: f64) -> Program {
    Program::new(seed, Coins::Fresh, vec![Bug { space: DelayedSpace::Global, kernel: "", cures, rate }])
}

/// What `ask` finds, and the trials that it takes beyond measuring the rate.
fn on<R>(program: &Program, ask: impl AsyncFn(&Bench<'_, Program>, &[SitePlace]) -> R) -> (R, u64) {
    let memo = Memo::new(program, Default::default(), None);
    let bench = Bench::new(&memo, SearchLimits { trials: 1000 }, &|_| ());
    now(measure_rate(&bench, &Variation::default())).expect("trials");
    let before = bench.spent();
    (now(ask(&bench, &places())), bench.spent() - before)
}

fn located(program: &Program) -> (SearchedPlace, u64) {
    let base = Variation::default();
    on(program, async |bench, places| locate(bench, &base, places).await.expect("trials"))
}

/// Plain halving, each "passes" with an equal share of an error of 1 %.
fn halved(program: &Program) -> (usize, u64) {
    on(program, async |bench, places| {
        let base = Variation::default();
        let (mut low, mut high) = (0, places.len());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            let rate = bench.evidence(&base).fresh;
            let enough = bench.enough(rate, 0.01 / 7.0, "halving");
            let variation = with_fences(&base, &places[..middle]);
            match bench.ask(&variation, enough).await.expect("trials") {
                FailsVerdict::Passes => high = middle,
                FailsVerdict::Fails => low = middle,
            }
        }
        low
    })
}

#[test]
fn every_place_is_found() {
    for at in [0, 1, 17, 40, 78, 79] {
        for rate in [1.0, 0.6] {
            let (found, spent) = located(&program(u64::from(at), vec![vec![at]], rate));
            assert_eq!(found, SearchedPlace::At(at as usize), "place {at}, rate {rate}");
            assert!(spent < 120, "{spent} trials for place {at} at rate {rate}");
        }
    }
}

#[test]
fn the_last_of_several_is_found_and_nothing_where_nothing_cures() {
    assert_eq!(located(&program(1, vec![vec![5, 40]], 0.7)).0, SearchedPlace::At(40));
    assert_eq!(located(&program(2, vec![vec![5, 40], vec![30]], 0.7)).0, SearchedPlace::At(30));
    assert_eq!(located(&program(3, vec![], 0.7)).0, SearchedPlace::Nowhere);
    assert_eq!(located(&program(4, vec![], 0.02)).0, SearchedPlace::Nowhere);
}

/// Of 100 programs with a rare failure: all but the few of the stated doubt, with clearly fewer trials.
#[test]
fn rare_failures_take_fewer_trials_than_halving() {
    let rate = 0.01;
    let (mut right, mut trials, mut by_halving) = (0, 0, 0);
    for seed in 0..100 {
        let place = (seed * 37 + 11) % 80;
        let program = program(seed, vec![vec![place as u32]], rate);
        let (found, spent) = located(&program);
        right += u64::from(found == SearchedPlace::At(place as usize));
        trials += spent;
        by_halving += halved(&program).1;
    }
    assert!(right >= 90, "{right} of 100");
    // About (e ln 80 + ln 20) / r, and what a rate known from four failures costs.
    assert!(trials / 100 < (20.0 / rate) as u64, "{} trials on average", trials / 100);
    assert!(trials * 2 < by_halving, "{trials} trials, and {by_halving} by halving");
}
