//! The configurations that an exploration chooses among.

use bugaroo_harness::Variation;
use bugaroo_protocol::Model;

use crate::plan::cells::PlanGrid;

/// How much of what a neighbour's trials are worth counts: by the number of steps between.
const NEAR: f64 = 0.25;
/// Steps from which on nothing counts.
const FAR: usize = 3;

/// A configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// Its name: model, p_w, and the rest where it is not the default.
    pub key: String,
    /// What its trials run.
    pub variation: Variation,
    /// Places of its values in the lists of the space.
    at: [usize; 4],
}

/// All configurations of a space.
pub fn all(space: &PlanGrid, base: &Variation) -> Vec<Arm> {
    let arm = |(key, variation): (String, Variation)| {
        let of = |list: &[f64], value: f64| list.iter().position(|one| *one == value).unwrap_or(0);
        let at = [
            space.models.iter().position(|one| *one == variation.model).unwrap_or(0),
            of(&space.pw, variation.pw),
            match variation.model {
                Model::Ptx => of(&space.pr, variation.pr),
                _ => space.buffer.iter().position(|one| *one == variation.buffer).unwrap_or(0),
            },
            space.schedulers.iter().position(|one| *one == variation.scheduler).unwrap_or(0),
        ];
        Arm { key, variation, at }
    };
    space.variations(base).into_iter().map(arm).collect()
}

/// An arm and its neighbours among all, with how much of each one's trials counts for it: all of its own.
pub fn near(arm: &Arm, all: &[Arm]) -> Vec<(usize, f64)> {
    let steps = |other: &Arm| -> usize {
        let [model, values @ ..] = other.at;
        let [own, own_values @ ..] = arm.at;
        // The third value means something else to another model.
        if model != own {
            return FAR;
        }
        values.iter().zip(own_values).map(|(a, b)| a.abs_diff(b)).sum()
    };
    let part = |(at, other)| Some((at, NEAR.powi(i32::try_from(steps(other)).ok()?), steps(other)));
    let near = all.iter().enumerate().filter_map(part).filter(|(_, _, steps)| *steps < FAR);
    near.map(|(at, part, _)| (at, part)).collect()
}

#[cfg(test)]
mod tests {
    use bugaroo_harness::Variation;

    use super::{all, near};
    use crate::plan::cells::PlanGrid;

    #[test]
    fn neighbours_differ_by_few_steps_in_one_model() {
        let arms = all(&PlanGrid::to_explore(), &Variation::default());
        assert_eq!(arms.len(), 48);
        for (at, arm) in arms.iter().enumerate() {
            let near = near(arm, &arms);
            assert!(near.contains(&(at, 1.0)), "an arm's own trials count whole");
            assert!(near.iter().all(|(other, _)| arms[*other].variation.model == arm.variation.model));
            assert!((4..48).contains(&near.len()), "{}: {near:?}", arm.key);
        }
    }
}
