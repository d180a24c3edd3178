//! Race detectors: each a folder of its own, fed by one stream of events ([`bugaroo_semantics::event`]).

pub mod finding;
mod set;

pub use finding::{Class, Detector, Finding, Kind, Missing, Party, Warning, Who};
pub use set::Set;
