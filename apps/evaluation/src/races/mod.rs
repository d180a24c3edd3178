//! The published evaluations of the race detectors again: HiRace's Table II, ScoRD's Tables VI and VII, BARRACUDA's Table 1 with
//! its suite of section 6.1, and the size of HiRace's state machine.
//!
//! [`questions`] says which detectors are asked about which programs, [`measure`] asks and [`asked`] holds the answers, as they were
//! reported: what they are worth is judged when they are shown, by the programs' labels. [`papers`] has the papers' figures,
//! [`causes`] why ours differ in kind.

pub mod asked;
pub mod barracuda;
pub mod causes;
#[cfg(test)]
pub mod fixture;
pub mod hirace;
pub mod machine;
pub mod measure;
pub mod papers;
pub mod ptx;
pub mod questions;
pub mod scord;
mod shown;
