//! Parts of a night: shard `I` of `N` runs of each cell the trials `I-1`, `I-1+N`, `I-1+2N`, …
//!
//! So each shard has the same part of every cell, and shards take the same time whatever a trial of a cell takes. What cannot be
//! divided (verification, searches, profiles) goes to shards by turns. Seeds depend on a trial's index alone: shards together run
//! what one machine would have run.

use std::fmt;
use std::str::FromStr;

/// Shards of a night, at most.
pub const MOST: u32 = 10_000;

/// A shard, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1.
    pub index: u32,
    /// Of how many.
    pub of: u32,
}

impl Shard {
    /// A night that is not divided.
    pub const WHOLE: Shard = Shard { index: 1, of: 1 };

    /// Index of its trial at this place, from 0.
    pub fn trial(self, place: u64) -> u64 {
        u64::from(self.index - 1) + place * u64::from(self.of)
    }

    /// How many of so many trials are its own.
    pub fn share(self, trials: u64) -> u64 {
        let (index, of) = (u64::from(self.index - 1), u64::from(self.of));
        trials.saturating_sub(index).div_ceil(of)
    }

    /// Whether work at this place, which cannot be divided, is its own.
    pub fn has(self, place: usize) -> bool {
        place as u64 % u64::from(self.of) == u64::from(self.index - 1)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts =
            text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((_, 0)) => Err("a night has at least one shard: 1/1 is all of it".to_owned()),
            Some((_, of)) if of > MOST => Err(format!("a night has at most {MOST} shards, and not {of}")),
            Some((index, of)) if (1..=of).contains(&index) => Ok(Self { index, of }),
            Some((0, _)) => Err("shards are counted from 1: 1/8 is the first of eight".to_owned()),
            Some((index, of)) => Err(format!("there is no shard {index} of {of}: at most {of}/{of}")),
            None => Err(format!("'{text}' is no shard: 3/8 is the third of eight")),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::Shard;

    #[test]
    fn shards_are_counted_from_one() {
        assert_eq!("3/8".parse(), Ok(Shard { index: 3, of: 8 }));
        assert!("0/8".parse::<Shard>().unwrap_err().contains("from 1"));
        for text in ["", "3", "9/8", "a/b", "-1/2", "1/0", "3/8/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_real_limits_are_told() {
        let error = |text: &str| text.parse::<Shard>().unwrap_err();
        assert!(error("1/20000").contains("at most 10000 shards"), "{}", error("1/20000"));
        assert!(error("1/0").contains("at least one"), "{}", error("1/0"));
        assert!(error("9/8").contains("at most 8/8"), "{}", error("9/8"));
        assert_eq!("10000/10000".parse(), Ok(Shard { index: 10_000, of: 10_000 }));
    }

    #[test]
    fn together_they_run_each_trial_once() {
        for of in 1..=9 {
            for trials in 0..40 {
                let mut all: Vec<u64> = (1..=of)
                    .map(|index| Shard { index, of })
                    .flat_map(|shard| (0..shard.share(trials)).map(move |place| shard.trial(place)))
                    .collect();
                all.sort_unstable();
                assert_eq!(all, (0..trials).collect::<Vec<_>>(), "{trials} by {of}");
            }
        }
    }
}
